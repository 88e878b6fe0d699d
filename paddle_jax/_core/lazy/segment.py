"""Segments: what one thread has recorded since its last flush, and how ops get into them.

An op is a tuple of its Sig and the positions of its operands (positions.py), so the recorded list is its own
cache key. Appending that tuple is the one step that commits an op: whatever interrupts the code around it (a
garbage collection that runs ops, KeyboardInterrupt) leaves the segment whole.
"""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable
from typing import ClassVar

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.error_translation import cause_for, translate
from paddle_jax._core.lazy.aval import INEXACT, as_aval
from paddle_jax._core.lazy.lazy_array import LazyArray, to_lazy
from paddle_jax._core.lazy.multi_device import committed_device, replicate_over
from paddle_jax._core.lazy.pending_memory import limit_memory
from paddle_jax._core.lazy.positions import OUTPUT_SHIFT
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.signature_cache import note_signature
from paddle_jax._core.lazy.transfer import to_array

FIRST_LIMIT = 256  # length at which a segment is first examined for a period
_MAX_SIGS = 1024
_PATIENCE = 500  # tenths of a millisecond
_new = object.__new__
UNDECIDED = object()  # device of a segment without leaves


class OpSignature:
    """A kernel with the Avals of its operands: the unit of shape inference. `out` is the Aval of the result,
    or a list of them.

    many: None, tuple or list, the structure of the result. traced: its equations. where: the user's line that
    first called it. flow: which of the first operands a gradient can flow to from a single result (bit i for
    operand i). cold: what the interpreter knows of it, once it was asked.
    """

    __slots__ = (
        "container",
        "equations",
        "gradient_mask",
        "kernel",
        "operand_avals",
        "out_avals",
        "tier_state",
        "user_line",
    )

    def __repr__(self):
        return f"{self.kernel.name}({', '.join(map(repr, self.operand_avals))})"


def infer_signature(kernel, avals) -> OpSignature:
    """The Sig of a kernel for operands of these Avals; raises what the op raises for them."""
    try:
        equations = kernel.trace(avals)
    except Exception as error:
        raise (found := translate(kernel.name, [a.struct for a in avals], error, kernel)) from cause_for(
            found, error
        )
    sig = OpSignature()
    sig.kernel, sig.operand_avals, sig.user_line, sig.tier_state, sig.equations, sig.container = (
        kernel,
        avals,
        user_line(),
        None,
        equations,
        equations.container,
    )
    avals_out = list(map(as_aval, equations.out_avals))
    sig.out_avals = avals_out if sig.container else avals_out[0]
    passes = not kernel.nondiff and not sig.container and sig.out_avals.dtype.kind in INEXACT
    sig.gradient_mask = (
        sum(1 << i for i, a in enumerate(avals[:3]) if passes and a.dtype.kind in INEXACT)
        & ~kernel.constant_mask
    )
    if len(kernel.signatures) >= _MAX_SIGS:
        kernel.start_generation()
    note_signature(kernel, avals)
    kernel.signatures[avals] = sig
    kernel.traced_equations.pop(avals, None)
    return sig


def signature_of(kernel, avals) -> OpSignature:
    """The Sig of a kernel for operands of these Avals: one that is known, or a new one."""
    if avals not in kernel.signatures and not kernel.revive_signature(avals):
        infer_signature(kernel, avals)
    return kernel.signatures[avals]


class Segment:
    """Ops recorded by one thread. `limit` is the length at which recording stops for a look (0: at a step
    boundary, -1: closed).

    ops: the recorded ops; they stay until everything that is referenced has its array. leaves, places: the
    operands from outside, and the position of each. results: the results; one that nobody else references is
    not computed for its own sake. busy: an op is being recorded just now. running: None, or the compiled
    program that is being run. error: why the results are lost for good. room: bytes of operands from outside
    that may still come before somebody looks at what they hold. why: what a limit of 0 is due to.

    The room `runner` is above this one. It attaches the methods that compute:
        run(reason): computes what is still referenced of the segment.
        run_single_op(): computes a segment of one op by the interpreter; False where `run` has to do it.
        cut_or_grow(ctx): runs a segment that has reached its limit, or raises the limit.
    """

    run: ClassVar[Callable[..., None]]
    run_single_op: ClassVar[Callable[..., bool]]
    cut_or_grow: ClassVar[Callable[..., None]]

    __slots__ = (
        "busy",
        "device",
        "error",
        "leaves",
        "limit",
        "lock",
        "ops",
        "places",
        "results",
        "room",
        "running",
        "why",
    )

    def __init__(self, limit):
        self.ops, self.leaves, self.leaf_positions, self.results = [], [], {}, []
        self.limit, self.recording, self.device, self.error, self.running = (
            limit,
            False,
            UNDECIDED,
            None,
            None,
        )
        self.lock = threading.RLock()
        self.room = settings.pending_mb << 20
        self.why = "the first op after optimizer.step() or the next batch"

    def materialize(self, value):
        """The array of a pending result: runs the segment, whichever thread recorded it."""
        with self.lock:
            if value.array is None and self.ops and not (len(self.ops) == 1 and self.run_single_op()):
                self.run("a value was asked for")
        if value.array is None:
            raise self.error or RuntimeError(
                "deferred: a value was lost while its op was being recorded; compute it again"
            )
        return value.array

    def close(self):
        """Lets go of everything: all that is referenced has been computed."""
        self.limit = -1
        self.ops, self.leaves, self.leaf_positions, self.results, self.running = (), None, None, None, None


