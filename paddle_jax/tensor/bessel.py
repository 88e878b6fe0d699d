"""Modified Bessel functions of the first kind I_n and exp(-|x|) I_n, with derivatives of every order
on the whole line.

I_n' = (I_(n-1) + I_(n+1)) / 2 (Abramowitz and Stegun 9.6.26), so the k-th derivative is 2^-k sum_j C(k, j)
I_(n-k+2j) (9.6.29): no division by x, and nothing goes wrong at 0. XLA has n = 0 and 1. The others are the
power series (9.6.10) below 8, and above it I_(n+1) = I_(n-1) - (2 n / x) I_n, which loses little there for
the n that derivatives need.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as sp

# |x| from which the recurrence keeps its digits.
_SMALL = 8
# Below it so many terms are exact in float64.
_TERMS = 36


def _family(count: int, x: jax.Array) -> list[jax.Array]:
    """exp(-|x|) I_n for n = 0 .. count - 1."""
    # Near zero by the power series: the recurrence loses its digits there.
    small = jnp.abs(x) < _SMALL
    # Each way gets numbers that it is good for, since gradients run through both.
    near = jnp.where(small, x, 1)
    far = jnp.where(small, _SMALL, x)
    found = [sp.i0e(x), sp.i1e(x)]
    fall = jnp.exp(-jnp.abs(near))
    high = [jnp.where(small, 1, f) for f in found]
    for n in range(2, count):
        low = 0.0
        # Horner's scheme.
        for k in reversed(range(_TERMS)):
            low = low * (near * near / 4) + 1 / (math.factorial(k) * math.factorial(n + k))
        high.append(high[n - 2] - 2 * (n - 1) / far * high[n - 1])
        found.append(jnp.where(small, low * (near / 2) ** n * fall, high[n]))
    return found


@ft.partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def bessel(n: Any, scaled: bool, order: Any, x: jax.Array) -> Any:
    """The derivative of that order of I_n or, scaled, of exp(-|x|) I_n, n = 0 or 1; |x| has slope 0 at 0."""
    if not order:
        if scaled:
            return (sp.i0e, sp.i1e)[n](x)
        return (sp.i0, sp.i1)[n](x)
    known = _family(n + order + 1, x)
    sign = jnp.sign(x)
    # The derivative of I_n is (I_(n-1) + I_(n+1)) / 2, taken `order` times.
    slopes = [
        sum(math.comb(k, j) * known[abs(n - k + 2 * j)] for j in range(k + 1)) / 2**k
        for k in range(order + 1)
    ]
    if scaled:
        # Leibniz' rule with exp(-|x|), of which each derivative brings a factor -sign.
        return sum(math.comb(order, k) * (-sign) ** (order - k) * s for k, s in enumerate(slopes))
    return slopes[order] * jnp.exp(jnp.abs(x))


@bessel.defjvp
def _tangent(
    n: int, scaled: bool, order: int, primals: Sequence[jax.Array], tangents: Sequence[jax.Array]
) -> tuple[Any, Any]:
    return bessel(n, scaled, order, *primals), tangents[0] * bessel(n, scaled, order + 1, *primals)
