"""Runs a segment: op by op when it is new, as one compiled program when it recurs."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error, user_line
from paddle_jax._core.base.error_translation import translate
from paddle_jax._core.base.errors import LostError
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import eager_evaluation, repair_tracing, without_collection
from paddle_jax._core.base.out_of_memory import as_out_of_memory
from paddle_jax._core.base.state import Context, local
from paddle_jax._core.base.vlog import Verbose, vlog
from paddle_jax._core.kernels.kernel import Kernel, compute
from paddle_jax._core.kernels.value_checks import PendingChecks
from paddle_jax._core.lazy.aval import Aval
from paddle_jax._core.lazy.device_put import put_if_large
from paddle_jax._core.lazy.devices import (
    CHOSEN_DEVICE,
    HOST,
    Devices,
    default_device,
    device_of,
    may_interpret,
)
from paddle_jax._core.lazy.lazy_array import CONSTANT, UNREAD, LazyArray, lazy_on, to_lazy
from paddle_jax._core.lazy.multi_device import put_on_mesh
from paddle_jax._core.lazy.positions import OP_MASK, needed_ops, result_positions, select_result
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.lazy.reference_counts import referenced_results
from paddle_jax._core.lazy.segment import (
    CLOSED,
    FIRST_LIMIT,
    FIRST_REASON,
    UNDECIDED,
    OpSignature,
    Segment,
    is_small_integer,
    signature_of,
    wait_until_idle,
)
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.transfer import materialize, to_array
from paddle_jax._core.numpy_backend.warning_mode import NO_WARNINGS, warning_mode
from paddle_jax._core.runner import loop_detection  # noqa: F401  it attaches Segment.cut_or_grow
from paddle_jax._core.runner.compiled_segment import Choice, CompiledSegment, drop_failed, program_for
from paddle_jax._core.runner.joined_plans import numpy_of, recurring_results, results_or_none
from paddle_jax._core.runner.loop_pairs import Part, interpreted_parts
from paddle_jax._core.runner.operands import operands_at
from paddle_jax._core.runner.short_segments import (
    MAX_ALONE,
    ShortPlan,
    is_of_integers,
    new_short_plan,
    short_plans,
)
from paddle_jax._core.runner.tiering import MOST_CHEAP_OPS, TierState, interpret, tier_state

# the operations to run, as `needed_ops` gives them
_Plan = Sequence[tuple[int, Iterable[int]]]

_ONLY_OP: _Plan = ((0, ()),)  # of a segment of one operation
_OP_BY_OP = Choice(None, False)  # a segment that recurs nowhere
_NO_CONTEXT = contextlib.nullcontext()
_MAX_SECONDS_ALONE = 1e-3  # that they may take
_LARGE = 1 << 16  # bytes from which live_tensors() can say where a result comes from


def run_segment(segment: Segment, reason: str) -> None:
    """Computes what is still referenced of a segment and gives the arrays to their LazyArrays.

    Until all have theirs the segment keeps what it needs to compute them. If an exception is raised
    meanwhile, they can be read again.
    """
    ctx = local.ctx
    # No finalizer may run meanwhile: if it read a value of this very segment it would run the segment too, or
    # find the value neither recorded nor computed.
    with segment.lock, without_collection():
        if segment.running_call is not None:
            segment.running_call.finish()
        if not segment.ops:
            return
        if ctx.segment is segment:
            # False: a finalizer calls this while an operation is recorded, whose results do not exist yet
            may_close = not segment.recording
            ctx.segment = _next_segment(ctx)
        else:
            may_close = wait_until_idle(segment)
        _run_ops(segment, may_close, reason, ctx)
        if may_close:
            segment.close()


def run_single_op(segment: Segment) -> bool:
    """Interprets a segment of one operation; False if `run_segment` has to run it.

    Reading each result of a loop or of a notebook makes such segments. No garbage collection is held back
    here: nothing is dropped before all results have their arrays. What a finalizer records meanwhile is
    independent of it; a finalizer may also run the segment itself.
    """
    # Read first: a finalizer may run and close the segment meanwhile.
    ops = segment.ops
    leaves = segment.leaves
    device = _device_of(segment)
    if not _may_run_part(segment) or not may_interpret(device) or not repair_tracing():
        return False
    signature, *positions = ops[0]
    before = warning_mode.set(NO_WARNINGS)
    try:
        results = interpret(signature, operands_at(positions, leaves, {}, materialize))
    finally:
        warning_mode.reset(before)
    if results is None:
        return False
    positions = result_positions(ops, 0)
    if signature.container is None:
        results = [results]
    _finish_part(segment, 1, dict(zip(positions, results, strict=True)), device)
    return True


def run_short_segment(segment: Segment, value: LazyArray) -> bool:
    """Interprets a segment of a few small operations at once; False if another way has to run it.

    As in `run_single_op`, no garbage collection is held back. A small result that needs only some operations
    of integers is left to `run_integers_alone`.
    """
    # Read first: a finalizer may run and close the segment meanwhile.
    ops = segment.ops
    leaves = segment.leaves
    device = _device_of(segment)
    if len(ops) > MOST_CHEAP_OPS or settings.min_repeats:
        return False
    if not _may_run_part(segment) or not may_interpret(device):
        return False
    key = tuple(ops)
    try:
        plan = short_plans[key]
    except KeyError:
        plan = new_short_plan(key)
    if plan is None:
        return False
    if value.position & OP_MASK in plan.alone and is_small_integer(value.aval):
        return False
    results = results_or_none(plan.run, leaves, {})
    if results is None:
        return False
    _finish_part(segment, plan.count, results, device)
    return True


def _finish_part(segment: Segment, count: int, arrays: Mapping[int, Any], device: Any) -> None:
    """Gives results of the first operations of a segment to their LazyArrays, and begins another segment.

    Args:
        segment: the segment.
        count: the number of operations that have run.
        arrays: their results by their positions.
        device: the device of the results.
    """
    ops = segment.ops
    values = segment.results
    if values is None:  # a finalizer has run the segment meanwhile
        return
    for value in values:
        array = arrays.get(value.position)
        # a finalizer may have recorded further operations meanwhile
        if value.array is None and array is not None:
            if value.aval.nbytes >= _LARGE:
                value.signature = ops[value.position & OP_MASK][0]
            value.device = device
            value.array = array
    log.segments += 1
    ctx = local.ctx
    if ctx.segment is segment:
        ctx.segment = _next_segment(ctx)
        if len(segment.ops) == count:
            segment.close()


def run_integers_alone(segment: Segment, value: LazyArray) -> bool:
    """Computes a small result from the few integer operations that it depends on.

    The other operations stay pending. Ids and labels are read to check their range: if each of them ran the
    segment, a decoder that looks up one word at a time would be cut into pieces. Integers and truth values
    are the same in all tiers, so it does not matter that the segment may compute them again.

    Returns:
        False: nothing has been computed, and `run_segment` has to run.
    """
    device = _device_of(segment)
    if not _may_run_part(segment) or type(device) is frozenset:  # several devices
        return False
    plan = _integer_plan(segment, value.position & OP_MASK)
    if plan is None or not repair_tracing():
        return False
    value.device = device  # before the array: another thread may record it as soon as that is there
    with np.errstate(all="ignore"):
        _run_plan(plan, segment.ops, segment.leaves, {value.position: value}, may_interpret(device))
    return True


def _device_of(segment: Segment) -> Any:
    """The device on which a segment runs, also one without leaves."""
    if segment.device is UNDECIDED:
        return default_device()
    return segment.device


def _may_run_part(segment: Segment) -> bool:
    """Whether this thread may compute some results of a segment, and leave it as it is."""
    return (
        local.ctx.segment is segment
        and not segment.recording
        and segment.running_call is None
        # usually nothing is printed at all
        and not ((Verbose.level > 0 or Verbose.modules) and Verbose.wants("segment"))
    )


def _integer_plan(segment: Segment, last: int) -> _Plan | None:
    """The operations that one of them depends on, in order; None if it is to run with the segment.

    They are few, cost little, and work on integers and truth values alone. Their results are small, so none
    is dropped before the last.
    """
    needed = {last}
    order: list[tuple[int, tuple[int, ...]]] = []
    seconds = 0.0
    while needed:
        i = max(needed)
        needed.remove(i)
        signature, *positions = segment.ops[i]
        if len(order) == MAX_ALONE or not is_of_integers(signature):
            return None
        seconds += tier_state(signature).cost
        if seconds > _MAX_SECONDS_ALONE:
            return None
        order.append((i, ()))
        needed.update(position & OP_MASK for position in positions if position >= 0)
    if len(order) == len(segment.ops):
        return None  # nothing would stay pending
    order.reverse()
    return order


def interpret_now(kernel: Kernel, raws: Sequence[Any]) -> list[LazyArray] | None:
    """The results of a kernel as LazyArrays, by the interpreter; None if it is to be compiled."""
    device = default_device()
    if local.ctx.segment is None or not may_interpret(device):
        return None
    values: list[Any] = [raw if type(raw) is LazyArray else to_lazy(raw) for raw in raws]
    if None in values or not repair_tracing():
        return None
    operands = [v.array if type(v.array) is np.ndarray else materialize(v) for v in values]
    # pending values have a device from now on
    if not {device, None, CONSTANT}.issuperset([value.device for value in values]):
        return None
    signature = signature_of(kernel, tuple([value.aval for value in values]))
    with np.errstate(all="ignore"):
        results = interpret(signature, operands)
    if results is None:
        return None
    if signature.container is None:
        return [lazy_on(results, signature.out_avals, device)]
    return [lazy_on(array, aval, device) for array, aval in zip(results, signature.out_avals, strict=True)]


def _next_segment(ctx: Context) -> Segment:
    """The segment that comes after."""
    if ctx.loop_unit:
        limit = ctx.loop_unit[0]
    else:
        limit = max(FIRST_LIMIT, ctx.next_limit)
    return Segment(min(limit, settings.max_ops))


def _run_ops(segment: Segment, may_close: bool, reason: str, ctx: Context) -> None:
    results = referenced_results(segment.results)
    if not results:
        return
    log.segments += 1
    if Verbose.wants("segment"):
        vlog("segment", f"{len(segment.ops)} recorded operations run at {user_line()}: {reason}")
    compiled_runs = log.compiled_runs
    ops = segment.ops
    is_clean = repair_tracing()
    if may_close:
        # nothing is recorded here any more, and a leaf that nobody else holds can give its memory away
        segment.leaf_positions.clear()  # not replaced: a thread that is about to record holds it, too
    for value in results.values():
        value.device = segment.device
        if value.aval.nbytes >= _LARGE:
            value.signature = ops[value.position & OP_MASK][0]
    device = _device_of(segment)
    choice = _OP_BY_OP
    if len(ops) > 1 and is_clean:
        choice = program_for(ops, segment.leaves, tuple(results), reason, device)
    program, is_recurring, times = choice
    if times is not None:
        times.start_run(program is not None)
    if program is None or not _try_program(program, segment, may_close, results):
        # the segment does not depend on a trace around it
        with np.errstate(all="ignore"), _NO_CONTEXT if is_clean else eager_evaluation():
            run_op_by_op(ops, segment.leaves, results, may_interpret(device), is_recurring)
        if times is not None and program is None:
            times.end_interpreted()
    else:
        ctx.next_limit = len(ops) + 1
    _set_devices(segment, ops, results, log.compiled_runs == compiled_runs)


def _set_devices(
    segment: Segment, ops: Sequence[Any], results: Mapping[int, LazyArray], is_op_by_op: bool
) -> None:
    """Notes where the results of a segment are, if its device does not say it."""
    is_on_mesh = type(segment.device) is frozenset and is_op_by_op
    if is_on_mesh:
        put_on_mesh(results.values(), ops, segment.leaves)
    if segment.device is UNDECIDED or is_on_mesh:
        for value in results.values():
            value.device = default_device() if type(value.array) is np.ndarray else device_of(value.array)


def _try_program(
    program: CompiledSegment, segment: Segment, may_donate: bool, results: Mapping[int, LazyArray]
) -> bool:
    """Runs a compiled segment.

    False if it fails and its operands are still there: running op by op can then find the operation at fault.
    """
    try:
        program(segment, may_donate, results.values())
    except Exception as error:
        if any(isinstance(leaf.array, jax.Array) and leaf.array.is_deleted() for leaf in segment.leaves):
            segment.error = translate("deferred", [], error)
            raise segment.error from None
        # Without another process the operations alone would fail, too, or wait for it.
        if isinstance(error, LostError) or is_unrelated_error(error):
            raise
        drop_failed(program, error)
        return False
    return True


def run_op_by_op(
    ops: Sequence[tuple[Any, ...]],
    leaves: Sequence[LazyArray],
    results: Mapping[int, LazyArray],
    on_host: bool,
    is_recurring: bool = False,
) -> None:
    """Runs a segment op by op. If an operation fails, the results before it have their arrays.

    Args:
        ops: the recorded operations.
        leaves: the leaves of the segment.
        results: the LazyArrays to compute, by position.
        on_host: whether operations may be interpreted. Else their compiled kernels run.
        is_recurring: whether the segment will be compiled if it goes on recurring.
    """
    plan: _Plan = _ONLY_OP
    if len(ops) > 1:
        arrays = recurring_results(ops, leaves, tuple(results)) if on_host and is_recurring else None
        if arrays is not None:
            for position, value in results.items():
                value.array = arrays[position]
            return
        plan = needed_ops(ops, tuple(results))
    _run_plan(plan, ops, leaves, results, on_host, is_recurring)


def _run_plan(
    plan: _Plan,
    ops: Sequence[tuple[Any, ...]],
    leaves: Sequence[LazyArray],
    results: Mapping[int, LazyArray],
    on_host: bool,
    is_recurring: bool = False,
) -> None:
    """Runs some operations of a segment; see `run_op_by_op`."""
    read_leaf = materialize if on_host else to_array
    parts: dict[int, Part] = {}
    if on_host:
        parts = interpreted_parts(ops, plan, is_recurring)
    env: dict[int, Any] = {}
    for i, last_reads in plan:
        signature, *positions = ops[i]
        operands = operands_at(positions, leaves, env, read_leaf)
        try:
            result = interpret(signature, operands, is_recurring, parts.get(i)) if on_host else None
            if result is None:
                result = compute(signature.kernel, list(map(put_if_large, operands)))
            env[i] = result
        except Exception as error:
            _assign_arrays(env, results)
            # NumPy may have no memory for the copy of an operand.
            translated = as_out_of_memory(error, signature.kernel.name, operands)
            if translated is error and is_unrelated_error(error):
                raise
            raise _with_user_lines(translated, signature) from translated.__cause__
        for j in last_reads:
            del env[j]
    _assign_arrays(env, results)


def _assign_arrays(env: Mapping[int, Any], results: Mapping[int, LazyArray]) -> None:
    for position, value in results.items():
        if position in env:  # the only result of its operation
            value.array = env[position]
        elif position & OP_MASK in env:
            value.array = select_result(env[position & OP_MASK], position)


def _with_user_lines(error: BaseException, signature: OpSignature) -> BaseException:
    """The error with the user's lines: where the operation was first recorded with these shapes, and which
    statement needs its result now. The op's name is in its text already."""
    first, line_break, rest = str(error).partition("\n")
    now = user_line()
    if now in (signature.user_line, "?"):
        wanted = ""
    else:
        wanted = f", wanted at {now}"
    text = f"{first}; recorded at {signature.user_line}{wanted}{line_break}{rest}"
    try:
        return type(error)(text)
    except TypeError:
        error.add_note(f"recorded at {signature.user_line}")
        return error


