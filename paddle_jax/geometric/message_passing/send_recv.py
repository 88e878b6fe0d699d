"""Messages from the nodes at the beginning of edges to those at the end."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.device_put import empty_aligned
from paddle_jax._core.lazy.lazy_array import LazyArray, lazy_from_numpy
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.geometric.pooling import need_numbers, need_tensors, pooled, rows_at
from paddle_jax.tensor.axes import check_index, number, untracked
from paddle_jax.tensor.lowering import on_cpu
from paddle_jax.tensor.manipulation import reshape

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []

_MESSAGES = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
_HOST = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
_BLOCK = 8192  # rows of a block that stays in the cache
_KINDS = {np.dtype(kind) for kind in ("float32", "float64", "int32", "int64")}
_REDUCTIONS = ("sum", "mean", "max", "min")


def _edges(
    name: str, x: Tensor, src_index: Sequence[int] | Tensor, dst_index: Sequence[int] | Tensor
) -> None:
    need_tensors(name, x=x)
    if numpy_dtype(x).kind == "b":
        raise RuntimeError(f"{name}: x: got dtype bool; it must be an integer or floating dtype")
    need_numbers(name, src_index=src_index, dst_index=dst_index)
    if tuple(src_index.shape) != tuple(dst_index.shape):
        raise ArgumentError(
            f"{name}: src_index has shape {list(src_index.shape)} and dst_index "
            f"{list(dst_index.shape)}; they must be equal"
        )
    check_index(name, src_index, x.shape[0], low=0, name="src_index")


def _received(
    name: str, messages: Tensor, dst_index: Tensor, rows: int, how: str, out_size: Tensor | int | None
) -> Tensor:
    if out_size is None:
        size = 0
    else:
        size = number(name, out_size.item() if hasattr(out_size, "item") else out_size, "out_size")
    count = size if size > 0 else rows
    check_index(name, dst_index, count, low=0, name="dst_index")
    return pooled(messages, dst_index, count, how)


def _rows(x: Tensor, index: Tensor) -> Tensor:
    return rows_at(x, index if index.ndim == 1 else reshape(index, [-1]))


def _is_there(tensor: Tensor) -> bool:
    """Whether NumPy may read a Tensor of this kind now without anything having to run first."""
    raw = held_value(tensor)
    if type(raw) is LazyArray:
        there = raw.array is not None
    else:
        there = isinstance(raw, jax.Array)
    return there and raw.dtype in _KINDS and untracked(tensor) and local.ctx.frame.has_value(tensor)


def _are_plain(x: Tensor, y: Tensor, index: Tensor, how: str) -> bool:
    """Whether rows of one shape and dtype are combined."""
    kind = numpy_dtype(x)
    return (
        x.ndim > 1
        and x.shape[1:] == y.shape[1:]
        and kind == numpy_dtype(y)
        and index.ndim == 1
        and not (how == "div" and kind.kind == "i")
    )


def _joined(x: Any, y: Any, src_index: Any, dst_index: Any, how: str) -> Tensor:
    """`send_uv` by NumPy in blocks: XLA's gather on CPUs takes up to eight times as long."""
    x, y, src_index, dst_index = (
        to_numpy(materialize(held_value(t)), "send_uv") for t in (x, y, src_index, dst_index)
    )
    out = empty_aligned((len(src_index), *x.shape[1:]), x.dtype)
    buffer = np.empty((_BLOCK, *x.shape[1:]), x.dtype)
    with np.errstate(all="ignore"):
        for first in range(0, len(out), _BLOCK):
            rows = slice(first, first + _BLOCK)
            left = out[rows]
            right = buffer[: len(out) - first]
            x.take(src_index[rows], 0, out=left, mode="clip")
            y.take(dst_index[rows], 0, out=right, mode="clip")
            _HOST[how](left, right, out=left)
    return wrap(lazy_from_numpy(out))


def _need_choice(name: str, argument: str, value: str, choices: Sequence[str] | dict[str, Any]) -> None:
    if value not in choices:
        raise ValueError(f"{name}: {argument}: got {value!r}; use one of {', '.join(choices)}")


