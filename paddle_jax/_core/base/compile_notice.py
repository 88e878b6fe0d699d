"""Says that the program waits for the compiler, when that takes long: one line on stderr."""

from __future__ import annotations

import _thread
import contextlib
import sys

from paddle_jax._core.base.caller_info import user_line

_DELAY = 1.0  # seconds before the line is shown
_WHAT = {
    "operation": "an operation",
    "segment": "the operations of a step",
    "to_static": "a to_static function",
    "executor": "a static program",
    "optimizer": "an optimizer step",
}


class CompileNotice:
    """A wait for the compiler, from `begin` to `end`.

    In a terminal or notebook the line disappears at the end. Elsewhere it stays, with a line break. The clock
    is a thread without the locks of `threading`, which an exception of a signal handler may leave taken.

    Attributes:
        is_enabled: bool, the value of FLAGS_compile_notice.
        tier: str, one of `counters.TIERS`.
    """

    is_enabled = True

    def __init__(self, tier: str) -> None:
        self.tier = tier
        self._line = ""
        self._is_waiting = False
        self._is_shown = False
        self._wait = _thread.allocate_lock()  # held while the program waits
        self._removed = _thread.allocate_lock()  # held until a line that was shown has been removed

    def begin(self) -> None:
        """Starts the clock."""
        if self.is_enabled and sys.stderr is not None:
            self._line = user_line()
            # Locks that are held stand for events: the end of the compilation, and of the clock.
            self._wait.acquire()
            self._removed.acquire()
            self._is_waiting = True
            _thread.start_new_thread(self._run_clock, ())

    def end(self) -> None:
        """Stops the clock, and waits until the line is removed. It may be called again."""
        if self._is_waiting:
            self._is_waiting = False
            self._wait.release()
            if self._is_shown:
                self._removed.acquire(timeout=_DELAY)

    def _run_clock(self) -> None:
        if self._wait.acquire(timeout=_DELAY):
            # It ended in time, so nothing is shown.
            return
        self._is_shown = True
        text = f"paddle_jax: compiling {_WHAT[self.tier]} at {self._line}, once for these shapes, then cached"
        if _is_live():
            _write(text)
            self._wait.acquire()
            _write("\r" + " " * len(text) + "\r")
        else:
            _write(text + "\n")
        self._removed.release()


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # a closed stream
        sys.stderr.write(text)
        sys.stderr.flush()


def _is_live() -> bool:
    """Whether somebody looks at stderr: it is a terminal, or the output of a notebook's cell."""
    if type(sys.stderr).__module__.partition(".")[0] == "ipykernel":
        return True
    with contextlib.suppress(AttributeError, ValueError):
        return sys.stderr.isatty()
    return False
