"""Collectives of Python objects. They travel as pickles, which are read without a check: all processes of a
program trust each other."""

from __future__ import annotations

import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.process_group.registry import Groups
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.distributed.communication.group import member
from paddle_jax.distributed.communication.stream.point_to_point import other_rank, posted
from paddle_jax.distributed.communication.tensors import bytes_of, need_member, place

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


def _padded(data: Any, length: Any) -> Any:
    return np.concatenate([bytes_of(data), np.zeros(length - len(data), np.uint8)])


def all_gather_object(object_list: Any, obj: Any, group: Any = None) -> None:
    """Gives every process the objects of all of them.

    Args:
        object_list: list, which gets one object per process appended.
        obj: anything that can be pickled.
        group: Group. Default None: all processes.
    Raises:
        RuntimeError: this process is not in the group; the processes do not make the same call, or one
            of them has gone.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     found = []
        ...     paddle.distributed.all_gather_object(found, {"rank": rank})
        ...     assert found == [{"rank": 0}, {"rank": 1}]
    """
    group = need_member("all_gather_object", group)
    wire = group.process_group
    data = pickle.dumps(obj)
    # Arrays of a collective have one shape: sizes go first, and all are padded to the largest.
    sizes = np.asarray(wire.all_gather(np.asarray(len(data)), "all_gather_object: sizes"))
    rows = np.asarray(wire.all_gather(_padded(data, int(sizes.max())), "all_gather_object"))
    object_list.extend(pickle.loads(row[:size].tobytes()) for row, size in zip(rows, sizes, strict=True))


def broadcast_object_list(object_list: Any, src: int, group: Any = None) -> None:
    """Gives every process the objects of one of them.

    Args:
        object_list: list of objects that can be pickled; on the other processes a list of the same length,
            whose elements are replaced.
        src: int, the number in the program of the process whose objects they are.
        group: Group. Default None: all processes.
    Raises:
        RuntimeError: as all_gather_object. ValueError: src is not in the group, or the lengths differ.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     found = [paddle.distributed.get_rank()]
        ...     paddle.distributed.broadcast_object_list(found, src=1)
        ...     assert found == [1]
    """
    if (group := member(group)) is None:
        return
    wire = group.process_group
    source = place(group, src)
    if source == group.rank:
        data = pickle.dumps(list(object_list))
    else:
        data = b""
    # The receivers do not know the size.
    size = int(np.asarray(wire.broadcast(np.asarray(len(data)), source)))
    found = pickle.loads(np.asarray(wire.broadcast(_padded(data, size), source)).tobytes())
    if len(found) != len(object_list):
        raise ValueError(
            f"broadcast_object_list: object_list: got {len(object_list)} elements; "
            f"rank {src} has {len(found)}"
        )
    object_list[:] = found


def scatter_object_list(
    out_object_list: Any, in_object_list: Any = None, src: int = 0, group: Any = None
) -> None:
    """Gives every process one of the objects of one process.

    Args:
        out_object_list: list; it then holds the one object of its process.
        in_object_list: list of as many objects as processes, on the process `src`. The others need none.
        src: int, the number in the program of that process.
        group: Group. Default None: all processes.
    Raises:
        RuntimeError: as all_gather_object. ValueError: src is not in the group, or its list does not have an
            object for each process.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     found = []
        ...     paddle.distributed.scatter_object_list(found, ["a", "b"], src=0)
        ...     assert found == ["ab"[paddle.distributed.get_rank()]]
    """
    if (group := member(group)) is None:
        return
    wire = group.process_group
    source = place(group, src)
    # Processes that receive hand in empty rows of the same shape.
    pieces = [b""] * group.nranks
    if source == group.rank:
        if len(in_object_list or ()) != group.nranks:
            given = len(in_object_list or ())
            raise ValueError(
                f"scatter_object_list: in_object_list: got {given} objects; "
                f"give one for each of the {group.nranks} processes"
            )
        pieces = [pickle.dumps(obj) for obj in in_object_list]
    # Each process needs its own size to cut the padding off.
    sizes = np.asarray(wire.broadcast(np.asarray([len(data) for data in pieces]), source))
    rows = np.stack([_padded(data, int(sizes.max())) for data in pieces])
    row = np.asarray(wire.scatter(jnp.asarray(rows), source)[0])
    out_object_list[:] = [pickle.loads(row[: sizes[group.rank]].tobytes())]


def _peer(call: Any, group: Any, rank: Any, rank_in_group: Any) -> Any:
    if (rank is None) == (rank_in_group is None):
        raise ValueError(
            f"{call}: name the other process either by its number in the program or by its place in the group"
        )
    return other_rank(call, group, group.ranks[rank_in_group] if rank is None else rank)


def send_object_list(
    object_list: Any, dst: int | None = None, group: Any = None, dst_in_group: int | None = None
) -> None:
    """Sends objects to another process.

    Args:
        object_list: list of objects that can be pickled.
        dst: int, the number in the program of the process that receives them.
        group: Group. Default None: all processes.
        dst_in_group: int, its place in the group, instead of dst.
    Raises:
        RuntimeError: the other process has gone. ValueError: it is not in the group, or named
            twice or not at all.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     found = ["text"]
        ...     if paddle.distributed.get_rank() == 0:
        ...         paddle.distributed.send_object_list(found, dst=1)
        ...     else:
        ...         found = [None]
        ...         paddle.distributed.recv_object_list(found, src=0)
        ...     assert found == ["text"]
    """
    if not object_list:
        raise ValueError("send_object_list: object_list: got no objects; it must have at least one")
    if (group := member(group)) is None:
        return
    other = _peer("send_object_list", group, dst, dst_in_group)
    _, finish = posted("send_object_list", wrap(bytes_of(pickle.dumps(list(object_list)))), other, group)
    finish()


def recv_object_list(
    object_list: Any, src: int | None = None, group: Any = None, src_in_group: int | None = None
) -> None:
    """Receives objects from another process.

    Args:
        object_list: list, as long as that which is sent; its elements are replaced.
        src: int, the number in the program of the process that sends them.
        group: Group. Default None: all processes.
        src_in_group: int, its place in the group, instead of src.
    Raises:
        RuntimeError: the other process has gone, or does not send in time. ValueError: it is not in the
            group, or named twice or not at all; the lengths differ.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     found = ["text"]
        ...     if paddle.distributed.get_rank() == 0:
        ...         paddle.distributed.send_object_list(found, dst=1)
        ...     else:
        ...         found = [None]
        ...         paddle.distributed.recv_object_list(found, src=0)
        ...     assert found == ["text"]
    """
    if not object_list:
        raise ValueError(
            "recv_object_list: object_list: got an empty list; it must have as many elements as are sent"
        )
    if (group := member(group)) is None:
        return
    other = _peer("recv_object_list", group, src, src_in_group)
    wire = group.process_group
    channel = Groups.channel
    # Bytes have no fixed length, so no Tensor is filled as in `recv`.
    found = channel.receive(
        group.id,
        other,
        channel.take_number(group.id, other),
        "recv_object_list",
        wire.description,
        wire.timeout,
    )
    found = pickle.loads(found.tobytes())
    if len(found) != len(object_list):
        raise ValueError(
            f"recv_object_list: object_list: got {len(object_list)} elements; "
            f"rank {other} has sent {len(found)}"
        )
    object_list[:] = found
