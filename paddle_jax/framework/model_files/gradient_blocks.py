"""Gradients of branches and loops that are recorded for a file.

A branch runs again in a branch of its own, followed by what computes its gradients. A loop runs twice more:
once to count its steps, once to save the variables before each step. Then a loop goes back over the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import length_expressions as ex
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.tape.grad_mode import enable_grad
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.blocks import record_again
from paddle_jax._program.control_flow.cond import select
from paddle_jax._program.control_flow.while_loop import repeat
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.length_constants import Filled, Ramp
from paddle_jax._program.recorded_gradients import recorded_gradients
from paddle_jax._program.variable import variable
from paddle_jax.framework.model_files.builder_helpers import same_shape
from paddle_jax.framework.model_files.decompositions import OpaqueOp
from paddle_jax.framework.model_files.gradient_rules import RULES, Cotangents
from paddle_jax.framework.model_files.reading_helpers import P

if TYPE_CHECKING:
    from paddle_jax._core.lazy.symbol import Symbol
    from paddle_jax._program.control_flow.blocks import Block
    from paddle_jax._program.operation import Operation


class Replay:
    """Records the operations of a block once more, on other values.

    Attributes:
        recorder: the LengthRecorder.
        values: dict from Symbols to the Tensors that stand for them.
    """

    def __init__(self, values: dict[Symbol, Tensor]) -> None:
        self.recorder: Any = local.ctx.frame
        self.values = values

    def run(self, block: Block, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results of a block."""
        inner = Replay(self.values | dict(zip(block.inputs, inputs, strict=True)))
        with enable_grad():
            for op in block.ops:
                results = inner._record(op)
                many = results if isinstance(results, tuple | list) else [results]
                inner.values.update(zip(op.outputs, many, strict=True))
        return [inner.tensor(symbol) for symbol in block.results]

    def tensor(self, symbol: Symbol) -> Tensor:
        """What stands for a Symbol."""
        found = self.values.get(symbol)
        if found is not None:
            return found
        if symbol.kind == "constant" and not isinstance(symbol.value, Tensor):
            changed = self._constant(symbol)
            if changed is not None:
                return changed
        return variable(symbol, True, self.recorder.variable_class)

    def _constant(self, symbol: Symbol) -> Tensor | None:
        """A constant with its lengths replaced; None where it stays as it is."""
        value = symbol.value
        if isinstance(value, Filled):
            shape = [self._length(n) for n in value.shape]
            filled = self.recorder.filled(shape, self._length(value.number), symbol.dtype)
            return variable(filled, True, self.recorder.variable_class)
        if isinstance(value, Ramp) or not ls.has_lengths(value):
            return None
        return self.recorder.tensor_of(ls.mapped(value, self._length), symbol.dtype)

    def _record(self, op: Operation) -> Any:
        """Records an operation once more."""
        if isinstance(op.kernel.declaration and op.kernel.declaration[0].fn, OpaqueOp):
            raise NotWritable(f"paddle.grad through {op.name} inside a branch or loop cannot be saved")
        if any(symbol.kind == "random" for symbol in op.inputs):
            raise NotWritable("paddle.grad through a branch or loop with random numbers cannot be saved")
        operands = [self.tensor(symbol) for symbol in op.inputs]
        if hasattr(op.kernel.fn, "blocks"):
            return record_again(op, operands, self.run)
        symbols = [self.recorder.symbol(operand) for operand in operands]
        stops = [operand.stop_gradient for operand in operands]
        attrs = self.recorder.attributes.get(op)
        if attrs is None:
            return self.recorder.record(op.kernel, symbols, stops)
        declared, layout, _ = op.kernel.declaration
        changed = ls.mapped(tuple(attrs), self._length)
        first, second = (
            declared.kernel(layout, tuple([ls.substitute(one, which) for one in changed])) for which in (0, 1)
        )
        return self.recorder._record(first, second, changed, symbols, stops)

    def _length(self, value: Any) -> Any:
        """A number of the block, made of the lengths of what stands for its Symbols."""
        if not ls.is_length(value):
            return value
        return ls.number(value.pair, ex.rebuilt(value.node, self._leaf))

    def _leaf(self, leaf: tuple[Any, ...]) -> Any:
        kind, number, place = leaf
        stand_in = self.values.get(self.recorder.numbered[number])
        if stand_in is None:
            return leaf
        if kind == "dim":
            return ls.expression_of(stand_in.shape[place])
        if kind == "counter":
            place = tuple([ex.rebuilt(end, self._leaf) for end in place])
        return kind, self.recorder.number_of(held_value(stand_in)), place


def _is_smooth(symbol: Symbol) -> bool:
    return symbol.dtype.kind in INEXACT


def _copies(call: Any, symbols: Sequence[Symbol]) -> list[Tensor]:
    """Variables of Symbols from which gradients start to be followed."""
    return [variable(symbol, False, call.recorder.variable_class) for symbol in symbols]


def _gradients_or_zeros(
    call: Any, pairs: Sequence[tuple[Tensor, Tensor]], sources: Sequence[Tensor]
) -> list[Tensor]:
    """The gradients of results by sources, zeros where there are none. pairs: results, each with its
    gradient."""
    pairs = [(result, start) for result, start in pairs if not result.stop_gradient]
    results = [result for result, _ in pairs]
    starts = [in_shape_of(result, start) for result, start in pairs]
    found = recorded_gradients(results, sources, starts, call.create_graph, (), ends_at_inputs=True)
    return [P.zeros_like(one) if g is None else g for g, one in zip(found, sources, strict=True)]


def in_shape_of(result: Tensor, start: Tensor) -> Tensor:
    """A copy of a gradient, with the lengths that a result has inside its block."""
    if same_shape(result.shape, start.shape):
        return P.assign(start)
    return P.reshape(start, list(result.shape))


