"""How a recording sees what runs: functions of the one dispatch path are exchanged for ones that note the
time, and put back at its end.

Nothing is asked anywhere while no recording is on. Recorded operations of the deferred tier are not looked at
one by one, which would double what they cost: what runs is, the segment and its program.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
from jax import monitoring

import paddle_jax._core.kernels.kernel as kernels
import paddle_jax._core.runner.compiled_segment as programs
from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import segment
from paddle_jax._core.runner import run_segment
from paddle_jax._core.tape import backward
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.capture import compiled_function as compiled
from paddle_jax.io.dataloader.dataloader_iter import _DataLoaderIterBase
from paddle_jax.jit.function import StaticFunction
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.profiler.event_type import TracerEventType as Type
from paddle_jax.profiler.recording import (
    COMPILE,
    FLUSH,
    INTERPRETED,
    NEW,
    OP,
    PROGRAM,
    Event,
    Recording,
    range_of,
)
from paddle_jax.profiler.timer import benchmark
from paddle_jax.static.executor import CompiledRun

if TYPE_CHECKING:
    import types

    import numpy as np

    from paddle_jax._core.base.state import Context
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.lazy.lazy_array import LazyArray
    from paddle_jax._core.lazy.segment import OpSignature, Segment
    from paddle_jax._core.runner.compiled_segment import CompiledSegment
    from paddle_jax._program.capture.compiled_function import CompiledFunction
    from paddle_jax.base.libpaddle import TracerEventType
    from paddle_jax.profiler.recording import Rows


_now = time.perf_counter_ns
_thread = threading.get_ident
_SLOW = 200_000  # nanoseconds from which an operation is waited for each time
_EVERY = 128  # calls of a faster one from one wait to the next
# the ends of the names of JAX's events
_STAGES = {
    "jaxpr_trace_duration": "tracing",
    "jaxpr_to_mlir_module_duration": "lowering",
    "backend_compile_duration": "compiling",
}


class _Swapped:
    """items: what the recording has exchanged, [(owner, name, the original)]. batches: who wants to know how
    long batches take to load, and next_batch: the original while somebody does. array: the class of the
    arrays that are waited for; None on an accelerator."""

    items: list[Any] = []
    batches: set[Any] = set()
    next_batch: Any = None
    array = None


def install(rows: Rows) -> None:
    """Begins to note."""
    add = rows.add
    # Only arrays of the CPU are waited for, see `_wait`.
    if jax.default_backend() == "cpu":
        _Swapped.array = type(jax.numpy.zeros(()))
    else:
        _Swapped.array = None
    _swap(kernels, "compute", lambda inner: _op(inner, rows))
    # The same function under the name by which segments call it.
    _swap(run_segment, "compute", lambda inner: _cold(inner, rows))
    _swap(run_segment, "interpret", lambda inner: _interpreted(inner, rows))
    _swap(run_segment, "_run_ops", lambda inner: _flushed(inner, add))
    # Short segments and recurring ones run as a whole; a recording has their operations one by one.
    _swap(segment, "read_pending", lambda inner: _none)
    _swap(segment, "read_held", lambda inner: _none)
    _swap(segment.Segment, "run_short_segment", lambda inner: _left_to_run_ops)
    _swap(run_segment, "recurring_results", lambda inner: _none)
    _swap(segment, "infer_signature", lambda inner: _inferred(inner, add))
    _swap(programs.CompiledSegment, "__call__", lambda inner: _program(inner, add))
    _swap(compiled.CompiledFunction, "__call__", lambda inner: _static(inner, add))
    _swap(CompiledRun, "__call__", lambda inner: _executed(inner, add))
    _swap(StaticFunction, "_first", lambda inner: _captured(inner, add))
    _swap(backward, "backward", lambda inner: _phase(inner, add, "Gradient Backward", Type.Backward))
    for cls in _steppers(Optimizer):  # not `step` itself, which compiled functions have read
        _swap(cls, "_step_group", lambda inner: _phase(inner, add, "Optimization Step", Type.Optimization))
    _swap(Layer, "__call__", lambda inner: _layer(inner, add))
    time_batches(rows)
    monitoring.register_event_duration_secs_listener(_compiling)
    Recording.rows = rows


def remove() -> None:
    """Notes no more."""
    leave_batches(Recording.rows)
    Recording.rows = None
    monitoring.unregister_event_duration_listener(_compiling)
    # The last one first: a name may have been exchanged twice.
    while _Swapped.items:
        setattr(*_Swapped.items.pop())


def time_batches(user: Any) -> None:
    """Times how long batches take to load, for a Profiler or a recording, until `leave_batches`."""
    if not _Swapped.batches:
        # One probe for all: a batch counts once.
        _Swapped.next_batch = _DataLoaderIterBase.__next__
        _DataLoaderIterBase.__next__ = _batch(_Swapped.next_batch)
    _Swapped.batches.add(user)


def leave_batches(user: Any) -> None:
    """Times no more for this one. The last one puts the original back."""
    if user not in _Swapped.batches:
        return
    _Swapped.batches.remove(user)
    if not _Swapped.batches:
        _DataLoaderIterBase.__next__ = _Swapped.next_batch


def _swap(owner: type | types.ModuleType, name: str, make: Callable[..., Any]) -> None:
    # From the owner itself: `getattr` would bind class methods and find those of base classes.
    inner = vars(owner)[name]
    _Swapped.items.append((owner, name, inner))
    setattr(owner, name, make(inner))


def _steppers(cls) -> list[type]:
    """A class and those below it that have a way of their own to update a group of parameters."""
    found = [cls] if "_step_group" in vars(cls) else []
    return found + [c for below in cls.__subclasses__() for c in _steppers(below)]


# single operations ------------------------------------------------------------------------------------------


def _op(inner: Callable[..., Any], rows: Rows) -> Callable[..., Any]:
    """Operations that run at once, each as a compiled kernel.

    Slow ones are waited for, and their lines looked up, each time. Waiting for a fast one, which JAX runs in
    another thread, would take longer than the operation: they are waited for now and then, and otherwise have
    the time of the call and the line of the last look.
    """
    seen = {}
    add = rows.add
    shapes = rows.shapes
    memory = rows.memory

    def compute(kernel: Kernel, values: Any) -> jax.Array:
        if _is_traced():
            # While a function is traced nothing is computed; the time would be that of tracing.
            return inner(kernel, values)
        known = seen.get(kernel)
        if known is None:
            # calls until the next wait, and the line that was found at the last one
            known = seen[kernel] = [0, "?"]
        left = known[0]
        if left:
            known[0] = left - 1
            start = _now()
            out = inner(kernel, values)
            end = _now()
        else:
            # Operands may still be computed; that time is not this operation's.
            for value in values:
                _wait(value)
            start = _now()
            out = inner(kernel, values)
            _wait(out)
            end = _now()
            known[0], known[1] = 0 if end - start > _SLOW else _EVERY, user_line()
        add(
            (
                _op_event,
                OP,
                kernel.name,
                start,
                end,
                _thread(),
                known[1],
                _shapes(values) if shapes else (),
                _size(out) if memory else 0,
            )
        )
        return out

    return compute


def _cold(inner: Callable[..., Any], rows: Rows) -> Callable[..., Any]:
    """Operations of a segment that run one by one through their compiled kernels."""
    add = rows.add
    shapes = rows.shapes
    memory = rows.memory

    def compute(kernel: Any, values: Any) -> Any:
        start = _now()
        out = inner(kernel, values)
        _wait(out)
        add(
            (
                _op_event,
                OP,
                kernel.name,
                start,
                _now(),
                _thread(),
                # The line that first called the kernel so; the line running now only made the segment run.
                kernel.recorded_line([v.shape for v in values]),
                _shapes(values) if shapes else (),
                _size(out) if memory else 0,
            )
        )
        return out

    return compute


def _interpreted(inner: Callable[..., Any], rows: Rows) -> Callable[..., Any]:
    add = rows.add
    shapes = rows.shapes
    memory = rows.memory

    def interpreted(
        sig: OpSignature, operands: Any, *settings: Any
    ) -> np.ndarray | tuple[np.ndarray, ...] | None:
        start = _now()
        out = inner(sig, operands, *settings)
        # None says that the operation is to be compiled, and has not run here.
        if out is not None:
            add(
                (
                    _op_event,
                    INTERPRETED,
                    sig.kernel.name,
                    start,
                    _now(),
                    _thread(),
                    sig.user_line,
                    _shapes(operands) if shapes else (),
                    _size(out) if memory else 0,
                )
            )
        return out

    return interpreted


def _wait(out: Any) -> None:
    """Waits for results on a CPU, so that the time is that of the operation. An accelerator goes on: its own
    times come from its profile."""
    array = out[0] if type(out) in (tuple, list) and out else out
    if type(array) is _Swapped.array:
        array.block_until_ready()


def _shapes(values: Sequence[np.ndarray]) -> tuple[tuple[tuple[Any, ...], str], ...]:
    # Other operands, such as settings, have no shape.
    return tuple([(tuple(v.shape), str(v.dtype)) for v in values if hasattr(v, "shape")])


def _size(out: np.ndarray) -> int:
    return sum(getattr(o, "nbytes", 0) for o in (out if type(out) in (tuple, list) else [out]))


def _op_event(
    how: str, name: str, start: int, end: int, thread: int, where: str, shapes: Sequence[Any], size: int
) -> Event:
    return Event(name, Type.Operator, start, end, thread, how, where, shapes=shapes, bytes=size)


# segments and programs --------------------------------------------------------------------------------------


def _flushed(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    """Segments. Those of a length are taken to come from one line, which is looked up now and then."""
    lines = {}

    def run(seg: Segment, whole: bool, why: str, ctx: Context) -> None:
        start = _now()
        count = len(seg.ops)
        inner(seg, whole, why, ctx)
        end = _now()
        # Looking up the line of each segment would take longer than many segments do.
        known = lines.get(count)
        if known is None or known[0] == 0 or end - start > _SLOW:
            known = lines[count] = [_EVERY, user_line()]
        known[0] -= 1
        add((_flush_event, why, count, start, end, _thread(), known[1]))

    return run


def _left_to_run_ops(self: Segment, value: LazyArray) -> bool:
    return False


def _none(*_: Any) -> None:
    """No results, so that operations run one by one."""


def _flush_event(why: str, count: int, start: int, end: int, thread: int, where: str) -> Event:
    return Event(why, Type.OperatorInner, start, end, thread, FLUSH, where, count=count)


def _inferred(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    def infer(kernel: Kernel, avals: Any) -> OpSignature:
        start = _now()
        sig = inner(kernel, avals)
        add((_new_event, sig, start, _now(), _thread()))
        return sig

    return infer


def _new_event(sig: OpSignature, start: int, end: int, thread: int) -> Event:
    return Event(sig.kernel.name, Type.OperatorInner, start, end, thread, NEW, sig.user_line, repr(sig))


def _program(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled segments."""

    def call(self, seg: Segment, whole: bool, values: Any) -> None:
        start = _now()
        inner(self, seg, whole, values)
        # One result is enough: a program gives all at once.
        for value in values:
            _wait(value.array)
            break
        add((_program_event, self, start, _now(), _thread()))

    return call


