"""Random numbers shaped like a tensor, and gamma numbers whose gradients follow the parameter (implicit
reparameterisation).

A gamma number z of shape parameter a moves with a so that its distribution function P(a, z) stays where it
is: dz/da = -(dP/da) / (dP/dz) (Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients, 2018). P
has derivatives of every order here, so the slope does too. Logarithms of gamma numbers are drawn, since the
numbers themselves underflow for small a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.ops.op import op
from paddle_jax.tensor.gamma_numbers import log_gamma_numbers
from paddle_jax.tensor.special import _P, _digits, _lgamma, _polygamma

if TYPE_CHECKING:
    from collections.abc import Sequence

_TINY = -18.0  # below this logarithm of z the first term of the series of P is exact to 1e-8


def _wide(x: jax.Array) -> jax.Array:
    if x.dtype.itemsize < 4:
        return x.astype(jnp.float32)
    return x


@op("x", random=True, nondiff=True, register=False, method=False)
def draw_normal_like(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Standard normal numbers (complex ones of variance 1) of the shape and dtype of x."""
    return jax.random.normal(key, x.shape, _wide(x).dtype).astype(x.dtype)


@op("x", random=True, nondiff=True, register=False, method=False)
def draw_uniform_like(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Uniform numbers in (0, 1), the bounds excluded, of the shape and dtype of x."""
    dtype = _wide(x).dtype
    return jax.random.uniform(key, x.shape, dtype, jnp.finfo(dtype).tiny, 1.0).astype(x.dtype)


@op("x", random=True, nondiff=True, register=False, method=False)
def draw_category(x: jax.Array, shape: Sequence[int], *, key: jax.Array) -> jax.Array:
    """Class numbers with probabilities proportional to exp(x) along the last axis, `shape` of
    them for each row."""
    return jax.random.categorical(key, _wide(x), -1, shape=(*shape, *x.shape[:-1])).astype(jnp.int64)


@op("x", random=True, nondiff=True, register=False, method=False)
def draw_counts(x: jax.Array, count: int, *, key: jax.Array) -> jax.Array:
    """How often each class comes up in `count` draws with the probabilities along the last axis of x."""
    return jax.random.multinomial(
        key, jnp.asarray(count, _wide(x).dtype), _wide(x), dtype=_wide(x).dtype
    ).astype(x.dtype)


@op("x", random=True, register=False, method=False)
def draw_log_gamma(x: jax.Array, *, key: jax.Array) -> jax.Array:
    """Logarithms of gamma numbers of shape parameter x and scale 1, with gradients to x."""
    a = _wide(x)
    return _following(a, lax.stop_gradient(log_gamma_numbers(key, a))).astype(x.dtype)


@jax.custom_jvp
def _following(a: jax.Array, drawn: jax.Array) -> jax.Array:
    """`drawn`, a logarithm of a gamma number, as a function of the shape parameter a."""
    return drawn


@_following.defjvp
def _following_tangent(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    log_z = _following(*primals)
    return log_z, tangents[0] * _digits(_slope, primals[0], log_z)


def _slope(a: jax.Array, log_z: jax.Array) -> jax.Array:
    """d log z / da = -(dP/da) / (z dP/dz)."""
    # There P(a, z) is z**a / gamma(a + 1), whose slope has a closed form.
    small = log_z < _TINY
    z = jnp.exp(jnp.where(small, 0.0, log_z))
    moved = jax.jvp(lambda b: _P(b, z), (a,), (jnp.ones_like(a),))[1]
    density = jnp.exp(a * jnp.where(small, 0.0, log_z) - z - _lgamma(a))
    return jnp.where(small, -(log_z - _polygamma(0, a + 1)) / a, -moved / density)
