"""`while_loop` on traced Tensors: one operation on the tape, with gradients of any order in reverse."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import expression_of, is_length
from paddle_jax._core.lazy.symbol import known_lengths
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._program.control_flow.checkpointed_while import Loop
from paddle_jax._program.control_flow.cond import (
    as_tensor,
    description,
    is_single,
    is_whole_number,
    number_dtype,
    number_fits,
    truth,
    undefined_fill,
)
from paddle_jax._program.control_flow.container_contents import (
    Container,
    ContainersChanged,
    changed_in_place,
    copy_of,
    put_contents,
    run_with_contents,
    with_contents,
)
from paddle_jax._program.control_flow.effects import kernel_of
from paddle_jax._program.control_flow.growing_lists import started
from paddle_jax._program.control_flow.host_values import HostValue, as_host_value, is_number, numeral
from paddle_jax._program.control_flow.length_facts import Counting, Facts
from paddle_jax._program.control_flow.region import (
    Change,
    Leaf,
    Mismatch,
    Operands,
    Pick,
    Region,
    Undefined,
    flatten,
    is_traced,
    pick_of,
    picked_array,
    without_gradient,
    write_back,
)

_MAX_PASSES = 8  # runs of the body until the types of the state stay the same


def while_loop(test: Callable[..., Any], body: Callable[..., Any], state: Sequence[Any]) -> list[Any]:
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
        # Steps before the first traced answer run in Python.
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
    """A part of the state that changes from step to step.

    Attributes:
        start: Tensor, the value before the loop.
        stop_gradient: bool, in all steps.
        number: tuple of the number that it was before the loop, or ().
        avals: where a Program is recorded, those of all steps, which may differ in their lengths.
        is_host_value: bool, whether it is a number, or stands for one, in all steps.
        counting: Counting of what stays a number, else None.
        shape: tuple of ints, in all steps.
        dtype: NumPy dtype, in all steps.
    """

    __slots__ = ("avals", "dtype", "counting", "is_host_value", "number", "shape", "start", "stop_gradient")

    def __init__(
        self,
        start: Tensor,
        stop_gradient: bool,
        number: tuple[Any, ...] = (),
        avals: Any = None,
        is_host_value: bool = False,
    ) -> None:
        self.start = start
        self.stop_gradient = stop_gradient
        self.number = number
        # For all steps, or what the start says.
        self.avals = avals or local.ctx.frame.symbol_avals(start)
        self.is_host_value = is_host_value or isinstance(start, HostValue)
        self.counting: Counting | None = None
        if avals is None:
            self.shape = tuple(plain_shape(start))
        else:
            self.shape = known_lengths(avals)
        self.dtype = np.dtype(numpy_dtype(start))

    def changed(self, **changes: Any) -> _Carried:
        """A copy with another `stop_gradient` or other `avals`."""
        settings = {
            "stop_gradient": self.stop_gradient,
            "number": self.number,
            "avals": self.avals,
            "is_host_value": self.is_host_value,
        }
        return _Carried(self.start, **(settings | changes))


class State:
    """The variables of a loop: what stays, and a _Carried for what changes.

    Attributes:
        names: list of str, how the variables are called in messages.
        columns: list of (leaves, structure) of each variable.
    """

    def __init__(self, values: Sequence[Any], names: Sequence[str], explicit: bool = False) -> None:
        """explicit: all Tensors count as changing."""
        self.names = names
        self.columns: list[tuple[list[Any], Any]] = []
        for value in values:
            leaves, tree = flatten(value)
            if explicit:
                # Paddle's `while_loop` carries each Tensor, also one that the body gives back as it is.
                leaves = [_Carried(x, x.stop_gradient) if isinstance(x, Tensor) else x for x in leaves]
            self.columns.append((leaves, tree))

    def carried(self) -> list[_Carried]:
        """The parts that change, in order."""
        return [x for leaves, _ in self.columns for x in leaves if isinstance(x, _Carried)]

    def countings(self) -> list[Counting]:
        """What is known of the parts that are numbers, in order."""
        return [one.counting for one in self.carried() if one.counting is not None]

    def show_numbers(self, tensors: Sequence[Tensor]) -> None:
        """Makes the Lengths that `fill` puts in place of numbers."""
        for one, tensor in zip(self.carried(), tensors, strict=False):
            if one.counting is not None:
                one.counting.show(tensor)

    def fill(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The values with Tensors for what changes, and Lengths for numbers."""
        rest = iter(tensors)
        values = []
        for leaves, tree in self.columns:
            filled = [_current(x, next(rest)) if isinstance(x, _Carried) else x for x in leaves]
            values.append(jax.tree.unflatten(tree, filled))
        return values

    def adapt(self, values: Sequence[Any]) -> bool:
        """Takes over what a step has shown to change; returns whether there was anything new."""
        is_changed = False
        for k, (value, name) in enumerate(zip(values, self.names, strict=True)):
            is_changed |= self._adapt_variable(k, name, value)
        return is_changed

    def _adapt_variable(self, k: int, name: str, value: Any) -> bool:
        leaves, tree = self.columns[k]
        new_leaves, new_tree = flatten(value)
        # The first leaf stands for all: a name is undefined as a whole.
        was_undefined = bool(leaves) and isinstance(leaves[0], Undefined)
        # The first step defines the name: the loop starts with a fill that no step reads.
        if was_undefined and not (new_leaves and isinstance(new_leaves[0], Undefined)):
            self.columns[k] = [_first_defined(x) for x in new_leaves], new_tree
            return True
        if tree != new_tree:
            # A list with one more item in each step.
            rows = self._grown(k, value)
            if rows is not None:
                self.columns[k] = rows
                return True
            raise Mismatch(
                f"{name} changes its structure in a loop over a tensor; "
                "give it all its items before the loop",
                "structure",
                type(value) is list,
            )
        pairs = [_adapt_leaf(name, old, new) for old, new in zip(leaves, new_leaves, strict=True)]
        self.columns[k] = [leaf for leaf, _ in pairs], tree
        return any(is_changed for _, is_changed in pairs)

    def _grown(self, k: int, value: Any) -> tuple[list, Any] | None:
        """(leaves, structure) of a list that a step has made longer, as rows of a Tensor; None for
        others."""
        leaves, tree = self.columns[k]
        before = jax.tree.unflatten(tree, leaves)
        # Elsewhere the number of items must be known.
        if not local.ctx.frame.symbolic or type(before) is not list or not isinstance(value, list):
            return None
        # Items that change are no rows that stay.
        if any(isinstance(one, _Carried) for one in leaves):
            return None
        start = started(before, value)
        if start is None:
            return None
        items, avals, stop_gradient = start
        rows, structure = flatten(items)
        return [_Carried(rows[0], stop_gradient, avals=avals)], structure


