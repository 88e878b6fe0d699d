"""Training in static programs: step by step as the real Paddle, from the same values."""

import numpy as np
import pytest

import paddle_jax
from tests.static.engines import close, pair

pytestmark = pytest.mark.own_process
STEPS = 4
OPTIMIZERS = {
    "SGD": lambda m: m.optimizer.SGD(0.1),
    "SGD decay": lambda m: m.optimizer.SGD(0.1, weight_decay=0.1),
    "SGD L1": lambda m: m.optimizer.SGD(0.1, weight_decay=m.regularizer.L1Decay(0.1)),
    "SGD schedule": lambda m: m.optimizer.SGD(m.optimizer.lr.StepDecay(0.1, 2, 0.5)),
    "SGD norm": lambda m: m.optimizer.SGD(0.1, grad_clip=m.nn.ClipGradByNorm(0.3)),
    "Momentum": lambda m: m.optimizer.Momentum(0.1, 0.8),
    "Momentum Nesterov": lambda m: m.optimizer.Momentum(0.1, 0.8, use_nesterov=True, weight_decay=0.01),
    "Adagrad": lambda m: m.optimizer.Adagrad(0.1),
    "Adadelta": lambda m: m.optimizer.Adadelta(0.5),
    "RMSProp": lambda m: m.optimizer.RMSProp(0.05, centered=True, momentum=0.5),
    "Adam": lambda m: m.optimizer.Adam(0.1, grad_clip=m.nn.ClipGradByGlobalNorm(0.5)),
    "Adam amsgrad": lambda m: m.optimizer.Adam(0.1, amsgrad=True),
    "AdamW": lambda m: m.optimizer.AdamW(
        0.1, weight_decay=0.2, apply_decay_param_fun=lambda name: ".w_" in name
    ),
    "Adamax": lambda m: m.optimizer.Adamax(0.1),
    "NAdam": lambda m: m.optimizer.NAdam(0.1),
    "RAdam": lambda m: m.optimizer.RAdam(0.1),
    # with more, the real Paddle's static mode differs from its dynamic mode
    "ASGD": lambda m: m.optimizer.ASGD(0.05, batch_num=1),
    "Rprop": lambda m: m.optimizer.Rprop(0.01),
    "Lamb": lambda m: m.optimizer.Lamb(0.1),
}


def regression(make):
    def build(m):
        x, y = m.static.data("x", [None, 4]), m.static.data("y", [None, 1])
        hidden = m.nn.functional.tanh(m.nn.Linear(4, 5)(x))
        loss = ((m.nn.Linear(5, 1, weight_attr=m.ParamAttr(learning_rate=0.5))(hidden) - y) ** 2).mean()
        optimizer = make(m)
        optimizer.minimize(loss)
        Held.optimizers[m.__name__] = optimizer
        return [loss]

    return build


class Held:
    """The optimizers of the programs last built."""

    optimizers: dict = {}  # noqa: RUF012


def batch(seed, size=6):
    r = np.random.RandomState(seed)
    x = r.randn(size, 4).astype("float32")
    return {"x": x, "y": (x.sum(1, keepdims=True) * 0.5 + 1).astype("float32")}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, oracle):
    in_paddle, mine = pair(oracle, paddle_jax, regression(OPTIMIZERS[name]))
    for step in range(STEPS):
        feed = batch(step, 6 + step % 2)
        close(mine.run(feed), in_paddle.run(feed), 1e-4)
        if "schedule" in name:
            for optimizer in Held.optimizers.values():
                optimizer._learning_rate.step()
    for parameter in in_paddle.names():
        close([mine.get(parameter)], [in_paddle.get(parameter)], 2e-4)


