"""What several recordings of a function have in common."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.length_expressions import leaves_of
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.ops.op import Op, freeze
from paddle_jax._core.tensors.held_values import unwrap
from paddle_jax._program.export_errors import GIVE_LENGTHS, NeedsConversion, NotWritable
from paddle_jax._program.length_constants import Filled, Ramp, is_uniform

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddle_jax._core.lazy.symbol import Symbol
    from paddle_jax._program.operation import Operation


@dataclasses.dataclass(slots=True, eq=False)
class Step:
    """One operation of a recording.

    Attributes:
        kernel: Kernel, with the first values of Lengths.
        op: Op that was declared, or None.
        attrs: dict of its attributes by name, with Lengths.
        layout: how the operands are laid out, as in `kernel.declaration`.
        inputs: list of the Symbols of operands.
        outputs: list of the Symbols of results.
        stops: tuple, for each operand whether gradients end there.
        blocks: of `cond` and `while`, for each (Symbols that come in, Steps, Symbols of the results).
        location: `file:line` of the user's code, or None.
    """

    kernel: Kernel
    op: Op | None
    attrs: dict[Any, Any]
    layout: Any
    inputs: list[Any]
    outputs: list[Any]
    stops: tuple[bool, ...] = ()
    blocks: list[Any] | tuple[Any, ...] = ()
    location: str | None = None

    @property
    def name(self) -> str:
        return self.kernel.name


@dataclasses.dataclass(slots=True, eq=False)
class Recording:
    """What a function does.

    Attributes:
        inputs, outputs: lists of Symbols.
        input_stops, output_stops: lists of bools, for each whether gradients end there.
        result: what the function gives, with Symbols for Tensors.
        locations: dict from each Operation to `file:line`.
        numbered: list of all Symbols; the leaves of expressions are positions in it.
        steps: list of Steps, in order.
        tensors: dict from each Symbol of a constant to the Tensor, array, Filled, Ramp or list of Lengths
            that it is.
        shapes: dict from each Symbol to its shape, with Lengths.
        likely: dict from the number of a Symbol to likely expressions of its lengths.
        stored: set of the ids of Tensors that are stored beside the Parameters.
    """

    inputs: list[Any]
    outputs: list[Any]
    input_stops: list[bool]
    output_stops: list[bool]
    result: Any
    locations: dict[Any, Any]
    numbered: list[Any]
    steps: list[Any] = dataclasses.field(default_factory=list)
    tensors: dict[Any, Any] = dataclasses.field(default_factory=dict)
    likely: dict[Any, Any] = dataclasses.field(default_factory=dict)
    shapes: dict[Any, Any] = dataclasses.field(default_factory=dict)
    stored: set[Any] = dataclasses.field(default_factory=set)

    def prune(self) -> None:
        """Leaves out the steps that no output needs."""
        needed = set()
        kept = []
        self._need(self.outputs, needed)
        # Backwards, so that the users of a result come before the step that makes it.
        for step in reversed(self.steps):
            if needed.intersection(step.outputs):
                self._need_step(step, needed)
                kept.append(step)
        self.steps = kept[::-1]

    def _need_step(self, step: Step, needed: set[Symbol]) -> None:
        # A Length in an attribute comes from some result, whose operation is needed as well.
        self._need(step.inputs, needed)
        self._need_numbers(list(step.attrs.values()), needed)
        for symbol in step.outputs:
            self._need_numbers(self.shapes.get(symbol, ()), needed)
        for _, steps, results in step.blocks:
            self._need(results, needed)
            for inner in steps:
                self._need_step(inner, needed)

    def _need(self, symbols: Iterable[Symbol], needed: set[Symbol]) -> None:
        for symbol in symbols:
            if symbol not in needed:
                needed.add(symbol)
                self._need_numbers(self.tensors.get(symbol), needed)

    def _need_numbers(self, value: Any, needed: set[Symbol]) -> None:
        if isinstance(value, Filled | Ramp):
            self._need_numbers([*value.shape, getattr(value, "number", 0)], needed)
        elif isinstance(value, list | tuple):
            for item in value:
                self._need_numbers(item, needed)
        elif ls.is_length(value):
            # The number in a leaf is the position of its Symbol.
            self._need([self.numbered[leaf[1]] for leaf in leaves_of(value.node)], needed)


class Merge:
    """What several recordings of a function have in common: the first one, after all were compared.

    Attributes:
        runs: list of _Runs.
        recording: Recording.
        partners: for each further run, dict from a Symbol of the first one to its Symbol.
        known: dict from the values that a number has in all runs to the Length that has them.
    """

    def __init__(self, runs: Sequence[Any]) -> None:
        first = runs[0]
        self.runs = runs
        self.recording = Recording(
            first.inputs,
            first.outputs,
            first.input_stops,
            first.output_stops,
            first.result,
            first.recorder.locations,
            first.recorder.numbered,
        )
        self.recording.likely = {number: self._likely(number) for number in first.recorder.likely}
        # How Symbols correspond is known for the inputs, and found for the rest operation by operation.
        self.partners = [dict(zip(first.inputs, other.inputs, strict=True)) for other in runs[1:]]
        self.known = {}
        for symbol in first.inputs:
            self.note_shape(symbol)
        self.recording.steps.extend(self.steps([one.ops for one in runs]))
        if len({len(one.outputs) for one in runs}) > 1:
            raise NeedsConversion(f"it returns other numbers of tensors for other lengths; {GIVE_LENGTHS}")
        for symbols in zip(*[one.outputs for one in runs], strict=True):
            self.pair(symbols)

    def _likely(self, number: int) -> list[Any]:
        """Likely lengths of a Symbol, as far as the runs with distinct lengths of axes say the same."""
        # Two axes of one length make a chance agreement likely, so such runs say nothing here.
        distinct = [one for one in self.runs if one.has_distinct_axes] or self.runs
        likely_of_runs = [one.recorder.likely.get(number) or () for one in distinct]
        if len(set(map(len, likely_of_runs))) > 1:
            return [None] * len(likely_of_runs[0])
        return [nodes[0] if len(set(nodes)) == 1 else None for nodes in zip(*likely_of_runs, strict=True)]

    def note_shape(self, symbol: Symbol) -> None:
        """Takes over the shape of a Symbol, and compares it with that in the other runs."""
        shape = self.runs[0].recorder.lengths_of(symbol)
        others = [
            one.recorder.lengths_of(partner[symbol])
            for one, partner in zip(self.runs[1:], self.partners, strict=True)
        ]
        if any(len(other) != len(shape) for other in others):
            raise NotWritable("a result has another number of axes for other lengths")
        self.recording.shapes[symbol] = [
            self.agreed("a length", [n, *[other[axis] for other in others]], (symbol, axis))
            for axis, n in enumerate(shape)
        ]

    def agreed(self, what: str, values: list[Any], leaf: tuple[Symbol, int] | None = None) -> Any:
        """One value for those of an attribute, a length or a constant in all runs. leaf: of a length, its
        Symbol and axis."""
        first = values[0]
        # Item by item: an attribute such as a shape may have one Length among numbers.
        if _are_tuples_of_one_length(values):
            return tuple([self.agreed(what, list(column)) for column in zip(*values, strict=True)])
        if ls.is_length(first):
            # Equal expressions in all runs: the number is that expression for every length.
            if all(ls.is_length(v) and v.node == first.node for v in values[1:]):
                self.known.setdefault(tuple([v.pair[0] for v in values]), first)
                return first
        elif not any(map(ls.is_length, values)) and all(_same(first, v) for v in values[1:]):
            return first
        # Not the same everywhere: the length of this axis is an expression of its own.
        if leaf is not None:
            symbol, axis = leaf
            return ls.Length(ls.values_of(first), ("dim", self.runs[0].recorder.number_of(symbol), axis))
        plain = tuple([ls.values_of(v)[0] for v in values])
        # Code has taken a plain int of a length. Three distinct values that an expression has in the same
        # runs make a chance agreement unlikely.
        if plain in self.known and all(type(n) is int for n in plain) and len(set(plain)) > 2:
            return self.known[plain]
        shown = " and ".join(dict.fromkeys(repr(n) for n in plain))
        raise NeedsConversion(f"{what}: {shown} for different lengths; {GIVE_LENGTHS}")

    def pair(self, symbols: Sequence[Symbol]) -> None:
        """Notes that these Symbols, one of each run, are the same."""
        x = symbols[0]
        others = zip(self.partners, symbols[1:], strict=True)
        # Compared before, with the same partners.
        if x in self.recording.shapes and all(partner.get(x) is y for partner, y in others):
            return
        # Keys of the random generator have no constant to compare.
        if all(s.kind == "random" for s in symbols):
            return
        # A result or input must have been paired when it was made; meeting it for the first time means that
        # another tensor is used.
        if any(s.kind != "constant" for s in symbols):
            if len(symbols) == 1:
                return
            raise NeedsConversion(f"it uses different tensors for different lengths; {GIVE_LENGTHS}")
        for partner, y in zip(self.partners, symbols[1:], strict=True):
            partner[x] = y
        self.note_shape(x)
        self.recording.tensors[x] = self.constant([s.value for s in symbols], self.recording.shapes[x])

    def constant(self, values: list[Any], shape: list[Any]) -> Any:
        """What a constant is, of its value in all runs."""
        first = values[0]
        is_plain = not ls.has_lengths(first) and not isinstance(first, Filled)
        if is_plain and all(v is first for v in values[1:]):
            return first
        if all(isinstance(v, Filled) for v in values):
            dims = self.agreed("a length", [tuple(v.shape) for v in values])
            number = self.agreed("a fill value", [v.number for v in values])
            return Filled(number, first.dtype, list(dims))
        if all(ls.is_length(v) or isinstance(v, list) for v in values):
            # Lists of numbers are compared item by item, and only tuples can be: `agreed` returns them.
            return ls.listed(self.agreed("a number", list(map(freeze, values))))
        if any(ls.is_length(v) or isinstance(v, list | Filled) for v in values):
            raise NeedsConversion(f"it uses different tensors for different lengths; {GIVE_LENGTHS}")
        arrays = [to_numpy(to_array(unwrap(v))) for v in values]
        return self.array(arrays, shape)

    def array(self, arrays: list[np.ndarray], shape: list[Any]) -> Any:
        """The constant that has these arrays in the runs."""
        first = arrays[0]
        # NaN equals NaN where there are fractions; NumPy refuses the question for whole numbers.
        exact = first.dtype.kind in "fc"
        if all(one.shape == first.shape and np.array_equal(one, first, equal_nan=exact) for one in arrays):
            return first
        # A constant that grows with a length: it is one number, or counts evenly.
        if any(one.shape != first.shape for one in arrays):
            dims = [self.agreed("a length", list(ns)) for ns in zip(*[a.shape for a in arrays], strict=True)]
            return _varying_constant(arrays, dims)
        # Expressions of lengths are whole numbers, so fractions cannot be expressed by them.
        if first.dtype.kind not in "iu":
            raise NeedsConversion(f"it uses a fraction made of lengths that are not fixed; {GIVE_LENGTHS}")
        items = [
            self.agreed("an operand", [int(n) for n in column])
            for column in zip(*[one.ravel() for one in arrays], strict=True)
        ]
        if first.ndim:
            return items
        return items[0]

    def steps(self, columns: Sequence[Any]) -> list[Step]:
        """The Steps of the operations in all runs."""
        steps = []
        # Side by side, operation by operation: one more in any recording is found at once.
        # A recording that has ended gives None.
        for ops in itertools.zip_longest(*columns):
            location = self.recording.locations.get(ops[0])
            names = {getattr(op, "name", None) for op in ops}
            if len(names) > 1:
                raise NeedsConversion(
                    "other operations run for another length, as where a list holds all rows of a tensor; "
                    f"loop over the tensor itself, or {GIVE_LENGTHS}",
                    location,
                )
            try:
                steps.append(self.step(ops))
            except NotWritable as error:
                error.location = error.location or location
                raise
            steps[-1].location = location
        return steps

    def step(self, ops: Sequence[Any]) -> Step:
        """The Step of one operation, given in all runs."""
        first = ops[0]
        declarations = [op.kernel.declaration for op in ops]
        if (
            len({(len(op.inputs), len(op.outputs)) for op in ops}) > 1
            or len({m and (m[0], m[1]) for m in declarations}) > 1
        ):
            raise NeedsConversion(
                f"it calls {first.name} in different ways for different lengths; {GIVE_LENGTHS}"
            )
        for symbols in zip(*[op.inputs for op in ops], strict=True):
            self.pair(symbols)
        for symbols in zip(*[op.outputs for op in ops], strict=True):
            self.note_result(symbols)
        if declarations[0] is None:
            if hasattr(first.kernel.fn, "blocks"):
                blocks = self.blocks(ops)
            else:
                blocks = ()
            return Step(first.kernel, None, {}, None, first.inputs, first.outputs, first.stops, blocks)
        op, layout, _ = declarations[0]
        # The attributes with Lengths are beside the recorder; those of the kernel have the first values.
        values = [
            one.recorder.attributes.get(o) or o.kernel.declaration[2]
            for one, o in zip(self.runs, ops, strict=True)
        ]
        attrs = {
            name: self.agreed(f"{op.name}: {name}", list(column))
            for name, column in zip(op.attrs, zip(*values, strict=True), strict=True)
        }
        return Step(first.kernel, op, attrs, layout, first.inputs, first.outputs, first.stops)

    def note_result(self, symbols: Sequence[Symbol]) -> None:
        """Takes in a Symbol that is a result, given in all runs."""
        for partner, other in zip(self.partners, symbols[1:], strict=True):
            partner[symbols[0]] = other
        self.note_shape(symbols[0])

    def blocks(self, ops: Sequence[Operation]) -> list[Any]:
        """The blocks of a `cond` (both branches) or `while` (test and body)."""
        done = []
        for parts in zip(*[_blocks_of(op) for op in ops], strict=True):
            for symbols in zip(*[part.inputs for part in parts], strict=True):
                self.note_result(symbols)
            steps = self.steps([part.ops for part in parts])
            for symbols in zip(*[part.results for part in parts], strict=True):
                self.pair(symbols)
            done.append((parts[0].inputs, steps, parts[0].results))
        return done


def _blocks_of(operation: Operation) -> Any:
    """The blocks of a branch or a loop, which its kernel's function carries."""
    return getattr(operation.kernel.fn, "blocks")  # noqa: B009


