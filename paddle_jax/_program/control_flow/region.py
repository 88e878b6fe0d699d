"""A piece of Paddle code (a branch, a loop's body or test) as a pure function of arrays, or as a block of a
Program that is recorded.

A `Region` runs code once and keeps what is needed to make an operation of it: what it returned with a `Leaf`
in place of every Tensor, which Tensors outside it reads and which it changes in place.
"""

import dataclasses
import weakref

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.core import trace_ctx  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.execution.python_state import stores_of
from paddle_jax._core.execution.trace import Trace, constants_last, trace
from paddle_jax._core.kernels.kernel import ADD
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES, common_avals
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, inside, wrap
from paddle_jax._program.capture.capture import refuse_doubtful
from paddle_jax._program.control_flow.effects import without_effects
from paddle_jax._program.control_flow.host_values import HostValue
from paddle_jax._program.control_flow.side_effects import Objects


class Undefined:
    """The value of a name that has none. Reading it raises UnboundLocalError, as Python does."""

    __slots__ = ("name",)

    def __init__(self, name="the variable"):
        self.name = name

    def read(self):
        """Raises."""
        raise UnboundLocalError(
            f"cannot access local variable '{self.name}' where it is not associated with a value"
        )

    def __repr__(self):
        return f"<undefined {self.name}>"


class Unreturned(Undefined):
    """What a function returns before it has come to a `return`."""

    __slots__ = ()


class Mismatch(Unsupported):
    """Values that cannot be joined. kind: "structure", "type" or "dtype" (number of axes included), in which
    they differ."""

    def __init__(self, text, kind):
        super().__init__(text)
        self.kind = kind


class Leaf:
    """A Tensor in what code returned. at: its place among the arrays. stop: its stop_gradient. avals: where a
    Program is recorded, those of its Symbol. ref: the Tensor itself, if it is from outside. number: whether
    it stands for a value on the host."""

    __slots__ = ("at", "avals", "dtype", "number", "ref", "shape", "stop")

    def __init__(self, at, tensor):
        self.at, self.shape, self.dtype, self.stop = (
            at,
            tuple(tensor._raw.shape),
            np.dtype(tensor._raw.dtype),
            tensor.stop_gradient,
        )
        self.avals, self.ref = avals_here(tensor), weakref.ref(tensor)
        self.number = isinstance(tensor, HostValue)


def widened(values):
    """The avals that Leafs of different lengths have in common; None where lengths must be the same: in a
    trace, and in a recording that is for certain lengths."""
    frame = local.ctx.frame
    if not frame.symbolic and (not frame.recording or frame.probe is not None):
        return None
    join = frame.join if frame.symbolic else common_avals
    pair = values[0].avals
    for value in values[1:]:
        pair = pair and join(pair, value.avals)
    return pair


def avals_here(tensor):
    """The avals of a Tensor's Symbol where a Program is recorded; else None."""
    frame = local.ctx.frame
    return frame.symbol(tensor).avals if frame.recording else None


def flat(value):
    """(leaves, structure) of nested lists, tuples and dicts; everything else counts as a leaf."""
    return jax.tree.flatten(value, is_leaf=lambda x: not isinstance(x, list | tuple | dict))


def place_of(value, dtype):
    """Where among the arrays of a Region a leaf is: the place of a Leaf; (number,) for a number, as one of
    that dtype."""
    if is_length(value):
        return (value,)
    return value.at if isinstance(value, Leaf) else (np.asarray(value).astype(dtype).item(),)


def array_at(place, arrays, like):
    """The array at a place that `place_of` gave, of the shape and dtype of another."""
    return (
        jnp.full(like.shape, place[0], like.dtype)
        if isinstance(place, tuple)
        else arrays[place].astype(like.dtype)
    )


def lacking(tensor, name):
    """Notes a variable that has no value after some branch: where its value is needed, a function that need
    not be compiled whole runs eagerly, which tells."""
    frame = local.ctx.frame
    if frame.capture is frame and not frame.once:
        frame.lacking[id(tensor)] = tensor, name


def is_traced(value) -> bool:
    """Whether a value is known to the compiled program only, or to the one that is being recorded."""
    return isinstance(value._raw if isinstance(value, Tensor) else value, ABSTRACT_TYPES) or is_length(value)


@dataclasses.dataclass(slots=True, eq=False)
class Change:
    """A Tensor outside that code changes in place."""

    tensor: Tensor
    adopts: bool  # whether gradients flow to the new value
    leaf: Leaf  # the new value