def conv_net(m):
    image, label = m.static.data("image", [None, 1, 8, 8]), m.static.data("label", [None, 1], "int64")
    net = m.nn.Sequential(
        m.nn.Conv2D(1, 3, 3),
        m.nn.BatchNorm2D(3),
        m.nn.ReLU(),
        m.nn.MaxPool2D(2),
        m.nn.Flatten(),
        m.nn.Linear(27, 4),
    )
    logits = net(image)
    loss = m.nn.functional.cross_entropy(logits, label)
    accuracy = m.static.accuracy(m.nn.functional.softmax(logits), label)
    m.optimizer.Momentum(0.05, 0.9).minimize(loss)
    return [loss, logits, accuracy]


def test_convolutions_and_running_statistics(oracle):
    in_paddle, mine = pair(oracle, paddle_jax, conv_net)
    for step in range(3):
        r = np.random.RandomState(step)
        feed = {"image": r.randn(5, 1, 8, 8).astype("float32"), "label": r.randint(0, 4, (5, 1))}
        close(mine.run(feed), in_paddle.run(feed), 2e-4)
    for name in in_paddle.names():
        close([mine.get(name)], [in_paddle.get(name)], 2e-4)


def lstm_net(m):
    ids, y = m.static.data("ids", [None, 7], "int64"), m.static.data("y", [None, 1])
    table, rnn, head = m.nn.Embedding(11, 4), m.nn.LSTM(4, 5), m.nn.Linear(5, 1)
    out, _ = rnn(table(ids))
    loss = m.nn.functional.mse_loss(head(out[:, -1]), y)
    m.optimizer.SGD(0.1).minimize(loss)
    return [loss]


def test_recurrent_net(oracle):
    in_paddle, mine = pair(oracle, paddle_jax, lstm_net)
    for step in range(2):
        r = np.random.RandomState(step)
        feed = {"ids": r.randint(0, 11, (3, 7)), "y": r.randn(3, 1).astype("float32")}
        close(mine.run(feed), in_paddle.run(feed), 1e-4)
    for name in in_paddle.names():
        close([mine.get(name)], [in_paddle.get(name)], 2e-4)


def encoder(m):
    x, y = m.static.data("x", [None, 6, 8]), m.static.data("y", [None, 8])
    layer = m.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    loss = m.nn.functional.mse_loss(layer(x).mean(1), y)
    m.optimizer.Adam(0.01).minimize(loss)
    return [loss]


def test_transformer(oracle):
    in_paddle, mine = pair(oracle, paddle_jax, encoder)
    for step in range(2):
        r = np.random.RandomState(step)
        feed = {"x": r.randn(3, 6, 8).astype("float32"), "y": r.randn(3, 8).astype("float32")}
        close(mine.run(feed), in_paddle.run(feed), 1e-4)


def test_clone_for_test_leaves_training_out(oracle):
    in_paddle, mine = pair(oracle, paddle_jax, conv_net)
    test = mine.main.clone(for_test=True)
    r = np.random.RandomState(1)
    feed = {"image": r.randn(4, 1, 8, 8).astype("float32"), "label": r.randint(0, 4, (4, 1))}
    before = {name: mine.get(name) for name in mine.names()}
    tested = mine.run(feed, test, mine.fetches[:2])
    assert all((mine.get(name) == value).all() for name, value in before.items())
    layer = paddle_jax.nn.functional
    weights = {name: paddle_jax.to_tensor(value) for name, value in before.items()}
    x = layer.conv2d(paddle_jax.to_tensor(feed["image"]), weights["conv2d_0.w_0"], weights["conv2d_0.b_0"])
    x = layer.batch_norm(x, *[weights[f"batch_norm2d_0.{n}"] for n in ("w_1", "w_2", "w_0", "b_0")])
    x = layer.max_pool2d(layer.relu(x), 2).flatten(1)
    np.testing.assert_allclose(
        tested[1], (x @ weights["linear_0.w_0"] + weights["linear_0.b_0"]).numpy(), rtol=1e-4, atol=1e-5
    )


