"""PyLayer: operations whose gradient the user writes in Python."""

import jax.numpy as jnp

from paddle_jax._core.dispatch import is_inexact
from paddle_jax._core.node import GraphFreedError, Node, Packed, source_of
from paddle_jax._core.state import local, state
from paddle_jax._core.tensor import Tensor, wrap


class PyLayerContext:
    """What `forward` hands to `backward`: saved tensors, settings and any attribute the user sets."""

    def __init__(self):
        self._saved, self._not_differentiable, self._materialize = (), (), True

    def save_for_backward(self, *tensors):
        """Keeps tensors for `backward`."""
        packing = local.ctx.packing
        self._saved = tensors if packing is None else [Packed(packing, t._raw) if isinstance(t, Tensor) else t for t in tensors]

    def saved_tensor(self):
        """The tensors that `save_for_backward` kept, as a tuple."""
        return tuple([wrap(t.value()) if type(t) is Packed else t for t in self._saved])

    def mark_non_differentiable(self, *tensors):
        """Declares outputs of `forward` that have no gradient."""
        self._not_differentiable = tuple(id(t) for t in tensors)

    def mark_not_inplace(self, *tensors):
        """Declares inputs that `forward` returns unchanged; they are copied anyway."""

    def set_materialize_grads(self, value):
        """True (default): missing output gradients arrive as zeros. False: as None."""
        self._materialize = bool(value)

    def set_grad_in_dtype_consistent(self, value):
        """Accepted for compatibility: gradients always get the dtype of the input they belong to."""


class _PyNode(Node):
    """A tape node whose backward is the user's Python function."""

    __slots__ = ("context", "layer", "outputs")

    def __init__(self, layer, context, edges, outputs):
        super().__init__(None, (), (), edges, len(outputs))
        self.layer, self.context, self.outputs = layer, context, outputs

    def name(self):
        return f"{self.layer.__name__}_backward"

    def pull(self, cts, create_graph=False, kept=None):
        if self.values is None:
            raise GraphFreedError(f"{self.layer.__name__}: backward was called a second time; pass retain_graph=True to the first call")
        passed = [self._passed(ct, i) for i, ct in enumerate(cts) if self.outputs[i] is not None]
        got = self.layer.backward(self.context, *passed)
        got = got if isinstance(got, tuple | list) else (got,)
        targets = self.context._inputs
        if len(got) != len(targets):
            name = self.layer.__name__
            raise ValueError(f"{name}.backward: got {len(got)} gradients for {len(targets)} Tensor inputs of forward; return one for each")
        found = []
        for gradient, target in zip(got, targets, strict=True):
            if target is None and gradient is not None:
                raise ValueError(f"{self.layer.__name__}.backward: got a gradient for an input with stop_gradient=True; return None there")
            if target is not None:
                found.append(gradient if create_graph or gradient is None else gradient._raw)
        return found if kept is None else [found[k] for k in kept]

    def _passed(self, ct, i):
        if ct is None:
            shape, dtype = self.outputs[i]
            return wrap(jnp.zeros(shape, dtype)) if self.context._materialize else None
        return ct if isinstance(ct, Tensor) else wrap(ct)

    def free(self):
        super().free()
        self.context._saved = ()


class PyLayer:
    """Base of operations with a hand-written gradient: define static methods `forward(ctx, ...)` and `backward(ctx, *grads)`.

    `backward` gets one gradient for each Tensor output and returns one (or None) for each Tensor input of `forward`. With
    create_graph=True its own computation is recorded, so higher derivatives work.

    Example:
        >>> class Double(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         return g * 2
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> Double.apply(x).sum().backward(); x.grad.tolist()
        [2.0, 2.0]
    """

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """Computes the result from Tensors and other arguments; to be overridden."""
        raise NotImplementedError("PyLayer: forward is not defined; define a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx, *args):
        """Computes gradients of the inputs from those of the outputs; to be overridden."""
        raise NotImplementedError("PyLayer: backward is not defined; define a static method backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs `forward` with gradient recording off and puts one node for it on the tape.

        Raises:
            ValueError: forward returns no Tensor.
        """
        context = type(f"{cls.__name__}_backward", (PyLayerContext,), {})()
        inputs = [a for a in [*args, *kwargs.values()] if isinstance(a, Tensor)]
        inputs += [t for a in [*args, *kwargs.values()] if isinstance(a, list | tuple) for t in a if isinstance(t, Tensor)]
        enabled, state.grad = state.grad, False
        try:
            result = cls.forward(context, *args, **kwargs)
        finally:
            state.grad = enabled
        outputs = list(result) if isinstance(result, tuple | list) else [result]
        if not any(isinstance(o, Tensor) for o in outputs):
            raise ValueError(f"{cls.__name__}: forward returned no Tensor; at least one output must be a Tensor")
        if enabled and any(not t.stop_gradient for t in inputs):
            outputs = _attach(cls, context, inputs, outputs)
        return type(result)(outputs) if isinstance(result, tuple | list) else outputs[0]


def _attach(cls, context, inputs, outputs):
    """Outputs connected to a new tape node; a returned input becomes a new Tensor."""
    context._inputs = [t if not t.stop_gradient else None for t in inputs]
    edges = tuple(source_of(t) for t in context._inputs if t is not None)
    described = [(o._raw.shape, o._raw.dtype) if isinstance(o, Tensor) else None for o in outputs]
    node = _PyNode(cls, context, edges, described)
    context._inputs = [None if t is None else True for t in context._inputs]
    attached = []
    for i, out in enumerate(outputs):
        if not isinstance(out, Tensor) or id(out) in context._not_differentiable or not is_inexact(out._raw):
            attached.append(out)
        else:
            changed_in_place = any(out is t for t in inputs) and out._version > 0
            attached.append(_move(out, node, i) if changed_in_place else wrap(out._raw, False, node, i))
    return attached


def _move(tensor, node, idx):
    """The same Tensor object, now produced by the node: forward changed an input in place and returned it."""
    tensor._node, tensor._idx, tensor.stop_gradient = node, idx, False
    return tensor
