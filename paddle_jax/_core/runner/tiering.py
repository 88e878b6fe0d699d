"""Decides whether NumPy interprets an operation (_core/numpy_backend) or XLA compiles it.

New operations are interpreted as long as that costs less than compiling them.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.devices import default_device, may_interpret
from paddle_jax._core.lazy.segment import OpSignature
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.numpy_backend import Plan, Refusal, plan_of
from paddle_jax._core.numpy_backend.cost import COMPILE_BASE
from paddle_jax._core.runner.background_compiler import (
    compile_ahead,
    compiles_in_background,
    is_compiling_segments,
    processors,
    submit_operation,
)
from paddle_jax._core.runner.compile_history import NO_RUNS, EarlierRuns

if TYPE_CHECKING:
    from paddle_jax._core.process.background import Task
    from paddle_jax._core.runner.loop_pairs import Part
    from paddle_jax._core.runner.loop_rolling import RepeatedOps

_CALL = 2e-6  # seconds that an op takes beside what it computes
# seconds that a compiled kernel takes at least, with the transfer of its operands and results
_KERNEL = 6e-5
_PROGRAM = 3e-5  # seconds that a compiled segment takes at least
_COMPILE_COST = 0.05  # seconds, of an operation that has no plan
_SAVED = 0.6  # of the seconds in NumPy, what a compiled program saves: 0.25 to 0.95 in eleven programs
_SHARE = 0.4  # of the time to compile a segment: if interpreting it has wasted that much, it is compiled
_IDLE_SHARE = 0.02  # the same where another thread compiles it on a processor that the program does not need
# seconds that loading a program from the persistent cache takes the smallest one, and more for each equation
_LOAD_BASE = 0.03
_LOAD_EQUATION = 0.0001
# A program has to save its measured time to load as often as that. Linking it at its first run takes a third
# more. What is left is worth its memory.
_LOADS_TO_SAVE = 1.5
_MANY_PROCESSORS = 2  # with more, compiling does not slow the program down; two may be one core
# An op of a segment that is going to be compiled is compiled alone if that pays that often.
_TIMES_IN_RECURRING_SEGMENT = 3
_MIN_RUNS = 2  # a segment is compiled at its second run at the earliest, and loaded at its first
# Compiling a segment saves nothing below this estimate of its seconds in NumPy.
_CHEAP = _PROGRAM / _SAVED
_SHORT_CALL = 5e-7  # seconds that an op of a short segment takes beside what it computes
MOST_CHEAP_OPS = 24  # more operations than that are never cheap: each of them is estimated at 2e-6 at least


class TierState:
    """What the interpreter knows of a signature.

    Attributes:
        plan: Plan that interprets it, or None if it is compiled.
        cost: float, estimated seconds of one run.
        compile_cost: float, estimated seconds of compiling it.
        waste: float, estimated seconds that one run takes longer than a compiled one would.
        wasted: float, seconds that its runs took longer than compiled ones would have.
        job: Task that compiles it in another thread, or None.
    """

    __slots__ = ("compile_cost", "cost", "job", "plan", "waste", "wasted")

    def __init__(self, numpy_plan: Plan | None) -> None:
        self.plan = numpy_plan
        self.cost = _CALL if numpy_plan is None else numpy_plan.cost
        if numpy_plan is None:
            self.compile_cost = _COMPILE_COST
        else:
            self.compile_cost = numpy_plan.compile_cost
        self.waste = max(_SAVED * self.cost - _KERNEL, 0.0)
        self.wasted = 0.0
        self.job: Task | None = None


def tier_state(signature: OpSignature) -> TierState:
    """The TierState of a signature; the first call makes its plan."""
    state = signature.tier_state
    if state is None:
        state = signature.tier_state = TierState(_make_plan(signature))
    return state


def _make_plan(signature: OpSignature) -> Plan | None:
    if signature.container:
        out_avals = signature.out_avals
    else:
        out_avals = [signature.out_avals]
    if any(aval.weak for aval in (*signature.operand_avals, *out_avals)):  # NumPy has no weak types
        _log_refusal(signature, "a weakly typed operand or result")
        return None
    try:
        return plan_of(signature.equations)
    except Refusal as refusal:
        _log_refusal(signature, str(refusal))
        return None


def _log_refusal(signature: OpSignature, reason: str) -> None:
    log.refusals[reason] += 1
    log.add(f"compiled at once: {signature.kernel.name} ({signature.user_line}): {reason}")


def is_cheap(ops: Sequence[tuple[Any, ...]]) -> bool:
    """Whether operations have plans, and no compiled program could run one or all of them faster."""
    states = [tier_state(entry[0]) for entry in ops]
    if any(state.plan is None or _SAVED * state.cost > _KERNEL for state in states):
        return False
    return sum(state.cost + _SHORT_CALL for state in states) <= _CHEAP


def interpret(
    signature: OpSignature, operands: Sequence[Any], is_recurring: bool = False, part: Part | None = None
) -> Any:
    """The results of an operation as NumPy arrays; None if it is to be compiled.

    The caller has NumPy's warnings off.

    Args:
        signature: the operation.
        operands: its operands, as arrays.
        is_recurring: whether it belongs to a segment that will be compiled if it goes on recurring.
        part: function that runs it as part of a loop and its gradient, or None.
    """
    state = signature.tier_state or tier_state(signature)
    wasted = state.wasted + state.waste
    if state.plan is None or (wasted > state.compile_cost and not _goes_on(signature, state, is_recurring)):
        return None
    try:
        run = part or state.plan.quietly
        results = run([x if type(x) is np.ndarray else to_numpy(x) for x in operands])
    except Exception as error:
        if is_unrelated_error(error):
            raise
        state.plan = None
        _log_refusal(signature, f"{type(error).__name__} in the interpreter: {error}")
        return None
    state.wasted = wasted
    log.interpreted_ops += 1
    return signature.equations.structured(results)


def _goes_on(signature: OpSignature, state: TierState, is_recurring: bool) -> bool:
    """Whether an operation that is worth compiling is interpreted for now.

    It is until another thread has compiled it, and in a segment that will be compiled soon. The program waits
    for the compiler if that pays for one run. While a whole segment is compiled, the others in it are not
    compiled one by one.
    """
    if state.job is not None:
        return not state.job.done
    if _SAVED * state.cost > state.compile_cost:
        return False
    if is_recurring and state.wasted < _TIMES_IN_RECURRING_SEGMENT * state.compile_cost:
        return True
    if not compiles_in_background(default_device()):
        return False
    if not is_compiling_segments():
        state.job = submit_operation(ft.partial(_compile_operation, signature))
    return True


def _compile_operation(signature: OpSignature) -> None:
    """Compiles an operation; the next call of its kernel finds the program in JAX's cache."""
    compile_ahead(signature.kernel.run, [aval.struct for aval in signature.operand_avals], "operation")


