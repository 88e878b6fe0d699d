"""What is raised while the guards of a compiled function are looked at, and what changes right
after its capture."""

import signal
import warnings

import jax
import pytest

from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._program.capture.compiled_function import CompiledFunction
from paddle_jax._program.guards.guard_set import GuardFailure, Reason
from paddle_jax._program.guards.read_guards import ReadGuards


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


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no such signal")
def test_what_a_handler_raises_in_a_branch_is_no_exception_of_the_branch(paddle):
    """A branch that raises becomes a check of the program, which would raise it ever after."""
    from paddle_jax.jit.dy2static import cond

    def handler(number, frame):
        raise Notice

    def first():
        signal.raise_signal(signal.SIGUSR1)
        return x * 2

    x, before = paddle.ones([2]), signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Notice), preserved_tracing():
            jax.jit(lambda a: cond(paddle.to_tensor(a) > 0, first, lambda: x))(1.0)
    finally:
        signal.signal(signal.SIGUSR1, before)
