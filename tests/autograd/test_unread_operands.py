"""Nodes let go of operands that their gradient does not read. Gradients of every kind stay what they are.

Unit tests of `_core.lazy.lazy_array`.
"""

import weakref

import numpy as np
import pytest

from paddle_jax._core.lazy.lazy_array import unread_operand
from tests.deferred import differential


def leaf(p, values):
    return p.to_tensor(np.asarray(values, "float32"), stop_gradient=False)


def one_of_two(p, w, v):
    y = (w + v) * 2.0 - w.reshape([3, 2]).t().reshape([2, 3])
    return p.grad(y.sum(), [v])


def each_of_two(p, w, v):
    y = p.concat([w, v]).cumsum(0)
    return [*p.grad(y.sum(), [w], retain_graph=True), *p.grad(y.sum(), [v])]


def second_order(p, w, v):
    y = ((w + v) ** 3).sum()
    (first,) = p.grad(y, [w], create_graph=True)
    return [first, *p.grad((first * v).sum(), [w, v])]


def second_order_of_one(p, w, v):
    y = (w * 3.0 + v)[0, 1] ** 2 + (w - v).sum()
    (first,) = p.grad(y, [v], create_graph=True)
    return [first, *p.grad(first.sum(), [w, v], allow_unused=True)]


def assigned(p, w, v):
    x = p.zeros([2, 3]) + w
    for i in range(6):
        x[i % 2, i % 3] = v[i % 2, 1] * 2.0
    return p.grad((x * x).sum(), [w, v])


def again(p, w, v):
    y = (w + v).sum()
    y.backward(retain_graph=True)
    y.backward()
    grads = [w.grad.clone(), v.grad.clone()]
    w.clear_grad()
    v.clear_grad()
    return grads


def hooked(p, w, v):
    inner = w + v
    inner.register_hook(lambda g: g * 2.0)
    y = p.stack([inner, w]).mean()
    return p.grad(y, [w, v])


def looked_up(p, w, v):
    rows = p.nn.functional.embedding(p.to_tensor([1, 0, 1]), w)
    return p.grad((rows * v[:1]).sum(), [w, v])


def read_between(p, w, v):
    inner = w + v
    y = (inner * inner).sum()
    return [inner.numpy(), y.numpy(), *p.grad(y, [w, v])]


def of_results(p, w, v):
    a, b = p.split(w + v, [1, 2], axis=1)
    y = (a * b).sum() + b.mean()
    return p.grad(y, [w])


PROGRAMS = [
    one_of_two,
    each_of_two,
    second_order,
    second_order_of_one,
    assigned,
    again,
    hooked,
    looked_up,
    read_between,
    of_results,
]


def arrays(results):
    return [None if x is None else np.array(x) for x in results]


def assert_same(got, want):
    if want is None:
        assert got is None
    else:
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("repeats", [0, 1])
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_those_of_operations_at_once(paddle, program, repeats):
    w = leaf(paddle, [[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])
    v = leaf(paddle, [[0.3, 1.0, -0.7], [2.0, -3.0, 0.2]])
    with differential.tier(paddle, deferred="off"):
        want = arrays(program(paddle, w, v))
    with differential.tier(paddle, deferred="sync", deferred_min_repeats=repeats):
        for _ in range(4):  # nodes keep all operands until the first gradient is known
            got = arrays(program(paddle, w, v))
            for a, b in zip(got, want, strict=True):
                assert_same(a, b)


def test_a_gradient_by_one_operand_stays_one(paddle):
    """That by all operands is known first, and would compute three where one is wanted."""
    layer = paddle.nn.Linear(3, 2)
    x = leaf(paddle, [[1.0, 2.0, 3.0]])
    for _ in range(3):
        y = layer(x)
        (gradient,) = paddle.grad(y.sum(), [x], create_graph=True)
        assert gradient._node.n_out == 1
        np.testing.assert_allclose(gradient.numpy()[0], layer.weight.numpy().sum(1), rtol=1e-6)
        (y * y).sum().backward()


def test_a_replayed_pass_reads_no_operand_that_is_gone(paddle):
    """A pass finds an operand of one node in another one, which may let go of it later."""
    values = paddle.to_tensor([2.0, 3.0, 4.0])
    w = leaf(paddle, 5.0)

    def gradient():
        x = values[1]
        x.stop_gradient = False
        return float(paddle.grad(w * x + x, [w])[0])

    with differential.tier(paddle, deferred="sync"):
        before = [gradient() for _ in range(3)]
        (leaf(paddle, 1.0) + leaf(paddle, 1.0)).backward()  # from here on sums keep no operands
        assert before + [gradient() for _ in range(4)] == [3.0] * 7


def test_a_gradient_by_one_operand_needs_what_it_reads(paddle):
    """A node that keeps the first factor alone has the gradient by the second factor, and no other one."""
    w = leaf(paddle, [1.0, 2.0])
    v = leaf(paddle, [3.0, 4.0])
    with differential.tier(paddle, deferred="sync"):
        y = w * v
        node = y._node
        node.values = (node.values[0], unread_operand(node.values[1].aval))
        assert not node._has_operands_for((0,), y._raw)
        assert node._has_operands_for((1,), y._raw)


SUMS = {
    "add": lambda p, x: (x + 1.0).sum(),
    "subtract": lambda p, x: (2.0 - x).mean(),
    "reshape": lambda p, x: x.reshape([-1]).sum(),
    "transpose": lambda p, x: x.t().sum(),
    "slice": lambda p, x: x[3:40, :5].sum(),
    "concat": lambda p, x: p.concat([x, x]).sum(),
    "cast": lambda p, x: x.astype("float64").sum(),
    "scale": lambda p, x: p.scale(x, 3.0).sum(),
    "pad": lambda p, x: p.nn.functional.pad(x, [1, 1]).sum(),
}


@pytest.mark.parametrize("kind", SUMS)
def test_operands_are_freed_before_the_backward_pass(paddle, kind):
    """The value that only a node could hold is gone once the result was read."""
    w = paddle.ones([64, 64])
    w.stop_gradient = False

    def alive():
        inner = w * 2.0
        inner.numpy()
        array = weakref.ref(inner._raw.array)
        y = SUMS[kind](paddle, inner)
        del inner
        y.numpy()
        is_alive = array() is not None
        y.backward()
        return is_alive

    assert [alive() for _ in range(3)][1:] == [False, False]
