"""The tape: nodes that remember an operation, and the walk back over them. Derivatives of every order use the same walk."""

import operator

from paddle_jax._core.deferred.segment import record
from paddle_jax._core.deferred.value import Value, filled_like, is_zero
from paddle_jax._core.errors import CheckError
from paddle_jax._core.kernel import ADD, ONES, execute
from paddle_jax._core.node import Node, source_of
from paddle_jax._core.short_cuts import run2
from paddle_jax._core.state import local, state
from paddle_jax._core.tensor import Tensor, wrap


class _Walk:
    """One backward pass: which sources have which gradient so far (Tensors with create_graph, else raw values)."""

    def __init__(self, create_graph):
        self.create_graph = create_graph
        self.nodes = {}  # Node -> gradient of its output, or a list of those of its outputs
        self.leaves = {}  # id(leaf Tensor) -> [leaf, gradient]

    def add(self, a, b):
        return run2(ADD, a, b) if self.create_graph else execute(ADD, (a, b))

    def push(self, source, idx, ct):
        """Adds a gradient to what a Node's output or a leaf has got."""
        if isinstance(source, Tensor):
            entry = self.leaves.get(id(source))
            if entry is None:
                self.leaves[id(source)] = [source, ct]
            else:
                entry[1] = self.add(entry[1], ct)
        elif source.n_out == 1:
            have = self.nodes.get(source)
            self.nodes[source] = ct if have is None else self.add(have, ct)
        else:
            cts = self.nodes.get(source)
            if cts is None:
                cts = self.nodes[source] = [None] * source.n_out
            cts[idx] = ct if cts[idx] is None else self.add(cts[idx], ct)

    def hooked(self, ct, hooks):
        for hook in list(hooks.values()):
            tensor = ct if self.create_graph else wrap(ct, False)
            got = hook(tensor)
            if got is not None:
                ct = got if self.create_graph else got._raw
        return ct


def _order(roots, cut):
    """Nodes reachable from the roots, consumers before producers."""
    seen, stack = set(roots), list(roots)
    while stack:
        for source, idx in stack.pop().edges:
            if not isinstance(source, Tensor) and source not in seen and (not cut or (id(source), idx) not in cut):
                seen.add(source)
                stack.append(source)
    return sorted(seen, key=_SERIAL, reverse=True)


_SERIAL = operator.attrgetter("serial")


def _useful(order, wanted, cut):
    """The nodes from which a wanted source can be reached, each with the edges that lead there; only they have to be followed."""
    useful, sources = {}, {source for source, _ in wanted}
    for node in reversed(order):
        kept = []
        for k, (source, idx) in enumerate(node.edges):
            leads = (id(source) in sources and (id(source), idx) in wanted) or (not isinstance(source, Tensor) and source in useful)
            if leads and (id(source), idx) not in cut:
                kept.append(k)
        if kept:
            useful[node] = kept
    return useful


def _start(walk, tensors, grads):
    roots = []
    for tensor, grad in zip(tensors, grads, strict=True):
        if grad is not None and not isinstance(grad, Tensor):
            raise TypeError(f"backward: the gradient to start from is a {type(grad).__name__}; it must be a Tensor or None")
        if grad is not None and list(grad.shape) != list(tensor.shape):
            raise CheckError(f"backward: the gradient to start from has shape {list(grad.shape)}; the tensor has {list(tensor.shape)}")
        ct = _ones(tensor._raw) if grad is None else grad if walk.create_graph else grad._raw
        if tensor.stop_gradient:
            continue
        walk.push(*source_of(tensor), wrap(ct) if walk.create_graph and grad is None else ct)
        if tensor._node is not None:
            roots.append(tensor._node)
    return roots


def _ones(raw):
    """Ones of the shape and dtype of a value; in the deferred tier they take no op at all."""
    if type(raw) is Value:
        return filled_like(1, raw)
    return execute(ONES, (raw,))


