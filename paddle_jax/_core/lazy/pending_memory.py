"""Limits the memory that the pending operations of a segment keep from being freed.

An operand that its owner has dropped lives on in the segment, so `total = total + batch.mean()` would hold
every batch until the sum is read. The segment runs if that frees more than a budget. An update in place frees
nothing: the new value takes as much as the old one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.lazy.reference_counts import is_unreferenced, referenced_results
from paddle_jax._core.lazy.settings import settings

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import Segment

_MIB = 1 << 20
_SHARE = 32  # pending operations may hold one part in so many of a device's memory
# More bytes than any device has.
_UNLIMITED = 1 << 62

_limits: dict[Any, int] = {}


def memory_budget(device: Any) -> int:
    """Bytes that pending operations may hold on a device: FLAGS_deferred_pending_in_mb, and no more than a
    part of the device's memory."""
    limit = _limits.get(device)
    if limit is None:
        limit = _limits[device] = _limit(device)
    return min(settings.pending_mb * _MIB, limit)


def _limit(device: Any) -> int:
    if type(device) is frozenset:
        return min(map(_limit, device))
    if not isinstance(device, jax.Device):  # the processor, whose client need not have started
        return _UNLIMITED
    stats = device.memory_stats() or {}
    return stats.get("bytes_limit", _UNLIMITED) // _SHARE


def freed_bytes(segment: Segment) -> int:
    """Bytes that running a segment frees: those that only its leaves hold, less those of its results."""
    leaves = segment.leaves
    # a leaf of host numbers takes no memory; any other is also a key of `leaf_positions`
    dead = sum(
        leaves[i].aval.nbytes
        for i in range(len(leaves))
        if type(leaves[i].array) is not tuple and is_unreferenced(leaves, i, holders=1)
    )
    return dead - sum(value.aval.nbytes for value in referenced_results(segment.results).values())


def limit_memory(segment: Segment) -> None:
    """Lets a segment run before the next operation if it holds too much memory.

    It is called when the leaves since the last call may have used up the budget.
    """
    allowed = memory_budget(segment.device)
    held = freed_bytes(segment)
    if held < allowed:
        # What it may take before the next look.
        segment.allowance = allowed - max(held, 0)
        return
    segment.allowance = allowed
    if segment.limit > 0:
        # A segment at its limit runs before the next operation.
        segment.limit = 0
        segment.limit_reason = f"pending operations hold {held // _MIB} MiB"
