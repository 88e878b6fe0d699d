"""Runs the operations of a segment by one plan, in place of a plan for each.

That saves what surrounds an operation: to collect its operands, to check its results, and to decide how it
runs. `recurring_results` keeps the plans of segments that come again and are not compiled yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.lazy_array import UNREAD
from paddle_jax._core.lazy.positions import needed_ops, result_positions
from paddle_jax._core.lazy.signature_cache import register_cache
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.numpy_backend import Plan
from paddle_jax._core.numpy_backend.warning_mode import NO_WARNINGS, warning_mode
from paddle_jax._core.runner.loop_pairs import Part, interpreted_parts
from paddle_jax._core.runner.operands import unread_array
from paddle_jax._core.runner.tiering import TierState, interpret, tier_state

if TYPE_CHECKING:
    from paddle_jax._core.lazy.lazy_array import LazyArray
    from paddle_jax._core.lazy.segment import OpSignature

_MAX_PLANS = 64


class JoinedOps:
    """Operations of a segment, which all have plans, as one Plan.

    Args:
        ops: the recorded operations.
        order: the indices of those that run.
        wanted: the positions of the results that are needed; None: all.
    Attributes:
        plan: Plan that runs the operations.
        operands: list of the positions of its operands: leaves, and results of operations before these.
        positions: list of the positions of its results.
        count: int, the number of operations.
        wasteful: list of the TierStates of the operations that compiled code runs faster.
    Raises:
        ValueError: an operation has no plan.
    """

    __slots__ = ("count", "operands", "plan", "positions", "wasteful")

    def __init__(
        self, ops: Sequence[tuple[Any, ...]], order: Sequence[int], wanted: Sequence[int] | None = None
    ) -> None:
        plans: list[Plan] = []
        sources: list[list[int]] = []
        operands: dict[int, int] = {}  # the source of each operand, by its position
        results: dict[int, int] = {}  # the number of each result, by its position
        self.wasteful: list[TierState] = []
        for i in order:
            signature, *positions = ops[i]
            state = tier_state(signature)
            if state.plan is None:
                raise ValueError(f"{signature!r} has no plan")
            plans.append(state.plan)
            for position in positions:
                if position not in results:
                    operands.setdefault(position, -1 - len(operands))
            sources.append([results[p] if p in results else operands[p] for p in positions])
            for position in result_positions(ops, i):
                results[position] = len(results)
            if state.waste > 0:
                self.wasteful.append(state)
        self.count: int = len(plans)
        self.operands: list[int] = list(operands)
        self.positions: list[int] = list(results if wanted is None else wanted)
        numbers = [results[position] for position in self.positions]
        self.plan: Plan = Plan.join(plans, sources, len(operands), numbers)

    def run(self, leaves: Sequence[LazyArray], env: Mapping[int, Any]) -> dict[int, Any]:
        """The results by their positions. The caller has NumPy's warnings off.

        Args:
            leaves: the leaves of the segment.
            env: results of operations before these, by their positions.
        """
        operands = []
        for position in self.operands:
            if position < 0:
                leaf = leaves[-1 - position]
                array = leaf.array
                if type(array) is not np.ndarray:
                    array = numpy_of(leaf)
            else:
                array = env[position]
            operands.append(array)
        results = self.plan.quietly(operands)
        log.interpreted_ops += self.count
        return dict(zip(self.positions, results, strict=True))

    def takes_turn(self) -> bool:
        """Whether the operations may be interpreted once more; notes what that wastes.

        If not, one of them may be worth compiling alone, which `interpret` decides.
        """
        if any(state.wasted + state.waste > state.compile_cost for state in self.wasteful):
            return False
        for state in self.wasteful:
            state.wasted += state.waste
        return True


def numpy_of(leaf: LazyArray) -> np.ndarray:
    """The NumPy array of a leaf."""
    array = leaf.array
    if type(array) is not tuple:
        return to_numpy(array)
    if leaf.device is UNREAD:
        return unread_array(leaf.aval)
    if not leaf.aval.shape:
        return np.array(array[0], leaf.aval.dtype)
    return materialize(leaf)


class RecurringPlan:
    """The operations of a segment that comes again and again, in parts.

    A loop and its gradient are interpreted together (loop_pairs.py), so a loop is a part of its own.

    Attributes:
        order: list of (index of an operation that runs, what is not read after it), in order.
        parts: list of (JoinedOps or the index of an operation with a loop, positions that nothing needs after
            it).
        wanted: the positions of the results that are needed.
    Raises:
        ValueError: an operation has no plan.
    """

    __slots__ = ("order", "parts", "wanted")

    def __init__(self, ops: tuple[tuple[Any, ...], ...], wanted: tuple[int, ...]) -> None:
        self.order: list[tuple[int, Any]] = needed_ops(ops, wanted)
        self.wanted: tuple[int, ...] = wanted
        groups: list[list[int]] = []
        is_loop: list[bool] = []
        for i, _ in self.order:
            has_loop = _has_loop(ops[i][0])
            if has_loop or not groups or is_loop[-1]:
                groups.append([])
                is_loop.append(has_loop)
            groups[-1].append(i)
        needed = set(wanted)  # by the operations behind a group, and by others
        parts: list[tuple[JoinedOps | int, list[int]]] = []
        for group, has_loop in zip(reversed(groups), reversed(is_loop), strict=True):
            made = [position for i in group for position in result_positions(ops, i)]
            read = [position for i in group for position in ops[i][1:]]
            part = group[0]
            held = made + read
            if not has_loop:
                part = JoinedOps(ops, group, [position for position in made if position in needed])
                held = part.operands
            parts.append((part, [position for position in set(held) - needed if position >= 0]))
            needed.update(read)
        self.parts: list[tuple[JoinedOps | int, list[int]]] = parts[::-1]

    def run(self, ops: Sequence[tuple[Any, ...]], leaves: Sequence[LazyArray]) -> dict[int, Any] | None:
        """The results by their positions; None if the operations are to run one by one.

        Args:
            ops: the recorded operations.
            leaves: the leaves of the segment.
        """
        loops: dict[int, Part] = {}
        if any(isinstance(part, int) for part, _ in self.parts):
            loops = interpreted_parts(ops, self.order, is_recurring=True)
        env: dict[int, Any] = {}
        for part, unneeded in self.parts:
            if isinstance(part, int):
                found = _loop_results(ops, part, leaves, env, loops.get(part))
            elif part.takes_turn():
                found = part.run(leaves, env)
            else:
                found = None
            if found is None:
                return None
            env.update(found)
            del found  # it would keep the results as long as the next part runs
            for position in unneeded:
                del env[position]
        return {position: env[position] for position in self.wanted}


def _loop_results(
    ops: Sequence[tuple[Any, ...]],
    index: int,
    leaves: Sequence[LazyArray],
    env: Mapping[int, Any],
    loop: Part | None,
) -> dict[int, Any] | None:
    """The results of one operation by their positions; None if it is to be compiled.

    Args:
        ops: the recorded operations.
        index: of the operation.
        leaves: the leaves of the segment.
        env: results of operations before it, by their positions.
        loop: what runs it as a part of a loop and its gradient, or None.
    """
    signature, *positions = ops[index]
    operands = [numpy_of(leaves[-1 - p]) if p < 0 else env[p] for p in positions]
    results = interpret(signature, operands, True, loop)
    if results is None:
        return None
    if signature.container is None:
        results = [results]
    return dict(zip(result_positions(ops, index), results, strict=True))


def results_or_none(run: Callable[..., dict[int, Any] | None], *arguments: Any) -> dict[int, Any] | None:
    """What a function gives; None if an operation fails, which the usual way then names."""
    before = warning_mode.set(NO_WARNINGS)
    try:
        return run(*arguments)
    except Exception as error:
        # The usual way also holds less memory at a time.
        if is_unrelated_error(error) and not isinstance(error, MemoryError):
            raise
        return None
    finally:
        warning_mode.reset(before)


class _Cache:
    """The plans of recurring segments.

    Attributes:
        plans: dict from (the recorded operations, positions of the results that are needed) to RecurringPlan;
            None: they run one by one.
    """

    plans: dict[tuple[Any, ...], RecurringPlan | None] = {}


register_cache(_Cache.plans.clear)


def recurring_results(
    ops: Sequence[tuple[Any, ...]], leaves: Sequence[LazyArray], wanted: tuple[int, ...]
) -> dict[int, Any] | None:
    """The results of a segment that comes again and again; None if its operations are to run one by one.

    Args:
        ops: the recorded operations.
        leaves: the leaves of the segment.
        wanted: the positions of the results that are needed.
    """
    key = tuple(ops), wanted
    try:
        plan = _Cache.plans[key]
    except KeyError:
        plan = _new_plan(*key)
        if len(_Cache.plans) >= _MAX_PLANS:
            _Cache.plans.clear()
        _Cache.plans[key] = plan
    if plan is None:
        return None
    results = results_or_none(plan.run, ops, leaves)
    if results is None:
        _Cache.plans[key] = None
    return results


def _new_plan(ops: tuple[tuple[Any, ...], ...], wanted: tuple[int, ...]) -> RecurringPlan | None:
    try:
        return RecurringPlan(ops, wanted)
    except ValueError:
        return None


def _has_loop(signature: OpSignature) -> bool:
    """Whether an operation contains a loop that may run together with its gradient."""
    plan = tier_state(signature).plan
    return plan is not None and "scan" in plan.names
