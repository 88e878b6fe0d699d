"""Streams and events of GPUs."""

from __future__ import annotations

from typing import Any

from paddle_jax.device import streams as shared

__all__ = ["Event", "Stream"]


class Event(shared.Event):
    """A moment in the work of a GPU; see paddle.device.Event.

    Args:
        enable_timing, blocking, interprocess: accepted.
    Example:
        >>> if paddle.device.cuda.device_count():
        ...     event = paddle.device.cuda.Event()
    """

    _kind = "cuda"


class Stream(shared.Stream):
    """The order of work on a GPU; see paddle.device.Stream.

    Args:
        device: None, a number, "gpu:0" or a Place.
        priority: accepted.
    Example:
        >>> if paddle.device.cuda.device_count():
        ...     stream = paddle.device.cuda.Stream()
    """

    _kind = "cuda"

    def __init__(self, device: Any = None, priority: Any = 2) -> None:
        super().__init__(device, priority)