def runs_before_compiling(
    ops: Sequence[tuple[Any, ...]],
    device: Any,
    repetitions: Sequence[RepeatedOps] = (),
    earlier: EarlierRuns = NO_RUNS,
) -> int:
    """The run at which a segment is compiled: op by op it has wasted a share of the time to compile it.

    A program in the persistent cache is loaded at once if that pays for as many runs as the last process had,
    else not before there are more. What earlier processes measured counts more than estimates.
    On an accelerator and on several devices a segment is compiled at its first run, because compiling its
    operations one by one takes longer.

    Args:
        ops: the recorded operations.
        device: where they run.
        repetitions: the operations that become loops.
        earlier: its runs in earlier processes.
    """
    if not may_interpret(device):
        if getattr(device, "platform", "several") == "cpu":
            return _MIN_RUNS
        return 1
    states = [tier_state(entry[0]) for entry in ops]
    saved = _SAVED * sum(state.cost + _CALL for state in states) - _PROGRAM
    # What moves into a loop and out of it costs less in short loops than estimated: not more than the line.
    compile_cost = min(_compile_cost(states, ()), _compile_cost(states, repetitions))
    has_idle_processor = compiles_in_background(device) and processors() > _MANY_PROCESSORS
    share = _IDLE_SHARE if has_idle_processor else _SHARE
    if not earlier.has_program:
        return max(_MIN_RUNS, int(share * compile_cost / max(saved, 1e-9) - earlier.runs))
    load_cost = min(compile_cost, load_seconds(ops, earlier))
    if earlier.times.saved is not None:
        saved = earlier.times.saved
        load_cost = _LOADS_TO_SAVE * earlier.times.load
    if saved * earlier.runs > load_cost:
        return 1
    # It does not pay in a process of the same length, but may in a longer one.
    return max(_MIN_RUNS, earlier.runs + 1, int(share * load_cost / max(saved, 1e-9)))


def load_seconds(ops: Sequence[tuple[Any, ...]], earlier: EarlierRuns) -> float:
    """Seconds to load the program of a segment from the persistent cache, measured or estimated."""
    return earlier.times.load or _LOAD_BASE + _LOAD_EQUATION * equation_count(ops)


def equation_count(ops: Sequence[tuple[Any, ...]]) -> int:
    """Number of the equations of recorded operations."""
    return sum(len(entry[0].equations.structure.eqns) for entry in ops)


def has_products(ops: Sequence[tuple[Any, ...]]) -> bool:
    """Whether recorded operations compute a product of matrices."""
    plans = (tier_state(entry[0]).plan for entry in ops)
    return any(p is not None and "dot_general" in p.names for p in plans)


def compile_seconds(ops: Sequence[tuple[Any, ...]]) -> float:
    """Estimated seconds to compile recorded operations in one program."""
    return _compile_cost([tier_state(entry[0]) for entry in ops], ())


def _compile_cost(states: Sequence[TierState], repetitions: Sequence[RepeatedOps]) -> float:
    """Estimated seconds to compile operations in one program, in which some become loops."""
    kept = list(states)
    for repetition in reversed(repetitions):  # compiled is the body of the loop, and the last period
        del kept[repetition.start + 2 * repetition.period : repetition.op_range.stop]
    loops = sum(repetition.compile_cost for repetition in repetitions)
    return COMPILE_BASE + loops + sum(state.compile_cost - COMPILE_BASE for state in kept)
