"""The hyperbolic sine and cosine with small errors for large arguments; `acosh` with its right gradient."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from paddle_jax.tensor.lowering import copy_sign

__all__ = ["complex_acosh", "exact_cosh", "exact_sinh"]


def _half_exp(x: jax.Array) -> jax.Array:
    """exp(|x|) / 2 without overflow where it is finite. XLA takes exp(|x| - log 2), whose rounded argument
    costs 24 ulp at 60."""
    size = jnp.abs(x)
    return jnp.exp(jnp.minimum(size, 80)) * (0.5 * jnp.exp(jnp.maximum(size - 80, 0)))


@jax.custom_jvp
def exact_sinh(x: jax.Array) -> jax.Array:
    """The hyperbolic sine; from 1 on by exponentials of half the size."""
    rise = _half_exp(x)
    return jnp.where(jnp.abs(x) < 1, jnp.sinh(x), copy_sign(rise - 0.25 / rise, x))


@jax.custom_jvp
def exact_cosh(x: jax.Array) -> jax.Array:
    """The hyperbolic cosine."""
    rise = _half_exp(x)
    return rise + 0.25 / rise


exact_sinh.defjvps(lambda t, _, x: t * exact_cosh(x))
exact_cosh.defjvps(lambda t, _, x: t * exact_sinh(x))


@jax.custom_jvp
def complex_acosh(x: jax.Array) -> jax.Array:
    """The inverse hyperbolic cosine of complex numbers."""
    return jnp.arccosh(x)


# JAX before 0.12 has one square root of the product, whose sign is wrong left of the imaginary axis.
complex_acosh.defjvps(lambda tangent, _, x: tangent / (jnp.sqrt(x - 1) * jnp.sqrt(x + 1)))
