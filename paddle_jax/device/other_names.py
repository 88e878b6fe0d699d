"""What PyTorch has in `torch.cuda`, as Paddle offers it in `paddle.device` and `paddle.cuda`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.tensors.device_text import Device
from paddle_jax._core.tensors.place import Place, current, device_to_place, parse
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.random import seed as manual_seed_all
from paddle_jax.device import memory
from paddle_jax.device.streams import stream_guard

if TYPE_CHECKING:
    import types

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = [
    "Device",
    "amp",
    "current_device",
    "device_to_place",
    "extract_device_id",
    "get_device_module",
    "manual_seed_all",
    "nvtx",
    "stream",
]

_MODULES = {"cpu": "device.cpu", "gpu": "cuda", "cuda": "cuda", "xpu": "device.xpu"}


def extract_device_id(device: str, op_name: str) -> int:
    """The number of an accelerator.

    Args:
        device: a number, "gpu:1", a Place, or None for the first.
        op_name: the function that asks, for the error.
    Returns:
        int.
    Raises:
        ValueError: this machine has no such accelerator.
    Example:
        >>> if paddle.device.is_available():
        ...     paddle.device.extract_device_id(0, "memory_allocated")
    """
    return parse(memory.accelerator(device, "", op_name)).get_device_id()


def get_device_module(device: Any = None) -> types.ModuleType:
    """The module with the functions for a device: `paddle.cuda` for a GPU, `paddle.device.cpu` for the CPU.

    Args:
        device: "cpu", "gpu:1", a Place, or None for the current device.
    Returns:
        module.
    Raises:
        RuntimeError: the kind has no such module.
    Example:
        >>> paddle.device.get_device_module("cuda").__name__.split(".")[-1]
        'cuda'
    """
    if device is None or isinstance(device, int):
        device = current()
    if isinstance(device, Place):
        kind = device.get_device_type()
    else:
        kind = str(device).lower().partition(":")[0]
    if kind.endswith("_pinned") or not kind.isalnum():
        raise RuntimeError(
            f"get_device_module: device: got {device!r}; allowed are 'cpu', 'gpu', 'xpu' and "
            "the kinds of custom devices"
        )
    return importlib.import_module(f"paddle_jax.{_MODULES.get(kind, 'device.custom_device')}")


def current_device() -> int:
    """The number of the current device; 0 for the CPU.

    Returns:
        int.
    Example:
        >>> paddle.device.set_device("cpu"); paddle.device.current_device()
        Place(cpu)
        0
    """
    return current().get_device_id()


def get_state(device: Any = None) -> Tensor:
    """The state of the random generator; all devices share one.

    Args:
        device: accepted.
    Returns:
        Tensor uint32 [3], for `set_rng_state`.
    """
    return default_generator().get_state()


def set_state(new_state: Tensor, device: Any = None) -> None:
    """Continues from a state of the random generator.

    Args:
        new_state: what `get_rng_state` returned. device: accepted.
    Raises:
        ValueError: it is none.
    """
    default_generator().set_state(new_state)


def stream(stream: Any) -> Any:
    """Context in which a Stream is the current one; None changes nothing. As `stream_guard`.

    Args:
        stream: Stream or None.
    Returns:
        Context manager.
    Example:
        >>> with paddle.device.stream(None):
        ...     paddle.ones([1]).item()
        1.0
    """
    return stream_guard(stream)


class nvtx:
    """Names for spans of a program. They are in the recordings of `paddle.profiler`.

    Example:
        >>> paddle.device.nvtx.range_push("forward")
        >>> loss = paddle.ones([2]).sum()
        >>> paddle.device.nvtx.range_pop()
    """

    _open: list[Any] = []
    _event_class: type  # paddle_jax.profiler.utils fills it in

    @staticmethod
    def range_push(msg: str) -> None:
        """Begins a span.

        Args:
            msg: its name.
        Example:
            >>> paddle.device.nvtx.range_push("forward"); paddle.device.nvtx.range_pop()
        """
        event = nvtx._event_class(str(msg))
        event.begin()
        nvtx._open.append(event)

    @staticmethod
    def range_pop() -> None:
        """Ends the span that was begun last; nothing where there is none."""
        if nvtx._open:
            nvtx._open.pop().end()


class amp:
    """Mixed precision under PyTorch's names.

    Example:
        >>> with paddle.device.amp.autocast(dtype="bfloat16"):
        ...     paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).shape
        paddle.Size([2, 2])
    """

    _auto_cast: Callable[..., Any]  # paddle_jax.amp.auto_cast fills it in

    @staticmethod
    def autocast(enabled: bool = True, dtype: DTypeLike = "float16", cache_enabled: bool = True) -> Any:
        """Context in which operations compute in a smaller dtype: `paddle.amp.auto_cast`.

        Args:
            enabled: whether it does anything. dtype: "float16" or "bfloat16". cache_enabled: accepted.
        Example:
            >>> with paddle.device.amp.autocast(dtype="bfloat16"):
            ...     paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).shape
            paddle.Size([2, 2])
        """
        return amp._auto_cast(enable=enabled, dtype=dtypes.convert(dtype).np.name)


amp.autocast_mode = amp
