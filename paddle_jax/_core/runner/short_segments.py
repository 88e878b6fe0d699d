"""Runs segments of a few small operations, which no compiled program could run faster.

`bool((x > 0).any())` and `float((a - b).abs().max())` make such segments. Their way through the counters of
`compiled_segment` would take longer than the operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.signature_cache import register_cache
from paddle_jax._core.runner.joined_plans import JoinedOps
from paddle_jax._core.runner.tiering import is_cheap

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import OpSignature

MAX_ALONE = 8  # operations that are computed before the rest of their segment
_MAX_PLANS = 512
_MAX_SEEN = 4096


class ShortPlan(JoinedOps):
    """The operations of a short segment as one Plan that gives all results.

    Attributes:
        alone: set of the indices of operations of integers that depend on a few operations of integers alone.
            Their results are read without running the others.
    """

    __slots__ = ("alone",)

    def __init__(self, ops: tuple[Any, ...]) -> None:
        super().__init__(ops, range(len(ops)))
        self.alone: set[int] = set()
        dependencies: list[set[int]] = []  # of each operation, itself included
        for i, (_, *positions) in enumerate(ops):
            needed = {i}
            for position in positions:
                if position >= 0:
                    needed |= dependencies[position & OP_MASK]
            dependencies.append(needed)
            is_part = len(needed) < len(ops) and len(needed) <= MAX_ALONE
            if is_part and all(is_of_integers(ops[k][0]) for k in needed):
                self.alone.add(i)


def is_of_integers(signature: OpSignature) -> bool:
    """Whether an operation has operands and results of integers and truth values only."""
    if signature.container is None:
        out_avals = [signature.out_avals]
    else:
        out_avals = signature.out_avals
    return all(aval.dtype.kind in "iub" for aval in (*signature.operand_avals, *out_avals))


# The plans by the operations of a segment; None: another way has to run them, since compiling them may pay.
short_plans: dict[tuple[Any, ...], ShortPlan | None] = {}
# Hashes of the operations of segments that have come once. They get a plan the next time.
_seen: set[int] = set()


def clear() -> None:
    """Forgets all plans."""
    short_plans.clear()
    _seen.clear()


register_cache(clear)


def new_short_plan(key: tuple[Any, ...]) -> ShortPlan | None:
    """A plan of recorded operations that has none; None if another way has to run them.

    That is so at their first run, and where it may pay to compile them.

    Args:
        key: the operations, at most MOST_CHEAP_OPS.
    """
    # Most segments never come again, and a plan keeps the shapes of its operations alive.
    key_hash = hash(key)
    if key_hash not in _seen:
        if len(_seen) >= _MAX_SEEN:
            _seen.clear()
        _seen.add(key_hash)
        return None
    plan = ShortPlan(key) if is_cheap(key) else None
    if len(short_plans) >= _MAX_PLANS:
        short_plans.clear()
    short_plans[key] = plan
    return plan