def test_gradients_of_every_order_and_their_starts(oracle, static):
    S, main, _ = static
    x = S.data("x", [3])
    x.stop_gradient = False
    y = paddle_jax.sin(x) * x
    (first,) = S.gradients(y, x)
    (second,) = S.gradients(first, x)
    (third,) = S.gradients(second, x)
    start = S.data("start", [3])
    (scaled,) = S.gradients([y], [x], [start])
    value = np.array([0.5, 1.0, 2.0], "float32")
    got = S.Executor().run(main, {"x": value, "start": value}, [first, second, third, scaled])
    sin, cos = np.sin(value), np.cos(value)
    want = [sin + value * cos, 2 * cos - value * sin, -3 * sin - value * cos, (sin + value * cos) * value]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_gradient_rules_of_the_real_paddle(oracle):
    def build(m):
        x, frozen = m.static.data("x", [2]), m.static.data("frozen", [2])
        x.stop_gradient = False
        y, other = x * frozen.detach() + x.detach() * x, x * 3
        grads = m.static.gradients(y, [x, frozen, other])
        assert [g is None for g in grads] == [False, True, True]
        through = m.static.gradients([y, other], x)
        blocked = m.static.gradients(x * 2 + other, x, no_grad_set={other})
        return [grads[0], through[0], blocked[0]]

    feed = {"x": np.array([1, 2], "float32"), "frozen": np.array([3, 4], "float32")}
    in_paddle, mine = pair(oracle, paddle_jax, build)
    close(mine.run(feed), in_paddle.run(feed))


def test_gradients_beside_a_detached_leaf(oracle):
    """The gradient of x * z * z by x is z * z. That by z is 2 * x * z; the real Paddle gives z * z there."""

    def build(m, by_leaf=False):
        x = m.static.data("x", [3])
        x.stop_gradient = False
        y = x * 1.0
        z = y.detach()
        z.stop_gradient = False
        w = (y * z * z).sum()
        return m.static.gradients(w, [z] if by_leaf else [x]) + m.static.gradients(w, [y])

    feed = {"x": np.array([1, 2, 3], "float32")}
    in_paddle, mine = pair(oracle, paddle_jax, build)
    close(mine.run(feed), in_paddle.run(feed))
    _, mine = pair(oracle, paddle_jax, lambda m: build(m, by_leaf=m is paddle_jax))
    np.testing.assert_allclose(mine.run(feed), [[2, 8, 18], [1, 4, 9]], rtol=1e-6)


def test_lists_of_parameters(static):
    S, _, startup = static
    a, b = S.create_parameter([2], "float32", name="a"), S.create_parameter([2], "float32", name="b")
    loss = (a * b).sum()
    assert [p.name for p, _ in S.append_backward(loss, parameter_list=["b"])] == ["b"]
    assert [p.name for p, _ in S.append_backward(loss, no_grad_set={"a"})] == ["b"]
    operations, pairs = paddle_jax.optimizer.SGD(0.1).minimize(loss, parameters=[a])
    assert [p.name for p, _ in pairs] == ["a"] and len(operations) == 1
    exe = S.Executor()
    exe.run(startup)
    before = [np.array(S.global_scope().find_var(n).get_tensor()) for n in "ab"]
    exe.run(S.default_main_program())
    after = [np.array(S.global_scope().find_var(n).get_tensor()) for n in "ab"]
    np.testing.assert_allclose(after[0], before[0] - 0.1 * before[1], rtol=1e-6)
    assert (after[1] == before[1]).all()


