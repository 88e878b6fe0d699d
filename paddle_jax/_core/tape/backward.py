"""Backward passes: walks back over the nodes of the tape. Derivatives of every order use the same walk."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

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
from paddle_jax._core.tape.node import Node, ZeroGradNode, add_gradients, source_of
from paddle_jax._core.tape.replay import PassRecorder, comes_again, pass_key, replay_pass
from paddle_jax._core.tape.replay_of_graphs import GraphRecorder
from paddle_jax._core.tape.sparse_rows import Rows, RowsGrad, add_row_gradients
from paddle_jax._core.tensors.layout import gradient_in_layout
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap

# A gradient: a Tensor with create_graph, else a raw value or Rows.
Gradient = Any
Source = tuple[Any, int]  # (producing Node or leaf Tensor, output index)
SourceId = tuple[int, int]  # (id of the Node or Tensor, output index)


class _BackwardPass:
    """One backward pass, with the gradients that it has found so far.

    Attributes:
        create_graph: bool, whether the pass itself is recorded.
        grad_mode: bool, whether the caller records operations.
        callbacks: list of functions to call once the pass is complete, for the outermost pass, else None.
            A hook, or a layer that is computed again, may run a pass of its own.
        node_grads: {Node: gradient of its output, or list of those of its outputs}.
        leaf_grads: {id of a leaf: [leaf, gradient]}.
        no_gradient: set of SourceIds that a PyLayer gave None for.
        constants: {id: raw gradient} of those that user code (a PyLayer, a hook) gave as Tensors with
            stop_gradient. A leaf that gets such a gradient alone shows it.
        order: list of the nodes that were reached, consumers first.
    """

    def __init__(self, create_graph: bool, callbacks: list[Callable[[], None]] | None = None) -> None:
        self.create_graph = create_graph
        self.grad_mode = state.grad
        self.callbacks = callbacks
        self.node_grads: dict[Node, Any] = {}
        self.leaf_grads: dict[int, list[Any]] = {}
        self.no_gradient: set[SourceId] = set()
        self.constants: dict[int, Any] = {}
        self.order: Sequence[Node] = ()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function that walks, with recording on exactly when the pass itself is recorded."""
        return run_within(self, lambda: function(*args))

    def begin(self) -> None:
        """Sets the modes of the thread."""
        local.ctx.grad = self.create_graph
        if self.callbacks is not None:
            local.ctx.after_backward = self.callbacks

    def end(self) -> None:
        """Restores the modes of the thread."""
        local.ctx.grad = self.grad_mode
        if self.callbacks is not None:
            local.ctx.after_backward = None

    def add(self, a: Gradient, b: Gradient) -> Gradient:
        """The sum of two gradients of the same source."""
        if self.create_graph:
            # The sum must be on the tape itself, since the pass is recorded.
            return add_gradients(a, b)
        if type(a) is Rows or type(b) is Rows:
            return add_row_gradients(a, b)
        return execute(ADD, (a, b))

    def push(self, source: Any, idx: int, ct: Gradient) -> None:
        """Adds a gradient to that of a Node's output or of a leaf."""
        if isinstance(source, Tensor):
            entry = self.leaf_grads.get(id(source))
            if entry is None:
                self.leaf_grads[id(source)] = [source, ct]
            else:
                entry[1] = self.add(entry[1], ct)
        elif source.n_out == 1:
            old = self.node_grads.get(source)
            self.node_grads[source] = ct if old is None else self.add(old, ct)
        else:
            cts = self.node_grads.get(source)
            if cts is None:
                cts = self.node_grads[source] = [None] * source.n_out
            cts[idx] = ct if cts[idx] is None else self.add(cts[idx], ct)

    def push_all(self, edges: Iterable[Source], cts: Iterable[Gradient]) -> None:
        """Sends the gradients of a node's operands along its edges; None: there is none."""
        push = self.push
        for edge, ct in zip(edges, cts, strict=True):
            if ct is not None:
                push(edge[0], edge[1], ct)
            else:
                self.no_gradient.add((id(edge[0]), edge[1]))

    def run_hooks(self, ct: Gradient, hooks: Mapping[Any, Callable[..., Any]]) -> Gradient:
        """A gradient after its hooks, which run in the caller's mode."""
        with swapped_attributes(local.ctx, grad=self.grad_mode):
            for hook in list(hooks.values()):
                result = Observing.function(hook)(ct if self.create_graph else self.as_tensor(ct))
                if result is not None:
                    ct = self._gradient_of_hook(result, ct)
        return ct

    def _gradient_of_hook(self, result: Any, ct: Gradient) -> Gradient:
        """The gradient that a hook returned in place of another one."""
        if not isinstance(result, Tensor):
            raise ArgumentError(
                f"register_hook: the hook returned {type(result).__name__}; "
                "it must return a Tensor, or None for no change"
            )
        if result._raw.dtype != (ct._raw if self.create_graph else ct).dtype:
            raise RuntimeError(
                f"register_hook: the hook returned {result._raw.dtype.name}; "
                "the gradient must keep its dtype; use astype"
            )
        if self.create_graph:
            return result
        if type(ct) is Rows:
            if type(result) is RowsGrad:
                new = result.rows()
            else:
                new = ct.whole(result._raw)
        else:
            new = result._raw
        # A gradient that a hook has detached is a constant from here on.
        if result.stop_gradient:
            self.constants[id(new)] = new
        return new

    def as_tensor(self, ct: Gradient) -> Tensor:
        """A raw gradient as a Tensor; as in Paddle, gradients themselves count as differentiable."""
        if type(ct) is Rows:
            return RowsGrad(ct)
        return wrap(ct, id(ct) in self.constants)


