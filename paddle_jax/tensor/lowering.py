"""Where XLA's own lowering is slow on the CPU, and what to compute instead. Measured in
docs/design/cpu-lowering.md."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.size import are_known
from paddle_jax._core.lazy.devices import traced_platform
from paddle_jax.tensor.products import along_axis
from paddle_jax.tensor.running_sums import running_sum

# The lower half of 64 bits.
_LOW = 0xFFFFFFFF
_LEVELS = 31  # of a scan by doubling: lengths up to 2^31


def on_cpu() -> bool:
    """Whether what is traced now will run on a CPU, as far as is known: by the default device
    (`paddle.set_device` sets it).

    Used where the CPU wants another lowering. Both lowerings are right on every platform, so a value that was
    put elsewhere by hand only costs time. `lax.platform_dependent` would know better, but it traces both, and
    its derivative keeps what either of them needs.
    """
    return traced_platform() == "cpu"


def has_float64() -> bool:
    """Whether the default device computes in float64 itself. A TPU splits it into many operations."""
    return traced_platform() != "tpu"


def sign_bit(x: jax.Array) -> jax.Array:
    """Whether each number carries a minus sign, -0.0 and NaN included."""
    # A TPU has no bits of float64; rounding to float32 keeps the sign.
    if x.dtype == jnp.float64 and not has_float64():
        x = x.astype(jnp.float32)
    return jnp.signbit(x)


def copy_sign(x: jax.Array, y: jax.Array) -> jax.Array:
    """x with the signs of y."""
    return jnp.where(sign_bit(x) == sign_bit(y), x, -x)


def mantissa_and_exponent(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(mantissas of 0.5 to 1, exponents as int32) of numbers; of 0 the mantissa is 0. No gradient flows
    through the exponents."""
    fixed = lax.stop_gradient(x)
    if x.dtype != jnp.float64 or has_float64():
        exponent = jnp.frexp(fixed)[1]
        return jnp.where(x == 0, 0, jnp.ldexp(x, -exponent)), exponent
    exponent = jnp.frexp(fixed.astype(jnp.float32))[1]
    # float32 has rounded to the next power of two
    is_rounded_up = (fixed != 0) & (jnp.abs(_times_power(fixed, -exponent)) < 0.5)
    exponent = exponent - is_rounded_up
    return _times_power(x, -exponent), exponent


def _times_power(x: jax.Array, exponent: jax.Array) -> jax.Array:
    """x * 2^exponent, exactly, without the bits of float64. The power of two may be too large for float32,
    its root is not."""
    half = exponent // 2
    for part in (half, exponent - half):
        x = x * jnp.ldexp(jnp.float32(1), part).astype(x.dtype)
    return x


def narrowed(index: jax.Array) -> jax.Array:
    """Indices of int64 as int32 on accelerators, which compute 64 bits in pairs; a number that does not fit
    becomes the least of int32, which is no index.

    The halves are looked at, so no instruction has 64 bits.
    """
    # the dtype first: asking for the platform starts the devices, which parameter servers never use
    if index.dtype != jnp.int64 or on_cpu():
        return index
    # XLA puts the lower half first.
    halves = lax.bitcast_convert_type(index, jnp.int32)
    low = lax.index_in_dim(halves, 0, -1, keepdims=False)
    high = lax.index_in_dim(halves, 1, -1, keepdims=False)
    # A number fits where the upper half repeats the sign of the lower one.
    fits = high == (low >> np.int32(31))
    return lax.select(fits, low, lax.full_like(low, np.iinfo(np.int32).min))


@jax.custom_jvp
def computed_once(x: jax.Array) -> jax.Array:
    """x, which is about to be read many times. XLA:CPU would compute its operands again for every reader,
    since its fusion copies producers.

    A barrier does not keep it from that; a conditional does. The condition always holds, which the
    compiler cannot know.
    """
    bits = lax.bitcast_convert_type(x.reshape(-1)[0].astype(jnp.float32), jnp.int32)
    return lax.cond(lax.population_count(bits) <= 32, lambda v: v, lambda v: v + v, x)


