"""Devices: choosing one, asking what there is, waiting, memory figures."""

from __future__ import annotations


from typing import Any
import sys
import types

import jax

from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.tensors.place import (
    XPUPlace,
    get_device,
    jax_device,
    parse,
    set_device,
)
from paddle_jax._core.tensors.random import get_rng_state, seed as manual_seed, set_rng_state
from paddle_jax.device import cuda, custom_device, memory as memory, xpu
from paddle_jax.device.other_names import (
    Device,
    amp,
    current_device,
    device_to_place,
    extract_device_id,
    get_device_module,
    manual_seed_all,
    nvtx,
    stream,
)
from paddle_jax.device.streams import Event, Stream, current_stream, set_stream, stream_guard

StreamContext = stream_guard

_convert_to_place = parse

__all__ = [
    "Device",
    "Event",
    "Stream",
    "StreamContext",
    "XPUPlace",
    "amp",
    "cuda",
    "current_device",
    "current_stream",
    "custom_device",
    "device",
    "device_count",
    "device_guard",
    "device_to_place",
    "extract_device_id",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_default_device",
    "get_device",
    "get_device_capability",
    "get_device_module",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "is_current_stream_capturing",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "nvtx",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_default_device",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream",
    "stream_guard",
    "synchronize",
    "xpu",
]


class _Callable(types.ModuleType):
    """A module that is called like PyTorch's `torch.device`."""

    def __call__(self, type: int | str | None = None, index: int | None = None) -> Device:
        return Device(type, index)


sys.modules[__name__].__class__ = _Callable


def _kinds() -> list[Any | str]:
    """The kinds of accelerators JAX sees, in Paddle's words: "gpu", "tpu", ..."""
    names = {d.platform for d in jax.local_devices()}
    return sorted({"gpu" if n in ("cuda", "rocm", "gpu") else n for n in names if n != "cpu"})


def get_default_device() -> Any:
    """The device new tensors are put on, e.g. "cpu" or "gpu:0".

    Returns:
        str.
    Example:
        >>> previous = paddle.set_device("cpu")
        >>> paddle.get_default_device()
        'cpu'
    """
    return get_device()


def set_default_device(device: str) -> None:
    """Chooses the device new tensors are put on.

    Args:
        device: "cpu", "gpu", "gpu:1", a Place, or the number of a GPU.
    Example:
        >>> paddle.set_default_device("cpu"); paddle.get_default_device()
        'cpu'
    """
    set_device(f"gpu:{device}" if isinstance(device, int) else device)


class device_guard:
    """Context in which new tensors are put on a device.

    Args:
        device: "cpu", "gpu:1", a Place, or the number of a GPU.
    Example:
        >>> with paddle.device.device_guard("cpu"):
        ...     paddle.ones([1]).place
        Place(cpu)
    """

    def __init__(self, device: str) -> None:
        self._device = device

    def __enter__(self) -> None:
        self._before = get_device()
        set_default_device(self._device)

    def __exit__(self, *args: Any) -> None:
        set_device(self._before)


class device:
    """Context in which new tensors are put on a device; None changes nothing.

    Args:
        device: "cpu", "gpu:1", a Place, the number of an accelerator (on a machine without one:
            the CPU), or None.
    Raises:
        ValueError: there is no such device.
    Example:
        >>> with paddle.device.device("cpu"):
        ...     paddle.ones([1]).place
        Place(cpu)
    """

    def __init__(self, device: Any = None) -> None:
        if isinstance(device, int) and not isinstance(device, bool):
            if device < 0:
                raise ValueError(f"device: got {device}; the number of a device is 0 or more")
            if is_available():
                device = parse(memory.accelerator(device, "", "device"))
            else:
                device = "cpu"
        self.place = None if device is None else parse(device)
        if self.place is not None:
            jax_device(self.place)

    def __enter__(self) -> None:
        if self.place is not None:
            self._before = get_device()
            set_device(self.place)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if self.place is not None:
            set_device(self._before)


