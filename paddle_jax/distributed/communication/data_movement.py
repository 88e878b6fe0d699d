"""Collectives that hand tensors on as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.distributed.communication import stream

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = ["all_gather", "alltoall", "alltoall_single", "broadcast", "gather", "scatter"]


def all_gather(tensor_list: Any, tensor: Tensor, group: Any = None, sync_op: bool = True) -> Any:
    """Gives every process the tensors of all of them.

    Args:
        tensor_list: list, gets one Tensor [...] per process: an empty one new Tensors, one with as many
            Tensors as processes the values.
        tensor: Tensor [...], of the same shape and dtype on all processes.
        group: Group. Default None: all processes.
        sync_op: accepted; the call returns when the result is there.
    Returns:
        A task, whose wait() returns at once.
    Raises:
        RuntimeError: this process is not in the group; the list fits neither; the processes do not make the
            same call, or one of them has gone.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     parts = []
        ...     task = paddle.distributed.all_gather(parts, paddle.to_tensor([rank]))
        ...     assert [part.tolist() for part in parts] == [[0], [1]]
    """
    return stream.all_gather(tensor_list, tensor, group, sync_op)


def broadcast(tensor: Tensor, src: int, group: Any = None, sync_op: bool = True) -> Any:
    """Gives every process the tensor of one of them.

    Args:
        tensor: Tensor [...], of the same shape and dtype on all processes. It gets the value.
        src: int, the number in the program of the process whose tensor it is.
        group, sync_op: as in all_gather.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: as all_gather. ValueError: src is not in the group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.to_tensor([rank + 5])
        ...     task = paddle.distributed.broadcast(x, src=1)
        ...     assert x.tolist() == [6]
    """
    return stream.broadcast(tensor, src, group, sync_op)


def gather(
    tensor: Tensor, gather_list: Any = None, dst: int = 0, group: Any = None, sync_op: bool = True
) -> Any:
    """Gives one process the tensors of all of them.

    Args:
        tensor: Tensor [...], of the same shape and dtype on all processes.
        gather_list: list, on the process `dst`: as in all_gather. On the others it stays as it is.
        dst: int, the number in the program of the process that gets them.
        group, sync_op: as in all_gather.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: as all_gather. ValueError: dst is not in the group, or has no list.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     parts = []
        ...     task = paddle.distributed.gather(paddle.to_tensor([rank]), parts, dst=0)
        ...     assert [part.tolist() for part in parts] == ([[0], [1]] if rank == 0 else [])
    """
    return stream.gather(tensor, gather_list, dst, group, sync_op)


def scatter(
    tensor: Tensor, tensor_list: Any = None, src: int = 0, group: Any = None, sync_op: bool = True
) -> Any:
    """Gives every process one of the tensors of one process.

    Args:
        tensor: Tensor [...], gets the element of its process.
        tensor_list: list of as many Tensors [...] as processes, on the process `src`. The others need none.
        src: int, the number in the program of that process.
        group, sync_op: as in all_gather.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: as all_gather. ValueError: src is not in the group, or its list does not fit.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     x, parts = paddle.zeros([1]), [paddle.ones([1]), paddle.ones([1]) * 2]
        ...     task = paddle.distributed.scatter(x, parts, src=0)
        ...     assert x.tolist() == [1.0 + paddle.distributed.get_rank()]
    """
    return stream.scatter(tensor, tensor_list, src, group, sync_op)


def alltoall(out_tensor_list: Any, in_tensor_list: Any, group: Any = None, sync_op: bool = True) -> Any:
    """Sends every process one of the tensors of each.

    Args:
        out_tensor_list: list, gets what process 0, 1, ... had for this one; as in all_gather.
        in_tensor_list: list of Tensors [...], one for each process, all of one shape and dtype.
        group, sync_op: as in all_gather.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: as all_gather. ValueError: the list does not have a tensor for each process.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     parts = []
        ...     task = paddle.distributed.alltoall(parts, [paddle.to_tensor([rank, to]) for to in range(2)])
        ...     assert [part.tolist() for part in parts] == [[0, rank], [1, rank]]
    """
    return stream.alltoall(out_tensor_list, in_tensor_list, group, sync_op)


def alltoall_single(
    out_tensor: Tensor,
    in_tensor: Tensor,
    in_split_sizes: Sequence[int] | None = None,
    out_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    sync_op: bool = True,
) -> Any:
    """Sends every process a piece of the tensor of each.

    Args:
        out_tensor: Tensor [m, ...], gets the pieces for this process one after the other.
        in_tensor: Tensor [n, ...], cut along the first axis.
        in_split_sizes: list of int, the lengths of the pieces. Default None: equal ones.
        out_split_sizes: list of int, the lengths of what arrives. Default None: equal ones. Where one process
            names sizes, all must.
        group, sync_op: as in all_gather.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: as all_gather. ValueError: the sizes do not add up, or are not those that the
            other processes send.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.zeros([2], "int64")
        ...     task = paddle.distributed.alltoall_single(x, paddle.to_tensor([rank * 2, rank * 2 + 1]))
        ...     assert x.tolist() == [rank, rank + 2]
    """
    return stream.alltoall_single(out_tensor, in_tensor, out_split_sizes, in_split_sizes, group, sync_op)