def _current(carried: _Carried, tensor: Tensor) -> Any:
    """What stands for a part of the state in a step: the Tensor, or the Length that a number is."""
    if carried.counting is not None:
        return carried.counting.shown
    if carried.is_host_value:
        return as_host_value(tensor)
    return tensor


def _first_defined(new: Any) -> Any:
    """The part of the state for a name that the first step defines."""
    if isinstance(new, Leaf):
        start = wrap(jnp.full(new.shape, undefined_fill(new.dtype), new.dtype))
        return _Carried(start, new.stop_gradient, is_host_value=new.is_host_value)
    if is_number(new):
        dtype = number_dtype([new])
        return _Carried(wrap(jnp.full((), undefined_fill(dtype), dtype)), True, is_host_value=True)
    # Anything else is the same in all steps, or refused in the next run.
    return new


def _adapt_leaf(name: str, old: Any, new: Any) -> tuple[Any, bool]:
    """(the part of the state for a leaf that a step turns from `old` into `new`, whether it is changed)."""
    if isinstance(old, Tensor):
        # The same Tensor after the step: it is read from outside and not carried.
        if isinstance(new, Leaf) and new.outside() is old:
            return old, False
        # A gradient in the start or in the step.
        stop = old.stop_gradient and (not isinstance(new, Leaf) or new.stop_gradient)
        return _adapt_leaf(name, _Carried(old, stop), new)[0], True
    if isinstance(old, _Carried):
        return _adapt_carried(name, old, new)
    if is_number(old):
        # A number that stays is a constant of the loop.
        if not isinstance(new, Leaf) and _same_number(old, new):
            return old, False
        return _from_number(name, old, new), True
    # The same object in each step, or an equal text.
    if new is old or (isinstance(old, str) and isinstance(new, str) and new == old):
        return old, False
    raise _changing(name, old, new, "start with a Tensor of the right shape")


