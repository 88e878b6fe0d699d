"""Derivatives of results that are already computed, forwards and backwards, and the switch for
primitive operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.ops.prim_switches import Prim
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.autograd.autograd import gradients, pushed
from paddle_jax.tensor.creation import ones_like


def _tensors(value: Any, what: str) -> list[Any]:
    if isinstance(value, list | tuple):
        found = list(value)
    else:
        found = [value]
    for t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"{what}: got {type(t).__name__}; it must be a Tensor or a list of Tensors")
    return found


def _directions(given: Tensor | None, like: Sequence[Tensor], what: str) -> list[Any]:
    if given is None:
        found = [ones_like(t) for t in like]
    else:
        found = _tensors(given, what)
    # Not strict: another number of directions has a message of its own below.
    for d, t in zip(found, like, strict=False):
        if list(d.shape) != list(t.shape):
            raise RuntimeError(f"{what}: got shape {list(d.shape)}; it must be {list(t.shape)}")
    if len(found) != len(like):
        raise RuntimeError(f"{what}: got {len(found)} Tensors; {len(like)} are needed")
    return found


def forward_grad(
    outputs: Any, inputs: Any, grad_inputs: Sequence[Tensor] | None = None
) -> Tensor | list[Tensor]:
    """The change of results when their inputs change in a direction: the product of the
    Jacobian matrix with it.

    The derivative of the backward product by its direction, so it can be differentiated again.

    Differs from Paddle: works where operations run when they are called; Paddle allows it in
        static programs only.

    Args:
        outputs: Tensor or list of Tensors, computed from the inputs.
        inputs: Tensor or list of Tensors.
        grad_inputs: Tensors of the shapes of the inputs, the direction. Default: ones.
    Returns:
        Tensor or list of Tensors like the outputs.
    Raises:
        TypeError: something is no Tensor. RuntimeError: a direction has a wrong shape.
    Example:
        >>> x = paddle.to_tensor([1.0, 3.0], stop_gradient=False)
        >>> paddle.incubate.autograd.forward_grad(x * x, x, paddle.to_tensor([1.0, 0.5])).tolist()
        [2.0, 3.0]
    """
    outs = _tensors(outputs, "forward_grad: outputs")
    ins = _tensors(inputs, "forward_grad: inputs")
    found = pushed(outs, ins, _directions(grad_inputs, ins, "forward_grad: grad_inputs"))
    if isinstance(outputs, list | tuple):
        return found
    return found[0]


def grad(outputs: Any, inputs: Any, grad_outputs: Sequence[Tensor] | None = None) -> Tensor | list[Tensor]:
    """Gradients of the sum of results; they can be differentiated again. Zeros where nothing depends.

    Differs from Paddle: works where operations run when they are called; Paddle allows it in
        static programs only.

    Args:
        outputs: Tensor or list of Tensors.
        inputs: Tensor or list of Tensors.
        grad_outputs: Tensors of the shapes of the outputs, factors. Default: ones.
    Returns:
        Tensor or list of Tensors like the inputs.
    Raises:
        TypeError: something is no Tensor. RuntimeError: a factor has a wrong shape.
    Example:
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> first = paddle.incubate.autograd.grad(x**3, x)
        >>> first.item(), paddle.incubate.autograd.grad(first, x).item()
        (27.0, 18.0)
    """
    outs = _tensors(outputs, "grad: outputs")
    ins = _tensors(inputs, "grad: inputs")
    found = gradients(outs, ins, _directions(grad_outputs, outs, "grad: grad_outputs"))
    if isinstance(inputs, list | tuple):
        return found
    return found[0]


def enable_prim() -> None:
    """Turns the switch for primitive operations on. Nothing changes: derivatives are always made of them.

    Differs from Paddle: works where operations run when they are called; Paddle allows it in
        static programs only.

    Example:
        >>> paddle.incubate.autograd.enable_prim(); paddle.incubate.autograd.prim_enabled()
        True
        >>> paddle.incubate.autograd.disable_prim()
    """
    Prim.incubate = True


def disable_prim() -> None:
    """Turns the switch for primitive operations off.

    Example:
        >>> paddle.enable_static()
        >>> paddle.incubate.autograd.enable_prim()
        >>> paddle.incubate.autograd.disable_prim()
        >>> paddle.incubate.autograd.prim_enabled()
        False
        >>> paddle.disable_static()
    """
    Prim.incubate = False


def prim_enabled() -> bool:
    """Whether the switch for primitive operations is on.

    Returns:
        bool.
    Differs from Paddle: works where operations run when they are called; Paddle allows it in
        static programs only.

    Example:
        >>> paddle.incubate.autograd.prim_enabled()
        False
    """
    return Prim.incubate
