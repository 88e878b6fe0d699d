"""Reductions and running reductions. Small floating types are summed in float32 and rounded
once, as XLA does."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend import blas_threads
from paddle_jax._core.numpy_backend.rules import (
    Avals,
    Params,
    Refusal,
    Run,
    compute_dtype,
    rule,
    size_of,
)

_FEW = 16  # terms that are added one after the other
# Terms of a row that is summed by a product with ones: BLAS adds some 64 at once, a third to an eighth of the
# time of NumPy's sum. The error is that of adding 16 numbers one after the other.
_MAX_ROW = 1024
MONOIDS = {
    "add": np.add,
    "add_any": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def neutral(name: str, dtype: np.dtype) -> Any:
    """What `max` or `min` of nothing is."""
    sign = -1 if name == "max" else 1
    if dtype.kind == "b":
        return np.asarray(name == "min")
    if dtype.kind in "iu":
        return np.asarray(np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max, dtype)
    return np.asarray(sign * np.inf, dtype)


def _pairwise(shape: tuple[int, ...], axes: Sequence[int]) -> Any:
    """A sum over axes whose error grows with the logarithm of the number of terms, as XLA's does: NumPy adds
    one after the other, except along an axis whose elements are neighbours in memory."""
    # Few terms lose few digits in any order.
    if math.prod(shape[k] for k in axes) <= _FEW:
        return np.add.reduce
    if len(axes) == len(shape):
        return lambda x, axis, dtype=None: np.add.reduce(x.reshape(-1), 0, dtype)
    last_first = sorted(axes, reverse=True)
    neighbours = _last_axes(shape, axes)
    terms = math.prod(shape[len(shape) - neighbours :])
    other_axes = last_first[neighbours:]

    def reduce(x: np.ndarray, axis: Sequence[int], dtype: np.dtype | None = None) -> Any:
        if _FEW < terms <= _MAX_ROW and x.dtype.char in "fd" and x.flags.c_contiguous:
            x = blas_threads.sum_rows(x.reshape(-1, terms)).reshape(shape[: len(shape) - neighbours])
            remaining = other_axes
        else:
            remaining = last_first
        for k in remaining:
            x = np.add.reduce(_halved(x, k), k, dtype)
        return x

    return reduce


def _last_axes(shape: tuple[int, ...], axes: Sequence[int]) -> int:
    """How many axes at the end are summed over."""
    count = 0
    while count < len(axes) and len(shape) - 1 - count in axes:
        count += 1
    return count


def _halved(x: np.ndarray, axis: int) -> Any:
    """An array with the same sum along an axis, and few elements along it unless they are neighbours."""
    n = x.shape[axis]
    # NumPy adds neighbours in pairs as it is.
    if x.strides[axis] == x.itemsize:
        return x
    before = (slice(None),) * axis
    while n > _FEW:
        half = n // 2
        y = x[(*before, slice(half))] + x[(*before, slice(half, 2 * half))]
        # The odd last element joins the first sum.
        if n % 2:
            y[(*before, 0)] += x[(*before, n - 1)]
        x = y
        n = half
    return x


def _accumulating(name: str, ufunc: Any) -> None:
    @rule(name)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        axes = tuple(params["axes"])
        dtype = outs[0].dtype
        if not axes:
            return lambda x: x
        inexact = ufunc is np.add and dtype.kind in "fVc"
        if inexact and len(axes) == len(ins[0].shape) and compute_dtype(dtype) == dtype:
            add = np.add.reduce
            return lambda x: add(x.reshape(-1), 0, dtype)
        reduce, inner = _pairwise(ins[0].shape, axes) if inexact else ufunc.reduce, compute_dtype(dtype)
        if inner != dtype:
            return lambda x: np.asarray(reduce(x.astype(inner), axes)).astype(dtype)
        return ft.partial(reduce, axis=axes, dtype=dtype)


def _bounding(name: str, ufunc: Any) -> None:
    @rule(f"reduce_{name}")
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        axes = tuple(params["axes"])
        dtype = outs[0].dtype
        reduce = ufunc.reduce
        if not axes:
            return lambda x: x
        if not size_of(ins[0]):
            empty = np.broadcast_to(neutral(name, dtype), outs[0].shape)
            return lambda x: empty
        return ft.partial(reduce, axis=axes)


def _bitwise(name: str, ufunc: Any) -> None:
    @rule(f"reduce_{name}")
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        axes = tuple(params["axes"])
        if axes:
            return ft.partial(ufunc.reduce, axis=axes)
        return lambda x: x


_accumulating("reduce_sum", np.add)
_accumulating("reduce_prod", np.multiply)
_bounding("max", np.maximum)
_bounding("min", np.minimum)
for _name, _ufunc in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
    _bitwise(_name, _ufunc)


def _arg(name: str, find: Any) -> None:
    @rule(name)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        (axis,), dtype = params["axes"], np.dtype(params["index_dtype"])
        if ins[0].dtype.kind == "c":
            raise Refusal(f"{name} of complex numbers is compiled")
        return lambda x: np.asarray(find(x, axis)).astype(dtype)


_arg("argmax", np.argmax)
_arg("argmin", np.argmin)


def monoid_of(jaxpr: Any) -> Any:
    """The ufunc of a jaxpr that is a single associative operation on its two operands; None for any other."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    if len(jaxpr.eqns) != 1 or len(jaxpr.invars) != 2:
        return None
    (equation,) = jaxpr.eqns
    if list(equation.outvars) != list(jaxpr.outvars) or set(equation.invars) != set(jaxpr.invars):
        return None
    return MONOIDS.get(equation.primitive.name)


