"""Collectives that bring the numbers of all processes together; the functions without `stream`
describe the arguments."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.communication.group import member
from paddle_jax.distributed.communication.tensors import (
    Task,
    fill,
    kind,
    need_sync,
    place,
    split,
    value,
    values,
)

_SUM = 0


def _operation(op: Any) -> int:
    if op not in range(5):
        raise ValueError(f"Unknown reduce_op type for {op}.")
    return int(op)


def all_reduce(
    tensor: Any, op: Any = _SUM, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """`paddle.distributed.all_reduce`, with `use_calc_stream`.

    Args:
        tensor, op, group, sync_op: as for `paddle.distributed.all_reduce`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     x = paddle.to_tensor([1.0 + paddle.distributed.get_rank()])
        ...     task = stream.all_reduce(x)
        ...     assert x.tolist() == [3.0]
    """
    need_sync("all_reduce", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    array = value("all_reduce", "tensor", tensor)
    tensor._rebind(group.process_group.all_reduce(array, _operation(op)))
    return Task(sync=sync_op)


def reduce(
    tensor: Any,
    dst: Any = 0,
    op: Any = _SUM,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """`paddle.distributed.reduce`, with `use_calc_stream`.

    Args:
        tensor, dst, op, group, sync_op: as for `paddle.distributed.reduce`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.to_tensor([1.0 + rank])
        ...     task = stream.reduce(x, dst=1)
        ...     assert x.tolist() == ([3.0] if rank == 1 else [1.0])
    """
    need_sync("reduce", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    out = group.process_group.reduce(value("reduce", "tensor", tensor), place(group, dst), _operation(op))
    # Only the destination gets a result.
    if out is not None:
        tensor._rebind(out)
    return Task(sync=sync_op)


def reduce_scatter(
    tensor: Any,
    tensor_or_tensor_list: Any,
    op: Any = _SUM,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """`paddle.distributed.reduce_scatter`, with `use_calc_stream`; the second argument may also be a Tensor
    [size * n, ...].

    Args:
        tensor, op, group, sync_op: as for `paddle.distributed.reduce_scatter`.
        tensor_or_tensor_list: list, as tensor_list there; or Tensor [size * n, ...].
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        ValueError, RuntimeError: as of `paddle.distributed.reduce_scatter`.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x, parts = paddle.zeros([1]), [paddle.ones([1]), paddle.ones([1]) * 2]
        ...     task = stream.reduce_scatter(x, parts)
        ...     assert x.tolist() == [2.0 * (rank + 1)]
    """
    need_sync("reduce_scatter", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    given = tensor_or_tensor_list
    call = "reduce_scatter"
    if isinstance(given, Tensor):
        rows = split(call, "tensor_or_tensor_list", value(call, "tensor_or_tensor_list", given), group.nranks)
    else:
        rows = values(call, "tensor_list", given, group.nranks)
    if value(call, "tensor", tensor).size * group.nranks != rows.size or numpy_dtype(tensor) != rows.dtype:
        raise ValueError(
            f"{call}: tensor: got {kind(held_value(tensor))}; "
            f"each process gets {rows.dtype.name}{list(rows.shape[1:])}"
        )
    flat = rows.reshape(rows.size)
    fill(call, "tensor", tensor, group.process_group.reduce_scatter(flat, _operation(op)))
    return Task(sync=sync_op)
