"""What a program may rely on when ops run later: values, snapshots, gradients, random numbers. Expected
values come from NumPy and formulas."""

import copy
import gc
import math
import pickle
import time

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("tier")


def array(seed, *shape, dtype="float32"):
    return np.asarray(np.random.RandomState(seed).uniform(-1, 1, shape), dtype)


def leaf(paddle, seed, *shape, dtype="float64"):
    return paddle.to_tensor(array(seed, *shape, dtype=dtype), stop_gradient=False)


# what is kept and what is dropped ---------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [(), (0,), (3, 17), range(40)])
def test_intermediate_results_that_are_kept_are_right(paddle, kept):
    for seed in range(3):
        x, want, found, expected = paddle.to_tensor(array(seed, 2, 3)), array(seed, 2, 3), [], []
        for i in range(40):
            x, want = paddle.tanh(x) + i * 0.1, np.tanh(want) + np.float32(i * 0.1)
            if i in kept:
                found.append(x)
                expected.append(want)
        np.testing.assert_allclose(x.numpy(), want, rtol=1e-5)
        for f, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(f.numpy(), e, rtol=1e-5)


def test_dropped_results_are_freed(paddle):
    import jax

    for _ in range(3):
        x = paddle.to_tensor(array(0, 64, 64))
        for _ in range(100):
            x = x * 0.99 + 0.01
        x.numpy()
    gc.collect()
    before = len(jax.live_arrays())
    for _ in range(3):
        for _ in range(100):
            x = x * 0.99 + 0.01
        x.numpy()
    gc.collect()
    assert len(jax.live_arrays()) <= before + 5


def test_a_value_that_only_the_tape_holds(paddle):
    for seed in range(3):
        x = leaf(paddle, seed, 3)
        y = x
        for _ in range(5):
            y = paddle.exp(y * 0.5)
        del x
        source = leaf(paddle, seed, 3)
        z = paddle.exp(source * 0.5)
        w = z * z
        del z, y
        w.sum().backward()
        np.testing.assert_allclose(source.grad.numpy(), np.exp(array(seed, 3, dtype="float64")), rtol=1e-12)


def test_a_tensor_that_is_its_own_operand_many_times(paddle):
    x = paddle.to_tensor([1.5])
    for _ in range(6):
        y = x + x
        y = y * y + y
        x = y / (y + x)
    want = 1.5
    for _ in range(6):
        y = 2 * want
        y = y * y + y
        want = y / (y + want)
    assert x.item() == pytest.approx(want, rel=1e-5)


def test_cycles_of_objects_whose_end_runs_ops(paddle):
    seen = []

    class Holder:
        def __init__(self, t):
            self.t, self.me = t * 2, self

        def __del__(self):
            seen.append((self.t + 1).sum().item())

    gc.disable()
    try:
        for i in range(5):
            Holder(paddle.full([3], float(i)))
        x = paddle.ones([3]) * 3
        gc.collect()
        x = x + 1
    finally:
        gc.enable()
    assert x.tolist() == [4, 4, 4]
    assert sorted(seen) == [3.0 * (2 * i + 1) for i in range(5)]


def test_a_collection_in_the_middle_of_any_op(paddle, tier):
    """Finalizers that record ops while an op is being recorded. They look at nothing: JAX crashes when
    compiled functions run in a finalizer."""
    if tier == "immediate":
        pytest.skip("every op runs at once here")
    results, wrong = [], []

    class Holder:
        def __init__(self, t):
            self.t, self.me = t, self

        def __del__(self):
            results.append(self.t * 2)

    def round_(i):
        Holder(paddle.full([2], float(i)) + 1)
        y = paddle.ones([2]) * i + 1
        return (i, paddle.tanh(y) - y)

    gc.disable()  # what the finalizers call is met before: JAX cannot trace a function while it is tracing it
    try:
        _ = (paddle.full([2], 1.0) + 1) * 2
        found = [round_(i) for i in range(10)]
    finally:
        gc.enable()
    np.testing.assert_allclose(found[-1][1].numpy(), np.tanh(10) - 10, rtol=1e-5)
    before = gc.get_threshold()
    gc.set_threshold(20, 2, 2)
    try:
        found = [round_(i) for i in range(100)]
    finally:
        gc.set_threshold(*before)
    for _ in range(100):
        gc.collect()  # does nothing while another thread (the one that compiles) is collecting
        if len(results) == 110:
            break
        time.sleep(0.02)
    for i, z in found:
        if not np.allclose(z.numpy(), np.tanh(i + 1) - (i + 1), rtol=1e-5):
            wrong.append((i, z.numpy()))
    assert wrong == []
    assert sorted(float(r[0]) for r in results) == sorted(2.0 * (i + 1) for n in (10, 100) for i in range(n))