# the graph --------------------------------------------------------------------------------------------------


_SERIAL = operator.attrgetter("serial")


def _reachable(roots: Sequence[Node], cut: Collection[SourceId]) -> list[Node]:
    """Nodes reachable from the roots, consumers before producers."""
    seen = set(roots)
    stack = list(roots)
    while stack:
        for source, idx in stack.pop().edges:
            if (
                not isinstance(source, Tensor)
                and source not in seen
                and (not cut or (id(source), idx) not in cut)
            ):
                seen.add(source)
                stack.append(source)
    # A node is made after those of its operands, so descending serials are a topological order.
    return sorted(seen, key=_SERIAL, reverse=True)


def _zero_grad_sources(order: Sequence[Node], cut: Collection[SourceId] = frozenset()) -> list[Source]:
    """Sources that results were computed from, but do not change with."""
    stack = [node for node in order if node.zero_grad_sources is not None]
    if not stack:
        return []
    result = []
    seen = set(order)
    while stack:
        node = stack.pop()
        sources = list(node.zero_grad_sources or ())
        if node not in seen:
            # Nodes of the pass have sent gradients along their edges. Behind a zero gradient nothing was
            # sent.
            sources += node.edges
        for source, idx in sources:
            if (id(source), idx) not in cut:
                result.append((source, idx))
                if not isinstance(source, Tensor) and source not in seen:
                    stack.append(source)
        seen.add(node)
    return result


def _edges_to_wanted(
    order: Sequence[Node], wanted: Collection[SourceId], cut: Collection[SourceId]
) -> dict[Node, list[int]]:
    """The nodes from which a wanted source can be reached, with the indices of the edges that lead there."""
    edges_of: dict[Node, list[int]] = {}
    wanted_ids = {source for source, _ in wanted}
    # From the operands on: a node leads there if one of its sources does.
    for node in reversed(order):
        indices = []
        for k, (source, idx) in enumerate(node.edges):
            is_wanted = id(source) in wanted_ids and (id(source), idx) in wanted
            leads = is_wanted or (not isinstance(source, Tensor) and source in edges_of)
            if leads and (id(source), idx) not in cut:
                indices.append(k)
        if indices:
            edges_of[node] = indices
    return edges_of


# the walk ---------------------------------------------------------------------------------------------------


def _start(walk: _BackwardPass, tensors: Sequence[Tensor], grads: Sequence[Any]) -> list[Node]:
    """Pushes the gradients to start from; returns the nodes of the Tensors."""
    roots = []
    for tensor, grad in zip(tensors, grads, strict=True):
        if type(tensor._raw) is Uninitialized:
            raise tensor._raw.error("backward")
        if grad is None:
            if walk.create_graph:
                ct = wrap(_ones(tensor._raw))
            else:
                ct = _ones(tensor._raw)
        else:
            ct = _start_gradient(walk, grad, tensor._raw)
        # After the checks: a wrong gradient is an error for a Tensor without history, too.
        if tensor.stop_gradient:
            continue
        walk.push(*source_of(tensor), ct)
        if tensor._node is not None:
            roots.append(tensor._node)
    return roots


