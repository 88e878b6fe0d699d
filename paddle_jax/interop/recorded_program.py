"""Running a recording on JAX's arrays with symbolic dimensions, for `jax.export`.

A branch or loop of the recording becomes one of StableHLO. Where a condition on lengths chooses between
results of two shapes, the lengths of the result are expressions of that condition. Each branch brings its
result to that shape, which changes nothing in the branch that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.length_constants import Filled, Ramp, flat_numbers
from paddle_jax.interop.recorded_loops import Loop
from paddle_jax.interop.symbolic_numbers import (
    Number,
    as_array,
    evaluate,
    is_dim,
    is_exact,
    positive,
    selected,
    steps_between,
)

if TYPE_CHECKING:
    from paddle_jax._core.lazy.symbol import Symbol
    from paddle_jax._program.merged_recordings import Recording, Step


# operations that give elements of their operands, and those that compute with whole numbers
_MOVES = {"take_index", "reshape", "squeeze", "unsqueeze", "flatten", "concat", "stack", "cast", "clone"}
_OPERATIONS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "maximum": "max",
    "minimum": "min",
    "equal": "eq",
    "not_equal": "ne",
    "less_than": "lt",
    "less_equal": "le",
    "greater_than": "gt",
    "greater_equal": "ge",
}
_LONGEST = 150  # text of a length of a result of a branch; JAX takes minutes to compare longer ones


def run_recording(
    recording: Recording, parameters: dict[int, jax.Array], inputs: Sequence[jax.Array]
) -> list[jax.Array]:
    """The results of a recording.

    Args:
        recording: Recording.
        parameters: dict from ids of Tensors to the arrays that stand for them.
        inputs: arrays of its inputs.
    Raises:
        NotWritable: a part of it has no form in StableHLO.
    """
    block = Block(recording, parameters, dict(zip(recording.inputs, inputs, strict=True)), {})
    block.run(recording.steps)
    return [block.array(symbol) for symbol in recording.outputs]


class Block:
    """Runs the steps of a recording, or of a block in it.

    Attributes:
        recording: Recording.
        parameters: dict from ids of Tensors to arrays.
        values: dict from Symbols to arrays.
        numbers: dict from Symbols to lists of their elements, exact numbers where these are known.
    """

    def __init__(
        self,
        recording: Recording,
        parameters: dict[int, jax.Array],
        values: dict[Symbol, jax.Array],
        numbers: dict[Symbol, list[Number]],
    ) -> None:
        self.recording = recording
        self.parameters = parameters
        self.values = values
        self.numbers = numbers

    def inner(self) -> Block:
        """A block inside this one."""
        # Copies: what a branch computes is not known outside of it.
        return Block(self.recording, self.parameters, dict(self.values), dict(self.numbers))

    def run(self, steps: Sequence[Step]) -> None:
        for step in steps:
            try:
                results = self._results(step)
            except NotWritable as error:
                # The innermost step is the one at fault.
                error.location = error.location or step.location
                raise
            except Exception as error:  # as many as there are uses of a length that is not fixed
                text = f"{step.name} does not take these lengths: {error}"
                raise NotWritable(text, step.location) from error
            for symbol, array in zip(step.outputs, results, strict=False):
                self.values[symbol] = array

    def _results(self, step: Step) -> Sequence[jax.Array]:
        # `linalg.cond` has the name of a branch, but no blocks
        if step.blocks and step.name == "cond":
            return self._branch(step)
        if step.blocks:
            return self._loop(step)
        if step.op is None:
            return [self._without_operands(step)]
        if step.op.random:
            raise NotWritable(f"{step.name} draws random numbers, which a StableHLO file cannot do")
        operands = [self.array(symbol) for symbol in step.inputs]
        if step.name == "unknown_arange":
            return [self._arange(step)]
        found = self._kernel(step).fn(*operands)
        arrays = [found]
        if isinstance(found, tuple | list):
            arrays = found
        self._note_numbers(step, operands)
        # Symbolic dimensions may have made other integers of a result than numbers did.
        return [array.astype(symbol.dtype) for array, symbol in zip(arrays, step.outputs, strict=False)]

    def _kernel(self, step: Step) -> Kernel:
        """The kernel of a step, with symbolic dimensions among its attributes."""
        attributes = tuple([step.attrs[name] for name in step.op.attrs])
        if not ls.has_lengths(attributes):
            return step.kernel
        opened = ls.mapped(attributes, self._opened)
        return Kernel(step.name, step.op._bind(step.layout, opened))

    def _arange(self, step: Step) -> jax.Array:
        """Numbers at equal distances, as many as an expression says."""
        start, end, distance = (self.number(step.attrs[name]) for name in ("start", "end", "step"))
        count = steps_between(start, end, distance)
        if count is None:
            raise NotWritable("arange: how many numbers there are depends on values")
        dtype = step.outputs[0].dtype
        place = jnp.arange(count)
        if dtype.kind != "f":
            return (as_array(start) + as_array(distance) * place).astype(dtype)
        # In the dtype of the result, as the operation computes when lengths are known.
        numbers = as_array(start).astype(dtype) + as_array(distance).astype(dtype) * place.astype(dtype)
        return numbers.astype(dtype)

    def _opened(self, value: Any) -> Any:
        found = self.number(value)
        if is_dim(found):
            return found
        return as_array(found)

    def _note_numbers(self, step: Step, operands: Sequence[jax.Array]) -> None:
        """Keeps lengths that become elements of a tensor."""
        if step.name == "shape":
            self.numbers[step.outputs[0]] = list(operands[0].shape)
        elif step.name == "numel":
            self.numbers[step.outputs[0]] = [operands[0].size]
        elif len(step.outputs) == 1 and step.outputs[0].dtype.kind in "iub":
            elements = self._computed(step, operands)
            if elements is not None:
                self.numbers[step.outputs[0]] = elements

    def _computed(self, step: Step, operands: Sequence[jax.Array]) -> list[Number] | None:
        """The elements of a result that is computed from known lengths; None of others."""
        if step.name not in _MOVES and step.name not in _OPERATIONS:
            return None
        known = [self.exact_elements(symbol) for symbol in step.inputs]
        if not known or not all(one is not None and all(map(is_dim, one)) for one in known):
            return None
        if step.name in _OPERATIONS:
            left, right = known
            count = max(len(left), len(right))
            # Operands are of one length, or one of them is a single number.
            if min(len(left), len(right)) not in (1, count):
                return None
            # A factor that is no part of the expression.
            if step.name in ("add", "subtract") and step.attrs["alpha"] != 1:
                return None
            name = _OPERATIONS[step.name]
            found = [_combined(left[k % len(left)], right[k % len(right)], name) for k in range(count)]
            if all(map(is_dim, found)):
                return found
            return None
        return self._moved(step, operands, known)

    def _moved(
        self, step: Step, operands: Sequence[jax.Array], known: Sequence[list[Number]]
    ) -> list[Number] | None:
        """As `_computed` for an operation that only moves elements: it moves their positions here."""
        moved = known
        if step.name == "take_index":
            moved = known[:1]  # the others are the positions that it takes
        rest = known[len(moved) :]
        if not all(isinstance(number, int) for one in rest for number in one):
            return None
        arrays = []
        elements: list[Number] = []
        for one, operand in zip(moved, operands, strict=False):
            # Positions in the list of all elements take the place of the elements themselves.
            places = np.arange(len(elements), len(elements) + len(one))
            arrays.append(places.reshape(operand.shape))
            elements += one
        arrays += [
            np.array(one).reshape(operand.shape) for one, operand in zip(rest, operands[1:], strict=True)
        ]
        # Positions are numbers: the kernel moves them now, not in the program.
        with jax.ensure_compile_time_eval():
            places = np.asarray(self._kernel(step).fn(*map(jnp.asarray, arrays)))
        return [elements[int(place)] for place in places.ravel()]

    def _without_operands(self, step: Step) -> jax.Array:
        """The result of a kernel without operands."""
        array = np.asarray(step.kernel.fn())
        shape = self.recording.shapes[step.outputs[0]]
        if not ls.has_lengths(shape):
            return jnp.asarray(array)
        # Equal numbers can be as many as the true lengths say.
        if array.size and (array == array.flat[0]).all():
            return jnp.full(self.sizes(shape), array.flat[0], array.dtype)
        raise NotWritable(f"{step.name} makes numbers that depend on lengths of the inputs")

    # numbers ------------------------------------------------------------------------------------------------

    def number(self, value: Any) -> Number:
        """A number of the recording, exact where possible."""
        return evaluate(ls.expression_of(value), self.leaf)

    def sizes(self, shape: Sequence[Any]) -> tuple[Any, ...]:
        """A shape of the recording."""
        return tuple([self._size(self.number(n)) for n in shape])

    @staticmethod
    def _size(value: Number) -> Any:
        if not is_dim(value):
            raise NotWritable(
                "a length depends on values; StableHLO wants expressions of the inputs' lengths"
            )
        return value

    def leaf(self, leaf: tuple[Any, ...]) -> Number:
        """The value of a leaf of an expression."""
        kind, number, position = leaf
        symbol = self.recording.numbered[number]
        if kind == "item":
            return self._elements(symbol, position)
        if kind == "counter":
            return self._elements(symbol, 0)
        is_known = symbol in self.values or symbol in self.recording.tensors
        likely = None
        if not is_known:
            likely = self.recording.likely.get(number)
        if likely and likely[position] is not None:
            return evaluate(likely[position], self.leaf)
        return self.array(symbol).shape[position]

    def _elements(self, symbol: Symbol, position: int) -> Number:
        """One element of a small Tensor."""
        if symbol in self.numbers:
            return self.numbers[symbol][position]
        constant = self.recording.tensors.get(symbol)
        if ls.is_length(constant) or isinstance(constant, list):
            return self.number(flat_numbers(constant)[position])
        value = self.array(symbol).reshape([-1])[position]
        if value.dtype == jnp.bool_:
            return value
        if value.dtype.kind == "f":
            return value.astype(jnp.float64)
        return value.astype(jnp.int64)

    def exact_elements(self, symbol: Symbol) -> list[Number] | None:
        """The elements of a Tensor, if all are exact."""
        # Elements that were computed from lengths are exact.
        if symbol in self.numbers:
            return self.numbers[symbol]
        constant = self.recording.tensors.get(symbol)
        if symbol in self.values or constant is None:
            return None
        if ls.is_length(constant) or isinstance(constant, list):
            found = [self.number(value) for value in flat_numbers(constant)]
        elif isinstance(constant, Filled | Ramp):
            return None
        else:
            array = np.asarray(_array(constant))
            if array.size != 1 or array.dtype.kind not in "iub":
                return None
            found = [int(array.ravel()[0])]
        if all(map(is_exact, found)):
            return found
        return None

    # operands -----------------------------------------------------------------------------------------------

    def array(self, symbol: Symbol) -> jax.Array:
        """The array of a Symbol."""
        found = self.values.get(symbol)
        if found is not None:
            return found
        if symbol not in self.recording.tensors:
            raise NotWritable("a length of a result that is not known before it is computed")
        constant = self.recording.tensors[symbol]
        dtype = symbol.dtype
        if isinstance(constant, Filled):
            return jnp.full(self.sizes(constant.shape), as_array(self.number(constant.number)), dtype)
        if isinstance(constant, Ramp):
            (length,) = self.sizes(constant.shape)
            return (constant.start + constant.step * jnp.arange(length)).astype(dtype)
        if isinstance(constant, list | tuple) or ls.is_length(constant):
            items = [as_array(self.number(value)).astype(dtype) for value in flat_numbers(constant)]
            return jnp.stack(items).reshape(self.sizes(self.recording.shapes[symbol]))
        # By identity: Tensors compare their elements.
        if id(constant) in self.parameters:
            return self.parameters[id(constant)]
        return jnp.asarray(_array(constant))

    # branches -----------------------------------------------------------------------------------------------

    def _branch(self, step: Step) -> list[jax.Array]:
        answer = self.answer(step.inputs[0])
        if isinstance(answer, int):
            # The answer is the same for all lengths, so only one branch goes into the file.
            yes, no = step.blocks
            return self._only_branch(step, yes if answer else no)
        branches = [self._measured(block) for block in step.blocks]
        shapes = []
        for symbol, one, other in zip(step.outputs, *branches, strict=True):
            shapes.append(self._joined_shape(answer, one[0].shape, other[0].shape))
            elements = self._joined_numbers(answer, one[1], other[1])
            if elements is not None:
                self.numbers[symbol] = elements
        test = as_array(answer).astype(bool).reshape([])
        return list(jax.lax.cond(test, *[self._branch_function(step, b, shapes) for b in step.blocks]))

    def answer(self, symbol: Symbol) -> Number:
        """Whether a condition holds."""
        elements = self.exact_elements(symbol)
        if elements is None:
            return self.array(symbol)
        return elements[0]

    def _only_branch(self, step: Step, block: Any) -> list[jax.Array]:
        """The results of a block that always runs."""
        inner = self.inner()
        inner.run(block[1])
        for symbol, result in zip(step.outputs, block[2], strict=True):
            elements = inner.exact_elements(result)
            if elements is not None:
                self.numbers[symbol] = elements
        return [inner.array(result) for result in block[2]]

    def _measured(self, block: Any) -> list[Any]:
        """(shape and dtype, elements where these are exact) of each result of a block."""
        elements: list[Any] = []

        def results() -> list[jax.Array]:
            inner = self.inner()
            inner.run(block[1])
            elements.extend([inner.exact_elements(symbol) for symbol in block[2]])
            return [inner.array(symbol) for symbol in block[2]]

        # Shapes alone: both branches are computed only where the file runs.
        return list(zip(jax.eval_shape(results), elements, strict=True))

    @staticmethod
    def _joined_shape(answer: Number, one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...]:
        """The shape of a result of a branch."""
        if tuple(one) == tuple(other):
            return tuple(one)
        if not is_dim(answer):
            raise NotWritable("a branch on a value gives results of two shapes")
        return tuple([_at_least_zero(selected(answer, n, m)) for n, m in zip(one, other, strict=True)])

    @staticmethod
    def _joined_numbers(answer: Number, one: Any, other: Any) -> list[Number] | None:
        if one is None or other is None or not is_dim(answer) or len(one) != len(other):
            return None
        elements = [selected(answer, n, m) for n, m in zip(one, other, strict=True)]
        if any(element is None for element in elements):
            return None
        return elements

    def _branch_function(
        self, step: Step, block: Any, shapes: Sequence[Any]
    ) -> Callable[[], list[jax.Array]]:
        def results() -> list[jax.Array]:
            inner = self.inner()
            inner.run(block[1])
            return [
                _brought_to(inner.array(result), shape).astype(symbol.dtype)
                for symbol, result, shape in zip(step.outputs, block[2], shapes, strict=True)
            ]

        return results

    # loops --------------------------------------------------------------------------------------------------

    def _loop(self, step: Step) -> list[jax.Array]:
        return Loop(self, step).results()


def _at_least_zero(length: Any) -> Any:
    """A length in a form that JAX takes for one."""
    if len(str(length)) > _LONGEST:
        raise NotWritable(f"a branch gives a result of a length that has no short expression: {length}")
    try:
        # Where JAX knows the sign the expression stays short.
        return length if length >= 0 else 0
    except jax.errors.InconclusiveDimensionOperation:
        return core.max_dim(length, 0)


def _combined(left: Number, right: Number, name: str) -> Number:
    """The result of an operation on two lengths."""
    if name == "add":
        return left + right
    if name == "sub":
        return left - right
    if name in ("eq", "ne"):
        differs = positive(left - right) + positive(right - left)
        return differs if name == "ne" else 1 - differs
    if name in ("lt", "ge"):
        is_less = positive(right - left)
        return is_less if name == "lt" else 1 - is_less
    if name in ("gt", "le"):
        is_greater = positive(left - right)
        return is_greater if name == "gt" else 1 - is_greater
    return evaluate((name, ("open", 0), ("open", 1)), lambda leaf: (left, right)[leaf[1]])


def _brought_to(array: jax.Array, shape: Sequence[Any]) -> jax.Array:
    """An array cut or filled up with zeros to a shape."""
    for axis, (length, wanted) in enumerate(zip(array.shape, shape, strict=True)):
        if length is not wanted and not (is_dim(length) and length == wanted):
            padding = [(0, 0, 0)] * array.ndim
            # Which of both is longer is not known before the program runs: fill up, then cut.
            padding[axis] = (0, core.max_dim(wanted - length, 0), 0)
            array = jax.lax.pad(array, jnp.zeros([], array.dtype), padding)
            array = jax.lax.dynamic_slice_in_dim(array, 0, wanted, axis)
    return array


def _array(constant: Any) -> Any:
    if isinstance(constant, Tensor):
        constant = held_value(constant)
    return to_array(constant)


__all__ = ["run_recording"]
