"""Random programs give the same under immediate execution, deferred execution and in the real Paddle.

A failure prints a script that runs on its own. More programs: `python -m tests.deferred.explore`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import paddle_jax
from tests.deferred import differential
from tests.deferred.programs import generate

ROOT = Path(__file__).resolve().parents[2]


# XLA's flags of the tests that make compiling quick. They change a result only where XLA is wrong
# (`quick_options`). One run of the fuzzer compiles as users have it; the others compile in half the time.
QUICK = ("--xla_cpu_use_fusion_emitters", "--xla_cpu_parallel_codegen_split_count")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "kept_flags"),
    [("0 40 --short", ()), ("1000 1030 --short --wild", QUICK), ("20 21", QUICK)],
)
def test_programs(options, kept_flags):
    """In a process of its own, with the compiler's optimisations: without them tanh saturates at another
    number."""
    flags = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag.startswith(kept_flags)]
    command = [sys.executable, "-W", "ignore", "-m", "tests.deferred.explore", "all", *options.split()]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"XLA_FLAGS": " ".join(flags)},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 differ" in done.stdout


class Sabotaged:
    """A module in which one function is slightly wrong."""

    def __init__(self, module, name, error):
        self._module, self._name, self._error = module, name, error

    def __getattr__(self, name):
        found = getattr(self._module, name)
        return (lambda *a, **k: found(*a, **k) * (1 + self._error)) if name == self._name else found


def test_a_wrong_function_is_found_and_the_program_shrinks():
    wrong = Sabotaged(paddle_jax, "sin", 1e-4)
    program = next(
        p
        for p in (generate(seed, short=True, randomness=False) for seed in range(200))
        if "paddle.sin" in p.text() and "see(" in p.text()
    )

    def differs(candidate):
        with differential.flags(paddle_jax, deferred="off"):
            want, got = differential.run(candidate, paddle_jax), differential.run(candidate, wrong)
        found = differential.disagreement(got, want, differential.OWN)
        return found and found[1]

    assert differs(program) is not None
    smaller, _ = differential.shrink(program, differs, seconds=20)
    assert differs(smaller) is not None and smaller.repeats == 1
    assert "paddle.sin" in smaller.text() and len(smaller.text().splitlines()) <= 8
    assert len(smaller.text()) < len(program.text())


def test_a_seed_is_a_program():
    assert generate(7).script() == generate(7).script() != generate(8).script()
    compile(generate(7).script(), "program", "exec")
