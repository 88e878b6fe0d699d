"""Attention of a batch whose sequences have different lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.sdpa import attention
from paddle_jax.tensor.creation import zeros_like
from paddle_jax.tensor.manipulation import cast, reshape, transpose
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def variable_length_memory_efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seq_lens: Tensor,
    kv_seq_lens: Tensor,
    mask: Tensor | None = None,
    scale: Any = None,
    causal: bool = False,
    pre_cache_length: Any = 0,
) -> Tensor:
    """softmax(scale * query @ key^T + mask) @ value, for each head; of each sequence only what
    its lengths say.

    Args:
        query: Tensor [batch, heads, query length, width].
        key, value: Tensors [batch, key heads, key length, width]; fewer heads are shared by
            neighbouring query heads.
        seq_lens, kv_seq_lens: int Tensors [batch, 1]: how many queries and keys count.
        mask: Tensor that broadcasts with [batch, heads, query length, key length], added to the products.
        scale: factor of the products. Default: 1 / sqrt(width).
        causal: query i sees keys 0..i + pre_cache_length only.
        pre_cache_length: how many keys stand before those of the first query.
    Returns:
        Tensor [batch, heads, query length, width]; zeros for queries that do not count.
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x, n = paddle.ones([1, 1, 2, 4]), paddle.to_tensor([[1]], dtype="int32")
        >>> paddle.incubate.nn.functional.variable_length_memory_efficient_attention(x, x, x, n, n).sum(
        ...     -1).flatten().tolist()
        [4.0, 0.0]
    """
    queries = arange(query.shape[2])
    keys = arange(key.shape[2])
    counts = reshape(queries, [1, 1, -1, 1]) < reshape(cast(seq_lens, "int64"), [-1, 1, 1, 1])
    seen = reshape(keys, [1, 1, 1, -1]) < reshape(cast(kv_seq_lens, "int64"), [-1, 1, 1, 1])
    if causal:
        seen = seen & (reshape(keys, [1, 1, 1, -1]) <= reshape(queries, [1, 1, -1, 1]) + pre_cache_length)
    # Not infinity: a row without keys would be NaN.
    bias = where(seen, zeros_like(cast(seen, "float32")), zeros_like(cast(seen, "float32")) - 1e30)
    if mask is not None:
        bias = bias + cast(mask, "float32")
    # `attention` has [batch, length, heads, width].
    q, k, v = (transpose(t, [0, 2, 1, 3]) for t in (query, key, value))
    out = attention("variable_length_memory_efficient_attention", q, k, v, bias, 0.0, False, scale, None)
    out = transpose(out, [0, 2, 1, 3])
    # Rows behind the end of a sequence are zeros.
    return where(counts, out, zeros_like(out))
