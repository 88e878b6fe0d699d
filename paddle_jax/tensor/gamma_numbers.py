"""Random numbers of gamma distributions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def log_gamma_numbers(key: jax.Array, a: jax.Array) -> jax.Array:
    """Logarithms of gamma numbers of shape parameter a and scale 1: the numbers themselves underflow for
    small a. NaN where a is below -1 or NaN.

    A candidate d (1 + c x)^3 with d = a - 1/3, c = 1 / (3 sqrt(d)) and a normal number x is a gamma number if
    a uniform one lets it pass, as more than 95 % do; all elements try until each has passed. Below a = 1 a
    number of shape parameter a + 1 is multiplied by the a-th root of a uniform one. Source: G. Marsaglia and
    W. W. Tsang, A simple method for generating gamma variables (2000).

    Args:
        key: random key.
        a: array of float32 or float64.
    """
    # Marsaglia and Tsang (2000); below 1 a number for a + 1 is drawn and scaled down.
    small = a < 1
    d = jnp.where(small, a + 1, a) - 1 / 3
    c = 1 / (3 * jnp.sqrt(d))

    def tried(state: Any) -> tuple[jax.Array, ...]:
        count, log_v, passed = state
        # A new key for each round, so that rejected numbers do not come again.
        normal, uniform = jax.random.split(jax.random.fold_in(key, count))
        x = jax.random.normal(normal, a.shape, a.dtype)
        root = 1 + c * x
        log_new = 3 * jnp.log(root)
        log_u = jnp.log(jax.random.uniform(uniform, a.shape, a.dtype))
        # the comparisons are such that NaN passes, and nothing runs for ever
        wrong = (root <= 0) | (log_u >= 0.5 * x * x + d * (1 - jnp.exp(log_new) + log_new))
        return count + 1, jnp.where(passed, log_v, log_new), passed | ~wrong

    start = jnp.uint32(0), jnp.zeros_like(a), jnp.zeros(a.shape, bool)
    count, log_v, _ = lax.while_loop(lambda state: ~state[2].all(), tried, start)
    # A uniform number to the power 1 / a scales down, here as a logarithm.
    log_u = jnp.log1p(-jax.random.uniform(jax.random.fold_in(key, count), a.shape, a.dtype))
    return jnp.log(d) + log_v + jnp.where(small, log_u / a, 0)
