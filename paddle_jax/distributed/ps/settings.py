"""Environment variables of parameter servers, and addresses."""

import os
from pathlib import Path
from typing import Any

from paddle_jax._core.base import launch_variables
from paddle_jax.distributed.rpc.channel import grpc_module
from paddle_jax.distributed.rpc.token import private_folder

SERVICE = "paddle.ps"
CALLER = "parameter servers"


def grpc_of_servers() -> Any:
    """The library that carries the requests.

    Raises:
        ImportError: it is not installed.
    """
    return grpc_module(CALLER, "ps")


def patience() -> float:
    """Seconds for which workers try to reach a server: PADDLE_PS_TIMEOUT, or Paddle's
    FLAGS_pserver_timeout_ms and FLAGS_pserver_connect_timeout_ms, whichever is more."""
    if os.environ.get("PADDLE_PS_TIMEOUT"):
        return float(launch_variables.integer("PADDLE_PS_TIMEOUT", 300))
    names = ("FLAGS_pserver_timeout_ms", "FLAGS_pserver_connect_timeout_ms")
    given = [launch_variables.integer(name, 0) / 1000 for name in names]
    return max(given) or 300.0


def worker_timeout() -> float:
    """Seconds after which a worker that the others wait for is named: PADDLE_PS_WORKER_TIMEOUT."""
    return float(launch_variables.integer("PADDLE_PS_WORKER_TIMEOUT", 60))


def journal_folder() -> Path | None:
    """Where servers keep their journals, PADDLE_PS_JOURNAL; None: they keep none."""
    folder = os.environ.get("PADDLE_PS_JOURNAL")
    return Path(folder) if folder else None


def local_socket(endpoint: str) -> Path:
    """The Unix socket of a server, for workers of the same machine and user."""
    return private_folder() / f"ps-{endpoint.rpartition(':')[2]}"
