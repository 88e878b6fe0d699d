"""The suite keeps bytecode where the environment forbids it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from pathlib import Path
from tests import bytecode
bytecode.allow(Path(sys.argv[1]))
import tests.cpu
print(sys.dont_write_bytecode, sys.pycache_prefix)
"""


def test_this_process_and_its_children_write_bytecode():
    assert not sys.dont_write_bytecode
    assert not os.environ.get("PYTHONDONTWRITEBYTECODE")


def test_a_forbidding_environment(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)],
        cwd=ROOT,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["False", str(tmp_path)]
    assert list(tmp_path.rglob("cpu.*.pyc"))
