"""Sums, means and extremes over segments: neighbouring rows with one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite
from paddle_jax.geometric.pooling import host, need_numbers, need_tensors, pooled

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


def _segments(name: str, data: Sequence[Any] | Tensor, segment_ids: Tensor, how: str) -> Tensor:
    need_tensors(name, data=data)
    need_numbers(name, segment_ids=segment_ids)
    (ids,) = host(name, segment_ids=segment_ids)
    if data.ndim < 1 or len(ids) != data.shape[0]:
        raise ArgumentError(
            f"{name}: segment_ids: got {len(ids)} numbers for data of shape "
            f"{list(data.shape)}; give one per row"
        )
    # The last number tells how many rows there are.
    if np.any(ids[1:] < ids[:-1]):
        raise ArgumentError(
            f"{name}: segment_ids: they must be sorted, but a number is smaller than the one before it"
        )
    if len(ids) and ids[0] < 0:
        raise IndexError(f"{name}: segment_ids: got {ids[0]}; they must be >= 0")
    return pooled(data, segment_ids.reshape([-1]), int(ids[-1]) + 1 if len(ids) else 0, how)


@known_as(code="data_dependent:segment_sum")
@composite(method=False, register=False)
def segment_sum(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """Adds up the rows of each segment.

    Args:
        data: Tensor [rows, ...].
        segment_ids: int32 or int64 Tensor [rows], sorted: the segment of each row.
    Returns:
        Tensor [largest segment number + 1, ...]; segments without rows are 0.
    Raises:
        ValueError: the numbers are not sorted, not integers, or not one per row.
        IndexError: a number is negative.
    Example:
        >>> data = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> paddle.geometric.segment_sum(data, paddle.to_tensor([0, 0, 1])).tolist()
        [[4.0, 6.0], [5.0, 6.0]]
    """
    return _segments("segment_sum", data, segment_ids, "sum")


@known_as(code="data_dependent:segment_mean")
@composite(method=False, register=False)
def segment_mean(data: Any, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The mean of the rows of each segment.

    Args:
        data: Tensor [rows, ...].
        segment_ids: int32 or int64 Tensor [rows], sorted: the segment of each row.
    Returns:
        Tensor [largest segment number + 1, ...]; segments without rows are 0.
    Example:
        >>> data = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> paddle.geometric.segment_mean(data, paddle.to_tensor([0, 0, 1])).tolist()
        [[2.0, 3.0], [5.0, 6.0]]
    """
    return _segments("segment_mean", data, segment_ids, "mean")


@known_as(code="data_dependent:segment_min")
@composite(method=False, register=False)
def segment_min(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The smallest numbers of the rows of each segment.

    Args:
        data: Tensor [rows, ...].
        segment_ids: int32 or int64 Tensor [rows], sorted: the segment of each row.
    Returns:
        Tensor [largest segment number + 1, ...]; segments without rows are 0.
    Example:
        >>> data = paddle.to_tensor([[1.0, 4.0], [3.0, 2.0], [5.0, 6.0]])
        >>> paddle.geometric.segment_min(data, paddle.to_tensor([0, 0, 1])).tolist()
        [[1.0, 2.0], [5.0, 6.0]]
    """
    return _segments("segment_min", data, segment_ids, "min")


@known_as(code="data_dependent:segment_max")
@composite(method=False, register=False)
def segment_max(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The largest numbers of the rows of each segment.

    Args:
        data: Tensor [rows, ...].
        segment_ids: int32 or int64 Tensor [rows], sorted: the segment of each row.
    Returns:
        Tensor [largest segment number + 1, ...]; segments without rows are 0.
    Example:
        >>> data = paddle.to_tensor([[1.0, 4.0], [3.0, 2.0], [5.0, 6.0]])
        >>> paddle.geometric.segment_max(data, paddle.to_tensor([0, 0, 1])).tolist()
        [[3.0, 4.0], [5.0, 6.0]]
    """
    return _segments("segment_max", data, segment_ids, "max")
