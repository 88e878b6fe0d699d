"""Arrays that are joined to one row, and rows that are divided into arrays.

Unit tests of `_core.numpy_backend`.
"""

import jax
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.numpy_backend import plan
from tests.interpreter.compare import check

R = np.random.RandomState(7)
A, B, C = R.randn(3, 4).astype("float32"), R.randn(5).astype("float32"), np.float32(2.5)
EMPTY = np.zeros((0, 3), "float32")
ROW = R.randn(1, 18).astype("float32")


def join(*arrays):
    return lax.concatenate([x.reshape(1, -1) for x in arrays], 1)


def divide(row):
    first, second, third = lax.split(row, [12, 5, 1], 1)
    return first.reshape(3, 4), second.reshape(5), third.reshape(())


def join_and_divide(*arrays):
    row = join(*arrays)
    return divide(row * 2), row.sum()


ONE_CALL = {
    "arrays of several shapes": (join, A, B, C),
    "an empty array": (join, A, EMPTY, B),
    "integers": (join, np.arange(6).reshape(2, 3), np.arange(4)),
    "a transposed array": (lambda a, b: join(a.T, b), A, B),
    "one behind the other": (lambda a, b: lax.concatenate([a.reshape(12), b, b], 0), A, B),
    "a column": (lambda a, b: lax.concatenate([a.reshape(12, 1), b.reshape(5, 1)], 0), A, B),
    "what is reshaped is read again": (lambda a, b: (join(a, b), a.reshape(1, -1) + 1), A, B),
    "a row is divided": (divide, ROW),
    "a transposed row is divided": (lambda column: divide(column.T), ROW.T.copy()),
    "both": (join_and_divide, A, B, C),
}


@pytest.mark.parametrize("name", ONE_CALL)
def test_one_call(name):
    function, *operands = ONE_CALL[name]
    check(function, *operands)
    names = plan(jax.make_jaxpr(function)(*operands)).names
    assert "concatenate" not in names and "split" not in names
    assert names.get("reshape", 0) == (name == "what is reshaped is read again")


AS_BEFORE = {
    "along one of two axes": (lambda a: lax.concatenate([a.reshape(4, 3), a.reshape(4, 3)], 1), A),
    "a part is a result": (lambda row: [*lax.split(row, [12, 6], 1), row[:, :12].reshape(3, 4)], ROW),
    "a part is read twice": (
        lambda row: [(p.reshape(-1), p + 1) for p in lax.split(row, [12, 6], 1)],
        ROW,
    ),
    "axes are moved": (lambda a: lax.concatenate([lax.reshape(a, (1, 12), (1, 0)), a.reshape(1, 12)], 1), A),
}


@pytest.mark.parametrize("name", AS_BEFORE)
def test_other_arrays(name):
    function, *operands = AS_BEFORE[name]
    check(function, *operands)


def test_a_part_keeps_no_larger_array_alive():
    results = plan(jax.make_jaxpr(divide)(ROW))(ROW)
    for result in results:
        assert result.base is None or result.base.nbytes == result.nbytes
