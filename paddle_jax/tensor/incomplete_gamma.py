"""The regularised incomplete gamma functions P(a, x) and Q(a, x) with derivatives of every order
in both operands.

By x the slope is the density x^(a-1) e^-x / Gamma(a). By a there is no closed form. With t = e^u the density
of u is f(u) = exp(a u - e^u - log Gamma(a)), and

    d^n P / da^n = integral of B_n(u - psi(a), -psi_1(a), -psi_2(a), ...) f(u) du from -inf to log x,

where B_n is the complete Bell polynomial of the derivatives of a u - log Gamma(a) (Comtet, Advanced
Combinatorics, 3.3) and psi_k the polygamma function. Over the whole line the integral is 0, so the tail above
log x gives the same with the other sign. f is log-concave, so Gauss's rule over the part that counts is
exact to rounding.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as sp

from paddle_jax.tensor.inner import defslopes

_SHIFT = 8  # P(a, x) = P(a + 8, x) + 8 terms: below a = 8 the lower tail is too long for one rule
_FALL = 40  # the integrand is left out where it has fallen by e^-40


@ft.cache
def _gauss() -> tuple[np.ndarray, ...]:
    """Nodes and weights of Gauss's rule on [-1, 1], once they are needed: numpy.polynomial takes
    its time to import."""
    return np.polynomial.legendre.leggauss(64)


def _bell(n: int, at: jax.Array, psi: Sequence[jax.Array]) -> jax.Array:
    """B_n(at - psi[0], -psi[1], ...), by B_(m+1) = sum_i C(m, i) B_(m-i) k_(i+1)."""
    k = [at - psi[0], *[-p for p in psi[1:]]] if n else []
    bells = [jnp.ones_like(at)]
    for m in range(n):
        bells.append(sum(math.comb(m, i) * bells[m - i] * k[i] for i in range(m + 1)))
    return bells[n]


def _size(a: jax.Array, x: jax.Array, lgamma: jax.Array) -> jax.Array:
    return jnp.exp(sp.xlogy(a - 1, x) - x - lgamma)


def _tail(
    n: int, a: jax.Array, x: jax.Array, upper: bool, lgamma: jax.Array, psi: Sequence[jax.Array]
) -> jax.Array:
    """The integral of B_n f over the tail below (or above) log x."""
    nodes, weights = _gauss()
    c = _FALL / a  # a w^2 / (2 + w) and x w^2 / 2 are lower bounds of how far log f falls over a distance w
    # How far the tail is followed, until nothing is left of it.
    if upper:
        width = jnp.minimum(jnp.sqrt(2 * _FALL / x), jnp.log1p(2 * _FALL / x) + 2)
    else:
        width = (c + jnp.sqrt(c * c + 8 * c)) / 2
    # Gauss's nodes, stretched over that distance.
    w = width[..., None] * (nodes + 1) / 2
    a = a[..., None]
    x = x[..., None]
    lgamma = lgamma[..., None]
    # How far log f has fallen; expm1 keeps the digits of short distances.
    if upper:
        fallen = x * jnp.expm1(w) - a * w
    else:
        fallen = a * w + x * jnp.expm1(-w)
    at = jnp.log(x) + (w if upper else -w)
    return (
        (_bell(n, at, [p[..., None] for p in psi]) * jnp.exp(a * jnp.log(x) - x - lgamma - fallen))
        @ (weights / 2)
        * width
    )


def _by_parameter(n: int, a: jax.Array, x: jax.Array, lgamma: Any, polygamma: Any) -> jax.Array:
    """The n-th derivative of P by a, n >= 1, from the smaller tail."""
    inside = (a > 0) & (x > 0) & jnp.isfinite(a) & jnp.isfinite(x)
    # Above the bulk of the distribution the upper tail is the smaller one.
    above = x > jnp.maximum(a, 1)
    # Elements of the other tail, and those outside, get harmless numbers.
    high_a = jnp.where(inside & above, a, 1)
    high_x = jnp.where(inside & above, x, 2)
    low_a = jnp.where(inside & ~above, a, 1)
    low_x = jnp.where(inside & ~above, x, 1)
    parameters = jnp.stack([*[low_a + i for i in range(1, _SHIFT + 1)], high_a], -1)
    logs = lgamma(parameters)
    psi = [polygamma(i, parameters) for i in range(n)]
    upper = _tail(n, high_a, high_x, True, logs[..., -1], [p[..., -1] for p in psi])
    lower = _tail(n, low_a + _SHIFT, low_x, False, logs[..., -2], [p[..., -2] for p in psi])
    low_x = low_x[..., None]
    # P(a, x) is P at the shifted parameter plus one term for each step.
    terms = _size(parameters[..., :-1], low_x, logs[..., :-1]) * _bell(
        n, jnp.log(low_x), [p[..., :-1] for p in psi]
    )
    return jnp.where(
        inside,
        jnp.where(above, -upper, lower + terms.sum(-1)),
        # NaN and a = 0 have no derivative; elsewhere outside P is constant.
        jnp.where(jnp.isnan(a + x) | (a == 0), jnp.nan, 0),
    )


def functions(lgamma: Any, polygamma: Any) -> tuple[Any, ...]:
    """(P, Q) as functions of (a, x), differentiable to any order; `lgamma` and `polygamma` must be so too."""
    by_parameter = jax.jit(ft.partial(_by_parameter, lgamma=lgamma, polygamma=polygamma), static_argnums=0)

    @ft.partial(jax.jit, static_argnums=0)
    def density(n: Any, a: jax.Array, x: jax.Array) -> jax.Array:
        size = _size(a, x, lgamma(a))
        if n == 0:
            return size
        # log 0 is infinite; the density is 0 there.
        return jnp.where(
            x > 0,
            size * _bell(n, jnp.log(jnp.where(x > 0, x, 1)), [polygamma(i, a) for i in range(n)]),
            0,
        )

    @ft.partial(jax.custom_jvp, nondiff_argnums=(0,))
    def order(n: Any, a: jax.Array, x: jax.Array) -> jax.Array:
        return by_parameter(n, *jnp.broadcast_arrays(a, x))

    @order.defjvp
    def rule(n: Any, primals: Any, tangents: Any) -> Any:
        t, s = tangents
        return order(n, *primals), t * order(n + 1, *primals) + s * density(n, *primals)

    def with_derivatives(function: Callable[..., Any], sign: Any) -> Any:
        function = jax.custom_jvp(function)
        defslopes(
            function,
            lambda t, _, a, x: t * (sign * order(1, a, x)),
            lambda t, _, a, x: t * (sign * density(0, a, x)),
        )
        return function

    return with_derivatives(sp.gammainc, 1), with_derivatives(sp.gammaincc, -1)