def _same_number(old: Any, new: Any) -> bool:
    if is_length(old) or is_length(new):
        return expression_of(old) == expression_of(new)
    # `!=` with itself holds for NaN alone.
    return type(new) is type(old) and (new == old or (new != new and old != old))


def _adapt_carried(name: str, old: _Carried, new: Any) -> tuple[Any, bool]:
    """`_adapt_leaf` for a leaf that is known to change."""
    if not isinstance(new, Leaf):
        # A number that the step gives must fit the Tensor.
        if not is_number(new) or not number_fits(new, old.dtype) or not is_single(old.shape):
            raise _changing(name, old, new, "keep it a Tensor")
        # A number that other steps change in the other direction loses its bounds.
        return old, old.counting is not None and not old.counting.confirm(new)
    # It loses its meaning as a number in this step, and so in all of them.
    if old.is_host_value and not new.is_host_value:
        old.is_host_value = False
        return old, True
    if old.counting is not None:
        old.counting = None  # it becomes a Tensor
        return old, True
    frame = local.ctx.frame
    if frame.symbolic:
        avals = frame.widened_avals(old.avals, new.avals, new.lengths)
    else:
        avals = frame.joined_avals([old.avals, new.avals])
    # A length that a step changes: the loop is recorded again with it open.
    if avals not in (None, old.avals):
        return old.changed(stop_gradient=old.stop_gradient and new.stop_gradient, avals=avals), True
    # Another dtype. Only a number may start in the dtype that the step gives.
    if avals is None and (new.shape != old.shape or new.dtype != old.dtype):
        if not _may_start_as(old, new):
            differs_in_lengths = new.dtype == old.dtype and len(new.shape) == len(old.shape)
            advice = "start with the shape and dtype it ends with"
            raise _changing(name, old, new, advice, differs_in_lengths)
        return _from_number(name, old.number[0], new), True
    # A later step has a gradient where the first value has none: the carried Tensor must let it flow.
    if old.stop_gradient and not new.stop_gradient:
        return old.changed(stop_gradient=False), True
    return old, False


def _may_start_as(old: _Carried, new: Leaf) -> bool:
    """Whether the number that a part was before the loop may start in the dtype that a step gives."""
    # The start was a number, such as `total = 0` before `total = total + x`.
    return (
        bool(old.number)
        and is_single(new.shape)
        and number_fits(old.number[0], new.dtype)
        and np.can_cast(old.dtype, new.dtype, "same_kind")
    )


def _from_number(name: str, old: Any, new: Any) -> _Carried:
    """The part of the state for a number that a step turns into another number or a Tensor."""
    # It decides about gradients when the program is made.
    if name.endswith(".stop_gradient"):
        raise _changing(name, old, new, "set it outside")
    if is_number(new):
        dtype = number_dtype([old, new])
        if not local.ctx.frame.symbolic:
            # Converted code sees a number in all steps.
            return _Carried(wrap(jnp.asarray(old, dtype)), True, (old,), is_host_value=True)
        carried = _Carried(local.ctx.frame.tensor_of(old, dtype), True, (old,), is_host_value=True)
        carried.counting = Counting(old, new)
        return carried
    if not isinstance(new, Leaf):
        raise _changing(name, old, new, "keep it one kind of thing")
    frame = local.ctx.frame
    if frame.symbolic and number_fits(old, new.dtype) and not is_length(old):
        filled = frame.filled_outside(new.lengths, old, new.dtype)
        if filled is not None:
            # `total = 0` before `total = total + row`: in all steps it is a Tensor of that shape.
            return _Carried(filled, new.stop_gradient, (old,))
    if not is_single(new.shape) or not number_fits(old, new.dtype):
        advice = "start with a Tensor of that shape and dtype, e.g. paddle.zeros"
        raise _changing(name, old, new, advice, number_fits(old, new.dtype))
    # The number as a Tensor of the step's shape and dtype.
    start = wrap(jnp.full(new.shape, old, new.dtype))
    return _Carried(start, new.stop_gradient, (old,), is_host_value=new.is_host_value)


def _changing(name: str, old: Any, new: Any, advice: str, differs_in_lengths: bool = False) -> Mismatch:
    return Mismatch(
        f"{name} is {description(old)} before and {description(new)} after a step of a loop over "
        f"a tensor; {advice}",
        "type",
        differs_in_lengths,
    )


