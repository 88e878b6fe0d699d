"""Runs of elementwise equations on large arrays, computed block by block.

NumPy writes each intermediate result to memory: a step of Adam goes through a parameter some fourteen times.
In blocks that fit into the cache of the processor only the operands and the results pass through memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paddle_jax._core.numpy_backend.rules import Run, size_of

_LEAST = 1 << 17  # elements from which on blocks pay
_BLOCK = 1 << 14  # elements of a block
_LEAST_CALLS = 3  # fewer save too little


class Call(NamedTuple):
    """The NumPy function of one equation.

    Attributes:
        run: the function.
        ins: slots of the operands.
        outs: slots of the results.
        is_multiple: bool, whether it gives a sequence of results.
    """

    run: Run
    ins: Sequence[int]
    outs: Sequence[int]
    is_multiple: bool


def in_blocks(calls: Sequence[Call], avals: Sequence[Any], results: Iterable[int]) -> list[Call]:
    """The calls, with runs of elementwise calls on large arrays replaced by one call each.

    A call between them that does not depend on them moves before them.

    Args:
        calls: the calls in order.
        avals: the shape and dtype of each slot.
        results: slots that are read after the last call.
    """
    if len(calls) < _LEAST_CALLS:
        return list(calls)
    # A row that is repeated has no elements of its own to cut into blocks.
    repeated = {
        slot
        for call in calls
        if len(call.ins) == 1 and not isinstance(call.run, np.ufunc)
        for slot in call.outs
        if 1 < size_of(avals[call.ins[0]]) < size_of(avals[slot])
    }
    blockable = [_is_blockable(call, avals) and repeated.isdisjoint(call.ins) for call in calls]
    if sum(blockable) < _LEAST_CALLS:
        return list(calls)
    groups = _grouped(calls, blockable, avals)
    read_later = set(results)
    merged: list[Call] = []
    # backwards: a group gives the results that a later call reads
    for group in reversed(groups):
        if len(group) >= _LEAST_CALLS:
            merged.append(_merged(group, avals, read_later))
        else:
            merged.extend(reversed(group))
        read_later.update(slot for call in group for slot in call.ins)
    merged.reverse()
    return merged


def _grouped(calls: Sequence[Call], blockable: Sequence[bool], avals: Sequence[Any]) -> list[list[Call]]:
    """The calls in lists: one for each run of blockable calls of one shape, one for each other call."""
    groups: list[list[Call]] = []
    group: list[Call] = []
    made: set[int] = set()  # by the calls of the group
    for call, is_blockable in zip(calls, blockable, strict=True):
        if not is_blockable and made.isdisjoint(call.ins):
            groups.append([call])  # before the group
            continue
        if group and not (is_blockable and _shape_of(call, avals) == _shape_of(group[0], avals)):
            groups.append(group)
            group = []
            made = set()
        if is_blockable:
            group.append(call)
            made.update(call.outs)
        else:
            groups.append([call])
    if group:
        groups.append(group)
    return groups


def _shape_of(call: Call, avals: Sequence[Any]) -> tuple[int, ...]:
    return avals[call.outs[0]].shape


def _is_blockable(call: Call, avals: Sequence[Any]) -> bool:
    """Whether a call is a ufunc of large arrays of one shape, and of arrays of one element."""
    run = call.run
    if not isinstance(run, np.ufunc) or run.nout != 1 or run.nin != len(call.ins):
        return False
    out = avals[call.outs[0]]
    if size_of(out) < _LEAST:
        return False
    return all(avals[slot].shape == out.shape or size_of(avals[slot]) == 1 for slot in call.ins)


def _merged(group: Sequence[Call], avals: Sequence[Any], read_later: set[int]) -> Call:
    """One call that does the work of a group."""
    made = {call.outs[0] for call in group}
    # Each operand once, in a fixed order.
    ins = list(dict.fromkeys(slot for call in group for slot in call.ins if slot not in made))
    outs = [call.outs[0] for call in group if call.outs[0] in read_later]
    return Call(BlockedCalls(group, ins, outs, avals), ins, outs, True)


class BlockedCalls:
    """Elementwise calls that run block by block.

    Attributes:
        shape: tuple of int, the shape of the large arrays.
        steps: list of (ufunc, places of the operands, place of the result). Places number the operands, the
            results, then the buffers.
        result_dtypes: list of the dtypes of the results.
        buffer_dtypes: list of the dtypes of the buffers for a block of what is read in the group alone.
    """

    __slots__ = ("buffer_dtypes", "result_dtypes", "shape", "steps")

    def __init__(
        self, group: Sequence[Call], ins: Sequence[int], outs: Sequence[int], avals: Sequence[Any]
    ) -> None:
        self.shape = _shape_of(group[0], avals)
        self.result_dtypes = [avals[slot].dtype for slot in outs]
        self.buffer_dtypes: list[np.dtype] = []
        self.steps: list[tuple[np.ufunc, tuple[int, ...], int]] = []
        # Operands first, then results, then buffers.
        place_of = {slot: place for place, slot in enumerate((*ins, *outs))}
        first_buffer = len(place_of)
        last_read = {slot: n for n, call in enumerate(group) for slot in call.ins}
        free: dict[np.dtype, list[int]] = {}
        for n, call in enumerate(group):
            operands = tuple(place_of[slot] for slot in call.ins)
            # An operand may occur twice.
            for slot in set(call.ins):
                # A ufunc may write its result over an operand.
                if last_read[slot] == n and place_of[slot] >= first_buffer:
                    free.setdefault(avals[slot].dtype, []).append(place_of[slot])
            slot = call.outs[0]
            if slot not in place_of:
                dtype = avals[slot].dtype
                # A buffer that nothing reads any more serves again.
                if free.get(dtype):
                    place_of[slot] = free[dtype].pop()
                else:
                    place_of[slot] = first_buffer + len(self.buffer_dtypes)
                    self.buffer_dtypes.append(dtype)
            self.steps.append((call.run, operands, place_of[slot]))  # pyright: ignore[reportArgumentType]

    def __call__(self, *operands: np.ndarray) -> list[np.ndarray]:
        results = [np.empty(self.shape, dtype) for dtype in self.result_dtypes]
        buffers = [np.empty(_BLOCK, dtype) for dtype in self.buffer_dtypes]
        arrays = [_flat(x) for x in operands] + [x.reshape(-1) for x in results]
        size = results[0].size
        for start in range(0, size, _BLOCK):
            end = min(start + _BLOCK, size)
            # An operand of one element is read whole.
            places = [x[start:end] if x.ndim else x for x in arrays]
            places += [x[: end - start] for x in buffers]
            for ufunc, ins, out in self.steps:
                if len(ins) == 2:
                    ufunc(places[ins[0]], places[ins[1]], out=places[out])
                else:
                    ufunc(places[ins[0]], out=places[out])
        return results


def _flat(x: np.ndarray | np.generic) -> np.ndarray:
    """The elements of an operand along one axis; a single one without axes. One that is repeated is not
    copied."""
    return np.reshape(x, () if x.size == 1 else -1)
