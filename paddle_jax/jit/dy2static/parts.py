"""A piece of Paddle code (a branch, a loop's body or test) as a pure function of arrays.

`Part` runs code once with `_core.tracing.trace` and keeps what is needed to make an operation of it: what it returned with a `Leaf` in the place of
every Tensor, which Tensors outside it reads and which it changes in place.
"""

import dataclasses
import functools as ft
import weakref

import jax
import numpy as np

from paddle_jax._core.errors import Unsupported
from paddle_jax._core.kernel import ADD
from paddle_jax._core.node import Node
from paddle_jax._core.random import default_generator
from paddle_jax._core.state import Observing, local
from paddle_jax._core.symbol import ABSTRACT
from paddle_jax._core.tensor import Tensor, inside, wrap
from paddle_jax._core.tracing import trace
from paddle_jax.jit.dy2static.effects import without_effects
from paddle_jax.jit.dy2static.side_effects import Objects


class Undefined:
    """The value of a name that has none. Reading it raises UnboundLocalError, as Python does."""

    __slots__ = ("name",)

    def __init__(self, name="the variable"):
        self.name = name

    def read(self):
        """Raises."""
        raise UnboundLocalError(f"cannot access local variable '{self.name}' where it is not associated with a value")

    def __repr__(self):
        return f"<undefined {self.name}>"


class Unreturned(Undefined):
    """What a function returns before it has come to a `return`."""

    __slots__ = ()


class Leaf:
    """A Tensor in what code returned. at: its place among the arrays. stop: its stop_gradient. ref: the Tensor itself, if it is from outside."""

    __slots__ = ("at", "dtype", "ref", "shape", "stop")

    def __init__(self, at, tensor):
        self.at, self.shape, self.dtype, self.stop = at, tuple(tensor._raw.shape), np.dtype(tensor._raw.dtype), tensor.stop_gradient
        self.ref = weakref.ref(tensor)


def flat(value):
    """(leaves, structure) of nested lists, tuples and dicts; everything else counts as a leaf."""
    return jax.tree.flatten(value, is_leaf=lambda x: not isinstance(x, list | tuple | dict))


def is_number(value) -> bool:
    """Whether a leaf is a Python or NumPy number."""
    return isinstance(value, bool | int | float | complex | np.generic)


def is_traced(value) -> bool:
    """Whether a value is known to the compiled program only, or to the one that is being recorded."""
    return isinstance(value._raw if isinstance(value, Tensor) else value, ABSTRACT)


@dataclasses.dataclass(slots=True, eq=False)
class Change:
    """A Tensor outside that code changes in place."""

    tensor: Tensor
    adopts: bool  # whether gradients flow to the new value
    leaf: Leaf  # the new value


