"""Connects the processes of one program before the first of them touches a device.

JAX cannot connect them later. Programs make tensors before they call `init_parallel_env`, so the first use of
a device connects. Only the process that the launcher started connects: a mark in the environment tells it
from the processes that it starts in turn (workers that read data, compilers) and that inherit its
environment.
"""

from __future__ import annotations

import math
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax._src import distributed, xla_bridge  # JAX has no public hook before a backend starts

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.interrupt_safe import run_shielded
from paddle_jax._core.base.launch_variables import LaunchEnvironment
from paddle_jax._core.process_group import failure_detector

MARK = "PADDLE_JAX_TRAINER"  # the process id of the process that the launcher started
# seconds in which all processes must have come, where PADDLE_PG_TIMEOUT does not allow less
_CONNECT_SECONDS = 300.0
_RETRY_SECONDS = 0.02  # from one try to reach the first process to the next
_POLL_MILLISECONDS = 500  # between two looks at whether a process that is waited for has failed
_NOTE_SECONDS = 20.0  # of a wait after which a process says whom it waits for
_HEARTBEAT_SECONDS = 100  # without a heartbeat after which JAX takes a process for dead


before_first_device: list[Callable[[], None]] = []  # called once, just before the first use of a device


class _Original:
    """JAX's function that starts the devices.

    Attributes:
        lock: RLock, held while a thread connects.
        backends: that function.
    """

    lock = threading.RLock()
    backends = xla_bridge.backends


def start() -> None:
    """Puts the barrier in front of JAX's devices, and marks this process as started by the launcher."""
    mark_process()
    _Original.backends = xla_bridge.backends  # pyright: ignore[reportAttributeAccessIssue]
    xla_bridge.backends = _connect_and_start_backends


def mark_process() -> None:
    """Marks this process as started by the launcher, where its environment has several processes."""
    if os.environ.get("PADDLE_TRAINERS_NUM", "1") != "1":
        os.environ.setdefault(MARK, str(os.getpid()))


def _connect_and_start_backends() -> Any:
    """Stands for `xla_bridge.backends`."""
    while before_first_device and not is_device_in_use():
        before_first_device.pop()()
    connect()
    if not is_device_in_use() and threading.current_thread() is threading.main_thread():
        run_shielded(_Original.backends)  # pyright: ignore[reportAttributeAccessIssue]
    return _Original.backends()  # pyright: ignore[reportAttributeAccessIssue]


def is_device_in_use() -> bool:
    """Whether the program has used a device: JAX has threads then."""
    return bool(xla_bridge._backends)


def is_started_by_launcher() -> bool:
    """Whether the launcher started this process, and not a process that it has started."""
    own_id = str(os.getpid())
    return os.environ.get(MARK, own_id) == own_id


def is_connected() -> bool:
    """Whether this process is connected with others."""
    return distributed.global_state.client is not None


def store() -> Any:
    """The client of the key-value store that all processes share."""
    return distributed.global_state.client


def await_all(event: str, index: int, ranks: Sequence[int]) -> None:
    """Waits until all of some processes have come to the same point. The store remembers who has come.

    After a while it says once whom it waits for, and what that process does.

    Args:
        event: the point in words; there is one of this name.
        index: which of `ranks` this process is.
        ranks: the numbers of the processes.
    Raises:
        LostError: one of them has failed. A wait that takes too long is ended by the failure detector.
    """
    key = f"paddle/come/{event}"
    store().key_value_set(f"{key}/{ranks[index]}", "1", allow_overwrite=True)
    note_time = time.monotonic() + _NOTE_SECONDS
    for rank in ranks:
        while not _has_key(f"{key}/{rank}"):
            reason = failure_detector.failure_among([rank])
            if reason is not None:
                raise failure_detector.LostError(f"{event}: {reason}")
            if time.monotonic() > note_time:
                note_time = math.inf
                print(
                    f"paddle.distributed: rank {ranks[index]} waits for rank {rank} before the {event}; "
                    f"rank {rank} {failure_detector.doing(rank)}",
                    file=sys.stderr,
                    flush=True,
                )


def _has_key(key: str) -> bool:
    """Whether the store has a key; it waits a moment for it."""
    try:
        store().blocking_key_value_get(key, _POLL_MILLISECONDS)
    except jax.errors.JaxRuntimeError as error:
        if "DEADLINE_EXCEEDED" not in str(error):
            raise
        return False
    return True


def coordinator_address() -> str:
    """The address at which the processes have connected."""
    return distributed.global_state.coordinator_address or ""


def connect() -> None:
    """Connects this process with the others of its program; does nothing when it is alone, or connected.

    Raises:
        RuntimeError: a device is in use already.
        ValueError: the environment is not valid.
    """
    if is_connected() or is_device_in_use() or launch_variables.size() == 1 or not is_started_by_launcher():
        return
    with _Original.lock:
        environment = launch_variables.read()
        # without an address no launcher has started this: the numbers serve to divide data only
        if not is_connected() and environment.coordinator is not None:
            _connect_to(environment.coordinator, environment)


def connect_devices() -> None:
    """Connects this process with the others, and starts its devices, for which all must be there as well."""
    connect()
    if is_connected():
        _connect_and_start_backends()


def _connect_to(coordinator: str, environment: LaunchEnvironment) -> None:
    host = coordinator.rpartition(":")[0]
    is_local = host in ("127.0.0.1", "localhost")
    options: dict[str, Any] = {"coordinator_bind_address": coordinator} if is_local else {}
    timeout = min(environment.timeout, _CONNECT_SECONDS)
    # JAX ends the process at its own timeout and does not say why
    alarm = threading.Timer(max(timeout - 1, 0.1), _end_for_missing_processes, [environment, timeout])
    alarm.daemon = True
    alarm.start()
    jax.config.update("jax_enable_preemption_service", False)  # it would swallow SIGTERM
    try:
        if environment.rank > 0:
            _await_listener(coordinator)
        jax.distributed.initialize(
            coordinator,
            environment.size,
            environment.rank,
            environment.devices,
            cluster_detection_method="deactivate",
            initialization_timeout=max(int(timeout) + 5, 6),
            heartbeat_timeout_seconds=_HEARTBEAT_SECONDS,
            **options,
        )
    finally:
        alarm.cancel()
    failure_detector.start(environment)


def _await_listener(coordinator: str) -> None:
    """Waits until the process that all others connect to listens. The alarm of the caller limits the wait.

    JAX's client tries again after a second where nobody listens yet, and every start would lose it.
    """
    host, _, port = coordinator.rpartition(":")
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), _RETRY_SECONDS * 100).close()
        except OSError:
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _end_for_missing_processes(environment: LaunchEnvironment, timeout: float) -> None:
    print(
        f"paddle.distributed: rank {environment.rank} has waited {timeout:.0f} s at "
        f"{environment.coordinator} for all {environment.size} processes of the program; start all of them, "
        f"with PADDLE_TRAINER_ID 0 to {environment.size - 1} and the same PADDLE_MASTER, on machines that "
        "reach it",
        file=sys.stderr,
    )
    sys.stderr.flush()
    os._exit(failure_detector.TIMED_OUT)
