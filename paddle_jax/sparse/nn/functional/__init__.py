"""Functions of neural networks for sparse Tensors (`paddle.sparse.nn.functional`)."""

from paddle_jax.sparse.nn.functional.activation import leaky_relu, relu, relu6, softmax

__all__ = ["relu", "relu6", "leaky_relu", "softmax"]
