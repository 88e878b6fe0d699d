"""Tape nodes: one recorded operation each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import ADD, execute
from paddle_jax._core.kernels.kernel_gradients import pull_back
from paddle_jax._core.kernels.op_record import node_name
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, is_unread
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.segment import signature_of
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tensors.tensor import Tensor, wrap

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import OpSignature

next_serial = itertools.count().__next__


Source = tuple[Any, int]  # (producing Node or leaf Tensor, output index)


class GraphFreedError(RuntimeError, SystemError):
    """A backward pass needs a part of the tape that an earlier pass has freed."""

    def __init__(
        self,
        text: str = "(Fatal) backward: this part of the tape was freed by an earlier backward; "
        "pass retain_graph=True there",
    ) -> None:
        super().__init__(text)


class Node:
    """One recorded operation.

    Attributes:
        kernel: the Kernel that ran.
        values: its operands; None once they are freed. One that the gradient does not read may be
            `unread_operand` of its Aval.
        diff: tuple of the indices of the operands that get a gradient.
        edges: tuple of the source of each of them: (producing Node or leaf Tensor, output index).
        n_out: int, number of outputs.
        hooks: {output index: {key: function of the gradient}}, or None.
        zero_grad_sources: sources among the operands whose gradient is zero, or None.
        serial: int, counts up, so that sources come before the nodes that use them.
        segment: Segment that the operation was recorded in. It is None for a node that was not recorded
            there, that has hooks, or whose operands are freed.
        position: int, the number of the operation in the segment.
        rows: of lookups whose gradient is one of some rows, see sparse_rows.py.
        constant: {id: raw gradient} of those that user code cut off; only a PyLayer has some.
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
    constant: Any = ()
    values: Any

    def __init__(
        self,
        kernel: Any,
        values: Any,
        diff: tuple[int, ...],
        edges: tuple[Source, ...],
        n_out: int,
        zero_grad_sources: tuple[Source, ...] | None = None,
    ) -> None:
        self.kernel: Any = kernel
        self.values = values
        self.diff: tuple[int, ...] = diff
        self.edges = edges
        self.n_out: int = n_out
        self.zero_grad_sources = zero_grad_sources
        self.hooks: dict[int, dict[Any, Callable[..., Any]]] | None = None
        self.segment: Any = None
        self.serial: int = next_serial()

    def recorded_with(self, out: Any) -> Node:
        """Stores where the operation was recorded that gave `out`, a raw result or several; returns the
        node."""
        if type(out) is tuple or type(out) is list:
            first = next(iter(out), None)
        else:
            first = out
        if type(first) is LazyArray and first.array is None:
            self.segment, self.position = first.segment, first.position & OP_MASK
        return self

    def __repr__(self) -> str:
        return f"<{self.name()}>"

    def name(self) -> str:
        """The name of the backward step, e.g. `TanhGradNode`, `TanhDoubleGradNode`."""
        base = self.kernel.name
        order = 1
        # Each order of the gradient has added "_grad" to the name of the kernel.
        while base.endswith("_grad"):
            base = base[:-5]
            order = order + 1
        if order <= 3:
            times = ("", "Double", "Triple")[order - 1]
        else:
            times = f"{order}Fold"
        return "".join(word.capitalize() for word in node_name(base).split("_")) + f"{times}GradNode"

    @property
    def next_functions(self) -> list[Node | Accumulation | None]:
        """For each operand the node that its gradient goes to, None where it gets none."""
        functions: list[Node | Accumulation | None] = [None] * (max(self.diff, default=-1) + 1)
        for i, (source, _) in zip(self.diff, self.edges, strict=True):
            functions[i] = Accumulation(source) if isinstance(source, Tensor) else source
        return functions

    def hooks_of(self, idx: int) -> dict[Any, Callable[..., Any]]:
        """The gradient hooks of output `idx`, a dict that can be added to."""
        self.hooks = {} if self.hooks is None else self.hooks
        # A replay does not call hooks, so the node may not count as recorded in its segment.
        self.segment = None
        return self.hooks.setdefault(idx, {})

    def zeros_of(self, idx: int) -> Any:
        """A gradient of zeros for output `idx` of several; None where its shape is not known."""
        if self.values is None:
            return None
        return zeros_like(execute(self.kernel, self.operands())[idx])

    def operands(self) -> Any:
        """The operand values."""
        return self.values

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        """Gradients for the edges, or for those of some indices, from the cotangents of the outputs.

        The cotangent is None where an output has none.

        With `create_graph` the cotangents and gradients are Tensors and are recorded, so that the gradient
        can be differentiated again.
        """
        values = self.values
        if values is not None:
            local.ctx.frame.on_node_gradient(self)
        if values is None:
            raise GraphFreedError()
        if edge_indices is None:
            diff = self.diff
        else:
            diff = tuple([self.diff[k] for k in edge_indices])
            # The gradient by all operands may read less than that by some; then all are computed.
            if any(map(is_unread, values)) and not self._has_operands_for(diff, cts[0]):
                gradients = Node.pull(self, cts, create_graph)
                return [gradients[k] for k in edge_indices]
        if self.n_out == 1:
            kernel = self.kernel.grads.get(diff) or self.kernel.grad(diff, None, len(values))
            passed = cts
        else:
            kernel = self.kernel.grad(diff, tuple([ct is not None for ct in cts]), len(values))
            passed = [ct for ct in cts if ct is not None]
        if create_graph:
            return local.ctx.frame.pull_recorded(self, kernel, passed)
        out = execute(kernel, [*values, *passed])
        if type(out) is tuple:
            return out
        return (out,)

    def _has_operands_for(self, diff: tuple[int, ...], ct: Any) -> bool:
        """Whether the gradient by some operands reads none that was let go of for that by all of them."""
        raw = ct._raw if isinstance(ct, Tensor) else ct
        if type(raw) is not LazyArray:
            return False
        avals = tuple([value.aval for value in self.values])
        forward = self.kernel.signatures.get(avals)
        if forward is None:
            return False
        if diff not in (forward.unread or {}):  # a new signature of the gradient notes it
            signature_of(self.kernel.grad(diff, None, len(avals)), (*avals, raw.aval))
        stand_ins = (forward.unread or {}).get(diff)
        return stand_ins is not None and not any(
            stand_in is None and is_unread(value)
            for value, stand_in in zip(self.values, stand_ins, strict=True)
        )

    def pull_recorded(self, kernel: Any, cts: Sequence[Tensor]) -> Any:
        """As a call on the operands and cotangents, without making Tensors of the operands.

        The edges of the operands are known.
        """
        declaration = self.kernel.declaration
        if (
            declaration is not None
            and declaration[0].by_result is not None
            and type(self) is Node
            and self.values[0].dtype.kind == "f"
        ):
            return (self._pull_by_result(declaration[0].by_result, cts[0]),)
        values = [*self.values, *[ct._raw for ct in cts]]
        sources = list(zip(self.diff, self.edges, strict=True))  # (operand index, source)
        for index, ct in enumerate(cts, len(self.values)):
            if not ct.stop_gradient and ct._raw.dtype.kind in INEXACT:
                sources.append((index, source_of(ct)))
        mask = kernel.gradient_mask(values)
        # operands that the gradient does not change with; each source once
        constant_sources = {(id(s), idx): (s, idx) for i, (s, idx) in sources if not mask >> i & 1}
        zero_grad_sources = self.zero_grad_sources
        if constant_sources:
            zero_grad_sources = (*constant_sources.values(), *(self.zero_grad_sources or ()))
            sources = [(i, source) for i, source in sources if mask >> i & 1]
        diff = tuple([i for i, _ in sources])
        edges = tuple([source for _, source in sources])
        out = execute(kernel, values)
        if type(out) is not tuple:
            node = Node(kernel, values, diff, edges, 1, zero_grad_sources).recorded_with(out)
            return (wrap(out, False, node, 0),)
        node = Node(kernel, values, diff, edges, len(out), zero_grad_sources).recorded_with(out)
        return [wrap(o, False, node, i) for i, o in enumerate(out)]

    def _pull_by_result(self, kernel: Any, ct: Tensor) -> Tensor:
        """The recorded gradient as a function of the result, which is computed again.

        A compiled program has the result already.
        """
        values = [execute(self.kernel, self.values), ct._raw]
        diff: tuple[int, ...] = (0,)
        edges: tuple[Source, ...] = ((self, 0),)
        if not ct.stop_gradient:
            diff = (0, 1)
            edges = (*edges, source_of(ct))
        out = execute(kernel, values)
        return wrap(out, False, Node(kernel, values, diff, edges, 1).recorded_with(out), 0)

    def operand_tensors(self) -> list[Tensor]:
        """The operands as Tensors with the same sources as at the time of the call."""
        tensors = [wrap(v) for v in self.values]
        for i, (source, idx) in zip(self.diff, self.edges, strict=True):
            tensors[i] = wrap(self.values[i], False, source, idx)
        return tensors

    def free(self) -> None:
        """Drops the operands; the edges stay, so a second backward can raise a clear error."""
        self.values = self.segment = None


