"""Groups of processes."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.process_group import startup_barrier
from paddle_jax._core.process_group.collectives import ProcessGroup
from paddle_jax._core.process_group.registry import Groups
from paddle_jax._core.tensors.tensor import Tensor

__all__ = ["Group", "barrier", "destroy_process_group", "get_backend", "get_group", "is_initialized", "wait"]


class Group:
    """Processes that communicate with each other.

    Args:
        rank_in_group: int, the place of this process among them; -1 when it does not belong to them.
        id: int, the number of the group.
        ranks: list of int, the numbers of the processes in the program.
        pg: what carries the communication, or None.
        name: str.
    Example:
        >>> from paddle_jax.distributed.communication.group import Group
        >>> Group(0, 11, [2, 3], name="pair")
        rank: 0, nranks: 2, id: 11, ranks: 2, 3; name: pair
    """

    def __init__(
        self, rank_in_group: int, id: int, ranks: Sequence[int], pg: Any = None, name: str | None = None
    ) -> None:
        self._rank = rank_in_group
        self._id = id
        self._ranks = ranks
        self._wire = pg
        self._name = name

    @property
    def rank(self) -> int:
        """The place of this process in the group, or -1."""
        return self._rank

    @property
    def ranks(self) -> Any:
        """The numbers of its processes in the program."""
        return self._ranks

    @property
    def nranks(self) -> int:
        """How many processes it has."""
        return len(self._ranks)

    @property
    def name(self) -> Any:
        """Its name."""
        return self._name

    @property
    def process_group(self) -> Any:
        """What carries its communication; None where this process does not belong to it."""
        return self._wire

    @property
    def world_size(self) -> Any:
        """How many processes it has; -1 where this process does not belong to it."""
        if self._rank >= 0:
            return self.nranks
        return -1

    @property
    def backend(self) -> Any:
        """The library that communicates: "GLOO" on CPUs, "NCCL" on GPUs, "XLA" elsewhere."""
        return backend_name()

    @property
    def id(self) -> Any:
        """Its number."""
        return self._id

    def is_member(self) -> bool:
        """Whether this process belongs to it, and there are others."""
        return self._rank >= 0 and self.nranks >= 2

    def is_alone(self) -> bool:
        """Whether it has this process only, which drives several devices: collectives give back what they
        get."""
        return self._wire is not None and self.nranks == 1

    def get_group_rank(self, rank: Any) -> Any:
        """The place in the group of a process of the program; -1 where this process does not
        belong to the group.

        Raises:
            ValueError: that process does not belong to it.
        """
        if not self.is_member():
            return -1
        if rank not in self._ranks:
            raise ValueError(f"rank: got {rank}; group {self._id} has the ranks {self._ranks}")
        return self._ranks.index(rank)

    def get_global_rank(self, rank: Any) -> Any:
        """The number in the program of the process at a place of the group; -1 where this process does
        not belong to it."""
        if self.is_member():
            return self._ranks[rank]
        return -1

    def __repr__(self) -> str:
        return (
            f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: "
            f"{', '.join(map(str, self.ranks))}; name: {self.name or None}"
        )


def backend_name() -> str:
    """What carries the communication of this program's processes."""
    import jax

    return {"cpu": "GLOO", "gpu": "NCCL", "cuda": "NCCL", "rocm": "NCCL"}.get(jax.default_backend(), "XLA")


def is_initialized() -> bool:
    """Whether init_parallel_env has made the group of all processes.

    Returns:
        bool.
    Example:
        >>> paddle.distributed.is_initialized()
        False
    """
    return 0 in Groups.known


def default_group() -> Any:
    """The group of all processes.

    Raises:
        RuntimeError: there is none.
    """
    if 0 not in Groups.known:
        raise RuntimeError(
            "The global group is not initialized: call paddle.distributed.init_parallel_env() "
            "first, in a program that `python -m paddle_jax.distributed.launch` has started. "
            "In a single process that drives several devices there is nothing to exchange "
            "between processes: sharded Tensors have the values of all devices (dist.reshard, "
            "dist.local_map)."
        )
    return Groups.known[0]


_get_global_group = default_group  # the name by which programs know it


def member(group: Any) -> Any:
    """The group to communicate in; None where this process has no part in it.

    Raises:
        RuntimeError: there is no group of all processes.
    """
    if group is None:
        group = default_group()
    if group.is_member() or group.is_alone():
        return group
    return None


