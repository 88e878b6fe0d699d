"""The tape: nodes that remember an operation, and the walk back over them. Derivatives of every order use the same walk."""

from paddle_jax._core.dispatch import run
from paddle_jax._core.errors import CheckError
from paddle_jax._core.kernel import ADD, ONES, execute
from paddle_jax._core.node import source_of
from paddle_jax._core.state import state
from paddle_jax._core.tensor import Tensor, wrap


class _Walk:
    """One backward pass: which sources have which gradient so far."""

    def __init__(self, create_graph):
        self.create_graph = create_graph
        self.cts = {}  # id(Node) -> list of gradients of its outputs
        self.leaves = {}  # id(leaf Tensor) -> [leaf, gradient]

    def add(self, a, b):
        return run(ADD, (a, b)) if self.create_graph else execute(ADD, (a, b))

    def push(self, source, idx, ct):
        """Adds a gradient to what a Node's output or a leaf has got."""
        if isinstance(source, Tensor):
            entry = self.leaves.setdefault(id(source), [source, None])
            entry[1] = ct if entry[1] is None else self.add(entry[1], ct)
            return
        cts = self.cts.get(id(source))
        if cts is None:
            cts = self.cts[id(source)] = [None] * source.n_out
        cts[idx] = ct if cts[idx] is None else self.add(cts[idx], ct)

    def hooked(self, ct, hooks):
        for hook in list(hooks.values()):
            tensor = ct if self.create_graph else wrap(ct)
            got = hook(tensor)
            if got is not None:
                ct = got if self.create_graph else got._value
        return ct


def _order(roots, cut):
    """Nodes reachable from the roots, consumers before producers."""
    order, seen = [], set()
    stack = [(node, False) for node in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            for source, idx in node.edges:
                if not isinstance(source, Tensor) and id(source) not in seen and (id(source), idx) not in cut:
                    stack.append((source, False))
    order.reverse()
    return order


def _useful(order, wanted):
    """The nodes from which a wanted source can be reached; only they have to run."""
    useful = set()
    for node in reversed(order):
        if any((id(s), i) in wanted or id(s) in useful for s, i in node.edges):
            useful.add(id(node))
    return useful


def _start(walk, tensors, grads):
    roots = []
    for tensor, grad in zip(tensors, grads, strict=True):
        if grad is not None and not isinstance(grad, Tensor):
            raise TypeError(f"backward: the gradient to start from is a {type(grad).__name__}; it must be a Tensor or None")
        if grad is not None and list(grad.shape) != list(tensor.shape):
            raise CheckError(f"backward: the gradient to start from has shape {list(grad.shape)}; the tensor has {list(tensor.shape)}")
        ct = execute(ONES, (tensor._value,)) if grad is None else grad if walk.create_graph else grad._value
        if tensor.stop_gradient:
            continue
        walk.push(*source_of(tensor), wrap(ct) if walk.create_graph and grad is None else ct)
        if tensor._node is not None:
            roots.append(tensor._node)
    return roots


def _sweep(walk, roots, retain_graph, wanted=None, captured=None, cut=frozenset()):
    order = _order(roots, cut)
    useful = None if wanted is None else _useful(order, wanted)
    for node in order:
        cts = walk.cts.pop(id(node), None)
        if cts is None:
            continue
        _visit(walk, node, cts, wanted, captured)
        if useful is None or id(node) in useful:
            for (source, idx), ct in zip(node.edges, node.pull(cts, run if walk.create_graph else None), strict=True):
                if ct is not None and (id(source), idx) not in cut:
                    walk.push(source, idx, ct)
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
                tensor._grad = cts[idx] if walk.create_graph else wrap(cts[idx])
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
            new = ct if create_graph else wrap(ct)
            old = leaf._grad
            leaf._grad = new if old is None else walk.add(old, new) if create_graph else wrap(execute(ADD, (old._value, ct)))


def gradients(outputs, inputs, grad_outputs, retain_graph, create_graph, cut):
    """Gradients of `outputs` with respect to `inputs`: Tensors, or None where there is no path."""
    walk = _Walk(create_graph)
    with _grad_mode(create_graph):
        roots = _start(walk, outputs, grad_outputs)
        wanted = {(id(s), i) for s, i in map(source_of, inputs)}
        captured = {}
        _sweep(walk, roots, retain_graph, wanted, captured, {(id(s), i) for s, i in map(source_of, cut)})
        for leaf, ct in list(walk.leaves.values()):
            captured[id(leaf), 0] = walk.hooked(ct, leaf._hooks) if leaf._hooks else ct
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
