"""Cuts a segment that neither a read nor a step ends at the smallest period of its operations.

A loop without a boundary (time stepping, a solver) repeats the same operations again and again. Cuts at an
arbitrary length would give a different sequence at each run. Cuts after whole periods make the loop's body
the compiled unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.state import Context
from paddle_jax._core.lazy.segment import FIRST_LIMIT, Segment
from paddle_jax._core.lazy.settings import settings

REPEATS = 8  # periods that a segment must have to count as a loop
MIN_UNIT = 256  # operations that a compiled unit of a loop has at least


def smallest_period(items: Sequence[Any], window: int, longest: int) -> int:
    """The smallest p <= longest with which the last `window` items repeat, or 0."""
    tail = items[-window:]
    return next((p for p in range(1, longest + 1) if tail[p:] == tail[:-p]), 0)


def cut_or_grow(segment: Segment, ctx: Context) -> None:
    """Runs a segment that has reached its limit if it is a loop, or if it may not grow further; else raises
    the limit."""
    signatures = [entry[0] for entry in segment.ops]
    length = len(signatures)
    max_ops = settings.max_ops
    if ctx.loop_unit:
        unit, period = ctx.loop_unit
        if length == unit and signatures[period:] == signatures[:-period]:
            segment.run("the end of a period of a loop")
            return
    ctx.loop_unit = None
    if length < min(FIRST_LIMIT, max_ops):
        _raise_limit(segment, min(FIRST_LIMIT, max_ops))
        return
    if length < max_ops:
        window = length // 2
        period = smallest_period(signatures, window, window // REPEATS)
    else:
        period = smallest_period(signatures, length, length // 2)
    if period:
        periods = max(1, -(-MIN_UNIT // period))
        ctx.loop_unit = (period * periods, period)
        segment.run("the end of a period of a loop")
    elif length >= max_ops:
        segment.run("FLAGS_deferred_max_ops was reached")
    else:
        _raise_limit(segment, min(max_ops, 2 * length))


def _raise_limit(segment: Segment, limit: int) -> None:
    """Lets a segment grow, unless another thread has closed it meanwhile."""
    if segment.limit >= 0:
        segment.limit = limit


Segment.cut_or_grow = cut_or_grow