def test_random_operations_draw_anew_and_follow_seeds(static):
    S, main, _ = static
    dropped = paddle_jax.nn.functional.dropout(paddle_jax.ones([200]))
    again = paddle_jax.nn.functional.dropout(paddle_jax.ones([200]))
    exe = S.Executor()
    runs = []
    for _ in range(2):
        paddle_jax.seed(3)
        runs.append([exe.run(main, fetch_list=[dropped, again]) for _ in range(2)])
    (one, two), (three, four) = runs
    assert (one[0] == three[0]).all() and (two[1] == four[1]).all()
    assert (one[0] != two[0]).any() and (one[0] != one[1]).any()
    assert set(np.unique(one[0])) == {0.0, 2.0}
    seeded, values = S.Program(), []
    seeded.random_seed = 7
    with S.program_guard(seeded):
        drawn = paddle_jax.rand([5])
    for program in (seeded, seeded.clone()):
        values.append([exe.run(program, fetch_list=[drawn])[0] for _ in range(2)])
    assert (values[0][0] == values[1][0]).all() and (values[0][0] != values[0][1]).any()


def test_a_program_and_eager_training_agree(static):
    """The same network and data, once in a program and once eagerly."""
    S, main, startup = static
    x, y = S.data("x", [None, 4]), S.data("y", [None, 1])
    layer = paddle_jax.nn.Linear(4, 1)
    loss = ((layer(x) - y) ** 2).mean()
    paddle_jax.optimizer.AdamW(0.1).minimize(loss)
    exe = S.Executor()
    exe.run(startup)
    start = {
        name: np.array(S.global_scope().find_var(v.name).get_tensor())
        for name, v in layer.state_dict().items()
    }
    static_losses = [exe.run(main, batch(step), [loss])[0].item() for step in range(3)]
    paddle_jax.disable_static()
    eager = paddle_jax.nn.Linear(4, 1)
    eager.set_state_dict({name: paddle_jax.to_tensor(value) for name, value in start.items()})
    optimizer, losses = paddle_jax.optimizer.AdamW(0.1, parameters=eager.parameters()), []
    for step in range(3):
        feed = batch(step)
        value = ((eager(paddle_jax.to_tensor(feed["x"])) - paddle_jax.to_tensor(feed["y"])) ** 2).mean()
        value.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(value.item())
    paddle_jax.enable_static()
    np.testing.assert_allclose(static_losses, losses, rtol=1e-5)


def test_learning_rates(static):
    S, main, startup = static
    w = S.create_parameter([1], "float32", default_initializer=paddle_jax.nn.initializer.Constant(0.0))
    optimizer = paddle_jax.optimizer.SGD(0.5)
    optimizer.minimize(-w.sum())
    exe = S.Executor()
    exe.run(startup)

    def moved():
        return round(exe.run(main, fetch_list=[w])[0].item(), 4)

    rate = S.global_scope().find_var("learning_rate_0").get_tensor()
    assert moved() == 0.5 and np.array(rate) == 0.5
    optimizer.set_lr(0.25)
    assert moved() == 0.75
    rate.set(np.float32(1.0), paddle_jax.CPUPlace())
    assert moved() == 1.75
    assert moved() == 2.75
    scheduler = paddle_jax.optimizer.lr.StepDecay(0.5, 1, 0.1)
    optimizer.set_lr_scheduler(scheduler)
    assert moved() == 3.25
    scheduler.step()
    assert moved() == 3.3


def test_low_precision_parameters_have_wide_copies(static):
    S, main, startup = static
    w = S.create_parameter([4], "float16", default_initializer=paddle_jax.nn.initializer.Constant(1.0))
    paddle_jax.optimizer.Adam(1e-4, multi_precision=True).minimize((w * w).sum())
    exe, other = S.Executor(), paddle_jax.base.core.Scope()
    exe.run(startup, scope=other)
    for _ in range(3):
        exe.run(main, scope=other)
    master = np.array(other.find_var(w.name + "_fp32_master_0").get_tensor())
    assert master.dtype == np.float32 and (master < 0.99975).all() and (master > 0.9996).all()
    assert np.array(other.find_var(w.name).get_tensor()).dtype == np.float16
    assert S.global_scope().find_var(w.name) is None


