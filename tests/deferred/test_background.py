"""Another thread compiles what recurs while the program goes on in NumPy.

Unit tests of `_core.runner`.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.runner import background_compiler, compiled_segment, tiering
from paddle_jax._core.runner.background_compiler import compile_ahead
from tests.deferred import differential

pytestmark = pytest.mark.skipif(background_compiler.processors() < 2, reason="needs a second processor")
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {"deferred": "sync", "deferred_background": True, "deferred_min_repeats": 2}


class Gate:
    """Holds compilations back.

    Attributes:
        opened: Event; compilations wait for it.
        begun: Event, set by the first compilation.
        error: what compilations raise, or None.
    """

    def __init__(self):
        self.opened = threading.Event()
        self.begun = threading.Event()
        self.error = None

    def compile(self, function, arguments, tier, is_in_cache, is_inline):
        """In place of `compile_ahead`."""
        self.begun.set()
        assert self.opened.wait(60)
        if self.error is not None:
            raise self.error
        return compile_ahead(function, arguments, tier, is_in_cache, is_inline)


@pytest.fixture
def gate(monkeypatch):
    """A Gate, in a program that compiles in the background."""
    gate = Gate()
    monkeypatch.setattr(compiled_segment, "compile_ahead", gate.compile)
    compiled_segment.clear()
    with differential.tier(paddle_jax, **SETTINGS):
        yield gate
        gate.opened.set()
        finish()


def finish():
    """Waits until nothing is being compiled."""
    background_compiler._worker.submit(int).wait()


def line_of_known_gradients(paddle):
    """A Line whose steps record the same operations: nodes of the very first step keep more operands."""
    Line(paddle).step()
    return Line(paddle)


class Line:
    """Gradient descent on one weight; the loss of each step follows from the formula."""

    def __init__(self, paddle, size=8):
        self.paddle = paddle
        self.x = np.linspace(-1, 1, size)
        self.weight = paddle.to_tensor(2.0, dtype="float64", stop_gradient=False)
        self.number = 2.0

    def step(self):
        """One step; checks the loss."""
        x = self.paddle.to_tensor(self.x)
        loss = ((self.weight * x) ** 2).mean() + self.weight.exp() * 0.1
        (gradient,) = self.paddle.grad(loss, self.weight)
        self.weight = (self.weight - 0.1 * gradient).detach()
        self.weight.stop_gradient = False
        square = (self.x**2).mean()
        want = self.number**2 * square + np.exp(self.number) * 0.1
        np.testing.assert_allclose(float(loss), want, rtol=1e-12)
        self.number -= 0.1 * (2 * self.number * square + 0.1 * np.exp(self.number))


def test_steps_go_on_until_the_program_is_there(paddle, gate, count):
    line = Line(paddle)
    for _ in range(6):
        line.step()
    assert gate.begun.wait(60)
    count("hits")
    for _ in range(4):
        line.step()
    assert count("hits") == 0
    gate.opened.set()
    finish()
    for _ in range(4):
        line.step()
    assert count("hits") == 4
    assert paddle.explain().background_seconds > 0


def test_a_compilation_that_fails_changes_nothing(paddle, gate, count):
    gate.error = RuntimeError("no memory for the compiler")
    line = Line(paddle)
    for _ in range(6):
        line.step()
    gate.opened.set()
    finish()
    count("hits")
    for _ in range(4):
        line.step()
    assert count("hits") == 0
    assert any("no memory for the compiler" in event for event in paddle.explain().events)


def test_shapes_may_change_meanwhile(paddle, gate):
    small, large = Line(paddle), Line(paddle, 20)
    for _ in range(5):
        small.step()
    assert gate.begun.wait(60)
    for _ in range(5):
        large.step()
    gate.opened.set()
    finish()
    for _ in range(5):
        large.step()
        small.step()


def test_two_threads_train_meanwhile(paddle, gate):
    errors = []

    def train():
        try:
            line = Line(paddle)
            for _ in range(30):
                line.step()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=train) for _ in range(2)]
    for thread in threads:
        thread.start()
    gate.opened.set()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)


def test_a_program_that_runs_for_long_gets_a_better_one(paddle, gate, monkeypatch):
    monkeypatch.setattr(compiled_segment, "_RUN_PER_COMPILATION", 0)
    quick = {"xla_llvm_disable_expensive_passes": True}
    monkeypatch.setattr(compiled_segment, "quick_options", lambda: quick)
    gate.opened.set()
    line = line_of_known_gradients(paddle)
    compiled_segment.clear()
    for _ in range(2):
        line.step()
        finish()
    program = next(iter(compiled_segment._Cache.programs.values()))
    quick_program = program.program
    assert program.better is not None
    for _ in range(4):
        line.step()
        finish()
    assert program.better is None and program.program is not quick_program


def test_one_operation_is_interpreted_until_it_is_compiled(paddle, monkeypatch):
    states, compiled = [], []
    make, compile_operation = tiering.TierState, tiering._compile_operation
    monkeypatch.setattr(tiering, "TierState", lambda plan: states.append(make(plan)) or states[-1])
    monkeypatch.setattr(tiering, "_compile_operation", lambda s: compiled.append(compile_operation(s)))
    x = np.random.RandomState(0).uniform(-1, 1, (40, 31))
    with differential.tier(paddle_jax, **SETTINGS):
        paddle.logsumexp(paddle.to_tensor(x)).item()
        (state,) = states
        state.wasted = 1e9
        for _ in range(3):
            np.testing.assert_allclose(paddle.logsumexp(paddle.to_tensor(x)).item(), np.log(np.exp(x).sum()))
            finish()
    assert len(compiled) == 1
    assert state.job.done and state.job.error is None


def test_without_the_flag_the_step_waits(paddle, gate, count):
    gate.opened.set()
    with differential.tier(paddle_jax, **SETTINGS | {"deferred_background": False}):
        line = line_of_known_gradients(paddle)
        count("hits")
        for _ in range(6):
            line.step()
        assert count("hits") >= 4 and not gate.begun.is_set()


ENDING = """
import atexit, os, sys, threading, time
import paddle_jax as paddle
from paddle_jax._core.runner import compiled_segment
atexit.register(lambda: print("hook", flush=True))
x, w = paddle.rand([32, 32]), paddle.rand([32, 32])
w.stop_gradient = False
compile_ahead = compiled_segment.compile_ahead
begun = threading.Event()
def slow(function, arguments, tier, is_in_cache, is_inline):
    begun.set()
    time.sleep(0.5)
    return compile_ahead(function, arguments, tier, is_in_cache, is_inline)
compiled_segment.compile_ahead = slow
while not begun.is_set():
    y = x
    for i in range(30):
        y = paddle.tanh(y @ w) * paddle.cos(y + i)
    y.sum().backward()
    float(w.grad[0, 0])
    w.clear_gradient()
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        os._exit(7)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if sys.argv[1] == "error":
    raise ValueError("of the program")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize(("how", "status"), [("0", 0), ("3", 3), ("error", 1), ("fork", 7)])
def test_the_process_ends_as_usual_while_something_is_compiled(how, status):
    environment = os.environ | {"FLAGS_deferred_background": "1", "FLAGS_deferred_min_repeats": "2"}
    done = subprocess.run(
        [sys.executable, "-c", ENDING, how],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert done.stdout == "hook\n"
    assert ("ValueError: of the program" in done.stderr) == (how == "error")
    assert "terminate" not in done.stderr and "FATAL" not in done.stderr