class RegionTrace(Trace):
    """The run of a branch or loop body inside a trace.

    grads: {id: (Tensor, its `grad` before)} of Tensors whose `grad` was looked at. snapshot: None, or where
    is noted what it changes of Python's objects; older: ids of the objects that the run around it has made
    before; noted: those in the snapshot, by id. level: JAX's trace.
    """

    region = True

    def __init__(self, index=None):
        super().__init__(index)
        # of what comes in: it is no leaf, so it may be changed in place
        self.grads, self.origin = {}, Node(ADD, (), (), (), 1)
        self.snapshot, self.older, self.noted, self.level = None, (), {}, None

    def begin(self, snapshot):
        """Notes in a Snapshot what the code changes of Python's objects."""
        self.snapshot, self.level = snapshot, trace_ctx.trace
        self.older = () if Observing.observer is None else frozenset(Observing.observer.created)

    def steps(self):
        """As of any trace; whether calls are recorded on the tape stays as it is outside."""
        ctx = local.ctx
        return [(setattr, ctx, "frame", self.nest_in(ctx.frame))], [(setattr, ctx, "frame", ctx.frame)]

    def on_grad_access(self, tensor, accumulates=False):
        self.grads.setdefault(id(tensor), (tensor, tensor._grad))
        super().on_grad_access(tensor, accumulates)

    def on_assign(self, tensor, shares=True):
        if type(tensor._raw) is Uninitialized:
            raise Unsupported(
                "a parameter gets its first value inside a compiled branch or loop; make Layers outside"
            )
        refuse_doubtful(tensor, self.capture)
        super().on_assign(tensor)

    def on_layer_change(self, layer):
        self._note_content(layer)
        super().on_layer_change(layer)

    def on_object_change(self, thing):
        self._note_content(thing)
        super().on_object_change(thing)

    def _note_content(self, thing):
        """Notes what an object or container holds, unless this run has made it."""
        observer = Observing.observer
        mine = observer is not None and id(thing) in observer.created and id(thing) not in self.older
        if self.snapshot is not None and not mine and id(thing) not in self.noted:
            self.noted[id(thing)] = thing
            for store in stores_of(thing):
                pairs = (
                    store.items()
                    if isinstance(store, dict)
                    else enumerate(store)
                    if isinstance(store, list)
                    else ()
                )
                carried = [
                    key
                    for key, value in pairs
                    if isinstance(value, Tensor) and getattr(value._raw, "_trace", None) is self.level
                ]
                # what the conversion knows, it puts back
                self.snapshot.hold(store, f"an attribute or item of a {type(thing).__name__}", carried)

    def on_hook(self, tensor):
        raise Unsupported(
            "register_hook is called inside a compiled branch or loop, where it would never "
            "run; register the hook outside"
        )

    def take(self, tensor, value, stop):
        """Gives a Tensor a value that comes in."""
        tensor._raw, tensor._node, tensor._idx, tensor.stop_gradient = (
            value._raw,
            None if stop else self.origin,
            0,
            stop,
        )

    def result(self, tensor):
        """What a Tensor holds at the end."""
        return wrap(self.operands([tensor])[0], tensor.stop_gradient)

    def changes(self):
        """(Tensor, whether gradients flow to its new value) of Tensors from outside that
        have been changed."""
        for tensor, before in self.grads.values():
            if tensor._grad is not before:
                raise Unsupported(
                    f"{tensor.name}.grad appears inside a compiled branch or loop; "
                    "call backward outside of it"
                )
        for tensor, (raw, node, *_) in self.undo_log.changed():
            if not (isinstance(raw, jax.core.Tracer) and raw._trace is trace_ctx.trace):
                yield (
                    tensor,
                    (
                        tensor._node is not None
                        and tensor._node is not node
                        and tensor._node is not self.origin
                    ),
                )

    def undo_changes(self):
        for tensor, before in self.grads.values():
            tensor._grad = before
        return super().undo_changes()


