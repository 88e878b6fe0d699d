"""GPU facts under Paddle's names. On a machine without a GPU the counts are 0 and questions about a GPU raise ValueError."""

import collections
import gc

import jax

from paddle_jax._core.deferred.flush import run_pending
from paddle_jax._core.place import CUDAPlace, jax_device, parse

__all__ = ["device_count", "empty_cache", "get_device_capability", "get_device_name", "get_device_properties", "max_memory_allocated",
           "max_memory_reserved", "memory_allocated", "memory_reserved", "synchronize"]

_Properties = collections.namedtuple("_gpuDeviceProperties", "name major minor total_memory multi_processor_count")


def _device(device):
    place = CUDAPlace(device or 0) if device is None or isinstance(device, int) else parse(device)
    return jax_device(place)


def stat(name, device) -> int:
    """One of XLA's memory figures of a device; 0 where the device does not count."""
    return int((_device(device).memory_stats() or {}).get(name, 0))


def device_count() -> int:
    """The number of GPUs."""
    return len([d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm")])


def synchronize(device=None):
    """Waits until everything started on the GPU is done."""
    run_pending("device.cuda.synchronize")
    jax.block_until_ready(jax.device_put(0, _device(device)) + 0)


def empty_cache():
    """Frees what only dead Python objects hold; XLA returns memory to its pool by itself."""
    gc.collect()


def memory_allocated(device=None) -> int:
    """Bytes in use by arrays on the GPU."""
    return stat("bytes_in_use", device)


def max_memory_allocated(device=None) -> int:
    """The largest number of bytes that were in use on the GPU."""
    return stat("peak_bytes_in_use", device)


def memory_reserved(device=None) -> int:
    """Bytes the allocator holds on the GPU."""
    return stat("pool_bytes", device) or stat("bytes_reserved", device)


def max_memory_reserved(device=None) -> int:
    """The largest number of bytes the allocator held on the GPU."""
    return stat("peak_pool_bytes", device) or stat("peak_bytes_reserved", device)


def get_device_name(device=None) -> str:
    """The name of the GPU, e.g. "NVIDIA H200"."""
    return _device(device).device_kind


def get_device_capability(device=None):
    """The compute capability as (major, minor)."""
    major, _, minor = str(getattr(_device(device), "compute_capability", "0.0")).partition(".")
    return int(major), int(minor or 0)


def get_device_properties(device=None):
    """Name, compute capability, total memory in bytes and number of multiprocessors of the GPU, as a named tuple."""
    found = _device(device)
    return _Properties(found.device_kind, *get_device_capability(device), stat("bytes_limit", device), int(getattr(found, "core_count", 0)))