def wait_until_idle(segment):
    """Whether the thread that owns a segment is between two ops; waits for that for a while (a mark left by
    an interrupted recording stays)."""
    segment.limit = -1
    for _ in range(_PATIENCE):
        if not segment.recording:
            return True
        time.sleep(0.0001)
    return False


def add_leaf(seg, v):
    """Makes a LazyArray with an array an operand from outside; None when it lives on another device than the
    rest of the segment.

    Host numbers enter anew at each use, so that two numbers that happen to be equal do not change the
    structure of the segment.
    """
    if type(v.array) is tuple:
        seg.leaves.append(v)
        return -len(seg.leaves)
    if v.device is not seg.device:
        if seg.device is UNDECIDED:
            seg.device = v.device
        elif seg.device != v.device:
            joined = common_devices(seg, v)
            if joined is None:
                return None
            seg.device = joined
    seg.leaves.append(v)
    p = seg.places[v] = -len(seg.leaves)
    seg.room -= v.aval.nbytes
    if seg.room < 0:
        limit_memory(seg)
    return p


def common_devices(seg, v):
    """The devices on which a segment runs with an array that is elsewhere: where one of them is spread over
    several devices and the other bound to none. None: they do not go together."""
    if type(seg.device) is frozenset and committed_device(v) is None:
        return seg.device
    if type(v.device) is frozenset and all(
        committed_device(each) is None for each in seg.leaves if each.device is seg.device
    ):
        return v.device
    return None


def record(ctx, kernel, raws):
    """Records a kernel on what Tensors hold and gives LazyArrays; runs it now when it cannot be deferred."""
    seg = ctx.segment
    try:
        # a jax array also has an aval, but never one that is found here
        sig = kernel.signatures.get(tuple([v.aval for v in raws]))
    except AttributeError:
        sig = None
    if sig is None:
        return _record_slow_path(ctx, kernel, raws)
    try:
        seg.recording = True
        ops, places = seg.ops, seg.leaf_positions
        if len(ops) < seg.limit:
            entry = [sig]
            for v in raws:
                p = (
                    (v.position if v.segment is seg else None)
                    if v.array is None
                    else places.get(v) or add_leaf(seg, v)
                )
                if p is None:
                    break
                entry.append(p)
            else:
                ops.append(tuple(entry))
                n = len(ops) - 1
                if sig.container is None:
                    out = _new(LazyArray)
                    out.aval = sig.out_avals
                    out.array = None
                    out.segment = seg
                    out.position = n
                    seg.results.append(out)
                    return out
                return _results(seg, sig, n)
    finally:
        seg.recording = False
    return _record_slow_path(ctx, kernel, raws)


def _results(seg, sig, n):
    """The LazyArrays of op n, which has several results."""
    results, pos = [], n
    for aval in sig.out_avals:
        out = _new(LazyArray)
        pos += 1 << OUTPUT_SHIFT
        out.aval = aval
        out.array = None
        out.segment = seg
        out.position = pos
        results.append(out)
    seg.results.extend(results)
    return results if sig.container is list else tuple(results)


def _record_slow_path(ctx, kernel, raws):
    """As `record`, for the first sight of a signature, operands that are no LazyArrays yet, and segments that
    must be looked at first."""
    if not kernel.deferrable:
        return kernel.compute(raws)
    values = [v if type(v) is LazyArray else to_lazy(v) for v in raws]
    if None in values:
        return kernel.compute(raws)
    avals = tuple([v.aval for v in values])
    if avals not in kernel.signatures:
        signature_of(kernel, avals)
    elif all(map(operator.is_, values, raws)):
        devices = {v.device for v in values if v.array is not None and type(v.array) is not tuple}
        if len(devices) > 1:
            spread = [d for d in devices if type(d) is frozenset]
            if len(spread) != 1:
                return kernel.compute(raws)  # operands on several devices: JAX decides, or refuses
            values = replicate_over(values, spread[0])
        prepare_segment(ctx, values)
    return record(ctx, kernel, values)


def prepare_segment(ctx, values):
    """After a refused op: brings in results of other threads, flushes at a boundary or at the
    end of a period."""
    seg = ctx.segment
    for v in values:
        if v.array is None and v.segment is not seg:
            to_array(v)
    if seg.limit < 0:
        with seg.lock:  # another thread is running it
            ctx.segment = Segment(FIRST_LIMIT)
    elif seg.limit == 0:
        seg.run(seg.why)
    elif len(seg.ops) >= seg.limit:
        seg.cut_or_grow(ctx)
    elif seg.ops:
        seg.run("an operand on another device")
    else:
        ctx.segment = Segment(seg.limit)  # holds nothing but a leaf on another device
