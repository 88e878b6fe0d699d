"""Messages from one process to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.distributed.communication import stream
from paddle_jax.distributed.communication.group import default_group

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def send(tensor: Tensor, dst: int = 0, group: Any = None, sync_op: bool = True) -> Any:
    """Sends a tensor to another process. It waits there until it is received, so two processes may send to
    each other first and receive then.

    Args:
        tensor: Tensor [...].
        dst: int, the number in the program of the process that receives it.
        group: Group. Default None: all processes.
        sync_op: wait until it is on its way. Default True; else the task's `wait` does.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: the other process has gone, or dst is this one. ValueError: dst is not in the group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     if rank == 0:
        ...         task = paddle.distributed.send(paddle.to_tensor([7]), dst=1)
        ...     else:
        ...         x = paddle.to_tensor([0])
        ...         task = paddle.distributed.recv(x, src=0)
        ...         assert x.tolist() == [7]
    """
    return stream.send(tensor, dst, group, sync_op)


def recv(tensor: Tensor, src: int = 0, group: Any = None, sync_op: bool = True) -> Any:
    """Receives a tensor from another process. Messages of two processes and a group come in the order in
    which they were sent.

    Args:
        tensor: Tensor [...], of the size and dtype of what was sent. It gets the value.
        src: int, the number in the program of the process that sends it.
        group: Group. Default None: all processes.
        sync_op: wait for it. Default True; else the task's `wait` does, and the tensor has the
            value only then.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        RuntimeError: the other process has gone, does not send in time, or sends another size or dtype.
            ValueError: src is not in the group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     if rank == 0:
        ...         task = paddle.distributed.send(paddle.to_tensor([7]), dst=1)
        ...     else:
        ...         x = paddle.to_tensor([0])
        ...         task = paddle.distributed.recv(x, src=0)
        ...         assert x.tolist() == [7]
    """
    return stream.recv(tensor, src, group, sync_op)


def isend(tensor: Any, dst: Any, group: Any = None) -> Any:
    """Like send, without a wait: the task has it.

    Args:
        tensor, dst, group: as for `send`.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     if rank == 0:
        ...         done = paddle.distributed.isend(paddle.to_tensor([7]), dst=1).wait()
        ...     else:
        ...         x = paddle.to_tensor([0])
        ...         done = paddle.distributed.irecv(x, src=0).wait()
        ...         assert x.tolist() == [7]
    """
    return stream.send(tensor, dst, group, sync_op=False)


def irecv(tensor: Any, src: Any = None, group: Any = None) -> Any:
    """Like recv, without a wait: the task has it, and the tensor has the value only then.

    Args:
        tensor, src, group: as for `recv`.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     if rank == 0:
        ...         done = paddle.distributed.isend(paddle.to_tensor([7]), dst=1).wait()
        ...     else:
        ...         x = paddle.to_tensor([0])
        ...         done = paddle.distributed.irecv(x, src=0).wait()
        ...         assert x.tolist() == [7]
    """
    return stream.recv(tensor, src, group, sync_op=False)


class P2POp:
    """A message for batch_isend_irecv.

    Args:
        op: paddle.distributed.isend or irecv.
        tensor: Tensor, what is sent, or gets what is received.
        peer: int, the number in the program of the other process.
        group: Group. Default None: all processes.
    Raises:
        RuntimeError: op is another function, or there is no group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.to_tensor([rank])
        ...     y = paddle.to_tensor([0])
        ...     messages = [
        ...         paddle.distributed.P2POp(paddle.distributed.isend, x, 1 - rank),
        ...         paddle.distributed.P2POp(paddle.distributed.irecv, y, 1 - rank),
        ...     ]
        ...     for task in paddle.distributed.batch_isend_irecv(messages):
        ...         done = task.wait()
        ...     assert y.tolist() == [1 - rank]
    """

    group: Any
    op: Any
    peer: int
    tensor: Tensor

    def __init__(self, op: Any, tensor: Tensor, peer: int, group: Any = None) -> None:
        if op not in (isend, irecv):
            raise RuntimeError(
                "Invalid ``op`` function. Expected ``op`` to be of type "
                "``paddle.distributed.isend`` or ``paddle.distributed.irecv``."
            )
        self.op, self.tensor, self.peer, self.group = (
            op,
            tensor,
            peer,
            default_group() if group is None else group,
        )


def batch_isend_irecv(p2p_op_list: Any) -> list[Any]:
    """Begins several messages.

    Args:
        p2p_op_list: list of P2POp, not empty, all in one group.
    Returns:
        list of tasks, one for each; a tensor that receives has its value after the task's `wait`.
    Raises:
        RuntimeError: an element is something else, or of another group. IndexError: the list is empty.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.to_tensor([rank])
        ...     y = paddle.to_tensor([0])
        ...     messages = [
        ...         paddle.distributed.P2POp(paddle.distributed.isend, x, 1 - rank),
        ...         paddle.distributed.P2POp(paddle.distributed.irecv, y, 1 - rank),
        ...     ]
        ...     for task in paddle.distributed.batch_isend_irecv(messages):
        ...         done = task.wait()
        ...     assert y.tolist() == [1 - rank]
    """
    if not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise RuntimeError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``paddle.distributed.P2POp``."
        )
    group = p2p_op_list[0].group
    if any(one.group is not group for one in p2p_op_list):
        raise RuntimeError(
            "batch_isend_irecv: p2p_op_list: got messages of several groups; call it once for each group"
        )
    tasks = [one.op(one.tensor, one.peer, group) for one in p2p_op_list]
    # A process outside of the group has no task.
    return [task for task in tasks if task is not None]
