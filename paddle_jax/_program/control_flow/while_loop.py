"""`while_loop` on traced Tensors: one operation on the tape, with gradients of any order in reverse."""

import dataclasses
import functools as ft

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import expression_of, is_length
from paddle_jax._core.lazy.symbol import known_lengths
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.control_flow.checkpointed_while import Loop
from paddle_jax._program.control_flow.cond import (
    as_tensor,
    blank,
    described,
    fits,
    is_single,
    number_dtype,
    truth,
)
from paddle_jax._program.control_flow.effects import kernel_of
from paddle_jax._program.control_flow.host_values import HostValue, as_host_value, is_number
from paddle_jax._program.control_flow.region import (
    Leaf,
    Mismatch,
    Operands,
    Region,
    Undefined,
    array_at,
    avals_here,
    doubt,
    finished,
    flat,
    is_traced,
    place_of,
    widened,
    write_back,
)

_PASSES = 8


def while_loop(test, body, state):
    """Repeats `state = body(*state)` as long as `test(*state)` holds. Where the answer is traced, the
    loop is compiled.

    Args:
        test: function of the state, gives a bool or a Tensor with one element.
        body: function of the state, gives the next state, a list or tuple. Both may read and change
            Tensors from outside.
        state: list or tuple of Tensors, numbers, and nested lists, tuples and dicts of them. Shapes and
            dtypes of Tensors stay the same.
    Returns:
        list, the last state. Gradients of any order flow to all that the loop reads; states are saved at some
        steps and computed again between them.
    Raises:
        Unsupported: the loop is traced, and a part of the state changes its shape, dtype or kind.
    Example:
        >>> from paddle_jax.jit.dy2static import while_loop
        >>> i, total = while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t + i),
        ...                       (paddle.to_tensor(0), paddle.to_tensor(0)))
        >>> total.item()
        6
    """
    state = list(state)
    while True:
        answer = test(*state)
        if is_traced(answer):
            names = [f"item {i} of the state" for i in range(len(state))]
            return repeat(
                lambda values: test(*values),
                lambda values, _: list(body(*values)),
                state,
                names,
                roots=(test, body),
            )
        if not answer:
            return state
        state = list(body(*state))


class _Carried:
    """A part of the state that changes from step to step: at first the Tensor `start`, always of its shape
    and dtype, with this stop_gradient. number: (the number it was before the loop,), or False. avals: where a
    Program is recorded, those of all steps, which may differ in their lengths. stands_for_number: whether it
    is a number, or a Tensor that stands for one, in all steps."""

    __slots__ = ("avals", "dtype", "number", "shape", "stands_for_number", "start", "stop", "values")

    def __init__(self, start, stop, number=False, avals=None, stands_for_number=False):
        self.stands_for_number = stands_for_number or isinstance(start, HostValue)
        self.start, self.stop, self.number, self.avals = start, stop, number, avals or avals_here(start)
        self.values = None  # of what stays a number: what it is before and after a step
        self.shape = tuple(start._raw.shape) if avals is None else known_lengths(avals)
        self.dtype = np.dtype(start._raw.dtype)


