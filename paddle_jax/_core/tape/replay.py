"""Replays backward passes that recur, as they do at every step of a training loop.

In the deferred tier a backward pass computes nothing: it appends operations to the segment. Which ones
follows from the operations in the segment and from the nodes that are reached: where each was recorded, which
of its operands get a gradient, and where its edges lead. So a cache keeps the operations that a pass has
appended. A later pass over the same operations, whose nodes and edges turn out to be the same, appends them
again without making the LazyArrays in between. The walk over the tape (backward.py) handles all special
cases: hooks, a layer with a backward of its own, nodes of an earlier segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_jax._core.base.state import Context, Precision, local
from paddle_jax._core.lazy.lazy_array import CONSTANT, UNREAD, LazyArray, is_unread
from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.signature_cache import register_cache
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import Segment
    from paddle_jax._core.tape.node import Node

_MAX_PASSES = 256
_MAX_SEEN = 1 << 14
# The target of an edge: a node or leaf that no edge before led to, or the number of one that is known. Nodes
# count up from 0, leaves count down from _LEAF - 1.
_NEW = -1
_LEAF = -2
_new = object.__new__
Key = tuple


class _Passes:
    """The cache of passes.

    Attributes:
        known: {key: Pass, or None for a pass that cannot be replayed}.
        seen: set of the hashes of keys that came once.
    """

    known: dict[Key, Pass | None] = {}  # noqa: RUF012  one for the process
    seen: set[int] = set()  # noqa: RUF012


def clear() -> None:
    """Drops all passes."""
    _Passes.known.clear()
    _Passes.seen.clear()


register_cache(clear)


def pass_key(
    tensors: Sequence[Tensor],
    grads: Sequence[Any],
    inputs: Sequence[Tensor] | None = None,
    create_graph: bool = False,
) -> Key | None:
    """The key of a backward pass, which holds all that it depends on but its nodes.

    Args:
        tensors: the results to start from.
        grads: the gradients to start from.
        inputs: Tensors whose gradients alone are wanted; None: all leaves.
        create_graph: whether the pass itself is recorded.
    Returns:
        The key; None where the pass cannot be replayed.
    """
    ctx = local.ctx
    result = tensors[0]
    segment = ctx.segment
    node = result._node
    if (
        segment is None
        or node is None
        or node.segment is not segment
        # One result, started from ones, is what a loss is; anything else takes the walk.
        or len(tensors) > 1
        or grads[0] is not None
        or result.stop_gradient
        or type(ctx.frame) is not Context.eager_frame_class
        or type(result._raw) is not LazyArray
    ):
        return None
    places = None
    if inputs is not None:
        places = tuple([_place_of(x, segment) for x in inputs])
    return node.position, result._idx, result._raw.aval, create_graph, places, tuple(segment.ops)


def _place_of(tensor: Tensor, segment: Segment) -> Any:
    """Where an input comes from: None for a leaf, else its node's position in the segment."""
    node = tensor._node
    if node is None:
        return None
    if node.segment is not segment:
        return False
    return node.position, tensor._idx


class Replayed(NamedTuple):
    """The result of a pass that was replayed.

    Attributes:
        nodes: list of the Nodes that were reached.
        leaves: list of the leaves that were reached.
        grads: list of the gradients of the leaves, or of the inputs: LazyArrays, or Tensors with a graph.
    """

    nodes: list[Node]
    leaves: list[Tensor]
    grads: list[Any]


