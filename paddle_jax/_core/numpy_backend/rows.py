"""Joins arrays to one row, and divides a row into arrays, by one call each.

An optimizer updates small parameters as one row. In a jaxpr each of them is reshaped to a row and back again,
which takes longer than the arithmetic.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.flatten import Flat, drop_dead
from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, rule

_RESHAPE = "reshape"


class JoinedRow:
    """Stands for a primitive: the elements of several arrays, one after the other."""

    name = "joined_row"
    multiple_results = False


class DividedRow:
    """Stands for a primitive: arrays of the elements of a row, one after the other."""

    name = "divided_row"
    multiple_results = True


def join_rows(flat: Flat) -> None:
    """Replaces a concatenation of reshaped arrays, and a split whose parts are reshaped.

    Both have one axis alone whose length is not 1, so reshaping keeps the order of the elements.
    """
    makers = {out: equation for equation in flat.equations for out in equation[3]}
    readers: collections.defaultdict[int, list[int]] = collections.defaultdict(list)
    for n, equation in enumerate(flat.equations):
        for slot in equation[2]:
            readers[slot].append(n)
    dropped: set[int] = set()
    is_changed = False
    for n, (primitive, params, ins, outs, in_avals, out_avals) in enumerate(flat.equations):
        if primitive.name == "concatenate" and _is_row(out_avals[0], params["dimension"]):
            sources = [_before_reshape(slot, aval, makers) for slot, aval in zip(ins, in_avals, strict=True)]
            new_ins, new_avals = zip(*sources, strict=True)
            flat.equations[n] = JoinedRow, {}, list(new_ins), outs, list(new_avals), out_avals
            is_changed = True
        elif primitive.name == "split" and _is_row(in_avals[0], params["axis"]):
            reshapes = [k for k in (_only_reader(slot, readers, flat) for slot in outs) if k is not None]
            if len(reshapes) < len(outs):
                continue
            new_outs = [flat.equations[k][3][0] for k in reshapes]
            new_avals = [flat.equations[k][5][0] for k in reshapes]
            flat.equations[n] = DividedRow, {}, ins, new_outs, in_avals, new_avals
            dropped.update(reshapes)
            is_changed = True
    if is_changed:
        flat.equations = [equation for n, equation in enumerate(flat.equations) if n not in dropped]
        # No other equation may read what was reshaped.
        drop_dead(flat)


def _is_row(aval: Any, axis: int) -> bool:
    """Whether all axes but one have the length 1."""
    is_plain = isinstance(aval.dtype, np.dtype)
    return is_plain and all(length == 1 for k, length in enumerate(aval.shape) if k != axis)


def _is_plain_reshape(equation: tuple[Any, ...]) -> bool:
    """Whether an equation reshapes an array without moving its axes."""
    primitive, params = equation[:2]
    return primitive.name == _RESHAPE and params["dimensions"] is None


def _before_reshape(slot: int, aval: Any, makers: dict[int, tuple[Any, ...]]) -> tuple[int, Any]:
    """The slot of an array before it was reshaped, and its aval."""
    maker = makers.get(slot)
    if maker is None or not _is_plain_reshape(maker):
        return slot, aval
    return maker[2][0], maker[4][0]


def _only_reader(slot: int, readers: dict[int, list[int]], flat: Flat) -> int | None:
    """The number of the reshape that alone reads a slot; None if there is something else."""
    numbers = readers[slot]
    if len(numbers) != 1 or slot in flat.results or not _is_plain_reshape(flat.equations[numbers[0]]):
        return None
    return numbers[0]


@rule("joined_row")
def _joined_row(params: Params, ins: Avals, outs: Avals) -> Run:
    shape = outs[0].shape
    concatenate = np.concatenate
    # without an axis NumPy takes the elements of each array in their order
    return lambda *arrays: concatenate(arrays, None).reshape(shape)


@rule("divided_row")
def _divided_row(params: Params, ins: Avals, outs: Avals) -> Run:
    parts = []
    start = 0
    for aval in outs:
        end = start + aval.size
        # A part of a row has one axis already.
        shape = aval.shape if len(aval.shape) != 1 else None
        parts.append((slice(start, end), shape))
        start = end

    def run(row: np.ndarray) -> list[np.ndarray]:
        elements = row.reshape(-1)
        # Copies, since a result keeps no larger array alive.
        return [
            (elements[part] if shape is None else elements[part].reshape(shape)).copy()
            for part, shape in parts
        ]

    return run
