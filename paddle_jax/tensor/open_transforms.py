"""Fourier transforms along axes whose lengths are open, in files of StableHLO.

XLA takes the length of a transform as a plain number. Where it has none, the transform is a product with the
matrix of all its terms.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.size import is_symbolic


def is_open(x: jax.Array, axis: int) -> bool:
    """Whether the length of an axis stands for every number."""
    return is_symbolic(x.shape[axis])


def _number(length: Any, dtype: Any) -> jax.Array:
    return jnp.asarray(length).astype(dtype)


def transform(x: jax.Array, axis: int, forward: bool, norm: str) -> jax.Array:
    """The transform of a complex array along one axis of open length."""
    n: Any = x.shape[axis]
    real = x.real.dtype
    # Remainders of whole numbers, as large products lose digits.
    terms = jnp.arange(n, dtype=np.int64)
    turns = (terms[:, None] * terms % _number(n, np.int64)).astype(real)
    angle = turns * (2 * math.pi / _number(n, real))
    matrix = lax.complex(jnp.cos(angle), -jnp.sin(angle) if forward else jnp.sin(angle))
    found = jnp.matmul(jnp.moveaxis(x, axis, -1), matrix, precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(_scaled(found, n, forward, norm), -1, axis)


def _scaled(x: jax.Array, n: Any, forward: bool, norm: str) -> jax.Array:
    count = _number(n, x.real.dtype)
    if norm == "ortho":
        return x / jnp.sqrt(count)
    if (norm == "forward") == forward:
        return x / count
    return x


def half_of_real(x: jax.Array, axis: int, forward: bool, norm: str) -> jax.Array:
    """The first n // 2 + 1 terms of the transform of a real array."""
    n: Any = x.shape[axis]
    found = transform(lax.complex(x, jnp.zeros_like(x)), axis, forward, norm)
    return lax.slice_in_dim(found, 0, n // 2 + 1, axis=axis)


def real_of_half(x: jax.Array, axis: int, n: Any, forward: bool, norm: str) -> jax.Array:
    """The real array of length n whose transform begins with x."""
    if n < 1:
        raise ValueError(f"irfft: n: got {n}; it must be at least 1")
    # The terms of the other half are the conjugate ones, backwards.
    others = jnp.flip(lax.slice_in_dim(x, 1, n - n // 2, axis=axis), axis)
    return transform(jnp.concatenate([x, jnp.conj(others)], axis), axis, forward, norm).real