class Part:
    """`code(*Tensors) -> value` after its run on Tensors of the shapes, dtypes and stop_gradients given by Leafs.

    value: what it returned, with Leafs. changes: {id: Change} of Tensors outside. fn: `(*inputs, *carried, index, *taken) -> arrays`, one per Leaf.
    taken: the Tensors outside that it reads. drawn: how many random numbers it drew. effects: whether it prints or asserts.
    """

    def __init__(self, code, inputs=(), watched=(), carried=(), indexed=False, roots=()):
        """watched: Tensors whose last values are results even where the code does not change them. carried: (Tensor, stop_gradient) for Tensors
        outside whose first values are inputs and last values results. indexed: the code runs many times, with random numbers of its own each
        time. roots: functions through which the code may reach Python objects, which it must not change."""
        self.changes = {}
        generator = default_generator()
        start = generator._offset
        structs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]
        structs += [jax.ShapeDtypeStruct(t._raw.shape, t._raw.dtype) for t, _ in carried]
        run = ft.partial(self._run, code, inputs, watched, carried, indexed, local.ctx.grad)
        with Objects(roots) as objects:
            run = ft.partial(run, objects)
            try:
                program = trace(run, [*structs, jax.ShapeDtypeStruct((), "uint32")], indexed)
                self.drawn = generator._offset - start
            finally:
                generator._offset = start
        self.fn, self.taken, self.key = program.fn, program.taken, program.key
        self.effects = bool(program.fn.jaxpr.effects)

    def _run(self, code, inputs, watched, carried, indexed, grad, objects, *tensors):
        """Runs the code on traced Tensors; gives those of which `fn` gives the arrays. grad: whether gradients are on."""
        current, results = local.ctx.frame, []
        local.ctx.grad, current.part, current.changing = grad, True, objects.held
        current.older = () if Observing.reads is None else frozenset(Observing.reads.made)
        grads = _watching(current)
        mine = (current.index if indexed else tensors[-1]._raw)._trace
        origin = Node(ADD, (), (), (), 1)  # they are no leaves, so they may be changed in place
        for tensor, leaf in zip(tensors[: len(inputs)], inputs, strict=True):
            tensor.stop_gradient, tensor._node = leaf.stop, None if leaf.stop else origin
        for (tensor, stop), new in zip(carried, tensors[len(inputs) : len(inputs) + len(carried)], strict=True):
            current.note(tensor)
            tensor._raw, tensor._node, tensor._idx, tensor.stop_gradient = new._raw, None if stop else origin, 0, stop

        def leaf(tensor):
            results.append(wrap(current.operands([tensor])[0], tensor.stop_gradient))
            return Leaf(len(results) - 1, tensor)

        try:
            leaves, tree = flat(code(*tensors[: len(inputs)]))
            self.value = jax.tree.unflatten(tree, [leaf(x) if isinstance(x, Tensor) else x for x in leaves])
            self._find_changes(current, mine, origin, [*watched, *[t for t, _ in carried]], leaf)
        finally:
            appeared = [tensor for tensor, before in grads.values() if tensor._grad is not before]
            for tensor, before in grads.values():
                tensor._grad = before
            del current.watch
        if appeared:
            raise Unsupported(f"{appeared[0].name}.grad appears inside a compiled branch or loop; call backward outside of it")
        return results

    def quiet(self):
        """`fn` without its prints and checks, for computing it again."""
        jaxpr, n = without_effects(self.fn.jaxpr), len(self.fn.jaxpr.invars)
        return lambda *operands: tuple(jax.core.eval_jaxpr(jaxpr, operands[n:], *operands[:n]))

    def _find_changes(self, current, mine, origin, watched, leaf):
        for ref, before in list(current.written.values()):
            tensor = ref()
            own = isinstance(before[0], jax.core.Tracer) and before[0]._trace is mine
            if tensor is not None and tensor._raw is not before[0] and not own:
                adopts = tensor._node is not None and tensor._node is not before[1] and tensor._node is not origin
                self.changes[id(tensor)] = Change(tensor, adopts, leaf(tensor))
        for tensor in watched:
            if id(tensor) not in self.changes:
                self.changes[id(tensor)] = Change(tensor, False, leaf(tensor))


def part_kind():
    """`Part`, or what takes its place while a Program is recorded."""
    if not local.ctx.frame.recording:
        return Part
    from paddle_jax.static.converted import RecordedPart

    return RecordedPart


def _watching(current):
    """Notes the Tensors whose `grad` is looked at from now on: {id: (Tensor, grad before)}."""
    grads, watch = {}, current.watch

    def noting(tensor, accumulates=False):
        grads.setdefault(id(tensor), (tensor, tensor._grad))
        watch(tensor, accumulates)

    current.watch = noting
    return grads


class Operands:
    """The Tensors that an operation made of several Parts reads, each once."""

    def __init__(self, tensors):
        self.tensors, self.places = list(tensors), {}
        for at, tensor in enumerate(self.tensors):
            self.places.setdefault(self._key(tensor), at)

    def places_of(self, tensors):
        """Where given Tensors are among the operands; those that are not there yet are added."""
        return tuple([self._place(t) for t in tensors])

    def _place(self, tensor):
        key = self._key(tensor)
        if key not in self.places:
            self.places[key] = len(self.tensors)
            self.tensors.append(tensor)
        return self.places[key]

    @staticmethod
    def _key(tensor):
        source = tensor if tensor._node is None else tensor._node
        return (id(tensor._raw), tensor.stop_gradient, 0 if tensor.stop_gradient else id(source), tensor._idx)


def finished(tensor, stop):
    """A result of an operation: one that no gradient flows through is a plain value, though the operation has gradients."""
    return wrap(inside(tensor)) if stop else tensor


def write_back(change, new):
    """Gives a Tensor outside the value that a branch or loop left it with."""
    if local.ctx.frame.recording:
        local.ctx.frame.note(change.tensor)
        change.tensor._raw = new._raw
        change.tensor.stop_gradient = new.stop_gradient and change.tensor.stop_gradient
    elif change.adopts:
        change.tensor._adopt(new)
    else:
        change.tensor._rebind(new._raw)
