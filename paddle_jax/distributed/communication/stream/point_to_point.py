"""Messages from one process to another; the functions without `stream` describe the arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.process_group.registry import Groups
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax.distributed.communication.group import member
from paddle_jax.distributed.communication.tensors import Task, fill, kind, need_sync, place, value


def other_rank(call: Any, group: Any, rank: Any) -> Any:
    """The number in the program of the other process, which must be in the group and not be this one."""
    if place(group, rank) == group.rank:
        raise RuntimeError(f"{call}: rank {rank} is this process itself; name another one of {group.ranks}")
    return rank


def posted(call: Any, tensor: Any, dst: Any, group: Any) -> Any:
    """A message on its way, and the function that waits until it is out."""
    # The value of this moment: the Tensor may get another one before the message is out.
    array = np.asarray(value(call, "tensor", tensor))
    wire = group.process_group
    channel = Groups.channel
    other = other_rank(call, group, dst)
    message = channel.send(group.id, other, array, wire.timeout)
    return (
        message,
        lambda: channel.wait_until_delivered(
            message, f"{call}({kind(array)})", wire.description, other, wire.timeout
        ),
    )


def awaited(call: Any, tensor: Any, src: Any, group: Any) -> Any:
    """The number of a message that is to come, and the function that waits for it and puts it
    into the tensor."""
    wire, channel, other = group.process_group, Groups.channel, other_rank(call, group, src)
    value(call, "tensor", tensor)
    # The number is taken now, so that messages are matched in the order of the calls.
    ticket = channel.take_number(group.id, other)

    def finish() -> None:
        array = channel.receive(
            group.id, other, ticket, f"{call}({kind(held_value(tensor))})", wire.description, wire.timeout
        )
        fill(call, "tensor", tensor, put(array))

    return lambda: channel.has_arrived(group.id, other, ticket), finish


def send(
    tensor: Any, dst: Any = 0, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """`paddle.distributed.send`, with `use_calc_stream`.

    Args:
        tensor, dst, group, sync_op: as for `paddle.distributed.send`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     if rank == 0:
        ...         task = stream.send(paddle.to_tensor([7]), dst=1)
        ...     else:
        ...         x = paddle.to_tensor([0])
        ...         task = stream.recv(x, src=0)
        ...         assert x.tolist() == [7]
    """
    need_sync("send", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    message, finish = posted("send", tensor, dst, group)
    if sync_op:
        finish()
        return Task()
    return Task(finish, message.done.is_set, sync=False)


def recv(
    tensor: Any, src: Any = 0, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """`paddle.distributed.recv`, with `use_calc_stream`.

    Args:
        tensor, src, group, sync_op: as for `paddle.distributed.recv`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     if rank == 0:
        ...         task = stream.send(paddle.to_tensor([7]), dst=1)
        ...     else:
        ...         x = paddle.to_tensor([0])
        ...         task = stream.recv(x, src=0)
        ...         assert x.tolist() == [7]
    """
    need_sync("recv", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    ready, finish = awaited("recv", tensor, src, group)
    if sync_op:
        finish()
        return Task()
    return Task(finish, ready, sync=False)