def _start_gradient(walk: _BackwardPass, grad: Any, like: Any) -> Gradient:
    """A gradient that the caller gave, in the shape of its tensor."""
    if not isinstance(grad, Tensor):
        raise CheckError(
            f"backward: the gradient to start from is a {type(grad).__name__}; it must be a Tensor or None"
        )
    if like is FREED_VALUE:  # the tape still has the history of the tensor
        if walk.create_graph:
            return grad
        return grad._raw
    if grad._raw.size != like.size:
        raise CheckError(
            f"backward: the gradient to start from has shape {list(grad.shape)}; "
            f"the tensor has {list(like.shape)}"
        )
    if tuple(grad._raw.shape) == tuple(like.shape):
        if walk.create_graph:
            return grad
        return grad._raw
    if walk.create_graph:
        return local.ctx.frame.call(_RESHAPE, (grad, wrap(like)))
    return execute(_RESHAPE, (grad._raw, like))


_RESHAPE = Kernel("reshape_as", lambda x, like: x.reshape(like.shape))
_RESHAPE.has_templates = True


def _ones(raw: Any) -> Any:
    """Ones of the shape and dtype of a value; in the deferred tier they take no op at all."""
    if type(raw) is LazyArray:
        return constant_like(1, raw)
    return execute(ONES, (raw,))


def _sweep(walk: _BackwardPass, roots: Sequence[Node], retain_graph: bool) -> None:
    """Walks over all nodes that can be reached from the roots."""
    walk.order = order = _reachable(roots, ())
    node_grads = walk.node_grads
    create_graph = walk.create_graph
    push = walk.push
    ctx = local.ctx
    is_deferred = not create_graph and ctx.segment is not None
    for node in order:
        cts = node_grads.pop(node, None)
        # Reachable, but no gradient came, such as behind a PyLayer that gave None.
        if cts is None:
            continue
        if (
            is_deferred
            and type(node) is Node
            and node.n_out == 1
            and node.hooks is None
            and node.values is not None
        ):
            # the usual case, as `_visit` without further calls
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
        cts = _cotangents_after_hooks(walk, node, cts)
        if node.edges:
            _pull(walk, node, cts, None, retain_graph)


def _sweep_to_wanted(
    walk: _BackwardPass,
    roots: Sequence[Node],
    retain_graph: bool,
    wanted: Collection[SourceId],
    captured: dict[SourceId, Gradient],
    cut: Collection[SourceId],
    recorder: PassRecorder | None,
) -> None:
    """Walks over the nodes from which a wanted source can be reached.

    Args:
        walk: the pass.
        roots: nodes to start from.
        retain_graph: whether the nodes keep their operands.
        wanted: the sources whose gradients are wanted.
        captured: gets the gradients of those that are outputs of nodes.
        cut: sources at which the walk ends.
        recorder: PassRecorder that records the pass, or None.
    """
    walk.order = order = _reachable(roots, cut)
    edges_of = _edges_to_wanted(order, wanted, cut)
    wanted_ids = {source for source, _ in wanted}
    for node in order:
        cts = walk.node_grads.pop(node, None)
        if cts is None or (node not in edges_of and id(node) not in wanted_ids):
            continue
        cts = _cotangents_after_hooks(walk, node, cts)
        if id(node) in wanted_ids:
            for idx, ct in enumerate(cts):
                if (id(node), idx) in wanted and ct is not None:
                    captured[id(node), idx] = ct
        edge_indices = edges_of.get(node)
        if edge_indices:
            # All edges share the kernel that the plain walk compiles; a part of them has one of its own.
            is_all = len(edge_indices) == len(node.edges)
            if recorder is not None:
                recorder.note_pull(node)
            _pull(walk, node, cts, None if is_all else edge_indices, retain_graph)


def _pull(
    walk: _BackwardPass,
    node: Node,
    cts: list[Gradient],
    edge_indices: list[int] | None,
    retain_graph: bool,
) -> None:
    """Computes the gradients of a node's operands and pushes them along its edges (None: along all)."""
    if edge_indices is None:
        edges = node.edges
    else:
        edges = [node.edges[k] for k in edge_indices]
    gradients_of_operands = node.pull(cts, walk.create_graph, edge_indices)
    if node.constant:
        walk.constants.update(node.constant)
    walk.push_all(edges, gradients_of_operands)
    if not retain_graph:
        node.free()


def _cotangents_after_hooks(walk: _BackwardPass, node: Node, cts: Any) -> list[Gradient]:
    """The gradients of a node's outputs as a list, now that they are complete, after their hooks.

    A hook of an output without a gradient gets zeros.
    """
    if node.n_out == 1:
        cts = [cts]
    for idx, hooks in (node.hooks or {}).items():
        # Hooks see zeros where no gradient came.
        if cts[idx] is None and hooks:
            zeros = node.zeros_of(idx)
            cts[idx] = wrap(zeros) if walk.create_graph and zeros is not None else zeros
        if cts[idx] is not None:
            cts[idx] = _same_size(walk.run_hooks(cts[idx], hooks), cts[idx])
    return cts


