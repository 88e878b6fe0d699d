"""Making groups of processes."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import launch_variables
from paddle_jax._core.process_group.registry import Groups
from paddle_jax.distributed.communication.group import create_group, is_initialized, seconds

if TYPE_CHECKING:
    from paddle_jax.distributed.communication.group import Group


__all__ = ["is_available", "new_group"]

_LIMIT = datetime.timedelta(seconds=1800)


def is_available() -> bool:
    """True: programs of several processes can be run.

    Returns:
        bool.
    Example:
        >>> paddle.distributed.is_available()
        True
    """
    return True


def new_group(
    ranks: Sequence[int] | None = None,
    backend: Any = None,
    timeout: Any = _LIMIT,
    nccl_comm_init_option: Any = 0,
    nccl_config: Any = None,
) -> Group:
    """Makes a group of some of the processes. All processes must make all groups, in the same order, whether
    they belong to them or not.

    Args:
        ranks: list of int, the numbers of the processes. Default None: all. A group of one process
            communicates nothing: it has no members.
        backend: "nccl" or None; the devices decide.
        timeout: timedelta, how long a call in the group may take before the process gives up. Default: half
            an hour, or PADDLE_PG_TIMEOUT.
        nccl_comm_init_option, nccl_config: accepted.
    Returns:
        Group.
    Raises:
        AssertionError: the backend is another one, a rank is out of range, or there are several ranks and
            init_parallel_env was not called.
    Example:
        >>> paddle.distributed.new_group([0]).ranks
        [0]
    """
    # JAX and the kind of device choose how data moves, so the names of Paddle change nothing.
    if backend not in (None, "nccl", "gloo", "xccl", "bkcl"):
        raise AssertionError(f"Unsupported backend: {backend}; leave it out, the devices decide.")
    if ranks is None and is_initialized():
        ranks = Groups.known[0].ranks
    if ranks is None or (len(ranks) > 1 and not is_initialized()):
        raise AssertionError(
            "new_group: there is no group of all processes; call paddle.distributed.init_parallel_env() first"
        )
    # The order of ranks in a group is that of the processes.
    ranks = sorted(ranks)
    # A process without a group of all may still make one of itself; there is no count to compare with.
    count = len(Groups.known[0].ranks) if is_initialized() else None
    if count and (len(set(ranks)) < len(ranks) or not all(0 <= rank < count for rank in ranks)):
        raise AssertionError(
            f"new_group: ranks: got {ranks}; they must be different numbers from 0 to {count - 1}"
        )
    # A limit that nobody set is that of the launcher.
    if timeout is _LIMIT:
        limit = launch_variables.read().timeout
    else:
        limit = seconds(timeout)
    # All processes count alike, so the number names the same group everywhere.
    number = Groups.take_number()
    group = Groups.known[number] = create_group(number, ranks, limit, f"_default_pg{number}")
    return group


def _get_default_group() -> Any:
    """The group of all processes.

    Raises:
        AssertionError: there is none.
    """
    if not is_initialized():
        raise AssertionError(
            "Call paddle.distributed.init_parallel_env first to initialize the distributed environment."
        )
    return Groups.known[0]


def shutdown_process_group(group: Any = None) -> None:
    """Nothing to do: connections stay open until the process ends."""


def restart_process_group(group: Any = None) -> None:
    """Nothing to do: connections stay open until the process ends."""