def _combined(name: str, x: Tensor, y: Tensor, how: str) -> Tensor:
    """Messages of two kinds combined; axes after the first broadcast, and a row that is one number counts as
    one of one element."""
    if numpy_dtype(x) != numpy_dtype(y) or (how == "div" and numpy_dtype(x).kind == "i"):
        raise ArgumentError(
            f"{name}: got x of dtype {numpy_dtype(x).name} and y of {numpy_dtype(y).name}; "
            "they must be equal, and floating for 'div'"
        )
    rank = max(x.ndim, y.ndim, 2)
    x, y = (
        t if t.ndim == rank else t.reshape([t.shape[0], *[1] * (rank - t.ndim), *t.shape[1:]]) for t in (x, y)
    )
    if any(a != b and 1 not in (a, b) for a, b in zip(x.shape[1:], y.shape[1:], strict=True)):
        raise ArgumentError(
            f"{name}: the rows of x have shape {list(x.shape[1:])} and those of y "
            f"{list(y.shape[1:])}; they do not broadcast"
        )
    return _MESSAGES[how](x, y)


@known_as(code="data_dependent:send_u_recv")
@composite(method=False, register=False)
def send_u_recv(
    x: Tensor,
    src_index: Any,
    dst_index: Any,
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each edge carries the row of x of its first node; each node reduces what arrives.

    Args:
        x: Tensor [nodes, ...].
        src_index, dst_index: int32 or int64 Tensors [edges]: the first and the second node of each edge.
        reduce_op: "sum", "mean", "max" or "min".
        out_size: number of rows of the result, an int or a Tensor. Default: that of x.
    Returns:
        Tensor [out_size, ...]; nodes where nothing arrives get 0.
    Raises:
        ValueError: another reduce_op, indices of other dtypes or of two shapes.
        IndexError: there is no such row.
    Example:
        >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> paddle.geometric.send_u_recv(x, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1])).tolist()
        [[0.0], [5.0], [2.0]]
    """
    _need_choice("send_u_recv", "reduce_op", reduce_op, _REDUCTIONS)
    _edges("send_u_recv", x, src_index, dst_index)
    return _received("send_u_recv", _rows(x, src_index), dst_index, x.shape[0], reduce_op, out_size)


@known_as(code="data_dependent:send_ue_recv")
@composite(method=False, register=False)
def send_ue_recv(
    x: Tensor,
    y: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """As `send_u_recv`, with the row of x combined with the edge's row of y.

    Args:
        x: Tensor [nodes, ...].
        y: Tensor [edges, ...] of the dtype of x; the other axes broadcast.
        src_index, dst_index, reduce_op, out_size: as for `send_u_recv`.
        message_op: "add", "sub", "mul" or "div".
    Returns:
        Tensor [out_size or nodes, ...] of the dtype of x.
    Raises:
        ValueError: message_op, reduce_op or a shape is not allowed. RuntimeError: the dtype is not.
    Example:
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [20.0]])
        >>> paddle.geometric.send_ue_recv(x, y, paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])).tolist()
        [[0.0], [33.0]]
    """
    _need_choice("send_ue_recv", "message_op", message_op, _MESSAGES)
    _need_choice("send_ue_recv", "reduce_op", reduce_op, _REDUCTIONS)
    need_tensors("send_ue_recv", y=y)
    _edges("send_ue_recv", x, src_index, dst_index)
    if y.ndim < 1 or y.shape[0] != src_index.shape[0]:
        raise ArgumentError(
            f"send_ue_recv: y: got shape {list(y.shape)} for {src_index.shape[0]} edges; "
            "give one row per edge"
        )
    messages = _combined("send_ue_recv", _rows(x, src_index), y, message_op)
    return _received("send_ue_recv", messages, dst_index, x.shape[0], reduce_op, out_size)


@known_as(code="data_dependent:send_uv")
@composite(method=False, register=False)
def send_uv(
    x: Tensor,
    y: Tensor,
    src_index: Tensor,
    dst_index: Tensor,
    message_op: str = "add",
    name: str | None = None,
) -> Tensor:
    """One row per edge: the row of x of its first node combined with the row of y of its second.

    Args:
        x, y: Tensors [nodes, ...] of one dtype; the axes after the first broadcast.
        src_index, dst_index, message_op: as for `send_ue_recv`.
    Returns:
        Tensor [edges, ...].
    Example:
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [20.0]])
        >>> paddle.geometric.send_uv(x, y, paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])).tolist()
        [[21.0], [22.0]]
    """
    _need_choice("send_uv", "message_op", message_op, _MESSAGES)
    need_tensors("send_uv", y=y)
    _edges("send_uv", x, src_index, dst_index)
    check_index("send_uv", dst_index, y.shape[0], low=0, name="dst_index")
    if (
        on_cpu()
        and _are_plain(x, y, src_index, message_op)
        and all(map(_is_there, (x, y, src_index, dst_index)))
    ):
        return _joined(x, y, src_index, dst_index, message_op)
    return _combined("send_uv", _rows(x, src_index), _rows(y, dst_index), message_op)
