"""Counting values: histograms and bin counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.inner import named

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.kernels.lifted_attributes import Number
    from paddle_jax._core.tensors.tensor import Tensor


def _bins(name: str, bins: int, low: Number | float, high: Number | float) -> None:
    if bins < 1:
        raise ValueError(f"{name}: bins: got {bins}; it must be at least 1")
    if high < low:
        raise ValueError(f"{name}: got min={low} and max={high}; max must not be less than min")


def _range(x: jax.Array, low: Any, high: Any, dtype: Any) -> tuple[jax.Array, jax.Array]:
    """Both ends; equal ones stand for the range of the data, and an empty range is widened by
    0.5 on either side."""
    if low == high:
        flat = x.reshape(-1)
        low, high = (
            (jnp.min(flat), jnp.max(flat)) if flat.size else (jnp.zeros((), x.dtype), jnp.zeros((), x.dtype))
        )
    low = jnp.asarray(low).astype(dtype)
    high = jnp.asarray(high).astype(dtype)
    # Equal data would give ranges without width.
    same = low == high
    return jnp.where(same, low - 0.5, low), jnp.where(same, high + 0.5, high)


def _floating(x: jax.Array) -> Any:
    if jnp.issubdtype(x.dtype, jnp.floating):
        return x.dtype
    return jnp.float32


HISTOGRAMS = [
    "f(20), 5",
    "f(4,5), 4, -1.0, 1.0",
    "i(20), 4",
    "i(20), 4, -2, 3",
    "f(5), 4, 3.0, 1.0",
    "f(5), 0",
    "const([1.0, 1.0], 'float32'), 4",
    "d(9), 3",
    "f(3)",
    "f(9), 4, 1, 1",
    "f(5), 2.5",
]


@known_as(pir="histogram(input,weight) bins:i64 min:f32 max:f32 density:bool")
@op(
    "input weight",
    same_dtype=True,
    nondiff=True,
    cases=[
        *HISTOGRAMS,
        "f(20), 5, weight=f(20)",
        "f(20), 5, -1, 1, density=True",
        "f(20), 5, weight=f(3)",
        "f(20), 4, weight=pos(20), density=True",
        "f(0), 5, -1, 1, density=True",
    ],
)
def histogram(
    input: jax.Array,
    bins: Any = 100,
    min: Any = 0.0,
    max: Any = 0.0,
    weight: jax.Array | None = None,
    density: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Counts how many elements fall into each of several ranges of equal width; the last one
    includes its right end.

    Args:
        input: Tensor [...], real.
        bins: number of ranges.
        min, max: ends of the ranges. Equal: the smallest and largest element. Elements outside are left out.
        weight: Tensor of input's shape: sum these instead of counting.
        density: scale the result so that the area under it is 1.
    Returns:
        Tensor [bins], int64; float32 with density, the dtype of weight with weights.
    Raises:
        ValueError: bins < 1, max < min, or weight has another shape.
    Example:
        >>> paddle.histogram(paddle.to_tensor([1, 2, 1]), bins=4, min=0, max=3).tolist()
        [0, 2, 1, 0]
    """
    if not isinstance(bins, int):
        raise TypeError(f"histogram: bins: got {bins!r}; it must be an int")
    _bins("histogram", bins, min, max)
    if weight is not None and weight.shape != input.shape:
        raise ValueError(
            f"histogram: weight: got shape {list(weight.shape)}; it must be that of input, "
            f"{list(input.shape)}"
        )
    dtype = _floating(input)
    low, high = _range(input, min, max, dtype)
    x = input.reshape(-1).astype(dtype)
    inside = (x >= low) & (x <= high)
    # The largest number falls into the last range; what is outside goes to 0 and counts nothing.
    place = jnp.clip(
        jnp.where(inside, jnp.floor((x - low) * bins / (high - low)), 0).astype(jnp.int32), 0, bins - 1
    )
    if weight is None and not density:
        kind = jnp.int64
    elif weight is None:
        # A density divides.
        kind = jnp.float32
    else:
        kind = weight.dtype
    if weight is None:
        amount = jnp.ones(x.shape, kind)
    else:
        amount = weight.reshape(-1)
    counts = jnp.zeros((bins,), kind).at[place].add(jnp.where(inside, amount, 0))
    # Without elements the density would divide by zero.
    if density and input.size:
        counts = (
            counts.astype(jnp.float32)
            / jnp.sum(counts).astype(jnp.float32)
            / ((high - low) / bins).astype(jnp.float32)
        )
    return counts


