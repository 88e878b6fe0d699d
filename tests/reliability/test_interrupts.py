"""Nothing is lost when something is raised in the middle of training; see interrupts.py."""

import json
import os
from pathlib import Path

import pytest

from tests import forked_python

ROOT = Path(__file__).resolve().parents[2]
CASES = [
    ("sync", "eager", "signal", 40),
    ("sync", "eager", "lines", 40),
    ("off", "eager", "handler", 40),
    ("off", "eager", "lines", 40),
    ("sync", "scaler", "lines", 20),
    ("sync", "to_static", "signal", 5),
    ("sync", "to_static", "lines", 3),
    ("sync", "forward", "signal", 5),
    ("sync", "executor", "signal", 6),
    ("sync", "executor", "lines", 10),
    ("async", "eager", "signal", 20),
    ("off", "groups", "lines", 20),
]


def outcome(tier, program, kind, trials):
    command = [
        "-m",
        "tests.reliability.interrupts",
        "--tier",
        tier,
        "--program",
        program,
        "--kind",
        kind,
        "--trials",
        str(trials),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = forked_python.run(command, 900, environment, ROOT)
    assert done.stdout.strip(), done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1]), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tier, program, kind, trials", CASES)
def test_nothing_is_lost(tier, program, kind, trials):
    found, text = outcome(tier, program, kind, trials)
    assert found["interrupted"] > trials // 3, text
    assert not found["failures"], text


FIRST_LOOK = """
import os, signal, threading, time

import paddle_jax as paddle
from paddle_jax._core.process_group import startup_barrier

begin, turns = startup_barrier._Original.backends, []


def slow():
    turns.append(threading.Timer(600, print))  # as JAX does where there may be a TPU
    turns[-1].start()
    if len(turns) == 1:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1.0)
    turns[-1].cancel()
    return begin()


startup_barrier._Original.backends = slow
try:
    paddle.device.get_available_device()
except KeyboardInterrupt:
    print("interrupted")
print((paddle.ones([2]) + 1).tolist(), paddle.get_device())
"""


def test_an_interrupt_while_devices_start_leaves_no_timer():
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = forked_python.run(["-c", FIRST_LOOK], 120, environment, ROOT)
    assert done.stdout.splitlines() == ["interrupted", "[2.0, 2.0] cpu"], done.stderr
