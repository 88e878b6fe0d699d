"""Matrix products: dot_general as one `matmul`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend import blas_threads
from paddle_jax._core.numpy_backend.blas_threads import SERIAL, has_choice
from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, compute_dtype, rule

_LEAST = 4  # rows of a part


def matmul(a_shape: Any, b_shape: Any) -> Any:
    """`np.matmul` for operands of these shapes, in one thread where that is possible."""
    *batch, m, k = a_shape
    n = b_shape[-1]
    if m * k * n <= SERIAL:
        return np.matmul
    rows = SERIAL // max(k * n, 1)
    if has_choice() or batch or rows < _LEAST:
        return blas_threads.matmul
    # without a choice, in parts that one thread computes
    whole = m - m % rows

    def product(x: np.ndarray, y: np.ndarray) -> Any:
        out = np.empty((m, n), np.result_type(x, y))
        blocks = x[:whole].reshape(-1, rows, k)
        np.matmul(blocks, y, out=out[:whole].reshape(-1, rows, n))
        if whole < m:
            np.matmul(x[whole:], y, out=out[whole:])
        return out

    return product


def _matrix_product(a: Any, b: Any, a_turned: bool, b_turned: bool) -> Run:
    """The product of two matrices of these shapes, which are turned first if that is said."""
    times = matmul(a[::-1] if a_turned else a, b[::-1] if b_turned else b)
    if not a_turned and not b_turned:
        return times

    def product(x: np.ndarray, y: np.ndarray) -> Any:
        return times(x.T if a_turned else x, y.T if b_turned else y)

    return _with_turned(product, times, [k for k, turned in enumerate((a_turned, b_turned)) if turned])


def _with_turned(run: Any, times: Any, turned: list[int]) -> Run:
    """The function of a product with what it does: it turns some of the operands, then it multiplies."""
    run.times = times
    run.turned = turned
    return run


@rule("dot_general")
def _dot_general(params: Params, ins: Avals, outs: Avals) -> Run:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    a = ins[0].shape
    b = ins[1].shape
    shape = outs[0].shape
    dtype = outs[0].dtype
    inner = compute_dtype(dtype)
    is_same = inner == dtype == ins[0].dtype == ins[1].dtype
    # The usual case, two matrices of one dtype, needs no copies.
    if is_same and len(a) == len(b) == 2 and not left_batch and len(left) == 1:
        return _matrix_product(a, b, left[0] == 0, right[0] == 1)
    # An operand that is wider than the result is not rounded first.
    if not is_same and dtype.kind in "fVc":
        for operand in ins[:2]:
            inner = np.result_type(inner, compute_dtype(operand.dtype))
    left_free = [k for k in range(len(a)) if k not in left and k not in left_batch]
    right_free = [k for k in range(len(b)) if k not in right and k not in right_batch]
    # Stacks of matrices: batch axes first, then all free and all summed axes as one each.
    a_order = (*left_batch, *left_free, *left)
    b_order = (*right_batch, *right, *right_free)
    batch = [a[k] for k in left_batch]
    depth = math.prod([a[k] for k in left])
    a_shape = (*batch, math.prod([a[k] for k in left_free]), depth)
    b_shape = (*batch, depth, math.prod([b[k] for k in right_free]))
    times = matmul(a_shape, b_shape)

    def product(x: np.ndarray, y: np.ndarray) -> Any:
        x = x.transpose(a_order).reshape(a_shape).astype(inner, copy=False)
        y = y.transpose(b_order).reshape(b_shape).astype(inner, copy=False)
        return times(x, y).reshape(shape).astype(dtype, copy=False)

    return product
