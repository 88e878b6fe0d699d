"""How often segments are compiled: what changes from call to call must not be part of a program, and loops
must be recognised."""

import numpy as np
import pytest

from tests.deferred import compiled as compiled_segments

pytestmark = pytest.mark.usefixtures("deferred")


def array(seed, *shape):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


@pytest.fixture(autouse=True)
def nothing_compiled():
    """Starts without compiled segments: other tests run the same programs."""
    compiled_segments.forget()


@pytest.fixture
def compiles(paddle, count):
    """Runs a function for several values; says how often segments were compiled in the first rounds
    and in the others."""

    def run(body, values, warm=4):
        values = list(values)
        for v in values[:warm]:
            body(v)
        first = count("compiles")
        for v in values[warm:]:
            body(v)
        return first, count("compiles")

    count("compiles")
    return run


BODIES = {
    "index": lambda paddle, x, i: (x[i % 8] * 2).numpy(),
    "two indices": lambda paddle, x, i: (x[i % 8, i % 3] + 1).item(),
    "negative index": lambda paddle, x, i: (x[-1 - i % 8] * 2).numpy(),
    "slice": lambda paddle, x, i: (x[i % 6 : i % 6 + 2] * 2).numpy(),
    "slice of the last axis": lambda paddle, x, i: (x[:, i % 2 : i % 2 + 2] * 2).numpy(),
    "set item": lambda paddle, x, i: x.clone().__setitem__(i % 8, i * 0.5),
    "set slice": lambda paddle, x, i: x.clone().__setitem__(slice(i % 6, i % 6 + 2), 1.0),
    "number": lambda paddle, x, i: (x * (i * 0.37 + 0.1) + i).numpy(),
    "special numbers": lambda paddle, x, i: (x * i + (i - 3)).numpy(),
    "whole numbers": lambda paddle, x, i: (paddle.arange(3) * i - 2 * i).numpy(),
    "numpy number": lambda paddle, x, i: (x * np.float32(i * 0.3)).numpy(),
    "0-d tensor": lambda paddle, x, i: (x * paddle.to_tensor(i * 0.3)).numpy(),
    "power": lambda paddle, x, i: (abs(x) ** (i * 0.1 + 1.05)).numpy(),
    "full": lambda paddle, x, i: (paddle.full([8, 3], i * 0.3) + x).numpy(),
    "full like": lambda paddle, x, i: (paddle.full_like(x, i * 0.3) + x).numpy(),
    "scale": lambda paddle, x, i: (paddle.scale(x, i * 0.3 + 0.1) * x).numpy(),
    "in place": lambda paddle, x, i: x.clone().add_(paddle.to_tensor(i * 0.5)).numpy(),
    "fill": lambda paddle, x, i: (x.clone().fill_(i * 0.3) + x).numpy(),
    "comparison": lambda paddle, x, i: ((x > i * 0.1) * 1.0).sum().item(),
    "array of numbers": lambda paddle, x, i: (x + paddle.to_tensor(array(i, 8, 3))).numpy(),
    "index tensor": lambda paddle, x, i: (x[paddle.to_tensor([i % 8, (i + 3) % 8])] * 2).numpy(),
    "dropout": lambda paddle, x, i: (paddle.nn.functional.dropout(x, 0.5) * 2).numpy(),
    "random": lambda paddle, x, i: (paddle.rand([8, 3]) * x + paddle.randn([8, 3])).numpy(),
    "clip": lambda paddle, x, i: (x.clip(-0.1 * i - 0.1, 0.1 * i + 0.1) * 2).numpy(),
    "gradient": lambda paddle, x, i: gradient(paddle, x, i),
}


def gradient(paddle, x, i):
    y = x.detach()
    y.stop_gradient = False
    (paddle.tanh(y * (i * 0.1 + 0.05)) * (i + 0.5)).sum().backward()
    return y.grad.numpy()


@pytest.mark.parametrize("kind", BODIES)
def test_values_that_change_do_not_compile_again(paddle, compiles, kind):
    x = paddle.to_tensor(array(0, 8, 3))
    first, later = compiles(lambda i: BODIES[kind](paddle, x, i), range(24))
    assert first <= 2
    assert later == 0, str(paddle.explain())