class Region:
    """`code(*Tensors) -> value` after its run on Tensors of the shapes, dtypes and stop_gradients given by
    Leafs: in a trace, or recorded into a block where a Program is recorded.

    value: what it returned, with Leafs. changes: {id: Change} of Tensors outside. drawn: how many random
    numbers it drew. effects: whether it prints or asserts. In a trace: fn: `(*inputs, *carried, index,
    *outside) -> arrays`, one per Leaf; outside: the Tensors outside that it reads; key: equal for equal
    programs. Recorded: block, and results: the Symbols that the Leafs stand for.
    """

    drawn, effects, results = 0, False, ()

    def __init__(self, code, inputs=(), watched=(), carried=(), indexed=False, roots=()):
        """watched: Tensors whose last values are results even where the code does not change them. carried:
        (Tensor, stop_gradient) for Tensors outside whose first values are inputs and last values results.
        indexed: the code runs many times, with random numbers of its own each time. roots: functions through
        which the code may reach Python objects, which it must not change."""
        self.changes, self.code, self.watched = {}, code, [*watched, *[t for t, _ in carried]]
        with Objects(roots) as objects:
            if local.ctx.frame.recording:
                self._record(inputs[indexed:], carried, [None] * indexed)
            else:
                self._trace(inputs, carried, indexed, objects.snapshot)
        del self.code, self.watched

    def _trace(self, inputs, carried, indexed, snapshot):
        generator = default_generator()
        start = generator._offset
        structs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]
        structs += [jax.ShapeDtypeStruct(t._raw.shape, t._raw.dtype) for t, _ in carried]

        def run(*tensors):
            frame = local.ctx.frame
            frame.begin(snapshot)
            for tensor, leaf in zip(tensors, inputs, strict=False):
                frame.take(tensor, tensor, leaf.stop)
            return self._run(frame, tensors[: len(inputs)], carried, tensors[len(inputs) :])

        try:
            program = trace(run, [*structs, jax.ShapeDtypeStruct((), "uint32")], indexed, RegionTrace)
            self.drawn = generator._offset - start
        finally:
            generator._offset = start
        self.fn, self.outside, self.key = program.fn, program.taken, program.key
        self.effects = bool(program.fn.jaxpr.effects)

    def _record(self, inputs, carried, counter):
        recorder = local.ctx.frame
        with recorder.block() as self.block:
            mine = [recorder.block_input(leaf.avals, leaf.stop) for leaf in inputs]
            mine += [recorder.block_input(avals_here(tensor), stop) for tensor, stop in carried]
            self.results = self._run(recorder, [*counter, *mine[: len(inputs)]], carried, mine[len(inputs) :])
            self.block.results = self.results

    def _run(self, frame, inputs, carried, values):
        """Runs the code; what the Leafs stand for."""
        results = []

        def leaf(tensor):
            results.append(frame.result(tensor))
            return Leaf(len(results) - 1, tensor)

        for (tensor, stop), value in zip(carried, values, strict=False):
            frame.on_assign(tensor)
            frame.take(tensor, value, stop)
        leaves, tree = flat(self.code(*inputs))
        self.value = jax.tree.unflatten(tree, [leaf(x) if isinstance(x, Tensor) else x for x in leaves])
        for tensor, adopts in frame.changes():
            self.changes[id(tensor)] = Change(tensor, adopts, leaf(tensor))
        for tensor in self.watched:
            if id(tensor) not in self.changes:
                self.changes[id(tensor)] = Change(tensor, False, leaf(tensor))
        return results

    def watch(self, tensors):
        """Whether the last values of Tensors outside are among the results, or can still become such."""
        more = [tensor for tensor in tensors if id(tensor) not in self.changes]
        if more and not local.ctx.frame.recording:
            return False
        for tensor in more:
            self.changes[id(tensor)] = Change(tensor, False, Leaf(len(self.results), tensor))
            self.results.append(local.ctx.frame.symbol(tensor))
        return True

    def quiet(self):
        """`fn` without its prints and checks, for computing it again."""
        return constants_last(without_effects(self.fn.jaxpr))


class Operands:
    """The Tensors that an operation made of several Regions reads, each once."""

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
    """A result of an operation: one that no gradient flows through is a plain value, though the
    operation has gradients."""
    return wrap(inside(tensor)) if stop else tensor


def doubt(result, tensor):
    """Notes that a result of a branch or loop is, in some cases, a Tensor from outside the
    function itself."""
    capture = local.ctx.frame.capture
    if capture is not None and capture.is_outside(tensor):
        capture.doubtful[id(result)] = result


def write_back(change, new):
    """Gives a Tensor outside the value that a branch or loop left it with."""
    if local.ctx.frame.recording:
        local.ctx.frame.on_assign(change.tensor)
        change.tensor._raw = new._raw
        change.tensor.stop_gradient = new.stop_gradient and change.tensor.stop_gradient
    elif change.adopts:
        change.tensor._adopt(new)
    else:
        change.tensor._rebind(new._raw)
