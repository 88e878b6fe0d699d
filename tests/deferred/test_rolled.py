"""Loops in a segment are compiled as loops: what is compiled does not grow with their number, and numbers
that change from pass to pass arrive.

Unit tests of `_core.lazy.signature_cache` and `_core.runner.compiled_segment`.
"""

import jax
import numpy as np
import pytest

from paddle_jax._core.lazy import signature_cache as compiled_code
from paddle_jax._core.runner.compiled_segment import _Cache
from tests.deferred import differential


def writing(paddle, count):
    x = paddle.zeros([8, 4]) + 1
    for i in range(count):
        x[i % 8] = float(i)
    return x


def decaying(paddle, count):
    x, w = (
        paddle.to_tensor(np.linspace(-1, 1, 40).astype("float32")),
        paddle.to_tensor(np.linspace(0.5, 1, count).astype("float32")),
    )
    w.numpy()
    for i in range(count):
        x = x * 0.9 + w[i] * (i % 3) - paddle.ones([40]) * 0.1
    return x


def heat(paddle, count):
    u = paddle.to_tensor(np.sin(np.arange(64)).reshape(8, 8))
    for _ in range(count):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return u


def mixed(paddle, count):
    """Integers and floats that change, in pairs of operations, and a first pass that differs."""
    n, y = paddle.zeros([3], "int64"), paddle.full([3], 2.0)
    for i in range(count):
        n = n + paddle.to_tensor([i, 2 * i, -i])
        y = y * (1 + 0.001 * i) + paddle.to_tensor([0.5, i, -1.0], dtype="float32") * n.astype("float32")
    return y


def written_with_gradient(paddle, count):
    w = paddle.to_tensor(np.linspace(0.5, 1, 4), stop_gradient=False)
    x = paddle.zeros([8, 4], "float64") + w.sum()
    for i in range(count):
        x[i % 8, (3 * i) % 4] = w[i % 4] * 2
    loss = x.sum()
    loss.numpy()
    (gradient,) = paddle.grad(loss, [w])
    return gradient


def recurrent(paddle, count):
    """The backward loop reads what the forward loop leaves in each pass, in the opposite order."""
    w = paddle.to_tensor(np.linspace(-0.5, 0.7, 9).reshape(3, 3), stop_gradient=False)
    rows = paddle.to_tensor(np.sin(np.arange(count * 3.0)).reshape(count, 3))
    state = paddle.zeros([3], "float64")
    total = 0.0
    for i in range(count):
        state = paddle.tanh(rows[i] + paddle.matmul(w, state))
        total = total + (state * state).sum()
    (gradient,) = paddle.grad(total, [w])
    return gradient


def integrated(paddle, count):
    """The tape keeps results of each pass, since one is read before the backward pass."""
    rate = paddle.to_tensor(np.array(0.7), stop_gradient=False)
    state = paddle.to_tensor(np.array([1.0, 0.0]))
    for _ in range(count):
        half = state + 0.05 * paddle.stack([state[1], -rate * state[0]])
        state = state + 0.1 * paddle.stack([half[1], -rate * half[0]])
    loss = (state**2).sum()
    loss.numpy()
    (gradient,) = paddle.grad(loss, [rate])
    return gradient


def unbound(paddle, count):
    """Each pass reads another result of one operation, and leaves one that is read in the end."""
    parts = paddle.to_tensor(np.cos(np.arange(count * 4.0)).reshape(count, 4)).unbind(0)
    state = paddle.ones([4], "float64")
    states = []
    for part in parts:
        state = state * 0.5 + paddle.exp(part)
        states.append(state)
    return paddle.stack(states[::2])


def there_and_back(paddle, count):
    """A loop reads some passes of another one, the last and the first among them."""
    state = paddle.to_tensor(np.linspace(0, 1, 5))
    seen = []
    for i in range(count):
        state = paddle.sin(state) + i
        seen.append(state)
    total = paddle.zeros([5], "float64")
    for other in seen[::-2]:
        total = total * 0.9 + paddle.cos(other)
    return total


def with_an_unused_sum(paddle, count):
    """Nothing needs what a part of each pass adds up."""
    state = paddle.to_tensor(np.linspace(0.1, 0.9, 5))
    unused = state * 3.0
    for _ in range(count):
        state = (state * 0.9 + 0.1) ** 2
        unused = unused + state
    del unused
    return state


PROGRAMS = [
    writing,
    decaying,
    heat,
    mixed,
    written_with_gradient,
    recurrent,
    integrated,
    unbound,
    there_and_back,
    with_an_unused_sum,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_loops_give_what_their_operations_give(paddle, program):
    with differential.tier(paddle, deferred="off"):
        want = program(paddle, 24).numpy()
    for repeats in (1, 2):
        with differential.tier(paddle, deferred="sync", deferred_min_repeats=repeats):
            for _ in range(3):
                np.testing.assert_allclose(program(paddle, 24).numpy(), want, rtol=1e-5)


def equations(paddle, program, count):
    """How many equations the compiled form of a loop has."""
    compiled_code.drop_all("another test may have compiled the same loop")
    with differential.tier(paddle, deferred="sync", deferred_min_repeats=1):
        program(paddle, count).numpy()
    compiled = next(reversed(_Cache.programs.values()))
    packed = [
        jax.ShapeDtypeStruct((sum(compiled.key[2][i] for i in members),), dtype)
        for dtype, members in compiled.groups
    ]
    leaves = [[compiled.avals[i].struct for i in part] for part in (compiled.donated, compiled.kept)]
    return len(jax.make_jaxpr(compiled._trace)(*leaves, packed).jaxpr.eqns)


@pytest.mark.parametrize("program", [writing, heat, with_an_unused_sum])
def test_what_is_compiled_does_not_grow_with_the_passes(paddle, program):
    assert equations(paddle, program, 8) == equations(paddle, program, 16) < 200


@pytest.mark.parametrize("program", [written_with_gradient, recurrent])
def test_a_gradient_does_not_grow_with_the_passes(paddle, program):
    program(paddle, 8)  # what the gradient reads is known from here on
    assert equations(paddle, program, 8) == equations(paddle, program, 16) < 300


@pytest.mark.parametrize("program", [integrated, unbound, there_and_back])
def test_what_passes_leave_adds_little_for_each(paddle, program):
    """An operation reads each of them, in place of those that compute it."""
    program(paddle, 8)
    sizes = [equations(paddle, program, count) for count in (8, 16)]
    assert sizes[1] - sizes[0] <= 8 * 2


def test_a_loop_is_compiled_sooner_than_a_line_of_as_many_operations(paddle):
    """Compiling it costs what compiling a pass costs; counts alone decide."""

    def times(count):
        with differential.tier(paddle, deferred="sync", deferred_min_repeats=0, interpreter=True):
            for n in range(1, 2000):
                before = paddle.explain().compiles
                writing(paddle, count).numpy()
                if paddle.explain().compiles > before:
                    return n
        return None

    few, many = times(30), times(240)
    assert few is not None
    assert many <= few / 4
