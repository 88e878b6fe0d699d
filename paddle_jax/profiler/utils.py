"""Ranges of the user's in a recording, and reading a recording back."""

from __future__ import annotations

import contextlib
import functools as ft
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax.device import other_names
from paddle_jax.profiler.event_type import TracerEventType
from paddle_jax.profiler.recording import Recording, range_of
from paddle_jax.profiler.result import read

if TYPE_CHECKING:
    from paddle_jax.profiler.result import ProfilerResult


__all__ = []


class RecordEvent(contextlib.ContextDecorator):
    """A range of the program that appears in recordings under a name of the user's.

    Args:
        name: str.
        event_type: TracerEventType. Default PythonUserDefined.
    It works as a context manager, as a decorator, or by `begin()` and `end()`; while no Profiler records
    it does nothing.
    Example:
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
        ...     with paddle.profiler.RecordEvent("preparation"):
        ...         x = paddle.ones([2, 3])
    """

    def __init__(self, name: str, event_type: Any = TracerEventType.PythonUserDefined) -> None:
        self.name = name
        self.event_type = event_type
        self.event: Any = None
        self._start = None

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.end()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @ft.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> int:
            # One for each call, as a function may call itself.
            with RecordEvent(self.name, self.event_type):
                return function(*args, **kwargs)

        return wrapper

    def begin(self) -> None:
        """The range begins here."""
        if Recording.rows is not None:
            self._start = time.perf_counter_ns()
        else:
            self._start = None

    def end(self) -> None:
        """The range ends here."""
        rows = Recording.rows
        start = self._start
        self._start = None
        # A recording may have begun or ended within the range.
        if rows is not None and start is not None:
            rows.add(
                (range_of, self.name, self.event_type, start, time.perf_counter_ns(), threading.get_ident())
            )


def in_profiler_mode() -> bool:
    """Whether a recording is on.

    Example:
        >>> paddle.profiler.utils.in_profiler_mode()
        False
    """
    return Recording.rows is not None


def load_profiler_result(filename: str) -> ProfilerResult:
    """Reads a file that `Profiler.export(path, format="pb")` or `export_protobuf` wrote.

    Args:
        filename: str.
    Returns:
        The result, with `get_data()`: the trees of events by thread, `get_extra_info()`, and `events`.
    Raises:
        ValueError: it is no such file. OSError: it cannot be read. TypeError: the name is no text.
    Differs from Paddle: the format is our own (compressed JSON), and loading runs no code.
    Example:
        >>> import pathlib, tempfile
        >>> path = str(pathlib.Path(tempfile.mkdtemp()) / "steps.pb")
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda prof: prof.export(path, format="pb")) as prof:
        ...     with paddle.profiler.RecordEvent("range"):
        ...         pass
        >>> [event.name for event in paddle.profiler.load_profiler_result(path).find("range")]
        ['range']
    """
    return read(filename)


other_names.nvtx._event_class = RecordEvent
