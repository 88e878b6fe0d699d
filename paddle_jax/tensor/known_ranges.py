"""Ranges of integers that are not computed yet, from the operations that will compute them.

`argmax`, `argsort`, `randint` or `x % n` give numbers of a known range. Where that range lies within an axis,
an index needs no look at its numbers, which would run everything recorded before it.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.lazy_array import UNREAD, LazyArray
from paddle_jax._core.lazy.positions import OP_MASK, OUTPUT_SHIFT
from paddle_jax._core.lazy.transfer import to_numpy_if_ready

Range = tuple[int, int]  # the least number and the greatest one

_MAX_STEPS = 24  # operations that one answer looks at
_MAX_ELEMENTS = 1024  # of an operand whose numbers are looked at


class _Memo:
    """The ranges found in one segment.

    Attributes:
        found: (list of the operations of the segment, dict from a position to its Range or None).
    """

    found: tuple[Any, dict[int, Range | None]] = ((), {})


def range_of_pending(raw: Any) -> Range | None:
    """A range that holds all numbers of a pending result; None where none is known, or it is computed.

    Args:
        raw: what a Tensor holds.
    """
    if type(raw) is not LazyArray or raw.array is not None:
        return None
    segment = raw.segment
    # Read first: a finalizer may run and close the segment meanwhile.
    ops = segment.ops
    leaves = segment.leaves
    # Another thread may run its segment at any moment.
    if segment is not local.ctx.segment or not ops:
        return None
    known_ops, ranges = _Memo.found
    if known_ops is not ops:
        ranges = {}
        _Memo.found = ops, ranges
    return _Search(ops, leaves, ranges).range_at(raw.position)


class _Search:
    """The search for one range, from an operation back to what it depends on.

    Attributes:
        ops: the recorded operations.
        leaves: the leaves of the segment.
        ranges: dict from a position to the Range that an earlier search has found, or None.
        steps: int, how many further operations it may look at.
    """

    __slots__ = ("leaves", "ops", "ranges", "steps")

    def __init__(
        self,
        ops: Sequence[tuple[Any, ...]],
        leaves: Sequence[LazyArray],
        ranges: dict[int, Range | None],
    ) -> None:
        self.ops = ops
        self.leaves = leaves
        self.ranges = ranges
        self.steps = _MAX_STEPS

    def range_at(self, position: int) -> Range | None:
        """The range of a leaf or of a result."""
        if position < 0:
            return _range_of_leaf(self.leaves[-1 - position])
        if position in self.ranges:
            return self.ranges[position]
        if self.steps == 0:
            return None
        self.steps -= 1
        found = self._of_result(position)
        # Not found for want of steps: the next search may begin nearer.
        if self.steps:
            self.ranges[position] = found
        return found

    def _of_result(self, position: int) -> Range | None:
        signature, *operands = self.ops[position & OP_MASK]
        output = position >> OUTPUT_SHIFT
        aval = signature.out_avals[output - 1] if output else signature.out_avals
        least, most = _limits(aval.dtype)
        if most == 1:
            return 0, 1
        declaration = signature.kernel.declaration
        rule = None if declaration is None else _RULES.get(declaration[0].name)
        if rule is None or least == most:
            return None
        found = rule(self, operands, output, declaration[2], signature.operand_avals)
        # Numbers outside of the dtype wrap around.
        if found is None or found[0] < least or found[1] > most:
            return None
        return found


# (search, positions of the operands, which of several results or 0, attributes, Avals of the operands)
_Rule = Callable[[_Search, Sequence[int], int, Sequence[Any], Sequence[Any]], Range | None]


@ft.cache
def _limits(dtype: np.dtype) -> Range:
    """The numbers that a dtype can hold; (0, 0) of one that is no integer."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind not in "iu":
        return 0, 0
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _range_of_leaf(leaf: LazyArray) -> Range | None:
    """The range of an operand: from its numbers, where they are few and at hand."""
    least, most = _limits(leaf.aval.dtype)
    if most == 1:
        return 0, 1
    if least == most or leaf.device is UNREAD or not leaf.aval.size:
        return None
    if type(leaf.array) is tuple:  # numbers of the program
        return min(leaf.array), max(leaf.array)
    known = getattr(leaf, "bounds", None)
    if known is None and leaf.aval.size <= _MAX_ELEMENTS:
        array = to_numpy_if_ready(leaf)
        if array is not None:
            known = array.min().item(), array.max().item()
            leaf.bounds = known
    return known


