"""Stacks of parameters with their optimizer state, and the calls they are updated in."""

from __future__ import annotations

import collections
import functools as ft
import itertools
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel, execute
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy, to_lazy
from paddle_jax._core.lazy.multi_device import MultiDevice, read_on_all
from paddle_jax._core.lazy.transfer import (
    host_view,
    is_on_host,
    materialize,
    put_beside,
    to_jax_array,
    to_numpy,
)
from paddle_jax._core.runner.run_segment import interpret_now
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import held_value, plain_shape, set_slot
from paddle_jax._core.tensors.layout import layout_of, put, replicated
from paddle_jax._core.tensors.tensor import Tensor, assign_all, wrap
from paddle_jax.optimizer import flat
from paddle_jax.optimizer.flat import FLAT, ROWS
from paddle_jax.optimizer.states import outside
from paddle_jax.optimizer.update import compiled, scale_of, square_total

if TYPE_CHECKING:
    from paddle_jax._annotations import UpdateResult
    from paddle_jax._core.base.interrupt_safe import InterruptSafeCall
    from paddle_jax._core.tensors.place import Place


_OWN = operator.attrgetter("__dict__")
STACK = 32  # parameters in one stack
SMALL = 16384  # elements; larger parameters stand alone, since stacking copies them
RECORDED = 256  # parameters up to which a step is recorded with the ops before it
CALL = 64  # parameters in one call: bounds the time to compile, and equal calls share their program


class Stack:
    """Up to STACK parameters of one shape and dtype, which are updated as one array.

    A flat stack (flat.py) has parameters of any shapes with the same `extras`, of which it has one each. A
    stack of rows has a single table, whose gradient is passed as (gradients, row numbers).

    Attributes:
        params: list of Parameters.
        state: {slot name: Tensor with a leading axis over the parameters}.
        extras: {name: vector over the parameters}, those that are not neutral: `lr` factor on the rate, `l1`
            and `l2` decay, `free` (1: not clipped), and `rule_...` for the rule of the optimizer.
        flat: bool, whether it is a flat stack.
        layout: (layout of the parameters, ((slot name, layout), ...)), or None on one device.
        place: the Place of the parameters, or None; see `_place_of`.
        form: FLAT, ROWS or the layout; see `update.compiled`.
        width: int, how many arrays its gradients are.
    """

    def __init__(
        self,
        params: Sequence[Tensor],
        state: dict[str, Tensor],
        extras: dict[str, np.ndarray],
        flat: bool = False,
        rows: bool = False,
    ) -> None:
        self.params = params
        self.state = state
        self.extras = extras
        self.flat = flat
        # Stacks may not mix layouts, which each compiled program has fixed.
        where = layout_of(params[0])
        self.place: Place | None = _place_of(params[0])
        if where is None:
            self.layout = None
        else:
            self.layout: tuple[Any, tuple[tuple[str, Any | None], ...]] | None = (
                where,
                tuple([(name, layout_of(state[name]) or replicated(where)) for name in sorted(state)]),
            )
        if rows:
            self.form = ROWS
        elif flat:
            self.form = FLAT
        else:
            self.form: str = self.layout
        # A table has one parameter, and two operands: row numbers and rows.
        if rows:
            self.width = 2
        else:
            self.width: int = len(params)

    def masked(self, updated: np.ndarray) -> dict[str, np.ndarray]:
        """The extras for a step in which only some parameters are updated: `updated` is a bool
        array over them."""
        return self.extras | {"mask": flat.even(updated) if self.flat else updated}

    def of(self, slot: str, row: int) -> jax.Array:
        """The state of one of the parameters."""
        return self.parameter_value(self.state[slot]._value, row)

    def parameter_value(self, value: Any, row: int) -> jax.Array:
        """What is of one of the parameters in a state."""
        # Each place in a jax array would be a program of its own.
        view = host_view(value)
        whole = value if view is None else view
        if self.flat:
            part = flat.parameter_state(whole, self.params, row)
        else:
            part = whole[row]
        return part if view is None else put_beside(np.array(part), value)

    def together(self, slot: str, values: Sequence[jax.Array]) -> jax.Array:
        """The states of the parameters as one array; the opposite of `of`."""
        views = [host_view(value) for value in values]
        if any(view is None for view in views):
            return self._joined(slot, values, jnp)
        return put_beside(self._joined(slot, views, np), values[0])

    def _joined(self, slot: str, values: Sequence[Any], array_module: Any) -> Any:
        if self.flat:
            return flat.gathered(values, plain_shape(self.state[slot])[1] == 1, array_module)
        return array_module.stack(values)

    def moved(self, states: dict[int, dict[str, Any]]) -> dict[str, Any]:
        """{slot: array} of states that the parameters (by id) had in other stacks."""
        with eager_evaluation():
            values = {
                slot: self.together(slot, [self._beside_parameters(states[id(p)][slot]) for p in self.params])
                for slot in self.state
            }
            return {slot: put(value, layout_of(self.state[slot])) for slot, value in values.items()}

    def _beside_parameters(self, state: jax.Array) -> jax.Array:
        """A state of a parameter on the device of the parameter, which may have moved."""
        return state if self.place is None else places.beside(state, self.place)

    def values(self) -> dict[str, Any]:
        """The state as arrays."""
        return {name: tensor._value for name, tensor in self.state.items()}


