"""How gradients of sampling images are written, through gathered pixels; see `gradient_expressions.py`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.gradient_expressions import add_expression
from paddle_jax.framework.model_files.gradient_rules import add_rule
from paddle_jax.framework.model_files.reading_helpers import P


@add_expression("grid_sample")
def _grid_sample(call: Any, x: Tensor, grid: Tensor) -> Tensor:
    a = call.attributes
    count = x.ndim - 2
    # The grid has x first, arrays have it last.
    places = [_place(a, grid[..., count - 1 - axis], x.shape[2 + axis]) for axis in range(count)]
    if a["mode"] == "nearest":
        return _pixels(x, [P.round(place).detach() for place in places])
    low = [P.floor(place).detach() for place in places]
    parts = []
    for bits in itertools.product((0, 1), repeat=count):
        shares = [
            place - start if bit else start + 1 - place
            for place, start, bit in zip(places, low, bits, strict=True)
        ]
        corner = [start + bit for start, bit in zip(low, bits, strict=True)]
        parts.append(_pixels(x, corner) * P.unsqueeze(math.prod(shares), [1]))
    return P.add_n(parts)


def _place(a: Any, at: Tensor, size: Any) -> Tensor:
    """Positions from -1 to 1 as numbers of pixels."""
    # A length is a number of float64, which would widen the result.
    length = P.full([], size, numpy_dtype(at).name)
    if a["align_corners"]:
        place = (at + 1) / 2 * (length - 1)
    else:
        place = ((at + 1) * length - 1) / 2
    if a["padding_mode"] == "zeros":
        return place
    if a["padding_mode"] == "reflection":
        place = _reflected(place, length, a["align_corners"])
    zeros = P.zeros_like(place)
    last = zeros + (length - 1)
    return P.where(place <= 0, zeros, P.where(place >= last, last, place))


def _reflected(place: Tensor, length: Tensor, align_corners: bool) -> Tensor:
    """Positions mirrored at the centres of the outer pixels, or at their edges, until they lie between."""
    if align_corners:
        low = 0.0
        # For a single pixel the distance is 0, and all positions are cut to 0 afterwards.
        distance = P.maximum(length - 1, P.ones_like(length))
    else:
        low = -0.5
        distance = length
    span = distance * 2
    far = P.abs(place - low)
    rest = far - P.floor(far / span).detach() * span
    return P.where(rest > distance, span - rest, rest) + low


def _pixels(x: Tensor, corner: Sequence[Tensor]) -> Tensor:
    """Pixels at whole positions, one Tensor for each axis; 0 outside."""
    flat: Any = 0
    is_inside = None
    for axis, place in enumerate(corner):
        size = x.shape[2 + axis]
        last = P.full([], size - 1, numpy_dtype(place).name)
        valid = P.logical_and(place >= 0, place <= last)
        is_inside = valid if is_inside is None else P.logical_and(is_inside, valid)
        nearest = P.minimum(P.maximum(place, P.zeros_like(place)), P.zeros_like(place) + last)
        flat = nearest.astype("int64") + flat * size
    rows = P.reshape(x, [*x.shape[:2], math.prod(x.shape[2:])])
    index = P.reshape(flat, [x.shape[0], 1, math.prod(flat.shape[1:])])
    index = P.expand(index, [x.shape[0], x.shape[1], math.prod(flat.shape[1:])])
    # Without broadcasting: the batches are equal when the file runs, though a recording has other ones.
    found = P.reshape(P.take_along_axis(rows, index, 2, False), [*x.shape[:2], *flat.shape[1:]])
    return found * P.unsqueeze(is_inside.astype(numpy_dtype(found).name), [1])


@add_rule("affine_grid")
def _affine_grid(a: Any, g: Tensor, out: Tensor, theta: Tensor) -> Tensor:
    count = theta.shape[-2]
    # The positions that the identity gives.
    same = P.expand(P.eye(count, count + 1, dtype=numpy_dtype(theta).name), list(theta.shape))
    places = P.affine_grid(same, a["out_shape"], a["align_corners"])
    columns = P.concat([places, P.ones_like(places[..., :1])], -1)
    rows = P.reshape(g, [theta.shape[0], -1, count])
    return P.matmul(rows, P.reshape(columns, [theta.shape[0], -1, count + 1]), transpose_x=True)