class State:
    """The variables of a loop: what stays, and what changes (a _Carried in its place)."""

    def __init__(self, values, names, explicit=False):
        """explicit: all Tensors count as changing."""
        self.names, self.columns = names, []
        for value in values:
            leaves, tree = flat(value)
            if explicit:
                leaves = [_Carried(x, x.stop_gradient) if isinstance(x, Tensor) else x for x in leaves]
            self.columns.append((leaves, tree))

    def carried(self):
        """The _Carrieds, in order."""
        return [x for leaves, _ in self.columns for x in leaves if isinstance(x, _Carried)]

    def filled(self, tensors):
        """The values with given Tensors for what changes."""
        tensors = iter(tensors)
        return [
            jax.tree.unflatten(
                tree, [_current(x, next(tensors)) if isinstance(x, _Carried) else x for x in leaves]
            )
            for leaves, tree in self.columns
        ]

    def adapt(self, values):
        """Takes over what a step has shown to change; whether there was anything new."""
        more = False
        for k, (value, name) in enumerate(zip(values, self.names, strict=True)):
            leaves, tree = self.columns[k]
            new, new_tree = flat(value)
            if isinstance(leaves[0] if leaves else None, Undefined) and not (
                new and isinstance(new[0], Undefined)
            ):
                self.columns[k] = (
                    [_undefined(x) if isinstance(x, Leaf) or is_number(x) else x for x in new],
                    new_tree,
                )
                more = True
                continue
            if tree != new_tree:
                raise Mismatch(
                    f"{name} changes its structure in a loop over a tensor; "
                    "give it all its items before the loop",
                    "structure",
                )
            pairs = [_adapted(name, a, b) for a, b in zip(leaves, new, strict=True)]
            self.columns[k] = [leaf for leaf, _ in pairs], tree
            more |= any(changed for _, changed in pairs)
        return more


def _current(carried, tensor):
    """What stands for a part of the state in a step: the Tensor, or the Length that a number is."""
    frame = local.ctx.frame
    if frame.symbolic and carried.values is not None:
        return frame.number_from(tensor, *carried.values)
    return as_host_value(tensor) if carried.stands_for_number else tensor


def _undefined(new):
    """For a name that the first step defines."""
    shape, dtype, stop = (
        (new.shape, new.dtype, new.stop) if isinstance(new, Leaf) else ((), number_dtype([new]), True)
    )
    return _Carried(
        wrap(jnp.full(shape, blank(dtype), dtype)), stop, stands_for_number=is_number(new) or new.number
    )


def _adapted(name, old, new):
    """(what to take for a leaf of the state that a step makes `new` of, whether that is something
    else than before)."""
    if isinstance(old, Tensor):
        if isinstance(new, Leaf) and new.ref() is old:
            return old, False
        stop = old.stop_gradient and (not isinstance(new, Leaf) or new.stop)
        return _adapted(name, _Carried(old, stop), new)[0], True
    if isinstance(old, _Carried):
        return _again(name, old, new)
    if is_number(old):
        if not isinstance(new, Leaf) and _same_number(old, new):
            return old, False
        return _from_number(name, old, new), True
    if new is old or (isinstance(old, str) and isinstance(new, str) and new == old):
        return old, False
    raise _changing(name, old, new, "start with a Tensor of the right shape")


def _same_number(old, new):
    if is_length(old) or is_length(new):
        return expression_of(old) == expression_of(new)
    return type(new) is type(old) and (new == old or (new != new and old != old))


def _again(name, old, new):
    """`_adapted` for what is known to change."""
    if old.stands_for_number and isinstance(new, Leaf) and not new.number:
        old.stands_for_number = False
        return old, True
    if isinstance(new, Leaf) and old.values is not None:
        old.values = None  # it becomes a Tensor
        return old, True
    if not isinstance(new, Leaf):
        if not is_number(new) or not fits(new, old.dtype) or not is_single(old.shape):
            raise _changing(name, old, new, "keep it a Tensor")
        return old, False
    wider = local.ctx.frame.widen(old.avals, new.avals) if local.ctx.frame.symbolic else widened([old, new])
    if wider not in (None, old.avals):
        return _Carried(old.start, old.stop and new.stop, old.number, wider, old.stands_for_number), True
    if wider is None and (new.shape != old.shape or new.dtype != old.dtype):
        if (
            old.number
            and is_single(new.shape)
            and fits(old.number[0], new.dtype)
            and np.can_cast(old.dtype, new.dtype, "same_kind")
        ):
            return _from_number(name, old.number[0], new), True
        raise _changing(name, old, new, "start with the shape and dtype it ends with")
    if old.stop and not new.stop:
        return _Carried(old.start, False, old.number, old.avals, old.stands_for_number), True
    return old, False