def _are_tuples_of_one_length(values: Sequence[Any]) -> bool:
    return all(isinstance(v, tuple) and len(v) == len(values[0]) for v in values)


def _same(one: Any, other: Any) -> bool:
    """Whether two attributes are equal, NaN included."""
    if one is other:
        return True
    # NaN differs from itself.
    return type(one) is type(other) and bool(one == other or (one != one and other != other))


def _varying_constant(arrays: list[np.ndarray], shape: list[Any]) -> Any:
    """The Filled or Ramp that arrays of different shapes are."""
    first = arrays[0]
    if all(a.size and is_uniform(a) for a in arrays) and all(
        np.array_equal(a.flat[0], first.flat[0], equal_nan=first.dtype.kind in "fc") for a in arrays
    ):
        return Filled(first.flat[0].item(), first.dtype.name, shape)
    # An `arange` or `linspace` whose length varies.
    if all(a.ndim == 1 and a.size > 1 for a in arrays) and first.dtype.kind in "if":
        step = first[1] - first[0]
        if all(np.allclose(a, first[0] + step * np.arange(a.size), rtol=1e-6, atol=0) for a in arrays):
            return Ramp(first[0].item(), step.item(), first.dtype.name, shape)
    raise NeedsConversion(
        f"it makes a tensor whose numbers depend on lengths that are not fixed; {GIVE_LENGTHS}"
    )


__all__ = ["Merge", "Recording", "Step"]
