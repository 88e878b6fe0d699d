"""Tape nodes: one recorded operation each."""

import itertools

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import ADD, execute
from paddle_jax._core.kernels.kernel_gradients import pull_back
from paddle_jax._core.kernels.op_record import node_name
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tensors.tensor import Tensor, wrap

next_serial = itertools.count().__next__


class GraphFreedError(RuntimeError, SystemError):
    """backward over a tape that an earlier backward has freed."""


class Node:
    """One recorded operation.

    kernel, values: what ran on what. diff: positions of the operands that get a gradient. edges: for each of
    them the source, as (producing Node or leaf Tensor, output index). n_out: number of outputs. hooks: None,
    or functions of the gradients by output. zero_grad_sources: None, or sources among the operands that the
    gradient is zero for. serial: counts up, so that sources come before what uses them. segment, position:
    the Segment and the number of the recorded operation; segment is None for a node that was not recorded
    there, that has hooks, or whose operands are gone. rows: of lookups whose gradient is one of some
    rows, see rows.py.
    """

    __slots__ = (
        "__weakref__",
        "diff",
        "edges",
        "hooks",
        "kernel",
        "n_out",
        "position",
        "rows",
        "segment",
        "serial",
        "values",
        "zero_grad_sources",
    )
    constant = ()  # raw gradients that user code cut off, by id; only a PyLayer has some

    def __init__(self, kernel, values, diff, edges, n_out, zero_grad_sources=None):
        self.kernel, self.values, self.diff, self.edges, self.n_out, self.zero_grad_sources = (
            kernel,
            values,
            diff,
            edges,
            n_out,
            zero_grad_sources,
        )
        self.hooks = self.segment = None
        self.serial = next_serial()

    def of(self, out):
        """Notes where the operation that gave `out`, a raw result or several, was recorded."""
        first = next(iter(out), None) if type(out) is tuple or type(out) is list else out
        if type(first) is LazyArray and first.array is None:
            self.segment, self.position = first.segment, first.position & OP_MASK
        return self

    def __repr__(self):
        return f"<{self.name()}>"

    def name(self):
        """The name of the backward step, e.g. `TanhGradNode`, `TanhDoubleGradNode`."""
        base, order = self.kernel.name, 1
        while base.endswith("_grad"):
            base, order = base[:-5], order + 1
        times = ("", "Double", "Triple")[order - 1] if order <= 3 else f"{order}Fold"
        return "".join(word.capitalize() for word in node_name(base).split("_")) + f"{times}GradNode"

    @property
    def next_functions(self):
        """For each operand the node that its gradient goes to, None where it gets none."""
        found = [None] * (max(self.diff, default=-1) + 1)
        for i, (source, _) in zip(self.diff, self.edges, strict=True):
            found[i] = Accumulation(source) if isinstance(source, Tensor) else source
        return found

    def hooks_of(self, idx):
        """The gradient hooks of output `idx`, a dict that can be added to."""
        self.hooks, self.segment = {} if self.hooks is None else self.hooks, None
        return self.hooks.setdefault(idx, {})

    def zeros_of(self, idx):
        """A gradient of zeros for output `idx` of several; None where that cannot be told."""
        return None if self.values is None else zeros_like(execute(self.kernel, self.operands())[idx])

    def operands(self):
        """The operand values."""
        return self.values

    def pull(self, cts, create_graph=False, kept=None):
        """Gradients for `edges` (or the ones at `kept`) from the cotangents of the outputs (None where an
        output has none).

        With `create_graph` the cotangents and gradients are Tensors and are recorded, so that the gradient
        can be differentiated again.
        """
        values = self.values
        if values is not None:
            local.ctx.frame.on_node_gradient(self)
        if values is None:
            raise GraphFreedError(
                "(Fatal) backward: this part of the tape was freed by an earlier backward; "
                "pass retain_graph=True there"
            )
        diff = self.diff if kept is None else tuple([self.diff[k] for k in kept])
        if self.n_out == 1:
            kernel, passed = self.kernel.grads.get(diff) or self.kernel.grad(diff, None, len(values)), cts
        else:
            kernel = self.kernel.grad(diff, tuple([ct is not None for ct in cts]), len(values))
            passed = [ct for ct in cts if ct is not None]
        if create_graph:
            return self._pull_recorded(kernel, passed)
        out = execute(kernel, [*values, *passed])
        return out if type(out) is tuple else (out,)

    def _pull_recorded(self, kernel, cts):
        """As `run` on the operands and cotangents, without making Tensors of the operands: the
        edges are known."""
        frame = local.ctx.frame
        if frame.recording:
            return frame.call(kernel, [*self._operands(), *cts])
        made = self.kernel.declaration
        if (
            made is not None
            and made[0].by_result is not None
            and type(self) is Node
            and self.values[0].dtype.kind == "f"
        ):
            return (self._pull_by_result(made[0].by_result, cts[0]),)
        values = [*self.values, *[ct._raw for ct in cts]]
        at, diff, edges = len(self.values), self.diff, self.edges
        for ct in cts:
            if not ct.stop_gradient and ct._raw.dtype.kind in INEXACT:
                diff += (at,)
                edges += (source_of(ct),)
            at += 1
        flow, zero_grad_sources = kernel.gradient_mask(values), self.zero_grad_sources
        if any(not flow >> i & 1 for i in diff):
            zero_grad_sources = {
                (id(edge[0]), edge[1]): edge for i, edge in zip(diff, edges, strict=True) if not flow >> i & 1
            }
            zero_grad_sources = (*zero_grad_sources.values(), *(self.zero_grad_sources or ()))
            edges = tuple([edge for i, edge in zip(diff, edges, strict=True) if flow >> i & 1])
            diff = tuple([i for i in diff if flow >> i & 1])
        out = execute(kernel, values)
        if type(out) is not tuple:
            return (wrap(out, False, Node(kernel, values, diff, edges, 1, zero_grad_sources).of(out), 0),)
        node = Node(kernel, values, diff, edges, len(out), zero_grad_sources).of(out)
        return [wrap(o, False, node, i) for i, o in enumerate(out)]

    def _pull_by_result(self, kernel, ct):
        """The recorded gradient as a function of the result, computed again (a compiled program
        has it already)."""
        values, diff, edges = [execute(self.kernel, self.values), ct._raw], (0,), ((self, 0),)
        if not ct.stop_gradient:
            diff, edges = (0, 1), (*edges, source_of(ct))
        out = execute(kernel, values)
        return wrap(out, False, Node(kernel, values, diff, edges, 1).of(out), 0)

    def _operands(self):
        """The operands as Tensors that point to the same sources as at the time of the call."""
        tensors = [wrap(v) for v in self.values]
        for i, (source, idx) in zip(self.diff, self.edges, strict=True):
            tensors[i] = wrap(self.values[i], False, source, idx)
        return tensors

    def free(self):
        """Drops the operands; the links stay so that a second backward can say what happened."""
        self.values = self.segment = None


