"""What bodies of several op families share: names of inner ops, conversion between dtypes."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tensors.views import ViewRule

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


def named(name: str) -> Callable[..., Any]:
    """Gives the inner op of a composite the name of the public function, which error messages and tape
    nodes then show."""

    def rename(fn: Callable[..., Any]) -> Callable[..., Any]:
        fn.__name__ = fn.__qualname__ = name
        return fn

    return rename


def magnitude(x: jax.Array) -> jax.Array:
    """|x| of a floating or complex array with slope 0 at 0, as Paddle has it; that of `jnp.abs` is 1."""
    if x.dtype.kind != "c":
        return x * lax.stop_gradient(jnp.sign(x))
    # Both choices keep the infinite slope of the root at 0 out of the gradient.
    return jnp.where(x == 0, 0, jnp.abs(jnp.where(x == 0, 1, x)))


@jax.custom_jvp
def log_one_plus_exp(x: jax.Array) -> jax.Array:
    """log(1 + exp(x)) without overflow. `jax.nn.softplus` takes twice the equations, and its slope four times
    those of a logistic function."""
    # Complex numbers have no maximum.
    if jnp.iscomplexobj(x):
        return jnp.logaddexp(x, 0)
    return lax.add(jnp.maximum(x, 0), _log_of_small(x))


@log_one_plus_exp.defjvp
def _log_one_plus_exp_tangent(
    primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, jax.Array]:
    (x,) = primals
    (dx,) = tangents
    return log_one_plus_exp(x), lax.mul(dx, lax.logistic(x))


@jax.custom_jvp
def negative_log_sigmoids(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(-log(sigmoid(x)), -log(sigmoid(-x))), which is (log(1 + exp(-x)), log(1 + exp(x))).

    Neither loses digits for large |x|.
    """
    if jnp.iscomplexobj(x):
        return log_one_plus_exp(-x), log_one_plus_exp(x)
    small = _log_of_small(x)
    return lax.add(jnp.maximum(lax.neg(x), 0), small), lax.add(jnp.maximum(x, 0), small)


@negative_log_sigmoids.defjvp
def _negative_log_sigmoids_tangent(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    (x,) = primals
    (dx,) = tangents
    slopes = lax.mul(lax.neg(dx), lax.logistic(lax.neg(x))), lax.mul(dx, lax.logistic(x))
    return negative_log_sigmoids(x), slopes


def _log_of_small(x: jax.Array) -> jax.Array:
    """log(1 + exp(-|x|))."""
    return lax.log1p(lax.exp(lax.neg(lax.abs(x))))


def chosen_at_random(key: jax.Array, chance: float, shape: Sequence[int]) -> jax.Array:
    """Truth values, each true with a chance: those of `jax.random.bernoulli` for a chance in float32.

    That compares a float of 23 random bits, the upper ones, with the chance. The comparison of the bits
    themselves saves seven operations on all elements.
    """
    # A draw of float32 has 23 random bits; the comparison needs no float.
    needed = math.ceil(float(np.float32(chance)) * (1 << 23))
    if needed >= 1 << 23:
        return jnp.ones(shape, bool)
    return lax.lt(jax.random.bits(key, shape, np.uint32), np.uint32(max(needed, 0) << 9))


@np.errstate(over="ignore", invalid="ignore")  # as in compiled code, which does not warn
def converted(x: jax.Array, dtype: DTypeLike) -> jax.Array:
    """An array in another dtype by Paddle's rules: complex loses its imaginary part, floats wrap in integers
    of less than 32 bits as in C, and stop at the largest number of 8 bits."""
    if x.dtype.kind == "c" and dtype.kind != "c" and dtype != jnp.bool_:
        x = x.real
    # Floats wrap in small integers, as in Paddle; XLA's conversion would stop at the bounds.
    if dtype.itemsize < 4 and dtype.kind in "iu" and x.dtype.kind in "fV":
        x = x.astype(jnp.int32)
    # Paddle stops at the largest number; a plain conversion gives NaN or infinity.
    if dtype.name.startswith("float8"):
        most = float(jnp.finfo(dtype).max)
        x = jnp.clip(x.astype(jnp.float32), -most, most)
    return x.astype(dtype)


def as_view(back: Callable[..., Any]) -> Callable[..., Any]:
    """`view` of an op whose result shows all of its first operand's elements, or a part of each. back:
    function (operand, value of the result) -> the operand with that value in it."""
    put = Kernel("view_back", lambda base, value, *rest: back(base, value))
    rule = ViewRule(lambda kernel: put, dense=False)
    return lambda layout, attrs: rule


def selecting(layout: Any, attrs: Any) -> ViewRule:
    """`view` of an op whose result shows some elements of its first operand, each once."""
    return _SELECTED


@ft.lru_cache(maxsize=256)
def _selected_back(kernel: Kernel) -> Kernel:
    def put(base: jax.Array, value: jax.Array, *rest: Any) -> jax.Array:
        places = kernel.fn(jnp.arange(base.size).reshape(base.shape), *rest)
        return base.ravel().at[places.ravel()].set(value.ravel()).reshape(base.shape)

    return Kernel(kernel.name + "_back", put)


_SELECTED = ViewRule(_selected_back, dense=False)


def defslopes(function: Any, *slopes: Any) -> None:
    """Gives a `jax.custom_jvp` function one slope per operand, `(tangent, result, *operands) ->
    tangent of the result`.

    As `defjvps`, but the slope of an operand that does not change is not computed: it may be NaN or dear.
    """

    def rule(primals: Any, tangents: Any) -> Any:
        out = function(*primals)
        parts = [
            # A zero tangent costs nothing.
            slope(t, out, *primals)
            for slope, t in zip(slopes, tangents, strict=True)
            if not isinstance(t, SymbolicZero)
        ]
        return out, sum(parts[1:], parts[0]) if parts else jnp.zeros_like(out)

    function.defjvp(rule, symbolic_zeros=True)
