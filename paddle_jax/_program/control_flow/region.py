"""A piece of Paddle code as a pure function of arrays, or as a block of a Program.

The piece is a branch of a condition, or the test or body of a loop. A `Region` runs it once and keeps what an
operation of it needs: the value that it returned, with a `Leaf` in place of every Tensor, and which Tensors
from outside it reads and which it changes in place.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax._src.core import trace_ctx  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.execution.python_state import (
    RowsOrItems,
    Snapshot,
    members,
    stores_of,
)
from paddle_jax._core.execution.trace import Trace, constants_last, trace
from paddle_jax._core.kernels.kernel import ADD
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES, Symbol
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tensors.held_values import (
    held_value,
    holds_uninitialized,
    numpy_dtype,
    plain_shape,
    replace_held,
    unwrap,
)
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor, raw_for_trace, wrap
from paddle_jax._program.capture.capture import refuse_possible_outside
from paddle_jax._program.control_flow.effects import without_effects
from paddle_jax._program.control_flow.host_values import HostValue
from paddle_jax._program.control_flow.side_effects import UnchangedObjects

if TYPE_CHECKING:
    from paddle_jax._program.control_flow.blocks import Block

# a result of a Region: its position, or (number,)
Pick = int | tuple[Any]


class Undefined:
    """The value of a name that has none. Reading it raises UnboundLocalError, as Python does.

    Attributes:
        name: str, how the variable is called in the message.
    """

    __slots__ = ("name",)

    def __init__(self, name: str = "the variable") -> None:
        self.name = name

    def read(self) -> Any:
        """Raises."""
        raise UnboundLocalError(
            f"cannot access local variable '{self.name}' where it is not associated with a value"
        )

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


class Unreturned(Undefined):
    """What a function returns before it has come to a `return`."""

    __slots__ = ()


class Mismatch(Unsupported):
    """Values that cannot be joined.

    Attributes:
        kind: str, in which they differ: "structure", "type" or "dtype" (number of axes included).
    """

    def __init__(self, text: str, kind: str, concerns_lengths: bool = False) -> None:
        super().__init__(text, concerns_lengths)
        self.kind = kind


class Leaf:
    """A Tensor in the value that code returned.

    Attributes:
        index: int, its position among the results of the Region.
        shape: tuple of ints.
        dtype: NumPy dtype.
        stop_gradient: bool, that of the Tensor.
        avals: where a Program is recorded, the avals of its Symbol, else None.
        outside: weak reference to the Tensor, which is alive afterwards if the Tensor is from outside.
        is_host_value: bool, whether it stands for a value on the host.
        lengths: tuple of its lengths, with those that are not known where a model file is recorded.
    """

    __slots__ = ("avals", "dtype", "index", "is_host_value", "lengths", "outside", "shape", "stop_gradient")

    def __init__(self, index: int, tensor: Tensor) -> None:
        self.index = index
        self.shape = tuple(plain_shape(tensor))
        self.dtype = np.dtype(numpy_dtype(tensor))
        self.stop_gradient = tensor.stop_gradient
        self.avals = local.ctx.frame.symbol_avals(tensor)
        self.lengths = tuple(tensor.shape) if local.ctx.frame.symbolic else self.shape
        self.outside = weakref.ref(tensor)
        self.is_host_value = isinstance(tensor, HostValue)


def flatten(value: Any) -> tuple[list[Any], Any]:
    """(leaves, structure) of nested lists, tuples and dicts; everything else counts as a leaf."""
    if local.ctx.frame.symbolic:
        value = _with_plain_lists(value)
    return jax.tree.flatten(value, is_leaf=lambda x: not isinstance(x, list | tuple | dict))


def _with_plain_lists(value: Any) -> Any:
    """The same value with plain lists in place of those that might become rows."""
    if isinstance(value, RowsOrItems) and value.rows is not None:
        return value
    if isinstance(value, list | tuple | dict):
        items = [(key, _with_plain_lists(one)) for key, one in members(value)]
        # A list that has not become rows is a plain one.
        if isinstance(value, RowsOrItems):
            return [one for _, one in items]
        # Unchanged parts stay the same objects, as identity is compared.
        if any(new is not old for (_, new), (_, old) in zip(items, members(value), strict=True)):
            if isinstance(value, dict):
                return type(value)(items)
            return make_sequence(type(value), [one for _, one in items])
    return value


def pick_of(value: Any, dtype: np.dtype) -> Pick:
    """Where a leaf is among the results of a Region; (number,) for a number, as one of that dtype."""
    if is_length(value):
        return (value,)
    if isinstance(value, Leaf):
        return value.index
    # As the dtype of the other branches: `True` and `1` are different results.
    return (np.asarray(value).astype(dtype).item(),)


def picked_array(pick: Pick, arrays: Sequence[jax.Array], like: Any) -> jax.Array:
    """The array that a Pick names, with the shape and dtype of another one."""
    if isinstance(pick, tuple):
        return jnp.full(like.shape, pick[0], like.dtype)
    return arrays[pick].astype(like.dtype)


def is_traced(value: Any) -> bool:
    """Whether a value is known to the compiled program only, or to the one that is being recorded."""
    return isinstance(unwrap(value), ABSTRACT_TYPES) or is_length(value)


@dataclasses.dataclass(slots=True, eq=False)
class Change:
    """A Tensor from outside that code changes in place.

    Attributes:
        tensor: the Tensor.
        has_gradient: bool, whether gradients flow to the new value.
        leaf: Leaf, the new value.
    """

    tensor: Tensor
    has_gradient: bool
    leaf: Leaf


class RegionTrace(Trace):
    """The run of a branch or loop body inside a trace.

    Attributes:
        grads: dict from ids to (Tensor, its `grad` before), of Tensors whose `grad` was read.
        input_node: Node of the inputs: they are no leaves, so they may be changed in place.
        snapshot: Snapshot of the Python objects that the run changes, or None.
        older: ids of the objects that the run around it made before.
        noted: dict of the objects in the snapshot, by id.
        level: JAX's trace.
    """

    def __init__(self, index: Any = None) -> None:
        super().__init__(index)
        self.grads: dict[int, tuple[Tensor, Tensor | None]] = {}
        # It has no operands, so a walk of the tape ends there.
        self.input_node = Node(ADD, (), (), (), 1)
        self.snapshot: Snapshot | None = None
        self.older: Any = ()
        self.noted: dict[int, Any] = {}
        self.level: Any = None

    def begin(self, snapshot: Snapshot) -> None:
        """Notes in a Snapshot what the code changes of Python's objects."""
        self.snapshot = snapshot
        # what a container held before the code counts, not what a loop has given it
        self.noted = {id(store): store for store, *_ in snapshot.held}
        self.level = trace_ctx.trace
        if Observing.observer is None:
            self.older = ()
        else:
            # Objects of the run around this one are outside of this region.
            self.older = frozenset(Observing.observer.created)

    def steps(self) -> tuple[list[Any], list[Any]]:
        """As of any trace; whether calls are recorded on the tape stays as it is outside."""
        # As a plain Trace does, but the tape stays on: the region's results may have gradients.
        ctx = local.ctx
        return [(setattr, ctx, "frame", self.nest_in(ctx.frame))], [(setattr, ctx, "frame", ctx.frame)]

    def prints_later(self, is_traced: bool) -> bool:
        return True

    def on_grad_access(self, tensor: Tensor, accumulates: bool = False) -> None:
        # The `grad` from before the first look is restored.
        self.grads.setdefault(id(tensor), (tensor, tensor._grad))
        super().on_grad_access(tensor, accumulates)

    def on_assign(self, tensor: Tensor, shares: bool = True) -> None:
        if holds_uninitialized(tensor):
            raise Unsupported(
                "a parameter gets its first value inside a compiled branch or loop; make Layers outside"
            )
        refuse_possible_outside(tensor, self.capture)
        super().on_assign(tensor)

    def on_layer_change(self, layer: Any) -> None:
        # Noted before the change, so that the snapshot holds what the object had.
        self._note_content(layer)
        super().on_layer_change(layer)

    def on_object_change(self, owner: Any) -> None:
        self._note_content(owner)
        super().on_object_change(owner)

    def _note_content(self, thing: Any) -> None:
        """Notes what an object or container holds, unless this run has made it."""
        observer = Observing.observer
        # Made by the run and not before this region.
        is_own = observer is not None and id(thing) in observer.created and id(thing) not in self.older
        # An object that this run has made is seen by nobody outside, so it may change.
        if self.snapshot is None or is_own or id(thing) in self.noted:
            return
        self.noted[id(thing)] = thing
        for store in stores_of(thing):
            # the conversion knows the Tensors of this trace, and puts them back
            carried = [key for key, value in _items(store) if self._is_of_trace(value)]
            self.snapshot.hold(store, f"an attribute or item of a {type(thing).__name__}", carried)

    def _is_of_trace(self, value: Any) -> bool:
        return isinstance(value, Tensor) and getattr(held_value(value), "_trace", None) is self.level

    def on_hook(self, tensor: Tensor) -> None:
        raise Unsupported(
            "register_hook is called inside a compiled branch or loop, where it would never "
            "run; register the hook outside"
        )

    def bind_input(self, tensor: Tensor, value: Tensor, stop_gradient: bool) -> None:
        """Gives a Tensor the value of an input."""
        replace_held(tensor, held_value(value))
        # Any node will do: it says that gradients flow, and that the Tensor is no leaf.
        tensor._node = None if stop_gradient else self.input_node
        tensor._idx = 0
        tensor.stop_gradient = stop_gradient

    def last_value(self, tensor: Tensor) -> Tensor:
        """What a Tensor holds at the end."""
        return wrap(self.operands([tensor])[0], tensor.stop_gradient)

    def changed_tensors(self) -> Iterator[tuple[Tensor, bool]]:
        """(Tensor, whether gradients flow to its new value) of Tensors from outside that are changed."""
        for tensor, before in self.grads.values():
            # The gradient would be a tracer of this trace.
            if tensor._grad is not before:
                raise Unsupported(
                    f"{tensor.name}.grad appears inside a compiled branch or loop; "
                    "call backward outside of it"
                )
        for tensor, (raw, node, *_) in self.undo_log.changed():
            if isinstance(raw, jax.core.Tracer) and raw._trace is trace_ctx.trace:
                # A Tensor that the region has made: its old value was of this trace, too.
                continue  # made by the code
            # A node other than at the beginning: a gradient flows.
            yield tensor, tensor._node not in (None, node, self.input_node)

    def undo_changes(self) -> list[Any]:
        for tensor, before in self.grads.values():
            tensor._grad = before
        return super().undo_changes()


