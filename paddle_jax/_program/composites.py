"""Composites as seen by a Recorder: what a run of one did, and composites that become one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.frame import Frame
from paddle_jax._core.execution.python_state import map_tensors, tensors_in
from paddle_jax._core.execution.trace import Trace
from paddle_jax._core.lazy.segment import FIRST_LIMIT, Segment
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import computed_array, held_value
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.operation import Operation


class NeedsRandomNumbers(Exception):  # noqa: N818  a message to the Recorder
    """A composite that runs as one operation draws random numbers and has none."""


class _DrawingTrace(Trace):
    """The run of a composite as one operation.

    Attributes:
        base: seed words and offset of its random numbers, or None.
    """

    def __init__(self, base: Sequence[jax.Array] | None) -> None:
        super().__init__()
        self.base = base

    def _base(self, generator: Any) -> tuple[Any, ...]:
        # Asked for without a base: `record_opaque` records the call again with the operands of a random op.
        if self.base is None:
            raise NeedsRandomNumbers
        # Draws of one call have different offsets, counted from where each generator stood.
        return *self.base, self.drawn.setdefault(generator, (self.base, None, generator._offset))[2]

    def undo_draws(self) -> int:
        """How many random numbers were drawn, which do not count as draws of the generators."""
        count = 0
        for generator, (*_, start) in self.drawn.items():
            count += generator._offset - start
            generator._offset = start
        return count


class OpaqueCall:
    """The function of a composite that is one operation: it runs the composite's code on arrays.

    Attributes:
        fn: the code.
        args, kwargs: the arguments of the call, in which arrays take the places of Tensors.
        public: the function that users call for it, or its code.
        written: list of the positions of operands that it changes in place; their new values come last.
        random: bool, whether the last two operands are those of a random op.
        draws: int, how many random numbers it takes.
        layout: what the code returned, with slots for Tensors.
        operand_stops: list of the stop_gradients of the operands.
        result_stops: list of the stop_gradients of the results.
        amp: the policy of mixed precision at the call, or None.
    """

    once = True  # one call has it alone, so nothing is kept for the next

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Any,
        kwargs: Any,
        tensors: Sequence[Tensor],
        written: list[int],
        random: bool,
        public: Callable[..., Any] | None = None,
    ) -> None:
        self.fn = fn
        self.args = args
        self.kwargs = kwargs
        self.public = public or fn
        # A new value of a changed operand is one more result.
        self.written = written
        self.random = random
        self.draws = 0
        self.layout: Any = None
        self.operand_stops = [t.stop_gradient for t in tensors]
        self.result_stops: list[bool] = []
        # The code runs when the program is compiled. Mixed precision and precision may be others then.
        self.amp = local.ctx.amp
        self.product_precision = local.ctx.product_precision

    def __call__(self, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        # A random op has two more operands, seed and number of the draw.
        base = arrays[-2:] if self.random else None
        tensors = [wrap(a, stop) for a, stop in zip(arrays, self.operand_stops, strict=False)]
        args, kwargs = self._arguments(tensors)
        trace = _DrawingTrace(base)
        # A Trace, so that the code's operations compute with JAX's tracers at once.
        with without_recording(self.amp, self.product_precision), trace:
            try:
                out = self.fn(*args, **kwargs)
            finally:
                self.draws = trace.undo_draws()
            # Kept for `rebuild`: the trace alone shows what the code returns.
            results = [*tensors_in(out), *[tensors[i] for i in self.written]]
            values = [computed_array(t) for t in results]
            self.result_stops = [t.stop_gradient for t in results]
            self.layout = map_tensors(out, lambda _: _Slot())
        return tuple(map(jnp.asarray, values))

    def _arguments(self, tensors: Sequence[Tensor]) -> Any:
        """The arguments of the call with other Tensors."""
        rest = iter(tensors)
        return map_tensors((self.args, self.kwargs), lambda _: next(rest))

    def on_tensors(self, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The results as Tensors, with their place on the tape."""
        args, kwargs = self._arguments(tensors)
        # `fn` is the code of an op, and works on arrays; users' Tensors go through the public function to
        # have a tape.
        out = self.public(*args, **kwargs)
        return tuple([*tensors_in(out), *[tensors[i] for i in self.written]])

    def rebuild(self, tensors: Sequence[Tensor]) -> Any:
        """What the function returned, with these Tensors."""
        rest = iter(tensors)
        return map_tensors(self.layout, lambda _: next(rest), _Slot)


