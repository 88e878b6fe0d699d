"""Collectives that bring the numbers of all processes together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.distributed.communication.stream import all_reduce as _all_reduce
from paddle_jax.distributed.communication.stream import reduce as _reduce
from paddle_jax.distributed.communication.stream import reduce_scatter as _reduce_scatter

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = ["ReduceOp", "all_reduce", "reduce", "reduce_scatter"]


class ReduceOp:
    """How the elements of all processes are brought together: their sum, largest, least, product, or mean.

    Example:
        >>> paddle.distributed.ReduceOp.MAX
        1
    """

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


def _get_reduce_op(reduce_op: int) -> int:
    """The member of ReduceOp, once it is known to be one.

    Args:
        reduce_op: member of ReduceOp.
    Raises:
        ValueError: it is none.
    """
    if reduce_op not in range(5):
        raise ValueError(f"ReduceOp: got {reduce_op!r}; it must be one of SUM, MAX, MIN, PROD and AVG")
    return reduce_op


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True) -> Any:
    """Replaces a tensor on every process by the elements of all of them brought together.

    Args:
        tensor: Tensor [...], of the same shape and dtype on all processes. It gets the result. bool counts as
            "any" for SUM, MAX and AVG, else "all".
        op: a ReduceOp. The mean of integers is rounded down.
        group: Group. Default None: all processes.
        sync_op: accepted; the call returns when the result is there.
    Returns:
        A task, whose wait() returns at once; None on a process outside of the group.
    Raises:
        RuntimeError: there is no group; the processes do not make the same call, or one of them has gone.
            ValueError: the op is none, or asks for the largest or least of complex numbers.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     x = paddle.to_tensor([1.0 + paddle.distributed.get_rank()])
        ...     task = paddle.distributed.all_reduce(x)
        ...     assert x.tolist() == [3.0]
    """
    return _all_reduce(tensor, op, group, sync_op)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True) -> Any:
    """Replaces a tensor on one process by the elements of all processes brought together.

    Args:
        tensor: Tensor [...], of the same shape and dtype on all processes. Differs from Paddle: on the others
            it stays as it is.
        dst: int, the number in the program of the process that gets the result.
        op, group, sync_op: as in all_reduce.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError, ValueError: as all_reduce.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.to_tensor([1.0 + rank])
        ...     task = paddle.distributed.reduce(x, dst=1)
        ...     assert x.tolist() == ([3.0] if rank == 1 else [1.0])
    """
    return _reduce(tensor, dst, op, group, sync_op)


def reduce_scatter(
    tensor: Tensor, tensor_list: Any, op: Any = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> Any:
    """Gives every process one of several tensors, with the elements of all processes brought together.

    Args:
        tensor: Tensor [...], gets element number `rank` of the reduced list.
        tensor_list: list of as many Tensors [...] as processes.
        op, group, sync_op: as in all_reduce.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError, ValueError: as all_reduce.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x, parts = paddle.zeros([1]), [paddle.ones([1]), paddle.ones([1]) * 2]
        ...     task = paddle.distributed.reduce_scatter(x, parts)
        ...     assert x.tolist() == [2.0 * (rank + 1)]
    """
    return _reduce_scatter(tensor, tensor_list, op, group, sync_op)