def _same_size(ct: Gradient, before: Gradient) -> Gradient:
    """A gradient after its hooks, if it still has as many elements; that of a leaf may have others."""
    if ct.shape != before.shape and math.prod(ct.shape) != math.prod(before.shape):
        raise ValueError(
            f"(InvalidArgument) register_hook: the hook returned shape {[*ct.shape]}; "
            f"the gradient must keep its shape {[*before.shape]}"
        )
    return ct


# gradients of all leaves ------------------------------------------------------------------------------------


def backward(
    tensors: Sequence[Tensor],
    grads: Sequence[Any],
    retain_graph: bool = False,
    create_graph: bool = False,
) -> None:
    """Adds gradients of `tensors` to the `grad` of every leaf that they depend on."""
    key = None if create_graph else pass_key(tensors, grads)
    if key is None:
        replayed = None
    else:
        replayed = replay_pass(key, tensors[0]._node, retain_graph)
    if replayed is not None:
        for leaf, ct in zip(replayed.leaves, replayed.grads, strict=True):
            _add_to_grad(leaf, ct)
        _give_zeros(replayed.nodes, retain_graph)
        return
    callbacks: list[Callable[[], None]] | None = [] if local.ctx.after_backward is None else None
    walk = _BackwardPass(create_graph, callbacks)
    walk.run(_walk_to_leaves, walk, tensors, grads, retain_graph or create_graph, key)
    for callback in callbacks or ():
        callback()


def _walk_to_leaves(
    walk: _BackwardPass, tensors: Sequence[Tensor], grads: Sequence[Any], retain_graph: bool, key: Any
) -> None:
    roots = _start(walk, tensors, grads)
    recorder = None
    if key is not None and comes_again(key):
        recorder = PassRecorder(key, roots[0], None)
    _sweep(walk, roots, retain_graph)
    if recorder is not None:
        recorder.finish(walk, [walk.leaf_grads.get(id(leaf), (leaf, None))[1] for leaf in recorder.leaves])
    for leaf, ct in list(walk.leaf_grads.values()):
        if leaf._hooks:
            ct = walk.run_hooks(ct, leaf._hooks)
        _accumulate(walk, leaf, ct)
        for hook in leaf._after_backward:
            Observing.function(hook)()
    _give_zeros(walk.order, retain_graph)


def _give_zeros(order: Sequence[Node], retain_graph: bool) -> None:
    """Gives zeros to the leaves that results were computed from, but do not change with."""
    for source, _ in _zero_grad_sources(order):
        if not isinstance(source, Tensor):
            if not (retain_graph or source.kernel is None or source.kernel.derived_from is None):
                # recorded gradients only: another result may still need the operands of other nodes
                source.free()
            continue
        local.ctx.frame.on_grad_access(source, True)
        if source._grad is None:
            source._grad = wrap(zeros_like(source._raw), False)


def _accumulate(walk: _BackwardPass, leaf: Tensor, ct: Gradient) -> None:
    """Adds to the `grad` of a leaf, in place: other references to it see the sum."""
    local.ctx.frame.on_grad_access(leaf, True)
    if Precision.master_grads and getattr(leaf, "master_grad", False):
        ct = _widened(ct)
    old = leaf._grad
    if old is None and walk.create_graph:
        leaf._grad = ct
    elif old is None:
        leaf._grad = walk.as_tensor(ct)
        if type(ct) is not Rows:
            leaf._grad._raw = gradient_in_layout(leaf, ct)
    elif walk.create_graph:
        leaf._grad = add_gradients(old, ct)
    else:
        _add_to_grad(leaf, ct)


def _add_to_grad(leaf: Tensor, ct: Gradient) -> None:
    """Adds a gradient that is not differentiated again."""
    old = leaf._grad
    if type(ct) is Rows:
        _add_rows_to_grad(leaf, ct)
    elif type(old) is RowsGrad:
        old.set_rows(old.rows().plus_array(ct))
    elif old is None:
        leaf._grad = wrap(gradient_in_layout(leaf, ct), False)
    else:
        ct = gradient_in_layout(leaf, ct)
        # A gradient of zeros, as after `clear_grad`, needs no addition.
        old._fill(ct if is_zero(old._raw) else execute(ADD, (read_raw(old), ct)))


def _add_rows_to_grad(leaf: Tensor, rows: Rows) -> None:
    """Adds a gradient of some rows."""
    old = leaf._grad
    if type(old) is RowsGrad:
        old.set_rows(old.rows().plus(rows))
    elif old is None or is_zero(old._raw):
        leaf._grad = RowsGrad(rows)
    else:
        old._fill(execute(ADD, (read_raw(old), rows.dense())))