def vectors(columns: Mapping[str, Sequence[float]]) -> dict[str, np.ndarray]:
    # Neutral columns are left out, which keeps the update small.
    """The columns that are not neutral (all zero; for `lr`: all one) as float32 vectors."""
    arrays = {name: np.asarray(values, np.float32) for name, values in columns.items()}
    return {name: column for name, column in arrays.items() if (column != (1 if name == "lr" else 0)).any()}


def chunks(
    params: Sequence[Tensor], traits: Callable[[Tensor], Hashable] | None = None
) -> Iterator[tuple[list[Tensor], bool]]:
    """(parameters of one stack, whether it is flat) for all parameters.

    traits: None if the rule needs to know which elements are of one parameter, else a function that gives
    what all parameters of a flat stack must have in common.
    """
    small = {}
    rest = {}
    for param in params:
        raw = held_value(param)
        layout = layout_of(param)
        # Small ones share a flat stack: one operation for all.
        if traits is not None and layout is None and 0 < raw.size <= SMALL:
            small.setdefault((raw.dtype, traits(param), _place_of(param)), []).append(param)
        else:
            # Others share a stack with those of the same shape.
            rest.setdefault((raw.shape, raw.dtype, layout, _place_of(param)), []).append(param)
    for same in small.values():
        for i in range(0, len(same), CALL):
            yield same[i : i + CALL], len(same[i : i + CALL]) > 1
    for (shape, *_), same in rest.items():
        # Large ones stand alone, since stacking copies them.
        size = STACK if np.prod(shape, dtype=np.int64) <= SMALL else 1
        yield from ((same[i : i + size], False) for i in range(0, len(same), size))


