"""Blocks that mark operations, and lists of devices."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import jax

from paddle_jax._core.base.state import local
from paddle_jax._core.tensors.place import CPUPlace, CUDAPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS = ("cpu", "gpu", "xpu", "dcu", "npu", "")


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Operations that are recorded inside the block have the prefix in their `scope`.

    Args:
        prefix: str; blocks may be nested.
    Returns:
        Context manager.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main), paddle.static.name_scope("encoder"):
        ...     y = paddle.static.data("x", [1]) * 2
        >>> paddle.disable_static()
    """
    # In dynamic mode nothing is recorded.
    recorder = local.ctx.frame
    if not recorder.recording:
        yield
        return
    before = recorder.name_scope
    # Operations keep the prefix; `fp16_guard` finds its own there.
    recorder.name_scope = f"{recorder.name_scope}{prefix or ''}/"
    try:
        yield
    finally:
        recorder.name_scope = before


@contextlib.contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Marks operations with a device: the stages of a pipeline (`DistributedStrategy.pipeline`).

    Without a pipeline a program runs on the device of its Executor as a whole.

    Args:
        device: "cpu", "gpu", "xpu", with a number ("gpu:0") or without; or None.
    Returns:
        Context manager.
    Raises:
        ValueError: device is something else.
    Example:
        >>> with paddle.static.device_guard("cpu"):
        ...     pass
    """
    if device is not None and str(device).partition(":")[0] not in _KINDS:
        raise ValueError(
            f"device_guard: device: got {device!r}; allowed are 'cpu', 'gpu', 'xpu', 'dcu', "
            "one of them with a number, '' and None"
        )
    # In dynamic mode nothing is recorded.
    recorder = local.ctx.frame
    if not recorder.recording:
        yield
        return
    before = recorder.device
    recorder.device = str(device or "")
    try:
        yield
    finally:
        recorder.device = before


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """Returns a list of CPU places.

    Args:
        device_count: int. Default: the environment variable CPU_NUM, else 1.
    Returns:
        list of CPUPlaces.
    Example:
        >>> paddle.static.cpu_places(2)
        [Place(cpu), Place(cpu)]
    """
    return [CPUPlace()] * (int(os.environ.get("CPU_NUM", 1)) if device_count is None else device_count)


def cuda_places(device_ids: int | Sequence[int] | None = None) -> list[CUDAPlace]:
    """Returns a list of GPU places.

    Args:
        device_ids: list or tuple of ints. Default: all GPUs.
    Returns:
        list of CUDAPlace.
    Raises:
        AssertionError: there is no GPU.
    Example:
        >>> if paddle.device.cuda.device_count():
        ...     places = paddle.static.cuda_places()
    """
    # JAX has several names for GPUs, by version and maker.
    count = sum(device.platform in ("gpu", "cuda", "rocm") for device in jax.local_devices())
    if not count:
        raise AssertionError("cuda_places: JAX sees no GPU; install a jaxlib for it, or use cpu_places")
    if device_ids is None:
        ids = range(count)
    elif isinstance(device_ids, list | tuple):
        ids = device_ids
    else:
        ids = [device_ids]
    return [CUDAPlace(i) for i in ids]


__all__ = ["cpu_places", "cuda_places", "device_guard", "name_scope"]
