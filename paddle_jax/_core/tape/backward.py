"""The tape: nodes that remember an operation, and the walk back over them. Derivatives of every order
use the same walk."""

import operator

from paddle_jax._core.base.errors import ArgumentError, CheckError
from paddle_jax._core.base.freed_value import FREED_VALUE
from paddle_jax._core.base.interrupt_safe import run_within, swapped_attributes
from paddle_jax._core.base.state import Observing, Precision, local, state
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.kernels.kernel import ADD, ONES, Kernel, execute
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, constant_like, is_zero
from paddle_jax._core.lazy.segment import record
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tape.node import Node, ZeroGradNode, added, source_of
from paddle_jax._core.tape.replay import key_of, repeated, watched
from paddle_jax._core.tape.sparse_rows import Rows, RowsGrad
from paddle_jax._core.tape.sparse_rows import added as rows_added
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap


class _Walk:
    """One backward pass: which sources have which gradient so far (Tensors with create_graph,
    else raw values).

    nodes: Node -> gradient of its output, or a list of those of its outputs. leaves: id(leaf Tensor) ->
    [leaf, gradient]. blank: leaves that a PyLayer gave None for. order: the nodes reached, consumers first.
    constant: by id, raw gradients that user code (a PyLayer, a hook) gave as Tensors with stop_gradient; a
    leaf that gets such a one alone shows it. after: for the outermost pass (a hook, or a layer that is
    computed again, may run one of its own), a list for what is to be called once it is complete.
    """

    def __init__(self, create_graph, after=None):
        self.create_graph, self.mode, self.after = create_graph, state.grad, after
        self.nodes, self.leaves, self.blank, self.order, self.constant = {}, {}, set(), (), {}

    def run(self, sweep, *args):
        """Calls `sweep`, with recording on exactly when the backward pass itself is to be differentiated."""
        return run_within(self, lambda: sweep(*args))

    def begin(self):
        local.ctx.grad = self.create_graph
        if self.after is not None:
            local.ctx.after_backward = self.after

    def end(self):
        local.ctx.grad = self.mode
        if self.after is not None:
            local.ctx.after_backward = None

    def add(self, a, b):
        if self.create_graph:
            return added(a, b)
        if type(a) is Rows or type(b) is Rows:
            return rows_added(a, b)
        return execute(ADD, (a, b))

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

    def pass_on(self, edges, cts):
        """Sends the gradients of a node's operands along its edges; None: there is none."""
        push = self.push
        for edge, ct in zip(edges, cts, strict=True):
            if ct is not None:
                push(edge[0], edge[1], ct)
            else:
                self.blank.add((id(edge[0]), edge[1]))

    def hooked(self, ct, hooks):
        """A gradient after its hooks, which run in the caller's mode."""
        with swapped_attributes(local.ctx, grad=self.mode):
            for hook in list(hooks.values()):
                got = Observing.function(hook)(ct if self.create_graph else self.shown(ct))
                if got is None:
                    continue
                if not isinstance(got, Tensor):
                    raise ArgumentError(
                        f"register_hook: the hook returned {type(got).__name__}; "
                        "it must return a Tensor, or None for no change"
                    )
                if got._raw.dtype != (ct._raw if self.create_graph else ct).dtype:
                    raise RuntimeError(
                        f"register_hook: the hook returned {got._raw.dtype.name}; "
                        "the gradient must keep its dtype; use astype"
                    )
                if type(ct) is Rows:
                    ct = got.rows() if type(got) is RowsGrad else ct.whole(got._raw)
                else:
                    ct = got if self.create_graph else got._raw
                if got.stop_gradient and not self.create_graph:
                    self.constant[id(ct)] = ct
        return ct

    def shown(self, ct):
        """A raw gradient as a Tensor; as in Paddle, gradients themselves count as differentiable."""
        return RowsGrad(ct) if type(ct) is Rows else wrap(ct, id(ct) in self.constant)


def _order(roots, cut):
    """Nodes reachable from the roots, consumers before producers."""
    seen, stack = set(roots), list(roots)
    while stack:
        for source, idx in stack.pop().edges:
            if (
                not isinstance(source, Tensor)
                and source not in seen
                and (not cut or (id(source), idx) not in cut)
            ):
                seen.add(source)
                stack.append(source)
    return sorted(seen, key=_SERIAL, reverse=True)


_SERIAL = operator.attrgetter("serial")


def _zero_grad_sources(order, cut=frozenset()):
    """Sources that results were computed from but do not change with: [(Node or leaf, output index)]."""
    stack, found = [node for node in order if node.zero_grad_sources is not None], []
    seen = set(order) if stack else ()
    while stack:
        node = stack.pop()
        for source, idx in (*(node.zero_grad_sources or ()), *(() if node in seen else node.edges)):
            if (id(source), idx) not in cut:
                found.append((source, idx))
                if not isinstance(source, Tensor) and source not in seen:
                    stack.append(source)
        seen.add(node)
    return found


