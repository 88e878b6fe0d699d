"""Shapes: views where NumPy has them, copies else."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, rule


@rule("broadcast_in_dim")
def _broadcast(params: Params, ins: Avals, outs: Avals) -> Run:
    shape = outs[0].shape
    source = ins[0].shape
    middle = [1] * len(shape)
    for axis, extent in zip(params["broadcast_dimensions"], source, strict=True):
        middle[axis] = extent
    middle = tuple(middle)
    # Only axes of length 1 are new, so a reshape does it.
    if middle == shape:
        return operator.methodcaller("reshape", shape)
    dtype = outs[0].dtype
    # Memory can be described again for NumPy's own dtypes alone.
    if dtype.kind not in "biufc" or 0 in shape:
        return lambda x: np.broadcast_to(x.reshape(middle), shape)
    strides = _repeating_strides(middle, shape, dtype.itemsize)

    def broadcast(x: np.ndarray) -> np.ndarray:
        # in a tenth of the time of `np.broadcast_to`
        if x.flags.c_contiguous:
            return np.ndarray(shape, dtype, x, 0, strides)
        return np.broadcast_to(x.reshape(middle), shape)

    return broadcast


def _repeating_strides(middle: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Bytes between the elements along each axis, of an array in C order that is repeated to a shape."""
    strides = []
    step = itemsize
    for extent, length in zip(reversed(middle), reversed(shape), strict=True):
        strides.append(step if extent == length else 0)
        step *= extent
    return tuple(reversed(strides))


@rule("reshape", "squeeze", "expand_dims")
def _reshape(params: Params, ins: Avals, outs: Avals) -> Run:
    shape, order = outs[0].shape, params.get("dimensions")
    if order is not None and "new_sizes" in params:  # with a transposition first
        return lambda x: np.transpose(x, order).reshape(shape)
    return operator.methodcaller("reshape", shape)


@rule("transpose", of_any_lengths=True)
def _transpose(params: Params, ins: Avals, outs: Avals) -> Run:
    order = tuple(params["permutation"])
    return operator.methodcaller("transpose", order)


@rule("rev")
def _rev(params: Params, ins: Avals, outs: Avals) -> Run:
    where = tuple(
        slice(None, None, -1) if k in params["dimensions"] else slice(None) for k in range(len(ins[0].shape))
    )
    return operator.itemgetter(where)


@rule("concatenate", of_any_lengths=True)
def _concatenate(params: Params, ins: Avals, outs: Avals) -> Run:
    axis = params["dimension"]
    concatenate = np.concatenate
    return lambda *operands: concatenate(operands, axis)


@rule("stack", of_any_lengths=True)
def _stack(params: Params, ins: Avals, outs: Avals) -> Run:
    axis = next((params[name] for name in ("axis", "dimension") if name in params), 0)
    return lambda *operands: np.stack(operands, axis)


@rule("split")
def _split(params: Params, ins: Avals, outs: Avals) -> Run:
    axis = params["axis"]
    places = []
    start = 0
    for size in params["sizes"]:
        places.append((slice(None),) * axis + (slice(start, start + size),))
        start += size
    return lambda x: [x[place] for place in places]


@rule("unstack")
def _unstack(params: Params, ins: Avals, outs: Avals) -> Run:
    axis = params["axis"]
    places = [(slice(None),) * axis + (k,) for k in range(ins[0].shape[axis])]
    return lambda x: [x[place] for place in places]


@rule("tile")
def _tile(params: Params, ins: Avals, outs: Avals) -> Run:
    reps = tuple(params["reps"])
    return lambda x: np.tile(x, reps)


@rule("iota")
def _iota(params: Params, ins: Avals, outs: Avals) -> Run:
    shape = outs[0].shape
    axis = params["dimension"]
    dtype = outs[0].dtype
    middle = tuple(-1 if k == axis else 1 for k in range(len(shape)))
    # Only the axis itself takes memory; the others repeat it.
    return lambda: np.broadcast_to(np.arange(shape[axis]).astype(dtype).reshape(middle), shape)


@rule("empty", "empty2")
def _empty(params: Params, ins: Avals, outs: Avals) -> Run:
    return lambda *operands: np.zeros(outs[0].shape, outs[0].dtype)


@rule("slice")
def _slice(params: Params, ins: Avals, outs: Avals) -> Run:
    starts = params["start_indices"]
    limits = params["limit_indices"]
    where = tuple(map(slice, starts, limits, params["strides"] or [1] * len(starts)))
    return operator.itemgetter(where)


def padding_slices(shape: tuple[int, ...], padding: Sequence[Any], steps: Any) -> Any:
    """(shape, target, source) of an array whose elements are put `steps` apart and padded, with negative
    padding cutting off: the new one's [target] are the old one's [source]."""
    extents = []
    target = []
    source = []
    for n, (before, after), step in zip(shape, padding, steps, strict=True):
        # Negative padding cuts off, but no more than there is.
        extent = max(((n - 1) * step + 1 if n else 0) + before + after, 0)
        # the first element that stays
        if before < 0:
            first = max(0, -(before // step))
        else:
            first = 0
        start = before + first * step
        count = max((min(n, (extent - 1 - before) // step + 1) if extent else 0) - first, 0)
        extents.append(extent)
        source.append(slice(first, first + count))
        target.append(slice(start, start + (count - 1) * step + 1 if count else start, step))
    return tuple(extents), tuple(target), tuple(source)


@rule("pad")
def _pad(params: Params, ins: Avals, outs: Avals) -> Run:
    config = params["padding_config"]
    dtype = outs[0].dtype
    shape, target, source = padding_slices(
        ins[0].shape, [each[:2] for each in config], [inside + 1 for *_, inside in config]
    )

    def pad(x: np.ndarray, value: Any) -> Any:
        y = np.empty(shape, dtype)
        y[...] = value
        y[target] = x[source]
        return y

    return pad


def starts_of(shape: tuple[int, ...], sizes: Sequence[int]) -> Any:
    """How far each start may go."""
    return tuple(n - k for n, k in zip(shape, sizes, strict=True))


@rule("dynamic_slice")
def _dynamic_slice(params: Params, ins: Avals, outs: Avals) -> Run:
    block = _block(ins[0].shape, params["slice_sizes"])
    return lambda x, *starts: x[block(starts)]


def _block_of_axis(axis: int, most: int, size: int) -> Any:
    """As `_block`, for a block that takes all of the other axes. most: how far its start may go."""
    before = (slice(None),) * axis

    def block(starts: Sequence[Any]) -> Any:
        start = min(max(int(starts[axis]), 0), most)
        return (*before, slice(start, start + size))

    return block


def _block(shape: tuple[int, ...], sizes: Sequence[int]) -> Any:
    """A function of the starts that gives the index of a block. A start moves so that the block fits."""
    room = starts_of(shape, sizes)
    moving = [axis for axis, most in enumerate(room) if most > 0]
    if len(moving) == 1:  # such as a row of a matrix
        return _block_of_axis(moving[0], room[moving[0]], sizes[moving[0]])

    def block(starts: Sequence[Any]) -> Any:
        return tuple(
            [slice(s := min(max(int(i), 0), r), s + k) for i, r, k in zip(starts, room, sizes, strict=True)]
        )

    return block


@rule("dynamic_update_slice")
def _dynamic_update_slice(params: Params, ins: Avals, outs: Avals) -> Run:
    block = _block(ins[0].shape, ins[1].shape)

    def run(x: np.ndarray, update: np.ndarray, *starts: Any) -> Any:
        y = np.array(x)
        y[block(starts)] = update
        return y

    return run
