"""Matrix products: dot_general as one `matmul`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, compute_dtype, rule

# Multiplications up to which OpenBLAS uses one thread. On a busy machine waiting for the second one costs
# milliseconds: a product of 512 x 512 matrices took 1.6 ms at best and 70 ms in the median, in parts of this
# size 4 ms always. A plain product is cut by rows only, which on a quiet machine is up to twice as quick as
# tiles; where a few rows are more than a part (as for 512 x 512) it stays whole.
_SERIAL = 1 << 18
_LEAST = 4  # rows of a part


def matmul(a_shape: Any, b_shape: Any) -> Any:
    """`np.matmul` for operands of these shapes, in parts that one thread computes where that is possible."""
    *batch, m, k = a_shape
    n = b_shape[-1]
    rows = _SERIAL // max(k * n, 1)
    if batch or m * k * n <= _SERIAL or rows < _LEAST:
        return np.matmul
    whole = m - m % rows

    def product(x: np.ndarray, y: np.ndarray) -> Any:
        out = np.empty((m, n), np.result_type(x, y))
        blocks = x[:whole].reshape(-1, rows, k)
        np.matmul(blocks, y, out=out[:whole].reshape(-1, rows, n))
        if whole < m:
            np.matmul(x[whole:], y, out=out[whole:])
        return out

    return product


def stacked_matmul(x: np.ndarray, y: np.ndarray) -> Any:
    """`np.matmul` of stacks of matrices [..., m, k] and [..., k, n], in parts that one thread computes where
    that is possible."""
    m, k = x.shape[-2:]
    n = y.shape[-1]
    if m * k * n <= _SERIAL or _SERIAL // k < _LEAST * _LEAST:
        return np.matmul(x, y)
    rows = max(r for r in range(1, min(m, 32) + 1) if m % r == 0)
    columns = max(_SERIAL // (rows * k), _LEAST)
    stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    out = np.empty((*stack, m, n), np.result_type(x, y))
    x = x.reshape(*x.shape[:-2], m // rows, rows, k)
    parts = out.reshape(*out.shape[:-2], m // rows, rows, n)
    for start in range(0, n, columns):
        some = slice(start, start + columns)
        np.matmul(x, y[..., None, :, some], out=parts[..., some])
    return out


@rule("dot_general")
def _dot_general(params: Params, ins: Avals, outs: Avals) -> Run:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    a = ins[0].shape
    b = ins[1].shape
    shape = outs[0].shape
    dtype = outs[0].dtype
    inner = compute_dtype(dtype)
    for operand in ins[:2]:
        if dtype.kind in "fVc":
            inner = np.result_type(inner, compute_dtype(operand.dtype))
    left_free = [k for k in range(len(a)) if k not in left and k not in left_batch]
    right_free = [k for k in range(len(b)) if k not in right and k not in right_batch]
    a_order = (*left_batch, *left_free, *left)
    b_order = (*right_batch, *right, *right_free)
    batch = [a[k] for k in left_batch]
    depth = math.prod(a[k] for k in left)
    a_shape = (*batch, math.prod(a[k] for k in left_free), depth)
    b_shape = (*batch, depth, math.prod(b[k] for k in right_free))
    same = all(x.dtype == inner for x in ins[:2]) and dtype == inner
    if same and len(a) == len(b) == 2 and not batch and len(left) == 1:
        a_turned = left[0] == 0
        b_turned = right[0] == 1
        times = matmul(a_shape, b_shape)
        if not a_turned and not b_turned:
            return times
        return lambda x, y: times(x.T if a_turned else x, y.T if b_turned else y)

    times = matmul(a_shape, b_shape)

    def product(x: np.ndarray, y: np.ndarray) -> Any:
        x = x.transpose(a_order).reshape(a_shape).astype(inner, copy=False)
        y = y.transpose(b_order).reshape(b_shape).astype(inner, copy=False)
        return times(x, y).reshape(shape).astype(dtype, copy=False)

    return product
