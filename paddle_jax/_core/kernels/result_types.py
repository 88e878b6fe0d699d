"""Shapes and dtypes of the results of common primitives, from those of their operands.

JAX's own rules also handle shardings, refs, extended dtypes and messages, and take 15 to 25 us for each new
equation. The rules here are for plain arrays of common dtypes, and for operands that fit. A rule gives None
for all others, and JAX's rule decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax
from jax.core import ShapedArray

BOOL = np.dtype(bool)
# Other dtypes are rare, so JAX works out their types.
_FLOATS = frozenset(map(np.dtype, ("float32", "float64")))
_NUMBERS = _FLOATS | set(map(np.dtype, ("int32", "int64")))
_COMMON = _NUMBERS | {BOOL}
# primitive -> function (parameters, avals of the operands) -> aval of the one result, or None
RESULT_RULES: dict[Any, Callable[..., ShapedArray | None]] = {}


def _rule(*primitives: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares the rule of some primitives."""

    def declare(rule: Callable[..., Any]) -> Callable[..., Any]:
        RESULT_RULES.update(dict.fromkeys(primitives, rule))
        return rule

    return declare


def _aval(shape: tuple[int, ...], dtype: np.dtype) -> ShapedArray:
    return ShapedArray(shape, dtype)


@_rule(
    lax.exp_p,
    lax.log_p,
    lax.log1p_p,
    lax.expm1_p,
    lax.sin_p,
    lax.cos_p,
    lax.tanh_p,
    lax.logistic_p,
    lax.sqrt_p,
    lax.rsqrt_p,
    lax.erf_p,
    lax.erfc_p,
    lax.floor_p,
    lax.ceil_p,
    lax.round_p,
)
def _float_function(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    if x.dtype in _FLOATS and not x.weak_type:
        return x
    return None


@_rule(lax.neg_p, lax.sign_p, lax.abs_p, lax.square_p, lax.integer_pow_p)
def _number_function(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    # JAX refuses negative powers of integers, so these are left to it.
    if x.dtype in _NUMBERS and not x.weak_type and params.get("y", 0) >= 0:
        return x
    return None


@_rule(lax.is_finite_p)
def _is_finite(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    if x.dtype in _FLOATS and not x.weak_type:
        return _aval(x.shape, BOOL)
    return None


def _broadcast_shape(x: ShapedArray, y: ShapedArray) -> tuple[int, ...] | None:
    """The shape of an elementwise operation; None where its operands do not fit."""
    if x.shape == y.shape or not y.shape:
        return x.shape
    if not x.shape:
        return y.shape
    # Primitives broadcast lengths of 1 only; other ranks are an error, which JAX reports.
    if len(x.shape) != len(y.shape):
        return None
    shape = tuple([n if m == 1 else m for m, n in zip(x.shape, y.shape, strict=True)])
    fits = all(m in (1, k) and n in (1, k) for m, n, k in zip(x.shape, y.shape, shape, strict=True))
    if fits:
        return shape
    return None


@_rule(lax.add_p, lax.sub_p, lax.mul_p, lax.div_p, lax.max_p, lax.min_p)
def _binary(params: dict[Any, Any], x: ShapedArray, y: ShapedArray) -> ShapedArray | None:
    if x.dtype != y.dtype or x.dtype not in _NUMBERS or x.weak_type or y.weak_type:
        return None
    shape = _broadcast_shape(x, y)
    if shape is None:
        return None
    # An operand's own type spares the making of one.
    if shape == x.shape:
        return x
    if shape == y.shape:
        return y
    return _aval(shape, x.dtype)


@_rule(lax.eq_p, lax.ne_p, lax.ge_p, lax.gt_p, lax.le_p, lax.lt_p)
def _comparison(params: dict[Any, Any], x: ShapedArray, y: ShapedArray) -> ShapedArray | None:
    if x.dtype != y.dtype or x.dtype not in _NUMBERS or x.weak_type or y.weak_type:
        return None
    shape = _broadcast_shape(x, y)
    if shape is None:
        return None
    return _aval(shape, BOOL)


@_rule(lax.select_n_p)
def _select(params: dict[Any, Any], predicate: ShapedArray, *cases: ShapedArray) -> ShapedArray | None:
    x = cases[0]
    fits = (
        len(cases) == 2
        # The same object: the cheapest way to know that all of it is equal.
        and cases[1] is x
        and predicate.dtype == BOOL
        and x.dtype in _COMMON
        and not x.weak_type
        and predicate.shape in ((), x.shape)
    )
    if fits:
        return x
    return None


@_rule(lax.reduce_sum_p, lax.reduce_max_p, lax.reduce_min_p, lax.reduce_prod_p)
def _reduction(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    axes = params["axes"]
    if (
        x.dtype not in _NUMBERS
        or x.weak_type
        # Layouts on a mesh are part of the result's type, which JAX works out itself.
        or params.get("out_sharding") is not None
        or len(set(axes)) != len(axes)
        or not all(0 <= axis < len(x.shape) for axis in axes)
    ):
        return None
    return _aval(tuple([n for axis, n in enumerate(x.shape) if axis not in axes]), x.dtype)


@_rule(lax.reshape_p)
def _reshape(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    shape = params["new_sizes"]
    plain = (
        params["dimensions"] is None
        and params["sharding"] is None
        and x.dtype in _COMMON
        and not x.weak_type
        and all(type(n) is int and n >= 0 for n in shape)
    )
    if plain and math.prod(shape) == math.prod(x.shape):
        return _aval(shape, x.dtype)
    return None


@_rule(lax.broadcast_in_dim_p)
def _broadcast_in_dim(params: dict[Any, Any], x: ShapedArray, *more: ShapedArray) -> ShapedArray | None:
    shape = params["shape"]
    axes = params["broadcast_dimensions"]
    if (
        more
        or x.dtype not in _COMMON
        or x.weak_type
        or params["sharding"] is not None
        or len(axes) != len(x.shape)
        or not all(type(n) is int and n >= 0 for n in shape)
    ):
        return None
    last = -1
    for n, axis in zip(x.shape, axes, strict=True):
        # Axes out of order are an error, which JAX reports.
        if not last < axis < len(shape) or n not in (1, shape[axis]):
            return None
        last = axis
    # JAX leaves out what changes nothing
    if shape == x.shape:
        return None
    return _aval(shape, x.dtype)


@_rule(lax.transpose_p)
def _transpose(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    order = params["permutation"]
    plain = x.dtype in _COMMON and not x.weak_type and sorted(order) == list(range(len(x.shape)))
    if plain:
        return _aval(tuple([x.shape[axis] for axis in order]), x.dtype)
    return None


@_rule(lax.dot_general_p)
def _dot_general(params: dict[Any, Any], x: ShapedArray, y: ShapedArray) -> ShapedArray | None:
    (contracted_x, contracted_y), (batch_x, batch_y) = params["dimension_numbers"]
    sum_dtype = params["preferred_element_type"]
    if x.dtype != y.dtype or x.dtype not in _FLOATS or x.weak_type or y.weak_type:
        return None
    # Results of another dtype, as for float32 sums of float16.
    if sum_dtype is not None and sum_dtype != x.dtype:
        return None
    if params["out_sharding"] is not None:
        return None
    if len(contracted_x) != len(contracted_y) or len(batch_x) != len(batch_y):
        return None
    paired_x = (*contracted_x, *batch_x)
    paired_y = (*contracted_y, *batch_y)
    # An axis that is named twice is an error, which JAX reports.
    if len(set(paired_x)) != len(paired_x) or len(set(paired_y)) != len(paired_y):
        return None
    for i, j in zip(paired_x, paired_y, strict=True):
        if not 0 <= i < len(x.shape) or not 0 <= j < len(y.shape) or x.shape[i] != y.shape[j]:
            return None
    # Batch axes first, then the free axes of x, then those of y.
    shape = [x.shape[i] for i in batch_x]
    shape += [n for i, n in enumerate(x.shape) if i not in paired_x]
    shape += [n for j, n in enumerate(y.shape) if j not in paired_y]
    return _aval(tuple(shape), x.dtype)


@_rule(lax.concatenate_p)
def _concatenate(params: dict[Any, Any], *parts: ShapedArray) -> ShapedArray | None:
    axis = params["dimension"]
    first = parts[0]
    rank = len(first.shape)
    if first.dtype not in _COMMON or not 0 <= axis < rank:
        return None
    before = first.shape[:axis]
    behind = first.shape[axis + 1 :]
    for part in parts:
        if part.weak_type or part.dtype != first.dtype or len(part.shape) != rank:
            return None
        if part.shape[:axis] != before or part.shape[axis + 1 :] != behind:
            return None
    length = sum(part.shape[axis] for part in parts)
    return _aval((*before, length, *behind), first.dtype)


@_rule(lax.slice_p)
def _slice(params: dict[Any, Any], x: ShapedArray) -> ShapedArray | None:
    starts = params["start_indices"]
    ends = params["limit_indices"]
    rank = len(x.shape)
    if params["strides"] is None:
        steps = (1,) * rank
    else:
        steps = params["strides"]
    if x.dtype not in _COMMON or x.weak_type or not rank == len(starts) == len(ends) == len(steps):
        return None
    shape = []
    for start, end, step, length in zip(starts, ends, steps, x.shape, strict=True):
        if not 0 <= start <= end <= length or step <= 0:
            return None
        # ceil((end - start) / step)
        shape.append(-((start - end) // step))
    return _aval(tuple(shape), x.dtype)