def device_count() -> int:
    """The number of accelerators of the default kind; 0 on a machine with only a CPU.

    Returns:
        int.
    Example:
        >>> paddle.device.device_count() >= 0
        True
    """
    return len([d for d in jax.local_devices() if d.platform != "cpu"])


def is_available() -> bool:
    """Whether there is an accelerator.

    Returns:
        bool.
    Example:
        >>> paddle.device.is_available() == (paddle.device.device_count() > 0)
        True
    """
    return device_count() > 0


def get_all_device_type() -> list[Any | str]:
    """The kinds of accelerators on this machine, e.g. ["gpu"].

    Returns:
        list of str.
    Example:
        >>> (len(paddle.device.get_all_device_type()) > 0) == paddle.device.is_available()
        True
    """
    return _kinds()


def get_all_custom_device_type() -> list[Any | str]:
    """The kinds that Paddle has no name for, e.g. ["tpu"].

    Returns:
        list of str.
    Example:
        >>> set(paddle.device.get_all_custom_device_type()) <= set(paddle.device.get_all_device_type())
        True
    """
    return [k for k in _kinds() if k not in ("gpu", "xpu")]


def get_available_device() -> list[str]:
    """All accelerators, e.g. ["gpu:0", "gpu:1"].

    Returns:
        list of str.
    Example:
        >>> isinstance(paddle.device.get_available_device(), list)
        True
    """
    return [str(parse(d))[6:-1] for d in jax.local_devices() if d.platform != "cpu"]


def get_available_custom_device() -> list[str]:
    """All accelerators of kinds that Paddle has no name for, e.g. ["tpu:0"].

    Returns:
        list of str.
    Example:
        >>> set(paddle.device.get_available_custom_device()) <= set(paddle.device.get_available_device())
        True
    """
    return [d for d in get_available_device() if d.split(":")[0] not in ("gpu", "xpu")]


def is_compiled_with_cuda() -> bool:
    """Whether JAX sees an NVIDIA (or AMD) GPU: what programs ask before they choose "gpu".

    Returns:
        bool.
    Example:
        >>> paddle.is_compiled_with_cuda() in (True, False)
        True
    """
    return "gpu" in _kinds()


def is_compiled_with_rocm() -> bool:
    """Whether the GPUs are AMD's.

    Returns:
        bool.
    Example:
        >>> isinstance(paddle.is_compiled_with_rocm(), bool)
        True
    """
    # The platform may be called gpu, while its version names ROCm.
    return any(
        d.platform == "rocm" or "rocm" in getattr(d.client, "platform_version", "")
        for d in jax.local_devices()
    )


def is_compiled_with_xpu() -> bool:
    """Whether there is an XPU.

    Returns:
        bool.
    Example:
        >>> isinstance(paddle.is_compiled_with_xpu(), bool)
        True
    """
    return "xpu" in _kinds()


def is_compiled_with_ipu() -> bool:
    """False: there is no IPU backend.

    Returns:
        bool.
    Example:
        >>> paddle.is_compiled_with_ipu()
        False
    """
    return False


def is_compiled_with_cinn() -> bool:
    """False: XLA is the compiler.

    Returns:
        bool.
    Example:
        >>> paddle.is_compiled_with_cinn()
        False
    """
    return False


def is_compiled_with_distribute() -> bool:
    """True: collectives come with XLA.

    Returns:
        bool.
    Example:
        >>> paddle.is_compiled_with_distribute()
        True
    """
    return True


def is_compiled_with_custom_device(device_type: Any) -> bool:
    """Whether JAX sees devices of this kind, e.g. "tpu".

    Args:
        device_type: str, the kind.
    Returns:
        bool.
    Example:
        >>> paddle.is_compiled_with_custom_device("npu")
        False
    """
    return device_type in get_all_custom_device_type()


def is_bf16_supported(including_emulation: Any = True) -> bool:
    """Whether bfloat16 can be computed with: always, XLA emulates it where the device cannot.

    Args:
        including_emulation: accepted.
    Returns:
        bool.
    Example:
        >>> paddle.device.is_bf16_supported() in (True, False)
        True
    """
    return bool(including_emulation) or is_available()