def _from_number(name, old, new):
    """What to take for a number that a step makes another number or a Tensor of."""
    if name.endswith(".stop_gradient"):
        raise _changing(name, old, new, "set it outside")
    if is_number(new):
        dtype = number_dtype([old, new])
        if not local.ctx.frame.symbolic:
            return _Carried(wrap(jnp.asarray(old, dtype)), True, (old,), stands_for_number=True)
        found = _Carried(local.ctx.frame.tensor_of(old, dtype), True, (old,), stands_for_number=True)
        found.values = old, new
        return found
    if not isinstance(new, Leaf):
        raise _changing(name, old, new, "keep it one kind of thing")
    if not is_single(new.shape) or not fits(old, new.dtype):
        raise _changing(name, old, new, "start with a Tensor of that shape and dtype, e.g. paddle.zeros")
    return _Carried(wrap(jnp.full(new.shape, old, new.dtype)), new.stop, (old,), stands_for_number=new.number)


def _changing(name, old, new, advice):
    return Mismatch(
        f"{name} is {described(old)} before and {described(new)} after a step of a loop over "
        f"a tensor; {advice}",
        "type",
    )


def repeat(test, body, values, names, length=None, roots=(), explicit=False):
    """Runs `values = body(values, step)` while `test(values)`, or `length` times; gives the last values.
    `step` is a Tensor that counts from 0. explicit: all Tensors among the values count as changing."""
    generator, named = default_generator(), unique_name.save_counts()
    start, state, changing = generator._offset, State(values, names, explicit), {}
    counter = _Carried(wrap(jnp.zeros((), np.int64)), True)
    for _ in range(_PASSES):
        generator._offset = start
        if local.ctx.frame.recording:
            unique_name.restore_counts(named)  # what each pass makes has the names of the first
        inputs = [counter, *state.carried()]
        shared = {
            "inputs": inputs,
            "carried": [(c.tensor, c.tensor.stop_gradient and not c.adopts) for c in changing.values()],
            "indexed": True,
        }
        tested = None
        if length is None:
            tested = Region(lambda _, *now: _answer(test(state.filled(now))), roots=roots, **shared)
            generator._offset = start + tested.drawn
            if any(id(c.tensor) not in changing for c in tested.changes.values()):
                raise Unsupported(
                    "the condition of a loop over a tensor changes a Tensor in place; change it in the loop"
                )
        step = Region(lambda count, *now: body(state.filled(now), count), roots=roots, **shared)
        new = [c for key, c in step.changes.items() if key not in changing]
        more = state.adapt(step.value)
        more |= _softened(changing, step.changes)
        if not explicit and any(id(c.start) in step.changes for c in state.carried()):
            raise Unsupported(
                "a loop over a tensor changes a Tensor in place and then gives its name to "
                "another one; take a clone() before the loop"
            )
        if not new and not more:
            break
        changing.update((id(c.tensor), c) for c in new)
    else:
        raise Unsupported(
            "the variables of a loop over a tensor do not settle; "
            "keep their shapes and dtypes the same from step to step"
        )
    generator._offset = start + step.drawn + (0 if tested is None else tested.drawn)
    results = _run(state, changing, tested, step, length)
    out = state.filled(results[: len(results) - len(changing)])
    for carried, result in zip(state.carried(), results, strict=False):
        doubt(result, carried.start)
    for change, new in zip(changing.values(), results[len(results) - len(changing) :], strict=True):
        write_back(change, new)
    return out


def _answer(value):
    return truth(as_tensor(value))


def _softened(changing, changes):
    """Lets gradients flow through Tensors that got a recorded value in a step."""
    more = False
    for key, change in changing.items():
        now = changes[key]
        if now.leaf.shape != tuple(change.tensor._raw.shape) or now.leaf.dtype != change.tensor._raw.dtype:
            raise Unsupported(
                f"{change.tensor.name} changes its shape or dtype in place in a loop over a tensor"
            )
        if now.adopts and not change.adopts:
            change.adopts, more = True, True
    return more