_WIDEN = Kernel("cast", lambda x: x.astype("float32"))


def _widened(ct: Gradient) -> Gradient:
    """A gradient in float32."""
    # Wide numbers need no other copy.
    if ct.dtype.itemsize >= 4:
        return ct
    if type(ct) is Rows:
        return ct.astype("float32")
    if isinstance(ct, Tensor):
        return local.ctx.frame.call(_WIDEN, (ct,))
    return execute(_WIDEN, (ct,))


# gradients of some inputs -----------------------------------------------------------------------------------


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    cut: Iterable[Tensor],
    missing: list[int] | None = None,
) -> list[Tensor | None]:
    """Gradients of `outputs` with respect to `inputs`.

    Args:
        outputs: the results.
        inputs: Tensors whose gradients are wanted.
        grad_outputs: gradients to start from, or None for each.
        retain_graph: whether the tape is kept.
        create_graph: whether the pass itself is recorded.
        cut: Tensors at which the pass ends.
        missing: gets the indices of the inputs to which no path leads.
    Returns:
        For each input a Tensor, or None where there is no path.
    """
    # A pass that ends somewhere is not replayed, nor one that gives parts of its graph back.
    if cut or (create_graph and not retain_graph):
        key = None
    else:
        key = pass_key(outputs, grad_outputs, inputs, create_graph)
    if key is None:
        replayed = None
    else:
        replayed = replay_pass(key, outputs[0]._node, retain_graph, inputs)
    if replayed is not None:
        return [_as_result(grad, create_graph) for grad in replayed.grads]
    recorder = None
    if key is not None and comes_again(key):
        recorder = (GraphRecorder if create_graph else PassRecorder)(key, outputs[0]._node, inputs)
    walk = _BackwardPass(create_graph)
    captured: dict[SourceId, Gradient] = {}
    sources = [(id(source), idx) for source, idx in map(source_of, inputs)]
    cut_sources = {(id(source), idx) for source, idx in map(source_of, cut)}
    walk.run(
        _walk_to_inputs,
        walk,
        outputs,
        grad_outputs,
        retain_graph,
        set(sources),
        captured,
        cut_sources,
        recorder,
    )
    zero_grad_sources = _zero_grad_source_ids(walk, sources, captured, cut_sources)
    results = []
    for index, (tensor, source) in enumerate(zip(inputs, sources, strict=True)):
        grad = captured.get(source)
        if grad is None and source in zero_grad_sources:
            zeros = zeros_like(tensor._raw)
            if create_graph:
                grad = wrap(zeros, False, ZeroGradNode(source_of(tensor)))
            else:
                grad = zeros
        if grad is None and source not in walk.no_gradient and missing is not None:
            missing.append(index)
        results.append(_as_result(grad, create_graph))
    return results


def _as_result(grad: Gradient, create_graph: bool) -> Tensor | None:
    """The gradient of an input as the Tensor that the caller gets."""
    if grad is None:
        return None
    if not create_graph:
        if type(grad) is Rows:
            return RowsGrad(grad, True)
        return wrap(grad)
    if grad.stop_gradient and grad._raw.dtype.kind in INEXACT:
        return wrap(grad._raw, False)
    return grad


def _zero_grad_source_ids(
    walk: _BackwardPass,
    sources: Sequence[SourceId],
    captured: Collection[SourceId],
    cut: Collection[SourceId],
) -> Collection[SourceId]:
    """The SourceIds of `_zero_grad_sources`; they are not searched where each source has a gradient."""
    if all(source in captured or source in walk.no_gradient for source in sources):
        return ()
    return {(id(source), idx) for source, idx in _zero_grad_sources(walk.order, cut)}


def _walk_to_inputs(
    walk: _BackwardPass,
    outputs: Sequence[Tensor],
    grad_outputs: Sequence[Any],
    retain_graph: bool,
    wanted: Collection[SourceId],
    captured: dict[SourceId, Gradient],
    cut: Collection[SourceId],
    recorder: PassRecorder | None,
) -> None:
    roots = _start(walk, outputs, grad_outputs)
    _sweep_to_wanted(walk, roots, retain_graph, wanted, captured, cut, recorder)
    for leaf, ct in list(walk.leaf_grads.values()):
        captured[id(leaf), 0] = ct
    if recorder is not None:
        recorder.finish(
            walk, [captured.get((id(s), idx)) for s, idx in map(source_of, recorder.inputs or ())]
        )
