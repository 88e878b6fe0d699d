"""The methods and properties of Tensor that need the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from paddle_jax._core.base.errors import ArgumentError, CheckError
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tape import backward as tape
from paddle_jax._core.tape.hooks import RetainGradHook, TensorHookRemoveHelper
from paddle_jax._core.tape.node import Accumulation, Node, ZeroGradNode
from paddle_jax._core.tape.sparse_rows import RowsGrad
from paddle_jax._core.tensors.tensor import Tensor, read_raw, tensor_method, wrap


class GradOfResultError(RuntimeError, SystemError):
    """Code assigns a gradient to the result of a recorded operation. Paddle raises SystemError."""


# the gradient -----------------------------------------------------------------------------------------------


def _get_grad(self: Tensor) -> Tensor | None:
    """The gradient that `backward` accumulated, or None."""
    local.ctx.frame.on_grad_access(self)
    return self._grad


def _set_grad(self: Tensor, value: Any) -> None:
    """Assigns a gradient; one that is there stays the same object and keeps its flag."""
    if value is None and self._node is None:
        clear_gradient(self, False)
        return
    _check_assigned_grad(self, value)
    local.ctx.frame.on_grad_access(self)
    old = self._grad
    gradient: Any = value  # None for the result of an operation was refused above
    if old is None or type(old) is RowsGrad:
        if type(gradient) is RowsGrad:
            self._grad = RowsGrad(gradient.rows(), True)
        else:
            self._grad = wrap(read_raw(gradient))
        return
    if gradient._raw.dtype != old._raw.dtype:
        raise RuntimeError(
            f"Tensor.grad: got a Tensor of {gradient.dtype}; the gradient that is there is "
            f"{old.dtype}; cast it with astype, or assign None first"
        )
    old._fill(read_raw(gradient))


def _check_assigned_grad(tensor: Tensor, value: Any) -> None:
    """Refuses gradients for results of operations, and values that are no Tensor."""
    if tensor._node is not None:
        raise GradOfResultError(
            "(Fatal) Tensor.grad: the tensor is the result of an operation; only leaves "
            "can be given a gradient"
        )
    if not isinstance(value, Tensor):
        raise ArgumentError(f"Tensor.grad: got {type(value).__name__}; assign a Tensor or None")


_get_grad.__name__ = "grad"
_set_grad.__name__ = "grad"
tensor_method(property(_get_grad, _set_grad))


@tensor_method
def clear_gradient(self, set_to_zero: bool = True) -> None:
    """Sets the gradient to zeros, in place, or to None with set_to_zero=False."""
    local.ctx.frame.on_grad_access(self)
    has_rows = isinstance(self._grad, RowsGrad)  # a gradient of some rows goes, as in Paddle
    if not set_to_zero or has_rows:
        self._grad = None
    elif self._grad is not None:
        self._grad._fill(zeros_like(self._grad._raw))


@tensor_method
def clear_grad(self) -> None:
    """Sets the gradient to zeros, in place."""
    self.clear_gradient()


# the history ------------------------------------------------------------------------------------------------


def _get_grad_fn(self: Tensor) -> Node | Accumulation | None:
    """The tape node that produced this tensor; for a leaf that wants a gradient, the step that adds
    to it; else None."""
    if self._node is not None or self.stop_gradient:
        return self._node
    return Accumulation(self)


_get_grad_fn.__name__ = "grad_fn"
tensor_method(property(_get_grad_fn))


@tensor_method
def _end_history(self: Tensor) -> None:
    """Cuts the tensor from what it was computed from, which gets a gradient of zeros."""
    retain_hook = (self._node.hooks or {}).get(self._idx, {}).get(RetainGradHook)
    self._node = ZeroGradNode((self._node, self._idx))
    self._idx = 0
    if retain_hook is not None:  # the Tensor keeps the gradient of the value that was replaced
        self._node.hooks_of(0)["cut"] = lambda grad: retain_hook(
            wrap(jnp.zeros(grad._raw.shape, grad._raw.dtype))
        )


@tensor_method
def backward(
    self,
    grad_tensor: Tensor | None = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: Any = None,
) -> None:
    """Computes gradients of this tensor and adds them to the `grad` of the leaves it depends on.

    Args:
        grad_tensor: Tensor of the same shape, the gradient to start from. Default: ones.
        retain_graph: keep the tape so that backward can be called again.
        dump_backward_graph_path: accepted for compatibility; nothing is written.
    Raises:
        AssertionError: grad_tensor is no Tensor, or of another shape.
        TypeError: retain_graph is not a bool.
        RuntimeError: the tape was freed by an earlier backward.
    Example:
        >>> x = paddle.to_tensor([2.0], stop_gradient=False); (x * x).backward(); x.grad.tolist()
        [4.0]
    """
    if grad_tensor is not None:
        _check_start_grad(self, grad_tensor)
    if not isinstance(retain_graph, bool):
        raise TypeError(f"backward: retain_graph: got {type(retain_graph).__name__}; it must be a bool")
    tape.backward([self], [grad_tensor], retain_graph)


def _check_start_grad(tensor: Tensor, grad: Any) -> None:
    """Refuses a gradient to start from that does not have the shape of the tensor."""
    if isinstance(grad, Tensor):
        if grad._raw.shape == tensor._raw.shape:
            return
        got = f"shape {list(grad.shape)}"
    else:
        got = type(grad).__name__
    raise CheckError(
        f"backward: grad_tensor: got {got}; it must be a Tensor of shape {list(tensor.shape)}, or None"
    )


# hooks ------------------------------------------------------------------------------------------------------


@tensor_method
def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
    """Calls `hook(grad)` when the gradient of this tensor is known; a Tensor it returns
    replaces the gradient.

    Returns:
        A helper whose `remove()` takes the hook away.
    Raises:
        RuntimeError: the tensor has stop_gradient=True.
    """
    if self.stop_gradient:
        raise RuntimeError(
            "register_hook: the tensor has stop_gradient=True, so it gets no gradient; "
            "set stop_gradient = False first"
        )
    local.ctx.frame.on_hook(self)
    if self._node is not None:
        return TensorHookRemoveHelper(self._node.hooks_of(self._idx), hook)
    if self._hooks is None:
        self._hooks = {}
    return TensorHookRemoveHelper(self._hooks, hook)


@tensor_method
def retain_grads(self) -> None:
    """Makes `backward` keep the gradient of this non-leaf tensor in `grad`."""
    if not self.stop_gradient and self._node is not None:
        hooks = self._node.hooks_of(self._idx)
        hooks.setdefault(RetainGradHook, RetainGradHook(self))
