"""A recorder in which lengths that are not known are Lengths, numbers with an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.python_state import map_tensors, tensors_in
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.length_expressions import leaves_of
from paddle_jax._core.lazy.symbol import Symbol, SymbolError
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.ops.op import Op, freeze
from paddle_jax._core.tensors.held_values import (
    computed_array,
    element_count,
    held_value,
    holds_symbol,
    plain_shape,
    unwrap,
)
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.composites import without_recording
from paddle_jax._program.export_errors import NeedsConversion, NotWritable
from paddle_jax._program.export_rules import ExportRules
from paddle_jax._program.fitting_lengths import allowed_operands, fitting_operands, joined_length
from paddle_jax._program.length_constants import Filled, Ramp
from paddle_jax._program.program import Program
from paddle_jax._program.recorded_gradients import recorded_gradients
from paddle_jax._program.recorder import Recorder
from paddle_jax._program.shape_inference import Inferred, varying_results
from paddle_jax._program.symbolic_shapes import Call, equal_ones, results_of_both
from paddle_jax._program.variable import Variable, variable
from paddle_jax.tensor.joining import stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddle_jax._core.kernels.kernel import Kernel

_SMALL = 64  # elements up to which operations on constants are carried out while recording
_HINTS = ((5, 8), (7, 11), (6, 9), (3, 4))  # lengths that depend on values, in one recording


class KnownVariable(Variable):
    """A Variable whose lengths can be computed with."""

    @property
    def shape(self) -> ls.OpenSize:
        """The lengths of the axes, Lengths for those that are not fixed."""
        return ls.OpenSize(plain_shape(self))

    @property
    def size(self) -> Any:
        # A Length times a number is an expression, so the count keeps its link to the axes.
        """The number of elements."""
        shape = self.shape
        if ls.has_lengths(shape):
            return shape.numel()
        return Tensor.size.__get__(self)

    def __iter__(self) -> Iterator[Any]:
        # Code that runs for the known number of rows would be right for that number alone. The caller is
        # refused, or converted to a loop in the file.
        if self.ndim and ls.is_length(self.shape[0]):
            ls.check_caller()  # converted code loops over the rows in the file
        return Tensor.__iter__(self)

    def __len__(self) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] a Variable has none
        if self.ndim and ls.is_length(self.shape[0]):
            ls.check_caller()
        return Tensor.__len__(self)


class LengthRecorder(Recorder):
    """A recorder in which unknown lengths are Lengths.

    Attributes:
        converted: bool, whether control flow is converted.
        locations: dict from each Operation to the line of the user's code.
        refusal: exception that says why the code cannot be recorded, though it may have caught that; or None.
        numbered: list of all Symbols, in the order in which they were made.
        numbers: dict from each Symbol to its position in that list.
        shapes: dict from each Symbol to its shape, with Lengths.
        seconds: dict from each Operation to its kernel for the second values of Lengths.
        attributes: dict from each Operation to its attributes with Lengths.
        values: dict from each Symbol of whole numbers to its two arrays, or None where they are not known.
        guesses: dict from each Symbol of sizes whose values are not known to two arrays that stand for them.
        likely: dict from the number of a Symbol to expressions of its lengths, which hold where axes of
            operands fit together.
        turn: int, how many recordings of the function were made before: values that are not known are taken
            to be others in each.
        has_guessed: bool, whether a length depends on values, for which two stand.
        varying: set of (number of a Symbol, axis) whose length varies; recordings of a function share it.
        implied: dict from expressions of answers to what is above zero where they hold, and where not.
        seen_values: dict from expressions to their two values. Code that asks for one sees the first.
    """

    single_steps = True  # a program inside the function is recorded operation by operation
    symbolic = True
    variable_class = KnownVariable

    def __init__(self, converted: bool, varying: set[tuple[int, int]], turn: int = 0) -> None:
        super().__init__(Program())
        self.probe = 0
        self.converted = converted
        self.locations = {}
        self.refusal = None
        self.numbered = []
        self.numbers = {}
        self.shapes = {}
        self.seconds = {}
        self.attributes = {}
        self.values = {}
        self.guesses = {}
        self.likely = {}
        self.varying = varying
        self.turn = turn
        self.has_guessed = False
        self.implied = {}
        self.seen_values = {}

    # lengths ------------------------------------------------------------------------------------------------

    def add_symbol(
        self, symbol: Symbol, shape: Sequence[Any] | None = None, doubtful: Iterable[Any] = ()
    ) -> Symbol:
        """Numbers a Symbol. shape: its lengths where they are known as Lengths, None for others. doubtful:
        lengths that may vary, though the two values are equal."""
        # Symbols are numbered in the order of the code. Another recording of the same code numbers them
        # alike, which is how expressions of two recordings are compared.
        number = len(self.numbered)
        self.numbered.append(symbol)
        self.numbers[symbol] = number
        lengths = []
        for axis, (one, other) in enumerate(zip(symbol.avals[0].shape, symbol.avals[1].shape, strict=True)):
            node = None if shape is None else shape[axis]
            if isinstance(node, tuple):
                lengths.append(ls.number((one, other), node))  # it may vary, though these two are equal
            # Equal under both assignments, and no earlier turn has shown otherwise: the length is fixed.
            elif one == other and (number, axis) not in self.varying and one not in doubtful:
                lengths.append(one)
            else:
                # A later recording starts with what this one has found to vary.
                self.varying.add((number, axis))
                lengths.append(ls.Length((one, other), ("dim", number, axis)))
        self.shapes[symbol] = tuple(lengths)
        return symbol

    def lengths_of(self, symbol: Symbol) -> tuple[Any, ...]:
        """The shape of a Symbol, with Lengths."""
        if symbol not in self.shapes:
            self.add_symbol(symbol)
        return self.shapes[symbol]

    def number_of(self, symbol: Symbol) -> int:
        """The number of a Symbol in expressions."""
        self.lengths_of(symbol)
        return self.numbers[symbol]

    def symbol_count(self) -> int:
        return len(self.numbered)

    def on_length_text(self, is_converted: bool) -> None:
        self.has_length_texts = True
        if not is_converted:
            error = NeedsConversion(
                "the code makes texts of lengths that are not known, and numbers; give these lengths as "
                "numbers in input_spec"
            )
            self.on_refusal(error)
            raise error

    def on_length(self, node: Any, pair: Any) -> None:
        self.seen_values[node] = pair

    def has_unknown(self, values: Any) -> bool:
        """Whether there are Lengths or Variables in nested arguments."""
        return ls.has_lengths(values) or self.has_variables(values)

    def numbers_of(self, tensor: Tensor) -> Any:
        """The elements of a small Tensor of numbers as Lengths, nested as it is."""
        # Constants have their values at hand: no operation is needed to read them.
        symbol = self.symbol(tensor)
        if symbol.kind == "constant" and isinstance(symbol.value, Tensor):
            return to_numpy(computed_array(symbol.value)).tolist()
        if symbol.kind == "constant" and ls.has_lengths(symbol.value):
            return symbol.value
        # Only a few numbers may be sizes or bounds. More are data, and data has no expression of lengths.
        if any(map(ls.is_length, self.lengths_of(symbol))) or symbol.avals[0].size > _SMALL:
            raise SymbolError("the value of a Variable")
        # Values follow from lengths alone, or two possible values stand for them while the code is
        # recorded.
        pairs = self._values_of(symbol)
        if pairs is None:
            pairs = self._guess(symbol)
        number = self.number_of(symbol)
        first, second = (np.asarray(one).ravel().tolist() for one in pairs)
        items = np.empty(len(first), object)
        for position, pair in enumerate(zip(first, second, strict=True)):
            items[position] = ls.number(pair, ("item", number, position))
        return items.reshape(symbol.avals[0].shape).tolist()

    def _guess(self, symbol: Symbol) -> Any:
        """Two values for a Tensor of sizes that is not known: what its operation gives for such values."""
        if symbol not in self.guesses:
            # None until it is computed, so that a guess which needs itself ends.
            self.guesses[symbol] = None
            guess = symbol.op and self._computed(symbol, self._guess_if_whole)
            if guess is None:
                guess = self._hints_of(symbol)
            self.guesses[symbol] = guess
        return self.guesses[symbol]

    def _guess_if_whole(self, symbol: Symbol) -> Any:
        # Sizes are whole numbers. A guess of floats would make up data.
        pairs = self._values_of(symbol)
        if pairs is None and symbol.dtype.kind in "iu" and max(a.size for a in symbol.avals) <= _SMALL:
            return self._guess(symbol)
        return pairs

    def _hints(self, number: int) -> tuple[int, int]:
        """The two values of a length that depends on values."""
        self.has_guessed = True
        # Other turns use other values, so that a length which only happened to be equal is found out.
        return _HINTS[(number + self.turn) % len(_HINTS)]

    def _count_hints(self, symbols: Sequence[Symbol]) -> tuple[int, int]:
        """The two values of a length that depends on the values of these operands."""
        # `masked_select` and `nonzero` of one mask count the same elements, and code joins what they give.
        mask = next((one for one in symbols if one.dtype.kind == "b"), None)
        if mask is None:
            return self._hints(len(self.numbered))
        return self._hints(self.number_of(mask))

    def _hints_of(self, symbol: Symbol) -> tuple[np.ndarray, np.ndarray]:
        """Values for a Tensor of sizes that nothing is known of."""
        shape = symbol.avals[0].shape
        kind = symbol.dtype.kind
        if kind not in "iuf":
            raise SymbolError("the value of a Variable")
        one, other = self._hints(self.number_of(symbol))
        return np.full(shape, one, symbol.dtype), np.full(shape, other, symbol.dtype)

    def _values_of(self, symbol: Symbol) -> Any:
        """The two arrays of a Symbol that depends on lengths and constants alone; else None."""
        if symbol not in self.values:
            # None until it is computed, so that a value which needs itself ends.
            self.values[symbol] = None
            self.values[symbol] = self._computed(symbol, self._values_of)
        return self.values[symbol]

    def _computed(self, symbol: Symbol, values_of: Callable[[Symbol], Any]) -> Any:
        """The two arrays of a Symbol, given a function that gives those of operands, or None."""
        if symbol.kind == "constant":
            return self._constant_values(symbol)
        op = symbol.op
        if op is None or symbol.dtype.kind not in "iubf" or max(a.size for a in symbol.avals) > _SMALL:
            return None
        # The shape is known even where the elements are not.
        if op.kernel.name in ("shape", "numel"):
            pair = [np.asarray(a.shape, np.int64) for a in op.inputs[0].avals]
            if op.kernel.name == "shape":
                return pair
            return [np.prod(one, dtype=np.int64) for one in pair]
        # Branches and loops would have to run as they do in the program.
        if hasattr(op.kernel.fn, "blocks") or not op.inputs:
            return None
        operands = [values_of(one) for one in op.inputs]
        if any(one is None for one in operands):
            return None
        position = op.outputs.index(symbol)
        results = []
        # An attribute with a Length has another kernel for each of the two values.
        for which, kernel in enumerate((op.kernel, self.seconds.get(op, op.kernel))):
            # The arrays are small and known, so they are computed at once, also inside of a trace.
            with without_recording(), jax.ensure_compile_time_eval():
                out = kernel.fn(*[jax.numpy.asarray(one[which]) for one in operands])
            results.append(np.asarray(op.results_of(out)[position]))
        return results

    def _constant_values(self, symbol: Symbol) -> list[np.ndarray] | None:
        value = symbol.value
        # These stand for arrays of any length, so there are no two small arrays to compute with.
        if isinstance(value, Filled | Ramp) or max(a.size for a in symbol.avals) > _SMALL:
            return None
        if ls.is_length(value) or isinstance(value, list):
            return [np.asarray(ls.substitute(value, which), symbol.dtype) for which in (0, 1)]
        array = to_numpy(to_array(unwrap(value)))
        return [array, array]

    def tensor_of(self, value: Any, dtype: Any = None) -> Tensor:
        """A Variable of a Length, or of nested lists with Lengths."""
        # Numbers and Tensors in one list, as in `paddle.full([x.shape[0], n])`: each becomes a Variable of
        # its own.
        if isinstance(value, list | tuple) and any(isinstance(t, Tensor) for t in tensors_in(value)):
            parts = []
            for item in value:
                if not isinstance(item, Tensor):
                    item = self.tensor_of(item, dtype)
                if dtype is not None:
                    item = item.astype(np.dtype(dtype).name)
                parts.append(item)
            return stack(parts)
        value = ls.listed(value)
        plain = np.asarray(ls.substitute(value, 0))
        if dtype is None:
            dtype = np.float64 if ls.is_numpy_float(value) else _default_dtype(plain)
        if not ls.has_lengths(value):
            return wrap(jax.numpy.asarray(plain, dtype))
        aval = aval_of(plain.shape, np.dtype(dtype))
        symbol = self.add_symbol(Symbol((aval, aval), "constant", self.program, value=value))
        return variable(symbol, True, self.variable_class)

    def condition_tensor(self, answer: Any) -> Tensor:
        """A Variable of a LengthBool."""
        return self.tensor_of(answer, np.bool_)

    def filled(self, shape: Sequence[Any], value: Any, dtype: Any) -> Symbol:
        """What an array of one value holds, of a shape with Lengths."""
        # One array for each of the two values of the Lengths.
        shape = self._possible(list(shape))
        first, second = [aval_of(ls.substitute(tuple(shape), which), np.dtype(dtype)) for which in (0, 1)]
        nodes = [ls.expression_of(n) if ls.is_length(n) else None for n in shape]
        if ls.is_length(value):
            number = value
        else:
            number = np.asarray(value).item()
        filled = Filled(number, np.dtype(dtype).name, list(shape))
        # The same object twice marks a shape without open lengths, see `Symbol.is_open`.
        if first == second:
            second = first
        return self.add_symbol(Symbol((first, second), "constant", self.program, value=filled), nodes)

    def _possible(self, sizes: Any) -> Any:
        """Nested sizes, in which Lengths with a negative value have the same expression and other values."""
        # `if n < 8: zeros([8 - n])` is recorded for an n of 97, too. The file computes the expression.
        others = self._other_sizes()
        return ls.mapped(sizes, lambda one: ls.raised(one, others))

    def _other_sizes(self) -> tuple[int, int]:
        """Values of a size whose own values are impossible."""
        return _HINTS[self.turn % len(_HINTS)]

    def filled_outside(self, shape: Sequence[Any], value: Any, dtype: Any) -> Tensor | None:
        """A Variable of one value, of a shape with Lengths; None where a length is not known before a loop in
        which the shape was found, or the Tensor has one element."""
        leaves = [leaf for n in shape if ls.is_length(n) for leaf in leaves_of(n.node)]
        symbols = [self.numbered[leaf[1]] for leaf in leaves]
        known = all(symbol.kind == "data" or symbol.op in self.ops for symbol in symbols)
        if not known or all(not ls.is_length(n) and n == 1 for n in shape):
            return None
        return variable(self.filled(shape, value, dtype), True, self.variable_class)

    # operations ---------------------------------------------------------------------------------------------

    def control_flow(self, args: Any, plain: Callable[[], Any], converted: Any) -> Any:
        return plain()

    def refuse_tape_use(self, name: str) -> None:
        # `paddle.grad` is recorded as operations; `backward` has no tape to walk.
        if name != "grad":
            super().refuse_tape_use(name)

    def recorded_gradients(
        self, outputs: Any, inputs: Any, starts: Any, create_graph: bool, cut: Any
    ) -> list[Any]:
        return recorded_gradients(outputs, inputs, starts, create_graph, cut)

    def constant_value(self, tensor: Tensor) -> np.ndarray | None:
        """The elements of a small constant of one value; None for others."""
        symbol = self.symbol(tensor)
        if symbol.kind != "constant":
            return None
        values = self._constant_values(symbol)
        if values is None or (values[0] != values[1]).any():
            return None
        return values[0]

    def custom_gradient(self, layer: Any, forward: Callable[..., Any], inputs: Any, taped: Any) -> Any:
        _, result = forward(inputs)  # model files have no derivatives
        return result

    def composite(self, op: Any, args: Any, kwargs: Any) -> Any:
        # Paddle has one operation for some composites. Recording that keeps the file readable for Paddle,
        # and small.
        rule = None
        if isinstance(op, Op) and self.has_variables((args, kwargs)):
            rule = ExportRules.composite_rule(op.record)
        if rule is None:
            results = None
        else:
            results = rule(self.add_opaque, *args, **kwargs)
        if results is None:
            return map_tensors(op.fn(*args, **kwargs), self.as_variable)
        return results

    def add_opaque(
        self, operation: Any, tensors: Sequence[Tensor], results: Sequence[Any], **settings: Any
    ) -> list[Any]:
        """Records an operation of Paddle.

        Args:
            operation: OpaqueOp.
            tensors: list of Tensors.
            results: list of (dtype, shape), None for lengths that depend on values.
            settings: what the rule for writing gets as attributes.
        Returns:
            List of Variables.
        """
        kernel, attrs = operation.call(tensors, settings)
        # Lengths that depend on values (as of `nonzero`) have no expression: two possible lengths stand for
        # them.
        symbols = [self.symbol(t) for t in tensors]
        hints = self._count_hints(symbols)
        pairs = []
        nodes = []
        for dtype, shape in results:
            both = [
                [hints[which] if n is None else ls.substitute(n, which) for n in shape] for which in (0, 1)
            ]
            first, second = (aval_of(tuple(one), dtypes.convert(dtype).np) for one in both)
            # The same object twice marks a shape without open lengths.
            pairs.append((first, first if first == second else second))
            nodes.append([None if n is None else ls.expression_of(n) for n in shape])
        variables = self.add(
            kernel,
            symbols,
            tuple([tensor.stop_gradient for tensor in tensors]),
            Inferred(list, pairs),
            [False] * len(pairs),
            nodes,
        )
        self.attributes[self.ops[-1]] = attrs
        return variables

    def as_variable(self, tensor: Tensor) -> Tensor:
        """A Variable for a result."""
        if holds_symbol(tensor) and not isinstance(tensor, Variable):
            return variable(held_value(tensor), tensor.stop_gradient, self.variable_class)
        return tensor

    def on_refusal(self, error: Exception) -> None:
        self.refusal = self.refusal or error

    # The code may catch the error and go on. The refusal is raised at the end all the same, because what
    # follows was recorded for one case.
    def loop(self, code: Any, steps: Any = 0) -> list[Any]:
        return [code, steps, ls.is_length(steps)]

    def capture_tensor(self, tensor: Tensor, name: str | None = None) -> Any:
        raw = held_value(tensor)
        aval = aval_of(raw.shape, raw.dtype)
        taken = self.program.captured
        # The constant holds the Tensor itself and not its array, so that a Parameter is written by its
        # name.
        symbol = self.add_symbol(Symbol((aval, aval), "constant", self.program, value=tensor))
        taken[id(tensor)] = tensor, raw, symbol
        return taken[id(tensor)]

    def block_input(self, avals: Any, stop_gradient: bool) -> Any:
        block_input = super().block_input(avals, stop_gradient)
        self.add_symbol(held_value(block_input))
        return block_input

    def call_with_lengths(self, op: Any, operands: Any, attrs: Any) -> Any:
        """Calls an op whose attributes hold Lengths or Variables."""
        attrs = tuple(map(freeze, attrs))
        position = self.position()
        try:
            return self._call_with_lengths(op, operands, attrs)
        except (ValueError, TypeError):
            # A negative size; other attributes may be negative.
            if all(min(one.pair) >= 0 for one in ls.lengths_in(attrs)):
                raise
            self.roll_back(position)
            return self._call_with_lengths(op, operands, self._possible(attrs))

    def _call_with_lengths(self, op: Any, operands: Any, attrs: tuple[Any, ...]) -> Any:
        flat, layout = op._flatten(operands)
        amp = local.ctx.amp
        if amp is not None:
            flat = amp(op, flat, attrs)
        # One kernel for each of the two values of the Lengths in its attributes.
        first, second = (
            op.kernel(layout, tuple([ls.substitute(a, which) for a in attrs])) for which in (0, 1)
        )
        # Paddle has no single operation for it, or computes it by others: a file has these.
        results = self._decomposed(first, attrs, flat)
        if results is not None:
            return results
        if op.random:
            flat = [*flat, *map(wrap, default_generator().draw())]
        symbols = [self.symbol(t) for t in flat]
        return self._record(first, second, attrs, symbols, [t.stop_gradient for t in flat])

    def call(self, kernel: Kernel, tensors: Sequence[Tensor]) -> Any:
        """Records a call. What is known from small constants stays known."""
        held = [held_value(t) for t in tensors]
        # A Parameter or buffer is persistable. It may be small and is still no constant: the file stores it
        # by its name.
        if held and not any(
            type(raw) is Symbol or t.persistable or raw.size > _SMALL
            for raw, t in zip(held, tensors, strict=True)
        ):
            # Computed now: the code may take the result for a size, which has no value in a recording.
            with without_recording():
                results = run(kernel, tensors)
            # A small operand may give a large result, such as a table of positions; that is recorded as an
            # operation.
            if all(element_count(t) <= _SMALL for t in tensors_in(results)):
                return results
        if kernel.declaration is None:
            results = None
        else:
            results = self._decomposed(kernel, kernel.declaration[2], tensors)
        if results is None:
            return super().call(kernel, tensors)
        return results

    def _decomposed(self, kernel: Kernel, attrs: Any, tensors: Sequence[Tensor]) -> Any:
        """The results of a call that Paddle computes by other functions; None of other calls."""
        decomposed = ExportRules.decomposition(kernel, attrs, tensors)
        if decomposed is None:
            return None
        position = self.position()
        # The operands are cast already.
        with self.separate_changes(keep=True), swapped_attributes(local.ctx, amp=None):
            results = decomposed()
            if results is None:
                self.roll_back(position)
        return results

    def record(self, kernel: Kernel, symbols: Sequence[Symbol], stops: Sequence[bool]) -> Any:
        return self._record(kernel, kernel, None, symbols, stops)

    def _record(
        self, first: Kernel, second: Kernel, attrs: Any, symbols: Sequence[Symbol], stops: Sequence[bool]
    ) -> Any:
        """Adds an operation. first, second: its kernels for both values of the Lengths in attrs."""
        call = self._call_of(first, attrs, symbols)
        many, outs, others = self._results(first, second, symbols, call)
        # Expressions of lengths are found once per kind of call, see `symbolic_shapes`.
        if len(outs) != len(others) or any(a.ndim != b.ndim for a, b in zip(outs, others, strict=True)):
            raise NotWritable(f"{first.name}: its results have another number of axes for other lengths")
        inferred = Inferred(many, [(a, a) if a == b else (a, b) for a, b in zip(outs, others, strict=True)])
        shapes, likely = (None, None) if call is None else self._shapes(call, inferred)
        stops = tuple([bool(stop or first.constant_mask >> i & 1) for i, stop in enumerate(stops)])
        # Two values of a Length may be equal by chance, such as `min(n, 12)`: results with that length are
        # not fixed either.
        doubtful = () if attrs is None else ls.apparently_fixed(attrs)
        results = self.add(
            first, list(symbols), stops, inferred, [first.nondiff] * len(outs), shapes, doubtful
        )
        operation = self.ops[-1]
        for symbol, one in zip(operation.outputs, likely or (), strict=False):
            self.likely[self.numbers[symbol]] = one
        if second is not first:
            self.seconds[operation] = second
        if attrs is not None:
            self.attributes[operation] = attrs
        if inferred.many:
            return inferred.many(results)
        return results[0]

    def _call_of(self, kernel: Kernel, attrs: Any, symbols: Sequence[Symbol]) -> Any:
        """The Call; None where no length is open."""
        shapes = [self.lengths_of(s) for s in symbols]
        if not ls.has_lengths(shapes) and not ls.has_lengths(attrs):
            return None
        return Call(kernel, attrs, shapes, [s.dtype for s in symbols])

    def _results(self, first: Kernel, second: Kernel, symbols: Sequence[Symbol], call: Call | None) -> Any:
        """(tuple, list or None, avals for the first values of Lengths, avals for the second ones)."""
        # Shapes for the first and for the second values of the Lengths.
        operands = [tuple([s.avals[which] for s in symbols]) for which in (0, 1)]
        weak = tuple([one.weak for one in operands[0]])
        # `once` marks a kernel of one call alone. A note of it would never be found again.
        noted = None if getattr(first.fn, "once", False) else call
        cached = None if noted is None else noted.results(weak)
        if cached is not None:
            return cached
        try:
            many, outs, others = results_of_both(first, second, operands, noted)
        # The shape depends on values: samples show which lengths vary.
        except TracedValueError:
            return varying_results(first, symbols, self._count_hints(symbols))
        except (ValueError, TypeError):  # JAX raises either for shapes
            # Code of a branch that these lengths do not enter, or lengths that are equal at run time.
            shapes = [self.lengths_of(s) for s in symbols]
            others = allowed_operands(symbols, shapes) or fitting_operands(symbols, shapes)
            if others is None:
                raise
            return results_of_both(first, second, others, None)
        if noted is not None and len(outs) == len(others):
            noted.note(weak, many, outs, others)
        return many, outs, others

    def _shapes(self, call: Call, inferred: Inferred) -> Any:
        """For each result its lengths as expressions of those of the operands, None where they are not known;
        and likely ones for these, which hold where axes of operands fit together."""
        shapes = call.lengths(inferred.avals)
        if shapes is not None and all(n is not None for shape in shapes for n in shape):
            return shapes, None
        # What JAX cannot say is tried again with lengths of equal values taken for the same one, as where
        # two inputs are added.
        alike = Call(call.kernel, call.attrs, call.shapes, call.dtypes, by_value=True)
        likely = alike.lengths(inferred.avals)
        if likely is None:
            likely = equal_ones(inferred, [call.shapes, call.attrs or ()])
        return shapes, likely

    def add(
        self,
        kernel: Kernel,
        symbols: list[Symbol],
        stops: tuple[bool, ...],
        inferred: Inferred,
        result_stops: Sequence[bool],
        shapes: Any = None,
        doubtful: Iterable[Any] = (),
    ) -> list[Any]:
        """Adds an operation whose results are known."""
        if not local.ctx.grad:  # so that a file says where gradients end
            stops = (True,) * len(symbols)
        results = super().add(kernel, symbols, stops, inferred, result_stops)
        operation = self.ops[-1]
        if kernel.name == "cond":
            shapes = [self._common_lengths(kernel.fn, place) for place in range(len(operation.outputs))]
        for position, symbol in enumerate(operation.outputs):
            # A result of a branch varies if it varies in one of the blocks, though both values may be equal
            # here.
            blocks = getattr(kernel.fn, "blocks", None)
            if blocks is not None:
                doubtful = self._doubtful(blocks, position)
            self.add_symbol(symbol, None if shapes is None else shapes[position], doubtful)
        self.locations[operation] = user_line()
        return results

    def _common_lengths(self, branching: Any, place: int) -> list[Any] | None:
        """The lengths of a result of a branch as expressions, where both blocks give the same ones that are
        known outside; None for others."""
        yes, no = [self.lengths_of(block.results[place]) for block in branching.blocks]
        if len(yes) != len(no):
            return None
        inside = {symbol for block in branching.blocks for op in block.ops for symbol in op.outputs}
        found: list[Any] = []
        for one, other in zip(yes, no, strict=True):
            node = ls.expression_of(one)
            is_known = ls.is_length(one) and node == ls.expression_of(other)
            if is_known and all(self.numbered[leaf[1]] not in inside for leaf in leaves_of(node)):
                found.append(node)
            else:
                found.append(None)
        return found

    def _doubtful(self, blocks: Any, position: int) -> Any:
        """Lengths of a result of a branch or loop that vary in a block, though their values are equal."""
        last_symbols = [block.results[position] for block in blocks if position < len(block.results)]
        return ls.apparently_fixed([self.lengths_of(end) for end in last_symbols])

    # branches and loops -------------------------------------------------------------------------------------

    def condition_values(self, tensor: Tensor) -> Any:
        """The two answers to a condition, as far as they are known; else True and False."""
        # Unknown: both branches are recorded, and either may be taken.
        pairs = self._values_of(self.symbol(tensor))
        if pairs is None:
            return (True, False)
        return tuple([bool(np.all(one)) for one in pairs])

    def joined_avals(self, pairs: Any) -> Any:
        common = pairs[0]
        for pair in pairs[1:]:
            common = common and self._joined(common, pair)
        return common

    def branch_avals(self, index: Any, yes: Any, no: Any) -> Any:
        return self._joined(yes, no, self.condition_values(index))

    def _joined(self, yes: Any, no: Any, answers: Any = (True, False)) -> Any:
        """The avals of a result that has these avals in the branches; None where they do not fit."""
        if yes[0].dtype != no[0].dtype or yes[0].ndim != no[0].ndim:
            return None
        shapes = [[], []]
        for axis in range(yes[0].ndim):
            # Per axis: a length in which the branches differ varies.
            first, second = joined_length([a.shape[axis] for a in yes], [a.shape[axis] for a in no], answers)
            shapes[0].append(first)
            shapes[1].append(second)
        pair = tuple([aval_of(tuple(shape), yes[0].dtype) for shape in shapes])
        if pair[0] != pair[1]:
            return pair
        return (pair[0], pair[0])

    def widened_avals(self, before: Any, after: Any, lengths: Sequence[Any]) -> Any:
        """The avals of what a loop carries: lengths that a step changes vary. lengths: those after a step."""
        if before[0].dtype != after[0].dtype or before[0].ndim != after[0].ndim:
            return None
        shapes = [list(before[0].shape), list(before[1].shape)]
        for axis in range(before[0].ndim):
            # An axis that varies already stays as it is. One that a step changes gets its new length as the
            # second value.
            if before[0].shape[axis] == before[1].shape[axis]:
                # A length that varies may have two equal values, such as that of the last piece.
                others = [a.shape[axis] + ls.is_length(lengths[axis]) for a in after]
                changed = [n for n in others if n != shapes[0][axis]]
                if changed:
                    shapes[1][axis] = changed[-1]
        pair = tuple([aval_of(tuple(shape), before[0].dtype) for shape in shapes])
        if pair == tuple(before):
            return before
        return pair

    def number_from(self, tensor: Tensor, yes: Any, no: Any, answers: Any = (True, False)) -> Any:
        """The Length that a Variable without axes stands for, which was a number before. yes, no: that number
        in both branches, or before and after a step."""
        symbol = self.symbol(tensor)
        # The dtype of the Variable decides the kind of number: code tests `type(n) is int`.
        pair = joined_length(ls.values_of(yes), ls.values_of(no), answers)
        if symbol.dtype.kind == "b":
            kind = bool
        elif symbol.dtype.kind == "f":
            kind = float
        else:
            kind = int
        first, second = map(kind, pair)
        if self.turn > 1 and kind is not bool:  # what takes the plain number is found out by that
            first += self.turn
            second += self.turn
        return ls.number((first, second), ("item", self.number_of(symbol), 0))


def _default_dtype(array: np.ndarray) -> Any:
    if array.dtype.kind == "f":
        return dtypes.default().np
    return array.dtype


__all__ = ["KnownVariable", "LengthRecorder"]