@known_as(code="statistics:bin_edges")
@op(
    "input",
    nondiff=True,
    cases=[c for c in HISTOGRAMS if c not in ("d(9), 3", "f(5), 0", "f(5), 2.5")] + ["f(5), 4, 1, 1"],
)
def histogram_bin_edges(
    input: jax.Array, bins: Any = 100, min: Any = 0.0, max: Any = 0.0, name: str | None = None
) -> jax.Array:
    """The ends of the ranges that `histogram` counts in, as a float32 Tensor [bins + 1]. Arguments as there.

    Equal min and max other than 0 are widened by 0.5 on either side instead of standing for the
    range of the data.

    Args:
        input: Tensor [...], real.
        bins: int, how many ranges.
        min, max: numbers, the ends; both 0 stand for the range of the data.
    Returns:
        float32 Tensor [bins + 1].
    Example:
        >>> paddle.histogram_bin_edges(paddle.to_tensor([0, 1, 4]), bins=2).tolist()
        [0.0, 2.0, 4.0]
    """
    _bins("histogram_bin_edges", bins, min, max)
    low, high = _range(input, min, max, jnp.float32) if min != max or min == 0 else (min - 0.5, max + 0.5)
    return jnp.linspace(low, high, bins + 1, dtype=jnp.float32)


@known_as(code="statistics:histograms")
@op("x weights", register=False, method=False, nondiff=True)
@named("histogramdd")
def _histogram_many(
    x: jax.Array, bins: Any, ranges: Any, density: bool, weights: jax.Array | None = None
) -> tuple[jax.Array, ...]:
    points = x.reshape(-1, x.shape[-1])
    edges = []
    places = []
    inside = jnp.ones(points.shape[:1], bool)
    for i, count in enumerate(bins):
        low, high = _range(points[:, i], *(ranges[2 * i : 2 * i + 2] if ranges else (0, 0)), x.dtype)
        edge = jnp.linspace(low, high, count + 1, dtype=x.dtype)
        value = points[:, i]
        inside &= (value >= edge[0]) & (value <= edge[-1])
        # The upper end belongs to the last cell.
        places.append(jnp.clip(jnp.searchsorted(edge, value, side="right") - 1, 0, count - 1))
        edges.append(edge)
    # One number for each cell of the grid.
    flat = jnp.ravel_multi_index(tuple(places), bins, mode="clip")
    if weights is None:
        amount = jnp.ones(flat.shape, x.dtype)
    else:
        amount = weights.reshape(-1).astype(x.dtype)
    counts = jnp.zeros((math.prod(bins),), x.dtype).at[flat].add(jnp.where(inside, amount, 0)).reshape(bins)
    if density:
        counts = counts / jnp.sum(counts)
        # A density is a share for each unit of volume.
        for i, edge in enumerate(edges):
            counts = counts / jnp.diff(edge).reshape([-1 if j == i else 1 for j in range(len(bins))])
    return counts, *edges