@rule("reduce")
def _reduce(params: Params, ins: Avals, outs: Avals) -> Run:
    ufunc, axes = monoid_of(params["jaxpr"]), tuple(params["dimensions"])
    if ufunc is None or len(outs) != 1:
        raise Refusal("reduce with a function of one's own is compiled")
    dtype = outs[0].dtype
    inner = compute_dtype(dtype)
    if ufunc is np.add and dtype.kind in "fVc":
        combine = _pairwise(ins[0].shape, axes)
    else:
        combine = ufunc.reduce

    def reduce(x: np.ndarray, start: Any) -> Any:
        y = combine(x.astype(inner, copy=False), axes) if axes else x
        return [np.asarray(ufunc(y, start.astype(inner, copy=False))).astype(dtype, copy=False)]

    # Not every ufunc can reduce nothing.
    if not size_of(ins[0]):
        return lambda x, start: [np.broadcast_to(start, outs[0].shape)]
    return reduce


def _running(ufunc: Any, *names: str) -> None:
    @rule(*names)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        axis = params["axis"]
        dtype = outs[0].dtype
        if ufunc is np.logaddexp and dtype.kind not in "fV":
            raise Refusal(f"{names[0]} of {dtype} is compiled")
        backwards = (slice(None),) * axis + (slice(None, None, -1),)
        accumulate, inner = ufunc.accumulate, compute_dtype(dtype)
        if ufunc in (np.add, np.multiply) and inner.char in "fF":
            # one term after the other: the error grows with their number
            inner = np.result_type(inner, np.float64)

        def run(x: np.ndarray) -> Any:
            if inner != dtype:
                x = x.astype(inner)
            if params["reverse"]:
                y = accumulate(x[backwards], axis, inner)[backwards]
            else:
                y = accumulate(x, axis, inner)
            return y.astype(dtype, copy=False)

        return run


_running(np.add, "cumsum", "running_sum")
for _name, _ufunc in (
    ("prod", np.multiply),
    ("max", np.maximum),
    ("min", np.minimum),
    ("logsumexp", np.logaddexp),
):
    _running(_ufunc, f"cum{_name}")