@dataclasses.dataclass(slots=True)
class _Loop:
    """A loop while its body is run until the types of its state stay the same.

    Attributes:
        test: function of the values, gives whether there is a step; None for a number of steps.
        body: function of the values and the number of the step, gives the next values.
        state: State, of the values and the contents of the containers.
        containers: list of the lists and dicts that the body changes.
        values: list of the values before the loop.
        facts: Facts that the test gives for the body; None without a test on lengths.
        changing: dict from ids to Changes of Tensors that the body changes in place.
        length: int, the number of steps; None for a test.
        roots: functions through which test and body may reach Python objects.
        explicit: whether all Tensors among the values count as changing.
    """

    test: Callable[..., Any] | None
    body: Callable[..., Any]
    state: State
    length: int | None
    roots: Sequence[Any]
    explicit: bool
    containers: Sequence[Container] = ()
    values: Sequence[Any] = ()
    facts: Facts | None = None
    changing: dict[int, Change] = dataclasses.field(default_factory=dict)

    def run_until_stable(self) -> tuple[Region | None, Region]:
        """The Regions of test and body in the last run."""
        generator = default_generator()
        start = generator._offset
        frame = local.ctx.frame
        name_counts = unique_name.save_counts()
        counter = _Carried(wrap(jnp.zeros((), np.int64)), True)
        # Each pass may show that something else changes, which the next pass carries.
        for _ in range(_MAX_PASSES):
            # Each pass draws the same numbers; only the last one counts.
            generator._offset = start
            frame.restart_names(name_counts)  # what each pass makes has the names of the first
            # The number of the step comes first.
            inputs = [counter, *self.state.carried()]
            tested = None
            drawn = 0
            if self.length is None:
                tested = self._run_test(inputs)
                drawn = tested.drawn
                generator._offset = start + drawn
            step = self._region(self._advance, inputs)
            if not self._adapt(step):
                # Numbers drawn by one step of test and body: each step has its own by its number.
                generator._offset = start + drawn + step.drawn
                return tested, step
        raise Unsupported(
            "the variables of a loop over a tensor change in each step; "
            "keep their shapes and dtypes the same from step to step"
        )

    def _region(self, code: Callable[..., Any], inputs: Sequence[_Carried]) -> Region:
        # A gradient flows through what had one before, or gets one in a step.
        carried = [(c.tensor, c.tensor.stop_gradient and not c.has_gradient) for c in self.changing.values()]
        stores = [container.store for container in self.containers]
        return Region(code, inputs=inputs, carried=carried, indexed=True, roots=self.roots, may_change=stores)

    def _advance(self, count: Any, *now: Tensor) -> list:
        """The values and contents after a step."""
        self.state.show_numbers(now)
        known = () if self.facts is None else self.facts.within(self.state.countings())
        with swapped_attributes(local.ctx.frame, assumed=local.ctx.frame.assumed + known):
            values = self._filled(now)
            # From before the body, to see what it changes.
            copies = [copy_of(value) for value in values]
            after = self.body(values, count)
        changed = changed_in_place(self.values, values, copies, after, self.state.names)
        if changed:
            raise ContainersChanged(f"{changed[0].name} is changed in a loop over a tensor", changed)
        return with_contents(self.containers, after)

    def _filled(self, now: Sequence[Tensor]) -> list:
        """The values of a step; the containers get their contents."""
        return put_contents(self.containers, self.state.fill(now))

    def _run_test(self, inputs: Sequence[_Carried]) -> Region:
        test = self.test
        if test is None:
            raise ValueError("a loop needs a test, or a number of steps")

        def answer_of(_: Any, *now: Tensor) -> Tensor:
            self.state.show_numbers(now)
            values = self._filled(now)
            first_inside = local.ctx.frame.symbol_count()
            answer = test(values)
            self.facts = Facts.of(answer, self.state.countings(), first_inside)
            return truth(as_tensor(answer))

        tested = self._region(answer_of, inputs)
        # A Tensor that the body changes as well may be changed: it is carried.
        if any(id(c.tensor) not in self.changing for c in tested.changes.values()):
            raise Unsupported(
                "the condition of a loop over a tensor changes a Tensor in place; change it in the loop"
            )
        return tested

    def _adapt(self, step: Region) -> bool:
        """Takes over what a step has shown to change; returns whether there was anything new."""
        new = [change for key, change in step.changes.items() if key not in self.changing]
        is_changed = self.state.adapt(step.value)
        is_changed |= self._let_gradients_flow(step.changes)
        # The old Tensor and its new name would be two carried values for one in-place change.
        if not self.explicit and any(id(c.start) in step.changes for c in self.state.carried()):
            raise Unsupported(
                "a loop over a tensor changes a Tensor in place and then gives its name to "
                "another one; take a clone() before the loop"
            )
        self.changing.update((id(change.tensor), change) for change in new)
        return bool(new) or is_changed

    def _let_gradients_flow(self, changes: dict[int, Change]) -> bool:
        """Lets gradients flow through Tensors that got a recorded value in a step."""
        is_changed = False
        for key, change in self.changing.items():
            now = changes[key]
            raw = held_value(change.tensor)
            # Like carried values, it has one shape and dtype in all steps.
            if now.leaf.shape != tuple(raw.shape) or now.leaf.dtype != raw.dtype:
                raise Unsupported(
                    f"{change.tensor.name} changes its shape or dtype in place in a loop over a tensor"
                )
            if now.has_gradient and not change.has_gradient:
                change.has_gradient = True
                is_changed = True
        return is_changed


