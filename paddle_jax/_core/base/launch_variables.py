"""The environment variables by which Paddle's launchers describe a process to it."""

from __future__ import annotations

import os
from typing import NamedTuple

from jax._src import distributed  # the public module does not say how the process is connected

_TIMEOUT = 1_800_000  # milliseconds, Paddle's own default


class LaunchEnvironment(NamedTuple):
    """The variables, parsed.

    Attributes:
        rank: int, the number of this process.
        size: int, the number of processes.
        coordinator: "host:port" at which process 0 waits for the others, or None.
        devices: list of the numbers of the accelerators of this process, or None.
        timeout: float, seconds that a collective may take.
    """

    rank: int
    size: int
    coordinator: str | None
    devices: list[int] | None
    timeout: float


def integer(name: str, default: int) -> int:
    """An integer from the environment.

    Raises:
        ValueError: the variable holds something else.
    """
    text = os.environ.get(name) or str(default)
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name}: got {text!r} in the environment; it must be an integer") from None


def rank() -> int:
    """The number of this process, from 0."""
    connected = distributed.global_state
    if connected.client is not None:
        return connected.process_id
    return integer("PADDLE_TRAINER_ID", 0)


def size() -> int:
    """The number of processes."""
    connected = distributed.global_state
    if connected.client is not None:
        return connected.num_processes
    return integer("PADDLE_TRAINERS_NUM", 1)


def endpoints() -> list[str]:
    """The addresses of all processes, as far as the environment has them."""
    return os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")


def has_servers() -> bool:
    """Whether this process belongs to a job with parameter servers. Its processes are not connected with each
    other."""
    return bool(os.environ.get("TRAINING_ROLE") and os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST"))


def read() -> LaunchEnvironment:
    """All variables. MASTER_ADDR and MASTER_PORT come before PADDLE_MASTER, and that before the first of
    PADDLE_TRAINER_ENDPOINTS.

    Raises:
        ValueError: the numbers do not fit each other.
    """
    own_rank = rank()
    count = size()
    if not 0 <= own_rank < count:
        raise ValueError(
            f"PADDLE_TRAINER_ID: got {own_rank} in the environment; "
            f"PADDLE_TRAINERS_NUM says {count}, so it must be 0 to {count - 1}"
        )
    device_numbers = os.environ.get("FLAGS_selected_gpus", "").split(",")
    devices = [int(number) for number in device_numbers if number.strip().isdigit()]
    # The variable has milliseconds.
    timeout = integer("PADDLE_PG_TIMEOUT", _TIMEOUT) / 1000
    return LaunchEnvironment(own_rank, count, _coordinator(), devices or None, timeout)


def _coordinator() -> str | None:
    """The address at which process 0 waits for the others, or None."""
    if has_servers():
        return None
    host = os.environ.get("MASTER_ADDR")
    port = os.environ.get("MASTER_PORT")
    if host and port:
        return f"{host}:{port}"
    return os.environ.get("PADDLE_MASTER") or endpoints()[0] or None