# changes in place -------------------------------------------------------------------------------------------


def test_the_source_of_to_tensor_may_change_afterwards(paddle):
    for size in (3, 4000):
        source = np.arange(size, dtype="float32")
        t = paddle.to_tensor(source)
        u = t + 1
        source[:] = -7
        assert t.sum().item() == size * (size - 1) / 2
        assert u.sum().item() == size * (size + 1) / 2


SNAPSHOTS = {
    "numpy": lambda paddle, t: t.numpy(),
    "asarray": lambda paddle, t: np.asarray(t),
    "dlpack": lambda paddle, t: np.from_dlpack(t.detach()),
    "jax": lambda paddle, t: t.__jax_array__(),
    "detach": lambda paddle, t: t.detach(),
    "clone": lambda paddle, t: t.clone(),
    "assign": lambda paddle, t: paddle.assign(t),
    "sum of one": lambda paddle, t: t * 1,
    "reshape": lambda paddle, t: t.reshape([-1]),
    "item": lambda paddle, t: t[0, 0],
    "memoryview": lambda paddle, t: memoryview(np.asarray(t)),
    "deepcopy": lambda paddle, t: copy.deepcopy(t.detach()),
    "to_tensor": lambda paddle, t: paddle.to_tensor(t),
}


# show what is done to the Tensor in place, as in Paddle; see tests/core/test_views.py
VIEWS = "detach", "reshape"


@pytest.mark.parametrize("kind", [kind for kind in SNAPSHOTS if kind not in VIEWS])
@pytest.mark.parametrize("looked", [False, True], ids=["pending", "computed"])
def test_a_snapshot_does_not_follow_changes_in_place(paddle, kind, looked):
    """Even though the memory of a tensor that is overwritten may be used again."""
    for step in range(4):
        t = paddle.to_tensor(array(step, 40, 30)) * 2
        if looked:
            t.numpy()
        kept = SNAPSHOTS[kind](paddle, t)
        t.add_(paddle.ones_like(t))
        t[0] = 5.0
        t.scale_(0.5)
        want = 2 * array(step, 40, 30)
        got = np.asarray(kept.numpy() if isinstance(kept, paddle.Tensor) else kept)
        np.testing.assert_array_equal(got.ravel(), want.ravel()[: got.size])
        want = want + 1
        want[0] = 5
        np.testing.assert_allclose(t.numpy(), want / 2, rtol=1e-6)


@pytest.mark.parametrize("kind", SNAPSHOTS)
def test_a_snapshot_does_not_follow_training(paddle, kind):
    w = paddle.create_parameter([40, 30], "float32")
    w.set_value(array(0, 40, 30))
    opt = paddle.optimizer.Adam(0.1, parameters=[w])
    kept, want = [], []
    for step in range(5):
        (w * paddle.to_tensor(array(step, 40, 30))).sum().backward()
        opt.step()
        opt.clear_grad()
        kept.append(SNAPSHOTS[kind](paddle, w))
        want.append(
            np.array(np.asarray(kept[-1].numpy() if isinstance(kept[-1], paddle.Tensor) else kept[-1]))
        )
    for k, v in zip(kept, want, strict=True):
        np.testing.assert_array_equal(np.asarray(k.numpy() if isinstance(k, paddle.Tensor) else k), v)
    assert len({v.tobytes() for v in want}) == 5


def test_what_numpy_gave_may_be_changed(paddle):
    t = paddle.to_tensor(array(0, 40, 30)) * 2
    a = t.numpy()
    a[:] = 9
    np.testing.assert_array_equal(t.numpy(), 2 * array(0, 40, 30))


def test_state_dicts_are_snapshots(paddle):
    net = paddle.nn.Linear(40, 30)
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    for step in range(5):
        net(paddle.to_tensor(array(step, 4, 40))).sum().backward()
        opt.step()
        opt.clear_grad()
        if step == 2:
            state = opt.state_dict()
            before = {k: np.array(v.numpy()) for k, v in state.items() if isinstance(v, paddle.Tensor)}
            weights = copy.deepcopy(net.state_dict())
            kept = {k: np.array(v.numpy()) for k, v in weights.items()}
    assert len(before) >= 4
    for k, v in before.items():
        np.testing.assert_array_equal(state[k].numpy(), v)
    for k, v in kept.items():
        np.testing.assert_array_equal(weights[k].numpy(), v)
        assert (net.state_dict()[k].numpy() != v).any()
    opt.set_state_dict(state)
    for k, v in before.items():
        np.testing.assert_array_equal(opt.state_dict()[k].numpy(), v)