def repeat(
    test: Callable[..., Any] | None,
    body: Callable[..., Any],
    values: Sequence[Any],
    names: Sequence[str],
    length: int | None = None,
    roots: Sequence[Any] = (),
    explicit: bool = False,
) -> list[Any]:
    """Runs `values = body(values, step)` while `test(values)`, or `length` times.

    Args:
        test: function of the values; None for `length`.
        body: function of the values and of a Tensor that counts the steps from 0.
        values: list of the first values.
        names: list of str, how the values are called in messages.
        length: int, the number of steps. Default: as long as the test holds.
        roots: functions through which test and body may reach Python objects.
        explicit: whether all Tensors among the values count as changing.
    Returns:
        list of the last values.
    """
    return run_with_contents(
        lambda containers: _repeat(test, body, values, names, length, roots, explicit, containers)
    )


def _repeat(
    test: Callable[..., Any] | None,
    body: Callable[..., Any],
    values: Sequence[Any],
    names: Sequence[str],
    length: int | None,
    roots: Sequence[Any],
    explicit: bool,
    containers: Sequence[Container],
) -> list:
    """`repeat`, where the body changes some lists and dicts."""
    all_names = [*names, *[container.name for container in containers]]
    # Contents from before the loop, as State needs the start.
    state = State(with_contents(containers, values, before=True), all_names, explicit)
    loop = _Loop(test, body, state, length, roots, explicit, containers, values)
    tested, step = loop.run_until_stable()
    results = _emit(loop, tested, step)
    # The Tensors that are changed in place come last.
    carried_count = len(results) - len(loop.changing)
    loop.state.show_numbers(results)
    last_values = loop.state.fill(results[:carried_count])
    frame = local.ctx.frame
    for carried, result in zip(loop.state.carried(), results, strict=False):
        frame.on_uncertain_result(result, carried.start)
        # An integer in all steps is one afterwards, so that a caller of the whole function gets an int.
        if carried.is_host_value and not explicit and is_whole_number(carried.shape, carried.dtype):
            numeral(result)
    for change, new in zip(loop.changing.values(), results[carried_count:], strict=True):
        write_back(change, new)
    return put_contents(containers, last_values)


def _emit(loop: _Loop, tested: Region | None, step: Region) -> list[Tensor]:
    # Order matters: `_picks` and `_repeat` count on it.
    """Adds the operation. Its arrays are what is carried, then the Tensors changed in place."""
    carried = loop.state.carried()
    changes = loop.changing.values()
    tensors = [c.start for c in carried] + [c.tensor for c in changes]
    stops = [c.stop_gradient for c in carried]
    stops += [not c.has_gradient and c.tensor.stop_gradient for c in changes]
    picks = _picks(loop.state, step, loop.changing)

    def compiled() -> list[Tensor]:
        return _compiled(tensors, stops, tested, step, picks, loop.length)

    return local.ctx.frame.emit_while(compiled, tensors, stops, tested, step, picks)