def _program_event(program: CompiledSegment, start: int, end: int, thread: int) -> Event:
    count = len(program.key[0])
    name = f"compiled program of {count} operations"
    return Event(
        name,
        Type.StaticKernelLaunch,
        start,
        end,
        thread,
        PROGRAM,
        program.where,
        count=count,
        program=program,
    )


def _static(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    """Functions compiled by to_static, that run directly; one that gradients flow through is one operation of
    the program around it."""

    def call(self, tensors: Sequence[Tensor]) -> Tensor:
        start = _now()
        out = inner(self, tensors)
        if not self.differentiable:
            first = out[0] if type(out) in (tuple, list) and out else out
            # Without results, a Tensor whose memory was given away has a new value to wait for.
            _wait(
                held_value(first)
                if isinstance(first, Tensor)
                else held_value(tensors[self.donated[0]])
                if self.donated
                else None
            )
        add((_static_event, self, start, _now(), _thread()))
        return out

    return call


def _static_event(program: CompiledFunction, start: int, end: int, thread: int) -> Event:
    count = len(program.captured.jaxpr.eqns)
    return Event(
        f"to_static {program.name}",
        Type.StaticKernelLaunch,
        start,
        end,
        thread,
        PROGRAM,
        program.name,
        count=count,
        program=program,
    )


def _executed(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    """Runs of programs of `paddle.static`."""

    def call(self: CompiledRun, *args: Any) -> list[jax.Array]:
        start = _now()
        out = inner(self, *args)
        _wait(out)
        add((_executed_event, self, start, _now(), _thread(), user_line()))
        return out

    return call


def _executed_event(entry: CompiledRun, start: int, end: int, thread: int, where: str) -> Event:
    count = len(entry.ops)
    return Event(
        f"static program of {count} operations",
        Type.StaticKernelLaunch,
        start,
        end,
        thread,
        PROGRAM,
        where,
        count=count,
        program=entry,
    )


def _captured(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    """The first call of a compiled function with a signature: its Python code runs, and it is compiled."""

    def first(self, key: Any, args: Sequence[Tensor], kwargs: dict[str, Any], why: Any) -> Tensor:
        start = _now()
        try:
            return inner(self, key, args, kwargs, why)
        finally:
            # Also for a call that has raised.
            add((_capture_event, self._name(), start, _now(), _thread(), user_line(), why or ""))

    return first


def _capture_event(name: str, start: int, end: int, thread: int, where: str, why: str) -> Event:
    return Event(f"to_static {name}", Type.OperatorInner, start, end, thread, NEW, where, why)


def _compiling(event: str, seconds: float, **more: Any) -> None:
    rows = Recording.rows
    stage = _STAGES.get(event.rpartition("/")[2])
    if rows is not None and stage is not None:
        # JAX reports at the end of a stage how long it took.
        end = _now()
        rows.add(
            (
                _compile_event,
                more.get("fun_name", ""),
                stage,
                end - int(seconds * 1e9),
                end,
                _thread(),
                user_line(),
            )
        )


def _compile_event(name: str, stage: str, start: int, end: int, thread: int, where: str) -> Event:
    # Names of JAX say `jit(name)`.
    if name.startswith("jit("):
        name = name[4:-1]
    return Event(name, Type.OperatorInner, start, end, thread, COMPILE, where, stage)


def _is_traced() -> bool:
    """Whether the code that runs computes nothing now: it is traced, or recorded into a Program."""
    return not local.ctx.frame.eager


# phases of training -----------------------------------------------------------------------------------------


def _phase(
    inner: Callable[..., Any], add: Callable[..., Any], name: str, kind: TracerEventType
) -> Callable[..., Any]:
    def phase(*args: Any, **kwargs: Any) -> Any:
        if _is_traced():
            return inner(*args, **kwargs)
        start = _now()
        out = inner(*args, **kwargs)
        add((range_of, name, kind, start, _now(), _thread()))
        return out

    # Others look at the method as if nothing had been exchanged.
    phase.__name__ = inner.__name__
    phase.__doc__ = inner.__doc__
    phase.__wrapped__ = inner
    return phase


def _layer(inner: Callable[..., Any], add: Callable[..., Any]) -> Callable[..., Any]:
    forward = Type.Forward

    def __call__(self, *inputs: Any, **kwargs: Any) -> Tensor:
        if _is_traced():
            return inner(self, *inputs, **kwargs)
        start = _now()
        out = inner(self, *inputs, **kwargs)
        add((range_of, type(self).__name__, forward, start, _now(), _thread()))
        return out

    return __call__


def _batch(inner: Callable[..., Any]) -> Callable[..., Any]:
    def __next__(self) -> Tensor:
        start = _now()
        try:
            return inner(self)
        finally:
            end = _now()
            # `step_info` shows how long reading took, also where nothing is recorded.
            benchmark().read((end - start) * 1e-9)
            rows = Recording.rows
            if rows is not None:
                rows.add((range_of, "DataLoader", Type.Dataloader, start, end, _thread()))

    return __next__
