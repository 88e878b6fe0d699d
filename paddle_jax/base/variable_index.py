"""Indexing as functions (`paddle.base.variable_index`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor

MAX_INTEGER = 2**31 - 1
MIN_INTEGER = -(2**31)


def _getitem_static(x: Any, indices: Any) -> Any:
    return x[indices]


def _setitem_static(x: Any, indices: Any, values: Any) -> Any:
    x[indices] = values
    return x


def replace_ellipsis(var: Tensor, item: Any) -> list[Any]:
    """The items of an index with `...` written out as slices.

    Args:
        var: Tensor that is indexed.
        item: list or tuple.
    Example:
        >>> paddle.base.variable_index.replace_ellipsis(paddle.ones([2, 3, 4]), [0, ..., 1])
        [0, slice(None, None, None), 1]
    """
    if isinstance(item, list | tuple):
        items = list(item)
    else:
        items = [item]
    at = next((k for k, one in enumerate(items) if one is Ellipsis), None)
    if at is None:
        return items
    # None adds an axis and takes none.
    rest = len(var.shape) - sum(one is not None and one is not Ellipsis for one in items)
    return [*items[:at], *[slice(None)] * rest, *items[at + 1 :]]


def replace_none(item: Any) -> tuple[list[Any], list[int]]:
    """The items of an index without None, and the places where None stood.

    Example:
        >>> paddle.base.variable_index.replace_none([0, None, 1, None])
        ([0, 1], [1, 3])
    """
    return [one for one in item if one is not None], [k for k, one in enumerate(item) if one is None]


def replace_ndarray_and_range(item: Any) -> list[Any | list[int] | Any]:
    """The items of an index with NumPy arrays as Tensors and ranges as lists."""
    return [
        to_tensor(one) if isinstance(one, np.ndarray) else list(one) if isinstance(one, range) else one
        for one in item
    ]


def is_scalar_tensor(ele: Any) -> bool:
    """Whether a value is a Tensor of one number that is no bool."""
    return isinstance(ele, Tensor) and not ele.shape and ele.dtype != dtypes.bool_


def slice_is_same_to_original(start: Any, end: Any, step: Any) -> bool:
    """Whether a slice takes everything."""
    return start in (None, 0) and end in (None, MAX_INTEGER) and step in (None, 1)