def test_in_place_on_a_value_that_others_wait_for(paddle):
    for _ in range(4):
        x = paddle.ones([3]) * 2
        y, z = x * 3, x.detach()
        x.add_(paddle.ones([3]))
        w = x * y
        x[1] = 10.0
        assert (x.tolist(), y.tolist(), z.tolist(), w.tolist()) == (
            [3, 10, 3],
            [6, 6, 6],
            [3, 10, 3],
            [18, 18, 18],
        )


def test_in_place_in_a_loop_with_reads_between(paddle):
    x, want = paddle.zeros([4]), np.zeros(4)
    for i in range(50):
        x[i % 4] = float(i)
        want[i % 4] = i
        x += 1
        want += 1
        if i % 7 == 0:
            assert x.tolist() == want.tolist()
    assert x.tolist() == want.tolist()


# exceptions -------------------------------------------------------------------------------------------------


def test_an_error_leaves_what_was_before_and_after_it_right(paddle):
    for _ in range(4):
        x = paddle.ones([2, 3]) * 2
        y = x + 1
        with pytest.raises(ValueError):
            x + paddle.ones([7, 5])
        with pytest.raises(ValueError):
            paddle.concat([x, paddle.ones([2, 2, 2])])
        with pytest.raises((ValueError, IndexError)):
            x[9]
        z = y * x
        assert z.tolist() == [[6.0] * 3] * 2 and y.tolist() == [[3.0] * 3] * 2


@pytest.mark.parametrize("where", ["hook", "layer", "backward"])
def test_an_error_in_user_code_during_backward(paddle, where):
    class Broken(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if where == "layer":
                raise KeyError("mine")
            return g * 2

    def broken(g):
        if where == "hook":
            raise KeyError("mine")

    for _ in range(3):
        x = leaf(paddle, 0, 3)
        y = Broken.apply(x) * 3
        y.register_hook(broken)
        if where == "backward":
            (y * 1).sum().backward()
            with pytest.raises(RuntimeError):
                y.sum().backward()
        else:
            with pytest.raises(KeyError, match="mine"):
                y.sum().backward()
            assert x.grad is None
        fresh = leaf(paddle, 1, 3)
        (fresh * fresh).sum().backward()
        np.testing.assert_allclose(fresh.grad.numpy(), 2 * array(1, 3, dtype="float64"))
        assert paddle.is_grad_enabled()


def test_nan_is_found_with_the_flag(paddle, tier):
    x = paddle.zeros([2])
    y = x + 1
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(RuntimeError, match="divide|NaN|nan"):
            (x / x).numpy()
        assert y.tolist() == [1, 1]
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert np.isnan((x / x).numpy()).all() and (y * 2).tolist() == [2, 2]


# gradients --------------------------------------------------------------------------------------------------


def test_hooks_run_in_order_and_see_values(paddle):
    for _ in range(3):
        order, x = [], leaf(paddle, 0, 3)
        y = x * 2
        y.register_hook(lambda g, order=order: order.append(("y1", g.tolist())))
        y.register_hook(lambda g, order=order: (order.append(("y2", g.tolist())), g * 10)[1])
        z = y * 3
        z.register_hook(lambda g, order=order: order.append(("z", g.tolist())))
        x.register_hook(lambda g, order=order: order.append(("x", g.tolist())))
        z.sum().backward()
        assert order == [("z", [1.0] * 3), ("y1", [3.0] * 3), ("y2", [3.0] * 3), ("x", [60.0] * 3)]
        assert x.grad.tolist() == [60.0] * 3


def test_derivatives_to_fourth_order(paddle):
    for seed in range(3):
        x = leaf(paddle, seed, 5)
        y, value = paddle.sin(x * 2) * x, array(seed, 5, dtype="float64")
        found = []
        for _ in range(4):
            (y,) = paddle.grad(y.sum(), x, create_graph=True)
            found.append(y)
        # Leibniz: (x sin 2x)^(n) = x 2^n sin(2x + n pi/2) + n 2^(n-1) sin(2x + (n-1) pi/2)
        for n, f in enumerate(found, 1):
            want = value * 2**n * np.sin(2 * value + n * math.pi / 2) + n * 2 ** (n - 1) * np.sin(
                2 * value + (n - 1) * math.pi / 2
            )
            np.testing.assert_allclose(f.numpy(), want, rtol=1e-10, atol=1e-10)
        (found[3] ** 2).sum().backward()
        n = 5
        fifth = value * 2**n * np.sin(2 * value + n * math.pi / 2) + n * 2 ** (n - 1) * np.sin(
            2 * value + (n - 1) * math.pi / 2
        )
        np.testing.assert_allclose(x.grad.numpy(), 2 * found[3].numpy() * fifth, rtol=1e-9)


def test_a_layer_of_ones_own_with_state(paddle):
    class Square(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x)
            ctx.shown = float(y.sum())
            return y

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * x * 2 + ctx.shown * 0

    for seed in range(3):
        x = leaf(paddle, seed, 4)
        paddle.tanh(Square.apply(x)).sum().backward()
        v = array(seed, 4, dtype="float64")
        np.testing.assert_allclose(x.grad.numpy(), (1 - np.tanh(v * v) ** 2) * 2 * v, rtol=1e-12)


def test_accumulation_over_several_backward_calls(paddle):
    x, want = leaf(paddle, 0, 3), np.zeros(3)
    v = array(0, 3, dtype="float64")
    for i in range(12):
        (x**2 * (i + 1)).sum().backward()
        want = want + 2 * v * (i + 1)
        if i % 4 == 3:
            np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-12)
            x.clear_grad()
            want = np.zeros(3)