def _useful(order, wanted, cut):
    """The nodes from which a wanted source can be reached, each with the edges that lead there; only they
    have to be followed."""
    useful, sources = {}, {source for source, _ in wanted}
    for node in reversed(order):
        kept = []
        for k, (source, idx) in enumerate(node.edges):
            leads = (id(source) in sources and (id(source), idx) in wanted) or (
                not isinstance(source, Tensor) and source in useful
            )
            if leads and (id(source), idx) not in cut:
                kept.append(k)
        if kept:
            useful[node] = kept
    return useful


def _start(walk, tensors, grads):
    roots = []
    for tensor, grad in zip(tensors, grads, strict=True):
        if type(tensor._raw) is Uninitialized:
            raise tensor._raw.error("backward")
        if grad is None:
            ct = wrap(_ones(tensor._raw)) if walk.create_graph else _ones(tensor._raw)
        else:
            ct = _shaped(walk, grad, tensor._raw)
        if tensor.stop_gradient:
            continue
        walk.push(*source_of(tensor), ct)
        if tensor._node is not None:
            roots.append(tensor._node)
    return roots


def _shaped(walk, grad, like):
    """A gradient that was given to start from, in the shape of its tensor."""
    if not isinstance(grad, Tensor):
        raise CheckError(
            f"backward: the gradient to start from is a {type(grad).__name__}; it must be a Tensor or None"
        )
    if like is FREED_VALUE:  # what the tape has of the tensor is still there
        return grad if walk.create_graph else grad._raw
    if grad._raw.size != like.size:
        raise CheckError(
            f"backward: the gradient to start from has shape {list(grad.shape)}; "
            f"the tensor has {list(like.shape)}"
        )
    if tuple(grad._raw.shape) == tuple(like.shape):
        return grad if walk.create_graph else grad._raw
    if walk.create_graph:
        return local.ctx.frame.call(_RESHAPE, (grad, wrap(like)))
    return execute(_RESHAPE, (grad._raw, like))


_RESHAPE = Kernel("reshape_as", lambda x, like: x.reshape(like.shape))


def _ones(raw):
    """Ones of the shape and dtype of a value; in the deferred tier they take no op at all."""
    if type(raw) is LazyArray:
        return constant_like(1, raw)
    return execute(ONES, (raw,))


def _sweep(walk, roots, retain_graph, wanted=None, captured=None, cut=frozenset()):
    walk.order = order = _order(roots, cut)
    useful = None if wanted is None else _useful(order, wanted, cut)
    nodes, create_graph, push, ctx = walk.nodes, walk.create_graph, walk.push, local.ctx
    plain = wanted is None and not create_graph and ctx.segment is not None
    asked = () if wanted is None else {source for source, _ in wanted}
    for node in order:
        cts = nodes.pop(node, None)
        if cts is None or (useful is not None and node not in useful and id(node) not in asked):
            continue
        if (
            plain
            and type(node) is Node
            and node.n_out == 1
            and node.hooks is None
            and node.values is not None
        ):
            # the usual case, as below without further calls
            kernel = node.kernel.grads.get(node.diff) or node.kernel.grad(node.diff, None, len(node.values))
            edges = node.edges
            if len(edges) == 1:
                push(edges[0][0], edges[0][1], record(ctx, kernel, (*node.values, cts)))
            elif edges:
                for edge, ct in zip(edges, record(ctx, kernel, (*node.values, cts)), strict=True):
                    push(edge[0], edge[1], ct)
            if not retain_graph:
                node.values = node.segment = None
            continue
        if node.n_out == 1:
            cts = [cts]
        if node.hooks is not None or id(node) in asked:
            _visit(walk, node, cts, wanted, captured)
        kept = None if useful is None else useful.get(node, ())
        if kept or (kept is None and node.edges):
            edges = (
                node.edges if kept is None or len(kept) == len(node.edges) else [node.edges[k] for k in kept]
            )
            found = node.pull(cts, create_graph, kept if edges is not node.edges else None)
            if node.constant:
                walk.constant.update(node.constant)
            walk.pass_on(edges, found)
            if not retain_graph:
                node.free()


def _visit(walk, node, cts, wanted, captured):
    """Hooks and wanted gradients of one node's outputs, now that they are complete. A hook of an output that
    got none sees zeros."""
    for idx, hooks in (node.hooks or {}).items():
        if cts[idx] is None and hooks:
            zeros = node.zeros_of(idx)
            cts[idx] = wrap(zeros) if walk.create_graph and zeros is not None else zeros
        if cts[idx] is not None:
            cts[idx] = walk.hooked(cts[idx], hooks)
    for idx, ct in enumerate(cts if wanted is not None else ()):
        if (id(node), idx) in wanted and ct is not None:
            captured[id(node), idx] = ct


def backward(tensors, grads, retain_graph=False, create_graph=False):
    """Gradients of `tensors` into the `grad` of every leaf they depend on."""
    key = None if create_graph else key_of(tensors, grads)
    known = None if key is None else repeated(key, tensors[0]._node, retain_graph)
    if known is not None:
        nodes, leaves, grads = known
        for leaf, ct in zip(leaves, grads, strict=True):
            _add_to(leaf, ct)
        _give_zeros(nodes, retain_graph)
        return
    after = [] if local.ctx.after_backward is None else None
    walk = _Walk(create_graph, after)
    walk.run(_backward, walk, tensors, grads, retain_graph or create_graph, key)
    for call in after or ():
        call()


