"""paddle.compat.nn: layers with PyTorch's signatures and parameter layouts."""

from paddle_jax.compat.nn import functional as functional
from paddle_jax.compat.nn.attention import MultiheadAttention
from paddle_jax.compat.nn.layers import (
    AvgPool1D,
    AvgPool1D as AvgPool1d,
    AvgPool2D,
    AvgPool2D as AvgPool2d,
    AvgPool3D,
    AvgPool3D as AvgPool3d,
    Linear,
    Softmax,
    Unfold,
)

__all__ = [
    "Unfold",
    "Linear",
    "Softmax",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MultiheadAttention",
]
