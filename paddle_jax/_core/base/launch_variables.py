"""What a launcher has told this process, in the variables that Paddle's launchers set."""

import os
from typing import NamedTuple

from jax._src import distributed  # the public module does not tell what the process was connected with

_TIMEOUT = 1_800_000  # milliseconds, Paddle's own default


class LaunchEnvironment(NamedTuple):
    """rank, size: the number of this process, and how many there are. coordinator: "host:port" where process
    0 waits for the others, or None. devices: the accelerators of this process by number, or None. timeout:
    seconds that a collective may take."""

    rank: int
    size: int
    coordinator: str | None
    devices: list | None
    timeout: float


def integer(name, default):
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
    return connected.process_id if connected.client is not None else integer("PADDLE_TRAINER_ID", 0)


def size() -> int:
    """The number of processes."""
    connected = distributed.global_state
    return connected.num_processes if connected.client is not None else integer("PADDLE_TRAINERS_NUM", 1)


def endpoints() -> list:
    """The addresses of all processes, as far as the launcher has told them."""
    return os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")


def read() -> LaunchEnvironment:
    """All of it. MASTER_ADDR and MASTER_PORT come before PADDLE_MASTER, and that before the first of
    PADDLE_TRAINER_ENDPOINTS.

    Raises:
        ValueError: the numbers do not fit each other.
    """
    here, count = rank(), size()
    if not 0 <= here < count:
        raise ValueError(
            f"PADDLE_TRAINER_ID: got {here} in the environment; "
            f"PADDLE_TRAINERS_NUM says {count}, so it must be 0 to {count - 1}"
        )
    host, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    coordinator = (
        f"{host}:{port}" if host and port else os.environ.get("PADDLE_MASTER") or endpoints()[0] or None
    )
    chosen = [
        int(part) for part in os.environ.get("FLAGS_selected_gpus", "").split(",") if part.strip().isdigit()
    ]
    return LaunchEnvironment(
        here, count, coordinator, chosen or None, integer("PADDLE_PG_TIMEOUT", _TIMEOUT) / 1000
    )