@composite(
    cases=[
        "f(9,2), [2, 3]",
        "f(9,2), 3",
        "f(9,2), [2, 2], [-1.0, 1.0, -1.0, 1.0], True",
        "f(9,2), [2, 2], weights=pos(9)",
        "f(5,2), [2]",
        "f(5), [2]",
        "d(4,3,2), [2, 2]",
    ]
)
def histogramdd(
    x: Tensor,
    bins: Any = 10,
    ranges: Any = None,
    density: bool = False,
    weights: Tensor | None = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Counts points of a d-dimensional space in a grid of cells.

    Args:
        x: floating Tensor [..., d].
        bins: number of cells along each dimension: int, or list of d ints.
        ranges: list of 2 d numbers, both ends of each dimension. Default: those of the data.
        density: scale the result so that its integral is 1.
        weights: Tensor of x's shape without the last axis: sum these instead of counting.
    Returns:
        (counts, list of d Tensors of edges).
    Raises:
        AssertionError: x is not at least 2-d, or bins has not d entries.
        ValueError: an entry of bins is not an int.
    Example:
        >>> counts, edges = paddle.histogramdd(paddle.to_tensor([[0.0, 0.0], [1.0, 1.0]]), bins=2)
        >>> counts.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if x.ndim < 2:
        raise AssertionError(f"histogramdd: x: got {x.ndim} axes; at least 2 are needed")
    d = x.shape[-1]
    bins = (bins,) * d if isinstance(bins, int) else tuple(bins)
    if len(bins) != d:
        raise AssertionError(f"histogramdd: bins: got {len(bins)} entries for points of {d} dimensions")
    if not all(isinstance(b, int) for b in bins):
        raise ValueError("histogramdd: bins: the entries must be ints")
    if ranges is not None and len(ranges) != 2 * d:
        raise AssertionError(
            f"histogramdd: ranges: got {len(ranges)} numbers; two for each of {d} dimensions are needed"
        )
    if weights is not None and list(weights.shape) != list(x.shape[:-1]):
        raise AssertionError(
            f"histogramdd: weights: got shape {list(weights.shape)}; it must be {list(x.shape[:-1])}"
        )
    if weights is not None and numpy_dtype(weights) != numpy_dtype(x):
        raise ValueError(
            f"histogramdd: weights: got {numpy_dtype(weights)}; it must have the dtype of x, {numpy_dtype(x)}"
        )
    counts, *edges = _histogram_many(x, bins, ranges, density, weights)
    return counts, edges


@op("x weights", register=False, method=False, nondiff=True)
@named("bincount")
def _count_each(x: jax.Array, length: Any, weights: jax.Array | None = None) -> jax.Array:
    if weights is None:
        return jnp.zeros((length,), jnp.int64).at[x].add(1)
    if jnp.issubdtype(weights.dtype, jnp.floating):
        kind = weights.dtype
    else:
        # Whole weights are summed in float64.
        kind = jnp.float64
    return jnp.zeros((length,), kind).at[x].add(weights.astype(kind))


@known_as(code="selections:bincount")
@composite(
    cases=[
        "const([1, 2, 1])",
        "const([1, 2, 1]), minlength=5",
        "const([1, 2, 1]), f(3)",
        "const([1, 2, 1]), i(3)",
        "const([1, -2, 1])",
        "f(2)",
        "i_(2,2)",
        "i_(3), minlength=-1",
        "i_(3), f(2)",
        "i_(0)",
        "const([3, 0], 'int32')",
        "const([3, 0], 'int32'), d(2)",
    ]
)
def bincount(x: Tensor, weights: Tensor | None = None, minlength: Any = 0, name: str | None = None) -> Tensor:
    """Counts how often each number 0, 1, 2 ... comes.

    Args:
        x: int32 or int64 Tensor [n], not negative.
        weights: Tensor [n]: sum these instead of counting; integer weights give float64.
        minlength: the result has at least this length.
    Returns:
        Tensor [max(x) + 1 or minlength], int64 or the dtype of weights.
    Raises:
        TypeError: x is not of integers.
        ValueError: x is not 1-d or holds a negative number, minlength is negative, or weights
            have another length.
    Example:
        >>> paddle.bincount(paddle.to_tensor([1, 2, 1])).tolist()
        [0, 2, 1]
    """
    if numpy_dtype(x) not in (np.int32, np.int64):
        raise TypeError(f"bincount: x: got {x.dtype}; allowed are int32 and int64")
    if x.ndim != 1 or minlength < 0 or (weights is not None and list(weights.shape) != list(x.shape)):
        raise ValueError(
            f"bincount: got x of shape {list(x.shape)} and minlength={minlength}; "
            "x and weights must be [n] and minlength not negative"
        )
    # The length of the result is the largest number, so the host must know it.
    values = host_value(x, "bincount", "use scatter_nd_add there, or one_hot and sum")
    if values.size and values.min() < 0:
        raise ValueError(f"bincount: x: got {values.min()}; negative numbers cannot be counted")
    return _count_each(x, max(int(values.max()) + 1 if values.size else 0, int(minlength)), weights)