def _before_fork() -> None:
    """Computes what is pending: a child process must find arrays, because JAX does not work in it."""
    run_pending("os.fork")


Segment.run = run_segment
Segment.run_single_op = run_single_op
Segment.run_short_segment = run_short_segment
Segment.run_integers_alone = run_integers_alone
if extension is not None:
    extension.setup_read(
        {
            "Context": Context,
            "Segment": Segment,
            "LazyArray": LazyArray,
            "Aval": Aval,
            "OpSignature": OpSignature,
            "TierState": TierState,
            "ShortPlan": ShortPlan,
            "Log": type(log),
            "Settings": type(settings),
        },
        {
            "short_plans": short_plans,
            "default_device": default_device,
            "may_interpret": may_interpret,
            "numpy_of": numpy_of,
            "next_segment": _next_segment,
            "is_unrelated_error": is_unrelated_error,
            "Verbose": Verbose,
            "settings": settings,
            "log": log,
            "warning_mode": warning_mode,
            "no_warnings": NO_WARNINGS,
            "new_lock": threading.RLock,
            "undecided": UNDECIDED,
            "unread": UNREAD,
            "limit_reason": FIRST_REASON,
            "Devices": Devices,
            "host": HOST,
            "chosen_device": CHOSEN_DEVICE,
            "closed": CLOSED,
            "PendingChecks": PendingChecks,
        },
        MOST_CHEAP_OPS,
        _LARGE,
        FIRST_LIMIT,
    )
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
