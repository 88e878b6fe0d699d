"""Repetitions inside a segment: a loop that recorded the same ops again and again is compiled as a `lax.scan`
over one period.

Compiled as one straight line, XLA's CPU fusion recomputes the values that flow from period to period: six
steps of a 64x64 heat equation took 354 us per step in a line, 14 us one by one, 2.5 us in a loop; and compile
time grows with every repetition.
"""

import dataclasses
import itertools

import jax

from paddle_jax._core.lazy.positions import OP_MASK, OUTPUT_SHIFT, aval_at

_LONGEST = 512  # ops of a period
_LEAST = 4  # repetitions


@dataclasses.dataclass
class RepeatedOps:
    """`count` periods of `period` ops from op `start` on. How an operand of an op of the period is found is
    in `sources`, per op and operand:

    ("inside", op of the period, output), ("carry", number), ("input", number) or ("fixed", position).
    carries: for each, the result that becomes the next one and the position of the first. inputs: for each,
    the leaves of the periods.
    """

    start: int
    period: int
    count: int
    sources: list = dataclasses.field(default_factory=list)
    carries: list = dataclasses.field(default_factory=list)
    inputs: list = dataclasses.field(default_factory=list)

    @property
    def last(self):
        """The first op of the last period, which is traced by itself: the rest of the segment sees
        its results only."""
        return self.start + (self.count - 1) * self.period


def find_repetition(ops, live, avals, hosts):
    """The Run of a segment that can be rolled up, or None. `avals` are those of the leaves, `hosts` tells how
    many host numbers or which constant stand for a leaf (None: an array)."""
    run = _repetition([entry[0] for entry in ops])
    for _ in range(2):  # the first period may differ in where its operands come from
        if run is None or run.count < _LEAST:
            return None
        if _understand(run, ops, avals, hosts) and _closed(run, ops, live):
            return run
        run = RepeatedOps(run.start + run.period, run.period, run.count - 1)
    return None


def _repetition(sigs):
    best, n = None, len(sigs)
    for period in range(1, min(n // _LEAST, _LONGEST) + 1):
        start = 0
        for i in range(period, n + 1):
            if i < n and sigs[i] is sigs[i - period]:
                continue
            count = (i - start) // period
            if count >= _LEAST and (best is None or count * period > best.count * best.period):
                best = RepeatedOps(start, period, count)
            start = i - period + 1
    return best


def _understand(run, ops, avals, hosts):
    """Fills in where operands come from; False when it is not the same way in all periods."""
    run.sources, run.carries, run.inputs = [], [], []
    known = {}
    for k in range(run.period):
        rows = [ops[run.start + j * run.period + k][1:] for j in range(run.count)]
        found = [_source(run, ops, positions, avals, hosts, known) for positions in zip(*rows, strict=True)]
        if None in found:
            return False
        run.sources.append(found)
    return True


def _source(run, ops, positions, avals, hosts, known):
    if len(set(positions)) == 1 and (positions[0] < 0 or positions[0] & OP_MASK < run.start):
        return ("fixed", positions[0])
    if all(p < 0 for p in positions):
        if (
            any(hosts[-1 - p] is None for p in positions)
            or len({(avals[-1 - p], hosts[-1 - p]) for p in positions}) > 1
        ):
            return None
        run.inputs.append([-1 - p for p in positions])
        return ("input", len(run.inputs) - 1)
    offsets = {
        ((p & OP_MASK) - run.start - j * run.period, p >> OUTPUT_SHIFT) if p >= 0 else None
        for j, p in enumerate(positions)
        if j
    }
    if len(offsets) > 1 or None in offsets:
        return None
    offset, output = offsets.pop()
    if 0 <= offset < run.period:
        first = positions[0]
        same = first >= 0 and ((first & OP_MASK) - run.start, first >> OUTPUT_SHIFT) == (offset, output)
        return ("inside", offset, output) if same else None
    if not -run.period <= offset < 0:
        return None
    key = (offset + run.period, output, positions[0])
    if key not in known:
        if positions[0] >= 0 and positions[0] & OP_MASK >= run.start:
            return None
        if aval_at(positions[0], avals, ops) is not aval_at(positions[1], avals, ops):
            return None
        run.carries.append(key)
        known[key] = len(run.carries) - 1
    return ("carry", known[key])


def _closed(run, ops, live):
    """Whether only results of the last period are asked for by others."""
    end = run.start + run.count * run.period
    inner = range(run.start, run.last)
    if any(p & OP_MASK in inner for p in live):
        return False
    return not any(p >= 0 and p & OP_MASK in inner for entry in ops[end:] for p in entry[1:])


def trace_repetition(run, ops, value_of, stacked, env):
    """Traces all periods; `value_of` gives what is outside by position, `stacked` leaves along a new axis.
    Puts the results of the last period into `env`."""
    init = [value_of(first) for _, _, first in run.carries]
    inputs = [stacked(leaves) for leaves in run.inputs]
    for kind, *at in itertools.chain.from_iterable(run.sources):
        if kind == "fixed":
            value_of(*at)  # made here and not inside the loop

    def period(carry, given):
        results = {}
        for k in range(run.period):
            entry = ops[run.start + k]
            operands = [_operand(source, results, carry, given, value_of) for source in run.sources[k]]
            results[k] = entry[0].equations(*operands)
        return results

    def body(carry, given):
        results = period(carry, given)
        return [_output(results[k], output) for k, output, _ in run.carries], None

    carry, _ = jax.lax.scan(body, init, [x[:-1] for x in inputs], length=run.count - 1)
    for k, result in period(carry, [x[-1] for x in inputs]).items():
        env[run.last + k] = result


def _operand(source, results, carry, given, value_of):
    kind, at, *output = source
    if kind == "inside":
        return _output(results[at], output[0])
    return carry[at] if kind == "carry" else given[at] if kind == "input" else value_of(at)


def _output(result, output):
    return result if output == 0 else result[output - 1]