class ResidualNode(Node):
    """An operation with a loop inside, in a function that is captured: its loop runs once, and hands its
    intermediate values to the gradient."""

    __slots__ = ("made",)

    def pull(self, cts, create_graph=False, kept=None):
        """As `Node.pull`; a gradient that is recorded, or of some operands only, is computed anew."""
        if create_graph or kept is not None or self.values is None:
            return super().pull(cts, create_graph, kept)
        out = pull_back(
            *self.made, tuple([ct is not None for ct in cts]), [ct for ct in cts if ct is not None]
        )
        return out if type(out) is tuple else (out,)

    def free(self):
        """Drops the operands and the intermediate values."""
        self.values = self.made = None


class Sum(Node):
    """The sum of two gradients of the same shape and dtype: it passes its own gradient on."""

    __slots__ = ()

    def pull(self, cts, create_graph=False, kept=None):
        return cts * len(self.edges if kept is None else kept)


def added(a, b):
    """The sum of two Tensors that are gradients of the same thing, recorded."""
    x, y = a._raw, b._raw
    out = execute(ADD, (x, y))
    edges = tuple([source_of(t) for t in (a, b) if not t.stop_gradient])
    if not edges:
        return wrap(out)
    if x.shape == y.shape and x.dtype == y.dtype:
        return wrap(out, False, Sum(ADD, (), (0, 1)[: len(edges)], edges, 1).of(out))
    diff = tuple([i for i, t in enumerate((a, b)) if not t.stop_gradient])
    return wrap(out, False, Node(ADD, (x, y), diff, edges, 1).of(out))


class ZeroGradNode(Node):
    """Stands for a value that was put in place of a recorded one: nothing flows back from it, and what it
    replaced counts as used."""

    __slots__ = ()

    def __init__(self, source):
        super().__init__(ADD, (), (), (), 1, (source,))

    def name(self):
        return "FullGradNode"

    def pull(self, cts, create_graph=False, kept=None):
        return ()


class Accumulation:
    """What `grad_fn` of a leaf that gets a gradient says it is."""

    __slots__ = ("_leaf",)

    def __init__(self, leaf):
        self._leaf = leaf

    def name(self):
        """The name of the step that adds to `grad`."""
        return "GradNodeAccumulation"

    @property
    def next_functions(self):
        """Nothing comes after a leaf."""
        return [None]

    def __eq__(self, other):
        return isinstance(other, Accumulation) and self._leaf is other._leaf

    def __hash__(self):
        return id(self._leaf)

    def __repr__(self):
        return f"<{self.name()}>"


class Packed:
    """An operand in the form that the user's function gave it."""

    def __init__(self, packing, value):
        self.unpack = packing[1]
        self.kept = packing[0](wrap(value))

    def value(self):
        tensor = self.unpack(self.kept)
        if not isinstance(tensor, Tensor):
            raise ArgumentError(
                f"saved_tensors_hooks: unpack_hook returned {type(tensor).__name__}; "
                "it must return the Tensor that was packed"
            )
        return tensor._raw


def packed(packing, values):
    """Operands to keep, those that gradients can flow into in the user's form."""
    return [Packed(packing, v) if v.dtype.kind in INEXACT else v for v in values]


class PackedNode(Node):
    """A Node whose operands are kept in the form that `saved_tensors_hooks` gave them."""

    __slots__ = ()

    def pull(self, cts, create_graph=False, kept=None):
        """As `Node.pull`, with the operands brought back."""
        plain = Node(self.kernel, self.operands(), self.diff, self.edges, self.n_out, self.zero_grad_sources)
        return plain.pull(cts, create_graph, kept)

    def operands(self):
        """The operand values, brought back."""
        return self.values and [v.value() if type(v) is Packed else v for v in self.values]


def source_of(tensor):
    """Where the gradient of a tensor is gathered: (producing Node or the tensor itself, output index)."""
    return (tensor._node if tensor._node is not None else tensor), tensor._idx