@computed_once.defjvp
def _computed_once_tangent(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return computed_once(*primals), tangents[0]


def running(function: Callable[..., Any], whole: Callable[..., Any], x: jax.Array, axis: Any) -> jax.Array:
    """`function` accumulated along an axis; `whole` is the function of jax.numpy that does so."""
    if on_cpu() and x.shape[axis]:
        # XLA:CPU walks a window over the axis for each element otherwise
        if function is jnp.add and are_known(*x.shape):
            return running_sum(x, axis)
        return associative_scan(function, x, axis)
    return whole(x, axis=axis, dtype=x.dtype)


def associative_scan(function: Callable[..., Any], values: Any, axis: int) -> Any:
    """`lax.associative_scan`, also where JAX traces for every length of the axis.

    Args:
        function: associative function of two such pytrees.
        values: pytree of arrays of one shape.
        axis: int, not negative.
    """
    length = jax.tree.leaves(values)[0].shape[axis]
    if are_known(length):
        return lax.associative_scan(function, values, axis=axis)
    number = jnp.asarray(length)
    for level in range(_LEVELS):
        step = ft.partial(_add_earlier, function, axis, 1 << level)
        # Branches have derivatives of every order; a `while` loop has none backwards.
        values = lax.cond(number > 1 << level, step, lambda same: same, values)
    return values


def _add_earlier(function: Callable[..., Any], axis: int, distance: int, values: Any) -> Any:
    """One level of a scan by doubling: each element takes in the one at a distance before it."""

    def earlier(x: jax.Array) -> jax.Array:
        edges = [(0, 0, 0)] * x.ndim
        # A negative width cuts off the end.
        edges[axis] = (distance, -distance, 0)
        return lax.pad(x, jnp.zeros((), x.dtype), edges)

    combined = function(jax.tree.map(earlier, values), values)
    # The first elements have nothing at that distance before them.
    return jax.tree.map(
        lambda new, old: jnp.where(lax.broadcasted_iota(jnp.int32, old.shape, axis) < distance, old, new),
        combined,
        values,
    )


def stable_order(x: jax.Array, axis: Any = -1, descending: bool = False) -> jax.Array:
    """The indices that sort x along an axis. Equal elements keep their order; NaN counts as larger
    than all numbers.

    XLA:CPU has a fast sort for one array of integers only. So the key and the index are packed into one
    int64; a key of 64 bits takes two rounds, low half first, as in a radix sort.
    """
    axis %= x.ndim
    keys = _keys(x) if on_cpu() and x.shape[axis] <= _LOW else None
    if keys is None:
        return jnp.argsort(x, axis, stable=True, descending=descending)
    # The complement turns the order round, and equal keys stay equal.
    if descending:
        keys = ~keys
    # A key of 32 bits and its position fit into one number of 64 bits.
    if keys.dtype.itemsize == 4:
        return _packed(keys.astype(jnp.int64), axis)
    # Keys of 64 bits are sorted twice, by the lower half first.
    first = _packed((keys & _LOW) - (1 << 31), axis)
    second = _packed(along_axis(keys >> 32, first, axis), axis)
    return along_axis(first, second, axis)


def _packed(keys: jax.Array, axis: int) -> jax.Array:
    """The order of int64 keys that fit into 32 bits."""
    place = lax.broadcasted_iota(jnp.int64, keys.shape, axis)
    return lax.sort((keys << 32) | place, dimension=axis, is_stable=False) & _LOW


def _keys(x: jax.Array) -> jax.Array | None:
    """int32 or int64 with the order of x, equal where x is equal, NaN last; None for dtypes without one."""
    # As keys, large unsigned numbers would be negative.
    if x.dtype == bool or (jnp.issubdtype(x.dtype, jnp.integer) and x.dtype not in (np.uint32, np.uint64)):
        return x.astype(jnp.int64 if x.dtype.itemsize == 8 else jnp.int32)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return None
    if not (x.dtype.itemsize == 8):
        x = x.astype(jnp.float32)
    kind = jnp.int64 if x.dtype.itemsize == 8 else jnp.int32
    most = jnp.iinfo(kind).max
    bits = lax.bitcast_convert_type(jnp.where(x == 0, jnp.zeros((), x.dtype), x), kind)  # -0 equals 0
    # As integers, negative floats have the opposite order.
    return jnp.where(jnp.isnan(x), most, jnp.where(bits < 0, bits ^ most, bits))