def follow(
    records: tuple[tuple[Any, ...], ...], root: Node, segment: Segment
) -> tuple[list[Node], list[Tensor]] | None:
    """The nodes and leaves that the edges of a node lead to; None where they are not as recorded.

    Args:
        records: the nodes as `Pass.nodes` has them.
        root: the node to start from.
        segment: the Segment that all nodes were recorded in.
    """
    nodes: list[Any] = [root]
    leaves: list[Any] = []
    try:
        for node, (position, diff, targets) in zip(nodes, records, strict=False):
            if (
                node.position != position
                or node.segment is not segment
                or (node.diff is not diff and node.diff != diff)
            ):
                return None
            edge = 0
            for target, output in targets:
                source, idx = node.edges[edge]
                edge += 1
                if target == _NEW:
                    nodes.append(source)
                elif target == _LEAF:
                    leaves.append(source)
                elif source is not (nodes[target] if target >= 0 else leaves[_LEAF - 1 - target]):
                    return None
                if idx != output:
                    return None
    except AttributeError:  # a leaf in place of a node
        return None
    return nodes, leaves


follow_in_python = follow
if extension is not None:
    follow = extension.follow


class Pass:
    """The operations that a backward pass has appended to its segment.

    Attributes:
        nodes: tuple with an entry for each node, in the order in which edges lead to them: its position in
            the segment, the operands that get a gradient, and for each edge (target, output index).
        entries: tuple of the operations.
        leaf_count: int, number of operands that the segment had before.
        operands: list of the operands that were added: constants, or tuples of (node number, operand index),
            one for each node that has this operand.
        grads: list of the gradients of the leaves, or of the inputs: constants, or (Aval, position).
        inputs: list of (number of a leaf or node, output index) of the gradients that are wanted; None: of
            all leaves.
    """

    __slots__ = ("entries", "grads", "inputs", "leaf_count", "nodes", "operands")

    def __init__(
        self,
        nodes: tuple[tuple[Any, ...], ...],
        entries: tuple[Any, ...],
        leaf_count: int,
        operands: list[Any],
        grads: list[Any],
        inputs: list[tuple[int, int]] | None,
    ) -> None:
        self.nodes = nodes
        self.entries = entries
        self.leaf_count = leaf_count
        self.operands = operands
        self.grads = grads
        self.inputs = inputs

    def match(self, segment: Segment, root: Node) -> tuple[list[Node], list[Tensor]] | None:
        """The nodes and leaves that can be reached from a node; None where they are not the same."""
        reached = follow(self.nodes, root, segment)
        if reached is None:
            return None
        leaves = reached[1]
        has_master_grads = Precision.master_grads
        try:
            is_special = any(
                [
                    leaf._hooks
                    or leaf._after_backward
                    or has_master_grads
                    and getattr(leaf, "master_grad", False)
                    for leaf in leaves
                ]
            )
        except AttributeError:  # a node in place of a leaf
            return None
        # Hooks are Python code. A leaf in place of two recorded ones needs a sum of gradients, which the
        # pass has not.
        if is_special or len(set(map(id, leaves))) != len(leaves):
            return None
        return reached

    def has_inputs(self, inputs: Sequence[Tensor], nodes: list[Node], leaves: list[Tensor]) -> bool:
        """Whether the gradients of these inputs are those that the pass gives."""
        for (number, idx), x in zip(self.inputs or (), inputs, strict=True):
            if number >= 0:
                if x._node is not nodes[number] or x._idx != idx:
                    return False
            elif x is not leaves[_LEAF - 1 - number]:
                return False
        return True

    def operands_of(self, nodes: list[Node]) -> list[LazyArray] | None:
        """The operands that the pass adds.

        None where a node has let go of one that another node reads, and where nodes that had the same operand
        have several.
        """
        operands = []
        for operand in self.operands:
            if type(operand) is not LazyArray:
                (number, index), *others = operand
                operand = nodes[number].values[index]
                if is_unread(operand):
                    return None
                for number, index in others:
                    if nodes[number].values[index] is not operand:
                        return None
            operands.append(operand)
        return operands

    def append(self, segment: Segment, length: int, operands: list[LazyArray]) -> list[LazyArray] | None:
        """Appends the operations to a segment that has `length` of them.

        Returns:
            The gradients; None where the segment has changed.
        """
        grads = [grad if type(grad) is LazyArray else _pending_value(segment, *grad) for grad in self.grads]
        pending = [grad for grad in grads if grad.array is None]
        ops: Any = segment.ops
        leaves: Any = segment.leaves
        entries = self.entries
        was_recording = segment.recording
        try:
            # From here on a finalizer or another thread may read a value, but it does not close the segment.
            segment.recording = True
            # There must be room, and positions are those behind so many leaves.
            if length + len(entries) > segment.limit or len(leaves) != self.leaf_count:
                return None
            leaves.extend(operands)
            # A finalizer may have recorded an operation just before. Then nothing uses what was appended.
            if len(leaves) != self.leaf_count + len(operands):
                return None
            for position, operand in enumerate(operands, self.leaf_count + 1):
                if is_unread(operand):  # as `add_leaf` does
                    segment.leaf_positions[operand] = -position
            ops.extend(entries)
            if len(ops) != length + len(entries):
                return None
            segment.results.extend(pending)
        finally:
            segment.recording = was_recording
        return grads

    def results(
        self, segment: Segment, nodes: list[Node], leaves: list[Tensor], values: list[LazyArray]
    ) -> list[Any]:
        """The gradients that the caller gets. values: those of `grads`."""
        return values


