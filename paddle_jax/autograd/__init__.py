"""Gradients: paddle.grad, paddle.autograd.backward, PyLayer."""

from paddle_jax._core.autograd_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from paddle_jax.autograd.backward_mode import backward, grad
from paddle_jax.autograd.py_layer import PyLayer, PyLayerContext

__all__ = ["PyLayer", "PyLayerContext", "backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]
