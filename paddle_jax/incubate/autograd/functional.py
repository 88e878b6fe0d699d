"""Derivatives of functions of Tensors: products with the Jacobian from both sides, Jacobian and
Hessian matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.autograd.autograd import LazyRows, gradients, live_gradients, pushed
from paddle_jax.tensor.creation import clone, ones_like
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.manipulation import reshape


def _listed(values: Sequence[Tensor] | Tensor) -> list[Any]:
    if isinstance(values, list | tuple):
        return list(values)
    return [values]


def _start(func: Callable[..., Any], xs: Sequence[Tensor] | Tensor) -> tuple[Any, list[Any], list[Any]]:
    """Results of the function at copies of xs that wait for gradients: (as the function gives them, as a
    list, the copies). What is computed from the copies flows back to those of xs that want gradients."""
    if not all(isinstance(x, Tensor) for x in _listed(xs)):
        raise ArgumentError(f"xs: got {type(xs).__name__}; it must be a Tensor or a list of Tensors")
    # A clone keeps the history of x, so that results can be differentiated by what x was made of.
    inputs = [x.detach() if x.stop_gradient else clone(x) for x in _listed(xs)]
    for x in inputs:
        x.stop_gradient = False
    made = func(*inputs)
    if not all(isinstance(y, Tensor) for y in _listed(made)):
        raise ArgumentError(
            f"func: it returned {type(made).__name__}; it must return a Tensor or a tuple of Tensors"
        )
    return made, _listed(made), inputs


def _directions(v: Sequence[Tensor] | Tensor | None, like: Sequence[Tensor]) -> list[Any]:
    """The directions, ones by default, one for each tensor."""
    if v is None:
        found = [ones_like(t) for t in like]
    else:
        found = _listed(v)
    if not all(isinstance(d, Tensor) for d in found):
        raise ArgumentError(f"v: got {type(v).__name__}; it must be a Tensor or a list of Tensors")
    if len(found) != len(like):
        raise RuntimeError(f"v: got {len(found)} tensors; {len(like)} are needed")
    for i, (d, t) in enumerate(zip(found, like, strict=True)):
        if list(d.shape) != list(t.shape):
            raise RuntimeError(f"v[{i}]: got shape {list(d.shape)}; it must be {list(t.shape)}")
    return found


def _plain(values: Sequence[Tensor], like: Sequence[Tensor] | Tensor) -> Tensor | tuple[Tensor, ...]:
    if isinstance(like, list | tuple) or len(values) > 1:
        return tuple(values)
    return values[0]


def vjp(func: Callable[..., Any], xs: Any, v: Sequence[Tensor] | None = None) -> Any:
    """The product of v with the Jacobian of a function: what reverse mode computes.

    Args:
        func: function of Tensors that returns a Tensor or a tuple of Tensors.
        xs: Tensor or list of Tensors, the arguments; gradients flow back to those that want them.
        v: Tensors of the shapes of the results. Default: ones.
    Returns:
        (results, products of the shapes of xs).
    Raises:
        RuntimeError: v has wrong shapes.
    Example:
        >>> y, g = paddle.incubate.autograd.vjp(lambda x: x * x, paddle.to_tensor([1.0, 3.0]))
        >>> g.tolist()
        [2.0, 6.0]
    """
    made, outputs, inputs = _start(func, xs)
    return made, _plain(gradients(outputs, inputs, _directions(v, outputs)), xs)


def jvp(func: Callable[..., Any], xs: Any, v: Sequence[Tensor] | None = None) -> Any:
    """The product of the Jacobian of a function with v: the change of the results when xs changes by v.

    Computed as the derivative of the reverse product by its direction, so it can be
    differentiated like all else.

    Args:
        func: function of Tensors that returns a Tensor or a tuple of Tensors.
        xs: Tensor or list of Tensors, the arguments; gradients flow back to those that want them.
        v: Tensors of the shapes of xs. Default: ones.
    Returns:
        (results, products of the shapes of the results).
    Raises:
        RuntimeError: v has wrong shapes.
    Example:
        >>> y, t = paddle.incubate.autograd.jvp(lambda x: x * x, paddle.to_tensor([1.0, 3.0]),
        ...                                     paddle.to_tensor([1.0, 0.5]))
        >>> t.tolist()
        [2.0, 3.0]
    """
    made, outputs, inputs = _start(func, xs)
    return made, _plain(pushed(outputs, inputs, _directions(v, inputs)), made)


def _flat(tensors: Sequence[Tensor], batched: bool) -> Tensor:
    """Tensors as one of shape [n], or [batch, n]."""
    # The axis of samples stays.
    keep = [tensors[0].shape[0]] if batched else []
    flat = [reshape(t, [*keep, -1]) for t in tensors]
    if len(flat) == 1:
        return flat[0]
    return concat(flat, -1)


class Jacobian(LazyRows):
    """The Jacobian matrix of a function. Rows are computed when they are looked at.

    Args:
        func: function of Tensors that returns a Tensor or a tuple of Tensors.
        xs: Tensor or list of Tensors, the arguments.
        is_batched: the first axis of arguments and results is one of independent samples.
    Shape:
        (n, m), or (batch, n, m): n numbers in the results, m in the arguments.
    Example:
        >>> J = paddle.incubate.autograd.Jacobian(lambda x: x * x, paddle.to_tensor([1.0, 3.0]))
        >>> J[:].tolist(), J[1, 1].item()
        ([[2.0, 0.0], [0.0, 6.0]], 6.0)
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        _, outputs, inputs = _start(func, xs)
        super().__init__(_flat(outputs, is_batched), inputs, is_batched)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, as a tuple."""
        return tuple(self._lengths)


class Hessian(LazyRows):
    """The matrix of second derivatives of a function that returns one number, or one per sample.

    Args:
        func: function of Tensors that returns a Tensor of one element, or [batch, 1].
        xs: Tensor or list of Tensors, the arguments.
        is_batched: the first axis of arguments and results is one of independent samples.
    Shape:
        (m, m), or (batch, m, m).
    Raises:
        RuntimeError: the function returns something else.
    Example:
        >>> H = paddle.incubate.autograd.Hessian(lambda x: (x * x * x).sum(), paddle.to_tensor([1.0, 2.0]))
        >>> H[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        _, outputs, inputs = _start(func, xs)
        if len(outputs) != 1 or (
            list(outputs[0].shape[1:]) not in ([], [1]) if is_batched else outputs[0].size != 1
        ):
            got = [list(y.shape) for y in outputs]
            raise RuntimeError(
                f"Hessian: the function gives shapes {got}; it must give one number, "
                "or one per sample when is_batched"
            )
        # The Hessian is the Jacobian of the gradients, whose graph is kept.
        super().__init__(_flat(live_gradients(outputs[0], inputs), is_batched), inputs, is_batched)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, as a tuple."""
        return tuple(self._lengths)
