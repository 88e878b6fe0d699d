"""Elementwise equations on large arrays, which run block by block, against XLA.

Unit tests of `_core.numpy_backend`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.numpy_backend import plan
from paddle_jax._core.numpy_backend.blocks import BlockedCalls
from tests.interpreter.compare import check

SIZE = (1 << 17) + 7  # the last block is shorter
R = np.random.RandomState(5)


def floats(*shape):
    return R.rand(*shape).astype("float32") + np.float32(0.5)


def adam(weight, gradient, mean, square, rate):
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient * gradient
    step = rate * jnp.sqrt(1 - 0.999 * rate)  # numbers between the equations on arrays
    return weight - step * mean / (jnp.sqrt(square) + 1e-8), mean, square


def two_shapes(x, y):
    return (x + 1) * 2 - x, (y + 1) * 3 - y, x.sum() + y.sum()


def reduced_in_the_middle(x, y):
    z = (x - y) * x
    return (z / z.sum() + x) * y, z


X, Y = floats(SIZE), floats(SIZE)
MATRIX = floats(400, 400)
CASES = {
    "adam": (adam, X, Y, floats(SIZE), floats(SIZE), np.float32(0.3)),
    "transposed operand": (lambda x, y: (x + y) * y - x, MATRIX, MATRIX.T),
    "column operand": (lambda x, y: ((x + x) * x - y) / x, MATRIX, floats(400, 1)),
    "operand of one element": (lambda x, y: (x + y) * y - x, MATRIX, floats(1, 1)),
    "truth values": (lambda x, y: jnp.where((x * y > y) & (x < y), x, y) * 2 + x - y, X, Y),
    "int32": (lambda x: (x + 3) * x - (x + 3), R.randint(-9, 9, SIZE).astype("int32")),
    "float64": (lambda x: jnp.sqrt(x * x + 1) - x, R.rand(SIZE)),
    "two shapes": (two_shapes, X, MATRIX),
    "reduced in the middle": (reduced_in_the_middle, X, Y),
    "result read twice": (lambda x: (x * 2, (x * 2) * (x * 2) + x), X),
    "constant": (lambda x: (x + jnp.full(SIZE, 2.0, "float32")) * x - x, X),
    "repeated row": (
        lambda x, y: ((x + y) * x - lax.broadcast_in_dim(y, x.shape, (1,))) * x,
        MATRIX,
        X[:400],
    ),
    "barrier": (lambda x: lax.optimization_barrier(x * 2 + 1) * x - x, X),
}


@pytest.mark.parametrize("name", CASES)
def test_as_compiled(name):
    function, *operands = CASES[name]
    check(function, *operands, ulp=64 if "reduced" in name or "two" in name else 4)


def test_a_run_of_equations_is_one_step():
    """All equations of `adam` on arrays, across the numbers between them."""
    function, *operands = CASES["adam"]
    runs = [run for _, run, *_ in plan(jax.make_jaxpr(function)(*operands))._steps]
    (blocked,) = [run for run in runs if isinstance(run, BlockedCalls)]
    assert len(blocked.steps) == 12
