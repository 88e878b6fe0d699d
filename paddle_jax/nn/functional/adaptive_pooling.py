"""Pooling to a given output size: output cell i covers the input from floor(i n / m) to
ceil((i + 1) n / m)."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.size import are_known, is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.windows import channel_last, check_ndim

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


def _bins(size: Any, out: int) -> tuple[Any, Any]:
    """First and past-the-end positions of the output cells."""
    i = np.arange(out)
    # A length that only the running program knows is an operand.
    if not are_known(size):
        size = jnp.asarray(size)
    # Rounded up: cells may overlap by one element.
    return i * size // out, -(-(i + 1) * size // out)


def _targets(op_name: str, x: jax.Array, output_size: Any, axes: Any) -> tuple[int, ...]:
    n = len(axes)
    if isinstance(output_size, int) or output_size is None:
        sizes = (output_size,) * n
    else:
        sizes = tuple(output_size)
    # One number holds for all axes, also in a list.
    if len(sizes) == 1:
        sizes *= n
    # A Tensor of lengths was turned into ints before.
    if len(sizes) != n or not all(s is None or isinstance(s, int) for s in sizes):
        raise ValueError(
            f"{op_name}: output_size: got {output_size}; it must be an int or a list of {n} ints"
        )
    sizes = tuple(x.shape[a] if s is None else s for a, s in zip(axes, sizes, strict=True))
    if any(are_known(s) and s < 0 for s in sizes):
        raise ValueError(f"{op_name}: output_size: got {output_size}; each must not be negative")
    return sizes


def _split(x: jax.Array, axes: Any, sizes: Any) -> tuple[jax.Array, tuple[int, ...]]:
    """x with every spatial axis cut into (cells, cell length), and the axes inside the cells; for lengths
    that divide evenly."""
    shape = []
    inside = []
    for a, n in enumerate(x.shape):
        if a in axes:
            cells = sizes[axes.index(a)]
            shape += [cells, n // cells]
            inside.append(len(shape) - 1)
        else:
            shape.append(n)
    return x.reshape(shape), tuple(inside)


def _mean(x: jax.Array, axes: Any, sizes: Any) -> jax.Array:
    if 0 in sizes:
        # No cells, so there is no mean over nothing.
        return jnp.zeros([sizes[axes.index(a)] if a in axes else n for a, n in enumerate(x.shape)], x.dtype)
    # Cells of one length: a reshape and a mean, without a matrix.
    if all(x.shape[a] % s == 0 for a, s in zip(axes, sizes, strict=True)):
        cut, inside = _split(x, axes, sizes)
        return cut.mean(inside)
    # The windows need tables, whose width is a length that is known now.
    if not are_known(*[x.shape[a] for a in axes]):
        return _mean_by_products(x, axes, sizes)
    # 0 times infinity is NaN, so a product would spread it to cells that have no such number.
    return lax.cond(
        jnp.isfinite(x).all(),
        lambda x: _mean_by_products(x, axes, sizes),
        lambda x: _mean_by_windows(x, axes, sizes),
        x,
    )


def _mean_by_windows(x: jax.Array, axes: Any, sizes: Any) -> jax.Array:
    """The means of cells of several lengths, each from its own elements alone."""
    for axis, out in zip(axes, sizes, strict=True):
        first, end = _bins(x.shape[axis], out)
        table = positions(first, end)
        shape = (*x.shape[:axis], *table.shape, *x.shape[axis + 1 :])
        windows = jnp.take(x, table.reshape(-1), axis, mode="clip").reshape(shape)
        behind = (1,) * (x.ndim - axis - 1)
        # Short cells repeat their last element in the table; it must not count twice.
        is_inside = first[:, None] + np.arange(table.shape[1]) < end[:, None]
        total = jnp.where(is_inside.reshape(*table.shape, *behind), windows, 0).sum(axis + 1)
        x = total / jnp.asarray((end - first).reshape(-1, *behind), x.dtype)
    return x


def _mean_by_products(x: jax.Array, axes: Any, sizes: Any) -> jax.Array:
    """The means of cells of several lengths, of finite numbers."""
    for axis, out in zip(axes, sizes, strict=True):
        first, end = _bins(x.shape[axis], out)
        place = (np if are_known(x.shape[axis]) else jnp).arange(x.shape[axis])
        # Row i has 1 / length in the columns of cell i.
        matrix = ((place >= first[:, None]) & (place < end[:, None])) / (end - first)[:, None]
        # A product with a matrix has a fast gradient; a gather for each cell does not.
        x = jnp.moveaxis(jnp.tensordot(jnp.asarray(matrix, x.dtype), x, (1, axis)), 0, axis)
    return x


def positions(first: np.ndarray, end: np.ndarray, reach: int | None = None) -> np.ndarray:
    """The positions in each cell [cells, reach]; short cells repeat their last one."""
    # A repeated position changes no maximum.
    return np.minimum(
        first[:, None] + np.arange(int((end - first).max(initial=0)) if reach is None else reach),
        end[:, None] - 1,
    )


def _under(x: jax.Array, places: np.ndarray, axis: int) -> jax.Array:
    """x at positions along an axis; evenly spaced ones are a slice, which is much faster than a gather."""
    if isinstance(places, np.ndarray) and len(places) > 1:
        step = int(places[1] - places[0])
    else:
        step = 0
    # Slices have a padding as their gradient, where a gather has a scatter.
    if step > 0 and (np.diff(places) == step).all():
        return lax.slice_in_dim(x, int(places[0]), int(places[-1]) + 1, step, axis)
    return jnp.take(x, places, axis, mode="clip")


def _better(best: tuple[jax.Array, ...], candidate: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    """The larger of two (value, position), the first of equals; NaN is larger than all numbers."""
    # NaN compares False, so it is asked for separately.
    wins = (candidate[0] > best[0]) | (jnp.isnan(candidate[0]) & ~jnp.isnan(best[0]))
    return tuple(jnp.where(wins, new, old) for new, old in zip(candidate, best, strict=True))


def maximum_of_cells(x: jax.Array, tables: Sequence[np.ndarray]) -> tuple[jax.Array, ...]:
    """The maximum of each cell of x [N, C, ...] and its position in the flattened spatial axes; tables:
    `positions` for each axis."""
    spatial = x.shape[2:]
    shape = (*x.shape[:2], *[len(table) for table in tables])
    if 0 in spatial or 0 in shape:
        # There is no maximum of nothing: NaN.
        return jnp.full(shape, jnp.nan, x.dtype), jnp.zeros(shape, jnp.int32)
    # Positions move along with their values.
    place = jnp.asarray(np.arange(math.prod(spatial), dtype=np.int32).reshape(1, 1, *spatial))
    best = x, jnp.broadcast_to(place, x.shape)
    # the last axis first: of equal elements the first in row-major order stays
    for axis, table in reversed(list(enumerate(tables, 2))):
        best = ft.reduce(_better, [tuple(_under(a, places, axis) for a in best) for places in table.T])
    return best


def _maximum_of_open_cells(x: jax.Array, sizes: Sequence[Any]) -> tuple[jax.Array, jax.Array]:
    """As `maximum_of_cells`, where lengths stand for every number."""
    if 0 in sizes:
        raise ValueError("output_size: got 0, where the lengths of x are open; it must be at least 1")
    place = jnp.arange(math.prod(x.shape[2:]), dtype=np.int32).reshape(1, 1, *x.shape[2:])
    place = jnp.broadcast_to(place, x.shape)
    # The last axis first: of equal elements the first in row-major order stays.
    for axis, out in reversed(list(enumerate(sizes, 2))):
        n = x.shape[axis]
        # As many cells as elements.
        if is_symbolic(out):
            continue
        first, end = _bins(n, out)
        # No cell is longer.
        reach = jnp.arange(n // out + 2)
        table = jnp.minimum(first[:, None] + reach, end[:, None] - 1)
        x, place = (jnp.take(one, table, axis, mode="clip") for one in (x, place))
        best = jnp.argmax(x, axis + 1, keepdims=True)
        x, place = (
            jnp.take_along_axis(one, best, axis + 1, mode="clip").squeeze(axis + 1) for one in (x, place)
        )
    return x, place


def _max(op_name: str, n: int, x: jax.Array, output_size: Any, return_mask: bool) -> Any:
    check_ndim(op_name, x, n + 2)
    sizes = _targets(op_name, x, output_size, tuple(range(2, n + 2)))
    if any(map(is_symbolic, x.shape[2:])):
        value, place = _maximum_of_open_cells(x, sizes)
    else:
        value, place = maximum_of_cells(
            x, [positions(*_bins(s, o)) for s, o in zip(x.shape[2:], sizes, strict=True)]
        )
    if return_mask:
        return (value, place)
    return value


def adaptive_mean(x: Tensor, output_size: Any, last: bool) -> Tensor:
    """Mean pooling of a Tensor to the given lengths, used by area resizing."""
    n = x.ndim - 2
    formats = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
    return _adaptive_mean(x, output_size, formats[n][last])


@known_as(code="pooling:adaptive_avg_pool2d")
@op(method=False, register=False)
def _adaptive_mean(x: jax.Array, output_size: Any, data_format: str) -> jax.Array:
    return _average("interpolate", x.ndim - 2, x, output_size, data_format)


def _average(op_name: str, n: int, x: jax.Array, output_size: Any, data_format: str) -> jax.Array:
    last = channel_last(op_name, n, data_format)
    check_ndim(op_name, x, n + 2)
    if last:
        axes = tuple(range(1, n + 1))
    else:
        axes = tuple(range(2, n + 2))
    return _mean(x, axes, _targets(op_name, x, output_size, axes))


@known_as(code="pooling:adaptive_avg_pool1d")
@op(
    method=False,
    alias={"input": "x"},
    cases=[
        "f(1,2,6), 3",
        "f(1,2,7), 3",
        "f(1,2,7), 1",
        "f(1,2,3), 5",
        "d(0,2,6), 3",
        "f(2,6), 3",
        "f(1,2,6), 0",
        "f(1,2,6), [3]",
        "f(1,2,6), [3,2]",
    ],
)
def adaptive_avg_pool1d(x: jax.Array, output_size: Any, name: str | None = None) -> jax.Array:
    """Averages a sequence [N, C, L] to output_size cells.

    Args:
        x: Tensor [N, C, L], floating. `input` is accepted as a name.
        output_size: int.
    Returns:
        Tensor [N, C, output_size].
    Example:
        >>> paddle.nn.functional.adaptive_avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2).tolist()
        [[[2.0, 6.0]]]
    """
    return _average("adaptive_avg_pool1d", 1, x, output_size, "NCL")


@known_as(code="pooling:adaptive_avg_pool2d")
@op(
    method=False,
    alias={"input": "x"},
    cases=[
        "f(1,2,6,6), 3",
        "f(2,2,6,4), 1",
        "f(1,2,7,5), [3,2]",
        "f(1,2,7,5), [None,2]",
        "f(1,7,5,2), [3,2], 'NHWC'",
        "f(1,2,3,3), 5",
        "d(0,2,6,6), 3",
        "f(2,6,6), 3",
        "f(1,2,6,6), 3, 'X'",
        "f(1,2,6,6), 0",
        "f(1,2,6,6), [1,2,3]",
        "f(1,2,7,5), const([3,2],'int32')",
    ],
)
def adaptive_avg_pool2d(
    x: jax.Array, output_size: Any, data_format: str = "NCHW", name: str | None = None
) -> jax.Array:
    """Averages an image to a given number of cells.

    Args:
        x: Tensor [N, C, H, W], or [N, H, W, C] with data_format "NHWC". `input` is accepted as a name.
        output_size: int or [height, width]; None keeps that length.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor with the given height and width.
    Raises:
        ValueError: an argument does not fit x.
    Example:
        >>> paddle.nn.functional.adaptive_avg_pool2d(paddle.ones([1, 2, 4, 4]), 1).shape
        paddle.Size([1, 2, 1, 1])
    """
    return _average("adaptive_avg_pool2d", 2, x, output_size, data_format)


@known_as(code="pooling:adaptive_avg_pool3d")
@op(
    method=False,
    alias={"input": "x"},
    cases=[
        "f(1,2,4,6,6), 2",
        "f(1,2,4,5,3), [3,None,2]",
        "f(1,4,5,3,2), [3,2,2], 'NDHWC'",
        "f(1,2,6,6), 3",
        "f(1,2,4,4,4), 3, 'X'",
        "f(1,1,3,3,3), 1",
    ],
)
def adaptive_avg_pool3d(
    x: jax.Array, output_size: Any, data_format: str = "NCDHW", name: str | None = None
) -> jax.Array:
    """Averages a volume [N, C, D, H, W] or [N, D, H, W, C] to a given number of cells. Arguments as for
    `adaptive_avg_pool2d`.

    Args:
        x: Tensor [N, C, D, H, W], or [N, D, H, W, C] with data_format "NDHWC".
        output_size: int, or list of three; None keeps the length of an axis.
        data_format: "NCDHW" or "NDHWC".
    Returns:
        Tensor [N, C, *output_size], or with the channels last.
    Example:
        >>> paddle.nn.functional.adaptive_avg_pool3d(paddle.ones([1, 2, 4, 4, 4]), 1).shape
        paddle.Size([1, 2, 1, 1, 1])
    """
    return _average("adaptive_avg_pool3d", 3, x, output_size, data_format)


_MAX = {"input": "x", "return_indices": "return_mask"}


@known_as(code="pooling:adaptive_max_pool1d")
@op(
    method=False,
    alias=_MAX,
    cases=[
        "f(1,2,6), 3",
        "f(1,2,7), 3, True",
        "f(1,2,7), 1, return_mask=True",
        "f(1,2,3), 5",
        "f(2,6), 3",
        "d(0,2,6), 3",
        "f(1,2,6), 0",
    ],
)
def adaptive_max_pool1d(
    x: jax.Array, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """Takes the maximum of each of output_size cells of a sequence [N, C, L]. Arguments as for
    `adaptive_max_pool2d`.

    Args:
        x: Tensor [N, C, L].
        output_size: int, the number of cells.
        return_mask: also give the positions of the maxima.
    Returns:
        Tensor [N, C, output_size]; with return_mask also an int32 Tensor of that shape.
    Example:
        >>> paddle.nn.functional.adaptive_max_pool1d(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2).tolist()
        [[[3.0, 7.0]]]
    """
    return _max("adaptive_max_pool1d", 1, x, output_size, return_mask)


@known_as(code="pooling:adaptive_max_pool2d")
@op(
    method=False,
    alias=_MAX,
    cases=[
        "f(1,2,6,6), 3",
        "f(2,2,7,5), [3,2], True",
        "f(1,2,7,5), [None,2]",
        "f(1,2,3,3), 5",
        "d(0,2,6,6), 3",
        "f(2,6,6), 3",
        "f(1,2,6,6), 1, True",
        "f(1,2,6,6), [1,2,3]",
    ],
)
def adaptive_max_pool2d(
    x: jax.Array, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """Takes the maximum of each cell of an image.

    Args:
        x: Tensor [N, C, H, W], floating. `input` is accepted as a name.
        output_size: int or [height, width]; None keeps that length.
        return_mask: also return where each maximum is. `return_indices` is accepted as a name.
    Returns:
        Tensor, or (Tensor, int32 Tensor of positions in the flattened H * W).
    Example:
        >>> paddle.nn.functional.adaptive_max_pool2d(paddle.ones([1, 2, 4, 4]), 1).shape
        paddle.Size([1, 2, 1, 1])
    """
    return _max("adaptive_max_pool2d", 2, x, output_size, return_mask)


@known_as(code="pooling:adaptive_max_pool3d")
@op(
    method=False,
    alias=_MAX,
    cases=["f(1,2,4,6,6), 2", "f(1,1,4,5,3), [3,None,2], True", "f(1,2,6,6), 3", "f(1,1,3,3,3), 1"],
)
def adaptive_max_pool3d(
    x: jax.Array, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """Takes the maximum of each cell of a volume [N, C, D, H, W]. Arguments as for `adaptive_max_pool2d`.

    Args:
        x: Tensor [N, C, D, H, W].
        output_size: int, or list of three; None keeps the length of an axis.
        return_mask: also give the positions of the maxima in the flattened volume.
    Returns:
        Tensor [N, C, *output_size]; with return_mask also an int32 Tensor of that shape.
    Example:
        >>> paddle.nn.functional.adaptive_max_pool3d(paddle.ones([1, 2, 4, 4, 4]), 1).shape
        paddle.Size([1, 2, 1, 1, 1])
    """
    return _max("adaptive_max_pool3d", 3, x, output_size, return_mask)