def _positions_on(axis: int | None, shape: Sequence[int]) -> Range:
    """The range of positions on an axis; None: in the flattened array."""
    if axis is None or not shape:
        return 0, math.prod(shape) - 1
    return 0, shape[axis] - 1


def _position(
    search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
) -> Range:
    """Of positions on the axis that is the first attribute."""
    return _positions_on(attributes[0], avals[0].shape)


def _element_or_position(
    search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
) -> Range | None:
    """Of elements, and their positions on the axis that is the second attribute."""
    if output == 1:
        return search.range_at(operands[0])
    axis = attributes[1]
    # `kthvalue` has None for the last axis.
    return _positions_on(-1 if axis is None else axis, avals[0].shape)


def _class_number(
    search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
) -> Range:
    return _positions_on(-1, avals[0].shape)


def _permutation(
    search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
) -> Range:
    return 0, attributes[0] - 1


def _place_in_sorted(
    search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
) -> Range:
    return 0, avals[0].shape[-1]


def _of_first(
    search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
) -> Range | None:
    """Of elements of the first operand. Places outside of it have been refused."""
    return search.range_at(operands[0])


def _elements_of(*numbers: int) -> _Rule:
    """The rule of an operation whose results are elements of some operands; none named: of all."""

    def rule(
        search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
    ) -> Range | None:
        chosen = [operands[i] for i in numbers] if numbers else operands
        least = []
        most = []
        for position in chosen:
            found = search.range_at(position)
            if found is None:
                return None
            least.append(found[0])
            most.append(found[1])
        return min(least), max(most)

    return rule


def _two(compute: Callable[[Range, Range], Range | None], has_factor: bool = False) -> _Rule:
    """The rule of an operation of two integers.

    Args:
        compute: the range of the result from those of the operands.
        has_factor: whether the first attribute is a factor of the second operand.
    """

    def rule(
        search: _Search, operands: Sequence[int], output: int, attributes: Sequence[Any], avals: Sequence[Any]
    ) -> Range | None:
        if has_factor and attributes[0] != 1:
            return None
        x = search.range_at(operands[0])
        y = None if x is None else search.range_at(operands[1])
        if x is None or y is None:
            return None
        return compute(x, y)

    return rule


def _sum(x: Range, y: Range) -> Range:
    return x[0] + y[0], x[1] + y[1]


def _difference(x: Range, y: Range) -> Range:
    return x[0] - y[1], x[1] - y[0]


def _product(x: Range, y: Range) -> Range:
    corners = (x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1])
    return min(corners), max(corners)


def _remainder(x: Range, y: Range) -> Range | None:
    if y[0] <= 0:
        return None
    if x[0] >= 0 and x[1] < y[0]:
        return x
    return 0, y[1] - 1


def _quotient(x: Range, y: Range) -> Range | None:
    if x[0] < 0 or y[0] <= 0:
        return None
    return x[0] // y[1], x[1] // y[0]


def _maximum(x: Range, y: Range) -> Range:
    return max(x[0], y[0]), max(x[1], y[1])


def _minimum(x: Range, y: Range) -> Range:
    return min(x[0], y[0]), min(x[1], y[1])


def _drawn(low: Range, high: Range) -> Range:
    return low[0], high[1] - 1


_RULES: dict[str, _Rule] = {
    "argmax": _position,
    "argmin": _position,
    "argsort": _position,
    "_top": _element_or_position,
    "kthvalue": _element_or_position,
    "draw_classes": _class_number,
    "draw_category": _class_number,
    "draw_permutation": _permutation,
    "draw_integers": _two(_drawn),
    "find_sorted": _place_in_sorted,
    "add": _two(_sum, has_factor=True),
    "subtract": _two(_difference, has_factor=True),
    "multiply": _two(_product),
    "remainder": _two(_remainder),
    "floor_divide": _two(_quotient),
    "maximum": _two(_maximum),
    "minimum": _two(_minimum),
    "concat": _elements_of(),
    "stack": _elements_of(),
    "put_index": _elements_of(0, 1),
    "choose": _elements_of(1, 2),
    "fill_masked": _elements_of(0, 2),
    **dict.fromkeys(
        (
            *(
                "cast",
                "clone",
                "reshape",
                "flatten",
                "squeeze",
                "unsqueeze",
                "permute_axes",
                "expand",
                "tile",
            ),
            *("roll", "flip", "sort", "max", "min", "split_at", "unbind"),
            *("take_index", "take_rows", "take_elements"),
        ),
        _of_first,
    ),
}