def _pending_value(segment: Segment, aval: Any, position: int) -> LazyArray:
    """The LazyArray of a result of a segment."""
    value = _new(LazyArray)
    value.aval = aval
    value.array = None
    value.segment = segment
    value.position = position
    return value


def replay_pass(
    key: Key, root: Node, retain_graph: bool, inputs: Sequence[Tensor] | None = None
) -> Replayed | None:
    """Replays a backward pass if it is known and its nodes are the same; else None."""
    known = _Passes.known.get(key)
    if known is None:
        return None
    segment = local.ctx.segment
    reached = known.match(segment, root)
    if reached is None:
        return None
    nodes, leaves = reached
    if inputs is not None and not known.has_inputs(inputs, nodes, leaves):
        return None
    operands = known.operands_of(nodes)
    if operands is None:
        _Passes.known.pop(key, None)  # it is recorded again, with what the nodes hold now
        return None
    values = known.append(segment, len(key[-1]), operands)
    if values is None:
        return None
    grads = known.results(segment, nodes, leaves, values)
    # As `Node.free`, without a call for each node.
    if not retain_graph:
        for node in nodes:
            node.values = node.segment = None
    return Replayed(nodes, leaves, grads)


def comes_again(key: Key) -> bool:
    """Whether a pass that is not known came before, so that it is worth recording."""
    if key in _Passes.known:
        return False
    # Recorded from the second time on: most programs run a pass once only while they start.
    mark = hash(key)
    if mark in _Passes.seen:
        return True
    if len(_Passes.seen) >= _MAX_SEEN:
        _Passes.seen.clear()
    _Passes.seen.add(mark)
    return False


