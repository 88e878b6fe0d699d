"""Layers that stand for several at once (`paddle.incubate.nn`)."""

from paddle_jax.incubate.nn import functional as functional
from paddle_jax.incubate.nn.layer.fused_dropout_add import FusedDropoutAdd
from paddle_jax.incubate.nn.layer.fused_dropout_nd import FusedDropout
from paddle_jax.incubate.nn.layer.fused_linear import FusedLinear
from paddle_jax.incubate.nn.layer.fused_transformer import (
    FusedBiasDropoutResidualLayerNorm,
    FusedFeedForward,
    FusedMultiHeadAttention,
    FusedMultiTransformer,
    FusedTransformerEncoderLayer,
)

__all__ = [
    "FusedMultiHeadAttention",
    "FusedFeedForward",
    "FusedTransformerEncoderLayer",
    "FusedMultiTransformer",
    "FusedLinear",
    "FusedBiasDropoutResidualLayerNorm",
    "FusedDropoutAdd",
]
