"""Recording a function for a model file: which operations it runs, and how their numbers are made of lengths
that are not fixed.

A length that is not fixed is a `Length`: a number with the expression it comes from. Each recording computes
with two values for each of them, so that results show which of their lengths vary. The function is recorded a
second time with other values. Numbers that differ between the recordings and have no expression have to agree
with a known length; else the function is refused. More recordings check the result with further lengths, also
with ones for which expressions change that had the same value until then (`min(n, 12)`).
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import TracedValueError, Unsupported
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.execution.python_state import map_tensors, tensors_in
from paddle_jax._core.lazy import length_expressions as ex
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.symbol import NoValueError, Symbol, SymbolError
from paddle_jax._core.tensors.held_values import held_symbol
from paddle_jax._program.control_flow.cond import number_dtype
from paddle_jax._program.export_errors import NeedsConversion, NotWritable
from paddle_jax._program.length_recorder import KnownVariable, LengthRecorder
from paddle_jax._program.merged_recordings import Merge, Recording
from paddle_jax._program.variable import Variable, variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# (first, second) value for each axis. Odd ones, so that half of a length is seen to be rounded; multiples of
# 32, for models that halve lengths again and again; short ones, for tables of few positions; the same for all
# axes, where axes belong together; long ones, for signals that are cut into long frames.
_ODD = ((97, 264), (103, 244), (107, 236), (109, 220), (113, 212), (127, 198))
_EVEN = ((96, 1120), (160, 800), (224, 480), (288, 416), (352, 384), (416, 192))
_SHORT = ((5, 28), (7, 24), (9, 18), (11, 16), (13, 12), (15, 8))
_SAME = ((97, 198),) * 6
_LONG = ((8209, 5000), (7001, 6011), (6007, 7013), (5501, 8002), (5003, 9001), (4501, 10007))
_TRIES = 150  # random lengths to look for ones that change expressions
_MOST = 3  # recordings with such lengths
_LONGEST = 4096  # of these
_NEAR = 50  # lengths beside the constants of expressions
_COMBINED = 2000  # combinations of these for one expression
_ROUNDS = 4  # of recordings, until none shows further lengths that vary
_SHORTEST = [(1, 5), (2, 6), (3, 4), (2, 5), (1, 4), (3, 6)]
_LARGE = ((2049, 600), (1500, 800), (1100, 900), (1000, 950), (900, 1001), (800, 1200))


# recording a function ---------------------------------------------------------------------------------------


def record(
    function: Callable[..., Any], specs: list[Any], converted: Callable[[], Callable[..., Any]] | None = None
) -> Recording:
    """Records a function on descriptions of its arguments.

    Args:
        function: callable.
        specs: list of InputSpecs (nested in lists and dicts if need be), and other values, which are
            passed as they are.
        converted: function that gives the function with control flow on Tensors converted, which is tried
            where it asks for values or decides by lengths.
    Raises:
        NotWritable, Unsupported: the function needs values, or does different things for different lengths.
    """
    is_open = any(n == -1 for spec in _specs(specs) for n in spec.shape)
    # Without open lengths one set of lengths is all there is.
    sets = (_ODD, _EVEN, _SHORT, _SAME, _LONG) if is_open else (_ODD,)
    errors: list[Exception] = []
    for probes in sets:
        # The error of the most common lengths is the most telling one, so the first is raised at last.
        try:
            return _recorded(function, specs, False, probes, is_open)
        except Exception as error:  # an operation may refuse these lengths
            errors.append(error)
            is_curable = isinstance(error, NeedsConversion)
        if is_curable and converted is not None:  # not above: what is raised would have that as its context
            # Tried once: another set of lengths would convert the same code again.
            try:
                return _converted(converted(), specs, sets, is_open)
            except Exception as refusal:
                errors = [refusal]
                converted = None
    raise errors[0]


def _converted(
    function: Callable[..., Any], specs: list[Any], sets: Sequence[Sequence[tuple[int, int]]], is_open: bool
) -> Recording:
    """As `record` for a converted function."""
    errors: list[Exception] = []
    for probes in sets:
        try:
            return _recorded(function, specs, True, probes, is_open)
        except Exception as error:
            errors.append(error)
    raise errors[0]


def _recorded(
    function: Callable[..., Any],
    specs: list[Any],
    converted: bool,
    probes: Sequence[tuple[int, int]],
    is_open: bool,
) -> Recording:
    """The Recording with some values for lengths, checked with others."""
    varying: set[tuple[int, int]] = set()
    for _ in range(_ROUNDS):
        task = _Task(function, specs, converted, varying)
        # The first recording is the one that is written. The others check it.
        runs = [task.run(probes)]
        known = len(varying)
        # All lengths fixed and no value guessed: one recording is enough.
        if is_open or runs[0].recorder.has_guessed:
            # Swapped: numbers taken from first values alone come out different.
            runs.append(task.run([(second, first) for first, second in probes]))
            runs += _checks(task, probes)
            runs += _changes(task, runs)
        # Nothing new has been found to vary, so all recordings have seen the same lengths.
        if len(varying) == known:
            return Merge(runs).recording
    raise NeedsConversion(
        "other results have lengths that vary in each recording; give lengths as numbers in input_spec"
    )


@dataclasses.dataclass(slots=True, eq=False)
class _Task:
    """What is recorded several times.

    Attributes:
        function: the function.
        specs: list of the descriptions of its arguments.
        converted: bool, whether its control flow is converted.
        varying: set of (number of a Symbol, axis) whose length varies.
        count: int, how many recordings there were.
    """

    function: Callable[..., Any]
    specs: list[Any]
    converted: bool
    varying: set[tuple[int, int]]
    count: int = 0

    def run(self, probes: Sequence[tuple[int, int]]) -> _Run:
        """One more recording."""
        self.count += 1
        recorder = LengthRecorder(self.converted, self.varying, self.count - 1)
        return _one_run(self.function, self.specs, recorder, probes)

    def attempt(self, probes: Sequence[tuple[int, int]]) -> _Run | None:
        """As `run`; None for lengths that the function refuses, which show nothing."""
        try:
            return self.run(probes)
        except (NotWritable, Unsupported):
            raise
        except Exception:
            return None


def _checks(task: _Task, probes: Sequence[tuple[int, int]]) -> list[_Run]:
    """Runs with lengths of other kinds, as far as the function takes them."""
    runs = [task.attempt(others) for others in (_SHORT, _SAME, _LARGE) if others is not probes]
    return [run for run in runs if run is not None]


def _changes(task: _Task, runs: Sequence[_Run]) -> list[_Run]:
    """Runs with lengths for which expressions have other values that have been the same in all runs."""
    # Expressions whose value the code has seen, such as in a comparison. One that never changed may hide a
    # branch.
    seen, *others = [_first_values(run.recorder) for run in runs]
    unchanged = {node for node in seen if all(node in one and one[node] == seen[node] for one in others)}
    axes = {runs[0].recorder.number_of(symbol) for symbol in runs[0].inputs}
    of_results = {node for node in unchanged if not _is_of_inputs(node, axes)}
    of_inputs = unchanged - of_results
    candidates = []
    if of_inputs:
        candidates = [(probes, _changed(of_inputs, probes, seen)) for probes in _candidates(of_inputs)]
        found = set().union(*[changed for _, changed in candidates])
        # in the order of `seen`, so that a function is saved or refused alike at each try
        for node in [node for node in seen if node in of_inputs and node not in found]:
            for probes in _combinations(node):
                if _changed({node}, probes, seen):
                    candidates.append((probes, _changed(of_inputs, probes, seen)))
                    break
    if of_results:  # their values are not known before: one run with short lengths
        candidates.insert(0, (_SHORTEST, of_results))
    more_runs = []
    while candidates and len(more_runs) < _MOST:
        # Greedy: the lengths that change most of the expressions first. Few recordings then change them
        # all.
        best = max(candidates, key=lambda one: len(one[1]))  # the first one of several
        candidates.remove(best)
        probes, changed = best
        if not changed:
            break
        run = task.attempt(probes)
        if run is None:
            continue
        more_runs.append(run)
        candidates = [(others, nodes - changed) for others, nodes in candidates]
    return more_runs


def _first_values(recorder: LengthRecorder) -> dict[Any, Any]:
    """The value of each expression that code sees where it asks for one."""
    return {node: pair[0] for node, pair in recorder.seen_values.items()}


def _changed(nodes: set[Any], probes: Sequence[tuple[int, int]], seen: dict[Any, Any]) -> set[Any]:
    """Those expressions whose value is another one for some lengths."""
    return {node for node in nodes if _value(node, probes) not in (None, seen[node])}


def _candidates(nodes: set[Any]) -> list[list[tuple[int, int]]]:
    """Lengths for which expressions may have other values: random ones, and ones beside their constants."""
    # The seed is fixed, so that a function is saved or refused alike at each try.
    generator = random.Random(0)
    found = []
    for _ in range(_TRIES):
        scales = [
            generator.choice((2, 4, 16, 64, 256)) for _ in _ODD
        ]  # one axis may be far longer than others
        found.append([(generator.randint(1, n), generator.randint(1, 2 * n) + n) for n in scales])
    near = _near_constants(nodes)
    # A comparison changes its answer beside its constant.
    for axis, n in itertools.product(range(len(_ODD)), near):
        lengths = [generator.choice(near) for _ in _ODD]
        lengths[axis] = n
        found.append([(one, one + 1 + position) for position, one in enumerate(lengths)])
    return found


def _combinations(node: Any) -> Iterator[list[tuple[int, int]]]:
    """Lengths beside the constants of an expression, in combinations: it may have several conditions, and
    random lengths seldom hold for all of them."""
    axes = sorted({min(axis, len(_ODD) - 1) for _, _, axis in ex.leaves_of(node)})
    for values in itertools.islice(itertools.product(_near_constants({node}), repeat=len(axes)), _COMBINED):
        lengths = [first for first, _ in _ODD]
        for axis, value in zip(axes, values, strict=True):
            lengths[axis] = value
        yield [(one, one + 1 + position) for position, one in enumerate(lengths)]


def _near_constants(nodes: set[Any]) -> list[int]:
    """Lengths beside the constants of expressions, for which a comparison may have another answer."""
    constants = {abs(n) for node in nodes for n in ex.constants_of(node)}
    return sorted({m for n in constants for m in (n - 1, n, n + 1) if 0 < m <= _LONGEST})[:_NEAR]


def _is_of_inputs(node: Any, inputs: set[int]) -> bool:
    """Whether an expression is made of the lengths of inputs alone. inputs: set of their numbers."""
    return all(kind == "dim" and number in inputs for kind, number, _ in ex.leaves_of(node))


def _value(node: Any, probes: Sequence[tuple[int, int]]) -> Any:
    """The value of an expression of the lengths of inputs; None where it has none."""
    try:
        return ex.evaluate(node, lambda leaf: probes[min(leaf[2], len(probes) - 1)][0])
    except (ArithmeticError, ValueError):
        return None


def by_key(mapping: dict[Any, Any]) -> list[Any]:
    """The keys of a dict in the order in which its items become inputs, which is Paddle's."""
    try:
        return sorted(mapping)
    except TypeError:
        return sorted(mapping, key=lambda key: (type(key).__name__, str(key)))