def drop_unread(node: Node, signature: OpSignature) -> None:
    """Lets go of the operands that the gradient does not read: what a node keeps has to be a result of the
    compiled segment. `fast_path.py` does the same for its nodes.

    Where arrays are on several devices, operands also say where the gradient belongs.
    """
    stand_ins = (signature.unread or {}).get(node.diff)
    if stand_ins is not None and not MultiDevice.placed and not MultiDevice.in_use:
        node.values = tuple(
            [x if stand_in is None else stand_in for x, stand_in in zip(node.values, stand_ins, strict=True)]
        )


class ResidualNode(Node):
    """An operation with a loop inside, in a function that is captured.

    Its loop runs once, and passes its intermediate values on to the gradient.

    Attributes:
        residuals: (outputs, function of the cotangents), as `linearized` gives them.
    """

    __slots__ = ("residuals",)

    residuals: Any

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        """As `Node.pull`; a gradient that is recorded, or of some operands only, computes the loop again."""
        if create_graph or edge_indices is not None or self.values is None:
            return super().pull(cts, create_graph, edge_indices)
        outputs, pull = self.residuals
        present = tuple([ct is not None for ct in cts])
        out = pull_back(outputs, pull, present, [ct for ct in cts if ct is not None])
        if type(out) is tuple:
            return out
        return (out,)

    def free(self) -> None:
        """Drops the operands and the intermediate values."""
        self.values = None
        self.residuals = None


