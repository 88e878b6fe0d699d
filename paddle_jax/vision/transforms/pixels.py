"""Arithmetic on the pixels of one image on the host, where recording operations, or compiling them, would
take longer than the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.device_put import empty_aligned
from paddle_jax._core.lazy.lazy_array import LazyArray, from_numpy
from paddle_jax._core.lazy.transfer import to_numpy_if_ready
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.axes import untracked

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = []


def eight_bit(pixels: np.ndarray) -> Tensor:
    """The Tensor of an array of 8-bit pixels: floats from 0 to 1."""
    return wrap(
        from_numpy(np.divide(pixels, np.float32(255), out=empty_aligned(pixels.shape, np.dtype(np.float32))))
    )


def scaled(img: Tensor, mean: Any, std: Any, shape: Sequence[int]) -> Tensor | None:
    """(img - mean) / std of a float32 image on the host, by NumPy; None where it has to be operations."""
    array = _at_hand(img)
    if array is None or array.dtype != np.float32 or isinstance(mean, Tensor) or isinstance(std, Tensor):
        return None
    try:
        mean, std = (
            np.asarray(numbers, np.float64).astype(np.float32).reshape(shape) for numbers in (mean, std)
        )
        if np.broadcast_shapes(array.shape, mean.shape, std.shape) != array.shape:
            return None
    except (TypeError, ValueError):  # the operations say what is wrong
        return None
    made = empty_aligned(array.shape, array.dtype)
    # Divisions by zero pass without a warning, as in a compiled operation.
    with np.errstate(all="ignore"):
        return wrap(from_numpy(np.divide(np.subtract(array, mean, out=made), std, out=made)))


def _at_hand(img: Tensor) -> np.ndarray | None:
    """The elements of a Tensor if the host has them and no gradient is wanted; else None."""
    # Traces, autocast and gradients need the operations themselves.
    if not local.ctx.frame.has_value(img) or local.ctx.amp is not None or not untracked(img):
        return None
    raw = held_value(img)
    if type(raw) is np.ndarray:
        return raw
    if type(raw) is LazyArray:
        return to_numpy_if_ready(raw)
    return None
