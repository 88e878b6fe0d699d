"""Gradients: paddle.grad, paddle.autograd.backward, Jacobians and Hessians, PyLayer."""

from paddle_jax._core.tape import (
    tensor_methods as _tensor_methods,
)  # attaches backward() and others to Tensor
from paddle_jax._core.tape.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from paddle_jax.autograd.autograd import hessian, jacobian
from paddle_jax.autograd.backward_mode import backward, grad
from paddle_jax.autograd.py_layer import PyLayer, PyLayerContext
from paddle_jax.autograd.saved_tensors_hooks import saved_tensors_hooks

Function = PyLayer

__all__ = [
    "Function",
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
]
