"""Exceptions of signal handlers that come while JAX's Python code runs.

JAX has bare `except` clauses, and Python prints what is raised in the callback of a weak reference and goes
on: an interrupt that falls there would be lost. So the handlers are listened to for the length of a trace,
and what a library has kept to itself is raised at its end.
"""

# as `signal`, without names for the numbers, which cost 1 us for each of 64
import _signal  # pyright: ignore[reportMissingImports]
import collections
import signal
import sys
import threading

from paddle_jax._core.base.caller_info import LIBRARIES, package_of

_KEEPING = frozenset((*LIBRARIES, "weakref", "functools", "dataclasses"))


class Listener:
    """Stands for a signal handler, and keeps what it raises for the block that it was set by."""

    def __init__(self, handler, block):
        self.handler, self.block = handler, block

    def __call__(self, number, frame):
        try:
            return self.handler(number, frame)
        except BaseException as error:
            self.block.raised.append(error)
            raise


class Handlers:
    """The handlers of this program for the length of a block: `steps` is what `uninterrupted.Block` wants.

    open: whether the block is being run. raised: what handlers raised in it.
    """

    def __init__(self):
        self._listeners, self.raised, self.open = {}, [], False

    def steps(self):
        """What entering and leaving call. Signals are handled in the main thread only; a block within a block
        leaves it to the outer one."""
        if threading.get_ident() != threading.main_thread().ident:
            return [], []
        for number in range(1, signal.NSIG):
            handler = _signal.getsignal(number)
            if callable(handler):
                if type(handler) is Listener:
                    if handler.block.open:
                        return [], []
                    # left behind where an exception fell between leaving a block and putting the handlers
                    # back
                    handler = handler.handler
                self._listeners[number] = Listener(handler, self)
        listeners = list(self._listeners.items())
        enter = (
            [(collections.deque, map(_signal.signal, *zip(*listeners, strict=True)), 0)] if listeners else []
        )
        return [*enter, (setattr, self, "open", True)], [(setattr, self, "open", False), (self._close,)]

    def _close(self):
        """Puts the handlers back, unless the program has set others since, and raises what
        nobody was told."""
        for number, listener in self._listeners.items():
            if _signal.getsignal(number) is listener:
                _signal.signal(number, listener.handler)
        error = sys.exc_info()[1]
        for raised in self.raised:
            if raised is not error and kept_back(raised):
                raise raised from None


def of_a_handler(error):
    """Whether a signal handler has raised an exception, or Python for lack of memory: it has nothing to do
    with the code that it came through."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not Listener.__call__.__code__:
        trace = trace.tb_next
    return trace is not None or type(error) is MemoryError


def kept_back(error):
    """Whether an exception was caught by the code of a library: the outermost function that
    it came through."""
    return error.__traceback__ is not None and package_of(error.__traceback__.tb_frame.f_globals) in _KEEPING
