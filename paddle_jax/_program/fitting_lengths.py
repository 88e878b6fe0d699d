"""Lengths that differ while code is recorded: of operands that fit when the program runs, and of branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.lazy.aval import Aval, aval_of
from paddle_jax._core.lazy.length_expressions import bounds
from paddle_jax._core.lazy.lengths import is_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.lazy.symbol import Symbol


def fitting_operands(
    symbols: Sequence[Symbol], shapes: Sequence[Sequence[Any]]
) -> list[tuple[Aval, ...]] | None:
    """The avals of operands for both values of Lengths, where open lengths fit those of other operands.

    `if n == m: x + y` is recorded for an n that is no m, too. The file computes with the real lengths.

    Args:
        symbols: the operands.
        shapes: their shapes, with Lengths.
    Returns:
        None where the lengths fit as they are.
    """
    found = [_fitting(symbols, shapes, which) for which in (0, 1)]
    if all(found[which] == tuple([s.avals[which] for s in symbols]) for which in (0, 1)):
        return None
    return found


def allowed_operands(
    symbols: Sequence[Symbol], shapes: Sequence[Sequence[Any]]
) -> list[tuple[Aval, ...]] | None:
    """As `fitting_operands`, with lengths that are as large as the condition of a branch says.

    `if n > 2: x[n - 2 : n]` is recorded for an n of 1, too.
    """
    found: list[list[Aval]] = [[], []]
    for symbol, lengths in zip(symbols, shapes, strict=True):
        raised = list(map(_missing, lengths))
        for which in (0, 1):
            aval = symbol.avals[which]
            shape = [n + missing for n, missing in zip(aval.shape, raised, strict=True)]
            found[which].append(aval_of(tuple(shape), aval.dtype, aval.weak))
    if all(tuple(found[which]) == tuple([s.avals[which] for s in symbols]) for which in (0, 1)):
        return None
    return [tuple(avals) for avals in found]


def _missing(length: Any) -> int:
    """How much both values of a length are below what is known of it."""
    if not is_length(length):
        return 0
    least = bounds(length.node)[0]
    if not isinstance(least, int):
        return 0
    return max(least - min(length.pair), 0)


def _fitting(symbols: Sequence[Symbol], shapes: Sequence[Sequence[Any]], which: int) -> tuple[Aval, ...]:
    """The avals for the first or second values of Lengths."""
    wanted = _common_lengths(symbols, shapes, which)
    avals = []
    for symbol, lengths in zip(symbols, shapes, strict=True):
        aval = symbol.avals[which]
        shape = [
            wanted[axis - aval.ndim] if is_length(length) and n != 1 else n
            for axis, (length, n) in enumerate(zip(lengths, aval.shape, strict=True))
        ]
        avals.append(aval_of(tuple(shape), aval.dtype, aval.weak))
    return tuple(avals)


def _common_lengths(symbols: Sequence[Symbol], shapes: Sequence[Sequence[Any]], which: int) -> dict[int, int]:
    """The length of each axis, counted from the last one: a fixed one if an operand has it."""
    fixed: dict[int, int] = {}
    opened: dict[int, int] = {}
    for symbol, lengths in zip(symbols, shapes, strict=True):
        aval = symbol.avals[which]
        for axis, (length, n) in enumerate(zip(lengths, aval.shape, strict=True)):
            # A length of 1 fits any other one.
            if n == 1:
                continue
            if is_length(length):
                opened.setdefault(axis - aval.ndim, n)
            else:
                fixed.setdefault(axis - aval.ndim, n)
    return {**opened, **fixed}


def joined_length(yes: Any, no: Any, answers: Any) -> Any:
    """Two values of a number that is one of two pairs: those of the branches taken, but different ones where
    the branches differ."""
    first = no[0]
    if answers[0]:
        first = yes[0]
    taken = no
    other = yes
    if answers[1]:
        taken = yes
        other = no
    second = taken[1]
    # Equal values would look like a fixed number. Any other value that a branch gives shows that it varies.
    if second == first:
        second = next((n for n in (other[1], other[0], taken[0]) if n != first), first)
    return first, second


__all__ = ["allowed_operands", "fitting_operands", "joined_length"]
