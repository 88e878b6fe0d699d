"""Taking, moving and writing elements, by several operations of Paddle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.framework.model_files.builder_helpers import cast
from paddle_jax.framework.model_files.decompositions import is_empty, is_fixed
from paddle_jax.framework.model_files.plain_values import shape_along
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _rot90(a: Any, x: Any) -> Any:
    first, second = (axis % x.ndim for axis in a.axes)
    perm = list(range(x.ndim))
    perm[first], perm[second] = second, first
    turns = a.k % 4
    if turns == 0:
        return P.assign(x)
    if turns == 2:
        # Two turns flip both axes.
        return P.flip(x, [first, second])
    if turns == 1:
        return P.transpose(P.flip(x, [second]), perm)
    return P.flip(P.transpose(x, perm), [second])


def cut(x: Any, axis: Any, start: Any = None, stop: Any = None) -> Any:
    """x[start:stop] along an axis."""
    return x[(*[slice(None)] * (axis % x.ndim), slice(start, stop))]


def _diff(a: Any, x: Any, before: Any, after: Any) -> Any:
    given = [one for one in (before, x, after) if one is not None]
    if len(given) > 1:
        x = P.concat(given, a.axis)
    for _ in range(a.n):
        left = cut(x, a.axis, None, -1)
        right = cut(x, a.axis, 1)
        # Bools have no difference: whether both differ.
        if numpy_dtype(x) == np.bool_:
            x = P.logical_xor(right, left)
        else:
            x = right - left
    return x


def _panels(a: Any, y: Any, x: Any, width: Any) -> Any:
    axis = a.axis % y.ndim
    if x is not None:
        # Places along the axis, or one for each element.
        if x.ndim == 1:
            width = P.reshape(cut(x, 0, 1) - cut(x, 0, None, -1), shape_along(axis, y.ndim))
        else:
            width = cut(x, axis, 1) - cut(x, axis, None, -1)
    # The trapezoid rule: the mean of both ends, times the width.
    areas = (cut(y, axis, None, -1) + cut(y, axis, 1)) / 2
    if width is None:
        return areas
    return areas * P.cast(width, y.dtype)


def _trapezoid(a: Any, y: Any, x: Any, width: Any) -> Any:
    return P.sum(_panels(a, y, x, width), a.axis)


def _running_trapezoid(a: Any, y: Any, x: Any, width: Any) -> Any:
    return P.cumsum(_panels(a, y, x, width), a.axis)


def _vander(a: Any, x: Any) -> Any:
    size = a.n
    if size is None:
        size = x.shape[0]
    column = P.unsqueeze(x, 1)
    # `cumprod` needs at least two columns to begin with.
    if not is_length(size) and size < 2:
        if size:
            return P.ones_like(column)
        return column[:, :0]
    powers = P.cumprod(P.concat([P.ones_like(column), P.expand(column, [-1, size - 1])], 1), 1)
    if a.increasing:
        return powers
    return P.flip(powers, [1])


def _block_diagonal(a: Any, blocks: Any) -> Any:
    blocks = [P.reshape(b, [1] * (2 - b.ndim) + list(b.shape)) for b in blocks]
    widths = [b.shape[1] for b in blocks]
    rows = []
    for i, block in enumerate(blocks):
        sides = [(sum(widths[:i]), 0), (sum(widths[i + 1 :]), 1)]
        row = [block]
        for width, place in sides:
            if is_length(width) or width:
                row.insert(len(row) * place, P.zeros([block.shape[0], width], block.dtype))
        # One part needs no copy.
        if len(row) > 1:
            block = P.concat(row, 1)
        rows.append(block)
    return P.concat(rows, 0)


def _products(a: Any, xs: Any) -> Any:
    if len(xs) == 1:
        return P.assign(xs[0])
    return P.stack([P.reshape(grid, [-1]) for grid in P.meshgrid(*xs)], 1)


def _diagflat(a: Any, x: Any) -> Any:
    return P.diag(P.flatten(x), a.offset)


def _put_diagonal(w: Any, a: Any, out: Any, x: Any, y: Any) -> Any:
    y = cast(w, y, x.dtype)
    if x.ndim == 2:
        y = w.op("reshape", [y, w.ints([1, -1])], (y.dtype, [1, *y.shape]))
    return w.op("fill_diagonal_tensor", [x, y], out[0], offset=a.offset, dim1=a.first, dim2=a.second)


def _take(a: Any, x: Any, index: Any) -> Any:
    if is_empty(index):
        return None
    size = math.prod(x.shape)
    index = P.cast(index, "int64")
    if a.mode == "raise":
        # Negative positions count from the end.
        index = P.where(index < 0, index + size, index)
    elif a.mode == "wrap":
        index = P.remainder(index, P.full([], size, "int64"))
    else:
        index = P.minimum(P.maximum(index, P.full([], 0, "int64")), P.full([], size - 1, "int64"))
    taken = P.index_select(P.flatten(x), P.flatten(index), 0)
    return P.reshape(taken, list(index.shape))


def _picked(x: Any, places: Any) -> Any:
    """Elements of x in the shape of an array of places."""
    taken = P.index_select(P.flatten(x), P.to_tensor(places.ravel().astype(np.int64)), 0)
    return P.reshape(taken, list(places.shape))


def _as_strided(a: Any, x: Any) -> Any:
    if not is_fixed(x) or is_empty(a):
        return None
    # Byte offset to elements.
    places = np.asarray(a.offset // numpy_dtype(x).itemsize)
    for size, step in zip(a.shape, a.stride, strict=True):
        places = places[..., None] + np.arange(size) * step
    return _picked(x, places)


def _unfold(a: Any, x: Any) -> Any:
    """Windows of an axis, as a new last axis."""
    axis = a.axis % max(x.ndim, 1)
    if not x.ndim or is_empty(x) or is_length(x.shape[axis]):
        return None
    places = np.arange(0, x.shape[axis] - a.size + 1, a.step)[:, None] + np.arange(a.size)
    taken = P.index_select(x, P.to_tensor(places.ravel()), axis)
    taken = P.reshape(taken, [*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]])
    return P.moveaxis(taken, axis + 1, -1)


def _view_as(a: Any, x: Any, other: Any) -> Any:
    return P.reshape(x, list(other.shape))


def _leading(a: Any, x: Any) -> Any:
    return x[tuple(slice(None, n) for n in a.shape)]


def _change_slices(a: Any, x: Tensor, index: Tensor, value: Tensor) -> Any:
    if a.how == "add":
        return None
    perm = list(range(x.ndim))
    perm[0], perm[a.axis] = a.axis, 0
    # `index_put` takes the first axis.
    if a.axis == 0:
        return P.index_put(x, [index], value)
    return P.transpose(P.index_put(P.transpose(x, perm), [index], value), perm)


def _put_where(a: Any, x: Any, mask: Any, value: Any) -> Any:
    mask = P.reshape(mask, [*mask.shape, *[1] * (x.ndim - mask.ndim)])
    if a.accumulate:
        new = x + value
    else:
        new = P.expand_as(P.cast(value, x.dtype), x)
    return P.where(mask, new, x)


def _fill_in_order(a: Any, x: Any, mask: Any, value: Any) -> Any:
    if is_empty(value) or is_empty(x):
        return None
    x, mask = P.broadcast_tensors([x, P.cast(mask, x.dtype)])
    mask = P.cast(mask, "bool")
    # The k-th element that the mask picks takes the k-th value.
    places = P.cumsum(P.cast(P.flatten(mask), "int64"), 0) - 1
    last = P.full([], math.prod(value.shape) - 1, "int64")
    places = P.minimum(P.maximum(places, P.full([], 0, "int64")), last)
    filled = P.reshape(P.index_select(P.flatten(value), places, 0), list(x.shape))
    return P.where(mask, filled, x)


def _localize(w: Any, a: Any, out: Any, x: Any) -> Any:
    count = (2**31 - 1) // (a.size + 1)  # of shards: as many as int32 can number
    return w.op(
        "shard_index",
        [x],
        out[0],
        index_num=count * a.size,
        nshards=count,
        shard_id=a.shard_id,
        ignore_value=a.ignore_value,
    )


def _fftshift(sign: int) -> Callable[..., Any]:
    def decompose(a: Any, x: Any) -> Any:
        if a.axes is None:
            axes = range(x.ndim)
        elif isinstance(a.axes, tuple):
            axes = a.axes
        else:
            axes = (a.axes,)
        if not axes:
            return P.assign(x)
        axes = [axis % x.ndim for axis in axes]
        # The middle comes to the front, or back: the two differ for odd lengths.
        return P.roll(x, [sign * (x.shape[k] // 2) for k in axes], axes)

    return decompose


rot90: Lowering = Lowering(decompose=_rot90)
diff: Lowering = Lowering(decompose=_diff)
vander: Lowering = Lowering(decompose=_vander)
trapezoid: Lowering = Lowering(decompose=_trapezoid)
running_trapezoid: Lowering = Lowering(decompose=_running_trapezoid)
block_diagonal: Lowering = Lowering(decompose=_block_diagonal)
products: Lowering = Lowering(decompose=_products)
diagflat: Lowering = Lowering(decompose=_diagflat)
put_diagonal: Lowering = Lowering(_put_diagonal)
take: Lowering = Lowering(decompose=_take)
as_strided: Lowering = Lowering(decompose=_as_strided)
unfold: Lowering = Lowering(decompose=_unfold)
view_as: Lowering = Lowering(decompose=_view_as)
leading: Lowering = Lowering(decompose=_leading)
change_slices: Lowering = Lowering(decompose=_change_slices)
localize: Lowering = Lowering(_localize)
put_where: Lowering = Lowering(decompose=_put_where)
fill_in_order: Lowering = Lowering(decompose=_fill_in_order)
fftshift: Lowering = Lowering(decompose=_fftshift(1))
ifftshift: Lowering = Lowering(decompose=_fftshift(-1))
