"""From a recording to a PIR program and its parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.lazy.lengths import Length, has_lengths, is_length
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import unwrap
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.length_constants import Filled, Ramp, flat_numbers
from paddle_jax._program.merged_recordings import Recording, Step
from paddle_jax.framework.model_files import (  # noqa: F401  they register rules
    decompositions,
    gradient_blocks,
    gradient_complex_rules,
    gradient_expressions,
    gradient_index_rules,
    gradient_layer_rules,
    gradient_linalg_rules,
    gradient_sampling_rules,
    gradient_window_rules,
)
from paddle_jax.framework.model_files.builder import Builder, Value, has_gradient
from paddle_jax.framework.model_files.writing import apply

Kind = tuple[str, list]  # (dtype, shape) of a value


def write(recording: Recording, names: Sequence[str]) -> tuple[bytes, dict[str, np.ndarray], list[str]]:
    """(JSON bytes, {name: array}, names of operations that are not Paddle's) of a recording.

    Args:
        recording: see _program/export_trace.py.
        names: names of the inputs.
    Raises:
        NotWritable: an operation has no form in PIR.
    """
    w = Builder()
    values: dict[Symbol, Value] = {}
    for symbol, name, stop in zip(recording.inputs, names, recording.input_stops, strict=True):
        values[symbol] = w.data(name, symbol.dtype.name, recording.shapes[symbol], stop)
    writer = _BlockWriter(w, recording, values)
    with writer.resolving():
        writer.write_steps(recording.steps)
        outputs = zip(recording.outputs, recording.output_stops, strict=True)
        for index, (symbol, stop) in enumerate(outputs):
            w.fetch(writer.stopped_operand(symbol, stop), index)
    return w.document(), w.arrays, sorted(w.extension_names)


class _BlockWriter:
    """Writes the steps of the program, or of a block of it.

    Attributes:
        w: Builder.
        recording: Recording.
        values: dict from Symbols to their Values in this block.
    """

    def __init__(self, w: Builder, recording: Recording, values: dict[Symbol, Value]) -> None:
        self.w = w
        self.recording = recording
        self.values = values

    def inner(self, symbols: Sequence[Symbol] = (), values: Sequence[Value] = ()) -> _BlockWriter:
        """The writer of a block inside this one, whose inputs have these Values."""
        known = self.values | dict(zip(symbols, values, strict=True))
        return _BlockWriter(self.w, self.recording, known)

    @contextlib.contextmanager
    def resolving(self) -> Iterator[None]:
        """In the block leaves of expressions are the Values of this writer. What is cached for a block stays
        there."""
        w = self.w
        resolve_before = w.resolve
        likely_before = w.likely
        # A block may use what was made before it, and nothing outside may use what it has made.
        cache_before = dict(w.cache)
        w.resolve = self._resolve
        w.likely = self._likely
        try:
            yield
        finally:
            w.resolve = resolve_before
            w.likely = likely_before
            w.cache = cache_before

    def _is_known(self, symbol: Symbol) -> bool:
        return symbol in self.values or symbol in self.recording.tensors

    def _resolve(self, number: int) -> Value:
        """The Value of a numbered Symbol."""
        symbol = self.recording.numbered[number]
        if not self._is_known(symbol):
            # A length of a value that comes later: the expression cannot be written here.
            raise NotWritable("a length of a result that is not known before it is computed")
        return self.operand(symbol)

    def _likely(self, number: int) -> Any:
        """Likely lengths of a numbered Symbol that has no Value yet, or None."""
        is_known = self._is_known(self.recording.numbered[number])
        if is_known:
            return None
        return self.recording.likely.get(number)

    # steps --------------------------------------------------------------------------------------------------

    def write_steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            try:
                self._write_step(step)
            except NotWritable as error:
                error.location = error.location or step.location
                raise

    def _write_step(self, step: Step) -> None:
        kinds = [(symbol.dtype.name, self.recording.shapes[symbol]) for symbol in step.outputs]
        if step.blocks:
            if step.name == "cond":
                write_blocks = self._write_cond
            else:
                write_blocks = self._write_while
            results = write_blocks(step, kinds)
        elif step.op is None:
            # One result without operands is an array that the code has made.
            if step.inputs or len(kinds) != 1:
                raise NotWritable(f"{step.name} is code of a composite operation, which has no form in PIR")
            results = [self._constant_of(step.kernel, kinds[0])]
        else:
            with self.w.stopping(self._is_stopping(step)):
                results = apply(self.w, step.op, step.attrs, self._operands(step), kinds)
        for symbol, value in zip(step.outputs, results, strict=False):
            self.values[symbol] = value

    def _is_stopping(self, step: Step) -> bool:
        """Whether gradients end at all operands of a step, and reach some of them."""
        return all(step.stops) and any(map(self._is_flowing, step.inputs))

    def _is_flowing(self, symbol: Symbol) -> bool:
        """Whether gradients of parameters and inputs flow into an operand."""
        if symbol in self.values:
            return self.values[symbol].number in self.w.flowing
        # A parameter that is written on first use. The numbers of draws are no constants.
        constant = self.recording.tensors.get(symbol)
        return isinstance(constant, Tensor) and constant.persistable and not constant.stop_gradient

    def _flag(self, value: Value) -> Any:
        """A condition as a 0-D tensor."""
        if value.shape == []:
            return value
        return self.w.op("reshape", [value, self.w.ints([])], ("bool", []))

    def _block_results(self, symbols: Sequence[Symbol], kinds: Sequence[Kind]) -> list[Value]:
        """The results of a block in the types the operation gives. What is not made in the block is copied:
        Paddle computes in place on results."""
        w = self.w
        values = [self.operand(symbol) for symbol in symbols]
        block_numbers = {out["%"] for op in w.ops for out in op["O"]}
        results: list[Value] = []
        for value, (dtype, _) in zip(values, kinds, strict=True):
            if value.dtype != dtype:
                results.append(w.op("cast", [value], (dtype, value.shape), dtype=dtype))
            # Paddle may compute in place on a result, so each is a value of its own.
            elif value.number not in block_numbers or value in results:
                results.append(w.op("assign", [value], value.type))
            else:
                results.append(value)
        return results

    def _write_cond(self, step: Step, kinds: Sequence[Kind]) -> list[Value]:
        test = self._flag(self.operand(step.inputs[0]))
        regions = []
        for _, steps, results in step.blocks:
            inner = self.inner()
            with self.w.block() as region, inner.resolving():
                inner.write_steps(steps)
                self.w.yields(inner._block_results(results, kinds))
            regions.append(region)
        return self.w.control_flow("if", [test], regions, kinds)

    def _write_while(self, step: Step, kinds: Sequence[Kind]) -> list[Value]:
        (test_inputs, test_steps, (answer,)), (body_inputs, body_steps, body_results) = step.blocks
        w = self.w
        state = [self.operand(symbol) for symbol in step.inputs[: len(test_inputs)]]
        # Copied: the loop writes into its variables.
        starts = [w.op("assign", [value], value.type) for value in state]

        def test_of(values: Sequence[Value]) -> Value:
            inner = self.inner(test_inputs, values)
            with inner.resolving():
                inner.write_steps(test_steps)
                return inner._flag(inner.operand(answer))

        # The test stands before the loop, and again at the end of the body: Paddle's `while` has a
        # condition as a value.
        first = test_of(starts)
        with w.block(kinds) as region:
            # A step may give a gradient to what has none at the start.
            w.flowing.update(one.number for one in region.args if has_gradient(one.dtype))
            inner = self.inner(body_inputs, region.args)
            with inner.resolving():
                inner.write_steps(body_steps)
                new = inner._block_results(body_results, kinds)
            w.yields([test_of(new), *new])
        return w.control_flow("while", [first, *starts], [region], kinds)

    def _constant_of(self, kernel: Any, kind: Kind) -> Any:
        """A kernel without operands: an array of one number, or known numbers."""
        dtype, shape = kind
        w = self.w
        array = np.asarray(kernel.fn())
        # No open length: the numbers are in the file.
        if not any(isinstance(n, Length) for n in shape):
            return w.constant(array)
        if array.size and (array == array.flat[0]).all():
            return w.op("full_with_tensor", [w.full(array.flat[0], dtype), w.ints(shape)], kind, dtype=dtype)
        raise NotWritable(f"{kernel.name} makes numbers that depend on lengths of the inputs")

    # operands -----------------------------------------------------------------------------------------------

    def _operands(self, step: Step) -> list[Any]:
        """The operands of an op: Values, lists of Values, and None."""
        rest = iter(zip(step.inputs, step.stops, strict=True))
        operands: list[Any] = []
        # As in `declaration`: -1 is None, -2 one operand, a number that many in a list.
        for name, count in zip(step.op.tensors, step.layout, strict=True):
            if count == -1:
                operands.append(None)
            elif count == -2:
                symbol, stop = next(rest)
                # Of `starts` the numbers are wanted, which may be attributes.
                if name == "starts":
                    operands.append(self._numbers_or_value(symbol))
                else:
                    operands.append(self.stopped_operand(symbol, stop))
            else:
                operands.append([self.stopped_operand(*next(rest)) for _ in range(count)])
        return operands

    def stopped_operand(self, symbol: Symbol, stop: bool) -> Value:
        """The Value of an operand. stop: whether gradients end there, as after `detach`."""
        value = self.operand(symbol)
        # An operation whose results all stop needs no copy.
        if stop and value.number in self.w.flowing and not self.w.is_stopping:
            return self.w.detached(value)
        return value

    def _numbers_or_value(self, symbol: Symbol) -> Any:
        """The numbers of a constant; of another operand its Value."""
        if symbol not in self.recording.tensors:
            return self.operand(symbol)
        constant = self.recording.tensors[symbol]
        if has_lengths(constant):
            return flat_numbers(constant)
        return np.asarray(_array(constant)).ravel().tolist()

    def operand(self, symbol: Symbol) -> Value:
        """The Value of a Symbol; that of a constant is made on first use."""
        value = self.values.get(symbol)
        # On first use, and in the block that uses it.
        if value is None:
            value = self._constant(symbol)
            self.values[symbol] = value
        return value

    def _constant(self, symbol: Symbol) -> Any:
        constant = self.recording.tensors[symbol]
        kind = (symbol.dtype.name, self.recording.shapes[symbol])
        w = self.w
        if isinstance(constant, list | tuple) or is_length(constant):
            return self._numbers(constant, kind)
        if isinstance(constant, Filled):
            operands = [w.number(constant.number, kind[0], (1,)), w.ints(constant.shape)]
            return w.op("full_with_tensor", operands, kind, dtype=kind[0])
        if isinstance(constant, Ramp):
            return self._ramp(constant, kind)
        # A Parameter or buffer is stored by its name. Once, so that shared ones stay shared.
        if isinstance(constant, Tensor) and (constant.persistable or id(constant) in self.recording.stored):
            if id(constant) not in w.stored:
                value = w.parameter(constant.name, _array(constant), not constant.stop_gradient)
                w.stored[id(constant)] = constant, value
            return w.stored[id(constant)][1]
        return w.constant(_array(constant))

    def _numbers(self, numbers: Any, kind: Kind) -> Any:
        """A tensor of numbers of which some depend on lengths."""
        w = self.w
        dtype, shape = kind
        items = [w.number(n, dtype) for n in flat_numbers(numbers)]
        if not shape:
            return items[0]
        vector = w.op("stack", [w.combine(items)], (dtype, [len(items)]), axis=0)
        if len(shape) > 1:
            return w.op("reshape", [vector, w.ints(shape)], kind)
        return vector

    def _ramp(self, ramp: Ramp, kind: Kind) -> Any:
        """start, start + step, ...: counted from 0, then scaled."""
        w = self.w
        length = ramp.shape[0]
        zero = w.full(0, "int64", ())
        one = w.full(1, "int64", ())
        # Counted as int64, which every number of rows fits in.
        count = w.op("arange", [zero, w.length(length), one], ("int64", [length]), dtype="int64")
        if kind[0] != "int64":
            count = w.op("cast", [count], kind, dtype=kind[0])
        if (ramp.start, ramp.step) == (0, 1):
            return count
        return w.op("scale", [count, w.full(ramp.step)], kind, bias=ramp.start)


def _array(constant: Any) -> np.ndarray:
    return to_numpy(to_array(unwrap(constant)))


__all__ = ["write"]
