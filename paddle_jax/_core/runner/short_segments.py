"""Runs segments of a few small operations, which no compiled program could run faster.

`bool((x > 0).any())` and `float((a - b).abs().max())` make such segments. Their way through the counters of
`compiled_segment` would take longer than the operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.signature_cache import register_cache
from paddle_jax._core.runner.joined_plans import JoinedOps
from paddle_jax._core.runner.tiering import MOST_CHEAP_OPS, is_cheap

_MAX_PLANS = 512
_MAX_SEEN = 4096


class ShortPlan(JoinedOps):
    """The operations of a short segment as one Plan that gives all results.

    Attributes:
        dependencies: list with a set of the indices of all operations that each operation depends on, itself
            included.
    """

    __slots__ = ("dependencies",)

    def __init__(self, ops: tuple[Any, ...]) -> None:
        super().__init__(ops, range(len(ops)))
        self.dependencies: list[set[int]] = []
        for i, (_, *positions) in enumerate(ops):
            needed = {i}
            for position in positions:
                if position >= 0:
                    needed |= self.dependencies[position & OP_MASK]
            self.dependencies.append(needed)

    def needs_all(self, position: int) -> bool:
        """Whether the result at a position depends on all operations."""
        return len(self.dependencies[position & OP_MASK]) == self.count


class _Cache:
    """Segments that have been read.

    Attributes:
        plans: dict from the operations of a segment to its plan; None: it may pay to compile it.
        seen: set of hashes of the operations of segments that have come once. They get a plan the next time.
    """

    plans: dict[tuple[Any, ...], ShortPlan | None] = {}
    seen: set[int] = set()


def clear() -> None:
    """Forgets all plans."""
    _Cache.plans.clear()
    _Cache.seen.clear()


register_cache(clear)


def plan_of(ops: Sequence[tuple[Any, ...]]) -> ShortPlan | None:
    """The plan of recorded operations; None if another way has to run them.

    That is so at their first run, and where it may pay to compile them.
    """
    if len(ops) > MOST_CHEAP_OPS:
        return None
    key = tuple(ops)
    try:
        plan = _Cache.plans[key]
    except KeyError:
        plan = _new_plan(key)
    return plan


def _new_plan(key: tuple[Any, ...]) -> ShortPlan | None:
    # Most segments never come again, and a plan keeps the shapes of its operations alive.
    key_hash = hash(key)
    if key_hash not in _Cache.seen:
        if len(_Cache.seen) >= _MAX_SEEN:
            _Cache.seen.clear()
        _Cache.seen.add(key_hash)
        return None
    plan = ShortPlan(key) if is_cheap(key) else None
    if len(_Cache.plans) >= _MAX_PLANS:
        _Cache.plans.clear()
    _Cache.plans[key] = plan
    return plan
