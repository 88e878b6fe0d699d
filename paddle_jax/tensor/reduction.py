"""Reductions over axes: sums, products, extremes, truth values, counts."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.ops import as_float
from paddle_jax.tensor.reduced import accumulated, all_axes, total

if TYPE_CHECKING:
    from paddle_jax._annotations import Axes, DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


X_DIM = {"input": "x", "dim": "axis"}
FORMS = [
    "f(2,3,4)",
    "f(2,3,4), -1",
    "f(2,3,4), [0, 2], keepdim=True",
    "d(3,2), axis=(0,)",
    "f(), -1",
    "f(2,3), []",
    "f(2,3), 2",
    "f(2,3), [0, 0]",
    "f(2,3), 'a'",
    "i(2,3), 1",
]


def count(x: jax.Array, axes: Any) -> int:
    """The number of elements that a reduction over these axes combines."""
    return ft.reduce(lambda n, a: n * x.shape[a], axes, 1)


def _widened(x: jax.Array, dtype: str | None) -> jax.Array:
    """The operand of a sum in the dtype it is summed in: int32 and bool sum as int64."""
    if dtype is not None:
        return x.astype(dtypes.convert(dtype).np)
    # As in Paddle, where sums of int32 are int64.
    if x.dtype in (jnp.bool_, jnp.int32):
        return x.astype(jnp.int64)
    return x


@known_as(
    amp="reduce_sum",
    pir="sum(x,axis:ints?) dtype:dtype?='Undefined(ALL_DTYPE)' keepdim:bool=False",
    code="reductions:total",
)
@op(
    alias=X_DIM,
    out=True,
    cases=[
        *FORMS,
        "f(0,3), 0",
        "f(0,3)",
        "b(2,3), 0",
        "i32(4)",
        "f(3), dtype='float64'",
        "c(2,3), 1",
        "h(4,3), 0",
        "u8(3)",
        "f(2,3), 1, True",
        "f(2,3), True",
        "f(3), None, 'int32'",
        "h(2,3), 1, 'int64'",
        "bf(2,3), 1, 'int32'",
        "h(2,3), 1, 'float64'",
    ],
)
def sum(
    x: jax.Array,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Sums elements over the given axes.

    Args:
        x: Tensor [...], any dtype; bool and int32 sum as int64. `input` is accepted as a name.
        axis: int, list of ints, or None (or an empty list) for all axes. `dim` is accepted as a name.
        dtype: dtype to cast to before summing, float16 and bfloat16 to integers after it; a bool here is
            taken for keepdim.
        keepdim: keep the summed axes with length 1.
        out: Tensor that receives the result.
    Returns:
        Tensor of x's shape without the summed axes.
    Raises:
        ValueError: an axis is out of range or given twice.
        TypeError: axis is not made of ints.
    Example:
        >>> paddle.sum(paddle.ones([2, 3]), axis=0).tolist()
        [2.0, 2.0, 2.0]
    """
    # torch's order of arguments has keepdim here.
    if isinstance(dtype, bool):
        dtype, keepdim = None, dtype
    axes = all_axes("sum", axis, x.ndim)
    kind = None if dtype is None else dtypes.convert(dtype).np
    if str(x.dtype) in ("float16", "bfloat16") and kind is not None and not jnp.issubdtype(kind, jnp.inexact):
        return total(x, axes, keepdim).astype(kind)  # these alone are summed before the cast
    return total(_widened(x, dtype), axes, keepdim)


