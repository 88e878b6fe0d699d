"""Programs of several processes, for tests: each process has a time limit, and none outlives its test."""

import os
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from tests import forked_python

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"


class Ended(NamedTuple):
    """How a process ended: its exit status (None: it had to be killed), what it printed, and what it
    wrote to stderr."""

    code: int | None
    out: str
    err: str


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more):
    """The environment of a process of a test: one device, no launcher."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLE_", "MASTER_"))}
    return (
        kept
        | {
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": str(ROOT),
            "FLAGS_compile_cache": "off",
            "GLOG_minloglevel": "3",
        }
        | more
    )


def run(program, *args, count=2, seconds=60, absent=(), others_wait=True, **more):
    """Runs a program of this folder in several processes, and says how each ended.

    Without `others_wait` all are killed when the first one has ended.
    """
    common = {"PADDLE_TRAINERS_NUM": str(count), "PADDLE_MASTER": f"127.0.0.1:{free_port()}"} | more
    return started(
        [{"PADDLE_TRAINER_ID": str(rank)} | common for rank in range(count) if rank not in absent],
        program,
        *args,
        seconds=seconds,
        others_wait=others_wait,
    )


def started(environments, program, *args, seconds=60, others_wait=True):
    """Runs a program of this folder in a process for each of some environments, and says how each ended."""
    processes = [
        forked_python.start([PROGRAMS / program, *args], environment(**more)) for more in environments
    ]
    limit = time.monotonic() + seconds
    found = []
    try:
        for process in processes:
            try:
                out, err = process.communicate(timeout=max(limit - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                found.append(Ended(None, out, err))
            else:
                found.append(Ended(process.returncode, out, err))
            if not others_wait:
                limit = time.monotonic()
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    return found
