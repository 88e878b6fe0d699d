"""Compiles repeated operations inside a segment as a `lax.scan` over one period.

Compiled as one straight line, XLA's CPU fusion recomputes the values that flow from period to period. Six
steps of a 64x64 heat equation took 354 us per step in a line, 14 us one by one, 2.5 us in a loop. The time to
compile a line grows with every repetition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, NamedTuple

import jax

from paddle_jax._core.lazy.positions import OP_MASK, OUTPUT_SHIFT, aval_at

_MAX_PERIOD = 512  # operations
_MIN_REPETITIONS = 4


class Inside(NamedTuple):
    """An operand that is a result of the same period: of which operation of the period, and which result."""

    op: int
    output: int


class Carry(NamedTuple):
    """An operand that is a result of the period before, by its number in `RepeatedOps.carries`."""

    number: int


class Input(NamedTuple):
    """An operand that is another leaf in each period, by its number in `RepeatedOps.inputs`."""

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
        sources: for each operation of the period, a list that describes its operands.
        carries: list of CarriedResult.
        inputs: list of lists of leaves, one for each period.
    """

    start: int
    period: int
    count: int
    sources: list[list[Inside | Carry | Input | Fixed]] = dataclasses.field(default_factory=list)
    carries: list[CarriedResult] = dataclasses.field(default_factory=list)
    inputs: list[list[int]] = dataclasses.field(default_factory=list)

    @property
    def last(self) -> int:
        """The first operation of the last period. That period is traced on its own, because the rest of the
        segment reads its results only."""
        return self.start + (self.count - 1) * self.period

    @property
    def op_range(self) -> range:
        """The operations of all periods."""
        return range(self.start, self.start + self.count * self.period)


def find_repetition(
    ops: Sequence[tuple[Any, ...]], live: Sequence[int], avals: Sequence[Any], hosts: Sequence[Any]
) -> RepeatedOps | None:
    """The repetition in a segment that can be compiled as a loop, or None.

    Args:
        ops: the recorded operations.
        live: positions of the results that are needed.
        avals: Avals of the leaves.
        hosts: for each leaf None for an array, the count of its host numbers, or those of a constant.
    """
    repetition = _longest_repetition([entry[0] for entry in ops])
    for _ in range(2):  # the operands of the first period may come from elsewhere
        if repetition is None or repetition.count < _MIN_REPETITIONS:
            return None
        if _set_sources(repetition, ops, avals, hosts) and _is_closed(repetition, ops, live):
            return repetition
        start = repetition.start + repetition.period
        repetition = RepeatedOps(start, repetition.period, repetition.count - 1)
    return None


