"""Collectives that hand tensors on as they are; the functions without `stream` describe the arguments."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.tensors.held_values import plain_shape
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.communication.group import member
from paddle_jax.distributed.communication.tensors import (
    Task,
    fill,
    fill_list,
    kind,
    need_member,
    need_sync,
    place,
    shape_of_list,
    split,
    stacked,
    unstack,
    value,
    values,
)


def all_gather(
    tensor_or_tensor_list: Any,
    tensor: Any,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task:
    """`paddle.distributed.all_gather`, with `use_calc_stream`; the first argument may also be a Tensor
    [size * n, ...].

    Args:
        tensor_or_tensor_list: list, as tensor_list of `paddle.distributed.all_gather`; or Tensor [size * n,
            ...].
        tensor, group, sync_op: as for `paddle.distributed.all_gather`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     parts = []
        ...     task = stream.all_gather(parts, paddle.to_tensor([rank]))
        ...     assert [part.tolist() for part in parts] == [[0], [1]]
    """
    need_sync("all_gather", sync_op, use_calc_stream)
    group = need_member("all_gather", group)
    array = value("all_gather", "tensor", tensor)
    shape_of_list("all_gather", "tensor_list", tensor_or_tensor_list, array, group.nranks)
    rows = group.process_group.all_gather(array)
    _hand_out("all_gather", "tensor_list", tensor_or_tensor_list, rows)
    return Task(sync=sync_op)


def _hand_out(call: Any, name: Any, out: Any, rows: Any) -> None:
    if isinstance(out, Tensor):
        fill(call, name, out, rows)
    else:
        fill_list(call, name, out, unstack(rows))


def broadcast(
    tensor: Any, src: Any, group: Any = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Task | None:
    """`paddle.distributed.broadcast`, with `use_calc_stream`.

    Args:
        tensor, src, group, sync_op: as for `paddle.distributed.broadcast`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.to_tensor([rank + 5])
        ...     task = stream.broadcast(x, src=1)
        ...     assert x.tolist() == [6]
    """
    need_sync("broadcast", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    array = value("broadcast", "tensor", tensor)
    tensor._rebind(group.process_group.broadcast(array, place(group, src)))
    return Task(sync=sync_op)


def gather(
    tensor: Any,
    gather_list: Any = None,
    dst: Any = 0,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """`paddle.distributed.gather`, with `use_calc_stream`.

    Args:
        tensor, gather_list, dst, group, sync_op: as for `paddle.distributed.gather`.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        ValueError, RuntimeError: as of `paddle.distributed.gather`.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     parts = []
        ...     task = stream.gather(paddle.to_tensor([rank]), parts, dst=0)
        ...     assert [part.tolist() for part in parts] == ([[0], [1]] if rank == 0 else [])
    """
    need_sync("gather", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    array = value("gather", "tensor", tensor)
    target = place(group, dst)
    if target == group.rank:
        if gather_list is None:
            raise ValueError(
                "gather: gather_list: got None; the process that gathers needs a list, which may be empty"
            )
        shape_of_list("gather", "gather_list", gather_list, array, group.nranks)
    rows = group.process_group.gather(array, target)
    if rows is not None:
        fill_list("gather", "gather_list", gather_list, unstack(rows))
    return Task(sync=sync_op)


def scatter(
    tensor: Any,
    tensor_or_tensor_list: Any = None,
    src: Any = 0,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """`paddle.distributed.scatter`, with `use_calc_stream`; the second argument may also be a Tensor
    [size * n, ...].

    Args:
        tensor, src, group, sync_op: as for `paddle.distributed.scatter`.
        tensor_or_tensor_list: list, as tensor_list there; or Tensor [size * n, ...].
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        ValueError, RuntimeError: as of `paddle.distributed.scatter`.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     x, parts = paddle.zeros([1]), [paddle.ones([1]), paddle.ones([1]) * 2]
        ...     task = stream.scatter(x, parts, src=0)
        ...     assert x.tolist() == [1.0 + paddle.distributed.get_rank()]
    """
    need_sync("scatter", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    source = place(group, src)
    given = tensor_or_tensor_list
    array = value("scatter", "tensor", tensor)
    if source != group.rank:
        # Every process hands in an array of the same shape; that of the source counts.
        rows = np.zeros((group.nranks, *array.shape), array.dtype)
    elif isinstance(given, Tensor):
        rows = split(
            "scatter", "tensor_or_tensor_list", value("scatter", "tensor_or_tensor_list", given), group.nranks
        )
    else:
        rows = values("scatter", "tensor_list", given or [], group.nranks)
    if rows.size != array.size * group.nranks or rows.dtype != array.dtype:
        raise ValueError(
            f"scatter: tensor: got {kind(array)}; each process gets {rows.dtype.name}{list(rows.shape[1:])}"
        )
    fill(
        "scatter",
        "tensor",
        tensor,
        unstack(group.process_group.scatter(rows.reshape(group.nranks, *array.shape), source))[0],
    )
    return Task(sync=sync_op)


def alltoall(
    out_tensor_or_tensor_list: Any,
    in_tensor_or_tensor_list: Any,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """`paddle.distributed.alltoall`, with `use_calc_stream`; both lists may also be Tensors
    [size * n, ...].

    Args:
        out_tensor_or_tensor_list, in_tensor_or_tensor_list: lists, as for `paddle.distributed.alltoall`; or
            Tensors [size * n, ...].
        group, sync_op: as there.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     parts = []
        ...     task = stream.alltoall(parts, [paddle.to_tensor([rank, to]) for to in range(2)])
        ...     assert [part.tolist() for part in parts] == [[0, rank], [1, rank]]
    """
    need_sync("alltoall", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    given = in_tensor_or_tensor_list
    if isinstance(given, Tensor):
        rows = split("alltoall", "in_tensor_or_tensor_list", given._value, group.nranks)
    else:
        rows = values("alltoall", "in_tensor_list", given, group.nranks)
    shape_of_list("alltoall", "out_tensor_list", out_tensor_or_tensor_list, rows[0], group.nranks)
    _hand_out("alltoall", "out_tensor_list", out_tensor_or_tensor_list, group.process_group.all_to_all(rows))
    return Task(sync=sync_op)


def alltoall_single(
    out_tensor: Any,
    in_tensor: Any,
    out_split_sizes: Any = None,
    in_split_sizes: Any = None,
    group: Any = None,
    sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Task | None:
    """`paddle.distributed.alltoall_single`, with `use_calc_stream`. The two lists of sizes come in the other
    order here, as in Paddle.

    Args:
        out_tensor, in_tensor, group, sync_op: as for `paddle.distributed.alltoall_single`.
        out_split_sizes, in_split_sizes: lists of ints, as there.
        use_calc_stream: accepted; True needs sync_op.
    Returns:
        A task; None on a process outside of the group.
    Raises:
        ValueError, RuntimeError: as of `paddle.distributed.alltoall_single`.
    Example:
        >>> stream = paddle.distributed.communication.stream
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     rank = paddle.distributed.get_rank()
        ...     x = paddle.zeros([2], "int64")
        ...     task = stream.alltoall_single(x, paddle.to_tensor([rank * 2, rank * 2 + 1]))
        ...     assert x.tolist() == [rank, rank + 2]
    """
    need_sync("alltoall_single", sync_op, use_calc_stream)
    if (group := member(group)) is None:
        return None
    array = value("alltoall_single", "in_tensor", in_tensor)
    wire = group.process_group
    value("alltoall_single", "out_tensor", out_tensor)
    # Equal pieces need no exchange of sizes.
    if not in_split_sizes and not out_split_sizes:
        pieces = wire.all_to_all(split("alltoall_single", "in_tensor", array, group.nranks))
        fill("alltoall_single", "out_tensor", out_tensor, pieces.reshape(-1, *array.shape[1:]))
        return Task(sync=sync_op)
    mine = _sizes("in_split_sizes", in_split_sizes, array.shape[0], group.nranks)
    expected = _sizes("out_split_sizes", out_split_sizes, plain_shape(out_tensor)[0], group.nranks)
    # All sizes go round first: a wrong one is found before data moves.
    sizes = np.asarray(wire.all_gather(np.asarray(mine, np.int64), "sizes of alltoall_single"))
    if (sizes[:, group.rank] != expected).any():
        raise ValueError(
            f"alltoall_single: out_split_sizes: got {expected}; "
            f"the other processes send {sizes[:, group.rank].tolist()}"
        )
    # pieces travel filled up to the longest
    longest = int(sizes.max())
    ends = np.cumsum(mine)
    padded = [
        jnp.pad(array[e - n : e], [(0, longest - n)] + [(0, 0)] * (array.ndim - 1))
        for n, e in zip(mine, ends, strict=True)
    ]
    rows = wire.all_to_all(stacked(padded))
    fill(
        "alltoall_single",
        "out_tensor",
        out_tensor,
        jnp.concatenate([row[:n] for row, n in zip(rows, expected, strict=True)]),
    )
    return Task(sync=sync_op)


def _sizes(name: Any, given: Any, length: Any, count: Any) -> Any:
    if not given:
        if length % count:
            raise ValueError(
                f"alltoall_single: {name}: got None; the first length {length} is no multiple "
                f"of the {count} processes; name sizes"
            )
        return [length // count] * count
    if len(given) != count or sum(given) != length or min(given) < 0:
        raise ValueError(
            f"alltoall_single: {name}: got {list(given)}; there must be one for each of the "
            f"{count} processes, {length} together"
        )
    return [int(size) for size in given]
