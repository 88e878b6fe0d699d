"""Functions of neural networks for sparse Tensors (`paddle.sparse.nn.functional`)."""

from paddle_jax.sparse.nn.functional.activation import leaky_relu, relu, relu6, softmax
from paddle_jax.sparse.nn.functional.conv import (
    conv2d,
    conv3d,
    subm_conv2d,
    subm_conv2d_igemm,
    subm_conv3d,
    subm_conv3d_igemm,
)
from paddle_jax.sparse.nn.functional.pooling import max_pool3d
from paddle_jax.sparse.nn.functional.transformer import attention

__all__ = [
    "conv2d",
    "conv3d",
    "subm_conv2d",
    "subm_conv2d_igemm",
    "subm_conv3d",
    "subm_conv3d_igemm",
    "max_pool3d",
    "relu",
    "relu6",
    "leaky_relu",
    "softmax",
    "attention",
]
