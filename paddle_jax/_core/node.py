"""Tape nodes: one recorded operation each."""

import itertools

from paddle_jax._core.deferred.value import INEXACT
from paddle_jax._core.kernel import execute
from paddle_jax._core.state import local
from paddle_jax._core.tensor import Tensor, wrap

next_serial = itertools.count().__next__


class GraphFreedError(RuntimeError, SystemError):
    """backward over a tape that an earlier backward has freed."""


class Node:
    """One recorded operation.

    kernel, values: what ran on what. diff: positions of the operands that get a gradient. edges: for each of them the source, as
    (producing Node or leaf Tensor, output index). n_out: number of outputs. serial: counts up, so that sources come before what uses them.
    """

    __slots__ = ("__weakref__", "diff", "edges", "hooks", "kernel", "n_out", "retain", "serial", "values")

    def __init__(self, kernel, values, diff, edges, n_out):
        self.kernel, self.values, self.diff, self.edges, self.n_out = kernel, values, diff, edges, n_out
        self.hooks = self.retain = None
        self.serial = next_serial()

    def __repr__(self):
        return f"<{self.name()}>"

    def name(self):
        """The name of the backward step, e.g. `tanh_grad`."""
        return self.kernel.name + "_grad"

    def hooks_of(self, idx):
        """The gradient hooks of output `idx`, a dict that can be added to."""
        self.hooks = {} if self.hooks is None else self.hooks
        return self.hooks.setdefault(idx, {})

    def retain_of(self, idx, ref):
        """Asks to store the gradient of output `idx` on the tensor behind the weak reference."""
        self.retain = {} if self.retain is None else self.retain
        self.retain[idx] = ref

    def pull(self, cts, create_graph=False, kept=None):
        """Gradients for `edges` (or the ones at `kept`) from the cotangents of the outputs (None where an output has none).

        With `create_graph` the cotangents and gradients are Tensors and are recorded, so that the gradient can be differentiated again.
        """
        values = self.values
        if values is None:
            raise GraphFreedError("backward: this part of the tape was freed by an earlier backward; pass retain_graph=True to the earlier call")
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
        """As `run` on the operands and cotangents, without making Tensors of the operands: the edges are known."""
        if local.ctx.recorder is not None:
            return local.ctx.recorder(kernel, [*self._operands(), *cts])
        values = [*self.values, *[ct._raw for ct in cts]]
        at, diff, edges = len(self.values), self.diff, self.edges
        for ct in cts:
            if not ct.stop_gradient and ct._raw.dtype.kind in INEXACT:
                diff += (at,)
                edges += (source_of(ct),)
            at += 1
        out = execute(kernel, values)
        if type(out) is not tuple:
            return (wrap(out, False, Node(kernel, values, diff, edges, 1), 0),)
        node = Node(kernel, values, diff, edges, len(out))
        return [wrap(o, False, node, i) for i, o in enumerate(out)]

    def _operands(self):
        """The operands as Tensors that point to the same sources as at the time of the call."""
        tensors = [wrap(v) for v in self.values]
        for i, (source, idx) in zip(self.diff, self.edges, strict=True):
            tensors[i] = wrap(self.values[i], False, source, idx)
        return tensors

    def free(self):
        """Drops the operands; the links stay so that a second backward can say what happened."""
        self.values = None


class Packed:
    """An operand in the form that the user's function gave it."""

    def __init__(self, packing, value):
        self.unpack = packing[1]
        self.kept = packing[0](wrap(value))

    def value(self):
        tensor = self.unpack(self.kept)
        if not isinstance(tensor, Tensor):
            raise TypeError(f"saved_tensors_hooks: unpack_hook returned {type(tensor).__name__}; it must return the Tensor that was packed")
        return tensor._raw


def packed(packing, values):
    """Operands to keep, those that gradients can flow into in the user's form."""
    return [Packed(packing, v) if v.dtype.kind in INEXACT else v for v in values]


class PackedNode(Node):
    """A Node whose operands are kept in the form that `saved_tensors_hooks` gave them."""

    __slots__ = ()

    def pull(self, cts, create_graph=False, kept=None):
        """As `Node.pull`, with the operands brought back."""
        values = self.values and [v.value() if type(v) is Packed else v for v in self.values]
        plain = Node(self.kernel, values, self.diff, self.edges, self.n_out)
        return plain.pull(cts, create_graph, kept)


def source_of(tensor):
    """Where the gradient of a tensor is gathered: (producing Node or the tensor itself, output index)."""
    return (tensor._node if tensor._node is not None else tensor), tensor._idx
