"""Large arrays brought together element by element, on the host.

NumPy is quick at it but for float16 and float8, which it turns into float32 and back one by one: eight times
as long as XLA's program, which works on blocks of one length, so that it is compiled once.
"""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.process_group import small_messages
from paddle_jax._core.process_group.small_messages import AVG, MAX, MIN, PROD, SUM

_BLOCK = 1 << 18  # elements of a call of XLA's program
_CACHED = 1 << 16  # elements of which NumPy's float32 between stay in the cache
_LOGICAL = {
    SUM: np.logical_or,
    MAX: np.logical_or,
    AVG: np.logical_or,
    MIN: np.logical_and,
    PROD: np.logical_and,
}


def reduced(op, found, out):
    """Brings arrays of one axis together by SUM, MAX, MIN, PROD or AVG: short floating-point numbers in
    float32, bool as "any" or "all".

    Args:
        found: NumPy arrays of one length and dtype, at least two.
        out: NumPy array that gets the result.
    """
    dtype = out.dtype
    if dtype.kind == "b":
        for i, each in enumerate(found[1:]):
            _LOGICAL[op](out if i else found[0], each, out=out)
    elif dtype.itemsize > 2 or jnp.issubdtype(dtype, jnp.integer):
        small_messages.reduced(op, found, out)
    elif dtype == jnp.bfloat16:
        for start in range(0, out.size, _CACHED):
            piece = slice(start, start + _CACHED)
            out[piece] = small_messages.reduced(op, [each[piece] for each in found])
    else:
        for start in range(0, out.size, _BLOCK):
            piece = slice(start, start + _BLOCK)
            out[piece] = _by_xla(op, [each[piece] for each in found])


def _by_xla(op, found):
    length = found[0].size
    if length < _BLOCK:
        found = [np.concatenate([each, np.zeros(_BLOCK - length, each.dtype)]) for each in found]
    return np.asarray(_program(op, len(found))(*found))[:length]


@ft.lru_cache(maxsize=16)
def _program(op, count):
    """The compiled function of arrays [_BLOCK], one of each process."""

    def together(*found):
        dtype, wide = found[0].dtype, [each.astype(jnp.float32) for each in found]
        total = ft.reduce(
            {SUM: jnp.add, AVG: jnp.add, PROD: jnp.multiply, MAX: jnp.maximum, MIN: jnp.minimum}[op], wide
        )
        if op == AVG:
            total = (total.astype(dtype).astype(jnp.float32) if dtype.itemsize == 2 else total) / count
        return total.astype(dtype)

    return jax.jit(together)