def _warn_cur_rank_not_in_group(group: Any) -> bool:
    """Whether this process has no part in a group, with a warning where that is so.

    Args:
        group: Group, or None for that of all processes.
    """
    if group is None or group.is_member():
        return False
    # Before init_parallel_env no number is known; 0 is that of a single process.
    rank = Groups.known[0].rank if 0 in Groups.known else 0
    warnings.warn(f"Current global rank {rank} is not in group {group.name}", stacklevel=2)
    return True


def get_group(id: int = 0) -> Any:
    """The group of a number, or None with a warning.

    Args:
        id: int. 0 is the group of all processes.
    Returns:
        Group, or None.
    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True):
        ...     print(paddle.distributed.get_group(3))
        None
    """
    if id not in Groups.known:
        warnings.warn(f"Group {id} is not initialized.", stacklevel=2)
        return None
    return Groups.known[id]


def destroy_process_group(group: Any = None) -> None:
    """Forgets a group, or all of them. The processes stay connected until they end, so that groups
    can be made again.

    Args:
        group: Group. Default None: all.
    Raises:
        RuntimeError: there is no group of all processes. ValueError: the group is not known.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     group = paddle.distributed.new_group([0, 1])
        ...     paddle.distributed.destroy_process_group(group)
    """
    if group is None:
        group = default_group()
    if Groups.known.get(group.id) is not group:
        raise ValueError(
            f"destroy_process_group: group: got number {group.id}, which is not known; "
            "name one that new_group has made"
        )
    # Without the group of all processes the others mean nothing.
    if group.id == 0:
        Groups.known.clear()
    else:
        del Groups.known[group.id]


def barrier(group: Any = None) -> None:
    """Waits until all processes of a group have called it.

    Args:
        group: Group. Default None: all processes. A process that does not belong to it goes on.
    Raises:
        RuntimeError: there is no group of all processes.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     paddle.distributed.barrier()
    """
    if (group := member(group)) is not None:
        group.process_group.barrier()


def get_backend(group: Any = None) -> str:
    """The library that communicates for a group: "GLOO" on CPUs, "NCCL" on GPUs, "XLA" elsewhere.

    Args:
        group: Group. Default None: all processes.
    Returns:
        str.
    Raises:
        RuntimeError: there is no group of all processes. ValueError: this process does not
            belong to the group.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     assert paddle.distributed.get_backend() in ("GLOO", "NCCL", "XLA")
    """
    if group is None:
        group = default_group()
    if not group.is_member():
        raise ValueError(
            f"get_backend: group: got group {group.id}, to which this process does not belong; "
            "name one of its own"
        )
    return backend_name()


def wait(tensor: Tensor, group: Any = None, use_calc_stream: bool = True) -> None:
    """Waits until a tensor has its value, and with it the communication that gives it.

    Args:
        tensor: Tensor.
        group, use_calc_stream: accepted; there is one stream.
    Raises:
        TypeError: tensor is no Tensor.
    Example:
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env()
        ...     x = paddle.ones([2])
        ...     task = paddle.distributed.all_reduce(x)
        ...     paddle.distributed.wait(x)
    """
    # As for collectives, processes outside of the group go on.
    if group is not None and not group.is_member():
        return
    if not isinstance(tensor, Tensor):
        raise TypeError(f"wait: tensor: got {type(tensor).__name__}; it must be a Tensor")
    tensor._value.block_until_ready()


def seconds(timeout: Any) -> float:
    """A limit given as a number of seconds or a timedelta, in seconds."""
    if isinstance(timeout, datetime.timedelta):
        return timeout.total_seconds()
    return float(timeout)


def create_group(number: Any, ranks: Any, timeout: Any, name: str) -> Group:
    """A Group of some processes, which must be sorted; all processes make it."""
    import jax

    if startup_barrier.is_connected():
        here = jax.process_index()
    else:
        here = 0
    # Only members get a connection, but all know the group.
    if len(ranks) > 1 and here in ranks:
        return Group(ranks.index(here), number, ranks, ProcessGroup(number, ranks, timeout), name)
    # A group of this process alone needs no connection, but its calls must work.
    if Groups.alone is not None and ranks == [here]:
        return Group(0, number, ranks, Groups.alone, name)
    return Group(-1, number, ranks, None, name)