def _items(store: Any) -> Iterable[tuple[Any, Any]]:
    """The keys and values of a dict or list."""
    if isinstance(store, dict):
        return store.items()
    if isinstance(store, list):
        return enumerate(store)
    return ()


class Region:
    """`code(*Tensors) -> value` after its run on Tensors of the shapes, dtypes and stop_gradients of Leafs.

    It runs in a trace, or is recorded into a block where a Program is recorded.

    Attributes:
        value: what the code returned, with Leafs.
        changes: dict from ids to the Changes of Tensors from outside.
        drawn: int, how many random numbers it drew.
        effects: bool, whether it prints or asserts.
        fn: in a trace, `(*inputs, *carried, index, *outside) -> arrays`, one per Leaf.
        outside: in a trace, list of the Tensors from outside that it reads.
        key: in a trace, equal for equal programs.
        block: Block that it was recorded into; refused after a trace, which has none.
        results: list of the Symbols that the Leafs stand for, where it is recorded.
    """

    def __init__(
        self,
        code: Callable[..., Any],
        inputs: Sequence[Any] = (),
        watched: Sequence[Tensor] = (),
        carried: Sequence[tuple[Tensor, bool]] = (),
        indexed: bool = False,
        roots: Sequence[Any] = (),
        may_change: Sequence[Any] = (),
    ) -> None:
        """Runs the code.

        Args:
            code: function of the inputs.
            inputs: Leafs, or what has their attributes.
            watched: Tensors whose last values are results even where the code does not change them.
            carried: (Tensor, stop_gradient) for Tensors from outside whose first values are inputs and last
                values results.
            indexed: whether the code runs many times, with random numbers of its own each time.
            roots: functions through which the code may reach Python objects, which it must not change.
            may_change: lists and dicts that it may change; they are put back.
        """
        self.value: Any = None
        self.changes: dict[int, Change] = {}
        self.drawn = 0
        self.effects = False
        self.fn: Any = None
        self.outside: list[Tensor] = []
        self.key: Any = None
        self._block: Block | None = None
        self.results: list[Symbol] = []
        self._code = code
        # Carried Tensors are watched, as their last values go into the next step.
        self._watched = [*watched, *[t for t, _ in carried]]
        # Both branches are traced, one runs: a change of a Python object in a branch that does not run
        # would stay.
        with UnchangedObjects(roots, may_change) as objects:
            local.ctx.frame.run_region(self, inputs, carried, indexed, objects.snapshot)
        # They may hold large objects, and a Region lives as long as its program.
        del self._code, self._watched

    def trace(
        self,
        inputs: Sequence[Any],
        carried: Sequence[tuple[Tensor, bool]],
        indexed: bool,
        snapshot: Snapshot,
    ) -> None:
        """Runs the code in a JAX trace."""
        generator = default_generator()
        # Draws of a region are counted and taken back: the whole operation advances the generator once.
        start = generator._offset
        structs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]
        structs += [jax.ShapeDtypeStruct(plain_shape(t), numpy_dtype(t)) for t, _ in carried]

        def run(*tensors: Tensor) -> list[Any]:
            frame = local.ctx.frame
            frame.begin(snapshot)
            for tensor, leaf in zip(tensors, inputs, strict=False):
                frame.bind_input(tensor, tensor, leaf.stop_gradient)
            return self._run(frame, tensors[: len(inputs)], carried, tensors[len(inputs) :])

        try:
            # The last argument is the number of the step, on which the random numbers of a loop depend.
            program = trace(run, [*structs, jax.ShapeDtypeStruct((), "uint32")], indexed, RegionTrace)
            self.drawn = generator._offset - start
        finally:
            generator._offset = start
        self.fn = program.fn
        self.outside = program.taken
        self.key = program.key
        self.effects = bool(program.fn.jaxpr.effects)

    def record(
        self, recorder: Any, inputs: Sequence[Any], carried: Sequence[tuple[Tensor, bool]], indexed: bool
    ) -> None:
        """Records the code into a block. An index is not recorded: the first input is None then."""
        with recorder.block() as block:
            # The index is no input of a block.
            variables = [recorder.block_input(x.avals, x.stop_gradient) for x in inputs[indexed:]]
            first_values = [
                recorder.block_input(recorder.symbol_avals(tensor), stop) for tensor, stop in carried
            ]
            self.results = self._run(recorder, [*[None] * indexed, *variables], carried, first_values)
            block.results = self.results
        self._block = block

    def _run(
        self,
        frame: Any,
        inputs: Sequence[Any],
        carried: Sequence[tuple[Tensor, bool]],
        first_values: Sequence[Tensor],
    ) -> list[Any]:
        """Runs the code; returns what the Leafs stand for."""
        results: list[Any] = []

        def leaf(tensor: Tensor) -> Leaf:
            # In the order in which JAX flattens them: Leaf number k is result k.
            results.append(frame.last_value(tensor))
            return Leaf(len(results) - 1, tensor)

        for (tensor, stop), value in zip(carried, first_values, strict=False):
            # Saved before it is bound, so that `undo` finds the value from outside.
            frame.on_assign(tensor)
            frame.bind_input(tensor, value, stop)
        leaves, tree = flatten(self._code(*inputs))
        self.value = jax.tree.unflatten(tree, [leaf(x) if isinstance(x, Tensor) else x for x in leaves])
        # After the code, so that each has its last value.
        for tensor, has_gradient in frame.changed_tensors():
            self.changes[id(tensor)] = Change(tensor, has_gradient, leaf(tensor))
        # Another branch changes it, or it is carried: it is a result also unchanged.
        for tensor in self._watched:
            if id(tensor) not in self.changes:
                self.changes[id(tensor)] = Change(tensor, False, leaf(tensor))
        return results

    @property
    def block(self) -> Block:
        """The Block that the code was recorded into."""
        if self._block is None:
            raise RuntimeError("this Region ran in a trace, so it has no Block; read Block after `record`")
        return self._block

    def can_return(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the last values of Tensors from outside are among the results, or can still become such."""
        missing = [tensor for tensor in tensors if id(tensor) not in self.changes]
        # A trace is closed, so its code has to run again. A block can still get results.
        if missing and self._block is None:
            return False
        for tensor in missing:
            self.changes[id(tensor)] = Change(tensor, False, Leaf(len(self.results), tensor))
            self.results.append(local.ctx.frame.symbol(tensor))
        return True

    def quiet(self) -> Callable[..., Any]:
        """`fn` without its prints and checks, for computing it again."""
        return constants_last(without_effects(self.fn.jaxpr))


class Operands:
    """The Tensors that an operation made of several Regions reads, each once.

    Attributes:
        tensors: list of the Tensors.
    """

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.tensors = list(tensors)
        self._indices: dict[tuple[Any, ...], int] = {}
        for index, tensor in enumerate(self.tensors):
            self._indices.setdefault(self._key(tensor), index)

    def indices_of(self, tensors: Iterable[Tensor]) -> tuple[int, ...]:
        """The positions of Tensors among the operands; those that are missing are added."""
        return tuple([self._index_of(t) for t in tensors])

    def _index_of(self, tensor: Tensor) -> int:
        key = self._key(tensor)
        if key not in self._indices:
            self._indices[key] = len(self.tensors)
            self.tensors.append(tensor)
        return self._indices[key]

    @staticmethod
    def _key(tensor: Tensor) -> tuple[Any, ...]:
        # A leaf is identified by its object, another Tensor by its node: two Tensors with one node and index
        # are one operand.
        source = tensor if tensor._node is None else tensor._node
        return (
            id(held_value(tensor)),
            tensor.stop_gradient,
            0 if tensor.stop_gradient else id(source),
            tensor._idx,
        )


def without_gradient(tensor: Tensor, stop: bool) -> Tensor:
    """A result of an operation; with `stop` a plain value, though the operation has gradients."""
    # Other results of the operation may have gradients, so it is on the tape.
    if stop:
        return wrap(raw_for_trace(tensor))
    return tensor


def write_back(change: Change, new: Tensor) -> None:
    """Gives a Tensor from outside the value that a branch or loop left it with."""
    local.ctx.frame.set_changed(change.tensor, new, change.has_gradient)
