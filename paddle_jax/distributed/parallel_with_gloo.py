"""Barriers between processes of CPUs that are in no process group."""

from __future__ import annotations

import time

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.process_group.tcp_store import TCPStore

__all__ = ["gloo_barrier", "gloo_init_parallel_env", "gloo_release"]

_TIMEOUT = 3600  # seconds; Paddle's limit for processes that start later


class _Barriers:
    """The barriers of this process.

    Attributes:
        store: TCPStore, or None before `gloo_init_parallel_env`.
        rank: int, of this process.
        count: int, how many processes there are.
        round: int, how many barriers have been passed.
    """

    def __init__(self) -> None:
        self.store: TCPStore | None = None
        self.rank = 0
        self.count = 1
        self.round = 0

    def pass_one(self) -> None:
        """Waits until all processes have come here."""
        if self.store is None:
            raise CheckError("gloo_barrier: there are no other processes; call gloo_init_parallel_env first")
        self.round += 1
        key = f"barrier/{self.round}"
        if self.store.add(f"{key}/count", 1) == self.count:
            self.store.set(key, "")
        self.store.wait(key)


_barriers = _Barriers()


def gloo_init_parallel_env(rank_id: int, rank_num: int, server_endpoint: str) -> None:
    """Connects processes for `gloo_barrier`. It makes no process group: collectives need
    `init_parallel_env`.

    Args:
        rank_id: int, which of the processes this is.
        rank_num: int, how many there are, at least 2.
        server_endpoint: str, "host:port" on the machine of process 0.
    Raises:
        AssertionError: rank_num is less than 2, or rank_id is out of range.
    Example:
        >>> import paddle_jax.distributed as dist
        >>> def work(rank):  # in two processes
        ...     dist.gloo_init_parallel_env(rank, 2, "127.0.0.1:6170")
        ...     dist.gloo_barrier()
        ...     dist.gloo_release()
    """
    if rank_num < 2:
        raise CheckError(f"gloo_init_parallel_env: rank_num: got {rank_num}; it must be at least 2")
    if not 0 <= rank_id < rank_num:
        raise CheckError(
            f"gloo_init_parallel_env: rank_id: got {rank_id}; it must be from 0 to {rank_num - 1}"
        )
    host, _, port = server_endpoint.rpartition(":")
    _barriers.store = TCPStore(host, int(port), rank_id == 0, rank_num, _TIMEOUT)
    _barriers.rank = rank_id
    _barriers.count = rank_num
    _barriers.round = 0


def gloo_barrier() -> None:
    """Waits until all processes of `gloo_init_parallel_env` have called this.

    Raises:
        AssertionError: `gloo_init_parallel_env` has not been called.
    Example:
        >>> import paddle_jax.distributed as dist
        >>> def work(rank):  # in two processes
        ...     dist.gloo_init_parallel_env(rank, 2, "127.0.0.1:6170")
        ...     dist.gloo_barrier()
    """
    _barriers.pass_one()


def gloo_release() -> None:
    """Ends what `gloo_init_parallel_env` has connected. All processes call it.

    Example:
        >>> import paddle_jax.distributed as dist
        >>> def work(rank):  # in two processes
        ...     dist.gloo_init_parallel_env(rank, 2, "127.0.0.1:6170")
        ...     dist.gloo_release()
    """
    if _barriers.store is None:
        return
    # Process 0 holds the values: it stays until the others need them no longer.
    _barriers.store.add("released", 1)
    if _barriers.rank == 0:
        while _barriers.store.add("released", 0) < _barriers.count:
            time.sleep(0.01)
    _barriers.store.close()
    _barriers.store = None
