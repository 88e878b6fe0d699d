"""Attention under the name of the fused kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.flash_attention import scaled_dot_product_attention

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fused_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: Any = 0.0,
    is_causal: bool = False,
    scaling_factor: Any = None,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """softmax(scale * query @ key^T + mask) @ value, for each head.

    Args:
        query: Tensor [batch, query length, heads, width].
        key, value: Tensors [batch, key length, heads, width]; fewer heads are shared by
            neighbouring query heads.
        attn_mask: Tensor of the dtype of query that broadcasts with [batch, heads, query length, key length],
            added to the products.
        dropout_p: probability of dropping a weight while training.
        is_causal: position i sees keys 0..i only; there must be no mask then.
        scaling_factor: factor of the products. Default: 1 / sqrt(width).
        training: False drops nothing.
    Returns:
        Tensor [batch, query length, heads, width].
    Raises:
        AssertionError: the mask has another dtype, or is given with is_causal.
        ValueError: shapes do not fit.
    Example:
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> paddle.incubate.nn.functional.fused_dot_product_attention(x, x, x).shape
        paddle.Size([1, 3, 2, 4])
    """
    if attn_mask is not None and (is_causal or attn_mask.dtype is not query.dtype):
        raise AssertionError(
            f"fused_dot_product_attention: attn_mask: got dtype {attn_mask.dtype} with "
            f"is_causal={is_causal}; it must be {query.dtype}, and None with is_causal"
        )
    return scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, training, scale=scaling_factor
    )
