"""A step of a Llama-style model planned for 64 and 256 devices that are not there."""

import json
from pathlib import Path

import pytest

from tests import forked_python

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/plan_scale.py"
SMALL = ["--gather", "--layers=1", "--hidden=64", "--heads=8", "--vocabulary=512", "--length=32"]


@pytest.mark.slow
@pytest.mark.parametrize("mesh, devices", [("8x8", 64), ("32x8", 256)])
def test_plan(mesh, devices):
    done = forked_python.run([BENCHMARK, "--mesh", mesh, *SMALL, "--json"], 240)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert (
        found["devices"] == devices
        and found["parameters"] == 512 * 64 * 2 + 64 * 64 * 3 + 64 * 128 * 3 + 3 * 64
    )
    # parameters and two states, float32, all cut in both dimensions
    even = 3 * 4 * (found["parameters"] - 3 * 64) / devices
    # and norms, which have one axis, scalars and tokens
    assert even <= found["arguments"] <= even + 3 * 4 * 3 * 64 + 4096
    assert {"all-gather", "all-reduce"} <= set(found["kinds"])
    # what all-gathers bring a device: at least the weights once, as the second dimension cuts them
    gathered = 4 * (found["parameters"] - 3 * 64) / 8
    first = devices // 8
    assert gathered * (first - 1) / first <= found["kinds"]["all-gather"][1] <= 3 * gathered
    # what a device needs does not grow with the number of devices
    assert found["temporaries"] < 12 * gathered
