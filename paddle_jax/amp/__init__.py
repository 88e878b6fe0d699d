"""Mixed precision (`paddle.amp`)."""

from __future__ import annotations
from typing import Any

from paddle_jax._core.tensors.place import parse as _parse
from paddle_jax.amp import debugging as debugging
from paddle_jax.amp.amp_lists import black_list, white_list
from paddle_jax.amp.auto_cast import (
    amp_decorate,
    amp_guard,
    auto_cast,
    autocast as autocast,
    decorate,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_enabled,
)
from paddle_jax.amp.grad_scaler import AmpScaler, GradScaler, OptimizerState
from paddle_jax.base import core as _core

__all__ = [
    "GradScaler",
    "auto_cast",
    "decorate",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_enabled",
    "is_bfloat16_supported",
    "is_float16_supported",
]


def is_float16_supported(device: Any = None) -> bool:
    """Whether computing in float16 is faster than in float32 on a device: not on a CPU, where it
    works nevertheless.

    Args:
        device: "cpu", "gpu:0". Default: the kind JAX computes on.
    Returns:
        bool.
    Example:
        >>> paddle.amp.is_float16_supported("cpu")
        False
    """
    return _core.is_float16_supported(None if device is None else _parse(device))


def is_bfloat16_supported(device: Any = None) -> bool:
    """True: XLA computes in bfloat16 everywhere.

    Args:
        device: "cpu", "gpu:0". Default: the current one.
    Returns:
        bool.
    Example:
        >>> paddle.amp.is_bfloat16_supported()
        True
    """
    return True