class _Slot:
    """Stands for a Tensor in what a function returned."""


def without_recording(amp: Any = None, product_precision: Any = None) -> Any:
    """Inside the block operations run on traced arrays, or at once, and are not recorded.

    Args:
        amp: the policy of mixed precision that they were recorded in.
        product_precision: the precision of products that they were recorded in.
    """
    # No segment: pending operations would outlive the trace whose values they use.
    return swapped_attributes(
        local.ctx,
        frame=Frame().nest_in(local.ctx.frame),
        segment=None,
        amp=amp,
        product_precision=product_precision,
    )


def eager_mode() -> Any:
    """Inside the block operations run as in eager mode, in a segment of their own."""
    frame = Frame().nest_in(local.ctx.frame)
    deferring = settings.mode != "off" and frame.executor is None
    # A segment of its own: the one of the recording thread belongs to other code.
    if deferring:
        segment = Segment(min(FIRST_LIMIT, settings.max_ops))
    else:
        segment = None
    return swapped_attributes(local.ctx, frame=frame, segment=segment, amp=None)


class ProbeRun(NamedTuple):
    """What a composite did in a run under one probe of the unknown lengths.

    Attributes:
        result: what it returned.
        ops: list of the Operations it recorded.
        draws: int, how many random numbers it drew.
        changes: list of (Tensor, new value, ...) of Tensors that it changed in place.
    """

    result: Any
    ops: list[Operation]
    draws: int
    changes: list[tuple[Any, ...]]

    def is_same_as(self, other: ProbeRun) -> bool:
        """Whether both runs called the same kernels on the same operands."""
        if len(self.ops) != len(other.ops) or self.draws != other.draws:
            return False
        # The same Tensors must have been changed, in the same order.
        if [id(change[0]) for change in self.changes] != [id(change[0]) for change in other.changes]:
            return False
        twins = _SymbolTwins()
        if not all(map(twins.pair_operations, self.ops, other.ops)):
            return False
        if not _equal_layouts(self.result, other.result):
            return False
        # Layouts are equal, so Tensors come in the same order in both.
        values = zip(tensors_in(self.result), tensors_in(other.result), strict=True)
        pairs = [(held_value(x), held_value(y)) for x, y in values]
        pairs += [(x[1], y[1]) for x, y in zip(self.changes, other.changes, strict=True)]
        return all(twins.are_equal_values(a, b) for a, b in pairs)


class _SymbolTwins:
    """Which Symbols of two runs are the same."""

    def __init__(self) -> None:
        self._first_of: dict[Symbol, Symbol] = {}  # by Symbol of the second run

    def are_equal(self, a: Symbol, b: Symbol) -> bool:
        """Whether two Symbols stand for the same value."""
        if a is b or self._first_of.get(b) is a:
            return True
        # Results are equal only as results of equal operations, which `pair_operations` has entered.
        if a.kind != b.kind or a.kind not in ("constant", "random"):
            return False
        if a.kind == "random":
            return a.value == b.value
        return not _differ(a.value, b.value)

    def are_equal_values(self, a: Any, b: Any) -> bool:
        """As `are_equal` for what Tensors hold."""
        if type(a) is not type(b):
            return False
        if type(a) is Symbol:
            return self.are_equal(a, b)
        return not _differ(a, b)

    # A kernel is one object for each op and its attributes: an attribute made of a length gives another
    # one.
    def pair_operations(self, a: Operation, b: Operation) -> bool:
        """Whether two operations are the same; then their results are taken to be."""
        if a.kernel is not b.kernel or a.stops != b.stops:
            return False
        if not all(map(self.are_equal, a.inputs, b.inputs)):
            return False
        self._first_of.update(zip(b.outputs, a.outputs, strict=True))
        return True


def _equal_layouts(one: Any, other: Any) -> bool:
    """Whether two results are equal apart from their Tensors."""
    first, second = (map_tensors(result, lambda _: None) for result in (one, other))
    try:
        return bool(first == second)
    except Exception:  # what cannot be compared differs
        return False


def _differ(a: Any, b: Any) -> bool:
    x = to_numpy(to_array(a))
    y = to_numpy(to_array(b))
    # As bytes: NaN equals NaN, and 0.0 is not -0.0.
    return x.shape != y.shape or x.dtype != y.dtype or x.tobytes() != y.tobytes()


__all__ = ["NeedsRandomNumbers", "OpaqueCall", "ProbeRun", "eager_mode", "without_recording"]
