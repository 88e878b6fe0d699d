"""The secret that the processes of a program share: what they send each other is run, so nobody else may."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

_WAIT = 0.05  # seconds between two looks for the file of the first process


def job_token(master: str, rank: int, seconds: float, caller: str = "init_rpc: master_endpoint") -> str:
    """The token of the job: PADDLE_JOB_TOKEN, which the launcher sets, or that of a file of this user.

    The process of rank 0 writes the file, readable by its user alone. It serves processes of one machine that
    were started by hand.

    Args:
        master: "host:port" of the process of rank 0.
        rank: number of this process.
        seconds: for how long to wait for the file.
        caller: what errors begin with.
    Raises:
        ValueError: the master is on a network, and there is no PADDLE_JOB_TOKEN.
        TimeoutError: the process of rank 0 has not written the file.
    """
    token = os.environ.get("PADDLE_JOB_TOKEN")
    if token:
        return token
    host, _, port = master.rpartition(":")
    if not _is_loopback(host):
        raise ValueError(
            f"{caller}: got {master}; beyond this machine the processes need a common "
            "secret: set PADDLE_JOB_TOKEN on all of them"
        )
    file = private_folder() / f"rpc-{port}"
    if rank == 0:
        return _written(file)
    return _read(file, seconds)


def private_folder() -> Path:
    """A folder for temporary files that nobody else can read.

    Raises:
        PermissionError: somebody else has made it.
    """
    folder = Path(tempfile.gettempdir()) / f"paddle_jax-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    # Another user may have made the folder first, to read or plant tokens.
    if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o077:
        raise PermissionError(f"{folder}: it must belong to this user alone; remove it")
    return folder


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
    except OSError:
        return False


def _written(file: Any) -> str:
    token = secrets.token_hex(16)
    # One of an earlier job, or one that was put there: O_EXCL refuses to write through it.
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
        stream.write(token)
    return token


def _read(file: Any, seconds: float) -> str:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        # An empty file is one that is being written.
        if file.exists() and file.stat().st_uid == os.getuid() and (token := file.read_text()):
            return token
        time.sleep(_WAIT)
    raise TimeoutError(
        f"{file}: the process of rank 0 has not started within {seconds:.0f} s; start all processes"
    )
