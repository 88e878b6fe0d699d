"""The counters of random numbers, in 32 bits on GPUs and TPUs.

JAX numbers the elements of an array of random bits in 64 bits, and takes the two halves. Of fewer than 2**32
elements the upper half is zero. GPUs and TPUs compute 64 bits in pairs, so there the lower half is computed
alone. The bits stay the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jax import lax
from jax.interpreters import mlir

try:
    from jax._src.random import prng
except ImportError:  # JAX before 0.10.2
    from jax._src import prng  # pyright: ignore[reportAttributeAccessIssue]

# These compute 64 bits in pairs.
_PLATFORMS = ("cuda", "rocm", "tpu")
_MAX = 1 << 32


def halves(*, shape: tuple[int, ...]) -> list[Any]:
    """The upper and lower halves of the number of each element, for fewer than 2**32 elements."""
    number = lax.full(shape, np.uint32(0))
    stride = 1
    # In the order of memory: the last axis counts by one.
    for axis in reversed(range(len(shape))):
        number = number + lax.broadcasted_iota(np.uint32, shape, axis) * np.uint32(stride)
        stride *= shape[axis]
    return [lax.full(shape, np.uint32(0)), number]


def _lower(context: Any, *, shape: tuple[Any, ...]) -> Any:
    is_known = all(isinstance(length, int) for length in shape)
    if is_known and math.prod(shape) < _MAX:
        return mlir.lower_fun(halves, multiple_results=True)(context, shape=shape)
    return prng.iota_2x32_shape_lowering(context, shape=shape)


def start() -> None:
    """Registers the rule."""
    for platform in _PLATFORMS:
        mlir.register_lowering(prng.iota_2x32_shape_p, _lower, platform=platform)