def _backward(walk, tensors, grads, retain_graph, key):
    roots = _start(walk, tensors, grads)
    watch = None if key is None else watched(key, roots[0])
    _sweep(walk, roots, retain_graph)
    if watch is not None:
        watch.learn(walk)
    for leaf, ct in list(walk.leaves.values()):
        if leaf._hooks:
            ct = walk.hooked(ct, leaf._hooks)
        _accumulate(walk, leaf, ct)
        for hook in leaf._after_backward:
            Observing.function(hook)()
    _give_zeros(walk.order, retain_graph)


def _give_zeros(order, retain_graph):
    """Zeros for the leaves that results were computed from but do not change with."""
    for source, _ in _zero_grad_sources(order):
        if not isinstance(source, Tensor):
            if not (retain_graph or source.kernel is None or source.kernel.derived_from is None):
                # recorded gradients only: another result may still need what it was computed by
                source.free()
            continue
        local.ctx.frame.on_grad_access(source, True)
        if source._grad is None:
            source._grad = wrap(zeros_like(source._raw), False)


def _accumulate(walk, leaf, ct):
    """Adds to the `grad` of a leaf, in place: who holds it sees the sum."""
    local.ctx.frame.on_grad_access(leaf, True)
    if Precision.master_grads and getattr(leaf, "master_grad", False):
        ct = _widened(ct)
    old = leaf._grad
    if old is None:
        leaf._grad = ct if walk.create_graph else walk.shown(ct)
    elif walk.create_graph:
        leaf._grad = added(old, ct)
    else:
        _add_to(leaf, ct)


def _add_to(leaf, ct):
    """Adds a gradient that is not differentiated again."""
    old = leaf._grad
    if type(ct) is Rows:
        _add_rows(leaf, ct)
    elif type(old) is RowsGrad:
        old.set_rows(old.rows().plus_array(ct))
    elif old is None:
        leaf._grad = wrap(ct, False)
    else:
        old._fill(ct if is_zero(old._raw) else execute(ADD, (read_raw(old), ct)))


def _add_rows(leaf, rows):
    """Adds a gradient of some rows."""
    old = leaf._grad
    if type(old) is RowsGrad:
        old.set_rows(old.rows().plus(rows))
    elif old is None or is_zero(old._raw):
        leaf._grad = RowsGrad(rows)
    else:
        old._fill(execute(ADD, (read_raw(old), rows.dense())))


_WIDEN = Kernel("cast", lambda x: x.astype("float32"))


def _widened(ct):
    """A gradient in float32."""
    if ct.dtype.itemsize >= 4:
        return ct
    if type(ct) is Rows:
        return ct.astype("float32")
    if isinstance(ct, Tensor):
        return local.ctx.frame.call(_WIDEN, (ct,))
    return execute(_WIDEN, (ct,))


def gradients(outputs, inputs, grad_outputs, retain_graph, create_graph, cut, missing=None):
    """Gradients of `outputs` with respect to `inputs`: Tensors, or None where there is no path; the places of
    those are added to `missing`."""
    key = None if create_graph or cut else key_of(outputs, grad_outputs, inputs)
    known = None if key is None else repeated(key, outputs[0]._node, retain_graph, inputs)
    if known is not None:
        return [wrap(grad) for grad in known[2]]
    watch = None if key is None else watched(key, outputs[0]._node, inputs)
    walk, captured = _Walk(create_graph), {}
    sources = [(id(s), i) for s, i in map(source_of, inputs)]
    cut = {(id(s), i) for s, i in map(source_of, cut)}
    walk.run(_gather, walk, outputs, grad_outputs, retain_graph, set(sources), captured, cut, watch)
    lost = [source for source in sources if source not in captured and source not in walk.blank]
    zero_grad_sources = {(id(s), i) for s, i in _zero_grad_sources(walk.order, cut)} if lost else ()
    found = []
    for place, (tensor, source) in enumerate(zip(inputs, sources, strict=True)):
        got = captured.get(source)
        if got is None and source in zero_grad_sources:
            zeros = zeros_like(tensor._raw)
            got = wrap(zeros, False, ZeroGradNode(source_of(tensor))) if create_graph else zeros
        if got is None and source not in walk.blank and missing is not None:
            missing.append(place)
        if got is not None and not create_graph:
            got = RowsGrad(got, True) if type(got) is Rows else wrap(got)
        elif got is not None and got.stop_gradient and got._raw.dtype.kind in INEXACT:
            got = wrap(got._raw, False)
        found.append(got)
    return found


def _gather(walk, outputs, grad_outputs, retain_graph, wanted, captured, cut, watch):
    _sweep(walk, _start(walk, outputs, grad_outputs), retain_graph, wanted, captured, cut)
    if watch is not None:
        watch.learn(walk)
    for leaf, ct in list(walk.leaves.values()):
        captured[id(leaf), 0] = ct
