"""Exceptions of signal handlers that come while JAX's Python code runs.

JAX has bare `except` clauses, and Python prints an exception in the callback of a weak reference and goes on:
an interrupt at such a point would be lost. So proxies stand for the handlers during a trace, and its end
raises what a library has swallowed.
"""

from __future__ import annotations

# as `signal`, without names for the numbers, which cost 1 us for each of 64
import _signal  # pyright: ignore[reportMissingImports]
import collections
import signal
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.caller_info import LIBRARIES, package_of

_SWALLOWING = frozenset((*LIBRARIES, "weakref", "functools", "dataclasses"))


class HandlerProxy:
    """Stands for a signal handler, and records what it raises.

    Attributes:
        handler: the signal handler.
        block: the ObservedHandlers that set the proxy.
    """

    def __init__(
        self, handler: Callable[[int, types.FrameType | None], Any], block: ObservedHandlers
    ) -> None:
        self.handler = handler
        self.block = block

    def __call__(self, number: int, frame: types.FrameType | None) -> Any:
        try:
            return self.handler(number, frame)
        except BaseException as error:
            self.block.raised.append(error)
            raise


class ObservedHandlers:
    """The handlers of this program for the length of a block; `steps` is for an AtomicContext.

    Attributes:
        raised: list of exceptions that handlers raised in the block.
        open: bool, whether the block runs.
    """

    def __init__(self) -> None:
        self._proxies: dict[int, HandlerProxy] = {}
        self.raised: list[BaseException] = []
        self.open = False

    def steps(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """The calls that enter the block, and those that leave it.

        Python handles signals in the main thread only. A block within a block leaves them to the outer one.
        """
        if threading.get_ident() != threading.main_thread().ident:
            return [], []
        for number in range(1, signal.NSIG):
            handler: Any = _signal.getsignal(number)
            if not callable(handler):
                continue
            if isinstance(handler, HandlerProxy):
                if handler.block.open:
                    return [], []
                # an exception came between the end of a block and the calls that put handlers back
                handler = handler.handler
            self._proxies[number] = HandlerProxy(handler, self)
        proxies = list(self._proxies.items())
        enter: list[tuple[Any, ...]] = [(setattr, self, "open", True)]
        if proxies:
            enter.insert(0, (collections.deque, map(_signal.signal, *zip(*proxies, strict=True)), 0))
        return enter, [(setattr, self, "open", False), (self._close,)]

    def _close(self) -> None:
        """Puts the handlers back and raises what was swallowed.

        A handler that the program has set since stays.
        """
        for number, proxy in self._proxies.items():
            if _signal.getsignal(number) is proxy:
                _signal.signal(number, proxy.handler)
        current = sys.exc_info()[1]
        for error in self.raised:
            if error is not current and was_swallowed(error):
                raise error from None


def is_from_signal_handler(error: BaseException) -> bool:
    """Whether a signal handler has raised an exception, or Python for lack of memory.

    Such an exception has nothing to do with the code that it came through.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not HandlerProxy.__call__.__code__:
        trace = trace.tb_next
    return trace is not None or type(error) is MemoryError


def was_swallowed(error: BaseException) -> bool:
    """Whether the code of a library caught an exception: the outermost function that it came through."""
    trace = error.__traceback__
    return trace is not None and package_of(trace.tb_frame.f_globals) in _SWALLOWING
