"""Backward passes that come again, as they do at every step of a training loop.

In the deferred tier a backward pass computes nothing: it appends operations to the segment. Which ones
follows from what the segment holds so far and from the nodes that are reached: where each was recorded, which
of its operands get a gradient, and where its edges lead. So what a pass has appended is kept, and a later one
over the same operations, whose nodes and edges are looked at and found to be the same, appends that again
without making the LazyArrays in between. Whatever is not as usual (hooks, a layer with a backward of its own,
nodes of an earlier segment) is left to the walk over the tape (tape.py).
"""

from paddle_jax._core.base.state import Context, Precision, local
from paddle_jax._core.lazy.lazy_array import CONSTANT, LazyArray
from paddle_jax._core.lazy.signature_cache import register_cache
from paddle_jax._core.tensors.tensor import Tensor

_MAX_PASSES = 256
_MAX_SEEN = 1 << 14
_NEW, _LEAF = -1, -2  # where an edge leads for the first time; from here down, the leaves that are known
_new = object.__new__


class _Passes:
    """known: key -> Pass. seen: hashes of the keys that were met once."""

    known: dict = {}
    seen: set = set()


def clear():
    """Forgets all passes."""
    _Passes.known.clear()
    _Passes.seen.clear()


register_cache(clear)


def key_of(tensors, grads, inputs=None):
    """What a backward pass from one result depends on, but for its nodes; None where it is not repeated.
    inputs: the leaves whose gradients alone are wanted; None: all of them."""
    ctx, result = local.ctx, tensors[0]
    seg, node = ctx.segment, result._node
    if (
        seg is None
        or node is None
        or node.segment is not seg
        or len(tensors) > 1
        or grads[0] is not None
        or result.stop_gradient
        or type(ctx.frame) is not Context.eager_frame_class
        or type(result._raw) is not LazyArray
    ):
        return None
    if inputs is not None and any([leaf._node is not None for leaf in inputs]):
        return None
    return node.position, result._idx, result._raw.aval, inputs and len(inputs), tuple(seg.ops)


class Pass:
    """What a backward pass has appended to its segment.

    nodes: of each node, in the order in which edges lead to them: where it was recorded, which operands get a
    gradient, and of each edge where it leads (_NEW, _LEAF: to the next node or leaf; else to the one of that
    number) and to which output. entries: the operations. leaves: how many operands from outside there were;
    numbers: those that were added, constants or (node, operand). grads: of each leaf, a constant or
    (Aval, position); where only some are wanted, of those. wanted: their numbers, else None.
    """

    __slots__ = ("entries", "grads", "leaves", "nodes", "numbers", "wanted")

    def __init__(self, nodes, entries, leaves, numbers, grads, wanted):
        self.nodes, self.entries, self.leaves = nodes, entries, leaves
        self.numbers, self.grads, self.wanted = numbers, grads, wanted

    def reached(self, seg, root):
        """The nodes and leaves that edges lead to from a node; None where they are not the same."""
        nodes, leaves = [root], []
        try:
            for node, (pos, diff, sources) in zip(nodes, self.nodes, strict=False):
                if (
                    node.position != pos
                    or node.segment is not seg
                    or (node.diff is not diff and node.diff != diff)
                ):
                    return None
                edge = 0
                for where, output in sources:
                    source, idx = node.edges[edge]
                    edge += 1
                    if where == _NEW:
                        nodes.append(source)
                    elif where == _LEAF:
                        leaves.append(source)
                    elif source is not (nodes[where] if where >= 0 else leaves[_LEAF - 1 - where]):
                        return None
                    if idx != output:
                        return None
            widened = Precision.master_grads
            plain = not any(
                [
                    leaf._hooks or leaf._after_backward or widened and getattr(leaf, "master_grad", False)
                    for leaf in leaves
                ]
            )
        except AttributeError:  # a leaf in place of a node, or the other way round
            return None
        return (nodes, leaves) if plain and len(set(map(id, leaves))) == len(leaves) else None

    def append(self, seg, length, nodes):
        """Appends the operations to a segment of so many; gives the gradients, None where it has changed."""
        numbers = [n if type(n) is LazyArray else nodes[n[0]].values[n[1]] for n in self.numbers]
        grads = [g if type(g) is LazyArray else _pending(seg, *g) for g in self.grads]
        pending = [g for g in grads if g.array is None]
        ops, leaves, entries = seg.ops, seg.leaves, self.entries
        try:
            seg.recording = True
            if length + len(entries) > seg.limit or len(leaves) != self.leaves:
                return None
            leaves.extend(numbers)
            ops.extend(entries)
            # a finalizer may have recorded something just before; then what was appended is used by nobody
            if entries and ops[length] is not entries[0] or numbers and leaves[self.leaves] is not numbers[0]:
                return None
            seg.results.extend(pending)
        finally:
            seg.recording = False
        return grads


