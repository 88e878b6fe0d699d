"""Complex numbers of 128 bits on TPUs: what XLA's compiler for TPUs has only in newer versions.

That compiler ends its process at conversions to and from complex128, at magnitudes, signs and quotients
(libtpu 0.0.42, which `jax[tpu]` 0.10 installs; 0.0.52 has them). Here they are made of real and imaginary
parts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import mlir

_WIDE = jnp.dtype("complex128")


def converted(x: jax.Array, dtype: Any) -> jax.Array:
    """x as complex numbers of a dtype, part by part."""
    part_dtype = jnp.finfo(dtype).dtype
    if x.dtype.kind == "c":
        real = lax.convert_element_type(lax.real(x), part_dtype)
        return lax.complex(real, lax.convert_element_type(lax.imag(x), part_dtype))
    real = lax.convert_element_type(x, part_dtype)
    return lax.complex(real, lax.full_like(real, 0))


def magnitude(x: jax.Array) -> jax.Array:
    """The absolute value of complex numbers, without the overflow of squares."""
    one, other = lax.abs(lax.real(x)), lax.abs(lax.imag(x))
    large = lax.max(one, other)
    ratio = lax.min(one, other) / jnp.where(large == 0, jnp.ones_like(large), large)
    found = large * lax.sqrt(1 + ratio * ratio)
    return jnp.where(jnp.isinf(one) | jnp.isinf(other), jnp.full_like(found, jnp.inf), found)


def sign(x: jax.Array) -> jax.Array:
    """x divided by its magnitude; 0 at 0."""
    size = magnitude(x)
    size = jnp.where(size == 0, jnp.ones_like(size), size)
    return lax.complex(lax.real(x) / size, lax.imag(x) / size)


def quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    """x / y by Smith's method, which squares nothing."""
    a, b, c, d = lax.real(x), lax.imag(x), lax.real(y), lax.imag(y)
    swapped = lax.abs(c) < lax.abs(d)
    # x / y = (b - ai) / (d - ci): so the real part of the divisor is the larger one.
    a, b = jnp.where(swapped, b, a), jnp.where(swapped, -a, b)
    c, d = jnp.where(swapped, d, c), jnp.where(swapped, -c, d)
    ratio = jnp.where(c == 0, jnp.zeros_like(c), d / c)
    divisor = c + d * ratio
    real, imag = (a + b * ratio) / divisor, (b - a * ratio) / divisor
    is_zero = jnp.isinf(c) & jnp.isfinite(a) & jnp.isfinite(b) & ~jnp.isnan(d)
    zero = jnp.zeros_like(real)
    return lax.complex(jnp.where(is_zero, zero, real), jnp.where(is_zero, zero, imag))


def _usual(primitive: Any) -> Callable[..., Any]:
    """The rule that JAX has for TPUs."""
    own = mlir._platform_specific_lowerings["tpu"].get(primitive) or mlir._lowerings[primitive]
    return own.rule


def _convert_rule(usual: Callable[..., Any]) -> Callable[..., Any]:
    def rule(context: Any, operand: Any, *, new_dtype: Any, **params: Any) -> Any:
        given = context.avals_in[0].dtype
        wanted = jnp.dtype(new_dtype)
        if given == wanted or wanted.kind != "c" or _WIDE not in (given, wanted):
            return usual(context, operand, new_dtype=new_dtype, **params)
        function = functools.partial(converted, dtype=wanted)
        return mlir.lower_fun(function, multiple_results=False)(context, operand)

    return rule


def _rule(usual: Callable[..., Any], by_parts: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that takes `by_parts` for operands of complex128."""

    def rule(context: Any, *operands: Any, **params: Any) -> Any:
        if context.avals_in[0].dtype != _WIDE:
            return usual(context, *operands, **params)
        return mlir.lower_fun(by_parts, multiple_results=False)(context, *operands)

    return rule


def start() -> None:
    """Registers the rules."""
    convert = lax.convert_element_type_p
    mlir.register_lowering(convert, _convert_rule(_usual(convert)), "tpu")
    for primitive, by_parts in (
        (lax.abs_p, magnitude),
        (lax.sign_p, sign),
        (lax.div_p, quotient),
    ):
        mlir.register_lowering(primitive, _rule(_usual(primitive), by_parts), "tpu")
