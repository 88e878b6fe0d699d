"""Shapes and dtypes of the results of common primitives, from those of their operands.

JAX's own rules also see to shardings, refs, extended dtypes and messages for people, and take 15 to 25 us for
each equation that is new. These are for plain arrays of common dtypes only, and for operands that fit; a rule
gives None for whatever else, which is then JAX's to say.
"""

import math

import numpy as np
from jax import lax
from jax.core import ShapedArray

BOOL = np.dtype(bool)
_FLOATS = frozenset(map(np.dtype, ("float32", "float64")))
_NUMBERS = _FLOATS | set(map(np.dtype, ("int32", "int64")))
_COMMON = _NUMBERS | {BOOL}
# primitive -> function (parameters, avals of the operands) -> aval of the one result, or None
RESULT_RULES = {}


def _rule(*primitives):
    def declare(rule):
        RESULT_RULES.update(dict.fromkeys(primitives, rule))
        return rule

    return declare


def _of(shape, dtype):
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
def _of_floats(params, x):
    return x if x.dtype in _FLOATS and not x.weak_type else None


@_rule(lax.neg_p, lax.sign_p, lax.abs_p, lax.square_p, lax.integer_pow_p)
def _of_numbers(params, x):
    return x if x.dtype in _NUMBERS and not x.weak_type and params.get("y", 0) >= 0 else None


@_rule(lax.is_finite_p)
def _truth(params, x):
    return _of(x.shape, BOOL) if x.dtype in _FLOATS and not x.weak_type else None


def _together(x, y):
    """The shape of an elementwise operation; None where its operands do not fit."""
    if x.shape == y.shape or not y.shape:
        return x.shape
    if not x.shape:
        return y.shape
    if len(x.shape) != len(y.shape):
        return None
    shape = tuple([n if m == 1 else m for m, n in zip(x.shape, y.shape, strict=True)])
    fits = all(m in (1, k) and n in (1, k) for m, n, k in zip(x.shape, y.shape, shape, strict=True))
    return shape if fits else None


@_rule(lax.add_p, lax.sub_p, lax.mul_p, lax.div_p, lax.max_p, lax.min_p)
def _of_two(params, x, y):
    if x.dtype != y.dtype or x.dtype not in _NUMBERS or x.weak_type or y.weak_type:
        return None
    shape = _together(x, y)
    if shape is None:
        return None
    return x if shape == x.shape else y if shape == y.shape else _of(shape, x.dtype)


@_rule(lax.eq_p, lax.ne_p, lax.ge_p, lax.gt_p, lax.le_p, lax.lt_p)
def _compared(params, x, y):
    if x.dtype != y.dtype or x.dtype not in _NUMBERS or x.weak_type or y.weak_type:
        return None
    shape = _together(x, y)
    return None if shape is None else _of(shape, BOOL)


@_rule(lax.select_n_p)
def _chosen(params, which, *cases):
    x = cases[0]
    fits = (
        len(cases) == 2
        and cases[1] is x
        and which.dtype == BOOL
        and x.dtype in _COMMON
        and not x.weak_type
        and which.shape in ((), x.shape)
    )
    return x if fits else None


@_rule(lax.reduce_sum_p, lax.reduce_max_p, lax.reduce_min_p, lax.reduce_prod_p)
def _reduced(params, x):
    axes = params["axes"]
    if (
        x.dtype not in _NUMBERS
        or x.weak_type
        or params.get("out_sharding") is not None
        or len(set(axes)) != len(axes)
        or not all(0 <= axis < len(x.shape) for axis in axes)
    ):
        return None
    return _of(tuple([n for axis, n in enumerate(x.shape) if axis not in axes]), x.dtype)


@_rule(lax.reshape_p)
def _reshaped(params, x):
    shape = params["new_sizes"]
    plain = (
        params["dimensions"] is None
        and params["sharding"] is None
        and x.dtype in _COMMON
        and not x.weak_type
        and all(type(n) is int and n >= 0 for n in shape)
    )
    return _of(shape, x.dtype) if plain and math.prod(shape) == math.prod(x.shape) else None


@_rule(lax.broadcast_in_dim_p)
def _spread(params, x, *more):
    shape, axes = params["shape"], params["broadcast_dimensions"]
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
        if not last < axis < len(shape) or n not in (1, shape[axis]):
            return None
        last = axis
    return None if shape == x.shape else _of(shape, x.dtype)  # JAX leaves out what changes nothing


@_rule(lax.transpose_p)
def _turned(params, x):
    order = params["permutation"]
    plain = x.dtype in _COMMON and not x.weak_type and sorted(order) == list(range(len(x.shape)))
    return _of(tuple([x.shape[axis] for axis in order]), x.dtype) if plain else None


@_rule(lax.dot_general_p)
def _product(params, x, y):
    (of_x, of_y), (batch_x, batch_y) = params["dimension_numbers"]
    wanted = params["preferred_element_type"]
    if (
        x.dtype != y.dtype
        or x.dtype not in _FLOATS
        or x.weak_type
        or y.weak_type
        or wanted is not None
        and wanted != x.dtype
        or params["out_sharding"] is not None
    ):
        return None
    mine, theirs = (*of_x, *batch_x), (*of_y, *batch_y)
    fits = (
        len(of_x) == len(of_y)
        and len(batch_x) == len(batch_y)
        and all(
            0 <= i < len(x.shape) and 0 <= j < len(y.shape) and x.shape[i] == y.shape[j]
            for i, j in zip(mine, theirs, strict=True)
        )
        and len(set(mine)) == len(mine)
        and len(set(theirs)) == len(theirs)
    )
    if not fits:
        return None
    return _of(
        tuple(
            [
                *[x.shape[i] for i in batch_x],
                *[n for i, n in enumerate(x.shape) if i not in mine],
                *[n for j, n in enumerate(y.shape) if j not in theirs],
            ]
        ),
        x.dtype,
    )


@_rule(lax.concatenate_p)
def _joined(params, *parts):
    axis, x = params["dimension"], parts[0]
    rank = len(x.shape)
    fits = (
        x.dtype in _COMMON
        and 0 <= axis < rank
        and not any(part.weak_type for part in parts)
        and all(part.dtype == x.dtype and len(part.shape) == rank for part in parts)
        and all(
            part.shape[:axis] == x.shape[:axis] and part.shape[axis + 1 :] == x.shape[axis + 1 :]
            for part in parts
        )
    )
    length = sum(part.shape[axis] for part in parts) if fits else 0
    return _of((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype) if fits else None


@_rule(lax.slice_p)
def _cut(params, x):
    starts, ends, steps = params["start_indices"], params["limit_indices"], params["strides"]
    rank = len(x.shape)
    steps = (1,) * rank if steps is None else steps
    if x.dtype not in _COMMON or x.weak_type or not rank == len(starts) == len(ends) == len(steps):
        return None
    edges = list(zip(starts, ends, steps, x.shape, strict=True))
    fits = all(0 <= start <= end <= n and step > 0 for start, end, step, n in edges)
    return _of(tuple([-((start - end) // step) for start, end, step, _ in edges]), x.dtype) if fits else None
