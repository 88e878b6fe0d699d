"""Streams and events. XLA orders its work itself: every stream is the order in which things are called, and
an Event is a moment in it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.place import current, parse, set_device
from paddle_jax.device.memory import accelerator, wait

if TYPE_CHECKING:
    from paddle_jax.base.libpaddle import CUDAStream


__all__ = ["Event", "Stream", "current_stream", "set_stream", "stream_guard"]


class Event:
    """A moment in the work of an accelerator.

    Args:
        enable_timing, blocking, interprocess: accepted.
    Raises:
        RuntimeError, NameError: there is no accelerator.
    Differs from Paddle: `record` waits for what was started before, so that `elapsed_time` is right.
    Example:
        >>> if paddle.device.is_available():
        ...     begin, end = paddle.device.Event(), paddle.device.Event()
        ...     begin.record()
        ...     x = paddle.ones([2]) + 1
        ...     end.record()
        ...     milliseconds = begin.elapsed_time(end)
    """

    _kind = ""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self._device = accelerator(None, self._kind, type(self).__name__)
        self._time = None

    def record(self, stream: Any = None) -> None:
        """This moment is now, when everything before it is done."""
        wait(self._device if stream is None else stream._device)
        self._time = time.perf_counter()

    def query(self) -> bool:
        """Whether the moment has come: True, since `record` waits."""
        return True

    def synchronize(self) -> Any:
        """Waits until the moment has come."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from this moment to another one.

        Raises:
            RuntimeError: one of them has not been recorded.
        """
        if self._time is None or end_event._time is None:
            raise RuntimeError("Event.elapsed_time: an event has not been recorded; call record() on both")
        return 1000 * (end_event._time - self._time)


class Stream:
    """An order of work on an accelerator; there is one per device, whatever is asked for.

    Args:
        device: None, a number, "gpu:0" or a Place. priority, stream_base: accepted.
    Raises:
        RuntimeError, NameError: there is no accelerator.
    Example:
        >>> if paddle.device.is_available():
        ...     paddle.device.Stream().synchronize()
    """

    _kind = ""

    def __init__(self, device: Any = None, priority: Any = 2, stream_base: Any = None) -> None:
        self._device = accelerator(device, self._kind, type(self).__name__)

    @property
    def device(self) -> Any:
        """The Place."""
        return parse(self._device)

    def query(self) -> bool:
        """Whether everything is done; waits for it."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """Waits until everything is done."""
        wait(self._device)

    def record_event(self, event: Any = None) -> Any:
        """An Event of this moment.

        Args:
            event: Event to record, or None for a new one.
        """
        if event is None:
            event = Event()
        event.record(self)
        return event

    def wait_event(self, event: Any) -> Any:
        """What is started from now on begins after an Event: always so."""

    def wait_stream(self, stream: Any) -> Any:
        """What is started from now on begins after what another Stream has: always so."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._device == other._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"<paddle.device.Stream device={self.device}>"


class _Current:
    stream = None


def current_stream(device: Any = None) -> Stream:
    """The Stream of a device.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        Stream.
    Raises:
        TypeError, ValueError: there is no such accelerator.
    Example:
        >>> if paddle.device.is_available():
        ...     paddle.device.current_stream().synchronize()
    """
    return Stream(device)


def set_stream(stream: Any) -> Stream:
    """Makes a Stream the current one.

    Args:
        stream: Stream.
    Returns:
        Stream, the one before.
    Raises:
        AttributeError: it is no Stream.
    Example:
        >>> if paddle.device.is_available():
        ...     previous = paddle.device.set_stream(paddle.device.Stream())
    """
    if not isinstance(stream, Stream):
        raise AttributeError(f"set_stream: stream: got {type(stream).__name__}; it must be a Stream")
    before = _Current.stream or current_stream()
    _Current.stream = stream
    return before


class stream_guard:
    """Context in which a Stream is the current one; None changes nothing.

    New Tensors are put on the device of the Stream.

    Args:
        stream: Stream or None.
    Example:
        >>> with paddle.device.stream_guard(None):
        ...     paddle.ones([1]).item()
        1.0
    """

    def __init__(self, stream: CUDAStream | None = None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self._before = set_stream(self.stream)
            self._device = current()
            # A stream of another device brings its device along.
            if self.stream.device != self._device:
                set_device(self.stream.device)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if self.stream is not None:
            _Current.stream = self._before
            if self._device != current():
                set_device(self._device)
