"""Plans: a jaxpr as a list of NumPy calls, for operations that are not worth a compilation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.numpy_backend import cost as costs
from paddle_jax._core.numpy_backend.blocks import Call, in_blocks
from paddle_jax._core.numpy_backend.flatten import Flat, flatten
from paddle_jax._core.numpy_backend.keys import as_word_equation
from paddle_jax._core.numpy_backend.rows import join_rows
from paddle_jax._core.numpy_backend.rules import RULES, ArrayType, Avals, Params, Refusal, Run, size_of

_FOLD = 1 << 14  # elements up to which the result of an equation on constants is kept
_LARGEST = 1 << 31  # bytes of the results of an equation
HUGE = 1 << 24  # bytes of an array from which on the results of an equation may be too large
_RECYCLE = 1 << 15  # bytes from which memory of dead results is freed at once, and used again
_VIEWS = frozenset(("broadcast_in_dim", "iota"))
_KEYS = frozenset(
    ("random_wrap", "random_unwrap", "random_bits", "random_split", "random_fold_in", "random_seed")
)
_FLOAT = np.dtype(np.float32)
# kinds of steps, by the call that they make; the numbers are literals in `Plan.execute`, which is hot
_SEVERAL_RESULTS, _ONE_OPERAND, _TWO_OPERANDS, _MANY_OPERANDS, _INTO_OPERAND = range(5)


def plan(closed_jaxpr: Any, limit: float | None = None) -> Plan:
    """The Plan of a closed jaxpr.

    Args:
        closed_jaxpr: the jaxpr.
        limit: seconds that one run may cost; None: no limit.
    Raises:
        Refusal: there is no plan, or its `cost` exceeds the limit.
    """
    result = Plan(closed_jaxpr)
    variables = (*closed_jaxpr.jaxpr.invars, *closed_jaxpr.jaxpr.outvars)
    if any(not isinstance(v.aval.dtype, np.dtype) for v in variables):
        raise Refusal("random keys as operands or results: NumPy has no array of them")
    if limit is not None and result.cost > limit:
        raise Refusal(f"an estimated {result.cost:.2g} s per run in NumPy exceeds the limit of {limit:.2g} s")
    return result


class Plan:
    """A jaxpr ready to run with NumPy. Calling it is safe in several threads at once.

    `plan(*operands)` takes one NumPy array per operand, of exactly its shape and dtype, and gives a list of
    NumPy arrays in C order. It never writes to operands. A result may be an operand or share its memory, and
    two results may share memory. A result that does not depend on an operand may be the same read-only array
    in every run: treat results as constants. A result never keeps memory alive that is larger than itself,
    unless that belongs to an operand's owner.

    Attributes:
        cost: float, estimated seconds of one run (one trip of each `while`), from counts only.
        compile_cost: float, estimated seconds that XLA takes to compile it.
        shapes: list of the shapes of the results.
        names: dict from the name of a primitive to the number of its equations.
    """

    __slots__ = ("_arity", "_ends", "_results", "_start", "_steps", "compile_cost", "cost", "names", "shapes")

    def __init__(self, closed_jaxpr: Any) -> None:
        flat = flatten(closed_jaxpr)
        join_rows(flat)
        cost = costs.CALL
        compile_cost = costs.COMPILE_BASE
        names: dict[str, int] = {}
        calls = []
        # Constants are computed here, without warnings, as in compiled code.
        with np.errstate(all="ignore"):
            for primitive, params, ins, outs, in_avals, out_avals in flat.equations:
                name = primitive.name
                refuse_huge(name, out_avals)
                run = build_run(name, params, in_avals, out_avals)
                names[name] = names.get(name, 0) + 1
                compile_cost += costs.compile_cost(name, run)
                call = Call(run, ins, outs, primitive.multiple_results)
                if not fold(call, name, flat, out_avals):
                    cost += costs.cost(name, params, in_avals, out_avals, run)
                    calls.append(call)
        self._set_calls(calls, flat, cost, compile_cost, names)

    @classmethod
    def of_calls(
        cls, calls: list[Call], flat: Flat, cost: float, compile_cost: float, names: dict[str, int]
    ) -> Plan:
        """The Plan of NumPy calls.

        Args:
            calls: the calls in order.
            flat: Flat with the avals, constants and results that they belong to.
            cost, compile_cost, names: the attributes of the Plan.
        """
        made = object.__new__(cls)
        made._set_calls(calls, flat, cost, compile_cost, names)
        return made

    def _set_calls(
        self, calls: Sequence[Call], flat: Flat, cost: float, compile_cost: float, names: dict[str, int]
    ) -> None:
        """Sets all attributes."""
        self.cost = cost
        self.compile_cost = compile_cost
        self.names: dict[str, int] = names
        self._arity = flat.arity
        self.shapes = [flat.avals[slot].shape for slot in flat.results]
        # Most plans have small arrays alone.
        if max(map(bytes_of, flat.avals), default=0) < _RECYCLE:
            steps = [_step(call, (), flat, set()) for call in calls]
        else:
            calls = in_blocks(calls, flat.avals, flat.results)
            steps = _schedule(calls, flat)
        # A constant that was only read to compute others need not stay.
        used = {slot for call in calls for slot in call.ins}.union(flat.results)
        self._start = [flat.constants.get(slot) if slot in used else None for slot in range(len(flat.avals))]
        self._steps = steps
        # A ufunc gives a new array; other rules may give views.
        owned = {slot for call in calls if isinstance(call.run, np.ufunc) for slot in call.outs}
        self._results = flat.results
        self._ends = [
            (slot in owned, flat.avals[slot].shape, flat.avals[slot].dtype) for slot in flat.results
        ]

    @classmethod
    def of_steps(cls, steps: list[tuple[Any, ...]], arity: int, slot_count: int, results: list[int]) -> Plan:
        """The Plan of steps as `plan_step` gives them, for `execute` alone: nothing is known of its costs.

        Args:
            steps: the steps.
            arity: number of operands, which are the first slots.
            slot_count: number of slots.
            results: slots of the results.
        """
        made = object.__new__(cls)
        made._arity = arity
        made._start = [None] * slot_count
        made._steps = steps
        made._results = results
        made._ends = []
        return made

    @classmethod
    def join(
        cls,
        plans: Sequence[Plan],
        sources: Sequence[Sequence[int]],
        arity: int,
        wanted: Sequence[int] | None = None,
    ) -> Plan:
        """One Plan that runs several plans, one after another.

        Args:
            plans: the plans, in their order.
            sources: for each plan where its operands come from: -1 - j is operand j of the joined Plan, and k
                is result k, counted over all plans.
            arity: the number of operands of the joined Plan.
            wanted: the results that the joined Plan gives; None: all.
        """
        joined = object.__new__(cls)
        joined._arity = arity
        joined.cost = sum(plan.cost for plan in plans)
        joined.compile_cost = sum(plan.compile_cost for plan in plans)
        joined.names = {}
        start: list[Any] = [None] * arity
        steps: list[tuple[Any, ...]] = []
        results: list[int] = []
        for plan, operands in zip(plans, sources, strict=True):
            slots = [-1 - source if source < 0 else results[source] for source in operands]
            own_values = plan._start[plan._arity :]
            slots.extend(range(len(start), len(start) + len(own_values)))
            start.extend(own_values)
            steps.extend(_with_slots(step, slots) for step in plan._steps)
            results.extend(slots[slot] for slot in plan._results)
            for name, count in plan.names.items():
                joined.names[name] = joined.names.get(name, 0) + count
        ends = [end for plan in plans for end in plan._ends]
        if wanted is None:
            wanted = range(len(results))
        joined._start = start
        joined._results = [results[k] for k in wanted]
        joined._ends = [ends[k] for k in wanted]
        joined.shapes = [shape for _, shape, _ in joined._ends]
        large = {
            slot for slot, (_, shape, dtype) in zip(results, ends, strict=True) if _is_large(shape, dtype)
        }
        joined._steps = _freeing(steps, large.difference(joined._results, range(arity)))
        return joined

    def __call__(self, *operands: np.ndarray) -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            return self.quietly(operands)

    def quietly(self, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """As a call, for callers that have NumPy's warnings off."""
        if extension is not None:
            return extension.quietly(self, operands)
        return self.quietly_in_python(operands)

    def quietly_in_python(self, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """As `quietly`, where the installation has no extension module."""
        results = self.execute_in_python(operands)
        for k, (owned, shape, dtype) in enumerate(self._ends):
            x = results[k]
            # most results need nothing: an array of its own, as the equation says
            is_finished = (
                type(x) is np.ndarray
                and x.dtype is dtype
                and x.shape == shape
                and (owned or x.base is None)
                and x.flags.c_contiguous
            )
            if not is_finished:
                results[k] = _finish(x, owned, shape, dtype)
        return results

    def execute(self, operands: Sequence[Any]) -> list[Any]:
        """The results as they are, NumPy scalars among them; for callers that have NumPy's warnings off."""
        if extension is not None:
            return extension.execute(self, operands)
        return self.execute_in_python(operands)

    def execute_in_python(self, operands: Sequence[Any]) -> list[Any]:
        """As `execute`, where the installation has no extension module."""
        slots = self._start.copy()
        slots[: self._arity] = operands
        for kind, run, i, j, out, dead in self._steps:
            # Most calls have two operands, so this is asked first.
            if kind == 2:
                slots[out] = run(slots[i], slots[j])
            elif kind == 1:
                slots[out] = run(slots[i])
            elif kind == 3:
                slots[out] = run(*map(slots.__getitem__, i))
            elif kind == 4:
                slots[out] = run(*map(slots.__getitem__, i), out=slots[j])
            else:
                for k, x in zip(out, run(*map(slots.__getitem__, i))):  # noqa: B905
                    slots[k] = x
            if dead is not None:
                for k in dead:
                    slots[k] = None
        return list(map(slots.__getitem__, self._results))


def fold(call: Call, name: str, flat: Flat, out_avals: Avals) -> bool:
    """Computes the results of a call of constants; whether that was done.

    Args:
        call: the call.
        name: that of the primitive.
        flat: Flat whose constants it reads and adds to.
        out_avals: the avals of the results.
    """
    # Small results of constants are constants; views take no memory.
    if not all(map(flat.constants.__contains__, call.ins)):
        return False
    if name not in _VIEWS and sum(map(size_of, out_avals)) > _FOLD:
        return False
    result = call.run(*[flat.constants[slot] for slot in call.ins])
    results = result if call.is_multiple else [result]
    for slot, x in zip(call.outs, results, strict=True):
        flat.constants[slot] = np.asarray(x).view()
        flat.constants[slot].flags.writeable = False
    return True


def refuse_huge(name: str, outs: Avals) -> None:
    """Raises Refusal where the results of a primitive are too large."""
    if sum(map(bytes_of, outs)) > _LARGEST:
        raise Refusal(f"primitive '{name}' gives more than 2 GiB; compiled code may not hold it")


def build_run(name: str, params: Params, ins: Avals, outs: Avals) -> Run:
    """The function of an equation."""
    build = RULES.get(name)
    if build is None:
        raise Refusal(f"primitive '{name}' has no rule")
    # Types of arrays are never those of random keys.
    is_of_numbers = type(outs[0]) is ArrayType if outs else False
    if not is_of_numbers and name not in _KEYS and not all(map(_is_of_numbers, (*ins, *outs))):
        params, ins, outs = as_word_equation(name, params, ins, outs)  # random keys
    try:
        return build(params, ins, outs)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # another version of JAX has other parameters
        raise Refusal(f"primitive '{name}': {type(error).__name__}: {error}") from error


def _is_of_numbers(aval: Any) -> bool:
    """Whether an aval has a dtype of NumPy, or none at all."""
    return isinstance(getattr(aval, "dtype", _FLOAT), np.dtype)


def _schedule(calls: Sequence[Call], flat: Flat) -> list[tuple[Any, ...]]:
    """The steps that `Plan.execute` reads, with the slots to free after each."""
    last_use: dict[int, int] = {}
    results = set(flat.results)
    for n, call in enumerate(calls):
        # A result that nothing reads ends with its own call.
        for slot in (*call.ins, *call.outs):
            last_use[slot] = n
    private = _private_slots(calls, results)
    steps = []
    # Large arrays are given back at once, small ones at the end.
    for n, call in enumerate(calls):
        dead = tuple(
            slot
            for slot in {*call.ins, *call.outs}
            if last_use[slot] == n
            and slot >= flat.arity
            and slot not in results
            and slot not in flat.constants
            and bytes_of(flat.avals[slot]) >= _RECYCLE
        )
        steps.append(_step(call, dead, flat, private))
    return steps


def _step(call: Call, dead: tuple[int, ...], flat: Flat, private: set[int]) -> tuple[Any, ...]:
    """A step of a plan, with the slots to free after it."""
    target = None
    # A ufunc can write its result over an operand that ends here.
    if dead and isinstance(call.run, np.ufunc):
        target = _target(flat, call, private.intersection(dead))
    return plan_step(call, target, dead)


def plan_step(call: Call, target: int | None, dead: tuple[int, ...] = ()) -> tuple[Any, ...]:
    """(kind, function, operands, second operand or target, results, slots to free) of a call.

    Args:
        call: the call.
        target: the slot of an array that the result is written into, or None.
        dead: the slots to free.
    """
    run, ins, outs, is_multiple = call
    if is_multiple:
        return _SEVERAL_RESULTS, run, tuple(ins), None, tuple(outs), dead or None
    if target is not None:
        return _INTO_OPERAND, run, tuple(ins), target, outs[0], dead or None
    if len(ins) == 1:
        return _ONE_OPERAND, run, ins[0], None, outs[0], dead or None
    if len(ins) == 2:
        return _TWO_OPERANDS, run, *ins, outs[0], dead or None
    return _MANY_OPERANDS, run, tuple(ins), None, outs[0], dead or None


def _with_slots(step: tuple[Any, ...], slots: Sequence[int]) -> tuple[Any, ...]:
    """A step of a plan, as a step of a joined Plan. slots: the new number of each slot."""
    renumbered = [step[0], step[1]]
    for part in step[2:]:  # numbers of slots, tuples of them, or None
        if type(part) is tuple:
            renumbered.append(tuple(slots[slot] for slot in part))
        elif part is None:
            renumbered.append(None)
        else:
            renumbered.append(slots[part])
    return tuple(renumbered)


def _freeing(steps: Sequence[tuple[Any, ...]], slots: set[int]) -> list[tuple[Any, ...]]:
    """Steps that also free some slots, each at the last step that reads it."""
    freed_after: dict[int, list[int]] = {}
    for n in range(len(steps) - 1, -1, -1):
        for slot in _slots_of(steps[n]) & slots:
            slots.remove(slot)
            freed_after.setdefault(n, []).append(slot)
    return [
        (*step[:-1], (*(step[-1] or ()), *freed_after[n])) if n in freed_after else step
        for n, step in enumerate(steps)
    ]


def _slots_of(step: tuple[Any, ...]) -> set[int]:
    """The slots that a step reads or writes."""
    found: set[int] = set()
    for part in step[2:5]:
        if type(part) is tuple:
            found.update(part)
        elif part is not None:
            found.add(part)
    return found


def _is_large(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether the memory of an array is freed as soon as nothing needs it."""
    return math.prod(shape) * dtype.itemsize >= _RECYCLE


def _private_slots(calls: Sequence[Call], results: set[int]) -> set[int]:
    """Slots whose memory nothing else can see: made by a ufunc, read by ufuncs alone."""
    private: set[int] = set()
    for call in calls:
        if isinstance(call.run, np.ufunc):
            private.update(call.outs)
        else:
            private.difference_update(call.ins)
    return private - results


def _target(flat: Flat, call: Call, candidates: set[int]) -> int | None:
    """A dying operand into whose memory the result fits."""
    if call.run.nin != len(call.ins) or call.run.nout != 1:  # pyright: ignore[reportFunctionMemberAccess]
        return None
    wanted = flat.avals[call.outs[0]]
    for slot in candidates:
        if flat.avals[slot].shape == wanted.shape and flat.avals[slot].dtype == wanted.dtype:
            return slot
    return None


def bytes_of(aval: Any) -> int:
    """Bytes of an array."""
    if type(aval) is ArrayType:
        return aval.nbytes
    if hasattr(aval, "shape"):
        return size_of(aval) * aval.dtype.itemsize
    return 0


def _finish(x: Any, owned: bool, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A result as a C-ordered array that keeps no larger array alive; checks its shape and dtype."""
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    if x.dtype is not dtype and x.dtype != dtype or x.shape != shape:
        raise TypeError(f"a rule gave {x.dtype}{list(x.shape)} in place of {dtype}{list(shape)}")
    if not x.flags.c_contiguous:
        return np.ascontiguousarray(x)
    if not owned and x.base is not None and getattr(x.base, "nbytes", 0) > x.nbytes:
        return x.copy()
    return x


if extension is not None:
    extension.setup_plan({"Plan": Plan, "ndarray": np.ndarray}, np.asarray, _finish)
