"""A captured run as one compiled program that takes over the memory of what it changes."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.error_translation import run_error
from paddle_jax._core.base.interrupt_safe import InterruptSafeCall, call_and_store, interrupt_safe_jit
from paddle_jax._core.base.out_of_memory import as_out_of_memory
from paddle_jax._core.execution.python_state import same_objects
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.runner.program_work import is_short
from paddle_jax._core.tensors.held_values import held_value, replace_held, set_slot
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.capture.captured import Captured, Change
from paddle_jax._program.capture.flat_buffer import FlatBuffer
from paddle_jax._program.capture.xla_options import fusion_options
from paddle_jax._program.guards.guard_set import GuardFailure
from paddle_jax._program.guards.operand_guards import shape_reason

# Attribute getters in C: they are mapped over all operands at each call.
_AVAL = operator.attrgetter("aval")
_COMMITTED = operator.attrgetter("_committed")

ValueUpdate = tuple[int, int, int]  # (index of the operand, index of the result, versions it goes on by)
OtherUpdate = tuple[
    int | None, int, Change
]  # (index of the operand or None, index of the first result, Change)


def finish(call: Callable[..., Any], *args: Any) -> Any:
    """Runs a program that prints or asserts to its end; raises the error of its assertion."""
    try:
        # Wait here, since an assertion shows itself only when the program has ended.
        return jax.block_until_ready(call(*args))
    except jax.errors.JaxRuntimeError as error:
        raise run_error(error) from None


def picker(indices: Sequence[int]) -> Callable[[Any], Any]:
    """A quick function that picks these indices of a list."""
    # Faster than a loop in Python; of a single index `itemgetter` would give no sequence.
    if len(indices) > 1:
        return operator.itemgetter(*indices)
    return lambda values: [values[i] for i in indices]


class HostNumbers:
    """Numbers that the host knows at each call, such as learning rates.

    Attributes:
        getters: functions that return the numbers.
        on_device: for each number (the number, its array on the device or None).
    """

    def __init__(self, getters: list[Callable[[], Any]]) -> None:
        self.getters = getters
        self.on_device: list[tuple[Any, Any]] = [(None, None)] * len(getters)

    def values(self) -> list[Any]:
        """The numbers. One that stays the same is kept on the device, which saves its transfer."""
        values = []
        for i, get in enumerate(self.getters):
            number = get()
            known, array = self.on_device[i]
            # Compared by identity, then as float64: keys of a generator are arrays, for which `!=` is no
            # answer.
            if number is not known and (type(number) is not np.float64 or number != known):
                self.on_device[i] = number, None
                values.append(number)
                continue
            # The same as at the last call, so it is likely to stay.
            if array is None:
                array = put(np.asarray(number))
                self.on_device[i] = known, array
            values.append(array)
        return values


class DirectProgram:
    """A compiled program, and which operands give it their memory: those with a new value of the same shape.

    Attributes:
        name: str, for messages.
        compiled: function (flat, donated arrays, other arrays, numbers) -> results.
        call: InterruptSafeCall of it.
        pack: FlatBuffer of the small Tensors among the operands, or None.
        members: function that picks the Tensors of the FlatBuffer.
        others: function that picks the other operands, those that give their memory first.
        donated: indices of the operands that give their memory.
        donated_results: indices of their new values among the results.
        other_results: indices of the results that no operand takes.
        width: number of results.
        replaced: function that picks the operands with plain new values.
        steps: by how many versions each of these goes on.
        shapes: (shape, dtype) of each operand outside the FlatBuffer.
        avals: avals of these operands in the last call.
        numbers: HostNumbers.
        has_effects: bool, whether the program prints or asserts.
    """

    def __init__(
        self,
        name: str,
        captured: Captured,
        flat_function: Callable[..., Any],
        shapes: list[tuple[Any, Any]],
        value_updates: list[ValueUpdate],
        other_updates: list[OtherUpdate],
        numbers: HostNumbers,
        pack: FlatBuffer | None,
    ) -> None:
        self.name = name
        self.pack = pack
        self.numbers = numbers
        self.has_effects = bool(captured.jaxpr.effects)
        # Members of the FlatBuffer come as one array, in front.
        packed = [] if pack is None else pack.places
        updates = {target: (result, steps) for target, result, steps in value_updates}
        plain = [update for update in value_updates if update[0] not in set(packed)]
        written = [(target, result) for target, result, _ in plain]
        # Values whose `stop_gradient` changes as well still give their memory.
        written += [
            (target, result)
            for target, result, change in other_updates
            if target is not None and change.kind == "value" and not change.flows
        ]
        self.donated = [target for target, _ in written]
        self.donated_results = [result for _, result in written]
        packed_results = [updates[i][0] for i in packed]
        self.width = len(captured.results) + sum(change.count for change in captured.changes)
        taken_results = {*self.donated_results, *packed_results}
        self.other_results = [i for i in range(self.width) if i not in taken_results]
        self.replaced = picker([*[target for target, _, _ in plain], *packed])
        self.steps = [*[steps for _, _, steps in plain], *[updates[i][1] for i in packed]]
        self.members = picker(packed)
        # Donated ones first: the compiled function has an argument for them.
        taken = {*packed, *self.donated}
        order = [*self.donated, *[i for i in range(len(shapes)) if i not in taken]]
        self.others = picker(order)
        self.pick_donated = operator.itemgetter(slice(len(self.donated)))
        self.shapes = self.others(shapes)
        self.avals: list[Any] = [None] * len(order)
        # The operands as the compiled function has them, and where the captured run finds each of its own.
        index_of = {operand: k for k, operand in enumerate([*packed, *order])}
        sources = [index_of[i] for i in range(len(shapes))]

        def direct(flat: Any, donated: list[Any], others: list[Any], numbers: list[Any]) -> list[Any]:
            members = [] if pack is None else pack.split(flat)
            operands = [*members, *donated, *others]
            out = flat_function(*[operands[k] for k in sources], *numbers)
            if pack is None:
                joined = []
            else:
                joined = [pack.joined([out[i] for i in packed_results])]
            return [
                *joined,
                *[out[i] for i in self.donated_results],
                *[out[i] for i in self.other_results],
            ]

        # Shown in profiles and in error messages of XLA.
        direct.__name__ = name
        # XLA reuses memory for a result of the same shape and dtype alone.
        fits = all([fits_shape(captured, shapes[target], result) for target, result in written])
        # after a failed assertion everything must be as before
        donate = 1 if fits and not self.has_effects else ()
        options = fusion_options(captured.jaxpr)
        self.compiled = interrupt_safe_jit(direct, donate_argnums=donate, compiler_options=options or None)
        self.call = InterruptSafeCall(self.compiled, "to_static", is_short(captured.jaxpr))

    def run(self, flat: Any, tensors: list[Tensor], members: Sequence[Tensor] = ()) -> list[Any]:
        """Runs the program, and gives the Tensors their new values in the same step.

        Args:
            flat: the array of the FlatBuffer, or None.
            tensors: all operands.
            members: the Tensors of the FlatBuffer.
        Returns:
            The results as arrays, None for those that Tensors have taken.
        """
        arrays = self._arrays(self.others(tensors))
        donated = list(self.pick_donated(arrays))
        # A donated array is deleted. Somebody else who holds it, such as a list of the user, must not lose
        # it.
        counts = list(map(sys.getrefcount, donated))
        if counts and max(counts) > _REFERENCES:
            donated = [
                array if count <= _REFERENCES else jax.numpy.array(array)
                for array, count in zip(donated, counts, strict=True)
            ]
        # The list would be one more holder of each array.
        kept = arrays[len(donated) :]
        del arrays
        try:
            arguments = flat, donated, kept, self.numbers.values()
            changed = [tensors[i] for i in self.donated]
            untaken: list[Any] = []

            # Storing is one step that no interrupt can divide: the old arrays are gone by then.
            def store(results: Iterator[Any]) -> Iterable[Any]:
                steps = itertools.chain(map(set_slot, changed, results), map(untaken.append, results))
                if self.pack is None:
                    return steps
                return itertools.chain(self.pack.give(members, results), steps)

            if self.has_effects:
                call_and_store(list, [finish(self.compiled, *arguments)], store)
            else:
                # The key of compiled forms: JAX compiles one for each kind of number and for arrays bound
                # to a device.
                key = (*map(type, arguments[3]), *map(_COMMITTED, donated), *map(_COMMITTED, kept))
                self.call(arguments, store, None, key)
        except Exception as error:
            translated = self._translated(error, tensors, donated)
            if translated is error:
                raise
            raise translated from None
        out: list[Any] = [None] * self.width
        for index, value in zip(self.other_results, untaken, strict=True):
            out[index] = value
        return out

    def _translated(self, error: Exception, tensors: list[Tensor], donated: list[Any]) -> Exception:
        """The exception to raise for one that came up in a run."""
        translated = as_out_of_memory(error, self.name, [held_value(tensor) for tensor in tensors])
        pairs = zip(self.donated, donated, strict=True)
        # The failed program has deleted operands: their Tensors have no value any more.
        if not any(held_value(tensors[i]) is array and array.is_deleted() for i, array in pairs):
            return translated
        names = ", ".join(tensors[i].name for i in self.donated[:3])
        kind: type[Exception] = RuntimeError if translated is error else type(translated)
        return kind(
            f"{self.name}: failed after it had taken over the memory of {names} and others; "
            f"load their values again: {translated}"
        )

    def _arrays(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The arrays of the Tensors outside the FlatBuffer.

        Raises:
            GuardFailure: one has another shape or dtype.
        """
        raws = list(map(held_value, tensors))
        try:
            avals = list(map(_AVAL, raws))
        except AttributeError:  # a NumPy array
            avals = []
        # As in the last call: nothing to look at. This is the usual case, and avals of equal arrays are one
        # object.
        if same_objects(avals, self.avals):
            return raws
        # A pending value is computed, and new arrays are compared with the shapes of the capture.
        for i, (tensor, raw) in enumerate(zip(tensors, raws, strict=True)):
            if type(raw) is LazyArray or not isinstance(raw, jax.Array):
                raws[i] = to_jax_array(raw)
                # a Tensor that only is read stays a part of another program's FlatBuffer
                if i < len(self.donated) or type(getattr(raw, "segment", None)) is not FlatBuffer:
                    replace_held(tensor, raws[i])
            if (raws[i].shape, raws[i].dtype) != self.shapes[i]:
                raise GuardFailure(shape_reason(tensor, raws[i], self.shapes[i]))
        self.avals = [raw.aval for raw in raws]
        return raws


def fits_shape(captured: Captured, shape: tuple[Any, Any], result: int) -> bool:
    """Whether a new value has the shape and dtype of the old one, whose memory it can take."""
    struct = captured.structs[result]
    return (struct.shape, struct.dtype) == shape


def _reference_count() -> int:
    """The result of sys.getrefcount in `run` for an array that only its Tensor holds."""
    # Measured, as the number of temporary references differs between versions of Python.
    tensor = wrap(object())
    arrays = list(map(held_value, [tensor]))
    picked = list(picker([0])(arrays))
    return next(map(sys.getrefcount, picked))


_REFERENCES = _reference_count()
