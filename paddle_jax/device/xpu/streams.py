"""Streams and events of XPUs."""

from __future__ import annotations

from typing import Any

from paddle_jax.device import streams as shared

__all__ = ["Event", "Stream"]


class Event(shared.Event):
    """A moment in the work of an XPU; see paddle.device.Event.

    Example:
        >>> if paddle.device.xpu.device_count():
        ...     event = paddle.device.xpu.Event()
    """

    _kind = "xpu"

    def __init__(self) -> None:
        super().__init__()


class Stream(shared.Stream):
    """The order of work on an XPU; see paddle.device.Stream.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Example:
        >>> if paddle.device.xpu.device_count():
        ...     stream = paddle.device.xpu.Stream()
    """

    _kind = "xpu"

    def __init__(self, device: Any = None) -> None:
        super().__init__(device)
