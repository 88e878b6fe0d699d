"""A while loop over arrays that has gradients of every order in reverse, in bounded memory: nobody needs to
know how often it runs.

Going forward, states are saved at every `stride`-th step; when the room for them is used up, every other one
is dropped and the stride doubles. Going backward, the states between are computed again, with some of them
saved on the way in the room that gets free. With 64 + 16 saved states, 64 steps need no step twice, 1000
steps each one more time, 100 000 steps each two to three more times. Large states are saved less often.

The gradient of the gradient uses that the gradient is linear in what comes in: contracted with (u, v) it is
what comes in times the derivative of the loop along (u, v), and that derivative is a loop of the same kind,
over states and their tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

_BYTES = 1 << 29  # what saved states may take; at least eight are saved


class Loop:
    """`while test(i, carry, fixed): carry = step(i, carry, fixed)` over tuples of arrays; i counts the
    steps as uint32.

    Attributes:
        test: the function that says whether the loop goes on.
        step: the function of one step.
        carried: for each array of carry whether gradients flow through it; never through integers.
        read: the same for each array of fixed.
        again: the step as it is computed when gradients are, without prints.
    """

    __slots__ = ("again", "carried", "read", "step", "test")

    def __init__(
        self,
        test: Callable[..., Any],
        step: Callable[..., Any],
        carried: Iterable[bool],
        read: Iterable[bool],
        again: Callable[..., Any] | None = None,
    ) -> None:
        self.test = test
        self.step = step
        self.carried = tuple(carried)
        self.read = tuple(read)
        self.again = again or step

    def plain(self, carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        """The last carry; no gradient in reverse, but forward."""

        def body(state: Any) -> Any:
            i, now = state
            return i + 1, self.step(i, now, fixed)

        return jax.lax.while_loop(
            lambda state: self.goes_on(state[0], state[1], fixed), body, (jnp.uint32(0), tuple(carry))
        )[1]

    def goes_on(self, i: Any, carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        """Whether there is one more step."""
        # XLA (jaxlib 0.10) runs no step of `while i < 1: i += 2` where it knows all numbers. The barrier
        # hides them.
        return jax.lax.optimization_barrier(self.test(i, carry, fixed))

    def reversible(self, carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        """The last carry; differentiable in reverse, any number of times."""
        return _loop(self)[0](tuple(carry), tuple(fixed))

    def smooth(
        self, i: Any, carry: Sequence[Any], fixed: Sequence[Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]:
        """The step as a function of what gradients flow through, and its arguments:
        (function, carry, fixed)."""

        def step(some: Sequence[Any], others: Sequence[Any]) -> Any:
            # Only floating and complex arrays are differentiated; the others go along as they are.
            out = self.again(i, _merged(self.carried, carry, some), _merged(self.read, fixed, others))
            return _chosen(self.carried, out), out

        return step, _chosen(self.carried, carry), _chosen(self.read, fixed)

    def tangent(self) -> Loop:
        """The loop over (carry, tangents of its smooth part) with fixed values and tangents of
        their smooth part."""
        n = len(self.carried)
        m = len(self.read)

        def step(i: Any, carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
            function, some, others = self.smooth(i, carry[:n], fixed[:m])
            # The derivative of one step along the tangents (`jax.jvp`), beside the step itself.
            _, moved, out = jax.jvp(
                function, (some, others), (tuple(carry[n:]), tuple(fixed[m:])), has_aux=True
            )
            return (*out, *moved)

        def test(i: Any, carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
            return self.test(i, carry[:n], fixed[:m])

        # Tangents of what gradients flow through are carried as well, and gradients flow through them.
        carried = self.carried + (True,) * sum(self.carried)
        read = self.read + (True,) * sum(self.read)
        return Loop(test, step, carried, read)


def _chosen(mask: Sequence[bool], values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(v for v, has in zip(values, mask, strict=True) if has)


def _merged(mask: Sequence[bool], values: Sequence[Any], chosen: Iterable[Any]) -> tuple[Any, ...]:
    rest = iter(chosen)
    return tuple(next(rest) if has else v for v, has in zip(values, mask, strict=True))


def _padded(mask: Sequence[bool], chosen: Iterable[Any]) -> tuple[Any, ...]:
    """Cotangents with None where there is none."""
    return _merged(mask, (None,) * len(mask), chosen)


def _loop(loop: Loop) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """(the loop with a gradient in reverse, the same that also gives the saved states)."""

    @jax.custom_vjp
    def run(carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        return loop.plain(carry, fixed)

    # Two functions, so that the saved states of the forward pass are results with a gradient of their own.
    @jax.custom_vjp
    def saving(carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        return _saving(loop, carry, fixed)

    def forward(carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        out, saved = saving(carry, fixed)
        return out, (carry, fixed, saved)

    def backward(kept: Any, cts: Any) -> Any:
        carry, fixed, saved = kept
        into_carry, into_fixed = _pull(loop)(carry, fixed, saved, _chosen(loop.carried, cts))
        return _padded(loop.carried, into_carry), _padded(loop.read, into_fixed)

    def forward_saving(carry: Sequence[Any], fixed: Sequence[Any]) -> Any:
        out, kept = forward(carry, fixed)
        return (out, kept[2]), kept

    run.defvjp(forward, backward)
    # The saved states get no cotangents: nothing but the backward pass reads them.
    saving.defvjp(forward_saving, lambda kept, cts: backward(kept, cts[0]))
    return run, saving


def _pull(loop: Loop) -> Callable[..., Any]:
    """The gradient of the loop as a function (carry, fixed, saved states, cotangents) that has
    gradients itself."""

    @jax.custom_vjp
    def pull(carry: Sequence[Any], fixed: Sequence[Any], saved: Any, cts: Any) -> Any:
        return _reversed(loop, fixed, saved, cts)

    def forward(carry: Sequence[Any], fixed: Sequence[Any], saved: Any, cts: Any) -> Any:
        return pull(carry, fixed, saved, cts), (carry, fixed, cts)

    # The gradient is linear in `cts`. Its derivative by carry and fixed is that of `<cts, J(u, v)>`, the
    # loop of tangents.
    def backward(kept: Any, directions: Any) -> Any:
        carry, fixed, cts = kept
        along_carry, along_fixed = directions

        def moved(some: Sequence[Any], others: Sequence[Any]) -> Any:
            state = (*_merged(loop.carried, carry, some), *along_carry)
            out = loop.tangent().reversible(state, (*_merged(loop.read, fixed, others), *along_fixed))
            return out[len(loop.carried) :]

        into_cts, back = jax.vjp(moved, _chosen(loop.carried, carry), _chosen(loop.read, fixed))
        into_carry, into_fixed = back(cts)
        # None: the saved states are functions of carry and fixed, whose derivatives are counted there.
        return _padded(loop.carried, into_carry), _padded(loop.read, into_fixed), None, into_cts

    pull.defvjp(forward, backward)
    return pull


def _room(carry: Sequence[Any]) -> tuple[int, int]:
    """How many states are saved going forward, and how many more going backward."""
    size = sum(x.size * x.dtype.itemsize for x in carry)
    saved = 64
    # At least 8 states are saved however large they are: fewer would compute steps again too often.
    while saved > 8 and (saved + saved // 4) * size > _BYTES:
        saved //= 2
    return saved, max(8, saved // 4)


def _saving(loop: Loop, carry: Sequence[Any], fixed: Sequence[Any]) -> tuple[Sequence[Any], tuple[Any, ...]]:
    """(last carry, (number of steps, stride, places of the saved states in order, saved states))."""
    most, _ = _room(carry)

    def body(state: Any) -> Any:
        i, stride, places, rooms, now = state
        at = i // stride
        # No room is left: every second saved state is dropped, by giving its room to later ones.
        full = (i % stride == 0) & (at >= most)
        places = jnp.where(full, jnp.concatenate([places[0::2], places[1::2]]), places)
        stride = jnp.where(full, stride * 2, stride)
        at = i // stride
        due = i % stride == 0
        place = places[at]
        rooms = [_put(room, place, value, due) for room, value in zip(rooms, now, strict=True)]
        return i + 1, stride, places, rooms, loop.again(i, now, fixed)

    rooms = [jnp.zeros((most, *x.shape), x.dtype) for x in carry]
    start = jnp.uint32(0), jnp.uint32(1), jnp.arange(most, dtype=jnp.uint32), rooms, tuple(carry)
    end = jax.lax.while_loop(lambda s: loop.goes_on(s[0], s[4], fixed), body, start)
    n, stride, places, rooms, last = end
    return last, (n, stride, places, tuple(rooms))


def _put(room: Any, place: Any, value: Any, due: Any) -> Any:
    # A select and no branch: both ways cost one row, and XLA keeps the memory in place.
    return room.at[place].set(jnp.where(due, value, room[place]))


def _saved_state(rooms: Any, top: Any) -> Any:
    """The state at a place of the stack."""
    # -1 marks the empty stack, whose state nobody uses.
    return tuple(room[jnp.maximum(top, 0)] for room in rooms)


def _worth_saving(goal: Any, at: Any, base: Any, free: Any) -> Any:
    """Whether the state at a step divides the way from the last saved one to the goal well, with
    so much room left."""
    # Half of the free room divides the way evenly; the rest is for the ways between.
    share = free // 2 + 1
    return (at == base + jnp.maximum(1, (goal - base + share - 1) // share)) & (at < goal) & (free > 0)


def _reversed(loop: Loop, fixed: Sequence[Any], saved: Any, cts: Any) -> tuple[Any, ...]:
    """Goes back over the steps. The saved states are a stack; on top is the last one not after the step
    to go back over."""
    n, stride, places, rooms = saved
    # Signed from here on: the goal ends at -1.
    n = n.astype(jnp.int32)
    stride = stride.astype(jnp.int32)
    # Saved states: one for each stride that has begun.
    used = (n + stride - 1) // stride
    most, spare = _room([room[0] for room in rooms])
    rooms = [
        jnp.concatenate([room[places], jnp.zeros((spare, *room.shape[1:]), room.dtype)]) for room in rooms
    ]
    # where[k]: the step that the state at place k of the stack belongs to.
    where = jnp.arange(most + spare, dtype=jnp.int32) * stride

    # Computing a step again.
    def advance(at: Any, now: Any, cts: Any, sums: Any) -> Any:
        return loop.again(at.astype(jnp.uint32), now, fixed), cts, sums

    # The gradient of a step, when its state is there.
    def go_back(at: Any, now: Any, cts: Any, sums: Any) -> Any:
        function, some, others = loop.smooth(at.astype(jnp.uint32), now, fixed)
        _, back, _ = jax.vjp(function, some, others, has_aux=True)
        into_carry, into_fixed = back(cts)
        return now, into_carry, tuple(a + b for a, b in zip(sums, into_fixed, strict=True))

    def body(state: Any) -> Any:
        goal, at, now, top, where, rooms, cts, sums = state
        # The state is from before the goal: forward to it first.
        ahead = at < goal
        now, cts, sums = jax.lax.cond(ahead, advance, go_back, at, now, cts, sums)
        at = jnp.where(ahead, at + 1, at)
        due = ahead & _worth_saving(goal, at, where[jnp.maximum(top, 0)], most + spare - 1 - top)
        top = jnp.where(due, top + 1, top)
        rooms = [_put(room, jnp.maximum(top, 0), value, due) for room, value in zip(rooms, now, strict=True)]
        where = _put(where, jnp.maximum(top, 0), at, due)
        # going back: continue from the last saved state
        goal = jnp.where(ahead, goal, goal - 1)
        # The saved state belongs to a later step than the next goal: it is used up.
        top = jnp.where(~ahead & (where[jnp.maximum(top, 0)] > goal), top - 1, top)
        now = tuple(jnp.where(ahead, a, b) for a, b in zip(now, _saved_state(rooms, top), strict=True))
        at = jnp.where(ahead, at, where[jnp.maximum(top, 0)])
        return goal, at, now, top, where, rooms, cts, sums

    # Cotangents of what each step reads are summed over all steps.
    sums = tuple(jnp.zeros(x.shape, x.dtype) for x in _chosen(loop.read, fixed))
    top = used - 1
    start = n - 1, where[jnp.maximum(top, 0)], _saved_state(rooms, top), top, where, rooms, tuple(cts), sums
    end = jax.lax.while_loop(lambda state: state[0] >= 0, body, start)
    return end[6], end[7]
