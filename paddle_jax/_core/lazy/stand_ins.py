"""Arrays for programs that are compiled and never run: they have a shape, a dtype and a layout, and take no
memory.

All share one piece of memory of zeros that nobody writes to, so the system never provides it.
"""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.lazy.device_put import put_uncommitted


class StandIns:
    """Arrays without memory, and how to forget what was made of them.

    Attributes:
        undo: list of functions that put back what a trace with such arrays has left behind.
        memory: the zeros that the arrays share.
    """

    def __init__(self) -> None:
        self.undo: list[Callable[[], Any]] = []
        self.memory = _zero_pages(mmap.PAGESIZE)

    def array(self, shape: Sequence[int], dtype: Any, sharding: Any = None) -> jax.Array:
        """An array that stands for one of this shape. sharding: its layout; None for one device."""
        shape = tuple(shape)
        with eager_evaluation():
            if sharding is None:
                return put_uncommitted(self._zeros(shape, dtype), jax.devices("cpu")[0])
            zeros = self._zeros(sharding.shard_shape(shape), dtype)
            shards = [jax.device_put(zeros, device) for device in sharding.addressable_devices]
            return jax.make_array_from_single_device_arrays(shape, sharding, shards)

    def _zeros(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Zeros in the shared memory. It begins at a page, so that JAX takes them over without a copy."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size > len(self.memory):
            # Arrays that were made before keep the smaller piece alive.
            self.memory = _zero_pages(size)
        return np.frombuffer(self.memory, np.uint8, size).view(dtype).reshape(shape)

    def forget(self) -> None:
        """Puts back what a trace has left behind, the last first."""
        while self.undo:
            self.undo.pop()()


def _zero_pages(size: int) -> mmap.mmap:
    """Memory that reads as zeros. The system counts no page of it, as nobody can write to it."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