def test_two_optimizers_and_groups(static):
    S, main, startup = static
    a, b = (
        S.create_parameter(
            [1], "float32", name=n, default_initializer=paddle_jax.nn.initializer.Constant(0.0)
        )
        for n in "ab"
    )
    loss = -(a + b).sum()
    paddle_jax.optimizer.SGD(0.5, parameters=[a]).minimize(loss)
    groups = [{"params": [b], "learning_rate": 0.1}]
    paddle_jax.optimizer.SGD(1.0, parameters=groups).minimize(loss)
    exe = S.Executor()
    exe.run(startup)
    assert [round(v.item(), 4) for v in exe.run(main, fetch_list=[a, b])] == [0.5, 0.1]


def test_an_empty_list_of_parameters_updates_nothing(static):
    S, main, startup = static
    w, v = (S.create_parameter([2], "float32", name=name) for name in "wv")
    loss = (w * v).sum()
    assert paddle_jax.optimizer.Adam(0.1, parameters=[]).backward(loss) == []
    assert paddle_jax.optimizer.SGD(0.1, parameters=[]).minimize(loss) == ([], [])
    _, pairs = paddle_jax.optimizer.SGD(0.1, parameters=[]).minimize(loss, parameters=[v])
    assert [parameter.name for parameter, _ in pairs] == ["v"]
    exe = S.Executor()
    exe.run(startup)
    before = np.array(S.global_scope().find_var("w").get_tensor())
    exe.run(main)
    np.testing.assert_array_equal(np.array(S.global_scope().find_var("w").get_tensor()), before)


def test_clipping_by_value_as_eagerly(static):
    """The real Paddle has it in dynamic mode only."""
    S, main, startup = static
    w = S.create_parameter(
        [3],
        "float32",
        default_initializer=paddle_jax.nn.initializer.Assign(np.array([3, -0.2, 0.1], "float32")),
    )
    paddle_jax.optimizer.SGD(1.0, grad_clip=paddle_jax.nn.ClipGradByValue(0.3)).minimize((w * w).sum())
    exe = S.Executor()
    exe.run(startup)
    np.testing.assert_allclose(exe.run(main, fetch_list=[w])[0], [2.7, 0.1, -0.1], rtol=1e-5)


def two_losses(m):
    """A gradient and the values of two Parameters after each step. Both losses come before any update."""
    m.enable_static()
    main, startup = m.static.Program(), m.static.Program()
    with m.static.scope_guard(m.static.Scope()), m.static.program_guard(main, startup):
        x = m.static.data("x", [None, 2])
        a, b = (
            m.static.create_parameter([2, 1], "float32", default_initializer=m.nn.initializer.Constant(value))
            for value in (1.0, 2.0)
        )
        first = (x @ a).mean()
        second = ((x @ a) * (x @ b)).mean()
        m.optimizer.SGD(0.01).minimize(first)
        (slope,) = m.static.gradients(second, a)
        m.optimizer.SGD(0.02).minimize(second)
        executor = m.static.Executor()
        executor.run(startup)
        rows = np.arange(6, dtype="float32").reshape(3, 2)
        return [
            [np.asarray(one) for one in executor.run(main, feed={"x": rows}, fetch_list=[slope, a, b])]
            for _ in range(STEPS)
        ]


def test_two_losses_with_a_common_parameter(oracle):
    ours = two_losses(paddle_jax)
    rows = np.arange(6, dtype="float32").reshape(3, 2)
    a, b = np.ones([2, 1], "float32"), np.full([2, 1], 2, "float32")
    for slope, new_a, new_b in ours:
        by_a = (rows * (rows @ b)).mean(0)[:, None]
        by_b = (rows * (rows @ a)).mean(0)[:, None]
        np.testing.assert_allclose(slope, by_a, rtol=1e-5)
        a = a - 0.01 * rows.mean(0)[:, None] - 0.02 * by_a
        b = b - 0.02 * by_b
        np.testing.assert_allclose(new_a, a, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(new_b, b, rtol=1e-4, atol=1e-6)
    for step, real in zip(ours, two_losses(oracle), strict=True):
        for one, other in zip(step, real, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
