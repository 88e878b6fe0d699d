"""Programs that XLA computes wrong with the flags of the tests are right as users compile them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import pathlib
import sys

from tests.jit.corpus import PROGRAMS, runner
from tests.jit.corpus.modes import MODES

chosen = [one for one in PROGRAMS.values() if "flags of the tests" in one.without.get("full_graph", "")]
for program in chosen:
    runner.check(program, MODES["full_graph"], pathlib.Path(sys.argv[1]))
print(len(chosen), "programs")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("oracle")
def test_programs_that_the_flags_of_the_tests_leave_out(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "XLA_FLAGS": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout == "4 programs\n", done.stderr