def test_retained_graph_and_gradients(paddle):
    for _ in range(3):
        x = leaf(paddle, 0, 3)
        y = x * x
        y.retain_grads()
        z = (y * y).sum()
        z.backward(retain_graph=True)
        z.backward()
        v = array(0, 3, dtype="float64")
        np.testing.assert_allclose(x.grad.numpy(), 8 * v**3, rtol=1e-12)
        with pytest.raises(RuntimeError):
            z.backward()


# training ---------------------------------------------------------------------------------------------------


def test_the_learning_rate_may_change_at_every_step(paddle):
    w = paddle.create_parameter([3], "float64")
    w.set_value(array(0, 3, dtype="float64"))
    opt, want = paddle.optimizer.SGD(0.1, parameters=[w]), array(0, 3, dtype="float64")
    for step in range(12):
        opt.set_lr(0.1 / (step + 1))
        (w * w).sum().backward()
        opt.step()
        opt.clear_grad()
        want = want - np.float64(np.float32(0.1 / (step + 1))) * 2 * want
        if step % 5 == 0:
            np.testing.assert_allclose(w.numpy(), want, rtol=1e-6)
    np.testing.assert_allclose(w.numpy(), want, rtol=1e-6)


def test_schedulers_and_momentum_follow_the_formula(paddle):
    w = paddle.create_parameter([3], "float64")
    w.set_value(array(0, 3, dtype="float64"))
    rate = paddle.optimizer.lr.StepDecay(0.1, step_size=3, gamma=0.5)
    opt = paddle.optimizer.Momentum(rate, 0.9, parameters=[w])
    want, velocity = array(0, 3, dtype="float64"), np.zeros(3)
    for step in range(10):
        (w * w).sum().backward()
        opt.step()
        opt.clear_grad()
        velocity = 0.9 * velocity + 2 * want
        want = want - 0.1 * 0.5 ** (step // 3) * velocity
        rate.step()
    np.testing.assert_allclose(w.numpy(), want, rtol=1e-6)


def test_a_scaled_loss(paddle):
    """Loss scaling by hand: scaled gradients are unscaled in place, a step with infinite ones is left out."""
    w = paddle.create_parameter([2], "float32")
    w.set_value(np.ones(2, "float32"))
    opt, scale, skipped = paddle.optimizer.SGD(0.25, parameters=[w]), 8.0, 0
    for step in range(6):
        factor = float("inf") if step == 3 else 1.0
        ((w * w).sum() * factor * scale).backward()
        with paddle.no_grad():
            w.grad.scale_(1 / scale)
        if bool(paddle.isfinite(w.grad).all()):
            opt.step()
            scale *= 2
        else:
            skipped += 1
            scale /= 2
        opt.clear_grad()
    assert skipped == 1 and scale == 8.0 * 2**5 / 2
    assert w.tolist() == [0.5**5] * 2


def test_running_statistics_of_batch_norm(paddle):
    norm, mean, variance = paddle.nn.BatchNorm1D(3, momentum=0.8), np.zeros(3), np.ones(3)
    for step in range(8):
        x = array(step, 6, 3)
        norm(paddle.to_tensor(x))
        mean, variance = 0.8 * mean + 0.2 * x.mean(0), 0.8 * variance + 0.2 * x.var(0)
        if step == 4:
            np.testing.assert_allclose(norm._mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(norm._mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(norm._variance.numpy(), variance, rtol=1e-5)
    norm.eval()
    out = norm(paddle.to_tensor(x)).numpy()
    np.testing.assert_allclose(out, (x - mean) / np.sqrt(variance + 1e-5), rtol=1e-4, atol=1e-5)


# random numbers ---------------------------------------------------------------------------------------------


def draws(paddle, steps, look):
    paddle.seed(11)
    drop, found = paddle.nn.Dropout(0.5), []
    for _ in range(steps):
        x = drop(paddle.ones([16])) + paddle.rand([16])
        found.append(x.numpy() if look else x)
    return [np.asarray(f) for f in found]


def test_the_stream_of_random_numbers_does_not_depend_on_the_tier(paddle, tier):
    from tests.deferred import differential

    with differential.flags(paddle, deferred="off"):
        want = draws(paddle, 6, True)
    assert len({w.tobytes() for w in want}) == 6
    for look in (True, False, True):
        np.testing.assert_array_equal(draws(paddle, 6, look), want)


def test_random_state_can_be_taken_and_set_between_pending_draws(paddle):
    for _ in range(3):
        paddle.rand([3])
        state = paddle.get_rng_state()
        first = paddle.rand([3])
        second = paddle.randn([3])
        paddle.set_rng_state(state)
        again = paddle.rand([3])
        assert first.tolist() == again.tolist()
        np.testing.assert_array_equal(paddle.randn([3]).numpy(), second.numpy())


def test_dropout_scales_and_its_gradient_uses_the_same_mask(paddle):
    masks = []
    for _ in range(4):
        x = paddle.ones([200])
        x.stop_gradient = False
        y = paddle.nn.functional.dropout(x, 0.25)
        y.sum().backward()
        np.testing.assert_array_equal(y.numpy(), x.grad.numpy())
        assert set(np.unique(y.numpy())) == {np.float32(0), np.float32(1 / 0.75)}
        masks.append(y.numpy().tobytes())
    assert len(set(masks)) == 4


# copies and files -------------------------------------------------------------------------------------------


def test_pending_tensors_can_be_copied_pickled_and_saved(paddle, tmp_path):
    for seed in range(3):
        x = paddle.to_tensor(array(seed, 3)) * 2
        y = copy.deepcopy(x)
        z = pickle.loads(pickle.dumps(x + 1))
        paddle.save({"x": x * 3}, str(tmp_path / "file.pdparams"))
        x.zero_()
        want = array(seed, 3) * 2
        np.testing.assert_array_equal(y.numpy(), want)
        np.testing.assert_array_equal(z.numpy(), want + 1)
        np.testing.assert_allclose(paddle.load(str(tmp_path / "file.pdparams"))["x"].numpy(), want * 3)


def test_a_network_with_pending_weights_can_be_copied(paddle):
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    x = paddle.to_tensor(array(0, 5, 3))
    for _ in range(3):
        net(x).sum().backward()
        opt.step()
        opt.clear_grad()
        twin = copy.deepcopy(net)
        for p, q in zip(net.parameters(), twin.parameters(), strict=True):
            assert p is not q
            np.testing.assert_array_equal(p.numpy(), q.numpy())
    (twin(x) ** 3).sum().backward()
    assert not net[0].weight.grad.numpy().any() and twin[0].weight.grad.numpy().any()


def test_values_reach_jax(paddle):
    import jax
    import jax.numpy as jnp

    for _ in range(3):
        x = paddle.to_tensor(array(0, 3)) * 2
        np.testing.assert_allclose(jnp.sin(x.__jax_array__()), np.sin(2 * array(0, 3)), rtol=1e-6)
        y = x + 1
        doubled = jax.jit(lambda v, y=y: v * 2 + y._value)(jnp.ones(3))
        np.testing.assert_allclose(doubled, 2 + 2 * array(0, 3) + 1, rtol=1e-6)
        grad = jax.grad(lambda v: (paddle.tanh(paddle.to_tensor(v)) * 2).sum()._value)(
            jnp.asarray(array(1, 3))
        )
        np.testing.assert_allclose(grad, 2 * (1 - np.tanh(array(1, 3)) ** 2), rtol=1e-5)
