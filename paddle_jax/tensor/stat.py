"""Variance, standard deviation, medians, quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.size import as_number, is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, freeze, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.lowering import stable_order
from paddle_jax.tensor.ops import as_float
from paddle_jax.tensor.products import along_axis
from paddle_jax.tensor.reduced import accumulated, all_axes, total
from paddle_jax.tensor.reduction import X_DIM, count

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes


SPREAD = [
    "f(2,3)",
    "f(2,3), 1",
    "f(2,3), [0, 1], keepdim=True",
    "f(2,3), -1, False",
    "d(4), 0",
    "f(2,3), []",
    "f(0,3)",
    "f(0,3), 0",
    "f(2,3), 5",
    "f(2,3), [0, 0]",
    "i(5)",
]


def _variance(
    name: str, x: jax.Array, axis: Sequence[int] | int | None, correction: float, keepdim: bool
) -> jax.Array:
    axes = all_axes(name, axis, x.ndim)
    return accumulated(_variance_over_axes, x, axes, count(x, axes), correction, keepdim)


def _variance_over_axes(
    x: jax.Array, axes: Sequence[int], n: int, correction: float, keepdim: bool
) -> jax.Array:
    if jnp.issubdtype(x.dtype, jnp.integer):
        # Whole numbers: each division is towards zero, as in Paddle.
        average = lax.div(jnp.sum(x, axes, dtype=x.dtype, keepdims=True), jnp.asarray(n or 1, x.dtype))
        squares = jnp.sum((x - average) ** 2, axes, dtype=x.dtype, keepdims=keepdim)
        return lax.div(squares, jnp.full_like(squares, max(int(n - correction), 1)))
    spread = x - jnp.mean(x, axes, keepdims=True)
    # No elements left by the correction: infinity or NaN, as in NumPy.
    if is_symbolic(n):
        left = jnp.maximum(jnp.asarray(n).astype(x.dtype) - correction, 0)
    else:
        left = as_number(max(n - correction, 0), x.dtype)
    return jnp.sum(spread * spread, axes, keepdims=keepdim) / left


@known_as(code="reductions:var")
@op(
    out=True,
    alias=X_DIM,
    cases=[
        *SPREAD,
        "f(4), correction=0",
        "f(4), correction=0.5",
        "f(3), correction=5",
        "f(3), unbiased=True, correction=0",
        "f(1)",
    ],
)
def var(
    x: jax.Array,
    axis: Axes = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    correction: int = 1,
) -> jax.Array:
    """The variance over the given axes.

    Args:
        x: Tensor [...]. Integers are computed as integers. `input` is accepted as a name.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        unbiased: True divides by n - 1, False by n.
        keepdim: keep the reduced axes with length 1.
        correction: divide by n - correction; give either this or unbiased.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x without the axes.
    Raises:
        ValueError: an axis is out of range or given twice, or both unbiased and correction are given.
    Example:
        >>> paddle.var(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    if unbiased is not None and correction != 1:
        raise ValueError("var: got both unbiased and correction; give one of them")
    return _variance("var", x, axis, correction if unbiased is None else int(bool(unbiased)), keepdim)


@known_as(code="reductions:std")
@op(cases=SPREAD)
def std(
    x: jax.Array,
    axis: Axes = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> jax.Array:
    """The standard deviation over the given axes: the square root of the variance.

    Args:
        x: Tensor [...]; the result of integers is float32.
        axis: int, list of ints, or None for all axes.
        unbiased: True divides by n - 1, False by n.
        keepdim: keep the reduced axes with length 1.
    Returns:
        Tensor of the shape of x without the axes.
    Raises:
        ValueError: an axis is out of range or given twice.
    Example:
        >>> paddle.std(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    return jnp.sqrt(as_float(_variance("std", x, axis, int(unbiased is None or bool(unbiased)), keepdim)))


@known_as(code="reductions:nanmean")
@op(
    cases=[
        "f(2,3)",
        "const([1.0, float('nan'), 3.0], 'float32')",
        "const([[1.0, float('nan')], [3.0, float('nan')]]), 0",
        "i(4)",
        "f(2,3), 5",
        "f(2,3), [0, 1], True",
    ]
)
def nanmean(x: jax.Array, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> jax.Array:
    """The average over the given axes of what is not NaN.

    Args:
        x: Tensor [...]; the result of integers is float32.
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
    Returns:
        Tensor of the shape of x without the axes.
    Raises:
        ValueError: an axis is out of range or given twice.
    Example:
        >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
    axes, x = all_axes("nanmean", axis, x.ndim), as_float(x)
    good = ~jnp.isnan(x)
    return accumulated(
        lambda x: (
            # The count of numbers that are not NaN is the divisor.
            total(jnp.where(good, x, 0), axes, keepdim) / jnp.sum(good, axes, dtype=x.dtype, keepdims=keepdim)
        ),
        x,
    )


def _last(x: jax.Array, axes: Sequence[int]) -> jax.Array:
    """x with the given axes flattened into a last one."""
    kept = [i for i in range(x.ndim) if i not in axes]
    # Axes that are reduced come last, joined to one.
    return x.transpose(*kept, *axes).reshape(*[x.shape[i] for i in kept], count(x, axes))


def _restore(out: jax.Array, x: jax.Array, axes: Sequence[int], keepdim: bool) -> jax.Array:
    if keepdim:
        return out.reshape([1 if i in axes else n for i, n in enumerate(x.shape)])
    return out


def _share(x: jax.Array, value: jax.Array) -> jax.Array:
    """`value` with its gradient spread evenly over the elements of x (last axis) that equal it."""
    same = x == value[..., None]
    # Equal elements share the gradient; infinity minus itself is left out.
    flow = jnp.where(same & jnp.isfinite(x), x - lax.stop_gradient(x), 0)
    return lax.stop_gradient(value) + jnp.sum(flow, -1) / jnp.maximum(jnp.sum(same, -1), 1).astype(x.dtype)


def _pick(rows: jax.Array, place: jax.Array) -> jax.Array:
    return along_axis(rows, place[..., None], -1)[..., 0]


def _middle(rows: jax.Array, ignore_nan: bool) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """The two middle values of each row in order, where the lower one stands, and how many count."""
    order = stable_order(lax.stop_gradient(rows))
    ordered = along_axis(rows, order, -1)
    bad = jnp.isnan(rows)
    if ignore_nan:
        n = jnp.sum(~bad, -1)
    # With NaN in a row its median is NaN: no element counts.
    else:
        n = jnp.where(jnp.any(bad, -1), 0, rows.shape[-1])
    # The two in the middle, the same one where the count is odd.
    low_at = jnp.maximum(n - 1, 0) // 2
    high_at = jnp.minimum(n // 2, rows.shape[-1] - 1)
    return _pick(ordered, low_at), _pick(ordered, high_at), _pick(order, low_at), n


def _median(
    x: jax.Array, axes: Sequence[int], keepdim: bool, mode: str, ignore_nan: bool
) -> tuple[jax.Array, jax.Array]:
    rows = _last(x, axes)
    # The median of nothing is NaN, of integers 0.
    if rows.size == 0:
        empty = jnp.zeros(rows.shape[:-1], jnp.int64)
        if jnp.issubdtype(x.dtype, jnp.inexact):
            value = empty.astype(x.dtype) + jnp.asarray(jnp.nan, x.dtype)
        else:
            value = empty.astype(x.dtype)
        return _restore(value, x, axes, keepdim), _restore(empty, x, axes, keepdim)
    low, high, index, n = _middle(rows, ignore_nan)
    inexact = jnp.issubdtype(x.dtype, jnp.inexact)
    if mode == "min":
        # Paddle's mode "min": the lower of the two.
        value = _pick(rows, index)
    elif inexact:
        low_part = _share(rows, low)
        high_part = _share(rows, high)
        value = jnp.where(low == high, low_part, (low_part + high_part) / 2)
    else:
        # Whole numbers are halved towards zero.
        value = lax.div(low + high, jnp.asarray(2, x.dtype))
    if inexact:
        first_nan = jnp.argmax(jnp.isnan(rows), -1)
        # The NaN itself, so that its gradient is that of the element.
        value = jnp.where(n == 0, _pick(rows, first_nan), value)
        if not ignore_nan:
            index = jnp.where(n == 0, first_nan, index)
    return _restore(value, x, axes, keepdim), _restore(index.astype(jnp.int64), x, axes, keepdim)


@known_as(code="statistics:median")
@op(register=False, method=False)
@named("median")
def _median_of(x: jax.Array, axes: Any, keepdim: bool, mode: str, ignore_nan: bool) -> Any:
    return _median(x, axes, keepdim, mode, ignore_nan)


def _check_median(name: str, x: Tensor, mode: str) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: x: got {type(x).__name__}; it must be a Tensor")
    if mode not in ("avg", "min"):
        raise ValueError(f"{name}: mode: got {mode!r}; allowed are 'avg' and 'min'")


# "avg" as an object of its own, which tells the default from an "avg" of the caller
_AVG = "".join(("a", "vg"))


@composite(
    out=True,
    alias={"input": ("x", {"mode": "min"}), "dim": ("axis", {"mode": "min"})},
    cases=[
        "f(2,4), dim=1",
        "input=f(4)",
        "f(2,4), dim=1, mode='avg'",
        "f(2,0), 1, True",
        "f(2,0), 0",
        "f(), 1",
        "f(5)",
        "f(4)",
        "f(2,3), 1",
        "f(2,4), -1, True",
        "d(3,4), 0",
        "i(5)",
        "i(4), mode='min'",
        "f(3,4), 1, mode='min'",
        "f(3,4), 1, True, 'min'",
        "f(4), mode='x'",
        "const([1.0, float('nan'), 2.0], 'float32')",
        "const([1.0, float('nan'), 2.0], 'float32'), 0, mode='min'",
        "f(2,3), 3",
        "f(0)",
        "f(2,3), [0, 1]",
        "h(4)",
    ],
)
def median(
    x: Tensor, axis: int | None = None, keepdim: bool = False, mode: Any = _AVG, name: str | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The median over all elements or along an axis; NaN if there is a NaN.

    Args:
        x: Tensor [...], real. `input` is accepted as a name.
        axis: int, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        mode: "avg" takes the mean of the two middle values of an even count, "min" the smaller one. With
            `input` or `dim` as a keyword the default is "min".
        out: Tensor, or tuple of two for two results, that receives them.
    Returns:
        Tensor, float64 for a float64 x and float32 otherwise with "avg", x's dtype with "min". With "min" and
        an axis: (values, indices).
    Raises:
        ValueError: axis is no int in range, or mode is something else.
    Example:
        >>> paddle.median(paddle.to_tensor([3.0, 1.0, 2.0, 4.0])).item()
        2.5
    """
    _check_median("median", x, mode)
    axis = freeze(axis)
    if isinstance(axis, bool):
        raise TypeError(f"median: axis: got {axis}; it must be an int or None")
    if x.ndim == 0 and axis not in (None, 0, -1):
        raise CheckError(f"median: axis={axis} for a 0-d tensor; allowed are 0, -1 and None")
    if axis is not None and (not isinstance(axis, int) or not -max(x.ndim, 1) <= axis < max(x.ndim, 1)):
        raise ValueError(f"median: axis={axis} is not an int in range for {x.ndim} axes")
    if axis is None:
        axes = tuple(range(x.ndim))
    elif x.ndim:
        axes = (axis % x.ndim,)
    else:
        axes = ()
    # Paddle averages in float32.
    if mode == "avg" and str(numpy_dtype(x)) != "float64":
        x = x.astype("float32")
    value, index = _median_of(x, axes, keepdim, mode, False)
    # Only this form gives positions as well, as in Paddle.
    if mode == "min" and axis is not None:
        return (value, index)
    return value


@composite(
    cases=[
        "f(5)",
        "f(4)",
        "const([3.0, float('nan'), 2.0, 4.0], 'float32')",
        "const([3.0, float('nan'), 2.0, 4.0, 5.0]), mode='min'",
        "f(2,3), 1, True",
        "const([3.0, float('nan'), 2.0, 4.0, 5.0]), 0, mode='min'",
        "i(4)",
        "f(2,3), [0, 1]",
        "f(2,3), []",
        "f(2,3), 3",
        "f(2,3), [0, 0]",
        "f(0)",
        "const([float('nan')], 'float32')",
        "f(3), mode='x'",
    ]
)
def nanmedian(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
    mode: str = "avg",
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The median of what is not NaN; NaN if nothing is left.

    Args:
        x: Tensor [...], real; the result has its dtype.
        axis: int, list of ints, or None for all axes.
        keepdim: keep the reduced axes with length 1.
        mode: as for `median`.
    Returns:
        Tensor. With "min" and an int axis: (values, indices).
    Raises:
        ValueError: an axis is out of range or given twice, the list of axes is empty, or mode
            is something else.
    Example:
        >>> paddle.nanmedian(paddle.to_tensor([3.0, float("nan"), 1.0])).item()
        2.0
    """
    _check_median("nanmedian", x, mode)
    axis = freeze(axis)
    if axis == ():
        raise ValueError("nanmedian: an empty list of axes; give at least one axis, or None for all")
    value, index = _median_of(x, all_axes("nanmedian", axis, x.ndim), keepdim, mode, True)
    # A position exists along one axis alone.
    if mode == "min" and isinstance(axis, int):
        return (value, index)
    return value


INTERPOLATION = ("linear", "lower", "higher", "nearest", "midpoint")


def _between(rows: jax.Array, at: jax.Array, interpolation: str) -> jax.Array:
    """Values of sorted rows at fractional places."""
    low = jnp.floor(at)
    high = jnp.ceil(at)
    if interpolation in ("lower", "higher", "nearest"):
        place = {"lower": low, "higher": high, "nearest": jnp.round(at)}[interpolation]
        return _pick(rows, place.astype(jnp.int32))
    first, second = (_pick(rows, p.astype(jnp.int32)) for p in (low, high))
    if interpolation == "midpoint":
        # Halved first, so that the sum cannot overflow.
        return first / 2 + second / 2
    return first + (at - low).astype(rows.dtype) * (second - first)


@known_as(code="statistics:quantile")
@op(register=False, method=False)
@named("quantile")
def _quantile_of(
    x: jax.Array, q: Any, axes: Any, keepdim: bool, interpolation: str, ignore_nan: bool
) -> jax.Array:
    x = as_float(x)
    rows = _last(x, axes)
    if rows.size == 0:
        none = _restore(jnp.full(rows.shape[:-1], jnp.nan, x.dtype), x, axes, keepdim)
        if len(q) == 1:
            return none
        return jnp.stack([none] * len(q))
    bad = jnp.isnan(rows)
    n = jnp.full(rows.shape[:-1], rows.shape[-1])
    if ignore_nan:
        # A row of NaN alone keeps them.
        n = jnp.where(jnp.all(bad, -1), n, jnp.sum(~bad, -1))
    if ignore_nan:
        broken = jnp.zeros_like(n, bool)
    else:
        broken = jnp.any(bad, -1)
    # The NaN itself goes on as the result.
    nan = _pick(rows, jnp.argmax(bad, -1))
    rows = along_axis(rows, stable_order(lax.stop_gradient(rows)), -1)
    # In float64: places of long rows are exact.
    outs = [_between(rows, share * jnp.maximum(n - 1, 0).astype(jnp.float64), interpolation) for share in q]
    outs = [_restore(jnp.where(broken, nan, out), x, axes, keepdim) for out in outs]
    if len(outs) == 1:
        return outs[0]
    return jnp.stack(outs)


def _quantile(
    name: str,
    x: Tensor,
    q: Any,
    axis: Sequence[int] | int | None,
    keepdim: bool,
    interpolation: str,
    ignore_nan: bool,
) -> Tensor:
    if isinstance(q, Tensor) and q.ndim > 1:
        raise ValueError(f"{name}: q: got shape {list(q.shape)}; it must have at most one axis")
    q = freeze(q)
    if not isinstance(q, tuple):
        q = (q,)
    if not all(isinstance(v, int | float) for v in q):
        raise TypeError(f"{name}: q: got {q}; give a number, a list of numbers or a Tensor")
    if axis is not None and x.ndim == 0:
        raise ValueError(f"{name}: axis={axis} for a 0-d tensor; it has no axes")
    if not q or not all(0 <= v <= 1 for v in q):
        raise ValueError(f"{name}: q: got {list(q)}; give one or more numbers in 0..1")
    if interpolation not in INTERPOLATION:
        raise ValueError(
            f"{name}: interpolation: got {interpolation!r}; allowed are {', '.join(INTERPOLATION)}"
        )
    return _quantile_of(x, q, all_axes(name, freeze(axis), x.ndim), keepdim, interpolation, ignore_nan)


QUANTILES = [
    "f(5), 0.5",
    "f(5), [0.25, 0.6]",
    "f(2,3), 0.3, 1",
    "f(2,3), [0.5, 0.3], 1, True",
    "d(2,3), 0.4, [0, 1]",
    "f(2,3), 2.0",
    "f(2,3), []",
    "f(2,3), 0.5, 3",
    "f(2,3), 0.5, [0, 0]",
    "f(2,4), 0.3, 1, interpolation='lower'",
    "f(2,4), 0.3, 1, interpolation='higher'",
    "f(2,4), 0.3, 1, interpolation='nearest'",
    "f(2,4), 0.3, 1, interpolation='midpoint'",
    "f(3), 0.5, interpolation='foo'",
    "f(2,3), const([0.5, 0.3])",
    "const([1.0, float('nan'), 3.0], 'float32'), 0.5",
    "f(5), [0.5]",
    "f(3), 1",
]


@composite(out=True, alias=X_DIM, cases=QUANTILES)
def quantile(
    x: Tensor,
    q: float,
    axis: int | Sequence[int] | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    name: str | None = None,
) -> Tensor:
    """Values below which the given shares of the elements lie; NaN if there is a NaN.

    Args:
        x: floating Tensor [...]. `input` is accepted as a name.
        q: number in 0..1, or list or 1-d Tensor of them.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        interpolation: between two elements: "linear", "lower", "higher", "nearest" or "midpoint".
        out: Tensor that receives the result.
    Returns:
        Tensor; more than one q adds a first axis.
    Raises:
        ValueError: q is empty or outside 0..1, an axis is out of range or given twice, or the
            interpolation is not known.
    Example:
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0, 4.0]), 0.5).item()
        2.5
    """
    return _quantile("quantile", x, q, axis, keepdim, interpolation, False)


@composite(cases=[*QUANTILES, "const([[1.0, float('nan')], [3.0, float('nan')]], 'float32'), 0.25, 0"])
def nanquantile(
    x: Tensor, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Tensor:
    """Quantiles of what is not NaN; NaN if nothing is left.

    Args:
        x: floating Tensor [...]. `input` is accepted as a name.
        q: number in 0..1, or list or 1-d Tensor of them.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        interpolation: between two elements: "linear", "lower", "higher", "nearest" or "midpoint".
    Returns:
        Tensor; more than one q adds a first axis.
    Example:
        >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
        2.0
    """
    return _quantile("nanquantile", x, q, axis, keepdim, interpolation, True)
