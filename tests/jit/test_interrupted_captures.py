"""What is raised by a signal handler while a function is compiled."""

import signal

import pytest


class Notice(Exception):
    """An ordinary exception of a signal handler."""


@pytest.mark.filterwarnings("ignore:.*runs unobserved")
@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no such signal")
def test_what_a_handler_raises_in_a_branch_is_no_exception_of_the_branch(paddle):
    """A branch that raises becomes a check of the program, which would raise it at every later call."""
    notices = [Notice]

    def handler(number, frame):
        if notices:
            raise notices.pop()

    @paddle.jit.not_to_static
    def interrupted(x):
        signal.raise_signal(signal.SIGUSR1)
        return x * 2

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        if x.sum() > 0:
            return interrupted(x)
        return x

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Notice):
            step(paddle.ones([2]))
        assert step(paddle.ones([2])).tolist() == [2, 2]
    finally:
        signal.signal(signal.SIGUSR1, before)
