"""Attention in PyTorch's layout, heads before positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.nn.functional.sdpa import attention

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_NAME = "scaled_dot_product_attention"


def scaled_dot_product_attention(
    query: Tensor,
    key: Any,
    value: Any,
    attn_mask: Tensor | None = None,
    dropout_p: Any = 0.0,
    is_causal: Any = False,
    scale: Any = None,
    enable_gqa: Any = False,
) -> Any:
    """softmax(scale * query @ key^T + mask) @ value, for each head.

    Args:
        query: Tensor [batch, heads, query length, width], or without batch.
        key, value: Tensors [batch, heads, key length, width].
        attn_mask: Tensor broadcastable with [batch, heads, query length, key length]: bool (True takes part)
            or floating (added).
        dropout_p: probability of dropping a weight; it is dropped in evaluation too.
        is_causal: position i sees keys 0..i only.
        scale: factor of the products. Default: 1 / sqrt(width).
        enable_gqa: allow fewer key heads than query heads, each shared by neighbouring query heads.
    Returns:
        Tensor [batch, heads, query length, width of value].
    Raises:
        ValueError: shapes or dtypes do not fit.
        IndexError: a tensor has fewer than 3 axes.
        AssertionError: the numbers of heads do not fit.
        RuntimeError: both attn_mask and is_causal are given.
        TypeError: attn_mask is neither bool nor floating.
    Example:
        >>> x = paddle.ones([1, 2, 3, 4])
        >>> paddle.compat.nn.functional.scaled_dot_product_attention(x, x, x).shape
        paddle.Size([1, 2, 3, 4])

    See: Vaswani et al., Attention Is All You Need, 2017, section 3.2.
    """
    _check(query, key, value, attn_mask, is_causal, enable_gqa)
    single = query.ndim == 3
    q, k, v = query, key, value
    if single:
        q, k, v = (t.unsqueeze(0) for t in (query, key, value))
    batch = max(t.shape[0] for t in (q, k, v))
    q, k, v = (t.expand([batch, *t.shape[1:]]) if t.shape[0] == 1 != batch else t for t in (q, k, v))
    out = attention(
        _NAME, *(t.transpose([0, 2, 1, 3]) for t in (q, k, v)), attn_mask, dropout_p, is_causal, scale, None
    ).transpose([0, 2, 1, 3])
    if single:
        return out.squeeze(0)
    return out


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: Any, enable_gqa: Any) -> None:
    if mask is not None and is_causal:
        raise RuntimeError(f"{_NAME}: got both attn_mask and is_causal=True; give one of them")
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.ndim not in (3, 4) or t.ndim != query.ndim:
            error = IndexError if t.ndim < 3 else ValueError
            raise error(
                f"{_NAME}: {name}: got {t.ndim} axes; all three must be [batch, heads, length, "
                "width] or [heads, length, width]"
            )
    if not query.dtype is key.dtype is value.dtype:
        raise ValueError(
            f"{_NAME}: got dtypes {query.dtype}, {key.dtype}, {value.dtype}; they must be the same"
        )
    if mask is not None and numpy_dtype(mask).kind in "iuc":
        raise TypeError(f"{_NAME}: attn_mask: got {mask.dtype}; it must be bool or floating")
    heads = [t.shape[-3] for t in (query, key, value)]
    of_query, of_key, of_value = heads
    fit = of_query == of_key
    if enable_gqa and of_key:
        fit = of_query % of_key == 0  # several heads of queries share one of keys
    if of_key != of_value or not fit:
        raise AssertionError(
            f"{_NAME}: got {heads} heads; key and value must have as many as query, "
            "or with enable_gqa a divisor of it"
        )