def get_cudnn_version() -> None:
    """None: XLA brings its own cuDNN and does not tell the version.

    Example:
        >>> print(paddle.get_cudnn_version())
        None
    """
    return None


def synchronize(device: Any = None) -> None:
    """Waits until everything started on the device is done.

    Args:
        device: "gpu:0", a Place, or None for the current device.
    Raises:
        ValueError: there is no such device.
    Example:
        >>> x = paddle.ones([2]) + 1
        >>> if paddle.device.is_available():
        ...     paddle.device.synchronize()
    """
    target = jax_device(device_to_place(device))
    run_pending("device.synchronize")
    # Devices work in order, so a task that begins now ends last.
    jax.block_until_ready(jax.device_put(0, target) + 0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that were in use, since the last reset.

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> count = paddle.device.device_count()
        >>> all(paddle.device.max_memory_allocated(i) >= 0 for i in range(count))
        True
    """
    return memory.most(memory.accelerator(device, "", "max_memory_allocated"), "allocated")


def max_memory_reserved(device: Any = None) -> Any:
    """The most bytes that the allocator held, since the last reset.

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Returns:
        int, bytes.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> count = paddle.device.device_count()
        >>> all(paddle.device.max_memory_reserved(i) >= 0 for i in range(count))
        True
    """
    return memory.most(memory.accelerator(device, "", "max_memory_reserved"), "reserved")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Begins to count the most bytes in use again.

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> for number in range(paddle.device.device_count()):
        ...     paddle.device.reset_max_memory_allocated(number)
    """
    memory.reset(memory.accelerator(device, "", "reset_max_memory_allocated"), "allocated")


def reset_max_memory_reserved(device: Any = None) -> None:
    """Begins to count the most bytes held again.

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> for number in range(paddle.device.device_count()):
        ...     paddle.device.reset_max_memory_reserved(number)
    """
    memory.reset(memory.accelerator(device, "", "reset_max_memory_reserved"), "reserved")


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begins to count the most bytes in use, and held, again.

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> for number in range(paddle.device.device_count()):
        ...     paddle.device.reset_peak_memory_stats(number)
    """
    for what in ("allocated", "reserved"):
        memory.reset(memory.accelerator(device, "", "reset_peak_memory_stats"), what)


def get_device_name(device: Any = None) -> str:
    """The name of the accelerator, e.g. "NVIDIA H200".

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Returns:
        str.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> names = [paddle.device.get_device_name(i) for i in range(paddle.device.device_count())]
    """
    return memory.accelerator(device, "", "get_device_name").device_kind


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability as (major, minor).

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Returns:
        (int, int).
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> for number in range(paddle.device.device_count()):
        ...     major, minor = paddle.device.get_device_capability(number)
    """
    return memory.capability(memory.accelerator(device, "", "get_device_capability"))


def get_device_properties(device: Any = None) -> Any:
    """Name, compute capability, total memory in bytes and number of multiprocessors of the accelerator,
    as a named tuple.

    Args:
        device: "gpu:0", a Place, the number of an accelerator, or None for the current one.
    Returns:
        Named tuple: name, major, minor, total_memory, multi_processor_count.
    Raises:
        ValueError: there is no such accelerator.
    Example:
        >>> count = paddle.device.device_count()
        >>> all(paddle.device.get_device_properties(i).total_memory > 0 for i in range(count))
        True
    """
    return memory.properties(memory.accelerator(device, "", "get_device_properties"))


def ipc_collect() -> None:
    """Frees what only dead Python objects hold; nothing is shared between processes.

    Raises:
        RuntimeError: there is no accelerator.
    Example:
        >>> if paddle.device.is_available():
        ...     paddle.device.ipc_collect()
    """
    memory.accelerator(None, "", "ipc_collect")
    memory.collect()


def is_current_stream_capturing() -> bool:
    """False: there are no graphs of streams, XLA compiles programs.

    Returns:
        bool.
    Example:
        >>> paddle.device.is_current_stream_capturing()
        False
    """
    return False
