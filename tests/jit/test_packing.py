"""What a compiled step changes is kept as one array between its calls: nobody may notice."""

import copy
import threading

import numpy as np
import pytest

import paddle_jax as paddle
from tests.jit.corpus.script import data, see, small

BETWEEN = {}


def between(function):
    """`function(net, adam, kept)` happens between two calls of a step; `kept` is looked at
    again at the end."""
    BETWEEN[function.__name__] = function
    return function


@between
def nothing(net, adam, kept):
    pass


@between
def reading(net, adam, kept):
    kept.append(net[0].weight.numpy())


@between
def computing(net, adam, kept):
    kept.append(net(data(2, 3)))


@between
def a_detached_one(net, adam, kept):
    kept.append(net[0].weight.detach())


@between
def a_clone(net, adam, kept):
    kept.append(net[2].bias.clone())


@between
def a_snapshot(net, adam, kept):
    kept += [v.clone() for v in net.state_dict().values()]


@between
def a_copy(net, adam, kept):
    kept.append(copy.deepcopy(net)[0].weight)


@between
def setting_one(net, adam, kept):
    net[0].weight.set_value(np.full([3, 4], 0.1, "float32"))


@between
def swapping(net, adam, kept):
    a, b = net[0].bias.detach(), net[2].bias.detach()
    net[0].bias.set_value(a * 2)
    kept.append(b)


@between
def loading(net, adam, kept):
    net.set_state_dict({k: v * 0.5 for k, v in net.state_dict().items()})
    adam.set_state_dict(adam.state_dict())


@between
def an_eager_step(net, adam, kept):
    net(data(2, 3)).sum().backward()
    adam.step()
    adam.clear_grad()


@between
def in_place(net, adam, kept):
    with paddle.no_grad():
        net[2].weight.add_(paddle.ones([4, 2]))


@between
def a_gradient(net, adam, kept):
    kept.append(paddle.grad(net(data(2, 3)).sum(), net[0].weight)[0])


@between
def another_thread(net, adam, kept):
    thread = threading.Thread(target=lambda: kept.append(net[0].weight.numpy()))
    thread.start()
    thread.join()


def train(wrap, change, every, mode="on"):
    net, kept = small(), []
    adam = paddle.optimizer.Adam(0.05, parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    step = wrap(step)
    losses = []
    for i in range(12):
        losses.append(step(data(5, 3, seed=i)))
        if i % every == every - 1:
            change(net, adam, kept)
    seen = [t.numpy() if isinstance(t, paddle.Tensor) else t for t in (*losses, *kept)]
    return [
        *seen,
        *see(net),
        *[v.numpy() for v in adam.state_dict().values() if isinstance(v, paddle.Tensor)],
        np.array([p.inplace_version for p in net.parameters()]),
    ], step


def compiled(function):
    return paddle.jit.to_static(function, full_graph=True)


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("name", BETWEEN)
def test_equal_to_eager(name, every):
    expected, _ = train(lambda f: f, BETWEEN[name], every)
    got, step = train(compiled, BETWEEN[name], every)
    assert len(step.program_cache) <= 2
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_deferred_off():
    paddle.set_flags({"FLAGS_deferred": "off"})
    try:
        expected, _ = train(lambda f: f, a_gradient, 4)
        got, _ = train(compiled, a_gradient, 4)
    finally:
        paddle.set_flags({"FLAGS_deferred": "sync"})
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def stepped(net, opt, times=3):
    """A compiled step that has been called a few times."""

    @compiled
    def step():
        (net(data(2, 3)) ** 2).sum().backward()
        opt.step()
        opt.clear_grad()

    for _ in range(times):
        step()
    return step


def flat_buffers(change):
    """What happens to the one array in twelve steps, where `change` happens after each."""
    paddle.explain(reset=True)
    train(compiled, change, 1)
    return paddle.explain().flat_buffers


ARRAYS = 4 + 4  # parameters, and Adam's four states for all of them


def test_stays_together_when_nobody_looks():
    assert flat_buffers(nothing) == {"joined": 1, "part read": ARRAYS}  # the first call, the end


@pytest.mark.parametrize("change", [reading, a_detached_one, a_clone])
def test_stays_together_when_few_are_read(change):
    # once after each call; the last is one of those at the end
    assert flat_buffers(change) == {"joined": 1, "part read": 11 + ARRAYS}


def test_given_up_when_others_always_set_something():
    assert flat_buffers(setting_one)["given up"] == 1


def test_a_snapshot_shared_when_given_up():
    """The memory that the new values take over is not that of a Tensor that shares the old one."""
    net = small()
    step = stepped(net, paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    paddle.explain(reset=True)
    for _ in range(12):
        held = net[0].weight.detach()
        before = [p.numpy() for p in net.parameters()]  # reads all, which costs more than is saved
        step()
        np.testing.assert_array_equal(held.numpy(), before[0])
    assert paddle.explain().flat_buffers["given up"] == 1


def test_two_steps_that_share_parameters():
    """As in adversarial training: each step reads what the other one writes."""

    def run(wrap):
        one, two = small(), small()
        # With equal weights the gradients are rounding errors, which Adam scales up to whole steps.
        two[2].bias.set_value(two[2].bias + 1.0)
        opts = [paddle.optimizer.Adam(0.05, parameters=net.parameters()) for net in (one, two)]

        def step(which):
            loss = ((one(data(4, 3)) - two(data(4, 3))) ** 2).mean() * (1 - 2 * which)
            loss.backward()
            opts[which].step()
            for opt in opts:
                opt.clear_grad()
            return loss

        step = wrap(step)
        losses = [float(step(i % 2)) for i in range(40)]
        return losses, see(one), see(two)

    got, expected = run(compiled), run(lambda f: f)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-4)
    for a, b in zip([*got[1], *got[2]], [*expected[1], *expected[2]], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_state_that_gets_another_shape():
    """One parameter is frozen: the powers of Adam's betas become a number for each parameter, and do not fit
    into the place of the one."""

    def run(wrap):
        net = small()
        adam = paddle.optimizer.Adam(0.05, parameters=net.parameters())

        def step(x):
            (net(x) ** 2).mean().backward()
            adam.step()
            adam.clear_grad()

        step = wrap(step)
        for i in range(9):
            net[0].weight.stop_gradient = 3 <= i < 6
            step(data(5, 3, seed=i))
        return [*see(net), *[v.numpy() for v in adam.state_dict().values()]]

    for a, b in zip(run(compiled), run(lambda f: f), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