def _specs(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [s for v in value for s in _specs(v)]
    if isinstance(value, dict):
        return [s for v in value.values() for s in _specs(v)]
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return [value]
    return []


@dataclasses.dataclass(slots=True, eq=False)
class _Run:
    """One recording of the function.

    Attributes:
        recorder: LengthRecorder.
        inputs, outputs: lists of Symbols.
        input_stops, output_stops: lists of bools, for each whether gradients end there.
        result: what the function gives, with Symbols for Tensors.
        ops: list of Operations.
        has_distinct_axes: bool, whether no two axes of an input have one length.
    """

    recorder: LengthRecorder
    inputs: list[Any]
    outputs: list[Any]
    input_stops: list[bool]
    output_stops: list[bool]
    result: Any
    ops: list[Any]
    has_distinct_axes: bool


def _one_run(
    function: Callable[..., Any],
    specs: list[Any],
    recorder: LengthRecorder,
    probes: Sequence[tuple[int, int]],
) -> _Run:
    variables: list[Variable] = []
    arguments = [_argument(spec, recorder, probes, variables) for spec in specs]
    inputs = list(map(held_symbol, variables))
    input_stops = [one.stop_gradient for one in variables]
    try:
        with recorder:
            position = recorder.position()
            try:
                result = _with_tensors(recorder, function(*arguments))
                outputs = [recorder.symbol(t) for t in tensors_in(result)]
                output_stops = [t.stop_gradient for t in tensors_in(result)]
                result = map_tensors(result, recorder.symbol)
            finally:
                ops, _, _ = recorder.roll_back(position)
            if recorder.refusal is not None:
                raise recorder.refusal
    except (NotWritable, Unsupported):
        raise
    except Exception as error:
        # The user's code, or a library in between, may have raised another error for the first one.
        cause = error
        while cause is not None and not isinstance(cause, SymbolError | NoValueError | TracedValueError):
            cause = cause.__context__
        # Not for want of a value: the code itself fails.
        if cause is None:
            raise
        raise NeedsConversion(f"the value of a tensor is asked for: {cause}") from cause
    has_distinct_axes = len(set(probes)) == len(probes)
    return _Run(recorder, inputs, outputs, input_stops, output_stops, result, ops, has_distinct_axes)


def _with_tensors(recorder: LengthRecorder, value: Any) -> Any:
    """What a function returned, with Tensors for Lengths, as Paddle has them."""
    if ls.is_length(value):
        return recorder.tensor_of(value, number_dtype([value]))
    if isinstance(value, list | tuple):
        return [_with_tensors(recorder, item) for item in value]
    if isinstance(value, dict):
        return {key: _with_tensors(recorder, item) for key, item in value.items()}
    return value


def _argument(
    value: Any, recorder: LengthRecorder, probes: Sequence[tuple[int, int]], inputs: list[Variable]
) -> Any:
    """What stands for an argument: Variables for InputSpecs, which are added to inputs."""
    if isinstance(value, list | tuple):
        return make_sequence(type(value), [_argument(v, recorder, probes, inputs) for v in value])
    if isinstance(value, dict):
        # Inputs are numbered in Paddle's order of keys; the code gets its dict in its own order.
        items = {key: _argument(value[key], recorder, probes, inputs) for key in by_key(value)}
        return {key: items[key] for key in value}
    if not _specs(value):
        return value
    first, second = (
        aval_of(
            tuple(
                probes[min(axis, len(probes) - 1)][which] if n == -1 else n
                for axis, n in enumerate(value.shape)
            ),
            np.dtype(value.dtype.np),
        )
        for which in (0, 1)
    )
    # The same object twice marks a shape without open lengths.
    pair = (first, first) if first == second else (first, second)
    symbol = recorder.add_symbol(Symbol(pair, "data", recorder.program, value.name))
    inputs.append(variable(symbol, value.stop_gradient, KnownVariable))
    return inputs[-1]


__all__ = ["by_key", "record"]
