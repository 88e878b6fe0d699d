"""The queue of checks, guards of values of the host, what is raised while guards are checked, and what
changes right after a capture.

Unit tests of `_core.kernels.value_checks`, `_core.lazy.lazy_array`, `_program.guards` and `_program.capture`.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from paddle_jax._core.kernels import value_checks
from paddle_jax._core.kernels.value_checks import PendingChecks
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._program.capture.compiled_function import CompiledFunction
from paddle_jax._program.guards.guard_set import GuardFailure, Reason
from paddle_jax._program.guards.operand_guards import HostValueGuard
from paddle_jax._program.guards.read_guards import ReadGuards


@pytest.mark.parametrize("failed", [0, 1])
def test_checks_of_a_program_that_is_done_before_an_earlier_one(monkeypatch, failed):
    """Checks of three numbers are found in the queue behind others, which still wait."""
    monkeypatch.setattr(PendingChecks, "queue", [])
    waiting = LazyArray.__new__(LazyArray)
    waiting.array = None
    checks = [(2, lambda least, greatest: ValueError(f"embedding: {least} to {greatest}"), "here")]
    value_checks.enqueue_results(waiting, checks)
    if failed:
        with pytest.raises(ValueError, match="embedding: 3 to 9; at here"):
            value_checks.enqueue_results(np.array([1, 3, 9]), checks)
    else:
        value_checks.enqueue_results(np.array([0, 3, 9]), checks)
    assert [raw for raw, _ in PendingChecks.queue] == [waiting]


@pytest.mark.parametrize(
    ("before", "now", "holds"),
    [
        (np.array([0.5, 7.0]), np.array([0.5, 7.0]), True),
        (np.array([0.5, 7.0]), np.array([0.5, 8.0]), False),
        (np.array([0.5, 7.0]), np.array([0.5, 7.0], "float32"), False),
        (np.array([0.5, 7.0]), np.array([0.5]), False),
        (np.array([0.5, 7.0]), 0.5, False),
        ([1.0, np.ones(2)], [2.0, np.ones(2)], False),
        ([1.0, np.ones(2)], [1.0, np.zeros(2)], False),
        ((1.0, "a", None), (1.0, "a", None), True),
        (float("nan"), float("nan"), True),
        (np.array([0.5, np.nan]), np.array([0.5, np.nan]), True),
        (0.0, -0.0, False),
        (Fraction(1, 10), Fraction(1, 10), True),
        (Fraction(1, 10), Fraction(1, 5), False),
    ],
)
def test_values_of_the_host_may_be_arrays(before, now, holds):
    """Rates of a scheduler and choices of parameters are compared at each call, whatever they are."""
    reason = HostValueGuard([(lambda: now, before)]).check()
    assert (reason is None) == holds


class Notice(Exception):
    """An ordinary exception of a signal handler."""


def test_an_exception_of_somebody_else_is_not_taken_for_a_change():
    guards, raising = ReadGuards(), []

    def read():
        if raising:
            raise Notice
        return 1

    guards.guard_content(read, read, "a thing")
    assert guards.check() is None
    raising.append(1)
    with pytest.raises(Notice):
        guards.check()


def test_what_is_gone_is_a_change():
    guards, store = ReadGuards(), {"a": 1}
    guards.guard_content(store, lambda: store["a"], "a thing")
    store.clear()
    assert "gone" in str(guards.check())


def test_a_change_between_capture_and_call(paddle, monkeypatch):
    """The call computes what Python would, and the next one is compiled."""
    net = paddle.nn.Linear(3, 2)
    opt = paddle.optimizer.SGD(0.5, parameters=net.parameters())

    def step(x):
        loss = net(x).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    compiled, x = paddle.jit.to_static(step), paddle.ones([4, 3])
    before, plain, changes = net.weight.numpy(), CompiledFunction.operands, ["a change"]

    def operands(program, tensors):
        if changes:
            raise GuardFailure(Reason("test", changes.pop()))
        return plain(program, tensors)

    monkeypatch.setattr(CompiledFunction, "operands", operands)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(x)
    assert not changes
    assert net.weight.numpy() == pytest.approx(before - 2.0)
    compiled(x)
    assert net.weight.numpy() == pytest.approx(before - 4.0)
