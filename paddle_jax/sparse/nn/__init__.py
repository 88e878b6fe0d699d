"""Layers of sparse Tensors (`paddle.sparse.nn`)."""

from paddle_jax.sparse.nn import functional
from paddle_jax.sparse.nn.layer.activation import LeakyReLU, ReLU, ReLU6, Softmax

__all__ = ["ReLU", "ReLU6", "LeakyReLU", "Softmax"]
