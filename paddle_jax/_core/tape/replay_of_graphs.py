"""Replays backward passes that are recorded themselves: `grad(create_graph=True)`, as every step of a network
for a differential equation has them.

Such a pass adds nodes to the tape beside the operations of the segment. The nodes follow from those that are
reached, too. So a pass that recurs makes them again in one go, with the values that they hold. Values in
between, which no node holds, are not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_jax._core.kernels.kernel import ADD, Kernel
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.tape.node import Node, next_serial, source_of
from paddle_jax._core.tape.replay import Pass, PassRecorder
from paddle_jax._core.tensors.tensor import Tensor, wrap

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import Segment

# A source of a gradient: its index among the nodes that are reached, the leaves and the new nodes, in this
# order, and its output index.
_Source = tuple[int, int]
_new = object.__new__


class _NewNode(NamedTuple):
    """A node that the pass adds.

    Attributes:
        node_class: Node or SumNode.
        kernel: its kernel.
        position: int, its position in the segment.
        diff: its operands that get a gradient.
        n_out: int, number of outputs.
        edges: tuple of the source of each of these operands.
        origin: int, index of the node whose operands come first among its own ones; -1: none.
        values: tuple of the indices of its other operands among the values of the pass.
        zero_grad_sources: tuple of the sources that its result does not change with; those of `origin` come
            after them. None: only those of `origin`.
    """

    node_class: type[Node]
    kernel: Kernel
    position: int
    diff: tuple[int, ...]
    n_out: int
    edges: tuple[_Source, ...]
    origin: int
    values: tuple[int, ...]
    zero_grad_sources: tuple[_Source, ...] | None


class _Result(NamedTuple):
    """A gradient that the pass gives.

    Attributes:
        value: int, index of its value among those of the pass.
        stop_gradient: bool, whether no gradient flows to it.
        source: where its own gradient goes; None where it is not on the tape.
    """

    value: int
    stop_gradient: bool
    source: _Source | None


class GraphPass(Pass):
    """A backward pass that is recorded itself. `grads` has all values that its nodes and results hold.

    Attributes:
        new_nodes: list of _NewNode, in the order in which they were made.
        graph_results: list of _Result.
    """

    __slots__ = ("graph_results", "new_nodes")

    new_nodes: list[_NewNode]
    graph_results: list[_Result]

    def results(
        self, segment: Segment, nodes: list[Node], leaves: list[Tensor], values: list[LazyArray]
    ) -> list[Tensor]:
        """The gradients as Tensors, whose nodes are new."""
        sources: list[Any] = [*nodes, *leaves]
        for node_class, kernel, position, diff, n_out, edges, origin, own_values, zero_grad in self.new_nodes:
            node = _new(node_class)
            node.kernel = kernel
            node.diff = diff
            node.n_out = n_out
            node.hooks = None
            node.segment = segment
            node.position = position
            node.edges = tuple([(sources[i], idx) for i, idx in edges])
            node.values = [values[i] for i in own_values]
            node.zero_grad_sources = None
            if origin >= 0:
                first = sources[origin]
                node.values = [*first.values, *node.values]
                node.zero_grad_sources = first.zero_grad_sources
            if zero_grad is not None:
                own = [(sources[i], idx) for i, idx in zero_grad]
                node.zero_grad_sources = (*own, *(node.zero_grad_sources or ()))
            node.serial = next_serial()
            sources.append(node)
        found = []
        for value, stop_gradient, source in self.graph_results:
            if source is None:
                found.append(wrap(values[value], stop_gradient))
            else:
                found.append(wrap(values[value], stop_gradient, sources[source[0]], source[1]))
        return found


class GraphRecorder(PassRecorder):
    """Records a pass with the nodes that it adds.

    Attributes:
        pulls: list of (number of operations before it, node) of each node whose gradient was computed.
        indices: {Node or id of a leaf: its index as in _Source}.
        value_indices: {id of a value of the pass: its index}.
        pass_values: list of the values of the pass.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.pulls: list[tuple[int, Node]] = []
        self.indices: dict[Any, int] = {node: i for i, node in enumerate(self.nodes)}
        for i, leaf in enumerate(self.leaves, len(self.nodes)):
            self.indices[id(leaf)] = i
        self.value_indices: dict[int, int] = {}
        self.pass_values: list[LazyArray] = []

    def note_pull(self, node: Node) -> None:
        """Notes which operations the gradient of a node has added."""
        if self.leaf_count >= 0:
            self.pulls.append((len(self.segment.ops), node))

    def make_pass(
        self, grads: Sequence[Any], entries: tuple[Any, ...], operands: list[Any], inputs: Any
    ) -> Pass | None:
        """As `PassRecorder.make_pass`; the gradients are Tensors."""
        if not all(isinstance(grad, Tensor) for grad in grads):
            return None
        first_index = len(self.indices)
        new_nodes = self._nodes_behind(grads)
        for i, node in enumerate(new_nodes, first_index):
            self.indices[node] = i
        try:
            templates = list(map(self._template_of, new_nodes))
            results = list(map(self._result_of, grads))
        except KeyError:  # a source or value that is not part of the pass
            return None
        values = list(map(self.value_of, self.pass_values))
        if None in values:
            return None
        found = GraphPass(self.records or (), entries, self.leaf_count, operands, values, inputs)
        found.new_nodes = templates
        found.graph_results = results
        return found

    def _nodes_behind(self, grads: Sequence[Tensor]) -> list[Node]:
        """The nodes that the pass has made, those of operands first."""
        start = len(self.key[-1])
        found: dict[Node, None] = {}
        stack = [grad._node for grad in grads]
        while stack:
            node = stack.pop()
            if (
                isinstance(node, Node)
                and node not in self.indices
                and node not in found
                and node.segment is self.segment
                and node.position >= start
            ):
                found[node] = None
                stack += [source for source, _ in (*node.edges, *(node.zero_grad_sources or ()))]
        return sorted(found, key=lambda node: node.serial)

    def _source(self, source: Any, idx: int) -> _Source:
        """A source of a gradient; KeyError where it is not part of the pass."""
        return self.indices[id(source) if isinstance(source, Tensor) else source], idx

    def _value(self, value: Any) -> int:
        """The index of a value of the pass; it becomes one."""
        index = self.value_indices.setdefault(id(value), len(self.pass_values))
        if index == len(self.pass_values):
            self.pass_values.append(value)
        return index

    def _origin_of(self, node: Node) -> Node | None:
        """The node whose gradient a new node is; None for a sum of gradients, and where operands differ."""
        if node.kernel is ADD:
            return None
        origin = None
        for start, pulled in self.pulls:
            if start <= node.position:
                origin = pulled
        if origin is None or len(node.values) < len(origin.values):
            return None
        if any(a is not b for a, b in zip(origin.values, node.values, strict=False)):
            return None
        return origin

    def _template_of(self, node: Node) -> _NewNode:
        """What is needed to make a node again."""
        origin = self._origin_of(node)
        values = node.values
        zero_grad = node.zero_grad_sources
        origin_index = -1
        if origin is not None:
            origin_index = self.indices[origin]
            values = values[len(origin.values) :]
            inherited = origin.zero_grad_sources
            if zero_grad is inherited:
                zero_grad = None
            elif zero_grad is not None and inherited:
                # The gradient of a node hands its sources on, behind those of its own.
                zero_grad = zero_grad[: -len(inherited)]
        return _NewNode(
            type(node),
            node.kernel,
            node.position,
            node.diff,
            node.n_out,
            tuple([self._source(*edge) for edge in node.edges]),
            origin_index,
            tuple(map(self._value, values)),
            zero_grad if zero_grad is None else tuple([self._source(*source) for source in zero_grad]),
        )

    def _result_of(self, grad: Tensor) -> _Result:
        """What is needed to make a gradient again."""
        source = None
        if grad._node is not None:
            source = self._source(*source_of(grad))
        return _Result(self._value(grad._raw), grad.stop_gradient, source)
