"""Tape nodes: one recorded operation each."""

from paddle_jax._core.kernel import execute
from paddle_jax._core.tensor import wrap


class GraphFreedError(RuntimeError, SystemError):
    """backward over a tape that an earlier backward has freed."""


class Node:
    """One recorded operation.

    kernel, values: what ran on what. diff: positions of the operands that get a gradient. edges: for each of them the source, as
    (producing Node or leaf Tensor, output index). n_out: number of outputs.
    """

    __slots__ = ("__weakref__", "diff", "edges", "hooks", "kernel", "n_out", "retain", "values")

    def __init__(self, kernel, values, diff, edges, n_out):
        self.kernel, self.values, self.diff, self.edges, self.n_out = kernel, values, diff, edges, n_out
        self.hooks = self.retain = None

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

    def pull(self, cts, run=None):
        """Gradients for `edges` from the cotangents of the outputs (None where an output has none).

        With `run` (the dispatch point) everything is Tensors and is recorded, so that the gradient can be differentiated again.
        """
        if self.values is None:
            raise GraphFreedError("backward: this part of the tape was freed by an earlier backward; pass retain_graph=True to the earlier call")
        given = tuple([ct is not None for ct in cts])
        kernel = self.kernel.grad(self.diff, given, len(self.values))
        passed = [ct for ct in cts if ct is not None]
        if run is not None:
            return run(kernel, [*self._operands(), *passed])
        return execute(kernel, [*self.values, *passed])

    def _operands(self):
        """The operands as Tensors that point to the same sources as at the time of the call."""
        tensors = [wrap(v) for v in self.values]
        for i, (source, idx) in zip(self.diff, self.edges, strict=True):
            tensors[i] = wrap(self.values[i], False, source, idx)
        return tensors

    def free(self):
        """Drops the operands; the links stay so that a second backward can say what happened."""
        self.values = None


def source_of(tensor):
    """Where the gradient of a tensor is gathered: (producing Node or the tensor itself, output index)."""
    return (tensor._node if tensor._node is not None else tensor), tensor._idx
