"""Facts about XPUs under Paddle's names, where JAX sees any; else the counts are 0 and questions
raise ValueError."""

from __future__ import annotations


from typing import Any
from paddle_jax.device import memory
from paddle_jax.device.xpu.streams import Event, Stream

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
    "memory_total",
    "memory_used",
    "synchronize",
]


def current_stream(device: Any = None) -> Stream:
    """The Stream of an XPU.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        Stream.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> streams = [paddle.device.xpu.current_stream(i) for i in range(paddle.device.xpu.device_count())]
    """
    return Stream(device)


def device_count() -> int:
    """The number of XPUs.

    Returns:
        int.
    Example:
        >>> paddle.device.xpu.device_count() >= 0
        True
    """
    return len(memory.devices("xpu"))


def empty_cache() -> None:
    """Frees what only dead Python objects hold; XLA keeps the memory in its pool.

    Example:
        >>> if paddle.device.xpu.device_count():
        ...     paddle.device.xpu.empty_cache()
    """
    memory.accelerator(None, "xpu", "empty_cache")
    memory.collect()


def synchronize(device: Any = None) -> None:
    """Waits until everything started on the XPU is done.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> for number in range(paddle.device.xpu.device_count()):
        ...     paddle.device.xpu.synchronize(number)
    """
    memory.wait(memory.accelerator(device, "xpu", "synchronize"))


def memory_allocated(device: Any = None) -> int:
    """Bytes in use by arrays on the XPU.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> count = paddle.device.xpu.device_count()
        >>> all(paddle.device.xpu.memory_allocated(i) >= 0 for i in range(count))
        True
    """
    return memory.now(memory.accelerator(device, "xpu", "memory_allocated"), "allocated")


def memory_reserved(device: Any = None) -> int:
    """Bytes the allocator holds on the XPU.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> count = paddle.device.xpu.device_count()
        >>> all(paddle.device.xpu.memory_reserved(i) >= 0 for i in range(count))
        True
    """
    return memory.now(memory.accelerator(device, "xpu", "memory_reserved"), "reserved")


def max_memory_allocated(device: Any = None) -> Any:
    """The most bytes that were in use, since the last reset.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> count = paddle.device.xpu.device_count()
        >>> all(paddle.device.xpu.max_memory_allocated(i) >= 0 for i in range(count))
        True
    """
    return memory.most(memory.accelerator(device, "xpu", "max_memory_allocated"), "allocated")


def max_memory_reserved(device: Any = None) -> Any:
    """The most bytes that the allocator held, since the last reset.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> count = paddle.device.xpu.device_count()
        >>> all(paddle.device.xpu.max_memory_reserved(i) >= 0 for i in range(count))
        True
    """
    return memory.most(memory.accelerator(device, "xpu", "max_memory_reserved"), "reserved")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Begins to count the most bytes in use again.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> for number in range(paddle.device.xpu.device_count()):
        ...     paddle.device.xpu.reset_max_memory_allocated(number)
    """
    memory.reset(memory.accelerator(device, "xpu", "reset_max_memory_allocated"), "allocated")


def reset_max_memory_reserved(device: Any = None) -> None:
    """Begins to count the most bytes held again.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> for number in range(paddle.device.xpu.device_count()):
        ...     paddle.device.xpu.reset_max_memory_reserved(number)
    """
    memory.reset(memory.accelerator(device, "xpu", "reset_max_memory_reserved"), "reserved")


def memory_total(device: Any = None) -> int:
    """Bytes of memory that XLA may use on the XPU.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> count = paddle.device.xpu.device_count()
        >>> all(paddle.device.xpu.memory_total(i) >= 0 for i in range(count))
        True
    """
    return memory.stat(memory.accelerator(device, "xpu", "memory_total"), "bytes_limit")


def memory_used(device: Any = None) -> int:
    """Bytes in use on the XPU.

    Args:
        device: None, a number, "xpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such XPU.
    Example:
        >>> count = paddle.device.xpu.device_count()
        >>> all(paddle.device.xpu.memory_used(i) >= 0 for i in range(count))
        True
    """
    return memory.now(memory.accelerator(device, "xpu", "memory_used"), "allocated")
