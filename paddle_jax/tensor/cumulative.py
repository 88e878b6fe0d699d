"""Running sums, products and extremes, differences, trapezoid rule."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_inplace, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.inner import magnitude
from paddle_jax.tensor.lowering import associative_scan, running
from paddle_jax.tensor.ops import as_float
from paddle_jax.tensor.reduced import accumulated, one_axis, total

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes, DTypeLike


RUN = ["f(2,3)", "f(2,3), 0", "f(2,3), -1", "d(4), 0", "f()", "f(), 0", "f(0,3), 0", "f(0,3)", "f(2,3), 2"]


def _along(op_name: str, x: jax.Array, axis: Any, error: Any = IndexError) -> tuple[Any, int]:
    """x and the axis to run along; None runs over the flattened tensor. Out of range raises `error`."""
    if axis is None:
        return x.reshape(-1), 0
    # a Tensor of one element
    if isinstance(axis, tuple) and len(axis) == 1:
        axis = axis[0]
    if isinstance(axis, str | tuple):
        raise ArgumentError(f"{op_name}: axis: got {axis!r}; it must be an int or None")
    if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
        # For a number Paddle raises ValueError in each of these functions.
        if not x.ndim:
            error = ValueError
        raise error(f"{op_name}: axis={axis} is out of range for {x.ndim} axes")
    return x, int(axis) % max(x.ndim, 1)


def _running(function: Callable[..., Any], x: jax.Array, axis: int) -> jax.Array:
    """A running function along an axis; a 0-d tensor is its own result."""
    if x.ndim == 0:
        return accumulated(function, x.reshape(1), axis=0).reshape(())
    return accumulated(function, x, axis=axis)


def _log_sums(x: jax.Array, axis: int) -> jax.Array:
    """Running log-sum-exp by pairs (maximum m, rest r): the sum so far is exp(m) (1 + r). lax.cumlogsumexp
    takes 10 to 100 times as long on CPU."""
    # Nothing to add up: the scan has no first element.
    if not x.size:
        return x
    # Pairs (level, log1p part): sums of exponentials without overflow.
    level = lax.stop_gradient(x)
    rest = jnp.expm1(jnp.where(jnp.isfinite(x), x - level, 0))  # 0, with the derivative of exp

    def combined(a: Any, b: Any) -> tuple[jax.Array, ...]:
        (high_a, rest_a), (high_b, rest_b) = a, b
        # The smaller part, scaled to the larger level; equal infinities have no difference.
        small = jnp.exp(-jnp.abs(jnp.where(high_a == high_b, 0, high_a - high_b)))
        rest = jnp.where(high_a >= high_b, rest_a + (1 + rest_b) * small, rest_b + (1 + rest_a) * small)
        return jnp.maximum(high_a, high_b), rest

    level, rest = associative_scan(combined, (level, rest), axis)
    return level + jnp.log1p(rest)


def _cast(x: jax.Array, dtype: str | None) -> jax.Array:
    if dtype is None:
        return x
    return x.astype(dtypes.convert(dtype).np)


@known_as(
    pir="cumsum(x:out,axis:i32?=-1) axis>flatten:none exclusive:bool=False reverse:bool=False",
    code="reductions:cumsum",
)
@op(
    out=True,
    alias={"input": "x", "dim": "axis"},
    cases=[*RUN, "f(), 1", "i(3)", "i32(2,3), 1", "u8(3)", "f(3), dtype='float64'", "c(2,3), 1", "h(3)"],
)
def cumsum(
    x: jax.Array, axis: Axes = None, dtype: DTypeLike | None = None, name: str | None = None
) -> jax.Array:
    """Running sums along an axis.

    Args:
        x: Tensor [...]; integers sum as int64. `input` is accepted as a name.
        axis: int, or None to run over the flattened tensor. `dim` is accepted as a name.
        dtype: dtype to cast to first.
        out: Tensor that receives the result.
    Returns:
        Tensor of x's shape, or 1-d for axis=None.
    Raises:
        IndexError: the axis is out of range.
    Example:
        >>> paddle.cumsum(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.0, 3.0, 6.0]
    """
    x, axis = _along("cumsum", x, axis)
    x = _cast(x, dtype)
    # Whole numbers are added in int64, as in Paddle.
    if dtype is None and not jnp.issubdtype(x.dtype, jnp.inexact):
        x = x.astype(jnp.int64)
    return _running(ft.partial(running, jnp.add, jnp.cumsum), x, axis)


def cumsum_(x: Tensor, axis: Any = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """In-place cumsum: puts the result into x and returns it. Integers keep their dtype. See `cumsum`.

    Args:
        x: Tensor [...].
        axis: int, or None to run over the flattened tensor.
        dtype: dtype to cast to first.
    Returns:
        The Tensor `x`.
    Example:
        >>> paddle.cumsum_(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 3.0]
    """
    check_inplace("cumsum_", x)
    # In place the dtype stays.
    keeps = dtype is None and jnp.issubdtype(numpy_dtype(x), jnp.integer)
    return x._adopt(cumsum(x, axis, x.dtype if keeps else dtype))


cumsum.inplace = Tensor.cumsum_ = cumsum_


@known_as(pir="cumprod(x:out) dim:i32 exclusive:bool=False reverse:bool=False", code="reductions:cumprod")
@op(
    inplace="reshapes",
    out=True,
    alias={"input": "x"},
    cases=[
        *RUN,
        "i32(3), 0",
        "f(3), 0, dtype='float64'",
        "c(2,3), 1",
        "const([1.0, 0.0, 3.0, 0.0], 'float32'), 0",
    ],
)
def cumprod(
    x: jax.Array, dim: Any = None, *, dtype: DTypeLike | None = None, name: str | None = None
) -> jax.Array:
    """Running products along an axis.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        dim: int, or None to run over the flattened tensor.
        dtype: dtype to cast to first.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x, or 1-D for dim=None.
    Raises:
        ValueError: dim is out of range.
    Example:
        >>> paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0]), dim=0).tolist()
        [1.0, 2.0, 6.0]
    """
    x, axis = _along("cumprod", x, dim, ValueError)
    x = _cast(x, dtype)
    return _running(ft.partial(running, jnp.multiply, jnp.cumprod), x, axis)


@known_as(pir="logcumsumexp(x:out) axis:i32?=-1 axis>flatten:none exclusive:bool=False reverse:bool=False")
@op(cases=[*RUN, "i(3)", "f(3), dtype='float64'", "const([1000.0, 1000.0], 'float32'), 0"])
def logcumsumexp(
    x: jax.Array, axis: Axes = None, dtype: DTypeLike | None = None, name: str | None = None
) -> jax.Array:
    """The logarithm of running sums of exponentials, computed without overflow.

    Args:
        x: Tensor [...]; integers are taken as float32.
        axis: int, or None to run over the flattened tensor.
        dtype: dtype to cast to first.
    Returns:
        Tensor of the shape of x, or 1-D for axis=None.
    Raises:
        IndexError: the axis is out of range.
    Differs from Paddle: a leading -inf stays -inf.
    Example:
        >>> [round(v, 4) for v in paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0])).tolist()]
        [0.0, 0.6931]
    """
    x, axis = _along("logcumsumexp", x, axis)
    return _running(_log_sums, as_float(_cast(x, dtype)), axis)


def _running_extreme(
    name: str, better: Callable[..., Any], x: jax.Array, axis: int | None, dtype: str
) -> tuple[jax.Array, jax.Array | Any]:
    index_dtype = dtypes.convert(dtype)
    if index_dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name}: dtype: got {dtype}; allowed are 'int32' and 'int64'")
    x, axis = _along(name, x, axis)
    shape = x.shape
    x = x.reshape(1) if x.ndim == 0 else x
    # The place of each element runs along with its value.
    places = lax.broadcasted_iota(jnp.int32, x.shape, axis)

    def later(a: Any, b: Any) -> tuple[Any, ...]:
        # NaN is later than all numbers, and stays.
        take = better(b[0], a[0]) | (b[0] != b[0])
        return jnp.where(take, b[0], a[0]), jnp.where(take, b[1], a[1])

    if x.size:
        index = associative_scan(later, (lax.stop_gradient(x), places), axis)[1]
    else:
        index = places
    # The gradient goes to the element that was chosen.
    return jnp.take_along_axis(x, index, axis).reshape(shape), index.astype(index_dtype.np).reshape(shape)


@known_as(pir="cummax axis:i32 dtype:dtype", code="reductions:cummax")
@op(
    cases=[
        *RUN,
        "i_(6)",
        "f(2,3), 1, 'int32'",
        "f(2), 0, 'float32'",
        "const([1.0, 3.0, 3.0, 2.0, float('nan'), 5.0], 'float32')",
        "i32(2,4), -1",
    ]
)
def cummax(
    x: jax.Array, axis: Axes = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[jax.Array, jax.Array]:
    """Running maxima along an axis and where they are; of equal ones the last counts.

    Args:
        x: Tensor [...], real. From a NaN on, the maximum is NaN.
        axis: int, or None to run over the flattened tensor.
        dtype: dtype of the indices, "int64" or "int32".
    Returns:
        (maxima, indices).
    Raises:
        IndexError: the axis is out of range.
        ValueError: dtype is something else.
    Example:
        >>> [t.tolist() for t in paddle.cummax(paddle.to_tensor([1.0, 3.0, 2.0]))]
        [[1.0, 3.0, 3.0], [0, 1, 1]]
    """
    return _running_extreme("cummax", jnp.greater_equal, x, axis, dtype)


@known_as(pir="cummin axis:i32 dtype:dtype", code="reductions:cummin")
@op(
    cases=[
        *RUN,
        "i_(6)",
        "f(2,3), 1, 'int32'",
        "f(2), 0, 'float32'",
        "const([3.0, 1.0, 1.0, 2.0, float('nan'), 0.0], 'float32')",
        "i32(2,4), -1",
    ]
)
def cummin(
    x: jax.Array, axis: Axes = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[jax.Array, jax.Array]:
    """Running minima along an axis and where they are.

    Args:
        x: Tensor [...], real. From a NaN on, the maximum is NaN.
        axis: int, or None to run over the flattened tensor.
        dtype: dtype of the indices, "int64" or "int32".
    Returns:
        (minima, indices).
    Example:
        >>> [t.tolist() for t in paddle.cummin(paddle.to_tensor([2.0, 3.0, 1.0]))]
        [[2.0, 2.0, 1.0], [0, 0, 2]]
    """
    return _running_extreme("cummin", jnp.less_equal, x, axis, dtype)


@known_as(code="element_moves:diff")
@op(
    "x prepend append",
    same_dtype=True,
    out=True,
    alias={"input": "x", "dim": "axis"},
    cases=[
        "f(4)",
        "f(4), 2",
        "f(2,3), axis=0",
        "f(2,3), 1, -1, f(2,1)",
        "f(3), prepend=f(2), append=f(1)",
        "i(4)",
        "b(4)",
        "f(3), 5",
        "f(3), 0",
        "f(2,3), axis=3",
        "f()",
        "f(2,3), prepend=f(2)",
        "d(2,4), 3",
        "c(3)",
    ],
)
def diff(
    x: jax.Array,
    n: Any = 1,
    axis: Axes = -1,
    prepend: jax.Array | None = None,
    append: jax.Array | None = None,
    name: str | None = None,
) -> jax.Array:
    """Differences of neighbours along an axis, n times over.

    Args:
        x: Tensor [...]; of bools the result tells where neighbours differ. `input` is accepted as a name.
        n: how often, at least 1.
        axis: int. `dim` is accepted as a name.
        prepend, append: Tensors put before and after x first.
        out: Tensor that receives the result.
    Returns:
        Tensor whose axis is shorter by n.
    Raises:
        ValueError: n < 1 or shapes do not fit.
        IndexError: the axis is out of range.
    Example:
        >>> paddle.diff(paddle.to_tensor([1.0, 4.0, 9.0])).tolist()
        [3.0, 5.0]
    """
    if not isinstance(n, int) or not isinstance(axis, int):
        raise TypeError(f"diff: got n={n!r} and axis={axis!r}; both must be ints")
    if n < 1:
        raise ValueError(f"diff: n: got {n}; it must be at least 1")
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"diff: axis={axis} is out of range for {x.ndim} axes")
    return jnp.diff(x, n, axis, prepend, append)


def _panels(
    name: str, y: jax.Array, x: jax.Array | None, dx: jax.Array | None, axis: int
) -> tuple[jax.Array | Any, int]:
    """The areas under the straight lines between neighbouring points."""
    if not jnp.issubdtype(y.dtype, jnp.floating):
        raise TypeError(f"{name}: y: got {y.dtype}; allowed are floats")
    if x is not None and dx is not None:
        raise ValueError(f"{name}: got both x and dx; give one of them")
    if isinstance(axis, int) and not -y.ndim <= axis < y.ndim:
        raise IndexError(f"{name}: axis={axis} is out of range for {y.ndim} axes")
    axis = one_axis(name, axis, y.ndim)
    length = y.shape[axis]
    if x is None:
        if dx is None:
            width = jnp.asarray(1, y.dtype)
        else:
            # Paddle gives the width no gradient.
            width = lax.stop_gradient(dx).astype(y.dtype)
    elif x.ndim == 1:
        # Places along the axis, or one for each element.
        width = jnp.diff(x).reshape([-1 if i == axis else 1 for i in range(y.ndim)])
    else:
        width = jnp.diff(x, axis=axis)
    # An empty axis has no neighbours.
    left = lax.slice_in_dim(y, 0, max(length - 1, 0), axis=axis)
    right = lax.slice_in_dim(y, min(1, length), length, axis=axis)
    return width * (left + right) / 2, axis


AREAS = [
    "f(4)",
    "f(4), dx=2",
    "f(3), f(3)",
    "f(2,3), f(3)",
    "f(2,3), f(2), axis=0",
    "f(2,3), f(2,3), axis=0",
    "f(2,3), f(2,3), 1.0",
    "i(3)",
    "d(2,4), dx=0.5, axis=1",
    "f(2,3), dx=const([2.0], 'float32')",
    "d(2,0), d(2,0)",
]


@known_as(code="element_moves:trapezoid")
@op("y x dx", scalars=True, cases=AREAS)
def trapezoid(
    y: jax.Array,
    x: jax.Array | None = None,
    dx: jax.Array | None = None,
    axis: Axes = -1,
    name: str | None = None,
) -> jax.Array:
    """The integral of sampled values along an axis by the trapezoid rule.

    Args:
        y: floating Tensor [...], the samples.
        x: Tensor of sample points, 1-d or of y's shape.
        dx: distance between sample points; it gets no gradient. Default: 1.
        axis: int.
    Returns:
        Tensor of y's shape without the axis.
    Raises:
        ValueError: both x and dx are given.
        TypeError: y is not floating.
    Example:
        >>> paddle.trapezoid(paddle.to_tensor([4.0, 5.0, 6.0])).item()
        10.0
    """
    areas, axis = _panels("trapezoid", y, x, dx, axis)
    return total(areas, axis)


@known_as(code="element_moves:running_trapezoid")
@op("y x dx", scalars=True, cases=AREAS)
def cumulative_trapezoid(
    y: jax.Array,
    x: jax.Array | None = None,
    dx: jax.Array | None = None,
    axis: Axes = -1,
    name: str | None = None,
) -> jax.Array:
    """Running integrals of sampled values by the trapezoid rule. Arguments as for `trapezoid`; the axis
    is shorter by 1.

    Args:
        y, x, dx, axis: as for `trapezoid`.
    Returns:
        Tensor of the shape of y, but for the axis.
    Example:
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([4.0, 5.0, 6.0])).tolist()
        [4.5, 10.0]
    """
    areas, axis = _panels("cumulative_trapezoid", y, x, dx, axis)
    return accumulated(jnp.cumsum, areas, axis)


@known_as(code="arithmetic:nan_to_num")
@op(
    inplace=True,
    cases=[
        "const([1.0, float('nan'), float('inf'), -float('inf')], 'float32')",
        "const([1.0, float('nan'), float('inf'), -float('inf')]), 1.0, 2.0, 3.0",
        "f(2,3)",
        "f(0)",
        "i(3)",
        "const([float('inf'), 2.0], 'float32'), posinf=7.0",
    ],
)
def nan_to_num(
    x: jax.Array,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> jax.Array:
    """Replaces NaN and infinities by numbers; they get no gradient.

    Args:
        x: Tensor [...], float32 or float64.
        nan, posinf, neginf: the replacements; None stands for the largest and smallest number of the dtype.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        AssertionError: x is not floating.
    Example:
        >>> paddle.nan_to_num(paddle.to_tensor([float("nan"), 1.0])).tolist()
        [0.0, 1.0]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise AssertionError(f"nan_to_num: x: got {x.dtype}; allowed are floats")
    return jnp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@known_as(pir="renorm p:f32 axis:i32 max_norm:f32", code="arithmetic:renorm")
