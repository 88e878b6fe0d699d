"""Reduces large arrays element by element, on the host.

NumPy is fast at it except for float16 and float8, which it converts to float32 and back one by one. That
takes eight times as long as XLA's program, which works on blocks of one length, so that it is compiled once.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.process_group.small_messages import AVG, MAX, MIN, PROD, SUM, reduce_arrays

_BLOCK = 1 << 18  # elements of a call of XLA's program
_CACHED = 1 << 16  # elements whose float32 copies by NumPy stay in the cache
_LOGICAL = {
    SUM: np.logical_or,
    MAX: np.logical_or,
    AVG: np.logical_or,
    MIN: np.logical_and,
    PROD: np.logical_and,
}
_JNP_FUNCTIONS = {SUM: jnp.add, AVG: jnp.add, PROD: jnp.multiply, MAX: jnp.maximum, MIN: jnp.minimum}


def reduce_into(op: int, arrays: Sequence[np.ndarray], out: np.ndarray) -> None:
    """Reduces arrays of one axis.

    Short floating-point numbers are reduced in float32, bool as "any" or "all".

    Args:
        op: SUM, MAX, MIN, PROD or AVG.
        arrays: at least two NumPy arrays of one length and dtype.
        out: NumPy array for the result.
    """
    dtype = out.dtype
    if dtype.kind == "b":
        for i, array in enumerate(arrays[1:]):
            _LOGICAL[op](out if i else arrays[0], array, out=out)
    elif dtype.itemsize > 2 or jnp.issubdtype(dtype, jnp.integer):
        reduce_arrays(op, arrays, out)
    elif dtype == jnp.bfloat16:
        for start in range(0, out.size, _CACHED):
            piece = slice(start, start + _CACHED)
            out[piece] = reduce_arrays(op, [array[piece] for array in arrays])
    else:
        for start in range(0, out.size, _BLOCK):
            piece = slice(start, start + _BLOCK)
            out[piece] = _reduce_by_xla(op, [array[piece] for array in arrays])


def _reduce_by_xla(op: int, arrays: list[np.ndarray]) -> np.ndarray:
    length = arrays[0].size
    if length < _BLOCK:
        arrays = [np.concatenate([array, np.zeros(_BLOCK - length, array.dtype)]) for array in arrays]
    return np.asarray(_program(op, len(arrays))(*arrays))[:length]


@ft.lru_cache(maxsize=16)
def _program(op: int, count: int) -> Any:
    """The compiled function of arrays [_BLOCK], one of each process."""

    def reduce(*arrays: jax.Array) -> jax.Array:
        dtype = arrays[0].dtype
        total = ft.reduce(_JNP_FUNCTIONS[op], [array.astype(jnp.float32) for array in arrays])
        if op == AVG:
            if dtype.itemsize == 2:
                rounded = total.astype(dtype).astype(jnp.float32)
            else:
                rounded = total
            total = rounded / count
        return total.astype(dtype)

    return jax.jit(reduce)