def _pending(seg, aval, pos):
    """The LazyArray of a result of a segment."""
    value = _new(LazyArray)
    value.aval, value.array, value.segment, value.position = aval, None, seg, pos
    return value


def repeated(key, root, retain_graph, inputs=None):
    """Repeats a backward pass that is known: (nodes, leaves, gradients of the leaves, or of the inputs),
    else None."""
    known = _Passes.known.get(key)
    if known is None:
        return None
    seg = root.segment
    reached = known.reached(seg, root)
    if reached is None:
        return None
    nodes, leaves = reached
    if inputs is not None and any([leaves[i] is not x for i, x in zip(known.wanted, inputs, strict=True)]):
        return None
    grads = known.append(seg, len(key[-1]), nodes)
    if grads is None:
        return None
    if not retain_graph:
        for node in nodes:
            node.values = node.segment = None
    return nodes, leaves, grads


def watched(key, root, inputs=None):
    """A Watch of a pass that has been met before and is not known; None for others."""
    if key in _Passes.known:
        return None
    mark = hash(key)
    if mark in _Passes.seen:
        return Watch(key, root, inputs)
    if len(_Passes.seen) >= _MAX_SEEN:
        _Passes.seen.clear()
    _Passes.seen.add(mark)
    return None


class Watch:
    """Looks at a pass that is walked, so that it is known when it comes again.

    inputs: the leaves whose gradients are wanted; None: all. nodes: the nodes, in the order in which edges
    lead to them; leaves: the leaves; values: operands of the nodes. at: what a Pass tells of the nodes; None
    where it cannot be repeated.
    """

    def __init__(self, key, root, inputs):
        self.inputs = inputs
        self.key, self.segment, self.outside = key, root.segment, len(root.segment.leaves)
        self.nodes, self.leaves, self.places = [root], [], {root: 0}
        sources = [tuple([(self._where(source), idx) for source, idx in node.edges]) for node in self.nodes]
        self.values = [node.values for node in self.nodes]
        plain = all([node.segment is self.segment and node.values is not None for node in self.nodes])
        self.at = (
            [(node.position, node.diff, where) for node, where in zip(self.nodes, sources, strict=True)]
            if plain
            else None
        )

    def _where(self, source):
        leaf = isinstance(source, Tensor)
        name, known = (id(source), self.leaves) if leaf else (source, self.nodes)
        if name in self.places:
            return self.places[name]
        self.places[name] = _LEAF - 1 - len(known) if leaf else len(known)
        known.append(source)
        return _LEAF if leaf else _NEW

    def learn(self, walk):
        """Keeps what the walk has appended, where all of it can be appended again."""
        seg, wanted = self.segment, None
        grads = [self._gradient(walk, leaf) for leaf in (self.inputs or self.leaves)]
        if self.inputs is not None and None not in grads:
            wanted = [_LEAF - 1 - self.places[id(leaf)] for leaf in self.inputs]
        numbers = [self._number(v) for v in seg.leaves[self.outside :]] if seg.leaves is not None else [None]
        while len(_Passes.known) >= _MAX_PASSES:
            _Passes.known.pop(next(iter(_Passes.known)), None)
        if (
            self.at is None
            or None in grads
            or None in numbers
            or walk.blank
            or walk.constant
            or local.ctx.segment is not seg
        ):
            _Passes.known[self.key] = None
            return
        entries = tuple(seg.ops[len(self.key[-1]) :])
        _Passes.known[self.key] = Pass(self.at, entries, self.outside, numbers, grads, wanted)

    def _gradient(self, walk, leaf):
        """The gradient of a leaf, as a Pass has it."""
        _, value = walk.leaves.get(id(leaf), (leaf, None))
        if type(value) is not LazyArray:
            return None
        if value.array is None:
            return (value.aval, value.position) if value.segment is self.segment else None
        return value if value.device is CONSTANT else None

    def _number(self, value):
        """A new operand from outside, as a Pass has it."""
        if type(value.array) is not tuple or value.device is CONSTANT:
            return value if value.device is CONSTANT else None
        return next(
            (
                (i, k)
                for i, values in enumerate(self.values or ())
                for k, v in enumerate(values or ())
                if v is value
            ),
            None,
        )