def _compiled(
    tensors: Sequence[Tensor],
    stops: Sequence[bool],
    tested: Region | None,
    step: Region,
    picks: list[Pick],
    length: int | None,
) -> list[Tensor]:
    """The results of the operation inside a trace."""
    operands = Operands([])
    plan = _Plan(
        start=operands.indices_of(tensors),
        test=() if tested is None else operands.indices_of(tested.outside),
        step=operands.indices_of(step.outside),
        picks=picks,
        carried=tuple(map(_has_gradient, tensors, stops)),
        read=tuple([_has_gradient(t, t.stop_gradient) for t in operands.tensors]),
        length=length,
    )
    # Without a gradient the loop saves no states.
    backward = local.ctx.grad and any(plan.read)
    if tested is None:
        test_key = None
    else:
        test_key = (tested.key, tested.value.index)
    kernel = kernel_of(
        "while",
        (test_key, step.key, backward, *plan.key()),
        lambda: _looping(plan, tested, step, backward),
        step.effects,
    )
    # A loop that carries nothing and has no effect computes nothing.
    if tensors or step.effects:
        results = list(run(kernel, operands.tensors))
    else:
        results = []
    return [without_gradient(tensor, stop) for tensor, stop in zip(results, stops, strict=True)]


def _has_gradient(tensor: Tensor, stop_gradient: bool) -> bool:
    return not stop_gradient and np.dtype(numpy_dtype(tensor)).kind in INEXACT


@dataclasses.dataclass
class _Plan:
    """How the arrays of a loop's operation belong together, as positions among its operands.

    Attributes:
        start: positions of what the loop starts with.
        test: positions of what the test reads from outside.
        step: positions of what the step reads from outside.
        picks: which result of the step becomes which of the carried arrays.
        carried: for each carried array, whether gradients flow through it.
        read: for each operand, whether gradients flow to it.
        length: the number of steps; None: until the test fails.
    """

    start: tuple[int, ...]
    test: tuple[int, ...]
    step: tuple[int, ...]
    picks: list[Pick]
    carried: tuple[bool, ...]
    read: tuple[bool, ...]
    length: int | None

    def key(self) -> tuple[Any, ...]:
        return self.length, self.start, self.test, self.step, repr(self.picks), self.carried, self.read


def _looping(plan: _Plan, tested: Region | None, step: Region, backward: bool) -> Callable[..., Any]:
    """The function of the operation, of its operands' arrays. backward: with a gradient in reverse."""

    def test(i: Any, carry: Any, fixed: Any) -> Any:
        # A loop with a known number of steps has no tested Region, and nothing calls this function.
        if tested is None:
            raise RuntimeError("while: this loop has a known number of steps; run it without a test")
        outside = [fixed[k] for k in plan.test]
        # Random numbers depend on the number of the step: int64 for the code, uint32 for the keys.
        return tested.fn(i.astype(np.int64), *carry, i, *outside)[tested.value.index]

    def advance(i: Any, carry: Any, fixed: Any, quiet: bool = False) -> tuple[Any, ...]:
        fn = step.quiet() if quiet else step.fn
        results = fn(i.astype(np.int64), *carry, i, *[fixed[k] for k in plan.step])
        return tuple([picked_array(pick, results, x) for pick, x in zip(plan.picks, carry, strict=True)])

    # The backward pass computes steps again, and must not print again.
    if step.effects:
        quiet_advance = ft.partial(advance, quiet=True)
    else:
        quiet_advance = advance
    loop = Loop(test, advance, plan.carried, plan.read, quiet_advance)

    def looping(*arrays: jax.Array) -> Any:
        carry = tuple([arrays[k] for k in plan.start])
        # A known number of steps: `scan` has a gradient in reverse of its own.
        if plan.length is not None:
            steps = jnp.arange(plan.length, dtype=np.uint32)
            return jax.lax.scan(lambda carry, i: (advance(i, carry, arrays), None), carry, steps)[0]
        return (loop.reversible if backward else loop.plain)(carry, arrays)

    return looping


def _picks(state: State, step: Region, changing: dict[int, Change]) -> list[Pick]:
    """Where the results of a step have the next values of what is carried; (number,) for a number."""
    picks = []
    for (leaves, _), value in zip(state.columns, step.value, strict=True):
        for old, new in zip(leaves, flatten(value)[0], strict=True):
            if isinstance(old, _Carried):
                picks.append(pick_of(new, old.dtype))
    # In the order of `_emit`.
    return picks + [step.changes[key].leaf.index for key in changing]
