"""Segments: the operations that one thread has recorded since it last ran them, and how they get there.

A recorded operation is a tuple of its OpSignature and the positions of its operands (positions.py), so the
list of them is its own cache key. Appending that tuple is the one step that commits an operation. Whatever
interrupts the code around it (a garbage collection that runs operations, KeyboardInterrupt) leaves the
segment whole.
"""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import jax

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.error_translation import cause_for, translate
from paddle_jax._core.base.state import Context, local
from paddle_jax._core.lazy.aval import INEXACT, Aval
from paddle_jax._core.lazy.devices import default_device, target_platform
from paddle_jax._core.lazy.lazy_array import UNREAD, LazyArray, is_unread, to_lazy, unread_operand
from paddle_jax._core.lazy.multi_device import MultiDevice, committed_device, replicate_over
from paddle_jax._core.lazy.pending_memory import limit_memory
from paddle_jax._core.lazy.positions import OUTPUT_SHIFT
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.signature_cache import note_signature
from paddle_jax._core.lazy.transfer import to_array

if TYPE_CHECKING:
    from paddle_jax._core.base.interrupt_safe import InterruptSafeCall
    from paddle_jax._core.kernels.jaxpr_tracing import Equations
    from paddle_jax._core.kernels.kernel import Kernel

FIRST_LIMIT = 256  # length at which a segment is first examined for a loop
FIRST_REASON = "the first op after optimizer.step() or the next batch"  # for a limit of 0
_MAX_SIGNATURES = 1024  # of one kernel
_SMALL = 1 << 14  # bytes of a result that may be computed before the rest of its segment
_MAX_WAITS = 500  # for another thread, a tenth of a millisecond each
VALUE_READ = "a value was asked for"  # the reason for a run after which the thread waits for a result
UNDECIDED = object()  # device of a segment without leaves
MAX_OPERANDS = 5  # of the fast way to record, as in recorder.c
_new = object.__new__


class OpSignature:
    """A kernel with the Avals of its operands: shapes are inferred once for each.

    Attributes:
        kernel: Kernel that the operation runs.
        operand_avals: tuple of Aval.
        out_avals: Aval of the result, or a list of them.
        container: None for one result, or the type of several: tuple or list.
        equations: Equations that the kernel was traced to.
        user_line: str, the user's line that first called it.
        gradient_mask: int, bit i is set if a gradient can flow from a single result to operand i; of the
            first five operands.
        tier_state: TierState of the runner, None until it is first run.
        unread: dict from the operands that get a gradient to a tuple with an entry for each operand: None, or
            what a node keeps in its place because the gradient does not read its values. None: not known.
    """

    __slots__ = (
        "container",
        "equations",
        "gradient_mask",
        "kernel",
        "operand_avals",
        "out_avals",
        "tier_state",
        "unread",
        "user_line",
    )

    def __init__(self, kernel: Kernel, operand_avals: tuple[Aval, ...], equations: Equations) -> None:
        self.kernel: Kernel = kernel
        self.operand_avals: tuple[Aval, ...] = operand_avals
        self.equations: Equations = equations
        self.container = equations.container
        out_avals = equations.result_avals()
        self.out_avals: Any = out_avals if self.container else out_avals[0]
        self.user_line: str = user_line()
        self.gradient_mask: int = self._gradient_mask()
        self.tier_state: Any = None
        self.unread: dict[tuple[int, ...], tuple[LazyArray | None, ...]] | None = None

    def _gradient_mask(self) -> int:
        if self.kernel.nondiff or self.container or self.out_avals.dtype.kind not in INEXACT:
            return 0
        mask = 0
        for i, aval in enumerate(self.operand_avals[:MAX_OPERANDS]):
            if aval.dtype.kind in INEXACT:
                mask |= 1 << i
        return mask & ~self.kernel.constant_mask

    def note_unread(self, argnums: tuple[int, ...], indices: Collection[int]) -> None:
        """Stores that the gradient with respect to the operands `argnums` does not read some operands."""
        stand_ins: list[LazyArray | None] = [None] * len(self.operand_avals)
        for i in indices:
            aval = self.operand_avals[i]
            # Host numbers have no weak type, and those of integers may be bounds that code asks for.
            if aval.dtype.kind in INEXACT and not aval.weak:
                stand_ins[i] = unread_operand(aval)
        if any(stand_ins):
            self.unread = {**(self.unread or {}), argnums: tuple(stand_ins)}

    def traced_equations(self, number: int) -> Callable[..., Any]:
        """The equations to trace a segment with, in which it is operation `number`.

        Under `traced_for` they are those of another platform, and have a name that its program keeps.
        """
        if target_platform() is None:
            return self.equations

        def run(*operands: Any) -> Any:
            with jax.named_scope(f"paddle.{self.kernel.name}.{number}"):
                return self.kernel.trace(self.operand_avals)(*operands)

        return run

    def __repr__(self) -> str:
        return f"{self.kernel.name}({', '.join(map(repr, self.operand_avals))})"


