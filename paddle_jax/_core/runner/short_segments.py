"""Runs segments of a few small operations, which no compiled program could run faster.

`bool((x > 0).any())` and `float((a - b).abs().max())` make such segments. Their way through the counters of
`compiled_segment` would take longer than the operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.positions import OP_MASK, result_positions
from paddle_jax._core.lazy.signature_cache import register_cache
from paddle_jax._core.numpy_backend import Plan
from paddle_jax._core.runner.operands import read_numpy
from paddle_jax._core.runner.tiering import MOST_CHEAP_OPS, is_cheap, tier_state

if TYPE_CHECKING:
    from paddle_jax._core.lazy.lazy_array import LazyArray

_MAX_PLANS = 512
_MAX_SEEN = 4096


class ShortPlan:
    """The operations of a segment, which all have plans, as one Plan of NumPy's functions.

    Attributes:
        plan: Plan that runs all operations on the leaves.
        arity: int, the number of leaves that the operations read.
        count: int, the number of operations.
        positions: list of the positions of the results, in the order in which the plan gives them.
        dependencies: list with a set of the indices of all operations that each operation depends on, itself
            included.
    """

    __slots__ = ("arity", "count", "dependencies", "plan", "positions")

    def __init__(self, ops: tuple[Any, ...]) -> None:
        plans = []
        sources = []
        arity = 0
        numbers: dict[int, int] = {}  # the number of each result, by its position
        self.dependencies: list[set[int]] = []
        for i, (signature, *positions) in enumerate(ops):
            plan = tier_state(signature).plan
            if plan is None:
                raise ValueError(f"{signature!r} has no plan")
            plans.append(plan)
            sources.append([position if position < 0 else numbers[position] for position in positions])
            needed = {i}
            for position in positions:
                if position >= 0:
                    needed |= self.dependencies[position & OP_MASK]
                else:
                    arity = max(arity, -position)
            self.dependencies.append(needed)
            for position in result_positions(ops, i):
                numbers[position] = len(numbers)
        self.arity: int = arity
        self.plan: Plan = Plan.join(plans, sources, arity)
        self.count: int = len(ops)
        self.positions: list[int] = list(numbers)

    def needs_all(self, position: int) -> bool:
        """Whether the result at a position depends on all operations."""
        return len(self.dependencies[position & OP_MASK]) == self.count

    def run(self, leaves: Sequence[LazyArray]) -> dict[int, Any]:
        """The results of all operations by their positions. The caller has NumPy's warnings off."""
        operands = []
        # A finalizer may have recorded further operations meanwhile, which have leaves of their own.
        for leaf in leaves[: self.arity]:
            array = leaf.array
            if type(array) is not np.ndarray:
                array = read_numpy(leaf)
            operands.append(array)
        return dict(zip(self.positions, self.plan.quietly(operands), strict=True))


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


def results_of(plan: ShortPlan, leaves: Sequence[LazyArray]) -> dict[int, Any] | None:
    """The results by their positions; None if an operation fails, which the usual way then names."""
    try:
        with np.errstate(all="ignore"):
            results = plan.run(leaves)
    except Exception as error:
        if is_unrelated_error(error):
            raise
        return None
    log.interpreted_ops += plan.count
    return results
