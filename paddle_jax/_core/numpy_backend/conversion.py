"""Changes of type: conversion as XLA's CPU compiler does it, bits seen as another type, reduced precision."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, is_low, rule, size_of


@rule("convert_element_type", of_any_lengths=True)
def _convert(params: Params, ins: Avals, outs: Avals) -> Run:
    source = ins[0].dtype
    target = outs[0].dtype
    if source == target:
        return lambda x: x
    # XLA takes the real part.
    if source.kind == "c" and target.kind != "c":
        inner = _conversion(np.dtype(f"f{source.itemsize // 2}"), target)
        return lambda x: inner(x.real)
    return _conversion(source, target)


def _conversion(source: Any, target: Any) -> Any:
    if target.kind == "b":
        return lambda x: x != 0
    if source.kind in "fV" and target.kind in "iu":
        return _saturating(source, target)
    return operator.methodcaller("astype", target)


def _saturating(source: Any, target: Any) -> Any:
    """Float to integer: the fraction is dropped, what does not fit becomes the nearest
    limit, NaN becomes 0."""
    info, low = np.iinfo(target), is_low(source)
    # The first number above the range, since the largest integer may be no float.
    above = 2.0 ** (info.bits - (target.kind == "i"))
    below = -(2.0 ** (info.bits - 1)) if target.kind == "i" else 0.0

    def convert(x: np.ndarray) -> Any:
        x = np.asarray(x)
        if low:
            # NumPy computes slowly with fewer than 32 bits, or not at all.
            x = x.astype(np.float32)
        inside = (x < above) & (x >= below)
        # Nearly always all numbers fit.
        if inside.all():
            return x.astype(target)
        y = np.where(inside, x, x.dtype.type(0)).astype(target)
        y[x >= above] = info.max
        y[x < below] = info.min
        return y

    return convert


@rule("bitcast_convert_type")
def _bitcast(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    shape = outs[0].shape
    if ins[0].dtype.itemsize == dtype.itemsize and size_of(ins[0]):
        return lambda x: np.ascontiguousarray(x).view(dtype).reshape(shape)
    # Another size changes the last axis, which `view` does not do for every shape.
    return lambda x: np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype).reshape(shape)


@rule("reduce_precision")
def _reduce_precision(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    exponent = params["exponent_bits"]
    mantissa = params["mantissa_bits"]
    info = np.finfo(dtype) if dtype.kind == "f" else None
    # The dtype has no more bits than are asked for.
    if info is not None and exponent >= info.nexp and mantissa >= info.nmant:
        return lambda x: x
    return _rounded_to(dtype, exponent, mantissa)


def _rounded_to(dtype: np.dtype, exponent_bits: Any, mantissa_bits: Any) -> Any:
    """Rounds to the nearest even number of fewer mantissa bits; too large becomes
    infinite, too small zero."""
    import ml_dtypes

    info = ml_dtypes.finfo(dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    one = bits.type(1)
    drop = max(info.nmant - mantissa_bits, 0)
    sign = one << bits.type(info.bits - 1)
    bias = 2 ** (info.nexp - 1) - 1
    small = 2 ** (exponent_bits - 1) - 1
    # exponents
    largest = bits.type((bias + small) << info.nmant)
    least = bits.type(max(bias - small, 0) << info.nmant)
    infinity = bits.type(((1 << info.nexp) - 1) << info.nmant)

    def rounded(x: np.ndarray) -> Any:
        x = np.ascontiguousarray(x)
        b = x.view(bits)
        if drop:
            odd = (b >> bits.type(drop)) & one
            half = bits.type((1 << (drop - 1)) - 1)  # with `odd` a tie goes to the even neighbour
            dropped_bits = bits.type((1 << drop) - 1)
            # Rounding may carry into the exponent, as it should.
            b = (b + (half + odd)) & ~dropped_bits
        # The bits of the exponent alone.
        size = b & infinity
        if exponent_bits < info.nexp:
            zero = b & sign
            b = np.where(size > largest, zero | infinity, np.where(size <= least, zero, b))
        return np.where(np.isnan(x), x, b.view(dtype)).reshape(x.shape)

    return rounded
