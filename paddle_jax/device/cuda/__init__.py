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
    """The Stream of a GPU.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        Stream.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> streams = [paddle.device.cuda.current_stream(i) for i in range(paddle.device.cuda.device_count())]
    """
    return Stream(device)


def device_count() -> int:
    """The number of GPUs.

    Returns:
        int.
    Example:
        >>> paddle.device.cuda.device_count() >= 0
        True
    """
    return len(memory.devices("cuda"))


def empty_cache() -> None:
    """Frees what only dead Python objects hold; XLA keeps the memory in its pool.

    Example:
        >>> paddle.device.cuda.empty_cache()
    """
    memory.collect()


def synchronize(device: Any = None) -> None:
    """Waits until everything started on the GPU is done.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> for number in range(paddle.device.cuda.device_count()):
        ...     paddle.device.cuda.synchronize(number)
    """
    memory.wait(memory.accelerator(device, "cuda", "synchronize"))


def memory_allocated(device: CPUPlace | int | None = None) -> int:
    """Bytes in use by arrays on the GPU.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> count = paddle.device.cuda.device_count()
        >>> all(paddle.device.cuda.memory_allocated(i) >= 0 for i in range(count))
        True
    """
    return memory.now(memory.accelerator(device, "cuda", "memory_allocated"), "allocated")


def memory_reserved(device: Any = None) -> int:
    """Bytes the allocator holds on the GPU.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> count = paddle.device.cuda.device_count()
        >>> all(paddle.device.cuda.memory_reserved(i) >= 0 for i in range(count))
        True
    """
    return memory.now(memory.accelerator(device, "cuda", "memory_reserved"), "reserved")


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use, since the last reset.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> count = paddle.device.cuda.device_count()
        >>> all(paddle.device.cuda.max_memory_allocated(i) >= 0 for i in range(count))
        True
    """
    return memory.most(memory.accelerator(device, "cuda", "max_memory_allocated"), "allocated")


def max_memory_reserved(device: Any = None) -> Any:
    """The most bytes that the allocator held, since the last reset.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> count = paddle.device.cuda.device_count()
        >>> all(paddle.device.cuda.max_memory_reserved(i) >= 0 for i in range(count))
        True
    """
    return memory.most(memory.accelerator(device, "cuda", "max_memory_reserved"), "reserved")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Begins to count the most bytes in use again.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> for number in range(paddle.device.cuda.device_count()):
        ...     paddle.device.cuda.reset_max_memory_allocated(number)
    """
    memory.reset(memory.accelerator(device, "cuda", "reset_max_memory_allocated"), "allocated")


def reset_max_memory_reserved(device: Any = None) -> None:
    """Begins to count the most bytes held again.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> for number in range(paddle.device.cuda.device_count()):
        ...     paddle.device.cuda.reset_max_memory_reserved(number)
    """
    memory.reset(memory.accelerator(device, "cuda", "reset_max_memory_reserved"), "reserved")


def memory_summary(device: Any = None) -> None:
    """Prints XLA's figures of the memory of the GPU.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> if paddle.device.cuda.device_count():
        ...     paddle.device.cuda.memory_summary()
    """
    print(memory.summary(memory.accelerator(device, "cuda", "memory_summary")))


def get_device_name(device: Any = None) -> str:
    """The name of the GPU, e.g. "NVIDIA H200".

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        str.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> count = paddle.device.cuda.device_count()
        >>> names = [paddle.device.cuda.get_device_name(i) for i in range(count)]
    """
    return memory.accelerator(device, "cuda", "get_device_name").device_kind


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability as (major, minor).

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        (int, int).
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> for number in range(paddle.device.cuda.device_count()):
        ...     major, minor = paddle.device.cuda.get_device_capability(number)
    """
    return memory.capability(memory.accelerator(device, "cuda", "get_device_capability"))


def get_device_properties(device: Any = None) -> Any:
    """Name, compute capability, total memory in bytes and number of multiprocessors of the GPU,
    as a named tuple.

    Args:
        device: None, a number, "gpu:0" or a Place.
    Returns:
        Named tuple: name, major, minor, total_memory, multi_processor_count.
    Raises:
        ValueError: there is no such GPU.
    Example:
        >>> count = paddle.device.cuda.device_count()
        >>> all(paddle.device.cuda.get_device_properties(i).total_memory > 0 for i in range(count))
        True
    """
    return memory.properties(memory.accelerator(device, "cuda", "get_device_properties"))
