"""Distinct elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import host_elements, host_value, wrap
from paddle_jax.tensor.axes import one_axis, untracked
from paddle_jax.tensor.creation import clone
from paddle_jax.tensor.gathering import take_rows
from paddle_jax.tensor.manipulation import reshape

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


def _rows(op: str, x: Tensor | type, axis: Tensor | int | None) -> tuple[Any, ...]:
    """The tensor flattened (axis None) and the axis along which its slices are compared, with the slices on
    the host as a matrix."""
    if axis is not None and x.ndim == 0:
        raise ValueError(f"{op}: axis={axis} for a 0-d tensor; it has no axes")
    # Nothing can be reshaped to rows.
    if axis is None and x.size == 0:
        return x, 0, np.zeros((0, 1), numpy_dtype(x))
    if axis is None or x.ndim == 0:
        x = reshape(x, [-1])
        axis = 0
    axis = one_axis(op, axis, x.ndim)
    slices = np.moveaxis(host_value(x, op, "use paddle_jax.bounded.unique(x, size) there"), axis, 0)
    return x, axis, slices.reshape(slices.shape[0], math.prod(slices.shape[1:]))


def _index_dtype(op: str, dtype: str) -> np.dtype:
    found = dtypes.convert(dtype).np
    if found.name not in ("int32", "int64"):
        raise NotImplementedError(f"{op}: dtype: got {found.name}; allowed are int32, int64")
    return found


def _results(
    x: Tensor, axis: int, first: np.ndarray, extras: Sequence[Any], dtype: np.dtype
) -> Tensor | tuple[Tensor, ...]:
    """The slices at `first` and the index tensors asked for."""
    if x.size == 0:
        made = clone(x)
    elif untracked(x):  # a new number of elements would be a new program to compile
        made = wrap(from_numpy(np.take(host_elements(x), first, axis)))
    else:
        made = take_rows(x, wrap(np.asarray(first, np.int64)), axis)
    more = [wrap(from_numpy(np.asarray(e).astype(dtype))) for wanted, e in extras if wanted]
    if more:
        return (made, *more)
    return made


@known_as(code="selections:unique")
@composite(
    cases=[
        "const([3, 1, 2, 1], 'int64')",
        "const([3, 1, 2, 1], 'int64'), return_index=True, return_inverse=True, return_counts=True",
        "i_(2,3), return_inverse=True",
        "const([[3, 1], [2, 1], [3, 1]], 'int64'), axis=0, return_inverse=True, return_index=True",
        "i_(3,4), axis=1",
        "const([3, 1], 'int64'), dtype='int32', return_inverse=True",
        "const(3, 'int64')",
        "f(0)",
        "f(5)",
        "const([1.0, float('nan'), float('nan')])",
        "const([3, 1], 'int64'), axis=2",
        "i_(4), True",
        "i_(4), False, True, True",
        "const([3, 1], 'int64'), dtype='float32'",
    ]
)
def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    sorted: bool = True,
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The distinct elements, or distinct slices along an axis, in ascending order.

    Args:
        x: Tensor [...].
        return_index: also the index of the first occurrence of each.
        return_inverse: also, for each element of x, its index among the distinct ones.
        return_counts: also how often each occurs.
        axis: int. Default: the flattened tensor.
        dtype: int64 or int32, of the index tensors.
        sorted: accepted; the result is always sorted.
    Returns:
        Tensor, or a tuple (distinct, index, inverse, counts) of what was asked for.
    Raises:
        ValueError: the axis is out of range, or dtype is no index.
    Example:
        >>> distinct, counts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
        >>> (distinct.tolist(), counts.tolist())
        ([1, 3], [1, 2])
    """
    dtype = _index_dtype("unique", dtype)
    x, axis, host = _rows("unique", x, axis)
    # along an axis NumPy compares records, ten times slower
    slices, along = (host[:, 0], None) if host.shape[1] == 1 else (host, 0)
    # Each NaN counts as an element of its own.
    _, first, inverse, counts = np.unique(
        slices, return_index=True, return_inverse=True, return_counts=True, axis=along, equal_nan=False
    )
    return _results(
        x,
        axis,
        first,
        [(return_index, first), (return_inverse, inverse.reshape(-1)), (return_counts, counts)],
        dtype,
    )


@known_as(code="selections:unique_consecutive")
@composite(
    alias={"input": "x", "dim": "axis"},
    cases=[
        "const([1, 1, 2, 2, 1], 'int64')",
        "const([1, 1, 2, 2, 1], 'int64'), True, True",
        "const([[1, 1], [1, 1], [2, 2]], 'int64'), axis=0, return_inverse=True",
        "f(0)",
        "const(1, 'int64')",
        "const([1, 2], 'int64'), dtype='int32', return_counts=True",
        "i_(2,6)",
        "f(3), axis=1",
        "f(), axis=0",
    ],
)
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The first of each run of equal elements, or of equal slices along an axis.

    Args:
        x: Tensor [...].
        return_inverse: also, for each element of x, the number of its run.
        return_counts: also the lengths of the runs.
        axis: int. Default: the flattened tensor. `dim` is accepted as a name.
        dtype: int64 or int32, of the index tensors.
    Returns:
        Tensor, or a tuple (elements, inverse, counts) of what was asked for.
    Raises:
        ValueError: the axis is out of range, or dtype is no index.
    Example:
        >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    dtype = _index_dtype("unique_consecutive", dtype)
    x, axis, host = _rows("unique_consecutive", x, axis)
    fresh = np.ones(len(host), bool)
    # A slice begins a run where one of its numbers differs from the one before.
    fresh[1:] = (host[1:] != host[:-1]).any(1)
    first = np.flatnonzero(fresh)
    return _results(
        x,
        axis,
        first,
        [(return_inverse, np.cumsum(fresh) - 1), (return_counts, np.diff([*first, len(host)]))],
        dtype,
    )
