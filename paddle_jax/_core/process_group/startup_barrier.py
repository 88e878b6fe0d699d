"""The gate in front of the devices: processes of one program are connected before the first of them is
touched, since JAX cannot do it later.

Programs make tensors before they call `init_parallel_env`, so it is the first look at a device that connects.
Only the process that the launcher started does: what it starts in turn (workers that read data, compilers)
inherits its environment, and is told apart by a mark in it.
"""

import os
import sys
import threading

import jax
from jax._src import distributed, xla_bridge  # JAX has no public way to be told before a backend starts

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.interrupt_safe import run_shielded
from paddle_jax._core.process_group import failure_detector
from paddle_jax._launch.variables import MARK

# seconds in which all processes must have come, where PADDLE_PG_TIMEOUT does not allow less
_CONNECTING = 300.0
_SILENCE = 100  # seconds without a sign of life after which JAX takes a process for dead


before = []  # what is called once, just before the first device is touched


class _Gate:
    lock = threading.RLock()
    backends = xla_bridge.backends


def start():
    """Puts the gate in front of JAX's devices, and marks this process as the one that the
    launcher started."""
    if os.environ.get("PADDLE_TRAINERS_NUM", "1") != "1":
        os.environ.setdefault(MARK, str(os.getpid()))
    _Gate.backends = xla_bridge.backends
    xla_bridge.backends = _opened


def _opened():
    while before and not opened():
        before.pop()()
    join()
    if not opened() and threading.current_thread() is threading.main_thread():
        run_shielded(_Gate.backends)
    return _Gate.backends()


def opened() -> bool:
    """Whether a device has been touched: JAX has threads then."""
    return bool(xla_bridge._backends)


def is_owner() -> bool:
    """Whether this is the process that the launcher started, not one that it has started in turn."""
    return os.environ.get(MARK, str(os.getpid())) == str(os.getpid())


def joined() -> bool:
    """Whether this process is connected with others."""
    return distributed.global_state.client is not None


def client():
    """The connection to the store that all processes share."""
    return distributed.global_state.client


def coordinator() -> str:
    """The address at which the processes have met."""
    return distributed.global_state.coordinator_address or ""


def join():
    """Connects this process with the others of its program; does nothing when it is alone, or connected.

    Raises:
        RuntimeError: a device is in use already.
        ValueError: the environment is not valid.
    """
    if joined() or xla_bridge._backends or launch_variables.size() == 1 or not is_owner():
        return
    with _Gate.lock:
        found = launch_variables.read()
        # without an address nobody has launched this: the numbers serve to divide data only
        if joined() or found.coordinator is None:
            return
        _connect(found)


def _connect(found):
    host = found.coordinator.rpartition(":")[0]
    bind = {"coordinator_bind_address": found.coordinator} if host in ("127.0.0.1", "localhost") else {}
    limit = min(found.timeout, _CONNECTING)
    # JAX ends the process at its own limit and does not say why
    alarm = threading.Timer(max(limit - 1, 0.1), _absent, [found, limit])
    alarm.daemon = True
    alarm.start()
    jax.config.update("jax_enable_preemption_service", False)  # it would swallow SIGTERM
    try:
        jax.distributed.initialize(
            found.coordinator,
            found.size,
            found.rank,
            found.devices,
            cluster_detection_method="deactivate",
            initialization_timeout=max(int(limit) + 5, 6),
            heartbeat_timeout_seconds=_SILENCE,
            **bind,
        )
    finally:
        alarm.cancel()
    failure_detector.start(found)


def _absent(found, limit):
    print(
        f"paddle.distributed: rank {found.rank} has waited {limit:.0f} s at {found.coordinator} for all "
        f"{found.size} processes of the program; start all of them, with PADDLE_TRAINER_ID 0 to "
        f"{found.size - 1} and the same PADDLE_MASTER, on machines that reach it",
        file=sys.stderr,
    )
    sys.stderr.flush()
    os._exit(failure_detector.STUCK)
