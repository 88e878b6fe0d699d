"""Streams and events of GPUs."""

from paddle_jax.device import streams as shared

__all__ = ["Event", "Stream"]


class Event(shared.Event):
    """A moment in the work of a GPU; see paddle.device.Event."""

    _kind = "cuda"


class Stream(shared.Stream):
    """The order of work on a GPU; see paddle.device.Stream."""

    _kind = "cuda"

    def __init__(self, device=None, priority=2):
        super().__init__(device, priority)