def infer_signature(kernel: Kernel, avals: tuple[Aval, ...]) -> OpSignature:
    """A new signature of a kernel for operands of these Avals; raises what the operation raises for them."""
    try:
        equations = kernel.trace(avals)
    except Exception as error:
        translated = translate(kernel.name, [aval.struct for aval in avals], error, kernel)
        raise translated from cause_for(translated, error)
    signature = OpSignature(kernel, avals, equations)
    if len(kernel.signatures) >= _MAX_SIGNATURES:
        kernel.start_generation()
    note_signature(kernel, avals, len(equations.structure.eqns))
    kernel.signatures[avals] = signature
    kernel.note_unread_operands(signature)
    kernel.traced_equations.pop(avals, None)
    return signature


def signature_of(kernel: Kernel, avals: tuple[Aval, ...]) -> OpSignature:
    """The signature of a kernel for operands of these Avals: a known one, or a new one."""
    if avals not in kernel.signatures and not kernel.revive_signature(avals):
        infer_signature(kernel, avals)
    return kernel.signatures[avals]


class Segment:
    """Operations recorded by one thread.

    The room `runner` is above this one. It attaches the methods that compute:
        run(reason): computes what is still referenced of the segment.
        run_single_op(): computes a segment of one operation by the interpreter; False where `run` has to.
        run_short_segment(lazy): computes a segment of a few small operations; False where another way has to.
        run_integers_alone(lazy): computes a small result of integers before the rest; False where it cannot.
        cut_or_grow(ctx): runs a segment that has reached its limit, or raises the limit.

    Attributes:
        ops: list of recorded operations. They stay until everything that is referenced has its array.
        leaves: list of the LazyArrays that are operands from outside.
        leaf_positions: dict from a leaf to its position; of host numbers those alone that nothing reads.
        results: list of the LazyArrays of all results. One that nobody else references is not computed for
            its own sake.
        limit: int, length at which recording stops for a decision; 0: at a step boundary, -1: closed.
        limit_reason: str, the reason for a limit of 0.
        device: device of the leaves, or UNDECIDED.
        elsewhere: bool, whether that is a device that the program has named, not the default one. Operations
            on numbers alone do not belong there.
        allowance: int, bytes of leaves that may be added before `limit_memory` checks what they hold.
        recording: bool, whether an operation is being recorded at this moment.
        running_call: InterruptSafeCall of the program that runs it, or None.
        error: exception that made the results unavailable for good, or None.
        lock: RLock, held while it runs.
    """

    __slots__ = (
        "allowance",
        "device",
        "elsewhere",
        "error",
        "leaf_positions",
        "leaves",
        "limit",
        "limit_reason",
        "lock",
        "ops",
        "recording",
        "results",
        "running_call",
    )

    run: ClassVar[Callable[..., None]]
    run_single_op: ClassVar[Callable[..., bool]]
    run_short_segment: ClassVar[Callable[..., bool]]
    run_integers_alone: ClassVar[Callable[..., bool]]
    cut_or_grow: ClassVar[Callable[..., None]]

    def __init__(self, limit: int) -> None:
        self.ops: Any = []
        self.leaves: Any = []
        self.leaf_positions: Any = {}
        self.results: Any = []
        self.limit: int = limit
        self.limit_reason: str = FIRST_REASON
        self.device: Any = UNDECIDED
        self.elsewhere: bool = False
        self.allowance: int = settings.pending_mb << 20
        self.recording: bool = False
        self.running_call: InterruptSafeCall | None = None
        self.error: Exception | None = None
        self.lock: Any = threading.RLock()

    def materialize(self, lazy: LazyArray, is_read: bool = False) -> Any:
        """The array of a pending result: runs the segment, whichever thread recorded it.

        Args:
            lazy: the result.
            is_read: whether the caller waits for the array at once, and `read_held` could not read it.
        """
        # `read_held` tries the same first.
        array = None if is_read else read_pending(local.ctx, lazy)
        if array is not None:
            return array
        with self.lock:
            if lazy.array is None and self.ops and not self._run_part(lazy):
                self.run(VALUE_READ if is_read else "an operation outside of the segment needs a value")
        if lazy.array is None:
            raise self.error or RuntimeError(
                "deferred: a value was lost while its op was being recorded; compute it again"
            )
        return lazy.array

    def _run_part(self, lazy: LazyArray) -> bool:
        """Whether a pending result could be computed without running the segment as a whole."""
        if len(self.ops) == 1:
            return self.run_single_op()
        if self.run_short_segment(lazy):
            return True
        return is_small_integer(lazy.aval) and self.run_integers_alone(lazy)

    def close(self) -> None:
        """Drops everything: all that is referenced has been computed."""
        self.limit = -1
        self.ops = ()
        self.leaves = None
        self.leaf_positions = None
        self.results = None
        self.running_call = None