@known_as(code="reductions:nansum")
@op(
    cases=[
        "f(2,3)",
        "const([1.0, float('nan'), 2.0], 'float32')",
        "const([[1.0, float('nan')], [2.0, 3.0]], 'float64'), 0, keepdim=True",
        "i(2,3), 1",
        "f(2,3), 5",
    ]
)
def nansum(
    x: jax.Array,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Sums elements over the given axes, counting NaN as zero.

    Args:
        x: Tensor [...], any dtype; bool and int32 sum as int64. `input` is accepted as a name.
        axis: int, list of ints, or None (or an empty list) for all axes. `dim` is accepted as a name.
        dtype: dtype to cast to before summing, float16 and bfloat16 to integers after it; a bool here is
            taken for keepdim.
        keepdim: keep the summed axes with length 1.
    Returns:
        Tensor of x's shape without the summed axes.
    Example:
        >>> paddle.nansum(paddle.to_tensor([1.0, float("nan"), 2.0])).item()
        3.0
    """
    x = _widened(jnp.where(jnp.isnan(x), jnp.zeros((), x.dtype), x), dtype)
    return total(x, all_axes("nansum", axis, x.ndim), keepdim)


@known_as(amp="reduce_mean", pir="mean(x:out,axis:ints?) keepdim:bool=False", code="reductions:mean")
@op(
    alias=X_DIM,
    out=True,
    cases=[*FORMS, "f(0,3)", "f(0,3), 0", "i(3)", "b(4)", "f(4), dtype='float64'", "h(4,3), 0", "c(2,3), 1"],
)
def mean(
    x: jax.Array,
    axis: Axes = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> jax.Array:
    """The average over the given axes.

    Args:
        x: Tensor [...]. Integers are averaged as integers, rounded towards zero; the mean of bools tells
            whether any is True.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        dtype: dtype to cast to first.
        out: Tensor that receives the result.
    Returns:
        Tensor; NaN where nothing is averaged.
    Raises:
        ValueError: an axis is out of range or given twice.
    Example:
        >>> paddle.mean(paddle.to_tensor([[1.0, 3.0], [5.0, 7.0]]), axis=1).tolist()
        [2.0, 6.0]
    """
    if dtype is not None:
        x = x.astype(dtypes.convert(dtype).np)
    axes = all_axes("mean", axis, x.ndim)
    # Bools have no mean in Paddle, but "any".
    if x.dtype == jnp.bool_:
        return jnp.any(x, axes, keepdims=keepdim)
    if jnp.issubdtype(x.dtype, jnp.integer):
        whole = jnp.sum(x, axes, dtype=x.dtype, keepdims=keepdim)
        # Towards zero, as C divides.
        return jax.lax.div(whole, jnp.full_like(whole, count(x, axes) or 1))
    return jnp.mean(x, axes, keepdims=keepdim)


@known_as(amp="reduce_prod", pir="prod")
@op(register=False, method=False, out=True)
@named("prod")
def _product(x: jax.Array, axis: Axes, keepdim: bool, dtype: DTypeLike) -> jax.Array:
    if dtype is not None:
        x = x.astype(dtypes.convert(dtype).np)
    axes = all_axes("prod", axis, x.ndim)
    return accumulated(lambda x: jnp.prod(x, axes, dtype=x.dtype, keepdims=keepdim), x)


# Paddle's gradient of a complex product lacks the conjugate that its multiply has
@known_as(pir="prod(x:out,axis:ints?) keepdim:bool=False axis>reduce_all:none", code="reductions:prod")
@composite(
    alias=X_DIM,
    cases=[
        *FORMS,
        "i(2,3), 0",
        "f(0,3)",
        "f(3), dtype='float64'",
        "~c(2,3), 1",
        "const([[2.0, 0.5], [3.0, 4.0]], 'float32'), 1",
    ],
)
def prod(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Multiplies elements over the given axes; 1 where there are none.

    Args:
        x: Tensor [...].
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
        dtype: dtype to cast to first.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x without the axes.
    Raises:
        ValueError: an axis is out of range or given twice.
    Example:
        >>> paddle.prod(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        6.0
    """
    return _product(x, axis, keepdim, dtype, out=out)


def _extreme(name: str, reduce: Callable[..., Any], x: jax.Array, axis: Any, keepdim: bool) -> jax.Array:
    axes = all_axes(name, axis, x.ndim)
    # An extreme of nothing has no value.
    if count(x, axes) == 0:
        raise ValueError(
            f"{name}: x: shape {list(x.shape)} has nothing to reduce along axis {list(axes)}; "
            "the reduced axes must not be empty"
        )
    return reduce(x, axes, keepdims=keepdim)


EXTREME = [
    *FORMS,
    "f(0,3)",
    "f(0,3), 1",
    "f(3,0), 0",
    "i_(3,4), 1",
    "i32(3)",
    "h(3,2), 0",
    # the gradient of a NaN maximum is NaN in Paddle, 0 here
    "~const([1.0, float('nan'), 2.0], 'float32')",
]
TIES = [
    "const([[1.0, 2.0, 2.0], [1.0, 3.0, 2.0]], 'float32'), 0",
    "const([[1.0, 2.0, 2.0], [1.0, 3.0, 2.0]], 'float64')",
]


@known_as(amp="reduce_max", pir="max(x,axis:ints?) keepdim:bool=False", code="reductions:largest")
@op(
    refuses={
        "input dim other": "paddle.compat.max takes torch's names, compares two tensors, and returns "
        "values and indices along an axis"
    },
    cases=[*EXTREME, *TIES],
)
def max(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """The largest element over the given axes. The gradient is shared equally among equal maxima.

    Args:
        x: Tensor [...], real. NaN wins.
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
    Returns:
        Tensor of x's shape without the reduced axes.
    Raises:
        ValueError: a reduced axis is empty, out of range or given twice.
    Example:
        >>> paddle.max(paddle.to_tensor([[1.0, 5.0], [3.0, 2.0]]), axis=0).tolist()
        [3.0, 5.0]
    """
    return _extreme("max", jnp.max, x, axis, keepdim)


@known_as(amp="reduce_min", pir="min(x,axis:ints?) keepdim:bool=False", code="reductions:smallest")
@op(
    refuses={
        "input dim other": "paddle.compat.min takes torch's names, compares two tensors, and returns "
        "values and indices along an axis"
    },
    cases=[*EXTREME, *TIES],
)
def min(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """The smallest element over the given axes.

    Args:
        x: Tensor [...], real. NaN wins.
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
    Returns:
        Tensor of x's shape without the reduced axes.
    Example:
        >>> paddle.min(paddle.to_tensor([[1.0, 5.0], [3.0, 2.0]]), axis=0).tolist()
        [1.0, 2.0]
    """
    return _extreme("min", jnp.min, x, axis, keepdim)


@known_as(pir="amax axis:i64s? keepdim:bool=False", code="reductions:amax")
@op(
    out=True,
    alias=X_DIM,
    cases=["f(2,3,4), [0, 2], keepdim=True", "f()", "f(3,0), 0", "i_(3,4), 1", "f(2), 1", *TIES],
)
def amax(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """The largest element over the given axes, as `max`.

    Args:
        x: Tensor [...], real. `input` is accepted as a name.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x without the axes. Equal elements share the gradient.
    Example:
        >>> paddle.amax(paddle.to_tensor([1.0, 5.0, 3.0])).item()
        5.0
    """
    return _extreme("amax", jnp.max, x, axis, keepdim)


@known_as(pir="amin axis:i64s? keepdim:bool=False", code="reductions:amin")
@op(
    out=True,
    alias=X_DIM,
    cases=["f(2,3,4), [0, 2], keepdim=True", "f()", "f(3,0), 0", "i_(3,4), 1", "f(2), 1", *TIES],
)
def amin(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """The smallest element over the given axes, as `min`.

    Args:
        x: Tensor [...], real. `input` is accepted as a name.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x without the axes. Equal elements share the gradient.
    Example:
        >>> paddle.amin(paddle.to_tensor([1.0, 5.0, 3.0])).item()
        1.0
    """
    return _extreme("amin", jnp.min, x, axis, keepdim)


TRUTH = [
    "b(2,3)",
    "b(2,3), 0",
    "b(2,3,2), [0, 2], True",
    "f(2,3), 1",
    "i_(2,3), 1",
    "b(0,3)",
    "b(0,3), 0",
    "b(2), 1",
    "b(2,2), [0, 0]",
    "b()",
    "c(3)",
]


@known_as(pir="all axis:i64s? keepdim:bool=False", code="reductions:all_true")
@op(nondiff=True, out=True, alias=X_DIM, cases=TRUTH)
def all(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """Tells whether all elements over the given axes are True (not zero).

    Args:
        x: Tensor [...].
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
        out: Tensor that receives the result.
    Returns:
        bool Tensor; True where nothing is reduced.
    Raises:
        ValueError: an axis is out of range or given twice.
    Example:
        >>> paddle.all(paddle.to_tensor([True, False])).item()
        False
    """
    return jnp.all(x, all_axes("all", axis, x.ndim), keepdims=keepdim)


@known_as(pir="any axis:i64s? keepdim:bool=False", code="reductions:any_true")
@op(nondiff=True, out=True, alias=X_DIM, cases=TRUTH)
def any(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """Tells whether any element over the given axes is True (not zero).

    Args:
        x: Tensor [...].
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
        out: Tensor that receives the result.
    Returns:
        bool Tensor; False where nothing is reduced.
    Example:
        >>> paddle.any(paddle.to_tensor([True, False])).item()
        True
    """
    return jnp.any(x, all_axes("any", axis, x.ndim), keepdims=keepdim)


@known_as(code="reductions:count_nonzero")
@op(nondiff=True, cases=["i_(2,3)", "f(2,3), 1", "b(2,3), [0, 1], True", "c(3)", "f(0,3)", "f(2), 1"])
def count_nonzero(
    x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> jax.Array:
    """Counts the elements over the given axes that are not zero, as int64.

    Args:
        x: Tensor [...].
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
    Returns:
        int64 Tensor.
    Example:
        >>> paddle.count_nonzero(paddle.to_tensor([0.0, 2.0, 0.0])).item()
        1
    """
    return jnp.sum(x != 0, all_axes("count_nonzero", axis, x.ndim), dtype=jnp.int64, keepdims=keepdim)


@known_as(pir="logsumexp axis:i32s? keepdim:bool=False axis>reduce_all:none", code="reductions:logsumexp")
@op(
    out=True,
    alias=X_DIM,
    cases=[
        *FORMS,
        "i(3)",
        "input=d(3), dim=-1, keepdim=True",
        "f(0,3)",
        "h(3)",
        "const([1000.0, 1000.0], 'float32')",
    ],
)
def logsumexp(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """The logarithm of the sum of exponentials over the given axes, computed without overflow.

    Args:
        x: Tensor [...]; integers are taken as float32.
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x without the axes.
    Raises:
        ValueError: an axis is out of range or given twice.
    Differs from Paddle: elements that are all -inf give -inf, not NaN.
    Example:
        >>> round(paddle.logsumexp(paddle.to_tensor([0.0, 0.0])).item(), 4)
        0.6931
    """
    return accumulated(
        jax.scipy.special.logsumexp, as_float(x), all_axes("logsumexp", axis, x.ndim), keepdims=keepdim
    )


@known_as(pir="reduce_as")
@op(
    "x target",
    constant="target",
    cases=["f(2,3,4), f(3,1)", "f(2,3), f()", "d(4,2), d(4,2)", "f(2,3), f(4)", "i(2,3), i(3)"],
)
def reduce_as(x: jax.Array, target: jax.Array, name: str | None = None) -> jax.Array:
    """Sums x over the axes along which `target` was broadcast to it, so that the result has target's shape.

    Args:
        x: Tensor [...].
        target: Tensor whose shape broadcasts to that of x.
    Returns:
        Tensor of the shape of target.
    Raises:
        ValueError: target's shape does not broadcast to x's.
    Example:
        >>> paddle.reduce_as(paddle.ones([2, 3]), paddle.zeros([3])).tolist()
        [2.0, 2.0, 2.0]
    """
    lead = x.ndim - target.ndim
    if lead < 0 or jnp.broadcast_shapes(x.shape, target.shape) != x.shape:
        raise ValueError(
            f"reduce_as: target: shape {list(target.shape)} does not broadcast to {list(x.shape)}"
        )
    # Axes that were broadcast are summed.
    axes = [i for i, n in enumerate(x.shape) if i < lead or target.shape[i - lead] != n]
    x = _widened(x, None)
    return total(x, tuple(axes)).reshape(target.shape)