class PassRecorder:
    """Records the operations that a walk appends, so that the pass can be replayed.

    Attributes:
        key: the key of the pass.
        segment: the Segment.
        inputs: Tensors whose gradients are wanted; None: all leaves.
        leaf_count: int, number of operands that the segment has before the walk; -1 where a finalizer or
            another thread has run it since the key was made.
        nodes: list of the nodes, in the order in which edges lead to them.
        leaves: list of the leaves.
        numbers: {Node or id of a leaf: its number, as in the targets of edges}.
        values: list of the operands of each node.
        records: the nodes as a Pass has them; None where the pass cannot be replayed.
    """

    def __init__(self, key: Key, root: Node, inputs: Sequence[Tensor] | None) -> None:
        self.key = key
        self.segment: Any = root.segment
        self.inputs = inputs
        leaves = None if self.segment is None else self.segment.leaves
        self.leaf_count = -1 if leaves is None else len(leaves)
        self.nodes = [root]
        self.leaves: list[Tensor] = []
        self.numbers: dict[Any, int] = {root: 0}
        # the loop adds the nodes that it meets to the list that it goes over
        targets = [tuple([(self._target(source), idx) for source, idx in node.edges]) for node in self.nodes]
        self.values = [node.values for node in self.nodes]
        self.records: tuple[tuple[Any, ...], ...] | None = None
        if all([node.segment is self.segment and node.values is not None for node in self.nodes]):
            self.records = tuple(
                [(node.position, node.diff, edges) for node, edges in zip(self.nodes, targets, strict=True)]
            )

    def _target(self, source: Any) -> int:
        """The target of an edge as a Pass has it."""
        is_leaf = isinstance(source, Tensor)
        name = id(source) if is_leaf else source
        known: list[Any] = self.leaves if is_leaf else self.nodes
        if name in self.numbers:
            return self.numbers[name]
        self.numbers[name] = _LEAF - 1 - len(known) if is_leaf else len(known)
        known.append(source)
        if is_leaf:
            return _LEAF
        return _NEW

    def note_pull(self, node: Node) -> None:
        """Called before the walk computes the gradient of a node."""

    def finish(self, walk: Any, grads: Sequence[Any]) -> None:
        """Adds the pass to the cache, after its walk; as one that cannot be replayed where that is so.

        Args:
            walk: the _BackwardPass.
            grads: the gradients of the leaves, or of the inputs, as the walk has them; None: there is none.
        """
        if self.leaf_count < 0:
            return
        # The oldest passes go first. Other threads may add some meanwhile, so this goes over a list.
        for oldest in list(_Passes.known)[: 1 - _MAX_PASSES]:
            _Passes.known.pop(oldest, None)
        # None: it is known, and cannot be replayed.
        _Passes.known[self.key] = None
        if (
            self.records is None
            or walk.no_gradient
            or walk.constants
            or local.ctx.segment is not self.segment
            or self.segment.leaves is None
        ):
            return
        operands = [self._operand(value) for value in self.segment.leaves[self.leaf_count :]]
        numbers = self._input_numbers()
        if None in operands or None in numbers:
            return
        entries = tuple(self.segment.ops[len(self.key[-1]) :])
        inputs = None if self.inputs is None else numbers
        _Passes.known[self.key] = self.make_pass(grads, entries, operands, inputs)

    def _input_numbers(self) -> list[Any]:
        """For each input its number and output index; None for one that no edge leads to."""
        found: list[Any] = []
        for x in self.inputs or ():
            number = self.numbers.get(id(x) if x._node is None else x._node)
            found.append(None if number is None else (number, x._idx))
        return found

    def make_pass(
        self, grads: Sequence[Any], entries: tuple[Any, ...], operands: list[Any], inputs: Any
    ) -> Pass | None:
        """The Pass for some gradients; None where it cannot be replayed. The other arguments are those of
        Pass."""
        values = list(map(self.value_of, grads))
        pending = [value for value in values if type(value) is tuple]
        # A position has one LazyArray.
        if None in values or len(set(pending)) < len(pending):
            return None
        return Pass(self.records or (), entries, self.leaf_count, operands, values, inputs)

    def value_of(self, value: Any) -> Any:
        """A value of the pass as `Pass.grads` has it; None where it cannot be found again."""
        if type(value) is not LazyArray:
            return None
        if value.array is None:
            # What was recorded before the pass has a LazyArray already.
            if value.segment is self.segment and value.position & OP_MASK >= len(self.key[-1]):
                return (value.aval, value.position)
            return None
        if value.device is CONSTANT:
            return value
        return None

    def _operand(self, value: LazyArray) -> Any:
        """A new operand as a Pass has it; None where the pass cannot be replayed."""
        if value.device is CONSTANT or value.device is UNREAD:
            return value
        # Numbers of the host differ from step to step; only those that a node holds are found again.
        if type(value.array) is not tuple:
            return None
        # Equal numbers of a step may be one object. Which of them the gradient reads is not known then.
        found = [
            (i, k)
            for i, values in enumerate(self.values)
            for k, operand in enumerate(values or ())
            if operand is value
        ]
        return tuple(found) or None