# the segment of values that have been read by the extension module
CLOSED = Segment(0)
CLOSED.close()


def is_small_integer(aval: Aval) -> bool:
    """Whether a result may be computed before the rest of its segment, see `run_integers_alone`."""
    return aval.dtype.kind in "iub" and aval.nbytes <= _SMALL


def wait_until_idle(segment: Segment) -> bool:
    """Whether the thread that owns a segment is between two operations, which it waits for.

    It gives up after a while, because a mark that an interrupted recording left stays.
    """
    segment.limit = -1
    for _ in range(_MAX_WAITS):
        if not segment.recording:
            return True
        time.sleep(0.0001)
    return False


def add_leaf(segment: Segment, lazy: LazyArray) -> int | None:
    """Makes a LazyArray with an array a leaf, and returns its position.

    None if it is on another device than the rest of the segment, and for host numbers in a segment that is
    `elsewhere`. Host numbers get a new position at each use, so that two numbers that happen to be equal do
    not change the structure of the segment.
    """
    if type(lazy.array) is tuple:
        return _add_numbers(segment, lazy)
    if lazy.device is not segment.device:
        if segment.device is UNDECIDED:
            if MultiDevice.placed and _is_elsewhere(lazy):
                if segment.ops:
                    return None
                segment.elsewhere = True
            segment.device = lazy.device
        elif segment.device != lazy.device:
            devices = common_devices(segment, lazy)
            if devices is None:
                return None
            segment.device = devices
    segment.leaves.append(lazy)
    position = segment.leaf_positions[lazy] = -len(segment.leaves)
    segment.allowance -= lazy.aval.nbytes
    if segment.allowance < 0:
        limit_memory(segment)
    return position


def _add_numbers(segment: Segment, lazy: LazyArray) -> int | None:
    """As `add_leaf`, for host numbers."""
    if segment.elsewhere:
        return None
    segment.leaves.append(lazy)
    position = -len(segment.leaves)
    if is_unread(lazy):  # its number does not matter
        segment.leaf_positions[lazy] = position
    return position


def _is_elsewhere(lazy: LazyArray) -> bool:
    """Whether an array is on one device, but not where new arrays are put."""
    return type(lazy.device) is not frozenset and lazy.device is not default_device()


def _record_elsewhere(ctx: Context, kernel: Kernel, values: Sequence[LazyArray]) -> Any:
    """Records an operation in a segment on a device that the program has named.

    An operation on numbers alone belongs to the default device, so the segment is run before it.
    """
    segment = ctx.segment
    if all(type(value.array) is tuple for value in values):
        prepare_segment(ctx, values)
        return record(ctx, kernel, values)
    segment.elsewhere = False
    try:
        return record(ctx, kernel, values)
    finally:
        segment.elsewhere = True


def common_devices(segment: Segment, lazy: LazyArray) -> Any:
    """The devices on which a segment runs with an array from elsewhere; None if there are none.

    One of them has to be sharded over several devices, and the other one committed to none.
    """
    if type(segment.device) is frozenset and committed_device(lazy) is None:
        return segment.device
    if type(lazy.device) is frozenset and all(
        committed_device(leaf) is None for leaf in segment.leaves if leaf.device is segment.device
    ):
        return lazy.device
    return None