def network(paddle, *more):
    return paddle.nn.Sequential(paddle.nn.Linear(3, 8), *more, paddle.nn.Tanh(), paddle.nn.Linear(8, 1))


def step(net, opt, x, scheduler=None):
    loss = (net(x) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    if scheduler is not None:
        scheduler.step()
    return loss


OPTIMIZERS = {
    "SGD": lambda o, p: (o.SGD(0.01, parameters=p), None),
    "Momentum": lambda o, p: (o.Momentum(0.01, 0.9, parameters=p), None),
    "Adam": lambda o, p: (o.Adam(0.01, parameters=p), None),
    "AdamW": lambda o, p: (o.AdamW(0.01, parameters=p, weight_decay=0.1), None),
    "RMSProp": lambda o, p: (o.RMSProp(0.01, parameters=p), None),
    "scheduler": lambda o, p: (lambda s: (o.Adam(s, parameters=p), s))(o.lr.ExponentialDecay(0.1, 0.9)),
    "cosine": lambda o, p: (lambda s: (o.SGD(s, parameters=p), s))(o.lr.CosineAnnealingDecay(0.1, 10)),
    "warm-up": lambda o, p: (lambda s: (o.Adam(s, parameters=p), s))(o.lr.LinearWarmup(0.1, 5, 0.0, 0.1)),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_training_compiles_once(paddle, compiles, kind):
    net = network(paddle)
    opt, scheduler = OPTIMIZERS[kind](paddle.optimizer, net.parameters())
    batches = [paddle.to_tensor(array(i, 5, 3)) for i in range(30)]
    first, later = compiles(lambda i: step(net, opt, batches[i], scheduler), range(30), warm=6)
    assert 1 <= first <= 3
    assert later == 0, str(paddle.explain())


def test_a_rate_set_by_hand(paddle, compiles):
    net = network(paddle)
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    x = paddle.to_tensor(array(0, 5, 3))

    def body(i):
        opt.set_lr(0.1 / (i + 1))
        step(net, opt, x)

    first, later = compiles(body, range(20), warm=6)
    assert first <= 3 and later == 0, str(paddle.explain())


def test_dropout_and_batch_norm_in_training(paddle, compiles):
    net = network(paddle, paddle.nn.BatchNorm1D(8), paddle.nn.Dropout(0.3))
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    x = paddle.to_tensor(array(0, 6, 3))
    first, later = compiles(lambda i: step(net, opt, x), range(20), warm=6)
    assert first <= 3 and later == 0, str(paddle.explain())


def test_training_and_evaluation_in_turn(paddle, compiles):
    net = network(paddle, paddle.nn.BatchNorm1D(8), paddle.nn.Dropout(0.3))
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    x = paddle.to_tensor(array(0, 6, 3))

    def body(i):
        net.train()
        for _ in range(3):
            step(net, opt, x)
        net.eval()
        with paddle.no_grad():
            return net(x).mean().item()

    first, later = compiles(body, range(10), warm=4)
    assert first <= 6 and later == 0, str(paddle.explain())


@pytest.mark.parametrize("every", [1, 2, 3, 10])
def test_looking_at_the_loss_now_and_then(paddle, compiles, every):
    net = network(paddle)
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    x = paddle.to_tensor(array(0, 5, 3))

    def body(i):
        loss = step(net, opt, x)
        if i % every == 0:
            loss.item()

    first, later = compiles(body, range(60), warm=4 * every + 2)
    assert first <= 6 and later == 0, str(paddle.explain())


def test_gradients_that_accumulate(paddle, compiles):
    net = network(paddle)
    opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    x = paddle.to_tensor(array(0, 5, 3))

    def body(i):
        (net(x) ** 2).mean().backward()
        if i % 4 == 3:
            opt.step()
            opt.clear_grad()

    first, later = compiles(body, range(48), warm=16)
    assert first <= 4 and later == 0, str(paddle.explain())


def test_losses_that_are_kept(paddle, compiles):
    net = network(paddle)
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    x, losses, total = paddle.to_tensor(array(0, 5, 3)), [], 0.0

    def body(i):
        nonlocal total
        loss = step(net, opt, x)
        losses.append(loss)
        total = total + loss.detach()

    first, later = compiles(body, range(30), warm=8)
    assert first <= 4 and later == 0, str(paddle.explain())
    assert float(total) == pytest.approx(sum(float(loss) for loss in losses), rel=1e-5)
    assert float(losses[-1]) < float(losses[0])


def test_changing_batch_sizes_compile_a_bounded_number_of_programs(paddle, compiles):
    net = network(paddle)
    opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    sizes = [*range(2, 14)] * 5
    first, later = compiles(lambda n: step(net, opt, paddle.to_tensor(array(0, n, 3))), sizes)
    assert 1 <= first + later <= 10, str(paddle.explain())


def test_a_last_batch_that_is_smaller(paddle, compiles):
    net = network(paddle)
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())

    def epoch(_):
        for n in (8, 8, 8, 3):
            step(net, opt, paddle.to_tensor(array(n, n, 3)))

    first, later = compiles(epoch, range(8), warm=4)
    assert first <= 6 and later == 0, str(paddle.explain())


def test_time_stepping_without_an_end(paddle, count):
    """10 000 steps of a difference scheme with nothing that ends a segment."""
    u = paddle.to_tensor(np.linspace(0, 1, 16) ** 2)
    want = np.linspace(0, 1, 16) ** 2
    count("compiles")
    for _ in range(10000):
        u = u + 0.1 * (paddle.roll(u, 1) - 2 * u + paddle.roll(u, -1))
    got = u.numpy()
    for _ in range(10000):
        want = want + 0.1 * (np.roll(want, 1) - 2 * want + np.roll(want, -1))
    np.testing.assert_allclose(got, want, rtol=1e-8)
    assert count("compiles") <= 4, str(paddle.explain())
    assert count("segments") <= 1500


def test_time_stepping_with_time_and_a_record(paddle, count):
    """As above with a number that grows, a boundary value in place and a value kept now and then."""
    u, kept, want = paddle.zeros([8], "float64"), [], np.zeros(8)
    count("compiles")
    for i in range(3000):
        u[0] = np.sin(0.01 * i)
        u = u + 0.2 * (paddle.roll(u, 1) - u) * (1 + 0.001 * i / 3000)
        if i % 500 == 499:
            kept.append(u.clone())
    for i in range(3000):
        want[0] = np.sin(0.01 * i)
        want = want + 0.2 * (np.roll(want, 1) - want) * (1 + 0.001 * i / 3000)
        if i % 500 == 499:
            np.testing.assert_allclose(kept[i // 500].numpy(), want, rtol=1e-8, atol=1e-12)
    assert count("compiles") <= 8, str(paddle.explain())


def test_newton_iterations_with_control_flow_on_values(paddle, count):
    count("compiles")
    for target in range(2, 40):
        x = paddle.to_tensor(1.0, dtype="float64")
        while abs(float(x * x) - target) > 1e-10:
            x = 0.5 * (x + target / x)
        assert float(x) == pytest.approx(target**0.5)
    assert count("compiles") <= 3, str(paddle.explain())


def test_one_off_code_is_not_compiled(paddle, count):
    count("compiles")
    for n in range(2, 12):
        x = paddle.ones([n, 3])
        for _ in range(n):
            x = paddle.tanh(x) + 1
        x.numpy()
    assert count("compiles") == 0


def test_what_was_compiled_is_explained(paddle):
    paddle.explain(reset=True)
    x = paddle.ones([4, 5])
    for _ in range(4):
        (paddle.tanh(x) * 2 + 1).numpy()
    text = str(paddle.explain())
    assert "1 programs were compiled" in text and "test_compiles.py" in text, text
    y = paddle.ones([4, 6])
    for _ in range(4):
        (paddle.tanh(y) * 2 + 1).numpy()
    text = str(paddle.explain())
    assert "float32[4, 6]" in text and "float32[4, 5]" in text and "tanh" in text, text
    paddle.explain(reset=True)
    assert paddle.explain().compiles == 0
