"""GPU facts under Paddle's names. On a machine without a GPU the counts are 0 and questions about a GPU
raise ValueError."""

from __future__ import annotations


from typing import Any
from typing import TYPE_CHECKING
from paddle_jax.device import memory
from paddle_jax.device.cuda.streams import Event, Stream
from paddle_jax.device.streams import stream_guard

if TYPE_CHECKING:
    from paddle_jax.base.libpaddle import CPUPlace


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
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "memory_summary",
    "stream_guard",
    "synchronize",
]


def current_stream(device: Any = None) -> Stream:
    """The Stream of a GPU."""
    return Stream(device)


def device_count() -> int:
    """The number of GPUs."""
    return len(memory.devices("cuda"))


def empty_cache() -> None:
    """Frees what only dead Python objects hold; XLA keeps the memory in its pool."""
    memory.collect()


def synchronize(device: Any = None) -> None:
    """Waits until everything started on the GPU is done."""
    memory.wait(memory.accelerator(device, "cuda", "synchronize"))


def memory_allocated(device: CPUPlace | int | None = None) -> int:
    """Bytes in use by arrays on the GPU."""
    return memory.now(memory.accelerator(device, "cuda", "memory_allocated"), "allocated")


def memory_reserved(device: Any = None) -> int:
    """Bytes the allocator holds on the GPU."""
    return memory.now(memory.accelerator(device, "cuda", "memory_reserved"), "reserved")


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use, since the last reset."""
    return memory.most(memory.accelerator(device, "cuda", "max_memory_allocated"), "allocated")


def max_memory_reserved(device: Any = None) -> Any:
    """The most bytes that the allocator held, since the last reset."""
    return memory.most(memory.accelerator(device, "cuda", "max_memory_reserved"), "reserved")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Begins to count the most bytes in use anew."""
    memory.reset(memory.accelerator(device, "cuda", "reset_max_memory_allocated"), "allocated")


def reset_max_memory_reserved(device: Any = None) -> None:
    """Begins to count the most bytes held anew."""
    memory.reset(memory.accelerator(device, "cuda", "reset_max_memory_reserved"), "reserved")


def memory_summary(device: Any = None) -> None:
    """Prints XLA's figures of the memory of the GPU."""
    print(memory.summary(memory.accelerator(device, "cuda", "memory_summary")))


def get_device_name(device: Any = None) -> str:
    """The name of the GPU, e.g. "NVIDIA H200"."""
    return memory.accelerator(device, "cuda", "get_device_name").device_kind


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability as (major, minor)."""
    return memory.capability(memory.accelerator(device, "cuda", "get_device_capability"))


def get_device_properties(device: Any = None) -> Any:
    """Name, compute capability, total memory in bytes and number of multiprocessors of the GPU,
    as a named tuple."""
    return memory.properties(memory.accelerator(device, "cuda", "get_device_properties"))