class Call:
    """Stacks that are updated together.

    Attributes:
        stacks: list of Stacks.
        lists: their lists of parameters.
        extras: their extras.
        slots: their sorted (slot name, Tensor) pairs.
        params: list of all parameters.
        states: list of the Tensors of all states.
        count: int, how many parameters there are.
        plan: _Plan of the list of calls that begins with this one, or None.
        compiled: set of the kinds of calls whose program exists.
        forms: tuple of the forms of the stacks.
        devices: frozenset of devices, or of the one Place; None while no device was named.
        interprets: bool, whether the interpreter may still run the update; False once it has declined.
        interprets_norm: bool, the same for the norm of the gradients.
    """

    def __init__(self, stacks: list[Stack]) -> None:
        self.stacks = stacks
        self.lists: list[Sequence[Tensor]] = [stack.params for stack in stacks]
        self.extras: list[dict[str, np.ndarray]] = [stack.extras for stack in stacks]
        self.slots: list[list[tuple[str, Tensor]]] = [sorted(stack.state.items()) for stack in stacks]
        self.params: list[Tensor] = [param for same in self.lists for param in same]
        self.states: list[Tensor] = [tensor for slots in self.slots for _, tensor in slots]
        self.count: int = len(self.params)
        self.plan: Any = None
        self.compiled: set[Any] = set()
        self.forms: tuple[str, ...] = tuple([stack.form for stack in stacks])
        self.devices: frozenset[Any] | None = next(map(_devices, stacks), None)
        # False from the first time on that these are to be compiled: nothing is asked at each step then
        self.interprets: bool = True
        self.interprets_norm: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled programs do not go into copies and pickles.
        return Call, (self.stacks,)

    def run(
        self,
        update: InterruptSafeCall,
        grads: list[Any],
        extras: list[dict[str, Any]],
        lr: Any,
        scale: Any,
        skip: jax.Array | None,
        done: list[bool],
        last: bool,
    ) -> list[Any]:
        """Updates parameters and state in place, and gives the gradients to write back. `grads` is a list of
        arrays per stack. In the same moment it notes in `done` that it has, and whether it is the `last`."""
        state = [{name: tensor._value for name, tensor in slots} for slots in self.slots]
        params = [[p._value for p in same] for same in self.lists]
        arguments = (state, params, grads, extras, lr, scale, skip)
        changed = [*self.params, *self.states]
        clipped = []
        # In a trace there are no arrays to donate: the results are assigned as Tensors.
        if not local.ctx.frame.eager:
            results = update.function(*arguments)
            assign_all(changed, results)
            done.append(last)
            return results[len(changed) :]
        # Parameters of a flat stack may have numbers of their own.
        uneven = tuple(
            [
                form is FLAT and flat.is_uneven(*each)
                for form, *each in zip(self.forms, state, extras, strict=True)
            ]
        )
        # Each kind is a program of its own.
        kind = (
            tuple([g.dtype for same in grads for g in same]),
            tuple([tuple(e) for e in extras]),
            uneven,
            scale is None,
            skip is None,
        )

        def take(results: list[Any]) -> Iterator[Any]:
            # In one C call, which an interrupt cannot split: values, mark, gradients.
            return itertools.chain(
                map(set_slot, changed, results), map(done.append, (last,)), map(clipped.append, results)
            )

        update(arguments, take, self.compiled, kind)
        # A change in place counts as a new version.
        for param in self.params:
            param._version += 1
        return clipped

    def interpret(
        self,
        update: InterruptSafeCall,
        grads: list[Any],
        extras: list[dict[str, Any]],
        lr: Any,
        scale: Any,
        skip: jax.Array | None,
        done: list[bool],
        last: bool,
    ) -> list[Any] | None:
        """As `run`, by the interpreter, where that is cheaper than to compile the update; else None."""
        # Several devices have no interpreter.
        if not self.interprets or not local.ctx.frame.eager or self.devices is not None:
            return None
        shape = _shape_of(self, extras)
        kernel = _recorded(update, tuple(shape), skip is not None, scale is not None)
        gradients = [g for same in grads for g in same]
        extra_values = [value for extra in extras for value in extra.values()]
        numbers = [value for value in (lr, scale, skip) if value is not None]
        changed = [*self.params, *self.states]
        out = interpret_now(
            kernel,
            [
                *[held_value(t) for t in self.states],
                *[held_value(p) for p in self.params],
                *gradients,
                *extra_values,
                *numbers,
            ],
        )
        if out is None:
            # Compiled from now on: the interpreter declines what has recurred often enough.
            self.interprets = False
            return None
        # As above: one call of C.
        collections.deque(itertools.chain(map(set_slot, changed, out), map(done.append, (last,))), 0)
        for param in self.params:
            param._version += 1
        return out[len(changed) :]


