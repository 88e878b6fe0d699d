"""Runs what is in `eight/` in one process that sees eight devices: they are fixed when JAX starts, and the
process of the tests has one."""

import os
from pathlib import Path

import pytest

from tests import forked_python

HERE = Path(__file__).resolve().parent
LIMIT = 400  # seconds for a file


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(file.stem for file in (HERE / "eight").glob("check_*.py")))
def test_on_eight_devices(name):
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    command = [
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--durations=8",
        str(HERE / "eight" / f"{name}.py"),
    ]
    environment = os.environ | {"XLA_FLAGS": flags, "NPROC": "64"}
    done = forked_python.run(command, LIMIT, environment, HERE.parents[1])
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    assert "skipped" not in done.stdout.splitlines()[-1]
