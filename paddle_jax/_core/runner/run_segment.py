"""Running a segment: op by op when it is first met, as one compiled program when it recurs."""

import contextlib
import os

import jax
import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error, user_line
from paddle_jax._core.base.error_translation import translate
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import eager_evaluation, repair_tracing, without_collection
from paddle_jax._core.base.out_of_memory import as_out_of_memory
from paddle_jax._core.base.state import local
from paddle_jax._core.base.vlog import Verbose, vlog
from paddle_jax._core.kernels.kernel import compute
from paddle_jax._core.lazy.device_put import put_if_large
from paddle_jax._core.lazy.devices import default_device, device_of
from paddle_jax._core.lazy.lazy_array import CONSTANT, LazyArray, to_lazy
from paddle_jax._core.lazy.lazy_array import lazy_from_numpy as on_host_value
from paddle_jax._core.lazy.positions import OP_MASK, needed_ops, select_result
from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.lazy.reference_counts import referenced_results
from paddle_jax._core.lazy.segment import FIRST_LIMIT, UNDECIDED, Segment, signature_of, wait_until_idle
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.transfer import materialize, to_array
from paddle_jax._core.runner.compiled_segment import drop_failed, program_for
from paddle_jax._core.runner.loop_detection import cut_or_grow
from paddle_jax._core.runner.tiering import interpret, may_interpret


def run_segment(seg, why):
    """Computes what is still referenced of a segment and gives the arrays to their Values.

    Until all have theirs the segment keeps what it needs to compute them: whatever is raised meanwhile, they
    can be asked for again.
    """
    ctx = local.ctx
    # No finalizer may run meanwhile: if it looked at a value of this very segment it would flush it too, or
    # find the value neither recorded nor computed.
    with seg.lock, without_collection():
        if seg.running is not None:
            seg.running.finish()
        if not seg.ops:
            return
        if ctx.segment is seg:
            # else called from inside the recording of an op (by a finalizer), whose Values do not exist yet
            whole = not seg.recording
            ctx.segment = _next(ctx)
        else:
            whole = wait_until_idle(seg)
        _run_ops(seg, whole, why, ctx)
        if whole:
            seg.close()


def run_single_op(seg) -> bool:
    """Interprets a segment of one op, as a look at each result of a loop or of a notebook makes them; False
    where `run_segment` has to see to it.

    No garbage collector is held back here: nothing is taken away before all results have their arrays, and
    what a finalizer records or computes meanwhile stands beside it.
    """
    ctx = local.ctx
    device = default_device() if seg.device is UNDECIDED else seg.device
    if (
        ctx.segment is not seg
        or seg.recording
        or seg.running is not None
        or not may_interpret(device)
        or Verbose.wants("segment")
        or not repair_tracing()
    ):
        return False
    sig, *positions = seg.ops[0]
    with np.errstate(all="ignore"):
        found = interpret(sig, [materialize(seg.leaves[-1 - p]) for p in positions])
    if found is None:
        return False
    for value in seg.results:
        if value.array is None:
            if value.aval.nbytes >= _LARGE:
                value.made = sig
            value.device = device
            value.array = select_result(found, value.position)
    log.segments += 1
    if ctx.segment is seg:
        ctx.segment = _next(ctx)
        if len(seg.ops) == 1:
            seg.close()
    return True


def interpret_now(kernel, raws):
    """The results of a kernel as a list of Values, by the interpreter; None where it is to be compiled."""
    if local.ctx.segment is None or not may_interpret(default_device()):
        return None
    values = [raw if type(raw) is LazyArray else to_lazy(raw) for raw in raws]
    if None in values or not repair_tracing():
        return None
    operands = list(map(materialize, values))  # what was pending has a device now
    if any(v.device not in (default_device(), None, CONSTANT) for v in values):
        return None
    sig = signature_of(kernel, tuple([v.aval for v in values]))
    with np.errstate(all="ignore"):
        found = interpret(sig, operands)
    if found is None:
        return None
    return [on_host_value(array) for array in (found if sig.container else [found])]


