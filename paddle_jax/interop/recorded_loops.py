"""Loops of a recording on JAX's arrays, for StableHLO, where no variable of a loop changes its shape.

A list that grows gets all its rows before the loop, if lengths say how many steps there are. Each step then
writes the rows that it appends.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core

from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.length_expressions import leaves_of
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.interop.symbolic_numbers import Number, as_array, evaluate, is_dim

if TYPE_CHECKING:
    from paddle_jax._program.merged_recordings import Recording, Step
    from paddle_jax.interop.recorded_program import Block

# (factor of the bound, factor of the counter, what is added) of how far a comparison is from being False
_GAPS = {
    "less_than": (1, -1, 0),
    "less_equal": (1, -1, 1),
    "greater_than": (-1, 1, 0),
    "greater_equal": (-1, 1, 1),
}


@dataclasses.dataclass(frozen=True, slots=True)
class GrownList:
    """A variable of a loop to which each step appends.

    Attributes:
        position: int, among the variables of the loop.
        rows: list of Symbols of what a step of the loop appends, with rows along the first axis.
        steps: list of the Steps of the recording that append.
    """

    position: int
    rows: list[Symbol]
    steps: list[Step]

    def all_rows(self, block: Block) -> jax.Array:
        """What a step of the loop appends."""
        return jnp.concatenate([block.array(symbol) for symbol in self.rows])


class Loop:
    """A loop of a recording.

    Args:
        block: the Block that it is in.
        step: the Step of the recording.
    Attributes:
        block, step: as given.
        starts: list of the first arrays of its variables.
        is_kept: list of bools, whether the body hands a variable on as it is.
        grown: list of GrownLists.
        body_steps: list of the Steps of the body, without those that append to the lists.
    """

    def __init__(self, block: Block, step: Step) -> None:
        self.block = block
        self.step = step
        _, (inputs, steps, results) = step.blocks
        self.starts: list[jax.Array] = [block.array(symbol) for symbol in step.inputs[: len(inputs)]]
        self.is_kept = [one is other for one, other in zip(inputs, results, strict=True)]
        self.grown = grown_lists(block.recording, step)
        appended = {id(step) for one in self.grown for step in one.steps}
        self.body_steps = [one for one in steps if id(one) not in appended]

    def results(self) -> list[jax.Array]:
        """The last values of the variables."""
        first = self._with_room() if self.grown else self.starts
        state = list(first), jnp.zeros([], np.int64)
        return list(jax.lax.while_loop(self._goes_on, self._advanced, state)[0])

    def _inside(self, symbols: Sequence[Symbol], values: Sequence[jax.Array]) -> Block:
        """A Block with values of the variables."""
        inner = self.block.inner()
        given = [
            old if kept else new for kept, old, new in zip(self.is_kept, self.starts, values, strict=True)
        ]
        inner.values.update(zip(symbols, given, strict=True))
        for kept, symbol, start in zip(self.is_kept, symbols, self.step.inputs, strict=False):
            if not kept:
                continue  # the body changes it
            elements = self.block.exact_elements(start)
            if elements is not None:
                inner.numbers[symbol] = elements
        return inner

    def _goes_on(self, state: tuple[list[jax.Array], jax.Array]) -> jax.Array:
        inputs, steps, (answer,) = self.step.blocks[0]
        inner = self._inside(inputs, state[0])
        inner.run(steps)
        # As in `checkpointed_while.py`: XLA runs too few steps where it knows all numbers.
        return jax.lax.optimization_barrier(as_array(inner.answer(answer)).astype(bool).reshape([]))

    def _advanced(self, state: tuple[list[jax.Array], jax.Array]) -> tuple[list[jax.Array], jax.Array]:
        values, count = state
        inputs, _, results = self.step.blocks[1]
        inner = self._inside(inputs, values)
        inner.run(self.body_steps)
        lists = {one.position: one for one in self.grown}
        found = []
        for position, (symbol, before) in enumerate(zip(results, values, strict=True)):
            if position in lists:
                rows = lists[position].all_rows(inner).astype(before.dtype)
                place = count * rows.shape[0] + self.starts[position].shape[0]
                found.append(jax.lax.dynamic_update_slice_in_dim(before, rows, place, 0))
            else:
                found.append(inner.array(symbol))
        if any(one.shape != other.shape for one, other in zip(found, values, strict=True)):
            raise NotWritable(
                "a variable of a loop changes its shape, or a loop reads a list that it makes longer"
            )
        return [one.astype(other.dtype) for one, other in zip(found, values, strict=True)], count + 1

    def _with_room(self) -> list[jax.Array]:
        """The first values, with all rows of the lists that grow."""
        count = step_count(self.block, self.step, self.step.inputs[: len(self.starts)])
        if count is None:
            raise NotWritable(
                "a list grows in a loop whose number of steps depends on values; "
                "write the rows into a Tensor of their largest number"
            )

        def rows() -> list[jax.Array]:
            inner = self._inside(self.step.blocks[1][0], self.starts)
            inner.run(self.body_steps)
            return [one.all_rows(inner) for one in self.grown]

        values = list(self.starts)
        # Shapes alone: the loop computes the rows.
        for one, appended in zip(self.grown, jax.eval_shape(rows), strict=True):
            before = values[one.position]
            room = jnp.zeros((count * appended.shape[0], *appended.shape[1:]), before.dtype)
            if isinstance(before.shape[0], int) and not before.shape[0]:
                # The rows of an empty list have no certain shape.
                before = room[:0]
            values[one.position] = jnp.concatenate([before, room])
        return values


def grown_lists(recording: Recording, step: Step) -> list[GrownList]:
    """The variables to which the body of a loop only appends."""
    test, body = step.blocks
    inputs, steps, results = body
    found = []
    for position, (before, after) in enumerate(zip(inputs, results, strict=True)):
        appended = _appended(recording, steps, before, after)
        if not appended or results.count(after) != 1:
            continue
        makers = [step for one in appended for step in one.steps]
        others = [one for one in steps if all(one is not maker for maker in makers)]
        symbols = (before, test[0][position], *[symbol for one in makers for symbol in one.outputs])
        # What reads the list on the way needs its length at that step.
        is_read = _reads(recording, (inputs, others, []), symbols) or _reads(recording, test, symbols)
        if not is_read and not any(_has_length_of(recording, one, symbols) for one in results):
            found.append(GrownList(position, [one.rows for one in appended], makers))
    return found


class _Appended(NamedTuple):
    """What makes a list longer once.

    Attributes:
        before: Symbol of the list.
        rows: Symbol of what is appended.
        steps: list of the Steps that do it.
    """

    before: Symbol
    rows: Symbol
    steps: list[Step]


def _appended(recording: Recording, steps: Sequence[Step], before: Symbol, after: Symbol) -> list[_Appended]:
    """What is appended one after the other to a list; nothing where something else is done."""
    found: list[_Appended] = []
    while after is not before:
        makers = [one for one in steps if after in one.outputs]
        one = None
        if len(makers) == 1 and makers[0].name == "cond":
            one = _appended_to_empty(recording, steps, makers[0])
        elif len(makers) == 1:
            one = _joined(makers[0])
        if one is None:
            return []
        found.insert(0, one)
        after = one.before
    return found


def _joined(step: Step) -> _Appended | None:
    if step.name != "concat" or len(step.inputs) != 2 or step.attrs["axis"] != 0:
        return None
    return _Appended(step.inputs[0], step.inputs[1], [step])


def _appended_to_empty(recording: Recording, steps: Sequence[Step], step: Step) -> _Appended | None:
    """As `_joined` for `rows if the list is empty else concat(list, rows)`: an empty list has rows of no
    certain shape."""
    (_, yes_steps, yes), (_, no_steps, no) = step.blocks
    if yes_steps or len(no_steps) != 1 or len(yes) != 1 or no[0] not in no_steps[0].outputs:
        return None
    one = _joined(no_steps[0])
    if one is None or one.rows is not yes[0]:
        return None
    # The question is `shape(list)[0] == 0`.
    question = []
    wanted = step.inputs[0]
    for name in ("equal", "take_index", "shape"):
        makers = [maker for maker in steps if wanted in maker.outputs]
        if len(makers) != 1 or makers[0].name != name:
            return None
        if not all(_is_zero(recording, symbol) for symbol in makers[0].inputs[1:]):
            return None
        question += makers
        wanted = makers[0].inputs[0]
    if wanted is not one.before:
        return None
    return one._replace(steps=[*question, step])


def _is_zero(recording: Recording, symbol: Symbol) -> bool:
    constant = recording.tensors.get(symbol)
    if constant is None or ls.is_length(constant) or isinstance(constant, list | tuple):
        return constant == [0]
    return float(constant) == 0


def _reads(recording: Recording, block: tuple[Any, ...], symbols: Sequence[Symbol]) -> bool:
    """Whether a block reads one of some Symbols, or its length."""
    _, steps, results = block
    used = list(results)
    for step in steps:
        if any(_reads(recording, inner, symbols) for inner in step.blocks):
            return True
        if _has_length_in(recording, tuple(step.attrs.values()), symbols):
            return True
        used += step.inputs
    return any(one in symbols or _has_length_of(recording, one, symbols) for one in used)


def _has_length_of(recording: Recording, symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    """Whether a constant is made of the length of one of some Symbols."""
    return _has_length_in(recording, recording.tensors.get(symbol), symbols)


def _has_length_in(recording: Recording, value: Any, symbols: Sequence[Symbol]) -> bool:
    """Whether a number in nested lists is made of the length of one of some Symbols."""
    numbers: list[Any] = []  # also floats, and conditions such as `len(rows) > 3`
    ls.mapped(value, numbers.append)
    return any(_is_of(recording, one.node, symbols) for one in numbers)


def _is_of(recording: Recording, node: Any, symbols: Sequence[Symbol]) -> bool:
    """Whether an expression has one of some Symbols in it."""
    return any(recording.numbered[leaf[1]] in symbols for leaf in leaves_of(node))


def step_count(block: Block, step: Step, starts: Sequence[Symbol]) -> Number | None:
    """How many steps a loop has, as an expression of lengths; None where that depends on values.

    Args:
        block: the Block that the loop is in.
        step: the loop.
        starts: Symbols of the first values of its variables.
    """
    test, body = step.blocks
    for position, symbol in enumerate(starts):
        first = block.exact_elements(symbol)
        if first is None or len(first) != 1 or not is_dim(first[0]):
            continue
        advance = _advance(block, body, position)
        if advance is None:
            continue
        gap = _gap(block, test, position, first[0])
        if gap is None:
            continue
        distance, factor = gap
        closed = -factor * advance
        # Else the loop would have no end.
        if closed > 0:
            return core.max_dim(-(-distance // closed), 0)
    return None


def _advance(block: Block, body: tuple[Any, ...], position: int) -> int | None:
    """The number that a body adds to a variable; None where it does something else."""
    inputs, steps, results = body
    before, after = inputs[position], results[position]
    counted = _counted(block, after, before, inputs)
    if counted is not None:
        added, factor = counted
        return added if factor == 1 and isinstance(added, int) else None
    makers = [one for one in steps if after in one.outputs]
    if len(makers) != 1 or makers[0].name != "add" or makers[0].attrs["alpha"] != 1:
        return None
    one, other = makers[0].inputs
    if one is not before:
        return None
    number = block.exact_elements(other)
    if number is None or len(number) != 1 or not isinstance(number[0], int):
        return None
    return number[0]


def _gap(block: Block, test: tuple[Any, ...], position: int, first: Number) -> tuple[Number, int] | None:
    """(how far a condition is from being False before the first step, by how much that grows with the
    variable); None where the condition asks for something else."""
    inputs, steps, (answer,) = test
    if not steps:
        return _gap_of_expression(block, answer, inputs[position], first, inputs)
    if len(steps) != 1 or steps[0].name not in _GAPS or answer not in steps[0].outputs:
        return None
    counter, bound = steps[0].inputs
    number = block.exact_elements(bound)
    is_plain = counter is inputs[position] and number is not None and len(number) == 1
    if not is_plain or bound in inputs or not is_dim(number[0]):
        return None
    of_bound, of_counter, more = _GAPS[steps[0].name]
    return of_bound * number[0] + of_counter * first + more, of_counter


def _gap_of_expression(
    block: Block, answer: Symbol, counter: Symbol, first: Number, inputs: Sequence[Symbol]
) -> Any:
    constant = block.recording.tensors.get(answer)
    if not ls.is_length(constant):
        return None
    node = ls.expression_of(constant)
    # `above zero` is the form of all comparisons.
    if not isinstance(node, tuple) or node[0] != "pos":
        return None
    return _linear(block, node[1], counter, first, inputs)


def _counted(
    block: Block, symbol: Symbol, counter: Symbol, inputs: Sequence[Symbol]
) -> tuple[Number, int] | None:
    """(what is added to a counter, its factor) of a number that is an expression."""
    constant = block.recording.tensors.get(symbol)
    if not ls.is_length(constant):
        return None
    return _linear(block, ls.expression_of(constant), counter, 0, inputs)


def _linear(
    block: Block, node: Any, counter: Symbol, first: Number, inputs: Sequence[Symbol]
) -> tuple[Number, int] | None:
    """(value of an expression at the first value of a counter, factor of the counter).

    None where it is not linear in the counter, or other variables of the loop are in it.
    """
    terms = [(node, 1)]
    if isinstance(node, tuple) and node[0] == "lin":
        terms = node[2]
    factor = 0
    for atom, size in terms:
        if _is_of(block.recording, atom, [counter]):
            if atom[0] != "counter":
                return None
            factor = size
        elif _is_of(block.recording, atom, inputs):
            return None

    def leaf(one: tuple[Any, ...]) -> Number:
        if block.recording.numbered[one[1]] is counter:
            return first
        return block.leaf(one)

    value = evaluate(node, leaf)
    if not is_dim(value):
        return None
    return value, factor