def record(ctx: Context, kernel: Kernel, raws: Sequence[Any]) -> Any:
    """Records a kernel on what Tensors hold and returns LazyArrays; runs it now if it cannot be deferred."""
    seg = ctx.segment
    try:
        # a jax array also has an aval, but never one that is a key here
        sig = kernel.signatures.get(tuple([v.aval for v in raws]))
    except AttributeError:
        sig = None
    if sig is None:
        return _record_slow_path(ctx, kernel, raws)
    was_recording = seg.recording  # a finalizer may record while another operation is being recorded
    try:
        seg.recording = True
        ops = seg.ops
        positions = seg.leaf_positions
        if len(ops) < seg.limit:
            entry: list[Any] = [sig]
            for v in raws:
                if v.array is None:
                    p = v.position if v.segment is seg else None
                else:
                    p = positions.get(v) or add_leaf(seg, v)
                if p is None:
                    break
                entry.append(p)
            else:
                ops.append(tuple(entry))
                n = len(ops) - 1
                if sig.container is not None:
                    return _append_results(seg, sig, n)
                out = _new(LazyArray)
                out.aval = sig.out_avals
                out.array = None
                out.segment = seg
                out.position = n
                seg.results.append(out)
                return out
    finally:
        seg.recording = was_recording
    return _record_slow_path(ctx, kernel, raws)


def _append_results(segment: Segment, signature: OpSignature, op_index: int) -> Any:
    """The LazyArrays of an operation that has several results."""
    results = []
    position = op_index
    for aval in signature.out_avals:
        position += 1 << OUTPUT_SHIFT
        out = _new(LazyArray)
        out.aval = aval
        out.array = None
        out.segment = segment
        out.position = position
        results.append(out)
    segment.results.extend(results)
    if signature.container is list:
        return results
    return tuple(results)


def _record_slow_path(ctx: Context, kernel: Kernel, raws: Sequence[Any]) -> Any:
    """As `record`, for new signatures, operands that are no LazyArrays yet, and segments at their limit."""
    if not kernel.deferrable:
        return kernel.compute(raws)
    values: list[Any] = [v if type(v) is LazyArray else to_lazy(v) for v in raws]
    if None in values:
        return kernel.compute(raws)
    avals = tuple([v.aval for v in values])
    if avals not in kernel.signatures:
        signature_of(kernel, avals)
    elif ctx.segment.elsewhere:
        return _record_elsewhere(ctx, kernel, values)
    elif all(map(operator.is_, values, raws)):
        devices = {v.device for v in values if v.array is not None and type(v.array) is not tuple}
        if len(devices) > 1:
            several = [device for device in devices if type(device) is frozenset]
            if len(several) != 1:
                if not ctx.segment.ops:  # it may hold one of the operands, and so be bound to its device
                    ctx.segment = Segment(ctx.segment.limit)
                return kernel.compute(raws)  # on the accelerator of one of them
            values = replicate_over(values, several[0])
        prepare_segment(ctx, values)
    return record(ctx, kernel, values)


def prepare_segment(ctx: Context, values: Sequence[LazyArray]) -> None:
    """Makes the thread's segment take an operation that it has refused.

    It brings in results of other threads, and runs the segment at a step boundary, at the end of a loop's
    period, or before an operand on another device.
    """
    segment = ctx.segment
    for value in values:
        if value.array is None and value.segment is not segment:
            to_array(value)
    if segment.limit < 0:
        with segment.lock:  # another thread is running it
            ctx.segment = Segment(FIRST_LIMIT)
    elif segment.limit == 0 and segment.ops:
        segment.run(segment.limit_reason)
    elif len(segment.ops) >= segment.limit:
        segment.cut_or_grow(ctx)
    elif segment.ops:
        segment.run("an operand on another device")
    else:
        ctx.segment = Segment(segment.limit)  # holds nothing but a leaf on another device


def nothing_read(context: Context, lazy: LazyArray) -> Any:
    """In place of `read_pending` where the installation has no extension module."""
    return None


record_in_python = record
# the array of a pending result of this thread; None where `Segment.materialize` has to compute it
read_pending: Callable[[Context, LazyArray], Any] = nothing_read
# the NumPy array of what a Tensor holds; None where `host_value` has to find it
read_held: Callable[[Context, Any], Any] = nothing_read
if extension is not None:
    _classes = (Context, Segment, Aval, OpSignature, LazyArray)
    extension.setup_record({c.__name__: c for c in _classes}, add_leaf, _record_slow_path, UNREAD, UNDECIDED)
    record = extension.record
    read_pending = extension.read_pending
    read_held = extension.read_held
