"""How much memory the pending ops of a segment may keep from being freed.

An operand that its owner has let go of lives on in the segment, so `total = total + batch.mean()` would hold
every batch until the sum is read. The segment runs when running it frees more than a budget. An update in
place frees nothing: the new value takes as much as the old one.
"""

import jax

from paddle_jax._core.lazy.reference_counts import is_unreferenced, referenced_results
from paddle_jax._core.lazy.settings import settings

_MIB = 1 << 20
_SHARE = 32  # of a device's memory, one part may be held

_limits: dict = {}


def memory_budget(device) -> int:
    """Bytes that pending ops may hold on a device: FLAGS_deferred_pending_in_mb, and no more than a part of
    what the device has."""
    limit = _limits.get(device)
    if limit is None:
        limit = _limits[device] = _limit(device)
    return min(settings.pending_mb * _MIB, limit)


def _limit(device) -> int:
    unlimited = 1 << 62
    if type(device) is frozenset:
        return min(map(_limit, device))
    if not isinstance(device, jax.Device):  # the processor, whose client need not have started
        return unlimited
    stats = device.memory_stats() or {}
    return stats.get("bytes_limit", unlimited) // _SHARE


def freed_bytes(seg) -> int:
    """Bytes that running a segment frees: what only its leaves hold, less the results that it makes."""
    leaves = seg.leaves
    # a leaf of host numbers takes no memory; any other is also a key of `places`
    dead = sum(
        leaves[i].aval.nbytes
        for i in range(len(leaves))
        if type(leaves[i].array) is not tuple and is_unreferenced(leaves, i, holders=1)
    )
    return dead - sum(value.aval.nbytes for value in referenced_results(seg.results).values())


def limit_memory(seg) -> None:
    """Looks at what a segment holds, and lets it run before the next op where that is too much; called when
    the leaves since the last look may have used the budget up."""
    allowed = memory_budget(seg.device)
    held = freed_bytes(seg)
    if held < allowed:
        seg.room = allowed - max(held, 0)
        return
    seg.room = allowed
    if seg.limit > 0:
        seg.limit = 0
        seg.why = f"pending operations hold {held // _MIB} MiB"
