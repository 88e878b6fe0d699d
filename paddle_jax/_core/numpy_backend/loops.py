"""Loops of small steps, where the calls of NumPy take the time and not the arithmetic.

What a step computes from its slices alone is computed for all steps before the loop, and what no later step
reads is computed after it. In between, NumPy writes results where they are needed, and makes no new arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paddle_jax._core.numpy_backend.blocks import Call
from paddle_jax._core.numpy_backend.elementwise import ELEMENTWISE
from paddle_jax._core.numpy_backend.flatten import Flat, flatten
from paddle_jax._core.numpy_backend.plan import Plan, build_run, bytes_of, plan_step
from paddle_jax._core.numpy_backend.rules import ArrayType, Avals, Params, Run

_AXIS = {"split": "axis", "concatenate": "dimension"}  # the parameter that counts axes


class _Equation(NamedTuple):
    """An equation of a step.

    Attributes:
        name: that of its primitive.
        params: its parameters.
        run: its function.
        into: function that takes an array as `out`, writes the result into it and gives it; or None.
        ins: slots of the operands.
        outs: slots of the results.
        is_multiple: bool, whether it gives a sequence of results.
    """

    name: str
    params: Params
    run: Run
    into: Run | None
    ins: Sequence[int]
    outs: Sequence[int]
    is_multiple: bool


class _Piece(NamedTuple):
    """A result of a split, which is a view.

    Attributes:
        whole: slot of the array that is split.
        place: index of the piece in an array of that slot.
    """

    whole: int
    place: tuple[slice, ...]


class _Parts:
    """The equations of a step by when they run.

    Slots number the values of a step: operands that are the same in each step, the carry, slices, then what
    the step computes.

    Attributes:
        flat: Flat of a step.
        fixed: set of the slots that are the same in each step.
        known: set of the slots whose values for all steps are known before the loop.
        once: list of _Equation that are the same in each step.
        before: list of _Equation for all steps at once.
        steps: list of _Equation of each step.
        after: list of _Equation for all steps at once, after the loop.
        stacked: dict with the slots whose values for all steps the loop has to keep, as keys.
        pieces: dict from the results of splits in a step to _Piece.
        carry: list of the slots of the next carry.
        outputs: list of the slots of the outputs.
        next: dict from the slots of the carry to those of the next one.
    """

    def __init__(self, jaxpr: Any, const_count: int, carry_count: int) -> None:
        self.flat: Flat = flatten(jaxpr)
        first_slice = const_count + carry_count
        self.fixed: set[int] = {*range(const_count), *self.flat.constants}
        self.known: set[int] = set(range(first_slice, self.flat.arity))
        self.once: list[_Equation] = []
        self.before: list[_Equation] = []
        self.steps: list[_Equation] = []
        self.pieces: dict[int, _Piece] = {}
        for equation in self.flat.equations:
            self._place(*equation)
        self.carry: list[int] = self.flat.results[:carry_count]
        self.outputs: list[int] = self.flat.results[carry_count:]
        # A value of the step before is that of the carry.
        self.next: dict[int, int] = dict(zip(range(const_count, first_slice), self.carry, strict=True))
        self._made_by = {slot: equation for equation in self.steps for slot in equation.outs}
        self.after: list[_Equation] = self._take_late_equations()
        self.stacked: dict[int, None] = {}
        after_results = {slot for equation in self.after for slot in equation.outs}
        read_later = [*self.outputs, *[k for equation in self.after for k in equation.ins]]
        for slot in read_later:
            if slot not in after_results:
                self._stack(slot)

    def _place(
        self,
        primitive: Any,
        params: Params,
        ins: Sequence[int],
        outs: Sequence[int],
        in_avals: Avals,
        out_avals: Avals,
    ) -> None:
        """Adds an entry of Flat.equations where it runs first."""
        name = primitive.name
        run = build_run(name, params, in_avals, out_avals)
        ins = list(ins)
        turned: Sequence[int] = getattr(run, "turned", ())
        if turned and all(ins[k] in self.fixed for k in turned):
            # Most often a matrix of weights: it is turned once.
            run = run.times  # pyright: ignore[reportFunctionMemberAccess]
            for k in turned:
                ins[k] = self._transposed(ins[k], in_avals[k])
        into = _into(name, params, run, in_avals, out_avals)
        equation = _Equation(name, params, run, into, ins, outs, primitive.multiple_results)
        if self.fixed.issuperset(ins):
            self.once.append(equation)
            self.fixed.update(outs)
        elif self._is_for_all_steps(equation) and (self.fixed | self.known).issuperset(ins):
            self.before.append(_for_all_steps(equation))
            self.known.update(outs)
        else:
            self.steps.append(equation)
            if name == "split":
                self.pieces.update(_pieces(equation))

    def _transposed(self, slot: int, aval: Any) -> int:
        """The slot of the transpose of a matrix that is the same in each step."""
        view = self.flat.slot(ArrayType(aval.shape[::-1], aval.dtype))
        run = operator.methodcaller("transpose")
        self.once.append(_Equation("transpose", {}, run, None, [slot], [view], False))
        self.fixed.add(view)
        return view

    def _is_for_all_steps(self, equation: _Equation) -> bool:
        """Whether an equation can run for all steps at once, with the steps as the first axis."""
        varying = [slot for slot in equation.ins if slot not in self.fixed]
        shape = self._shape(equation.outs[0])
        if equation.name in ELEMENTWISE:
            fixed_shapes = {self._shape(slot) for slot in equation.ins if slot in self.fixed}
            return fixed_shapes <= {(), shape} and all(self._shape(slot) == shape for slot in varying)
        return equation.name in _AXIS and len(varying) == len(equation.ins)

    def _shape(self, slot: int) -> tuple[int, ...]:
        return self.flat.avals[slot].shape

    def _take_late_equations(self) -> list[_Equation]:
        """Removes the equations that can run after the loop from the steps; gives them in order."""
        needed = set(self.carry)
        late: list[_Equation] = []
        steps: list[_Equation] = []
        for equation in reversed(self.steps):
            can_wait = (
                needed.isdisjoint(equation.outs)
                and equation.name != "split"
                and self._is_for_all_steps(equation)
                and all(slot in self.fixed or self._is_stacked_without_copy(slot) for slot in equation.ins)
            )
            if can_wait:
                late.append(_for_all_steps(equation))
            else:
                steps.append(equation)
                needed.update(equation.ins)
        self.steps = steps[::-1]
        return late[::-1]

    def _is_stacked_without_copy(self, slot: int) -> bool:
        """Whether the values of a slot for all steps are known, or a call of each step can write them."""
        if slot in self.known:
            return True
        slot = self.next.get(slot, slot)
        equation = self._made_by.get(slot)
        return equation is not None and equation.into is not None

    def _stack(self, slot: int) -> None:
        """Notes that something reads the values of a slot for all steps."""
        if slot in self.fixed or slot in self.known or slot in self.stacked:
            return
        source = slot
        if slot in self.pieces:
            source = self.pieces[slot].whole
        elif self._is_stacked_without_copy(slot):
            source = self.next.get(slot, slot)
        if source != slot and self._is_stacked_without_copy(source):
            self._stack(source)
        self.stacked[slot] = None


def _into(name: str, params: Params, run: Any, ins: Avals, outs: Avals) -> Run | None:
    """The function that writes the result of an equation into an array; None if there is none."""
    # A row of numbers is a number, which nothing can be written into.
    if not outs[0].shape or len(outs) > 1 or any(aval.dtype != outs[0].dtype for aval in ins):
        return None
    if name == "concatenate":
        axis = params["dimension"]
        return lambda *operands, out: np.concatenate(operands, axis, out)
    if isinstance(run, np.ufunc) and run.nin == len(ins) and run.nout == 1:
        return run
    return getattr(run, "into", None)


def _pieces(equation: _Equation) -> dict[int, _Piece]:
    """The results of a split, by their slots."""
    axis = equation.params["axis"]
    (whole,) = equation.ins
    pieces = {}
    start = 0
    for slot, size in zip(equation.outs, equation.params["sizes"], strict=True):
        pieces[slot] = _Piece(whole, (slice(None),) * axis + (slice(start, start + size),))
        start += size
    return pieces


def _for_all_steps(equation: _Equation) -> _Equation:
    """An equation of a step as one for all steps, which are the first axis."""
    name = equation.name
    if name not in _AXIS:
        return equation
    # Its rule reads no lengths.
    params = {**equation.params, _AXIS[name]: equation.params[_AXIS[name]] + 1}
    return equation._replace(params=params, run=build_run(name, params, (), ()))


class Loop:
    """A scan of which one step is a closed jaxpr.

    Args:
        jaxpr: the closed jaxpr.
        const_count: number of operands that are the same in each step.
        carry_count: number of operands in the carry.
    Attributes:
        bytes_per_step: int, size of the arrays that hold values of all steps, divided by their number.
        _parts: _Parts.
        _const_count, _first_slice: numbers of the first slot of the carry and of the slices.
        _targets: list of the slots whose values for all steps the loop writes.
        _views: dict from slots to _Piece of `_targets`.
        _copies: list of the `_targets` into which results are copied.
        _shifted: list of the slots of the carry whose values for all steps are those of `_targets`.
        _buffers: list of the slots with an array that each step writes again.
        _buffer_views: dict from slots to _Piece of `_buffers`.
        _stay: list of the slots whose arrays are the same in each step.
        _rows: list of the slots that get another array in each step.
        _plan: Plan of a step: from the values of `_stay`, the carry and `_rows` to the next carry and what is
            copied.
    """

    def __init__(self, jaxpr: Any, const_count: int, carry_count: int) -> None:
        parts = _Parts(jaxpr, const_count, carry_count)
        self._parts = parts
        self._const_count = const_count
        self._first_slice = const_count + carry_count
        in_place = {e.outs[0] for e in parts.steps if e.into is not None and e.outs[0] in parts.stacked}
        held = in_place | self._escaping_slots()
        self._buffers = [e.outs[0] for e in parts.steps if e.into is not None and e.outs[0] not in held]
        pieces = parts.pieces.items()
        self._views = {slot: piece for slot, piece in pieces if piece.whole in in_place}
        self._buffer_views = {slot: piece for slot, piece in pieces if piece.whole in self._buffers}
        # What is passed on unchanged has no values of its own.
        made = parts.stacked.keys() - parts.next.keys()
        self._shifted = [slot for slot in parts.stacked if parts.next.get(slot) in made]
        self._targets = [
            slot for slot in parts.stacked if slot not in self._views and slot not in self._shifted
        ]
        self._copies = [slot for slot in self._targets if slot not in in_place]
        steps = [e for e in parts.steps if not ({*e.outs} & {*self._views, *self._buffer_views})]
        read = {*parts.carry, *self._copies, *[slot for e in steps for slot in e.ins]}
        self._rows = [*in_place, *[k for k in sorted(read) if k in parts.known or k in self._views]]
        self._stay = [*sorted(read & parts.fixed), *self._buffers, *self._buffer_views]
        self._plan: Plan = self._plan_of_step(steps, {*in_place, *self._buffers})
        avals = parts.flat.avals
        late = [slot for e in (*parts.before, *parts.after) for slot in e.outs]
        of_all_steps = {*self._rows, *parts.stacked, *late}
        self.bytes_per_step: int = sum(bytes_of(avals[k]) for k in of_all_steps)

    def _escaping_slots(self) -> set[int]:
        """The slots whose arrays the next step may read: those of the carry, and of what they may be views
        of."""
        escaping = set(self._parts.carry)
        for equation in reversed(self._parts.steps):
            if equation.into is None and not escaping.isdisjoint(equation.outs):
                escaping.update(equation.ins)
        return escaping

    def _plan_of_step(self, steps: Sequence[_Equation], written: set[int]) -> Plan:
        """The Plan of a step.

        Args:
            steps: the equations that run in each step.
            written: the slots of results that are written into arrays.
        """
        operands = [*self._stay, *range(self._const_count, self._first_slice), *self._rows]
        made = [slot for e in steps for slot in e.outs if slot not in written]
        numbers = {slot: number for number, slot in enumerate((*operands, *made))}
        calls = []
        for e in steps:
            ins = [numbers[slot] for slot in e.ins]
            outs = [numbers[slot] for slot in e.outs]
            run = e.run
            target = None
            if e.outs[0] in written:
                run = e.into
                target = outs[0]
            calls.append(plan_step(Call(run, ins, outs, e.is_multiple), target))  # pyright: ignore[reportArgumentType]
        results = [numbers[slot] for slot in (*self._parts.carry, *self._copies)]
        return Plan.of_steps(calls, len(operands), len(numbers), results)

    def run(self, operands: Sequence[Any], length: int, is_reversed: bool) -> list[Any]:
        """The results of the scan. The caller has NumPy's warnings off.

        Args:
            operands: those of the equation.
            length: number of steps, at least 1.
            is_reversed: whether the last slice comes first.
        """
        parts = self._parts
        avals = parts.flat.avals
        carry = operands[self._const_count : self._first_slice]
        fixed = {**parts.flat.constants, **dict(enumerate(operands[: self._const_count]))}
        _compute(parts.once, fixed, fixed)
        stacks = dict(enumerate(operands[self._first_slice :], self._first_slice))
        _compute(parts.before, stacks, fixed)
        for slot in self._targets:
            stacks[slot] = np.empty((length, *avals[slot].shape), avals[slot].dtype)
        for slot, piece in self._views.items():
            stacks[slot] = stacks[piece.whole][(slice(None), *piece.place)]
        last = self._run_steps(fixed, carry, stacks, length, is_reversed)
        for slot in self._shifted:
            before = np.asarray(carry[slot - self._const_count])[None]
            after = stacks[parts.next[slot]]
            shifted = (after[1:], before) if is_reversed else (before, after[:-1])
            stacks[slot] = np.concatenate(shifted)
        _compute(parts.after, stacks, fixed)
        outputs = []
        for slot in parts.outputs:
            if slot in fixed:
                outputs.append(np.broadcast_to(fixed[slot], (length, *avals[slot].shape)))
            else:
                outputs.append(stacks[slot])
        return [*last, *outputs]

    def _run_steps(
        self,
        fixed: dict[int, Any],
        carry: Sequence[Any],
        stacks: dict[int, Any],
        length: int,
        is_reversed: bool,
    ) -> Sequence[Any]:
        """Runs the steps; gives the last carry.

        Args:
            fixed: the values that are the same in each step, by slot. The arrays that each step writes again
                are added.
            carry: the first carry.
            stacks: the values of all steps, by slot; the steps write into some.
            length: number of steps.
            is_reversed: whether the last slice comes first.
        """
        avals = self._parts.flat.avals
        for slot in self._buffers:
            fixed[slot] = np.empty(avals[slot].shape, avals[slot].dtype)
        for slot, piece in self._buffer_views.items():
            fixed[slot] = fixed[piece.whole][piece.place]
        stay = [fixed[slot] for slot in self._stay]
        copies = [stacks[slot] for slot in self._copies]
        known = self._parts.known
        order = slice(None, None, -1) if is_reversed else slice(None)
        # NumPy takes longer for parts of larger rows.
        rows = [(_contiguous(stacks[k]) if k in known else stacks[k])[order] for k in self._rows]
        run = self._plan.execute
        carry_count = len(carry)
        for t, *values in zip(range(length)[order], *rows, strict=True):
            results = run((*stay, *carry, *values))
            carry = results[:carry_count]
            for stack, value in zip(copies, results[carry_count:], strict=True):
                stack[t] = value
        return carry


def _compute(equations: Sequence[_Equation], values: dict[int, Any], others: dict[int, Any]) -> None:
    """Runs equations on values by slot, and on others; adds their results to the values."""
    for equation in equations:
        operands = [values[slot] if slot in values else others[slot] for slot in equation.ins]
        results = equation.run(*operands)
        if not equation.is_multiple:
            results = [results]
        values.update(zip(equation.outs, results, strict=True))


def _contiguous(x: np.ndarray) -> np.ndarray:
    """An array in C order."""
    if x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(x)
