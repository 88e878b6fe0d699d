"""Layers of sparse Tensors (`paddle.sparse.nn`)."""

from paddle_jax.sparse.nn import functional as functional
from paddle_jax.sparse.nn.layer.activation import LeakyReLU, ReLU, ReLU6, Softmax
from paddle_jax.sparse.nn.layer.conv import Conv2D, Conv3D, SubmConv2D, SubmConv3D
from paddle_jax.sparse.nn.layer.norm import BatchNorm, SyncBatchNorm
from paddle_jax.sparse.nn.layer.pooling import MaxPool3D

__all__ = [
    "ReLU",
    "ReLU6",
    "LeakyReLU",
    "Softmax",
    "BatchNorm",
    "SyncBatchNorm",
    "Conv2D",
    "Conv3D",
    "SubmConv2D",
    "SubmConv3D",
    "MaxPool3D",
]
