"""PyLayer: operations whose gradient the user writes in Python."""

from __future__ import annotations

import functools as ft
import weakref
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.base.state import Observing, local, state
from paddle_jax._core.execution.dispatch import is_inexact
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tape.node import GraphFreedError, Node, PackedOperand, source_of
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.autograd.py_layer_trace import is_traced, teach


class PyLayerContext:
    """What `forward` hands to `backward`: saved tensors, settings and any attribute the user sets.

    Example:
        >>> class Square(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         ctx.factor = 2
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         (x,) = ctx.saved_tensor()
        ...         return g * ctx.factor * x
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> Square.apply(x).backward(); x.grad.tolist()
        [6.0]
    """

    def __init__(self) -> None:
        self._saved = None
        self._not_differentiable = ()
        self._not_in_place = ()
        self._materialize = True
        self._node = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (and anything else) for `backward`; a further call replaces what was kept."""
        # Under `saved_tensors_hooks` each Tensor goes through the hook, which may write it to the disk.
        packing = local.ctx.frame.packing
        if packing is None:
            self._saved = tensors
        else:
            self._saved = kept = list(tensors)
            for i, t in enumerate(tensors):
                if isinstance(t, Tensor):
                    kept[i] = PackedOperand(packing, held_value(t))

    def saved_tensor(self) -> Any:
        """What `save_for_backward` kept, as a tuple; None when nothing was."""
        if self._saved is None:
            return None
        return tuple([self._restored(t) for t in self._saved])

    @property
    def container(self) -> Any:
        """The same as `saved_tensor()`."""
        return self.saved_tensor()

    def _restored(self, kept: Any) -> Tensor:
        if type(kept) is PackedOperand:
            return wrap(kept.value())
        # Connected to the node again only when `backward` asks for it: kept with its node it would be a
        # ring of references.
        if type(kept) is _Output:
            return wrap(kept.raw, False, self._node(), kept.idx)
        return kept

    def mark_non_differentiable(self, *args: Any) -> None:
        """Declares outputs of `forward` that have no gradient."""
        # By id: `forward` returns the same objects.
        self._not_differentiable = tuple(id(t) for t in args)

    def mark_not_inplace(self, *args: Any) -> None:
        """Declares inputs that `forward` returns unchanged, so that the results are new Tensors."""
        self._not_in_place = tuple(id(t) for t in args)

    def set_materialize_grads(self, value: bool) -> None:
        """True (default): missing output gradients arrive as zeros. False: as None."""
        self._materialize = bool(value)

    def set_grad_in_dtype_consistent(self, flag: Any) -> Any:
        """Accepted for compatibility: gradients always get the dtype of the input they belong to."""


class _Output:
    """A saved Tensor that is an output of the same call: kept without its node, which keeps the context."""

    __slots__ = ("idx", "raw")

    def __init__(self, raw: Any, idx: Any) -> None:
        self.raw = raw
        self.idx = idx


class _PyNode(Node):
    """A tape node whose backward is the user's Python function. wanted: for each Tensor among the inputs
    whether it gets a gradient."""

    __slots__ = ("constant", "context", "layer", "outputs", "wanted")

    def __init__(self, layer: Any, context: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        wanted = [not t.stop_gradient for t in inputs]
        diff = tuple([i for i, w in enumerate(wanted) if w])
        super().__init__(None, (), diff, tuple([source_of(inputs[i]) for i in diff]), len(outputs))
        self.layer = layer
        self.context = context
        self.wanted = wanted
        self.constant = {}
        self.outputs = [(plain_shape(o), numpy_dtype(o)) if isinstance(o, Tensor) else None for o in outputs]
        context._node, context._shapes = weakref.ref(self), [(plain_shape(t), numpy_dtype(t)) for t in inputs]

    def name(self) -> str:
        return f"GradNodePyLayer_{self.layer.__name__}"

    # The tape need not make zeros: `_passed` does where `backward` wants them.
    def zeros_of(self, idx: Any) -> None:
        return None  # backward gets its zeros when it is called

    def pull(self, cts: Any, create_graph: bool = False, kept: Any = None) -> list[Any]:
        name = self.layer.__name__
        # A node that was freed has no values.
        if self.values is None:
            raise GraphFreedError(
                f"{name}: backward was called a second time; pass retain_graph=True to the first call"
            )
        passed = [self._passed(ct, i) for i, ct in enumerate(cts) if self.outputs[i] is not None]
        got = _flat(Observing.function(self.layer.backward)(self.context, *passed))
        # Gradients of trailing inputs may be left out, if these do not want any.
        if len(got) > len(self.wanted) or any(self.wanted[len(got) :]):
            raise ValueError(
                f"{name}.backward: got {len(got)} gradients for {len(self.wanted)} Tensor "
                "inputs of forward; return one for each"
            )
        found = []
        self.constant = {}
        for i, gradient in enumerate(got):
            if gradient is not None and not self.wanted[i]:
                raise ValueError(
                    f"{name}.backward: got a gradient for input {i}, which has "
                    "stop_gradient=True; return None there"
                )
            if gradient is not None and not isinstance(gradient, Tensor):
                raise ArgumentError(
                    f"{name}.backward: gradient {i} is a {type(gradient).__name__}; "
                    "it must be a Tensor or None"
                )
            if self.wanted[i]:
                found.append(self._handed(gradient, i, len(found), create_graph))
        if kept is None:
            return found
        # The tape asks for some of the gradients alone.
        return [found[k] for k in kept]

    def _passed(self, ct: Any, i: int) -> Tensor | None:
        if ct is None:
            if self.context._materialize:
                return wrap(jnp.zeros(*self.outputs[i]))
            return None
        if isinstance(ct, Tensor):
            return ct
        return wrap(ct, False)

    def _handed(self, gradient: Tensor, i: int, edge: int, create_graph: bool) -> Any:
        """A gradient for the walk. None stays None at a leaf; operations further down get zeros."""
        if gradient is None and not isinstance(self.edges[edge][0], Tensor):
            # At a leaf None means that nothing is added. An operation would need an array to go on with.
            gradient = wrap(jnp.zeros(*self.context._shapes[i]))
        if gradient is None or create_graph:
            return gradient
        # A gradient that is a constant: `backward` with `create_graph` must not go through it.
        if gradient.stop_gradient:
            self.constant[id(held_value(gradient))] = held_value(gradient)
        return held_value(gradient)

    def free(self) -> None:
        super().free()
        # What the context keeps is the memory that `free` is for.
        self.context._saved, self.constant = (), {}


def _flat(got: Sequence[Any] | Tensor) -> list[Any]:
    """Gradients as one list; those of a list of Tensors may come as a list."""
    if isinstance(got, tuple | list):
        return [g for item in got for g in _flat(item)]
    return [got]


def once_differentiable(backward: Any) -> Any:
    """Decorates `PyLayer.backward`: it runs without recording, so the gradients are constants to further
    differentiation.

    Example:
        >>> from paddle_jax.autograd.py_layer import once_differentiable
        >>> class Double(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, g):
        ...         return g * 2
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> Double.apply(x).sum().backward(); x.grad.tolist()
        [2.0, 2.0]
    """

    @ft.wraps(backward)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            return backward(ctx, *grads)

    return wrapped


class PyLayer:
    """Base of operations with a hand-written gradient: define static methods `forward(ctx, ...)` and
    `backward(ctx, *grads)`.

    `backward` gets one gradient for each Tensor output and returns one (or None) for each Tensor input of
    `forward`. With create_graph=True its own computation is recorded, so higher derivatives work.

    Raises:
        ValueError: `forward` returns no Tensor.
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
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the result from Tensors and other arguments; to be overridden."""
        raise NotImplementedError("PyLayer: forward is not defined; define a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Computes gradients of the inputs from those of the outputs; to be overridden."""
        raise NotImplementedError(
            "PyLayer: backward is not defined; define a static method backward(ctx, *grads)"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, ...]:
        """Runs `forward` with gradient recording off and puts one node for it on the tape.

        Raises:
            ValueError: forward returns no Tensor, or an input that is a leaf and not marked with
                `mark_not_inplace`.
        """
        inputs = [
            t
            # Paddle looks for Tensors in lists and tuples among the arguments, one level deep.
            for a in [*args, *kwargs.values()]
            for t in (a if isinstance(a, list | tuple) else (a,))
            if isinstance(t, Tensor)
        ]
        recorded = state.grad and any(not t.stop_gradient for t in inputs)

        def run(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
            # A class per PyLayer, as in Paddle: users see its name in errors.
            context = type(f"{cls.__name__}_backward", (PyLayerContext,), {})()
            fresh = iter(tensors)
            with no_grad():
                forward = Observing.function(cls.forward)
                return context, forward(
                    context,
                    *[_filled(a, fresh) for a in args],
                    **{k: _filled(a, fresh) for k, a in kwargs.items()},
                )

        def call(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
            context, result = run(tensors)
            if isinstance(result, tuple | list):
                outputs = list(result)
            else:
                outputs = [result]
            if not any(isinstance(o, Tensor) for o in outputs):
                raise ValueError(
                    f"{cls.__name__}: forward returned no Tensor; at least one output must be a Tensor"
                )
            node = None
            if recorded:
                outputs, node = _attach(cls, context, tensors, outputs)
            if isinstance(result, tuple | list):
                return make_sequence(type(result), outputs), outputs, node
            return outputs[0], outputs, node

        def taped() -> Tensor | tuple[Tensor, ...]:
            result, outputs, node = call(inputs)
            # JAX would derive the code of `forward` in place of the user's `backward`.
            if recorded and is_traced(inputs):
                teach(lambda tensors: call(tensors)[1:], inputs, outputs, node)
            return result

        return state.frame.custom_gradient(cls, run, inputs, taped)


def _filled(argument: Any, tensors: Any) -> Any:
    """An argument with the next Tensors in place of its own."""
    if isinstance(argument, Tensor):
        return next(tensors)
    if isinstance(argument, list | tuple) and any(isinstance(a, Tensor) for a in argument):
        items = [next(tensors) if isinstance(a, Tensor) else a for a in argument]
        return make_sequence(type(argument), items)
    return argument


def _attach(cls, context: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Any, ...]:
    """Outputs connected to a new tape node: the Tensors that forward made, an input that it returned, or new
    ones where neither can be; the node."""
    node = _PyNode(cls, context, inputs, outputs)
    given = {id(t) for t in inputs}
    attached = []
    for i, out in enumerate(outputs):
        # Whole numbers, and what `forward` has declared so, get no gradient.
        if (
            isinstance(out, Tensor)
            and is_inexact(held_value(out))
            and id(out) not in context._not_differentiable
        ):
            returned = id(out) in given and id(out) not in context._not_in_place
            # Its gradient would go to itself.
            if returned and out._node is None:
                raise ValueError(
                    f"{cls.__name__}: forward returned a leaf that it was given, which counts "
                    "as a change in place; call ctx.mark_not_inplace on it, or return a copy"
                )
            if returned or (out._node is None and out.stop_gradient and id(out) not in given):
                # A version more: it counts as changed in place.
                out._version += returned
                out._node = node
                out._idx = i
                out.stop_gradient = False
            else:
                # A Tensor that is from elsewhere, or that already has a node, stays what it is.
                out = wrap(held_value(out), False, node, i)
        attached.append(out)
    places = {id(t): i for i, t in enumerate(attached) if isinstance(t, Tensor) and t._node is node}
    if context._saved:
        kept = list(context._saved)
        # A saved output is kept without its node, see `_Output`.
        for k, t in enumerate(kept):
            if id(t) in places and id(t) not in given:
                kept[k] = _Output(held_value(t), places[id(t)])
        context._saved = kept
    return attached, node
