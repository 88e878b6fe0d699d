"""GPUs under PyTorch's names. On a machine without one the counts are 0 and questions about a GPU
raise ValueError."""

from paddle_jax._core.tensors.place import set_device as choose
from paddle_jax.device import (
    ipc_collect,
    is_bf16_supported,
    is_current_stream_capturing,
    manual_seed,
    memory,
    reset_peak_memory_stats,
)
from paddle_jax.device.cuda import (
    current_stream,
    device_count,
    empty_cache,
    get_device_capability,
    get_device_name,
    get_device_properties,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    synchronize,
)
from paddle_jax.device.other_names import amp, current_device, manual_seed_all, nvtx, stream
from paddle_jax.device.other_names import get_state as get_rng_state
from paddle_jax.device.other_names import set_state as set_rng_state
from paddle_jax.device.streams import Event, Stream, set_stream
from paddle_jax.device.streams import stream_guard as StreamContext

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "nvtx",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a GPU that JAX sees.

    Example:
        >>> paddle.cuda.is_available() in (True, False)
        True
    """
    return device_count() > 0


def is_initialized() -> bool:
    """Whether there is a GPU, which this question then starts."""
    return is_available()


def set_device(device):
    """Chooses the device that new Tensors are put on.

    Args:
        device: the number of a GPU, "gpu:1", "cpu" or a Place.
    Raises:
        ValueError: this machine has no such device.
    Example:
        >>> paddle.cuda.set_device("cpu"); paddle.get_device()
        'cpu'
    """
    choose(f"gpu:{device}" if isinstance(device, int) else device)


def mem_get_info(device=None):
    """Free and total bytes of what this program may use of a GPU.

    Args:
        device: None (the first), its number, "gpu:0" or a Place.
    Raises:
        ValueError: there is no such GPU.
    """
    found = memory.accelerator(device, "cuda", "mem_get_info")
    total = memory.stat(found, "bytes_limit")
    return total - memory.now(found, "allocated"), total