def _next(ctx):
    """The segment that comes after."""
    return Segment(
        min(ctx.loop_unit[0] if ctx.loop_unit else max(FIRST_LIMIT, ctx.next_limit), settings.max_ops)
    )


_NOTHING = contextlib.nullcontext()
_LARGE = 1 << 16  # bytes from which live_tensors() can say where a result comes from


def _run_ops(seg, whole, why, ctx):
    values = referenced_results(seg.results)
    if not values:
        return
    log.segments += 1
    if Verbose.wants("segment"):
        vlog("segment", f"{len(seg.ops)} recorded operations run at {user_line()}: {why}")
    hits = log.compiled_runs
    ops, live, clean = seg.ops, tuple(values), repair_tracing()
    if whole:
        # nothing is recorded here any more, and a leaf that nobody else holds can give its memory away
        seg.leaf_positions.clear()  # whoever is about to record holds it, too
    for value in values.values():
        value.device = seg.device
        if value.aval.nbytes >= _LARGE:
            value.made = ops[value.position & OP_MASK][0]
    device = default_device() if seg.device is UNDECIDED else seg.device
    program = program_for(ops, seg.leaves, live, why, device) if len(ops) > 1 and clean else None
    if program is None or not _attempt(program, seg, whole, values):
        # the segment does not depend on a trace around it
        with np.errstate(all="ignore"), _NOTHING if clean else eager_evaluation():
            run_op_by_op(ops, seg.leaves, values, may_interpret(device))
    else:
        ctx.next_limit = len(ops) + 1
    if seg.device is UNDECIDED or (type(seg.device) is frozenset and log.compiled_runs == hits):
        for value in values.values():
            value.device = default_device() if type(value.array) is np.ndarray else device_of(value.array)


def _attempt(program, seg, whole, values):
    """Runs a compiled segment; False when it fails and its operands are still there, so that running op by op
    can find the culprit."""
    leaves = seg.leaves
    try:
        program(seg, whole, values.values())
    except Exception as error:
        if any(isinstance(v.array, jax.Array) and v.array.is_deleted() for v in leaves):
            seg.error = translate("deferred", [], error)
            raise seg.error from None
        if is_unrelated_error(error):
            raise
        drop_failed(program, error)
        return False
    return True


def run_op_by_op(ops, leaves, values, host):
    """Runs a segment op by op for the Values at these positions: interpreted, if it is on the `host`, or
    through the compiled kernels of the ops. One that fails leaves those before it."""
    at_hand, env = materialize if host else to_array, {}
    for i, done in needed_ops(ops, tuple(values)) if len(ops) > 1 else ((0, ()),):
        sig, *positions = ops[i]
        operands = [
            at_hand(leaves[-1 - p]) if p < 0 else select_result(env[p & OP_MASK], p) for p in positions
        ]
        try:
            found = interpret(sig, operands) if host else None
            env[i] = compute(sig.kernel, list(map(put_if_large, operands))) if found is None else found
        except Exception as error:
            _give(env, values)
            if is_unrelated_error(error):
                if (known := as_out_of_memory(error, sig.kernel.name, operands)) is error:
                    raise
                error = known
            raise _located(error, sig) from error.__cause__
        for j in done:
            del env[j]
    _give(env, values)


def _give(env, values):
    for p, value in values.items():
        if p & OP_MASK in env:
            value.array = select_result(env[p & OP_MASK], p)


def _located(error, sig):
    """The error with the user's lines: where the operation was first recorded with these shapes, and which
    statement wants its result now. The op's name is in its text already."""
    first, line, rest = str(error).partition("\n")
    now = user_line()
    wanted = "" if now in (sig.user_line, "?") else f", wanted at {now}"
    text = f"{first}; recorded at {sig.user_line}{wanted}{line}{rest}"
    try:
        return type(error)(text)
    except TypeError:
        error.add_note(f"recorded at {sig.user_line}")
        return error


Segment.run = run_segment
Segment.run_single_op = run_single_op
Segment.cut_or_grow = cut_or_grow


def _before_fork():
    """A child process must find arrays, not ops to run: JAX does not work in it."""
    run_pending("os.fork")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
