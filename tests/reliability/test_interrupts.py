"""Nothing is lost when something is raised in the middle of training; see interrupts.py."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = [("sync", "eager", "signal", 40), ("sync", "eager", "lines", 40), ("off", "eager", "handler", 40), ("off", "eager", "lines", 40),
         ("sync", "scaler", "lines", 20), ("sync", "to_static", "signal", 5), ("sync", "to_static", "lines", 3), ("sync", "forward", "signal", 5),
         ("sync", "executor", "signal", 6), ("sync", "executor", "lines", 10), ("async", "eager", "signal", 20),
         ("off", "groups", "lines", 20)]


def outcome(tier, program, kind, trials):
    command = [sys.executable, "-m", "tests.reliability.interrupts", "--tier", tier, "--program", program, "--kind", kind, "--trials", str(trials)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=900, env=environment, check=False)
    assert done.stdout.strip(), done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1]), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tier, program, kind, trials", CASES)
def test_nothing_is_lost(tier, program, kind, trials):
    found, text = outcome(tier, program, kind, trials)
    assert found["interrupted"] > trials // 3, text
    assert not found["failures"], text
