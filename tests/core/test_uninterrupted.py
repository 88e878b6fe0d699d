"""Blocks and hand-overs that no exception cuts in two.

Unit tests of `_core.base` and `_core.tape.grad_mode`.
"""

import contextlib
import sys
import threading

import pytest

from paddle_jax._core.base import caller_info, interrupt_safe
from paddle_jax._core.base.interrupt_safe import set_all, swapped_attributes


class Thing:
    def __init__(self):
        self.a, self.b = 1, 2


class Stop(Exception):
    pass


def raising_at(limit):
    """A tracing hook that raises at the limit-th line of the module, and counts them."""
    counts = [0]

    def local(frame, event, arg):
        counts[0] += event == "line"
        if event == "line" and counts[0] == limit:
            raise Stop
        return local

    return (
        (lambda frame, event, arg: local if frame.f_code.co_filename == interrupt_safe.__file__ else None),
        counts,
    )


def enter_and_leave(thing):
    with swapped_attributes(thing, a=10, b=20):
        assert (thing.a, thing.b) == (10, 20)


def test_block_is_left_whatever_line_is_hit():
    hook, counts = raising_at(-1)
    sys.settrace(hook)
    enter_and_leave(Thing())
    sys.settrace(None)
    assert counts[0] > 5
    for limit in range(1, counts[0] + 1):
        thing = Thing()
        sys.settrace(raising_at(limit)[0])
        try:
            with pytest.raises(Stop):
                enter_and_leave(thing)
        finally:
            sys.settrace(None)
        assert (thing.a, thing.b) == (1, 2), limit


def test_blocks_nest_and_can_be_used_again():
    thing = Thing()
    block = swapped_attributes(thing, a=10)
    with block, swapped_attributes(thing, a=11), block:
        assert thing.a == 10
    assert thing.a == 1
    block.__enter__()
    assert thing.a == 10
    block.__exit__(None, None, None)
    assert thing.a == 1
    with contextlib.ExitStack() as stack:
        stack.enter_context(block)
        assert thing.a == 10
    assert thing.a == 1


def test_exceptions_pass_through():
    thing = Thing()
    with pytest.raises(KeyError), swapped_attributes(thing, a=10):
        raise KeyError
    assert thing.a == 1


def test_hand_out():
    things = [Thing(), Thing()]
    set_all(lambda thing, value: setattr(thing, "a", value), things, [5, 6])
    assert [t.a for t in things] == [5, 6]


def test_foreign():
    def raised(error):
        try:
            raise error
        except BaseException as caught:
            return caught

    assert caller_info.is_unrelated_error(raised(ValueError("of a handler, whose code is here")))
    assert caller_info.is_unrelated_error(KeyboardInterrupt())
    assert caller_info.is_unrelated_error(MemoryError())
    try:
        import jax

        jax.numpy.zeros((2, 3)) @ jax.numpy.zeros((2, 3))
    except TypeError as error:
        assert not caller_info.is_unrelated_error(error)


def test_grad_mode_comes_back_whatever_line_is_hit(paddle):
    from paddle_jax._core.tape import grad_mode

    def work():
        with paddle.no_grad():
            return paddle.is_grad_enabled()

    for limit in range(1, 30):
        counts = [0]

        def local(frame, event, arg, counts=counts, limit=limit):
            counts[0] += event == "line"
            if event == "line" and counts[0] == limit:
                raise Stop
            return local

        def hook(frame, event, arg, local=local):
            return (
                local if frame.f_code.co_filename in (grad_mode.__file__, interrupt_safe.__file__) else None
            )

        sys.settrace(hook)
        with contextlib.suppress(Stop):
            work()
        sys.settrace(None)
        assert paddle.is_grad_enabled(), limit


def test_a_call_in_another_thread_is_settled_at_any_time():
    done = threading.Event()
    begun = interrupt_safe.ShieldedThread(done.set)
    begun.start()
    assert done.wait(20)
    for _ in range(2):
        begun.finish_or_cancel()
    # what it raised is kept with its traceback: that must not keep the waiter waiting
    failing = interrupt_safe.ShieldedThread(lambda: 1 // 0)
    failing.start()
    waiting = threading.Thread(target=failing.wait, daemon=True)
    waiting.start()
    waiting.join(20)
    assert not waiting.is_alive() and isinstance(failing.error, ZeroDivisionError)
    early = interrupt_safe.ShieldedThread(lambda: pytest.fail("given up before it began"))
    # the first time may itself be interrupted, and the next user of the program asks again
    for _ in range(2):
        waiting = threading.Thread(target=early.finish_or_cancel, daemon=True)
        waiting.start()
        waiting.join(20)
        assert not waiting.is_alive()
    early.start()
    assert early.error is None


def test_a_lock_is_free_again_whatever_line_of_a_wait_is_hit():
    for limit in range(1, 12):
        running = interrupt_safe.ShieldedThread(int)
        running.start()
        running.wait()
        sys.settrace(raising_at(limit)[0])
        with contextlib.suppress(Stop):
            running.wait()
        sys.settrace(None)
        waiting = threading.Thread(target=running.wait, daemon=True)
        waiting.start()
        waiting.join(20)
        assert not waiting.is_alive(), limit