def _shape_of(call: Call, extras: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What the Kernel of a call is for: see `_recorded`."""
    return [
        (tuple([name for name, _ in same]), len(stack.params), stack.width, tuple(extra))
        for same, stack, extra in zip(call.slots, call.stacks, extras, strict=True)
    ]


def pack(stacks: Sequence[Stack]) -> list[Call]:
    """Calls of at most CALL parameters (or one stack), which lie on the same devices."""
    calls = []
    waiting = []
    count = 0
    for stack in stacks:
        # One compiled program runs on one set of devices.
        if waiting and (count + len(stack.params) > CALL or _devices(stack) != _devices(waiting[0])):
            calls.append(Call(waiting))
            waiting = []
            count = 0
        waiting.append(stack)
        count += len(stack.params)
    if waiting:
        return [*calls, Call(waiting)]
    return calls


def _devices(stack: Stack) -> frozenset[Any] | None:
    if stack.layout is not None:
        return frozenset(stack.layout[0].device_set)
    if stack.place is not None:
        return frozenset([stack.place])
    return None


def _place_of(param: Tensor) -> Place | None:
    """The Place of a parameter once the program has named devices. None before, and for one on several."""
    if not MultiDevice.placed or layout_of(param) is not None:
        return None
    return places.of(held_value(param))


def run_calls(
    work: list[Any],
    rule: Callable[..., UpdateResult],
    hyper: tuple[tuple[str, Any], ...],
    clip: tuple[Any, ...] | None,
    lr: Any,
    skip: jax.Array | None,
    done: list[bool],
) -> Sequence[Any]:
    """Runs a list of (call, grads, extras); gives what the gradients become, in order, or nothing when they
    stay as they are.

    A norm over several calls is computed first. skip: a bool array; True leaves everything as it is. done:
    gets one item for each call that has been run, True for the last; those it has already, since an exception
    came between, are not run again.
    In the deferred tier all calls are recorded as one op, unless they are so many that compiling them with
    the rest of a step would take long. Then each is interpreted until compiling it has paid.
    """
    # Inside a recorded step the update is one operation.
    if local.ctx.segment is not None:
        key = (rule, hyper, clip, skip is not None)
        # The plan of the last step, unless the parameters have changed.
        plan = work[0][0].plan
        if plan is None or not plan.fits(work, key):
            plan = _planned(work, key)
        if plan is not None:
            return plan.run(
                [g for _, given, _ in work for same in given for g in same],
                done,
                lr,
                *(() if skip is None else (skip,)),
            )
    apart = _on_several_meshes(work)
    # The norm is over all parameters, so it is needed before the first call may change any.
    scale = None
    if clip is not None and clip[0] == "global_norm" and len(work) > 1:
        scale = _scale(work, clip[1], apart)
    clipped = []
    # An exception may have come between two calls of an earlier try; finished ones are not repeated.
    for i in range(len(done), len(work)):
        call, grads, extras = work[i]
        update = compiled(rule, hyper, clip, call.forms)
        last = i == len(work) - 1
        # Small updates run at once where compiling would take longer.
        new_grads = call.interpret(update, grads, extras, lr, scale, skip, done, last)
        if new_grads is None:
            arrays = [list(map(to_jax_array, same)) for same in grads]
            numbers = [None if value is None else to_jax_array(value) for value in (scale, skip)]
            new_grads = call.run(update, arrays, extras, lr, *numbers, done, last)
        clipped += new_grads
    return clipped


def _scale(work: list[Any], clip_norm: float, apart: bool) -> Any:
    """The common factor of all gradients. apart: the calls lie on several meshes."""
    interpreted = _interpreted_scale(work, clip_norm)
    if interpreted is not None:
        return interpreted
    work = [(call, [list(map(to_jax_array, same)) for same in grads], extras) for call, grads, extras in work]
    sums = [
        square_total(grads, [_clip_extras(e) for e in extras], call.forms) for call, grads, extras in work
    ]
    if apart:
        # Arrays on different meshes cannot meet in one program; the partial sums meet on the host.
        return np.asarray(scale_of([read_on_all(one) for one in sums], clip_norm))
    return scale_of(sums, clip_norm)


def _interpreted_scale(work: list[Any], clip_norm: float) -> Any:
    """As `_scale`, by the interpreter; None where it is to be compiled."""
    if not all(call.interprets_norm for call, _, _ in work):
        return None
    parts = []
    for call, grads, extras in work:
        total = interpret_now(*_squares_of(call, grads, extras))
        if total is None:
            call.interprets_norm = False
            # From now on it is compiled.
            return None
        parts += total
    scale = interpret_now(_scale_of_parts(clip_norm), parts)
    if scale is None:
        return None
    return scale[0]


def _squares_of(call: Call, grads: list[Any], extras: list[dict[str, Any]]) -> tuple[Kernel, list[Any]]:
    """(Kernel of the sum of squares of the gradients of a call, its operands)."""
    free = [_clip_extras(extra) for extra in extras]
    shape = tuple([(len(same), tuple(names)) for same, names in zip(grads, free, strict=True)])
    operands = [*[g for same in grads for g in same], *[value for names in free for value in names.values()]]
    return _squares(call.forms, shape), operands


@ft.lru_cache(maxsize=256)
def _squares(forms: tuple[Any, ...], shape: tuple[Any, ...]) -> Kernel:
    def fn(*flat: Any) -> Any:
        values = iter(flat)
        grads = [[next(values) for _ in range(count)] for count, _ in shape]
        extras = [{name: next(values) for name in names} for _, names in shape]
        return square_total.__wrapped__(grads, extras, forms)

    return Kernel("square_total", fn, nondiff=True)


@ft.lru_cache(maxsize=64)
def _scale_of_parts(clip_norm: float) -> Kernel:
    return Kernel("clip_scale", lambda *parts: scale_of.__wrapped__(parts, clip_norm), nondiff=True)


def _on_several_meshes(work: list[Any]) -> bool:
    """Whether calls lie on several meshes, or devices."""
    return len({call.devices for call, _, _ in work} - {None}) > 1


class _Plan:
    """What stays the same from step to step when the update of some calls is recorded as one op.

    Its operands are flat: states, parameters, gradients, extras, rate, and skip if the update skips. So are
    its results: parameters, states, gradients that change.

    Attributes:
        key: (rule, its settings, clipping, whether the update skips).
        calls: list of Calls.
        slots: list of the Tensors of all states.
        params: list of all parameters.
        changed: the parameters and the states, in the order of the results.
        extras: list of Tensors.
        kernel: Kernel of the whole update.
    """

    def __init__(self, work: list[Any], key: tuple[Any, ...]) -> None:
        self.key = key
        self.calls = [call for call, _, _ in work]
        self.slots = [t for call in self.calls for t in call.states]
        self.params = [p for call in self.calls for p in call.params]
        self.changed = [*self.params, *self.slots]
        # Marks and factors that stay the same from step to step.
        extras = [value for _, _, given in work for extra in given for value in extra.values()]
        self.extras = [
            wrap(persistent_from_numpy(value) if isinstance(value, np.ndarray) else value) for value in extras
        ]
        shape = [one for call, _, given in work for one in _shape_of(call, given)]
        update = compiled(*key[:3], tuple([form for call in self.calls for form in call.forms]))
        self.kernel = _recorded(update, tuple(shape), key[3])

    def fits(self, work: list[Any], key: tuple[Any, ...]) -> bool:
        """Whether it is for these calls, all of whose parameters are updated."""
        return (
            self.key == key
            and len(self.calls) == len(work)
            and all(
                [
                    call is planned_call and extras is call.extras
                    for (call, _, extras), planned_call in zip(work, self.calls, strict=True)
                ]
            )
        )

    def run(self, grads: list[Any], done: list[bool], *more: Any) -> Sequence[Any]:
        """Records the update; gives what the gradients become, if they change. done: see run_calls."""
        params = self.params
        slots = self.slots
        # as LazyArrays, like the others, they are recorded without a detour
        numbers = [to_lazy(v) if isinstance(v, np.generic) else v for v in more]
        out = execute(
            self.kernel,
            [
                *[held_value(t) for t in slots],
                *[held_value(p) for p in params],
                *grads,
                *[held_value(v) for v in self.extras],
                *numbers,
            ],
        )
        collections.deque(itertools.chain(map(set_slot, self.changed, out), map(done.append, (True,))), 0)
        for param in params:
            param._version += 1
        return out[len(self.changed) :]


def _planned(work: list[Any], key: tuple[Any, ...]) -> _Plan | None:
    """A new plan, which is kept where all parameters are updated; None where the calls run by themselves."""
    # Many parameters: recording them would make the step slow to compile.
    if _on_several_meshes(work) or sum(call.count for call, _, _ in work) > RECORDED:
        return None
    plan = _Plan(work, key)
    if plan.fits(work, key):
        # Kept with the first call, which lives as long as the stacks.
        work[0][0].plan = plan
    return plan


@ft.lru_cache(maxsize=256)
def _recorded(update: InterruptSafeCall, shape: tuple[Any, ...], skips: bool, scaled: bool = False) -> Kernel:
    """The Kernel of an update of stacks of this shape: (names of states, number of parameters and of arrays
    that are their gradients, names of extras) of each. scaled: it gets the factor of clipping."""

    def fn(*flat: Any) -> tuple[Any, ...]:
        values = iter(flat)
        state = [{name: next(values) for name in slots} for slots, *_ in shape]
        params = [[next(values) for _ in range(count)] for _, count, _, _ in shape]
        grads = [[next(values) for _ in range(count)] for _, _, count, _ in shape]
        extras = [{name: next(values) for name in names} for *_, names in shape]
        rate = next(values)
        scale = next(values) if scaled else None
        skip = next(values) if skips else None
        return tuple(update.function.__wrapped__(state, params, grads, extras, rate, scale, skip))

    return Kernel("optimizer_step", fn, nondiff=True)


def _clip_extras(extra: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if name == "free"}


def new_state(shape: tuple[int, ...], fill: float, dtype: Any, layout: Any = None) -> Tensor:
    """A new state array that nobody else holds (it will be donated), concrete even while a program
    is being traced."""
    with eager_evaluation():
        small = np.prod(shape, dtype=np.int64) <= SMALL * STACK  # not worth a compilation
        stand_ins = local.ctx.frame.stand_ins
        if stand_ins is not None and not small:
            return wrap(stand_ins.array(shape, dtype, layout))
        if layout is not None:
            whole = np.broadcast_to(np.asarray(fill, dtype), shape)
            return wrap(
                MultiDevice.block_if_needed(jax.make_array_from_callback)(
                    shape, layout, lambda index: whole[index], dtype=whole.dtype
                )
            )
        return wrap(
            persistent_from_numpy(np.full(shape, fill, dtype)) if small else jnp.full(shape, fill, dtype)
        )


def master_weights(params: Sequence[Tensor], is_flat: bool, dtype: Any, layout: Any) -> Tensor:
    """The float32 copy of parameters of low precision."""
    stand_ins = local.ctx.frame.stand_ins
    if stand_ins is not None:
        count, inner = flat.rows(params, is_flat)
        return wrap(stand_ins.array((count, *inner), dtype, layout))
    values = list(map(outside, params))
    with eager_evaluation():
        if layout is None and all(map(is_on_host, values)):
            # NumPy compiles nothing for their shapes.
            rows = [to_numpy(materialize(value)).astype(dtype) for value in values]
            whole = flat.gathered(rows, False, np) if is_flat else np.stack(rows)
            return wrap(persistent_from_numpy(whole))
        return wrap(put(flat.joined(values, is_flat).astype(dtype), layout))


def choices_of(params: Sequence[Tensor]) -> tuple[list[Any], list[Any], list[Any]]:
    """What parameters say of their update, read without a step of Python for each: it is
    compared at every step."""
    attributes = list(map(_OWN, params))
    get = dict.get
    rates = map(
        get, map(get, attributes, repeat("optimize_attr"), repeat({})), repeat("learning_rate"), repeat(1.0)
    )
    return (
        list(rates),
        list(map(get, attributes, repeat("regularizer"))),
        list(map(get, attributes, repeat("need_clip"), repeat(True))),
    )
