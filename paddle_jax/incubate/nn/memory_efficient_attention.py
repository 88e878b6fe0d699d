"""Attention under the name of the kernel that keeps no matrix of scores."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.incubate.nn.attn_bias import (
    AttentionBias,
    BlockDiagonalCausalMask,
    BlockDiagonalCausalWithOffsetPaddedKeysMask,
    BlockDiagonalMask,
    LowerTriangularMask,
    LowerTriangularMaskWithTensorBias,
)
from paddle_jax.nn.functional.sdpa import attention

SUPPORTED_ATTN_BIAS_TYPES = {
    type(None),
    Tensor,
    LowerTriangularMask,
    LowerTriangularMaskWithTensorBias,
    BlockDiagonalMask,
    BlockDiagonalCausalMask,
    BlockDiagonalCausalWithOffsetPaddedKeysMask,
}


def memory_efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    p: Any = 0.0,
    scale: Any = None,
    training: bool = True,
) -> Tensor:
    """softmax(scale * query @ key^T + attn_bias) @ value, for each head.

    Differs from Paddle: works on the CPU.

    Args:
        query: Tensor [batch, query length, heads, width].
        key, value: Tensors [batch, key length, heads, width].
        attn_bias: Tensor that broadcasts with [batch, heads, query length, key length], or a mask of
            `paddle.incubate.nn.attn_bias`.
        p: probability of dropping a weight while training.
        scale: factor of the products. Default: 1 / sqrt(width).
        training: False drops nothing.
    Returns:
        Tensor [batch, query length, heads, width].
    Raises:
        AssertionError: attn_bias is of another kind.
        ValueError: shapes do not fit.
    Example:
        >>> from paddle_jax.incubate.nn.memory_efficient_attention import memory_efficient_attention
        >>> x = paddle.ones([1, 3, 2, 4]); memory_efficient_attention(x, x, x).shape
        paddle.Size([1, 3, 2, 4])

    See: Rabe and Staats, Self-attention Does Not Need O(n^2) Memory, 2021.
    """
    if not isinstance(attn_bias, tuple(SUPPORTED_ATTN_BIAS_TYPES)):
        raise AssertionError(
            f"memory_efficient_attention: attn_bias: got {type(attn_bias).__name__}; "
            "it must be a Tensor or a mask of attn_bias"
        )
    # The exact class: its subclass has numbers to add.
    causal = type(attn_bias) is LowerTriangularMask
    if causal:
        # Causality alone is a flag of the kernel: no matrix is made.
        attn_bias = None
    elif isinstance(attn_bias, AttentionBias):
        shape = [query.shape[0], query.shape[2], query.shape[1], key.shape[1]]
        # A bias may differ by batch and head; other masks are the same for all.
        attn_bias = attn_bias.materialize(
            shape if isinstance(attn_bias, LowerTriangularMaskWithTensorBias) else [1, 1, *shape[2:]]
        )
    return attention(
        "memory_efficient_attention",
        query,
        key,
        value,
        attn_bias,
        p if training else 0.0,
        causal,
        scale,
        None,
    )
