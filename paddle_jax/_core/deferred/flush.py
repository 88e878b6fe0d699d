"""Running a segment: op by op when it is first met, as one compiled program when it recurs."""

import gc
import os
import sys

import jax
from jax._src.core import trace_state_clean  # the public module does not say whether a trace is on

from paddle_jax._core.deferred.log import log
from paddle_jax._core.deferred.positions import MASK, needed, outputs, picked, value_at
from paddle_jax._core.deferred.program import drop, program_for
from paddle_jax._core.deferred.segment import ANY, FIRST_LOOK, Segment, wait_idle
from paddle_jax._core.deferred.settings import settings
from paddle_jax._core.deferred.value import Value, concrete, device_of
from paddle_jax._core.errors import translate
from paddle_jax._core.kernel import compute
from paddle_jax._core.state import local


def flush(seg, why):
    """Computes what is still referenced of a segment and gives the arrays to their Values."""
    ctx = local.ctx
    with seg.lock:
        if not seg.ops:
            return
        late = ()
        if ctx.segment is seg:
            if seg.busy:  # called from inside the recording of an op (by a finalizer): that op's Values do not exist yet
                late = outputs(seg.ops, len(seg.ops) - 1)
            limit = ctx.unit[0] if ctx.unit else max(FIRST_LOOK, ctx.hint)
            ctx.segment = Segment(min(limit, settings.max_ops))
        else:
            wait_idle(seg)
        collecting = gc.isenabled()
        gc.disable()  # a finalizer that looks at a value of this very segment would find it neither recorded nor computed
        try:
            _take(seg, late, why, ctx)
        finally:
            if collecting:
                gc.enable()


def _take(seg, late, why, ctx):
    """Takes the ops out of a segment and runs them."""
    ops, leaves, results, device = seg.close()
    values = {v.pos: v for v, count in zip(results, _counts(results), strict=True) if count > _UNREFERENCED}
    del results
    if not values and not late:
        return
    try:
        _run(seg, ops, leaves, (*values, *late), values, device, why, ctx)
    except BaseException:  # unless an op failed (KeyboardInterrupt, say) what was recorded stays, and runs when a value is asked for again
        if seg.error is None:
            seg.ops, seg.leaves, seg.results, seg.places = ops, leaves, list(values.values()), {}
        raise


def _counts(values):
    """How many references there are to each Value of a list. A weak reference would not do: a finalizer may look at a Value of a garbage cycle,
    and weak references to it are dead by then."""
    return [sys.getrefcount(v) for v in values]


_UNREFERENCED = _counts([Value()])[0]


def _run(seg, ops, leaves, live, values, device, why, ctx):
    log.segments += 1
    clean = trace_state_clean()
    program = program_for(ops, leaves, live, why) if len(ops) > 1 and clean else None
    try:
        if program is not None and (arrays := _attempt(program, leaves)) is not None:
            results = dict(zip(live, arrays, strict=True))
            ctx.hint = len(ops) + 1
        elif clean:
            results = run_each(ops, leaves, live)
        else:  # asked for inside a JAX trace: the segment does not depend on it
            with jax.ensure_compile_time_eval():
                results = run_each(ops, leaves, live)
    except _Failed as failed:
        seg.error, results = failed.error, failed.results
    for pos, array in results.items():
        value = values.get(pos)
        if value is not None:
            value.array = array
            value.device = device_of(array) if device is ANY else device
        else:
            seg.late = {**(seg.late or {}), pos: array}
    if seg.error is not None:
        raise seg.error


def _attempt(program, leaves):
    """The results of a compiled segment; None when it fails and its operands are still there, so that running op by op can find the culprit."""
    try:
        return program(leaves)
    except Exception as error:
        if any(isinstance(v.array, jax.Array) and v.array.is_deleted() for v in leaves):
            raise _Failed(translate("deferred", [], error), {}) from None
        drop(program, error)
        return None


class _Failed(Exception):
    """An op failed while a segment ran; `results` are those computed before."""

    def __init__(self, error, results):
        super().__init__(str(error))
        self.error, self.results = error, results


def run_each(ops, leaves, live):
    """Runs a segment op by op through the compiled kernels of the ops; gives arrays by position."""
    arrays = [concrete(v) for v in leaves]
    env = {}
    for i, done in needed(ops, live) if len(ops) > 1 else ((0, ()),):
        sig, *positions = ops[i]
        operands = [value_at(p, arrays, env) for p in positions]
        try:
            env[i] = compute(sig.kernel, operands)
        except Exception as error:
            raise _Failed(_located(error, sig), _pick(env, live)) from None
        for j in done:
            del env[j]
    return _pick(env, live)


def _pick(env, live):
    return {p: picked(env[p & MASK], p) for p in live if p & MASK in env}


def _located(error, sig):
    """The error with the user's line; the op's name is in its text already."""
    text = f"{error}; recorded at {sig.where}"
    try:
        return type(error)(text)
    except TypeError:
        error.add_note(f"recorded at {sig.where}")
        return error


def run_pending(why):
    """Runs what the calling thread has pending."""
    seg = local.ctx.segment
    if seg is not None and seg.ops:
        flush(seg, why)


def _before_fork():
    """A child process must find arrays, not ops to run: JAX does not work in it."""
    run_pending("os.fork")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


def boundary():
    """Ends the segment at the next op: called at the end of `optimizer.step()` and by DataLoaders."""
    seg = local.ctx.segment
    if seg is not None and seg.ops:
        seg.limit = 0

