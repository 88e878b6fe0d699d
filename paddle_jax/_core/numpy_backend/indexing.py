"""Gather and scatter: every window is a start, counted in elements of the flattened operand,
plus fixed offsets.

See https://openxla.org/xla/operation_semantics#gather for what the dimension numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.reductions import monoid_of
from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, compute_dtype, rule


class Windows:
    """Where windows of fixed sizes start and end in an operand, from an array of indices.

    Attributes:
        batch: shape of the indices without their last axis.
        mapped: the axes of the operand that the last axis of the indices gives.
        strides: array, elements from one position of these axes to the next.
        room: array, the last positions of these axes at which a window fits.
        clip: bool, whether starts outside are moved inside; otherwise such windows are left out.
        base: array, where the part of the operand begins that belongs to each place of the batch; one zero if
            the batch has no parts.
        offsets: array, elements of a window counted from its start.
    """

    def __init__(
        self, shape: tuple[int, ...], sizes: Sequence[int], batch: Any, mapped: Any, batched: Any, mode: Any
    ) -> None:
        self.batch = batch
        self.mapped = mapped
        strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
        self.strides = np.array([strides[k] for k in mapped], np.int64)
        # The last start at which a window is still inside.
        self.room = np.array([shape[k] - sizes[k] for k in mapped], np.int64)
        self.clip = mode == "CLIP"
        self.base = np.zeros((), np.int64)
        if batched or not mapped:
            self.base = _starts_of_batch(strides, batch, batched)
        # From the first element of a window to each of its elements.
        offsets = np.zeros((), np.int64)
        for n, stride in zip(sizes, strides, strict=True):
            if n != 1:
                offsets = offsets[..., None] + stride * np.arange(n)
        self.offsets = offsets.reshape(-1)

    def find(self, indices: np.ndarray) -> Any:
        """(positions [windows, elements of one], None or which windows are inside [windows])."""
        starts = indices.reshape(-1, len(self.mapped))
        # Large numbers of uint64 must not turn negative.
        if starts.dtype == np.uint64:
            starts = np.minimum(starts, np.iinfo(np.int64).max)
        starts = starts.astype(np.int64, copy=False)
        moved = np.minimum(np.maximum(starts, 0), self.room)
        inside = None
        if not self.clip and not (fits := moved == starts).all():
            inside = fits.all(1)
        first = self.base
        for k, stride in enumerate(self.strides):
            first = first + moved[:, k] * stride
        return first[:, None] + self.offsets, inside


def _starts_of_batch(strides: Sequence[int], batch: Any, batched: dict[int, int]) -> np.ndarray:
    """Where the part of an operand begins that belongs to each place of a batch.

    Args:
        strides: elements from one position to the next, for each axis of the operand.
        batch: shape of the batch.
        batched: {axis of the operand: axis of the indices} that go together.
    """
    base = np.zeros((1,) * len(batch), np.int64)
    for axis, partner in batched.items():
        starts = strides[axis] * np.arange(batch[partner])
        base = base + starts.reshape([-1 if k == partner else 1 for k in range(len(batch))])
    return np.broadcast_to(base, batch).reshape(-1)


def _mode(params: Params, promised: Any) -> Any:
    """CLIP or FILL_OR_DROP; `promised` is what XLA does when a promise that all indices fit is broken."""
    name = getattr(params["mode"], "name", None)
    if name not in ("CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"):
        raise Refusal(f"index mode {params['mode']} is compiled")
    if name == "PROMISE_IN_BOUNDS":
        return promised
    return name


@rule("gather")
def _gather(params: Params, ins: Avals, outs: Avals) -> Run:
    dims = params["dimension_numbers"]
    sizes = params["slice_sizes"]
    mode = _mode(params, "CLIP")
    shape = ins[0].shape
    batch = ins[1].shape[:-1]
    dtype = outs[0].dtype
    batched = dict(zip(dims.operand_batching_dims, dims.start_indices_batching_dims, strict=True))
    gone = {*dims.collapsed_slice_dims, *batched}
    kept = [n for k, n in enumerate(sizes) if k not in gone]
    order = _places(len(batch), dims.offset_dims, len(outs[0].shape))
    fill = _fill(params["fill_value"], dtype)
    if 0 in outs[0].shape:
        return lambda x, indices: np.zeros(outs[0].shape, dtype)
    # Without elements every window is outside.
    if 0 in shape:
        return lambda x, indices: np.full(outs[0].shape, fill, dtype)
    axis = _row_axis(shape, sizes, dims, batched)
    if axis is not None:
        return _take(shape, axis, order, len(batch), mode, fill)
    windows = Windows(shape, sizes, batch, dims.start_index_map, batched, mode)

    def gather(x: np.ndarray, indices: np.ndarray) -> Any:
        where, inside = windows.find(indices)
        y = x.reshape(-1).take(where)
        if inside is not None:
            y[~inside] = fill
        return y.reshape((*batch, *kept)).transpose(order)

    return gather


def _places(batch: Any, window_dims: Any, rank: int) -> Any:
    """The permutation that brings [batch..., window...] to a result whose axes
    `window_dims` are the window."""
    order = [0] * rank
    rest = iter(range(batch))
    for k in range(rank):
        order[k] = batch + window_dims.index(k) if k in window_dims else next(rest)
    return tuple(order)


def _row_axis(shape: tuple[int, ...], sizes: Sequence[int], dims: Any, batched: Any) -> Any:
    """The axis when whole slices at single positions of one axis are taken, else None."""
    mapped = tuple(dims.start_index_map)
    if batched or len(mapped) != 1 or tuple(dims.collapsed_slice_dims) != mapped:
        return None
    (axis,) = mapped
    is_whole = [length == size for length, size in zip(shape, sizes, strict=True)]
    is_whole[axis] = True
    if all(is_whole):
        return axis
    return None


def _take(shape: tuple[int, ...], axis: int, order: Any, rank: int, mode: Any, fill: Any) -> Any:
    """Whole slices at positions along one axis. `order` brings [batch..., window...] to the result."""
    n = shape[axis]
    clip = mode == "CLIP"
    limit = np.int64(n - 1)
    # axes of the window in what np.take gives
    forward = [*range(axis), *range(axis + rank, rank + len(shape) - 1)]
    order = tuple(([*range(axis, axis + rank)] + forward)[k] for k in order)
    before = (1,) * axis
    after = (1,) * (len(shape) - 1 - axis)

    def take(x: np.ndarray, indices: np.ndarray) -> Any:
        indices = indices[..., 0]
        # Positions beyond int64 must not turn negative.
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(n))
        indices = indices.astype(np.int64)
        # Positions outside are read at the edge, and filled below.
        inside = np.minimum(np.maximum(indices, 0), limit)
        y = x.take(inside, axis)
        if not clip and not (fits := inside == indices).all():
            y = np.where(fits.reshape(before + fits.shape + after), y, fill)
        return y.transpose(order)

    return take


def _fill(value: Any, dtype: np.dtype) -> Any:
    """What a gather gives for windows outside."""
    if value is not None:
        return np.asarray(value).astype(dtype)
    # As JAX fills: NaN, true, the least signed or the largest unsigned number.
    if dtype.kind in "fVc":
        return np.asarray(np.nan, dtype)
    if dtype.kind == "b":
        return np.asarray(True)
    limits = np.iinfo(dtype)
    return np.asarray(limits.min if dtype.kind == "i" else limits.max, dtype)


def _scatter(names: tuple[str, ...], ufunc: Any) -> None:
    """`ufunc` combines what is there with an update; None: the update takes its place."""

    @rule(*names)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        update = params.get("update_jaxpr")
        if update is not None and (ufunc is None or monoid_of(update) is not ufunc):
            raise Refusal("scatter with a function of one's own is compiled")
        dims = params["dimension_numbers"]
        mode = _mode(params, "FILL_OR_DROP")
        dtype = outs[0].dtype
        shape = ins[0].shape
        batch = ins[1].shape[:-1]
        batched = dict(zip(dims.operand_batching_dims, dims.scatter_indices_batching_dims, strict=True))
        gone = {*dims.inserted_window_dims, *batched}
        extents = iter([ins[2].shape[k] for k in dims.update_window_dims])
        sizes = [1 if k in gone else next(extents) for k in range(len(shape))]
        # A window that is larger than the array is outside everywhere.
        is_too_small = any(length < size for length, size in zip(shape, sizes, strict=True))
        if 0 in shape or 0 in ins[2].shape or is_too_small:
            return lambda x, indices, updates: x
        windows = Windows(shape, sizes, batch, dims.scatter_dims_to_operand_dims, batched, mode)
        window_axes = list(dims.update_window_dims)
        order = [k for k in range(len(ins[2].shape)) if k not in window_axes] + window_axes
        inner = compute_dtype(dtype) if ufunc is not None else dtype

        def scatter(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> Any:
            where, inside = windows.find(indices)
            updates = updates.transpose(order).reshape(where.shape)
            if inside is not None:
                where = where[inside]
                updates = updates[inside]
            # A copy in the order of memory, as positions are flat.
            y = np.array(x, inner, order="C").reshape(-1)
            if ufunc is None:
                y[where.reshape(-1)] = updates.reshape(-1)
            else:
                numbers = updates.reshape(-1).astype(inner, copy=False)
                # A position that occurs twice counts twice.
                ufunc.at(y, where.reshape(-1), numbers)
            return y.reshape(shape).astype(dtype, copy=False)

        return scatter


_scatter(("scatter",), None)
_scatter(("scatter-add", "scatter_add"), np.add)
_scatter(("scatter-sub", "scatter_sub"), np.subtract)
_scatter(("scatter-mul", "scatter_mul"), np.multiply)
_scatter(("scatter-min", "scatter_min"), np.minimum)
_scatter(("scatter-max", "scatter_max"), np.maximum)