@op(
    inplace=True,
    cases=[
        "f(2,3), 2.0, 0, 1.0",
        "f(2,3), 1.0, 1, 0.5",
        "f(2,3,2), 2.0, -1, 1.0",
        "f(3), 2.0, 0, 1.0",
        "f(2,3), 2.0, 3, 1.0",
        "d(2,2), 3.0, 0, 10.0",
        "d(2,3), 2.0, 1, 0.5",
    ],
)
def renorm(x: jax.Array, p: Any, axis: Axes, max_norm: float) -> jax.Array:
    """Shrinks every slice along an axis whose p-norm exceeds a limit to that norm.

    Args:
        x: Tensor [...].
        p: order of the norm.
        axis: int, the axis that numbers the slices.
        max_norm: the limit.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: the axis is out of range.
    Example:
        >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0]]), 2.0, 0, 1.0).tolist()
        [[0.6000000238418579, 0.800000011920929]]
    """
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"renorm: axis={axis} is out of range for {x.ndim} axes")
    others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    powers = jnp.sum(
        # x^0 counts zeros as well; the inner choice keeps 0^p without a slope.
        jnp.where(x == 0, 0 if p else 1, jnp.where(x == 0, 1, magnitude(x)) ** p),
        others,
        keepdims=True,
    )
    norm = jnp.where(powers > 0, jnp.where(powers > 0, powers, 1) ** (1 / p if p else jnp.inf), 0)
    # Only slices that are too long are scaled.
    return jnp.where(norm > max_norm, x * (max_norm / jnp.where(norm > max_norm, norm, 1)), x)


