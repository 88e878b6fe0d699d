"""Programs of this folder run by two processes of the real Paddle, under its own `spawn`."""

import contextlib
import importlib
import json
import subprocess
import sys
from pathlib import Path

from tests.distributed import pairs

PROGRAM = """
import sys
import paddle
from tests.distributed.spawned import rank
if __name__ == "__main__":
    paddle.distributed.spawn(rank, ("{module}", "{path}"), nprocs=2, backend="gloo")
"""


def rank(module, path):
    """One process: runs the module's `main("paddle")`."""
    import paddle

    with Path(f"{path}.{paddle.distributed.get_rank()}").open("w") as file, contextlib.redirect_stdout(file):
        importlib.import_module(f"tests.distributed.programs.{module}").main("paddle")


def found(module, folder):
    """What each of the two processes printed in its last line, from JSON."""
    path = folder / "found"
    (folder / "program.py").write_text(PROGRAM.format(module=module, path=path))
    done = subprocess.run(
        [sys.executable, folder / "program.py"],
        env=pairs.environment(),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(Path(f"{path}.{number}").read_text().splitlines()[-1]) for number in range(2)]
