"""Facts about accelerators that Paddle has no name for, such as TPUs; where there are none, questions
raise ValueError."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.tensors.place import parse
from paddle_jax.device import memory, streams

__all__ = [
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "get_device_properties",
    "synchronize",
]


class Event(streams.Event):
    """A moment in the work of a device, e.g. Event("tpu"); see paddle.device.Event."""

    _kind = "custom_device"

    def __init__(
        self,
        device: Any,
        device_id: Any = -1,
        enable_timing: Any = False,
        blocking: Any = False,
        interprocess: Any = False,
    ) -> None:
        super().__init__()
        self._device = _of(device, device_id)

    @property
    def place(self) -> Any:
        """The Place."""
        return parse(self._device)


class Stream(streams.Stream):
    """The order of work on a device, e.g. Stream("tpu", 0); see paddle.device.Stream."""

    _kind = "custom_device"

    def __init__(self, device: Any, device_id: Any = -1, priority: Any = 2, blocking: Any = False) -> None:
        super().__init__()
        self._device = _of(device, device_id)

    @property
    def place(self) -> Any:
        """The Place."""
        return parse(self._device)


def _of(device: Any, device_id: Any) -> Any:
    if not isinstance(device, str):
        raise TypeError(f"device: got {type(device).__name__}; it must be a text such as 'tpu'")
    return memory.accelerator(device if device_id < 0 else f"{device}:{device_id}", "custom_device", "Stream")


def current_stream(device: Any = None) -> Stream:
    """The Stream of a device."""
    place = parse(memory.accelerator(device, "custom_device", "current_stream"))
    return Stream(place.get_device_type(), place.get_device_id())


def device_count(device_type: Any = None) -> int:
    """The number of devices of a kind, e.g. "tpu"; of all kinds for None."""
    return len([d for d in memory.devices("custom_device") if device_type in (None, d.platform)])


def empty_cache() -> None:
    """Frees what only dead Python objects hold; XLA keeps the memory in its pool."""
    memory.collect()


def synchronize(device: Any = None) -> None:
    """Waits until everything started on the device is done."""
    memory.wait(memory.accelerator(device, "custom_device", "synchronize"))


def memory_allocated(device: Any = None) -> int:
    """Bytes in use by arrays on the device."""
    return memory.now(memory.accelerator(device, "custom_device", "memory_allocated"), "allocated")


def memory_reserved(device: Any = None) -> int:
    """Bytes the allocator holds on the device."""
    return memory.now(memory.accelerator(device, "custom_device", "memory_reserved"), "reserved")


def max_memory_allocated(device: Any = None) -> Any:
    """The most bytes that were in use, since the last reset."""
    return memory.most(memory.accelerator(device, "custom_device", "max_memory_allocated"), "allocated")


def max_memory_reserved(device: Any = None) -> Any:
    """The most bytes that the allocator held, since the last reset."""
    return memory.most(memory.accelerator(device, "custom_device", "max_memory_reserved"), "reserved")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Restarts the count of the most bytes in use."""
    memory.reset(memory.accelerator(device, "custom_device", "reset_max_memory_allocated"), "allocated")


def reset_max_memory_reserved(device: Any = None) -> None:
    """Restarts the count of the most bytes held."""
    memory.reset(memory.accelerator(device, "custom_device", "reset_max_memory_reserved"), "reserved")


def get_device_properties(device: Any = None) -> Any:
    """Name, compute capability (0, 0), total memory in bytes and number of cores, as a named tuple."""
    return memory.properties(memory.accelerator(device, "custom_device", "get_device_properties"))