def _branch(call: Any, cotangents: Cotangents) -> Cotangents:
    """`cond`: a branch on the same condition gives the gradients."""
    op = call.operation
    yes, no = op.kernel.fn.blocks
    outside = [
        symbol
        for symbol, is_wanted in zip(op.inputs, call.wanted, strict=True)
        if is_wanted and _is_smooth(symbol)
    ]

    def side(block: Block) -> Callable[[], Any]:
        def gradients() -> tuple[Tensor, ...]:
            sources = _copies(call, outside)
            results = Replay(dict(zip(outside, sources, strict=True))).run(block, [])
            pairs = [(result, g) for result, g in zip(results, cotangents, strict=True) if g is not None]
            return tuple(_gradients_or_zeros(call, pairs, sources))

        return gradients

    if not outside:
        return [None] * len(op.inputs)
    found = select(call.operands[0], [side(no), side(yes)], explicit=True)
    by_symbol = dict(zip(outside, found, strict=True))
    return [by_symbol.get(symbol) for symbol in op.inputs]


class _Saved:
    """The values of a variable of a loop before each step, one row for each.

    Attributes:
        is_bool: bool, whether the rows hold numbers for answers.
        dtype: str, that of the variable.
    """

    def __init__(self, start: Tensor) -> None:
        self.dtype = numpy_dtype(start).name
        self.is_bool = self.dtype == "bool"

    def rows(self, start: Tensor, count: Tensor) -> Tensor:
        """Room for all rows."""
        row = self._stored(start).unsqueeze(0)
        return P.zeros_like(P.expand(row, [count, *([-1] * start.ndim)]))

    def _stored(self, value: Tensor) -> Tensor:
        return value.astype("int32") if self.is_bool else value

    def put(self, rows: Tensor, place: Tensor, value: Tensor) -> Tensor:
        """The rows with one of them set."""
        return P.scatter(rows, P.reshape(place, [1]), P.unsqueeze(self._stored(value), 0))

    def get(self, rows: Tensor, place: Tensor) -> Tensor:
        """One of the rows."""
        row = P.squeeze(P.gather(rows, P.reshape(place, [1]), 0), 0)
        return row.astype("bool") if self.is_bool else row


def _loop(call: Any, cotangents: Cotangents) -> Cotangents:
    """`while`: the steps in reverse order, each with the values that it started from."""
    op = call.operation
    test, step = op.kernel.fn.blocks
    count = len(step.inputs)
    starts = call.operands[:count]
    is_smooth = [_is_smooth(symbol) for symbol in op.inputs[:count]]
    outside = [
        symbol
        for symbol, is_wanted in zip(op.inputs[count:], call.wanted[count:], strict=True)
        if is_wanted and _is_smooth(symbol)
    ]
    replay = Replay({})

    def goes_on(values: Sequence[Tensor]) -> Tensor:
        return replay.run(test, values[:count])[0]

    def counted(values: Sequence[Tensor], _: Any) -> list[Tensor]:
        return [*replay.run(step, values[:count]), values[count] + 1]

    zero = P.zeros([], "int64")
    steps = _repeated(goes_on, counted, [*starts, zero])[count]
    saved = [_Saved(start) for start in starts]

    def saved_step(values: Sequence[Tensor], _: Any) -> list[Tensor]:
        state = values[:count]
        rows = [
            one.put(room, values[count], value)
            for one, room, value in zip(saved, values[count + 1 :], state, strict=True)
        ]
        return [*replay.run(step, state), values[count] + 1, *rows]

    room = [one.rows(start, steps) for one, start in zip(saved, starts, strict=True)]
    rows = _repeated(goes_on, saved_step, [*starts, zero, *room])[count + 1 :]

    def back(values: Sequence[Tensor], _: Any) -> list[Tensor]:
        place, *sums = values
        after, of_outside = sums[: sum(is_smooth)], sums[sum(is_smooth) :]
        state = [one.get(row, place) for one, row in zip(saved, rows, strict=True)]
        for value, smooth in zip(state, is_smooth, strict=True):
            value.stop_gradient = not smooth
        copies = _copies(call, outside)
        results = Replay(dict(zip(outside, copies, strict=True))).run(step, state)
        ends = [result for result, smooth in zip(results, is_smooth, strict=True) if smooth]
        sources = [value for value, smooth in zip(state, is_smooth, strict=True) if smooth]
        found = _gradients_or_zeros(call, list(zip(ends, after, strict=True)), [*sources, *copies])
        into_outside = [total + more for total, more in zip(of_outside, found[len(sources) :], strict=True)]
        return [place - 1, *found[: len(sources)], *into_outside]

    first = [
        P.zeros_like(result) if g is None else g
        for result, g, smooth in zip(call.results, cotangents, is_smooth, strict=True)
        if smooth
    ]
    sums = [P.zeros_like(one) for one in _copies(call, outside)]
    last = _repeated(lambda values: values[0] >= 0, back, [steps - 1, *first, *sums])[1:]
    of_starts = iter(last)
    found: Cotangents = [next(of_starts) if smooth else None for smooth in is_smooth]
    by_symbol = dict(zip(outside, of_starts, strict=True))
    return [*found, *[by_symbol.get(symbol) for symbol in op.inputs[count:]]]


def _repeated(test: Callable[..., Any], body: Callable[..., Any], values: Sequence[Tensor]) -> list[Any]:
    names = [f"variable {k}" for k in range(len(values))]
    return repeat(test, body, values, names, explicit=True)


RULES["cond"] = _branch
RULES["while"] = _loop

__all__ = ["Replay", "in_shape_of"]