@known_as(code="element_moves:vander")
@op(
    cases=[
        "f(3)",
        "i(3), 2",
        "i(3), 2, True",
        "d(3), 5",
        "c(2), 3",
        "i(3), 0",
        "i(3), -1",
        "f(2,2)",
        "const([0.0, 2.0], 'float32'), 3",
    ]
)
def vander(x: jax.Array, n: Any = None, increasing: bool = False, name: str | None = None) -> jax.Array:
    """The Vandermonde matrix: row i holds the powers of x[i].

    Args:
        x: Tensor [m].
        n: number of columns. Default: m.
        increasing: powers rise from 0 instead of falling to 0.
    Returns:
        Tensor [m, n].
    Raises:
        ValueError: x is not 1-d or n is negative.
    Example:
        >>> paddle.vander(paddle.to_tensor([2, 3]), 3).tolist()
        [[4, 2, 1], [9, 3, 1]]
    """
    if n is None:
        n = x.shape[0]
    if x.ndim != 1 or n < 0:
        raise ValueError(
            f"vander: got x of shape {list(x.shape)} and n={n}; x must be 1-d and n not negative"
        )
    base = jnp.broadcast_to(x[:, None], (x.shape[0], n))
    if n:
        # As powers by a running product; the first column is 1.
        powers = jnp.cumprod(jnp.where(jnp.arange(n) == 0, 1, base), 1, dtype=x.dtype)
    else:
        powers = base
    if increasing:
        return powers
    return powers[:, ::-1]