class SumNode(Node):
    """The sum of two gradients of the same shape and dtype: it passes its own gradient on."""

    __slots__ = ()

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        # d(a + b)/da = d(a + b)/db = 1.
        return list(cts) * len(self.edges if edge_indices is None else edge_indices)


def add_gradients(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two Tensors that are gradients of the same source, recorded."""
    x = a._raw
    y = b._raw
    out = execute(ADD, (x, y))
    edges = tuple([source_of(t) for t in (a, b) if not t.stop_gradient])
    if not edges:
        return wrap(out)
    # Without broadcasting or a cast the gradient passes unchanged, and no operands are kept.
    if x.shape == y.shape and x.dtype == y.dtype:
        return wrap(out, False, SumNode(ADD, (), (0, 1)[: len(edges)], edges, 1).recorded_with(out))
    diff = tuple([i for i, t in enumerate((a, b)) if not t.stop_gradient])
    return wrap(out, False, Node(ADD, (x, y), diff, edges, 1).recorded_with(out))


class ZeroGradNode(Node):
    """Stands for a value that replaced a recorded one.

    No gradient flows back from it, and the value that it replaced counts as used.
    """

    __slots__ = ()

    def __init__(self, source: Source) -> None:
        super().__init__(ADD, (), (), (), 1, (source,))

    def name(self) -> str:
        return "FullGradNode"

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        return ()


class Accumulation:
    """The `grad_fn` of a leaf that gets a gradient."""

    __slots__ = ("_leaf",)

    def __init__(self, leaf: Tensor) -> None:
        self._leaf = leaf

    def name(self) -> str:
        """The name of the step that adds to `grad`."""
        return "GradNodeAccumulation"

    @property
    def next_functions(self) -> list[None]:
        """Nothing comes after a leaf."""
        return [None]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Accumulation) and self._leaf is other._leaf

    def __hash__(self) -> int:
        return id(self._leaf)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


class PackedOperand:
    """An operand in the form that the pack hook of the user gave it.

    Attributes:
        unpack: the unpack hook.
        packed: the result of the pack hook.
    """

    def __init__(self, packing: tuple[Callable[..., Any], Callable[..., Any]], value: Any) -> None:
        pack, self.unpack = packing
        self.packed = pack(wrap(value))

    def value(self) -> Any:
        """The operand."""
        tensor = self.unpack(self.packed)
        if not isinstance(tensor, Tensor):
            raise ArgumentError(
                f"saved_tensors_hooks: unpack_hook returned {type(tensor).__name__}; "
                "it must return the Tensor that was packed"
            )
        return tensor._raw


def pack_operands(packing: tuple[Callable[..., Any], Callable[..., Any]], values: Sequence[Any]) -> list[Any]:
    """Operands for a node; those that gradients can flow into are packed."""
    return [PackedOperand(packing, v) if v.dtype.kind in INEXACT else v for v in values]


class PackedNode(Node):
    """A Node whose operands are packed by `saved_tensors_hooks`."""

    __slots__ = ()

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        """As `Node.pull`, with the operands unpacked."""
        plain = Node(self.kernel, self.operands(), self.diff, self.edges, self.n_out, self.zero_grad_sources)
        return plain.pull(cts, create_graph, edge_indices)

    def operands(self) -> Any:
        """The operand values, unpacked."""
        # Freed operands are None, which `pull` reports.
        return self.values and [v.value() if type(v) is PackedOperand else v for v in self.values]


def source_of(tensor: Tensor) -> Source:
    """The source of a tensor's gradient: its Node or the tensor itself, and the output index."""
    return (tensor._node if tensor._node is not None else tensor), tensor._idx
