"""Layers of sparse Tensors."""

from paddle_jax.sparse.nn.layer.activation import LeakyReLU, ReLU, ReLU6, Softmax
