"""Calls of functions in other processes: who takes part, and the calls."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base import launch_variables
from paddle_jax._core.process_group import startup_barrier
from paddle_jax.distributed.rpc.agent import Agent, Future, WorkerInfo
from paddle_jax.distributed.rpc.token import job_token

__all__ = [
    "get_all_worker_infos",
    "get_current_worker_info",
    "get_worker_info",
    "init_rpc",
    "rpc_async",
    "rpc_sync",
    "shutdown",
]


_MASTER_KEY = "paddle/rpc/master"  # in the store of the job


class _Current:
    """This process among those that call each other.

    Attributes:
        agent: Agent, or None before `init_rpc`.
    """

    agent: Agent | None = None


def _agent() -> Agent:
    if _Current.agent is None:
        raise RuntimeError("rpc: it is not initialized; call paddle.distributed.rpc.init_rpc first")
    return _Current.agent


def init_rpc(
    name: str, rank: int | None = None, world_size: int | None = None, master_endpoint: str | None = None
) -> None:
    """Lets this process call functions in others, and others in this one. Waits until all have come.

    Processes of one machine share a secret in a file of their user. Over a network set PADDLE_JOB_TOKEN on
    all machines. What is sent is run as code, and it is not encrypted.

    Args:
        name: str, by which others call this process; another one for each.
        rank: int, the number of this process. Default: PADDLE_TRAINER_ID.
        world_size: int, how many processes there are. Default: PADDLE_TRAINERS_NUM.
        master_endpoint: "host:port" at which the process of rank 0 waits for the others. Default:
            PADDLE_MASTER_ENDPOINT. PADDLE_WORKER_ENDPOINT may name the address of this process.
    Raises:
        KeyError: an argument is left out, and its variable is not set. RuntimeError: the processes do not fit
            each other, or it was called before. TimeoutError: not all come. ImportError: gRPC is missing.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8201")
        >>> rpc.rpc_sync("worker0", max, args=(2, 3))
        3
        >>> rpc.shutdown()
    """
    if _Current.agent is not None:
        raise RuntimeError("init_rpc: it was called before; call rpc.shutdown() first")
    if rank is None:
        rank = int(_variable("rank", "PADDLE_TRAINER_ID"))
    if world_size is None:
        world_size = int(_variable("world_size", "PADDLE_TRAINERS_NUM"))
    master = master_endpoint or _variable("master_endpoint", "PADDLE_MASTER_ENDPOINT")
    host, _, port = master.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"init_rpc: master_endpoint: got {master!r}; it must be host:port")
    if world_size == launch_variables.size():
        # Now, when all are here: the first use of a device would wait for all, and a process that waits for
        # an answer cannot come.
        startup_barrier.connect_devices()
        master = _free_of_store(master, rank)
    # Others that reach the port must not run functions here.
    token = job_token(master, rank, launch_variables.integer("FLAGS_stop_check_timeout", 900))
    own = os.environ.get("PADDLE_WORKER_ENDPOINT")
    agent = Agent(name, rank, world_size, master, own, token)
    _Current.agent = agent
    # Only now: functions that are called here may call others by this agent.
    agent.accept_calls()


def _free_of_store(master: str, rank: int) -> str:
    """Where processes meet: at `master`, or at another port where the store of the job has that one."""
    if not startup_barrier.is_connected() or master != startup_barrier.coordinator_address():
        return master
    if rank == 0:
        host = master.rpartition(":")[0]
        with socket.socket() as probe:
            probe.bind((host, 0))
            startup_barrier.store().key_value_set(_MASTER_KEY, f"{host}:{probe.getsockname()[1]}", True)
    patience = launch_variables.integer("FLAGS_stop_check_timeout", 900)
    return startup_barrier.store().blocking_key_value_get(_MASTER_KEY, 1000 * patience)


def _variable(argument: str, name: str) -> str:
    """The text of an environment variable that stands for an argument."""
    if name not in os.environ:
        raise KeyError(f"init_rpc: {argument}: got None, and {name} is not set; pass it")
    return os.environ[name]


def rpc_sync(
    to: str,
    fn: Callable[..., Any],
    args: tuple[Any, ...] | None = None,
    kwargs: dict[Any, Any] | None = None,
    timeout: float = -1,
) -> Any:
    """Calls a function in another process and waits for what it gives.

    The function goes by its name: the other process calls what its own module has. A function without a name
    (a lambda) goes as code.

    Args:
        to: str, the name of the process.
        fn: callable.
        args: tuple of its arguments. Default None: none.
        kwargs: dict of its keyword arguments. Default None: none.
        timeout: seconds in which it must answer; 0 or less: any time. Default -1.
    Returns:
        What the function gives.
    Raises:
        ValueError: there is no such process. TimeoutError: the time is over. RuntimeError: the process has
            gone. What the function raises, caused by the traceback of the other process.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8202")
        >>> rpc.rpc_sync("worker0", divmod, args=(7, 2))
        (3, 1)
        >>> rpc.shutdown()
    """
    return rpc_async(to, fn, args, kwargs, timeout).wait()


def rpc_async(
    to: str,
    fn: Callable[..., Any],
    args: tuple[Any, ...] | None = None,
    kwargs: dict[Any, Any] | None = None,
    timeout: float = -1,
) -> Future:
    """Calls a function in another process, and does not wait.

    Args:
        to, fn, args, kwargs, timeout: as in `rpc_sync`.
    Returns:
        An object whose `wait()` gives what the function gives, or raises what it raises.
    Raises:
        ValueError: there is no such process. TypeError: something cannot be sent.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8203")
        >>> rpc.rpc_async("worker0", pow, args=(2, 3)).wait()
        8
        >>> rpc.shutdown()
    """
    return _agent().call(to, fn, args or (), kwargs or {}, timeout)


def shutdown() -> None:
    """Ends remote calls in this process, once all processes have called it and have answered what is under
    way. A process that has gone counts as if it had called it; a warning names it.

    Raises:
        RuntimeError: `init_rpc` was not called.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8207")
        >>> rpc.shutdown()
    """
    agent = _agent()
    try:
        agent.shutdown()
    finally:
        _Current.agent = None


def get_worker_info(name: str) -> WorkerInfo:
    """The process of a name: name, rank, ip and port.

    Returns:
        WorkerInfo.
    Raises:
        ValueError: there is no such process. RuntimeError: `init_rpc` was not called.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8204")
        >>> rpc.get_worker_info("worker0").rank
        0
        >>> rpc.shutdown()
    """
    return _agent().find(name)


def get_all_worker_infos() -> list[WorkerInfo]:
    """All processes, by rank.

    Returns:
        list of WorkerInfo.
    Raises:
        RuntimeError: `init_rpc` was not called.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8205")
        >>> [info.name for info in rpc.get_all_worker_infos()]
        ['worker0']
        >>> rpc.shutdown()
    """
    return list(_agent().infos)


def get_current_worker_info() -> WorkerInfo:
    """This process.

    Returns:
        WorkerInfo.
    Raises:
        RuntimeError: `init_rpc` was not called.
    Example:
        >>> from paddle_jax.distributed import rpc
        >>> rpc.init_rpc("worker0", rank=0, world_size=1, master_endpoint="127.0.0.1:8206")
        >>> rpc.get_current_worker_info().name
        'worker0'
        >>> rpc.shutdown()
    """
    return _agent().info