def _run(state, changing, tested, step, length):
    """The operation. Its arrays are what is carried, then the Tensors changed in place."""
    carried = state.carried()
    tensors = [c.start for c in carried] + [c.tensor for c in changing.values()]
    stops = [c.stop for c in carried] + [not c.adopts and c.tensor.stop_gradient for c in changing.values()]
    picks = _picks(state, step, changing)

    def compiled():
        return _compiled(tensors, stops, tested, step, picks, length)

    return local.ctx.frame.emit_while(compiled, tensors, stops, tested, step, picks)


def _compiled(tensors, stops, tested, step, picks, length):
    """The results of the operation inside a trace."""
    operands = Operands([])
    plan = _Plan(
        start=operands.places_of(tensors),
        test=() if tested is None else operands.places_of(tested.outside),
        step=operands.places_of(step.outside),
        picks=picks,
        carried=tuple(map(_flows, tensors, stops)),
        read=tuple([_flows(t, t.stop_gradient) for t in operands.tensors]),
        length=length,
    )
    backward = local.ctx.grad and any(plan.read)
    programs = None if tested is None else (tested.key, tested.value.at), step.key
    kernel = kernel_of(
        "while",
        (*programs, backward, *plan.key()),
        lambda: _looping(plan, tested, step, backward),
        step.effects,
    )
    results = list(run(kernel, operands.tensors)) if tensors or step.effects else []
    return [finished(t, stop) for t, stop in zip(results, stops, strict=True)]


def _flows(tensor, stop):
    return not stop and np.dtype(tensor._raw.dtype).kind in INEXACT


@dataclasses.dataclass
class _Plan:
    """How the arrays of a loop's operation belong together. Places are positions among its operands."""

    start: tuple  # places of what the loop starts with
    test: tuple  # places of what the test reads from outside
    step: tuple  # places of what the step reads from outside
    picks: list  # which result of the step becomes which of the carried arrays
    carried: tuple  # for each carried array, whether gradients flow through it
    read: tuple  # for each operand, whether gradients flow to it
    length: int | None  # the number of steps; None: until the test fails

    def key(self):
        return self.length, self.start, self.test, self.step, repr(self.picks), self.carried, self.read


def _looping(plan, tested, step, backward):
    """The function of the operation, of its operands' arrays. backward: with a gradient in reverse."""

    def test(i, carry, fixed):
        return tested.fn(i.astype(np.int64), *carry, i, *[fixed[k] for k in plan.test])[tested.value.at]

    def advance(i, carry, fixed, quiet=False):
        results = (step.quiet() if quiet else step.fn)(
            i.astype(np.int64), *carry, i, *[fixed[k] for k in plan.step]
        )
        return tuple([array_at(pick, results, x) for pick, x in zip(plan.picks, carry, strict=True)])

    loop = Loop(
        test, advance, plan.carried, plan.read, ft.partial(advance, quiet=True) if step.effects else advance
    )

    def looping(*arrays):
        carry = tuple([arrays[k] for k in plan.start])
        if plan.length is not None:
            steps = jnp.arange(plan.length, dtype=np.uint32)
            return jax.lax.scan(lambda carry, i: (advance(i, carry, arrays), None), carry, steps)[0]
        return (loop.reversible if backward else loop.plain)(carry, arrays)

    return looping


def _picks(state, step, changing):
    """Where a step's arrays have the next values of what is carried; (number,) for a number."""
    picks = []
    for (leaves, _), value in zip(state.columns, step.value, strict=True):
        for old, new in zip(leaves, flat(value)[0], strict=True):
            if isinstance(old, _Carried):
                picks.append(place_of(new, old.dtype))
    return picks + [step.changes[key].leaf.at for key in changing]
