"""Medians, quantiles, histograms and covariances."""

from __future__ import annotations

import math
from typing import Any

from paddle_jax.framework.model_files.decompositions import is_empty
from paddle_jax.framework.model_files.plain_values import shape_along
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering


def _median(w: Any, a: Any, out: Any, x: Any) -> Any:
    name = {True: "nanmedian", False: "median"}[bool(a.ignore_nan)]
    axes = a.axes
    # No axes stand for all of them.
    if len(axes) == x.ndim:
        axes = []
    return w.op(name, [x], out, axis=axes, keepdim=a.keepdim, mode=a.mode)


def _one_dimension_last(x: Any, axes: Any) -> Any:
    """x with all of these axes as one, the last."""
    kept = [i for i in range(x.ndim) if i not in axes]
    if list(axes) == [x.ndim - 1]:
        return x
    if len(axes) == 1:
        return P.transpose(x, [*kept, *axes])
    return P.reshape(P.transpose(x, [*kept, *axes]), [*[x.shape[i] for i in kept], -1])


def _quantile(a: Any, x: Any) -> Any:
    if is_empty(x):
        return None
    if not x.dtype.is_floating:
        x = P.cast(x, "float32")
    rows = _one_dimension_last(x, a.axes)
    is_nan = P.isnan(rows)
    count = P.sum(P.logical_not(is_nan), -1, keepdim=True)
    # NaN come last
    # Infinity sorts behind all numbers, as NaN should.
    rows = P.sort(P.where(is_nan, P.full_like(rows, math.inf), rows), -1)
    if a.ignore_nan:
        is_bad = count == 0
    else:
        is_bad = P.any(is_nan, -1, True)
    # Positions count from 0.
    last = P.cast(P.maximum(count - 1, P.full([], 0, count.dtype)), "float64")
    found = [
        P.where(is_bad, P.full_like(one, math.nan), one)
        for one in [_between(rows, last * share, a.interpolation) for share in a.q]
    ]
    found = [P.squeeze(one, -1) for one in found]
    if a.keepdim:
        found = [P.unsqueeze(one, sorted(a.axes)) for one in found]
    if len(found) == 1:
        return found[0]
    return P.stack(found)


def _between(rows: Any, at: Any, interpolation: Any) -> Any:
    """Values of sorted rows at fractional places."""

    def elements_at(place: Any) -> Any:
        return P.take_along_axis(rows, P.cast(place, "int64"), -1)

    low = P.floor(at)
    high = P.ceil(at)
    if interpolation in ("lower", "higher", "nearest"):
        return elements_at({"lower": low, "higher": high}.get(interpolation, P.round(at)))
    first = elements_at(low)
    second = elements_at(high)
    if interpolation == "midpoint":
        return (first + second) / 2
    return P.lerp(first, second, P.cast(at - low, rows.dtype))


def _covariance(x: Any, rowvar: Any, ddof: Any, counts: Any = None, weights: Any = None) -> Any:
    # One variable is one row.
    if x.ndim == 1:
        x = P.unsqueeze(x, 0)
    elif not rowvar:
        x = P.transpose(x, [1, 0])
    both = [P.cast(one, x.dtype) for one in (counts, weights) if one is not None]
    if len(both) == 2:
        each = both[0] * both[1]
    elif both:
        each = both[0]
    else:
        each = P.ones_like(x[0])
    total = P.sum(each)
    # Weighted means.
    centred = x - P.unsqueeze(P.sum(x * each, 1) / total, 1)
    divisor = total
    if ddof and weights is None:
        divisor = total - 1
    elif ddof:
        # As NumPy's `cov` divides by its two kinds of weights.
        divisor = total - P.sum(each * both[-1]) / total
    return P.matmul(centred * each, P.conj(P.transpose(centred, [1, 0]))) / divisor


def _cov(a: Any, x: Any, counts: Any, weights: Any) -> Any:
    found = _covariance(x, a.rowvar, a.ddof, counts, weights)
    if x.ndim == 1:
        return P.squeeze(found)
    return found


def _corrcoef(a: Any, x: Any) -> Any:
    spread = _covariance(x, a.rowvar, True)
    scale = P.sqrt(P.diag(spread))
    # Rounding may give more than 1.
    found = P.clip(spread / P.unsqueeze(scale, 1) / P.unsqueeze(scale, 0), -1.0, 1.0)
    if x.ndim == 1:
        return P.squeeze(found)
    return found


def _limits(x: Any, low: Any, high: Any, dtype: Any) -> tuple[Any, Any]:
    """The first and last edge of a histogram."""
    if low != high:
        return P.full([], low, dtype), P.full([], high, dtype)
    low = P.cast(P.min(x), dtype)
    high = P.cast(P.max(x), dtype)
    is_one = low == high
    # All elements equal: a bin of width 1 around them.
    return P.where(is_one, low - 0.5, low), P.where(is_one, high + 0.5, high)


def _edges(low: Any, high: Any, count: Any, dtype: Any) -> Any:
    steps = P.arange(0, count, 1, dtype)
    return P.concat([low + steps * ((high - low) / count), P.unsqueeze(high, 0)])  # the last one exactly


def _bin_edges(a: Any, x: Any) -> Any:
    if is_empty(x):
        return None
    if a.min == a.max and a.min != 0:
        low = P.full([], a.min - 0.5, "float32")
        high = P.full([], a.max + 0.5, "float32")
    else:
        low, high = _limits(x, a.min, a.max, "float32")
    return _edges(low, high, a.bins, "float32")


def _histograms(a: Any, x: Any, weights: Any) -> list[Any] | None:
    """Counts of points in boxes, and the edges of these."""
    if is_empty(x):
        return None
    points = P.reshape(x, [-1, x.shape[-1]])
    edges = []
    place = None
    is_inside = None
    for i, count in enumerate(a.bins):
        value = points[:, i]
        # Equal bounds stand for those of the values.
        bounds = a.ranges or [0, 0] * len(a.bins)
        low, high = _limits(value, *bounds[2 * i : 2 * i + 2], x.dtype)
        edge = _edges(low, high, count, x.dtype)
        fits = P.logical_and(value >= edge[0], value <= edge[-1])
        # The right edge belongs to the last bin.
        at = P.clip(P.searchsorted(edge, value, False, True) - 1, 0, count - 1)
        if place is None:
            place = at
        else:
            place = place * count + at
        if is_inside is None:
            is_inside = fits
        else:
            is_inside = P.logical_and(is_inside, fits)
        edges.append(edge)
    amount = P.cast(is_inside, x.dtype)
    if weights is not None:
        amount = amount * P.reshape(weights, [-1])
    boxes = P.zeros([math.prod(a.bins)], x.dtype)
    counts = P.reshape(P.scatter_nd_add(boxes, P.unsqueeze(place, -1), amount), list(a.bins))
    if a.density:
        counts = counts / P.sum(counts)
        # A density is per volume, so each width is divided out.
        for i, edge in enumerate(edges):
            width = edge[1:] - edge[:-1]
            counts = counts / P.reshape(width, shape_along(i, len(a.bins)))
    return [counts, *edges]


median: Lowering = Lowering(_median)
quantile: Lowering = Lowering(decompose=_quantile)
cov: Lowering = Lowering(decompose=_cov)
corrcoef: Lowering = Lowering(decompose=_corrcoef)
bin_edges: Lowering = Lowering(decompose=_bin_edges)
histograms: Lowering = Lowering(decompose=_histograms)
