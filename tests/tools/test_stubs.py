"""The type stubs are up to date."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the stubs are written with the lowest version of Python"
)
def test_up_to_date():
    done = subprocess.run(
        [sys.executable, "tools/stubs.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:] + "run tools/stubs.py"
