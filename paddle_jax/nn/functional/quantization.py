"""Arithmetic of simulated quantization: real numbers rounded to what few bits can hold, scales
followed over batches.

A scale s is the largest magnitude that is represented; with b bits the integers go to n = 2^(b-1) - 1, and x
stands as round(x n / s).

See: Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
    Inference, 2018.
"""

from __future__ import annotations

import functools as ft
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op

_TINY = 1e-6  # keeps the inverse of a scale of zero finite


def _inverse(scale: jax.Array) -> jax.Array:
    return jnp.where(scale <= 1e-30, 1 / (scale + _TINY), 1 / scale)


def _wide(x: jax.Array) -> jax.Array:
    """Numbers of half precision in single precision, in which the rounding is done."""
    if x.dtype.itemsize < 4 or not jnp.issubdtype(x.dtype, jnp.floating):
        return x.astype(jnp.float32)
    return x


def _along(scale: jax.Array, x: jax.Array, axis: int) -> jax.Array:
    """The scales of the channels of one axis, ready to be multiplied with x."""
    if axis >= 0:
        return scale.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    # A negative axis: one scale for all channels.
    return scale.reshape(-1)[0]


@ft.partial(jax.custom_jvp, nondiff_argnums=(2,))
def _rounded(x: jax.Array, scale: jax.Array, bound: int) -> jax.Array:
    wide = _wide(x)
    scale = _wide(scale)
    steps = lax.round(
        bound * _inverse(scale) * jnp.clip(wide, -scale, scale), lax.RoundingMethod.AWAY_FROM_ZERO
    )
    return (steps * scale / bound).astype(x.dtype)


@_rounded.defjvp
def _straight_through(
    bound: int, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, Any]:
    return _rounded(*primals, bound), tangents[0]


@known_as(
    pir="fake_quantize_dequantize_moving_average_abs_max(x,scale,_,_)->out,_,_,_ "
    "moving_rate:f32=0.9 bit_length:i32=8 is_test:bool=True round_type:i32=1",
    code="quantization:fake_quantize_dequantize",
)
@op("x scale", register=False, method=False)
def fake_quantize_dequantize(
    x: jax.Array, scale: jax.Array, bit_length: int = 8, quant_axis: int = -1
) -> jax.Array:
    """x rounded to the nearest number of `bit_length` bits and clipped to the scale (halves go away from
    zero). The gradient is that of x itself.

    Args:
        x: Tensor of floating numbers.
        scale: Tensor of one element, or one for each channel of quant_axis.
        bit_length: int, number of bits.
        quant_axis: int, axis of the channels, or -1 for one scale.
    """
    return _rounded(x, _along(scale, x, quant_axis), float(2 ** (bit_length - 1) - 1))


@op("x", register=False, method=False, nondiff=True)
def abs_max(x: jax.Array, axis: int = -1) -> jax.Array:
    """The largest magnitude of x, [1], or of each channel of an axis, [channels]."""
    if axis >= 0:
        others = tuple(i for i in range(x.ndim) if i != axis)
    else:
        others = None
    return jnp.max(jnp.abs(x), axis=others, initial=0).reshape(-1)


@op("x scale state accum", register=False, method=False, nondiff=True)
def moving_average_abs_max(
    x: jax.Array, scale: jax.Array, state: jax.Array, accum: jax.Array, moving_rate: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(scale, state, accum) after a batch: state = rate state + 1, accum = rate accum + max |x|, scale
    = accum / state."""
    state = moving_rate * state + 1
    accum = moving_rate * accum + jnp.max(jnp.abs(x), initial=0).astype(accum.dtype)
    return (accum / state).astype(scale.dtype), state, accum


@known_as(
    pir="quantize_linear(x,scale,zero_point,_:f32=0.0,_:f32=0.0)->out,_,_,_ quant_axis:i32=-1 "
    "bit_length:i32=8 qmin:i32=-128 qmax:i32=127 round_type:i32=0 is_test:bool=True "
    "only_observer:bool=False",
    code="quantization:quantize_linear",
)
@op("x scale zero_point", register=False, method=False, nondiff=True)
def quantize_linear(
    x: jax.Array,
    scale: jax.Array,
    zero_point: jax.Array,
    quant_axis: int = -1,
    bit_length: int = 8,
    qmin: int = -128,
    qmax: int = 127,
) -> jax.Array:
    """Integers (as floating numbers) that stand for x: round(x qmax / scale), halves to even,
    clipped to qmin..qmax.

    Args:
        x: Tensor of numbers.
        scale: Tensor of one element, or one for each channel of quant_axis.
        zero_point: Tensor of zeros, kept for the file format.
        quant_axis: int, axis of the channels, or -1 for one scale.
        bit_length: int, number of bits, kept for the file format.
        qmin, qmax: ints, the range of the integers.
    """
    wide = _wide(x)
    steps = qmax * _inverse(_along(_wide(scale), x, quant_axis)) * wide
    return jnp.clip(jnp.round(steps), qmin, qmax).astype(x.dtype)


@known_as(
    pir="dequantize_linear(x,scale,zero_point,_:f32=0.0,_:f32=0.0)->out,_,_,_ "
    "quant_axis:i32=-1 bit_length:i32=8 qmin:i32=-128 qmax:i32=127 round_type:i32=0 "
    "is_test:bool=True only_observer:bool=False",
    code="quantization:dequantize_linear",
)
@op("x scale zero_point", register=False, method=False, nondiff=True)
def dequantize_linear(
    x: jax.Array,
    scale: jax.Array,
    zero_point: jax.Array,
    quant_axis: int = -1,
    bit_length: int = 8,
    qmin: int = -128,
    qmax: int = 127,
) -> jax.Array:
    """The numbers that integers stand for: x scale / qmax.

    Args:
        x: Tensor of numbers.
        scale: Tensor of one element, or one for each channel of quant_axis.
        zero_point: Tensor of zeros, kept for the file format.
        quant_axis: int, axis of the channels, or -1 for one scale.
        bit_length: int, number of bits, kept for the file format.
        qmin, qmax: ints, the range of the integers.
    """
    wide = _wide(x)
    return (wide * _along(_wide(scale), x, quant_axis) / qmax).astype(x.dtype)


@op("x scale", register=False, method=False, nondiff=True)
def quantize_groups(x: jax.Array, scale: jax.Array, group_size: int, bound: int) -> jax.Array:
    """As `quantize_linear` for a matrix [rows, columns], each `group_size` rows of a column with a scale of
    their own, [groups, columns]."""
    return jnp.clip(jnp.round(x / jnp.repeat(scale, group_size, axis=0) * bound), -bound - 1, bound)


@op("x scale", register=False, method=False, nondiff=True)
def dequantize_groups(x: jax.Array, scale: jax.Array, group_size: int, bound: int) -> jax.Array:
    """As `dequantize_linear` for groups of rows, see `quantize_groups`."""
    return x / bound * jnp.repeat(scale, group_size, axis=0)
