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
    tensors: Sequence[Tensor], grads: Sequence[Any], inputs: Sequence[Tensor] | None = None
) -> Key | None:
    """The key of a backward pass, which holds all that it depends on but its nodes.

    Args:
        tensors: the results to start from.
        grads: the gradients to start from.
        inputs: leaves whose gradients alone are wanted; None: all leaves.
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
    # Gradients of inner results are kept in the middle of a pass, which a replay does not do.
    if inputs is not None and any([leaf._node is not None for leaf in inputs]):
        return None
    return node.position, result._idx, result._raw.aval, inputs and len(inputs), tuple(segment.ops)


class Replayed(NamedTuple):
    """The result of a pass that was replayed.

    Attributes:
        nodes: list of the Nodes that were reached.
        leaves: list of the leaves that were reached.
        grads: list of the gradients of the leaves, or of the inputs.
    """

    nodes: list[Node]
    leaves: list[Tensor]
    grads: list[LazyArray]


class Pass:
    """The operations that a backward pass has appended to its segment.

    Attributes:
        nodes: for each node, in the order in which edges lead to them: its position in the segment, the
            operands that get a gradient, and for each edge (target, output index).
        entries: tuple of the operations.
        leaf_count: int, number of operands that the segment had before.
        operands: list of the operands that were added: constants, or (node number, operand index).
        grads: list of the gradients of the leaves, or of the inputs: constants, or (Aval, position).
        inputs: list of the numbers of the leaves whose gradients are wanted; None: all.
    """

    __slots__ = ("entries", "grads", "inputs", "leaf_count", "nodes", "operands")

    def __init__(
        self,
        nodes: list[tuple[Any, ...]],
        entries: tuple[Any, ...],
        leaf_count: int,
        operands: list[Any],
        grads: list[Any],
        inputs: list[int] | None,
    ) -> None:
        self.nodes = nodes
        self.entries = entries
        self.leaf_count = leaf_count
        self.operands = operands
        self.grads = grads
        self.inputs = inputs

    def match(self, segment: Segment, root: Node) -> tuple[list[Node], list[Tensor]] | None:
        """The nodes and leaves that can be reached from a node; None where they are not the same."""
        nodes: list[Any] = [root]
        leaves: list[Any] = []
        try:
            for node, (position, diff, targets) in zip(nodes, self.nodes, strict=False):
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
            has_master_grads = Precision.master_grads
            is_special = any(
                [
                    leaf._hooks
                    or leaf._after_backward
                    or has_master_grads
                    and getattr(leaf, "master_grad", False)
                    for leaf in leaves
                ]
            )
        except AttributeError:  # a leaf in place of a node, or the other way round
            return None
        # Hooks are Python code. A leaf in place of two recorded ones needs a sum of gradients, which the
        # pass has not.
        if is_special or len(set(map(id, leaves))) != len(leaves):
            return None
        return nodes, leaves

    def operands_of(self, nodes: list[Node]) -> list[LazyArray] | None:
        """The operands that the pass adds; None where a node has let go of one that another node reads."""
        operands = []
        for operand in self.operands:
            if type(operand) is not LazyArray:
                number, index = operand
                operand = nodes[number].values[index]
                if is_unread(operand):
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
        try:
            # From here on a finalizer cannot record in between.
            segment.recording = True
            # There must be room, and positions are those behind so many leaves.
            if length + len(entries) > segment.limit or len(leaves) != self.leaf_count:
                return None
            leaves.extend(operands)
            for position, operand in enumerate(operands, self.leaf_count + 1):
                if is_unread(operand):  # as `add_leaf` does
                    segment.leaf_positions[operand] = -position
            ops.extend(entries)
            # a finalizer may have recorded an operation just before; then nothing uses what was appended
            ops_moved = entries and ops[length] is not entries[0]
            if ops_moved or operands and leaves[self.leaf_count] is not operands[0]:
                return None
            segment.results.extend(pending)
        finally:
            segment.recording = False
        return grads


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
    segment = root.segment
    reached = known.match(segment, root)
    if reached is None:
        return None
    nodes, leaves = reached
    if inputs is not None:
        pairs = zip(known.inputs or (), inputs, strict=True)
        if any([leaves[i] is not x for i, x in pairs]):
            return None
    operands = known.operands_of(nodes)
    if operands is None:
        _Passes.known.pop(key, None)  # it is recorded again, with what the nodes hold now
        return None
    grads = known.append(segment, len(key[-1]), operands)
    if grads is None:
        return None
    # As `Node.free`, without a call for each node.
    if not retain_graph:
        for node in nodes:
            node.values = node.segment = None
    return Replayed(nodes, leaves, grads)


def recorder_for(key: Key, root: Node, inputs: Sequence[Tensor] | None = None) -> PassRecorder | None:
    """A PassRecorder for a pass that came before and is not known; None for others."""
    if key in _Passes.known:
        return None
    # Recorded from the second time on: most programs run a pass once only while they start.
    mark = hash(key)
    if mark in _Passes.seen:
        return PassRecorder(key, root, inputs)
    if len(_Passes.seen) >= _MAX_SEEN:
        _Passes.seen.clear()
    _Passes.seen.add(mark)
    return None


class PassRecorder:
    """Records the operations that a walk appends, so that the pass can be replayed.

    Attributes:
        key: the key of the pass.
        segment: the Segment.
        inputs: leaves whose gradients are wanted; None: all.
        leaf_count: int, number of operands that the segment has before the walk.
        nodes: list of the nodes, in the order in which edges lead to them.
        leaves: list of the leaves.
        numbers: {Node or id of a leaf: its number, as in the targets of edges}.
        values: list of the operands of each node.
        records: the nodes as a Pass has them; None where the pass cannot be replayed.
    """

    def __init__(self, key: Key, root: Node, inputs: Sequence[Tensor] | None) -> None:
        self.key = key
        self.segment = root.segment
        self.inputs = inputs
        self.leaf_count = len(root.segment.leaves)
        self.nodes = [root]
        self.leaves: list[Tensor] = []
        self.numbers: dict[Any, int] = {root: 0}
        # the loop adds the nodes that it meets to the list that it goes over
        targets = [tuple([(self._target(source), idx) for source, idx in node.edges]) for node in self.nodes]
        self.values = [node.values for node in self.nodes]
        self.records: list[tuple[Any, ...]] | None = None
        if all([node.segment is self.segment and node.values is not None for node in self.nodes]):
            self.records = [
                (node.position, node.diff, edges) for node, edges in zip(self.nodes, targets, strict=True)
            ]

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

    def finish(self, walk: Any) -> None:
        """Adds the pass to the cache, after its walk; as one that cannot be replayed where that is so."""
        segment = self.segment
        grads = [self._gradient(walk, leaf) for leaf in (self.inputs or self.leaves)]
        operands = [None]
        if segment.leaves is not None:
            operands = [self._operand(value) for value in segment.leaves[self.leaf_count :]]
        # The oldest passes go first.
        while len(_Passes.known) >= _MAX_PASSES:
            _Passes.known.pop(next(iter(_Passes.known)), None)
        if (
            self.records is None
            or None in grads
            or None in operands
            or walk.no_gradient
            or walk.constants
            or local.ctx.segment is not segment
        ):
            # None: it is known, and cannot be replayed.
            _Passes.known[self.key] = None
            return
        inputs = None
        if self.inputs is not None:
            inputs = [_LEAF - 1 - self.numbers[id(leaf)] for leaf in self.inputs]
        entries = tuple(segment.ops[len(self.key[-1]) :])
        _Passes.known[self.key] = Pass(self.records, entries, self.leaf_count, operands, grads, inputs)

    def _gradient(self, walk: Any, leaf: Tensor) -> Any:
        """The gradient of a leaf as a Pass has it; None where the pass cannot be replayed."""
        _, value = walk.leaf_grads.get(id(leaf), (leaf, None))
        if type(value) is not LazyArray:
            return None
        if value.array is None:
            if value.segment is self.segment:
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
        for i, values in enumerate(self.values):
            for k, operand in enumerate(values or ()):
                if operand is value:
                    return i, k
        return None
