"""Complex numbers of 128 bits on TPUs: conversions and magnitudes.

XLA's compiler for TPUs ends its process at a conversion to or from complex128, and at the magnitude of one
(libtpu 0.0.42, which `jax[tpu]` 0.10 installs; 0.0.52 has both). Here both are made of real and imaginary
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


def _magnitude_rule(usual: Callable[..., Any]) -> Callable[..., Any]:
    def rule(context: Any, operand: Any, **params: Any) -> Any:
        if context.avals_in[0].dtype != _WIDE:
            return usual(context, operand, **params)
        return mlir.lower_fun(magnitude, multiple_results=False)(context, operand)

    return rule


def start() -> None:
    """Registers the rules."""
    for primitive, wrap in ((lax.convert_element_type_p, _convert_rule), (lax.abs_p, _magnitude_rule)):
        mlir.register_lowering(primitive, wrap(_usual(primitive)), "tpu")
