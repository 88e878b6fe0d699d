"""Compiles repeated operations inside a segment as a `lax.scan` over one period.

Compiled as one straight line, XLA's CPU fusion recomputes the values that flow from period to period. Six
steps of a 64x64 heat equation took 354 us per step in a line, 14 us one by one, 2.5 us in a loop. The time to
compile a line grows with every repetition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.lazy.positions import OP_MASK, OUTPUT_SHIFT, aval_at, needed_ops, value_at
from paddle_jax._core.numpy_backend.cost import COMPILE

_MAX_PERIOD = 512  # operations
_MIN_REPETITIONS = 4
_MAX_LOOPS = 16  # in a segment
_SINGLE_READ = 0.005  # seconds to compile the copy of one result out of those of all periods
_MAX_COPIED = 1 << 10  # bytes of the leaves that an operand is in all periods, and which a loop has to copy
# Periods that are left out at the start and at the end, where operands may come from elsewhere.
_TRIMMED = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0))


class Inside(NamedTuple):
    """An operand that is a result of the same period: of which operation of the period, and which result."""

    op: int
    output: int


class Carry(NamedTuple):
    """An operand that is a result of the period before, by its number in `RepeatedOps.carries`."""

    number: int


class Input(NamedTuple):
    """An operand that comes from outside, from another position in each period, by its number in
    `RepeatedOps.inputs`."""

    number: int


class Fixed(NamedTuple):
    """An operand that is the same in all periods, by its position."""

    position: int


class CarriedResult(NamedTuple):
    """A result that the next period reads: of which operation of the period, which result, and the position
    of the value that the first period reads."""

    op: int
    output: int
    first: int


@dataclasses.dataclass
class RepeatedOps:
    """`count` periods of `period` operations from operation `start` on.

    Attributes:
        start: int, the first operation.
        period: int, operations of a period.
        count: int, number of periods.
        sources: for each operation of the period, a list that describes its operands; None where no period
            needs it.
        carries: list of CarriedResult.
        inputs: list of lists of positions, one for each period.
        stacked: list of the results that are read from outside in another period than the last:
            (operation of the period, which result).
        single_reads: int, how many results of other periods than the last the segment gives.
    """

    start: int
    period: int
    count: int
    sources: list[list[Inside | Carry | Input | Fixed] | None] = dataclasses.field(default_factory=list)
    carries: list[CarriedResult] = dataclasses.field(default_factory=list)
    inputs: list[tuple[int, ...]] = dataclasses.field(default_factory=list)
    stacked: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    single_reads: int = 0

    @property
    def last(self) -> int:
        """The first operation of the last period. That period is traced on its own, because the rest of the
        segment most often reads its results only."""
        return self.start + (self.count - 1) * self.period

    def includes(self, op_index: int) -> bool:
        """Whether an operation of its range is part of the loop. What no result depends on is left out."""
        return self.sources[(op_index - self.start) % self.period] is not None

    @property
    def compile_cost(self) -> float:
        """Estimated seconds that XLA takes for what moves values into the loop and out of it."""
        moves = len(self.inputs) * COMPILE["gather"] + self.single_reads * _SINGLE_READ
        return COMPILE["scan"] + moves

    @property
    def op_range(self) -> range:
        """The operations of all periods."""
        return range(self.start, self.start + self.count * self.period)


def find_repetitions(
    ops: Sequence[tuple[Any, ...]],
    live: Sequence[int],
    avals: Sequence[Any],
    hosts: Sequence[Any],
    excluded: AbstractSet[int] = frozenset(),
) -> list[RepeatedOps]:
    """The repetitions in a segment that can be compiled as loops, in order.

    Args:
        ops: the recorded operations.
        live: positions of the results that are needed.
        avals: Avals of the leaves.
        hosts: for each leaf None for an array, the count of its host numbers, or those of a constant.
        excluded: numbers of operations that may not be part of a loop.
    """
    needed = {i for i, _ in needed_ops(ops, live)}
    found: list[RepeatedOps] = []
    for candidate in _longest_repetitions([entry[0] for entry in ops]):
        for skipped, left_out in _TRIMMED:
            repetition = RepeatedOps(
                candidate.start + skipped * candidate.period,
                candidate.period,
                candidate.count - skipped - left_out,
            )
            if (
                repetition.count < _MIN_REPETITIONS
                or needed.isdisjoint(repetition.op_range)
                or not excluded.isdisjoint(repetition.op_range)
            ):
                continue
            finder = _SourceFinder(repetition, ops, avals, hosts, needed)
            # Periods that do not depend on each other are better compiled side by side.
            if finder.find_sources() and repetition.carries:
                _set_results(repetition, ops, live)
                needed.update(i for i in repetition.op_range if repetition.includes(i))
                found.append(repetition)
                break
    return found


def _longest_repetitions(signatures: Sequence[Any]) -> list[RepeatedOps]:
    """The longest repetition, and those before and after it, in order."""
    numbers: dict[Any, int] = {}
    kinds = np.array([numbers.setdefault(signature, len(numbers)) for signature in signatures])
    parts = [(0, len(kinds))]
    found = []
    while parts and len(found) < _MAX_LOOPS:
        first, end = parts.pop()
        best = _longest_repetition(kinds[first:end])
        if best is not None:
            best.start += first
            found.append(best)
            parts.append((first, best.start))
            parts.append((best.op_range.stop, end))
    return sorted(found, key=lambda repetition: repetition.start)


def _longest_repetition(kinds: np.ndarray) -> RepeatedOps | None:
    """The repetition that covers most operations, of those with enough periods. kinds: a number for each."""
    best = None
    length = len(kinds)
    for period in range(1, min(length // _MIN_REPETITIONS, _MAX_PERIOD) + 1):
        differ = np.flatnonzero(kinds[period:] != kinds[:-period])
        # Between two operations that differ from those a period before, there is a run of equal ones.
        ends = np.concatenate(([-1], differ, [length - period]))
        runs = np.diff(ends) - 1
        longest = int(runs.argmax())
        count = (int(runs[longest]) + period) // period
        if count >= _MIN_REPETITIONS and (best is None or count * period > best.count * best.period):
            best = RepeatedOps(int(ends[longest]) + 1, period, count)
    return best


class _SourceFinder:
    """Finds where the operands of a repetition come from.

    Attributes:
        repetition: RepeatedOps, whose sources, inputs and carries it extends.
        ops, avals, hosts: see `find_repetitions`.
        traced: set of the operations that results depend on, and of those in earlier repetitions.
        carry_numbers: dict from CarriedResult to its number.
    """

    def __init__(
        self,
        repetition: RepeatedOps,
        ops: Sequence[tuple[Any, ...]],
        avals: Sequence[Any],
        hosts: Sequence[Any],
        traced: AbstractSet[int],
    ) -> None:
        self.repetition = repetition
        self.ops = ops
        self.avals = avals
        self.hosts = hosts
        self.traced = traced
        self.carry_numbers: dict[CarriedResult, int] = {}

    def find_sources(self) -> bool:
        """Sets the sources of all operands; False if one is not the same in all periods."""
        repetition = self.repetition
        for k in range(repetition.period):
            numbers = range(repetition.start + k, repetition.op_range.stop, repetition.period)
            if self.traced.isdisjoint(numbers):
                repetition.sources.append(None)
                continue
            rows = [self.ops[i][1:] for i in numbers]
            sources = [self.source(positions) for positions in zip(*rows, strict=True)]
            if None in sources:
                return False
            repetition.sources.append(sources)  # pyright: ignore[reportArgumentType]
        return True

    def source(self, positions: tuple[int, ...]) -> Inside | Carry | Input | Fixed | None:
        """The source, or None if it is not the same in all periods."""
        first = positions[0]
        if len(set(positions)) == 1 and self._is_outside(first):
            return Fixed(first)
        if all(map(self._is_outside, positions)):
            return self._input(positions)
        offset_and_output = self._offset(positions)
        if offset_and_output is None:
            return None
        offset, output = offset_and_output
        if 0 <= offset < self.repetition.period:
            is_inside_first = first >= 0 and (self._op_offset(first), first >> OUTPUT_SHIFT) == (
                offset,
                output,
            )
            if is_inside_first:
                return Inside(offset, output)
            return None
        if -self.repetition.period <= offset < 0:
            return self._carry(CarriedResult(offset + self.repetition.period, output, first), positions)
        return None

    def _is_outside(self, position: int) -> bool:
        """Whether a value is there before the first period."""
        index = position & OP_MASK
        return position < 0 or (index < self.repetition.start and index in self.traced)

    def _op_offset(self, position: int) -> int:
        """The number of the operation, counted from the start of the repetition."""
        return (position & OP_MASK) - self.repetition.start

    def _offset(self, positions: tuple[int, ...]) -> tuple[int, int] | None:
        """(operation counted from the start of the period that reads it, output), from the second period on;
        None if it differs."""
        offsets = set()
        for j, position in enumerate(positions):
            if j == 0:
                continue
            if position < 0:
                return None
            offset = self._op_offset(position) - j * self.repetition.period
            offsets.add((offset, position >> OUTPUT_SHIFT))
        if len(offsets) == 1:
            return offsets.pop()
        return None

    def _input(self, positions: tuple[int, ...]) -> Input | None:
        """Values of one shape and dtype.

        Leaves must be small: a loop over the layers of a network would copy all weights.
        """
        aval = aval_at(positions[0], self.avals, self.ops)
        if any(aval_at(position, self.avals, self.ops) is not aval for position in positions):
            return None
        counts = {self.hosts[-1 - position] if position < 0 else None for position in positions}
        if len(counts) > 1:
            return None
        leaf_count = sum(position < 0 for position in positions)
        if None in counts and leaf_count * aval.nbytes > _MAX_COPIED:
            return None
        self.repetition.inputs.append(positions)
        return Input(len(self.repetition.inputs) - 1)

    def _carry(self, carried: CarriedResult, positions: tuple[int, ...]) -> Carry | None:
        if carried not in self.carry_numbers:
            if not self._is_outside(carried.first):
                return None
            first_aval = aval_at(positions[0], self.avals, self.ops)
            if first_aval is not aval_at(positions[1], self.avals, self.ops):
                return None
            self.repetition.carries.append(carried)
            self.carry_numbers[carried] = len(self.repetition.carries) - 1
        return Carry(self.carry_numbers[carried])


def _set_results(repetition: RepeatedOps, ops: Sequence[tuple[Any, ...]], live: Sequence[int]) -> None:
    """Sets which results of periods before the last one something else reads."""
    inner = range(repetition.start, repetition.last)
    read = dict.fromkeys(position for position in live if position & OP_MASK in inner)
    repetition.single_reads = len(read)
    for i in range(repetition.op_range.stop, len(ops)):
        read.update(dict.fromkeys(p for p in ops[i][1:] if p >= 0 and p & OP_MASK in inner))
    # What no result depends on may read an operation that is left out.
    read_numbers = [
        (((p & OP_MASK) - repetition.start) % repetition.period, p >> OUTPUT_SHIFT)
        for p in read
        if repetition.includes(p & OP_MASK)
    ]
    repetition.stacked = list(dict.fromkeys(read_numbers))


class LoopTracer:
    """Traces the repetitions of a segment as loops.

    Attributes:
        repetitions: list of RepeatedOps.
        ops: the recorded operations.
        leaves: the values of the leaves, with `stacked(leaves)`, which gives host numbers along a new axis.
        env: dict of results by operation, without those of periods before the last one.
        rows: {first operation of a repetition: {(operation of the period, which result): the results of all
            periods but the last along a new axis}}, of those that were traced.
    """

    def __init__(
        self,
        repetitions: Sequence[RepeatedOps],
        ops: Sequence[tuple[Any, ...]],
        leaves: Any,
        env: dict[int, Any],
    ) -> None:
        self.repetitions = repetitions
        self.ops = ops
        self.leaves = leaves
        self.env = env
        self.rows: dict[int, dict[tuple[int, int], Any]] = {}

    def trace_if_repeated(self, op_index: int) -> bool:
        """Whether an operation is part of a repetition, which is traced as a whole at its first operation."""
        for repetition in self.repetitions:
            if op_index in repetition.op_range:
                if repetition.start not in self.rows:
                    self._trace(repetition)
                return True
        return False

    def value_of(self, position: int) -> Any:
        """The value at a position."""
        if position < 0 or position & OP_MASK in self.env:
            return value_at(position, self.leaves, self.env)
        rows, period = self._row_of(position)
        return jax.lax.index_in_dim(rows, period, keepdims=False)

    def _row_of(self, position: int) -> tuple[Any, int]:
        """The rows that have a result of an inner period, and the number of the period."""
        index = position & OP_MASK
        for repetition in self.repetitions:
            if index in repetition.op_range:
                period, k = divmod(index - repetition.start, repetition.period)
                return self.rows[repetition.start][k, position >> OUTPUT_SHIFT], period
        raise KeyError(position)

    def _trace(self, repetition: RepeatedOps) -> None:
        """Traces all periods, and keeps the results that are read later."""
        initial = [self.value_of(carried.first) for carried in repetition.carries]
        inputs = [self._stacked(positions) for positions in repetition.inputs]
        fixed = {
            source.position: self.value_of(source.position)  # computed here and not inside the loop
            for sources in repetition.sources
            for source in sources or ()
            if type(source) is Fixed
        }

        def trace_period(carry: Sequence[Any], items: Sequence[Any]) -> dict[int, Any]:
            results: dict[int, Any] = {}
            for k, sources in enumerate(repetition.sources):
                if sources is None:
                    continue
                signature = self.ops[repetition.start + k][0]
                operands = [_operand(source, results, carry, items, fixed) for source in sources]
                results[k] = signature.traced_equations(repetition.start + k)(*operands)
            return results

        def body(carry: Sequence[Any], items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            results = trace_period(carry, items)
            carried = [_output(results[k], output) for k, output, _ in repetition.carries]
            return carried, [_output(results[k], output) for k, output in repetition.stacked]

        carry, rows = jax.lax.scan(body, initial, [x[:-1] for x in inputs], length=repetition.count - 1)
        self.rows[repetition.start] = dict(zip(repetition.stacked, rows, strict=True))
        for k, result in trace_period(carry, [x[-1] for x in inputs]).items():
            self.env[repetition.last + k] = result

    def _stacked(self, positions: Sequence[int]) -> Any:
        """Values from outside along a new axis.

        Host numbers and results of another loop take a few operations, however many they are.
        """
        if positions[0] < 0 and self.leaves.hosts[-1 - positions[0]] is not None:
            return self.leaves.stacked([-1 - position for position in positions])
        if all(position >= 0 and position & OP_MASK not in self.env for position in positions):
            rows, periods = zip(*map(self._row_of, positions), strict=True)
            step = periods[1] - periods[0]
            is_one_array = all(each is rows[0] for each in rows)
            if is_one_array and step and periods == tuple(range(periods[0], periods[-1] + step, step)):
                return _every(rows[0], periods[0], periods[-1], step)
        return jnp.stack([self.value_of(position) for position in positions])


def _every(rows: Any, first: int, last: int, step: int) -> Any:
    """The rows from one to another one, at steps that may be negative."""
    if step > 0:
        return rows[first : last + 1 : step]
    return rows[last : first + 1 : -step][::-1]


def _operand(
    source: Inside | Carry | Input | Fixed,
    results: dict[int, Any],
    carry: Sequence[Any],
    items: Sequence[Any],
    fixed: Mapping[int, Any],
) -> Any:
    if isinstance(source, Inside):
        return _output(results[source.op], source.output)
    if isinstance(source, Carry):
        return carry[source.number]
    if isinstance(source, Input):
        return items[source.number]
    return fixed[source.position]


def _output(result: Any, output: int) -> Any:
    if output == 0:
        return result
    return result[output - 1]