def _sweep(walk, roots, retain_graph, wanted=None, captured=None, cut=frozenset()):
    order = _order(roots, cut)
    useful = None if wanted is None else _useful(order, wanted, cut)
    nodes, create_graph, push, ctx = walk.nodes, walk.create_graph, walk.push, local.ctx
    plain = wanted is None and not create_graph and ctx.segment is not None
    asked = () if wanted is None else {source for source, _ in wanted}
    for node in order:
        cts = nodes.pop(node, None)
        if cts is None or (useful is not None and node not in useful and id(node) not in asked):
            continue
        if plain and type(node) is Node and node.n_out == 1 and node.hooks is None and node.retain is None and node.values is not None:
            # the usual case, as below without further calls
            kernel = node.kernel.grads.get(node.diff) or node.kernel.grad(node.diff, None, len(node.values))
            out = record(ctx, kernel, (*node.values, cts))
            edges = node.edges
            if len(edges) == 1:
                push(edges[0][0], edges[0][1], out)
            else:
                for edge, ct in zip(edges, out, strict=True):
                    push(edge[0], edge[1], ct)
            if not retain_graph:
                node.values = None
            continue
        if node.n_out == 1:
            cts = [cts]
        if node.hooks is not None or node.retain is not None or id(node) in asked:
            _visit(walk, node, cts, wanted, captured)
        kept = None if useful is None else useful.get(node, ())
        if kept is None or kept:
            edges = node.edges if kept is None or len(kept) == len(node.edges) else [node.edges[k] for k in kept]
            for edge, ct in zip(edges, node.pull(cts, create_graph, kept if edges is not node.edges else None), strict=True):
                if ct is not None:
                    push(edge[0], edge[1], ct)
            if not retain_graph:
                node.free()


def _visit(walk, node, cts, wanted, captured):
    """Hooks, retained and wanted gradients of one node's outputs, now that they are complete."""
    for idx, hooks in (node.hooks or {}).items():
        if cts[idx] is not None:
            cts[idx] = walk.hooked(cts[idx], hooks)
    if wanted is None:
        for idx, ref in (node.retain or {}).items():
            tensor = ref()
            if tensor is not None and cts[idx] is not None:
                tensor._grad = cts[idx] if walk.create_graph else wrap(cts[idx], False)
        return
    for idx, ct in enumerate(cts):
        if (id(node), idx) in wanted and ct is not None:
            captured[id(node), idx] = ct


def backward(tensors, grads, retain_graph=False, create_graph=False):
    """Gradients of `tensors` into the `grad` of every leaf they depend on."""
    walk = _Walk(create_graph)
    with _grad_mode(create_graph):
        roots = _start(walk, tensors, grads)
        _sweep(walk, roots, retain_graph or create_graph)
        for leaf, ct in list(walk.leaves.values()):
            if leaf._hooks:
                ct = walk.hooked(ct, leaf._hooks)
            new = ct if create_graph else wrap(ct, False)  # as in Paddle, gradients themselves count as differentiable
            old = leaf._grad
            if old is None or (not create_graph and is_zero(old._raw)):
                leaf._grad = new
            else:
                leaf._grad = walk.add(old, new) if create_graph else wrap(execute(ADD, (old._raw, ct)), False)


def gradients(outputs, inputs, grad_outputs, retain_graph, create_graph, cut):
    """Gradients of `outputs` with respect to `inputs`: Tensors, or None where there is no path."""
    walk = _Walk(create_graph)
    with _grad_mode(create_graph):
        roots = _start(walk, outputs, grad_outputs)
        wanted = {(id(s), i) for s, i in map(source_of, inputs)}
        captured = {}
        _sweep(walk, roots, retain_graph, wanted, captured, {(id(s), i) for s, i in map(source_of, cut)})
        for leaf, ct in list(walk.leaves.values()):
            captured[id(leaf), 0] = ct
        found = [captured.get((id(s), i)) for s, i in map(source_of, inputs)]
    return [f if f is None or create_graph else wrap(f) for f in found]


class _grad_mode:
    """Recording on exactly when the backward pass itself is to be differentiated."""

    def __init__(self, enabled):
        self.enabled = enabled

    def __enter__(self):
        self.before, state.grad = state.grad, self.enabled

    def __exit__(self, *exc):
        state.grad = self.before
