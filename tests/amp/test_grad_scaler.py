"""GradScaler and AmpScaler against the oracle, which is told that it has a GPU."""

import warnings

import numpy as np
import pytest

import paddle_jax as paddle
from tests.amp.oracle_gpu import pretended

INF, NAN = float("inf"), float("nan")


@pytest.fixture
def gpu(oracle):
    with pretended(oracle):
        yield oracle


@pytest.fixture(autouse=True)
def _float16():
    with paddle.amp.auto_cast():
        pass  # the scaler asks which dtype the last guard had


def setting(module, **kwargs):
    values = np.array([1.0, -2.0], "float32")
    p, q = (module.create_parameter([2], "float32") for _ in range(2))
    p.set_value(values)
    q.set_value(values)
    return p, q, module.amp.GradScaler(**{"init_loss_scaling": 8.0, "incr_every_n_steps": 2, **kwargs})


def state(scaler):
    return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in scaler.state_dict().items()}


def error(function, *args):
    try:
        function(*args)
    except Exception as raised:
        return type(raised)
    return None


def same(run, gpu):
    """Both engines give the same states and values."""
    want, got = run(gpu), run(paddle)
    assert got[0] == want[0]
    np.testing.assert_allclose(got[1:], want[1:], rtol=1e-5)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"decr_every_n_nan_or_inf": 2, "decr_ratio": 0.25},
        {"incr_every_n_steps": 1, "incr_ratio": 3.0},
        {"use_dynamic_loss_scaling": False},
        {"enable": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("unscale", [False, True])
def test_steps_as_the_oracle(kwargs, unscale, gpu, capsys):
    def run(module):
        p, q, scaler = setting(module, **kwargs)
        first, second = (
            module.optimizer.Momentum(0.1, parameters=[p]),
            module.optimizer.Adam(0.1, parameters=[q]),
        )
        seen = []
        for factor in (1.0, 1.0, INF, 1.0, NAN, NAN, 1.0, 1.0, 1.0):
            if not kwargs.get("enable", True) and factor not in (INF, NAN) or kwargs.get("enable", True):
                scaler.scale(((p + q) * factor).sum()).backward()
                if unscale:
                    scaler.unscale_(first)
                    seen.append([] if factor != 1 else p.grad.tolist())
                    seen.append(error(scaler.unscale_, first))
                for opt in (first, second):
                    scaler.step(opt)
                if kwargs.get("use_dynamic_loss_scaling", True) and kwargs.get("enable", True):
                    seen += [error(scaler.step, first), error(scaler.unscale_, first)]
                scaler.update()
                first.clear_grad()
                second.clear_grad()
            seen.append(state(scaler))
        return seen, p.numpy(), q.numpy()

    same(run, gpu)


@pytest.mark.parametrize("kwargs", [{}, {"use_dynamic_loss_scaling": False}, {"enable": False}], ids=str)
@pytest.mark.parametrize("kind", ["GradScaler", "AmpScaler"])
def test_minimize_as_the_oracle(kind, kwargs, gpu, capsys):
    def run(module):
        p, q, _ = setting(module)
        opt = module.optimizer.Adam(0.1, parameters=[p, q])
        scaler = getattr(module.amp, kind)(init_loss_scaling=4.0, incr_every_n_steps=2, **kwargs)
        seen = []
        for factor in (1.0, INF, 1.0, 1.0) if kwargs.get("enable", True) else (1.0, 1.0):
            scaled = scaler.scale(((p + q) * factor).sum())
            scaled.backward()
            scaler.minimize(opt, scaled)
            opt.clear_grad()
            seen.append(state(scaler))
        return seen, p.numpy(), q.numpy()

    same(run, gpu)


def test_settings_as_the_oracle(gpu):
    def run(module):
        scaler = module.amp.GradScaler()
        seen = [
            error(lambda kw=kw: module.amp.GradScaler(**kw))
            for kw in ({"incr_ratio": 1.0}, {"decr_ratio": 1.5}, {"decr_ratio": 0.0})
        ]
        for name, value in (
            ("init_loss_scaling", 4.0),
            ("incr_ratio", 3.0),
            ("incr_ratio", 0.5),
            ("decr_ratio", 0.25),
            ("decr_ratio", 1.0),
            ("incr_every_n_steps", 7),
            ("decr_every_n_nan_or_inf", 3),
        ):
            seen += [error(getattr(scaler, "set_" + name), value), getattr(scaler, "get_" + name)()]
        seen += [
            scaler.is_enable(),
            scaler.is_use_dynamic_loss_scaling(),
            state(scaler),
            state(module.amp.AmpScaler()),
        ]
        other = module.amp.GradScaler(use_dynamic_loss_scaling=False)
        other.load_state_dict({**scaler.state_dict(), "incr_count": 5})
        seen += [
            state(other),
            other.get_init_loss_scaling(),
            error(other.load_state_dict, {}),
            error(module.amp.GradScaler(enable=False).load_state_dict, {}),
        ]
        off = module.amp.GradScaler(enable=False)
        return [*seen, off.is_enable(), off.is_use_dynamic_loss_scaling(), off.scale(3), off.state_dict()]

    assert run(paddle) == run(gpu)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("dynamic", [True, False])
def test_does_nothing_for_bfloat16_as_the_oracle(dtype, dynamic, gpu):
    def run(module):
        with module.amp.auto_cast(dtype=dtype):
            pass
        scaler = module.amp.GradScaler(use_dynamic_loss_scaling=dynamic)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return scaler.scale(module.ones([1])).item(), scaler.is_enable(), len(caught)

    assert run(paddle) == run(gpu)


def test_states_are_exchanged(gpu):
    for source, target in ((gpu, paddle), (paddle, gpu)):
        p, _, scaler = setting(source)
        opt = source.optimizer.SGD(0.1, parameters=[p])
        scaler.scale(p.sum()).backward()
        scaler.step(opt)
        scaler.update()
        other = target.amp.GradScaler(use_dynamic_loss_scaling=False)
        other.load_state_dict(scaler.state_dict())
        assert state(other) == state(scaler)


def test_gradients_that_are_missing_or_low(gpu):
    p, q = paddle.create_parameter([2], "float16"), paddle.create_parameter([2], "float32")
    opt = paddle.optimizer.AdamW(0.1, parameters=[p, q], multi_precision=True)
    scaler, before = paddle.amp.GradScaler(init_loss_scaling=1024.0), p.numpy()
    scaler.scale((p * 100).sum()).backward()  # infinite in float16 once it is scaled
    scaler.step(opt)
    scaler.update()
    assert scaler.state_dict()["scale"] == [512.0]
    np.testing.assert_array_equal(p.numpy(), before)
    opt.clear_grad()
    scaler.scale((p * 10).sum()).backward()
    scaler.unscale_(opt)
    np.testing.assert_allclose(p.grad.numpy(), [10, 10])
    assert q.grad is None


def test_any_of_several_optimizers_shrinks_the_scale():
    p, q, scaler = setting(paddle)
    first, second = (paddle.optimizer.SGD(0.1, parameters=[x]) for x in (p, q))
    scaler.scale(p.sum() * INF + q.sum()).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert p.tolist() == [1, -2] and state(scaler)["scale"] == [4.0]


def test_optimizers_with_a_step_of_their_own():
    p, _, scaler = setting(paddle)
    calls = []

    class Own(paddle.optimizer.SGD):
        def step(self):
            calls.append(1)
            super().step()

    opt = Own(0.1, parameters=[p])
    for factor in (1.0, INF):
        scaler.scale(p.sum() * factor).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
    assert len(calls) == 1


@pytest.mark.parametrize(
    "name",
    [
        "SGD",
        "Momentum",
        "Adam",
        "AdamW",
        "Adamax",
        "Adagrad",
        "RMSProp",
        "Lamb",
        "Adadelta",
        "NAdam",
        "RAdam",
        "ASGD",
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_float32_copies_follow_the_oracles_float32_update(name, dtype, oracle):
    """Low parameters with float32 copies are updated as float32 ones are by the same gradients; skipped steps
    leave all states."""
    r = np.random.default_rng(0)
    start = paddle.to_tensor(r.normal(size=3).astype("float32")).astype(dtype).astype("float32").numpy()
    grads = [paddle.to_tensor(r.normal(size=3).astype("float32")).astype(dtype) for _ in range(4)]
    more = {"batch_num": 1} if name == "ASGD" else {}
    wide = oracle.create_parameter([3], "float32")
    wide.set_value(start)
    theirs = getattr(oracle.optimizer, name)(learning_rate=0.1, parameters=[wide], **more)
    low = paddle.create_parameter([3], dtype)
    low.set_value(paddle.to_tensor(start).astype(dtype))
    ours = getattr(paddle.optimizer, name)(learning_rate=0.1, parameters=[low], **more)
    ours._multi_precision = True
    scaler = paddle.amp.GradScaler(init_loss_scaling=1.0, incr_every_n_steps=100)
    for i, grad in enumerate(grads):
        (wide * oracle.to_tensor(grad.astype("float32").numpy())).sum().backward()
        theirs.step()
        theirs.clear_grad()
        for factor in (INF, 1.0) if i % 2 else (1.0,):
            scaler.scale((low * grad * factor).sum()).backward()
            scaler.step(ours)
            scaler.update()
            ours.clear_grad()
    states = ours.state_dict()
    np.testing.assert_allclose(states["master_weights"][low.name].numpy(), wide.numpy(), rtol=2e-5, atol=1e-6)
    assert low.tolist() == states["master_weights"][low.name].astype(dtype).tolist()
    again = paddle.create_parameter([3], dtype)
    again.name = low.name
    again.set_value(low)
    fresh = getattr(paddle.optimizer, name)(learning_rate=0.1, parameters=[again], **more)
    fresh._multi_precision = True
    fresh.set_state_dict(states)
    for opt, p in ((ours, low), (fresh, again)):
        (p * grads[0]).sum().backward()
        opt.step()
    np.testing.assert_array_equal(
        fresh.state_dict()["master_weights"][low.name].numpy(),
        ours.state_dict()["master_weights"][low.name].numpy(),
    )


def test_objects_round_an_optimizer():
    p, _, scaler = setting(paddle)

    class Wrapper:
        def __init__(self, optimizer):
            self._inner, self._parameter_list = optimizer, optimizer._parameter_list

        def step(self):
            self._inner.step()

    opt = Wrapper(paddle.optimizer.SGD(0.5, parameters=[p]))
    scaler.scale(p.sum()).backward()
    scaler.step(opt)
    assert p.tolist() == [0.5, -2.5]


def test_parts_of_a_step_by_their_inner_names():
    w = paddle.create_parameter([1], "float32")
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=1)
    optimizer = paddle.optimizer.SGD(0.5, parameters=[w])
    before = w.item()
    with paddle.amp.auto_cast(dtype="float16"):
        scaler.scale(w.sum()).backward()
    scaler._unscale(optimizer)
    assert w.grad.item() == 1.0
    optimizer.step()
    scaler._update()
    assert w.item() == before - 0.5 and scaler.state_dict()["scale"].tolist() == [16.0]
    paddle.amp.GradScaler(enable=False)._update()