def _longest_repetition(signatures: Sequence[Any]) -> RepeatedOps | None:
    best = None
    length = len(signatures)
    for period in range(1, min(length // _MIN_REPETITIONS, _MAX_PERIOD) + 1):
        start = 0
        for i in range(period, length + 1):
            if i < length and signatures[i] is signatures[i - period]:
                continue
            count = (i - start) // period
            if count >= _MIN_REPETITIONS and (best is None or count * period > best.count * best.period):
                best = RepeatedOps(start, period, count)
            start = i - period + 1
    return best


def _set_sources(
    repetition: RepeatedOps, ops: Sequence[tuple[Any, ...]], avals: Sequence[Any], hosts: Sequence[Any]
) -> bool:
    """Sets where operands come from; False if that is not the same in all periods."""
    repetition.sources = []
    repetition.carries = []
    repetition.inputs = []
    finder = _SourceFinder(repetition, ops, avals, hosts)
    for k in range(repetition.period):
        rows = [ops[repetition.start + j * repetition.period + k][1:] for j in range(repetition.count)]
        sources = [finder.source(positions) for positions in zip(*rows, strict=True)]
        if None in sources:
            return False
        repetition.sources.append(sources)  # pyright: ignore[reportArgumentType]
    return True


class _SourceFinder:
    """Finds where one operand comes from, from its positions in all periods.

    Attributes:
        repetition: RepeatedOps, whose inputs and carries it extends.
        ops, avals, hosts: see `find_repetition`.
        carry_numbers: dict from CarriedResult to its number.
    """

    def __init__(
        self,
        repetition: RepeatedOps,
        ops: Sequence[tuple[Any, ...]],
        avals: Sequence[Any],
        hosts: Sequence[Any],
    ) -> None:
        self.repetition = repetition
        self.ops = ops
        self.avals = avals
        self.hosts = hosts
        self.carry_numbers: dict[CarriedResult, int] = {}

    def source(self, positions: tuple[int, ...]) -> Inside | Carry | Input | Fixed | None:
        """The source, or None if it is not the same in all periods."""
        first = positions[0]
        if len(set(positions)) == 1 and (first < 0 or first & OP_MASK < self.repetition.start):
            return Fixed(first)
        if all(position < 0 for position in positions):
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
        """Leaves with host numbers of one shape and dtype."""
        leaves = [-1 - position for position in positions]
        if any(self.hosts[leaf] is None for leaf in leaves):
            return None
        if len({(self.avals[leaf], self.hosts[leaf]) for leaf in leaves}) > 1:
            return None
        self.repetition.inputs.append(leaves)
        return Input(len(self.repetition.inputs) - 1)

    def _carry(self, carried: CarriedResult, positions: tuple[int, ...]) -> Carry | None:
        if carried not in self.carry_numbers:
            if carried.first >= 0 and carried.first & OP_MASK >= self.repetition.start:
                return None
            first_aval = aval_at(positions[0], self.avals, self.ops)
            if first_aval is not aval_at(positions[1], self.avals, self.ops):
                return None
            self.repetition.carries.append(carried)
            self.carry_numbers[carried] = len(self.repetition.carries) - 1
        return Carry(self.carry_numbers[carried])


def _is_closed(repetition: RepeatedOps, ops: Sequence[tuple[Any, ...]], live: Sequence[int]) -> bool:
    """Whether the rest of the segment reads results of the last period only."""
    inner = range(repetition.start, repetition.last)
    if any(position & OP_MASK in inner for position in live):
        return False
    later_ops = ops[repetition.op_range.stop :]
    return not any(
        position >= 0 and position & OP_MASK in inner for entry in later_ops for position in entry[1:]
    )


def trace_repetition(
    repetition: RepeatedOps,
    ops: Sequence[tuple[Any, ...]],
    value_of: Callable[[int], Any],
    stacked: Callable[[Sequence[int]], Any],
    env: MutableMapping[int, Any],
) -> None:
    """Traces all periods, and puts the results of the last one into `env`.

    Args:
        repetition: the periods.
        ops: the recorded operations.
        value_of: function that gives a value from outside by position.
        stacked: function that gives leaves along a new axis.
        env: results by operation.
    """
    initial = [value_of(carried.first) for carried in repetition.carries]
    inputs = [stacked(leaves) for leaves in repetition.inputs]
    for sources in repetition.sources:
        for source in sources:
            if type(source) is Fixed:
                value_of(source.position)  # computed here and not inside the loop

    def trace_period(carry: Sequence[Any], items: Sequence[Any]) -> dict[int, Any]:
        results: dict[int, Any] = {}
        for k in range(repetition.period):
            signature = ops[repetition.start + k][0]
            operands = [_operand(source, results, carry, items, value_of) for source in repetition.sources[k]]
            results[k] = signature.traced_equations(repetition.start + k)(*operands)
        return results

    def body(carry: Sequence[Any], items: Sequence[Any]) -> tuple[list[Any], None]:
        results = trace_period(carry, items)
        return [_output(results[k], output) for k, output, _ in repetition.carries], None

    carry, _ = jax.lax.scan(body, initial, [x[:-1] for x in inputs], length=repetition.count - 1)
    for k, result in trace_period(carry, [x[-1] for x in inputs]).items():
        env[repetition.last + k] = result


def _operand(
    source: Inside | Carry | Input | Fixed,
    results: dict[int, Any],
    carry: Sequence[Any],
    items: Sequence[Any],
    value_of: Callable[[int], Any],
) -> Any:
    if isinstance(source, Inside):
        return _output(results[source.op], source.output)
    if isinstance(source, Carry):
        return carry[source.number]
    if isinstance(source, Input):
        return items[source.number]
    return value_of(source.position)


def _output(result: Any, output: int) -> Any:
    if output == 0:
        return result
    return result[output - 1]
