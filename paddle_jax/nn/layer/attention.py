"""Multi-head attention."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.common import Linear
from paddle_jax.nn.layer.helpers import length_of
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.creation import zeros
from paddle_jax.tensor.joining import concat

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike, ParamAttrLike
    from paddle_jax._core.tensors.tensor import Tensor


Cache = collections.namedtuple("Cache", ["k", "v"])
StaticCache = collections.namedtuple("StaticCache", ["k", "v"])


def _convert_attention_mask(attn_mask: Tensor | None, dtype: DTypeLike) -> Tensor | None:
    """A mask to add to attention scores: bool and int masks become 0 where 1 and about -1e9 where 0."""
    if attn_mask is None:
        return None
    dtype = dtypes.convert(dtype)
    # A float mask is added to the scores as it is.
    if attn_mask.dtype.is_floating:
        return attn_mask.astype(dtype)
    # float16 ends at 65504.
    distance = 6.0e4 if dtype is dtypes.float16 else 1e9
    # True becomes 0, False a score so low that its weight is 0.
    return (attn_mask.astype(dtype) - 1.0) * distance


class MultiHeadAttention(Layer):
    """Attends with several heads: each output is a mean of values, weighted by how well keys match the query.

    Args:
        embed_dim: int, the length of queries and outputs.
        num_heads: int, a divisor of embed_dim.
        dropout: float, probability of dropout of weights.
        kdim: int, the length of keys. Default: embed_dim.
        vdim: int, the length of values. Default: embed_dim.
        need_weights: bool, also return the weights.
        weight_attr: ParamAttr of the weights of all projections.
        bias_attr: ParamAttr of their biases; False for none.
    Attributes:
        embed_dim, num_heads, dropout, need_weights: as given.
        kdim, vdim: int, lengths of keys and values; embed_dim where none is given.
        head_dim: int, embed_dim // num_heads.
        q_proj, k_proj, v_proj: Linear, from queries, keys and values to embed_dim.
        out_proj: Linear, of the heads together.
    Raises:
        AssertionError: a size is not positive or num_heads does not divide embed_dim.
    Example:
        >>> paddle.nn.MultiHeadAttention(8, 2)(paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 5, 8])
    See: Vaswani et al., Attention Is All You Need, 2017, section 3.2.2.
    """

    Cache = Cache
    StaticCache = StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise AssertionError(
                f"MultiHeadAttention: got embed_dim={embed_dim}, num_heads={num_heads}; "
                "both must be above 0 and num_heads must divide embed_dim"
            )
        self.embed_dim = embed_dim
        self.kdim: int = embed_dim if kdim is None else kdim
        self.vdim: int = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.need_weights = need_weights
        self.head_dim: int = embed_dim // num_heads
        self.q_proj: Linear = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj: Linear = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj: Linear = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj: Linear = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Tensor) -> Tensor:
        if x.ndim != 3:
            raise ValueError(
                "MultiHeadAttention: query, key and value must have 3 axes [batch, length, "
                f"features]; got one of {x.ndim}, which is {list(x.shape)} after its projection"
            )
        # 0 keeps a length of x, whatever it is.
        return x.reshape([0, 0, self.num_heads, self.head_dim]).transpose([0, 2, 1, 3])

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Projects keys and values: [B, L, kdim], [B, L, vdim] -> two [B, heads, L, head_dim]."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(
        self, key: Tensor, value: Tensor | None = None, type: type[Cache] | type[StaticCache] = Cache
    ) -> Cache | StaticCache:
        """Makes a cache for decoding step by step.

        Args:
            key: Tensor [B, L, kdim]; with type Cache and a value, projected keys.
            value: Tensor; with type StaticCache default: key.
            type: `Cache` grows with each step; `StaticCache` holds projected keys and values of a memory.
        Returns:
            Cache(k, v) of length 0, or holding key and value; or StaticCache(k, v).
        """
        if type is MultiHeadAttention.StaticCache:
            # Keys of an encoder are projected once for all steps.
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return Cache(key, value)
        # Nothing is decoded yet: the length is 0.
        empty = [length_of(key, 0), self.num_heads, 0, self.head_dim]
        return Cache(zeros(empty, dtype=key.dtype), zeros(empty, dtype=key.dtype))

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Cache | StaticCache | None = None,
    ) -> Tensor:  # with weights or a cache a tuple
        """Returns the output [B, L, embed_dim]; with need_weights also the weights; with a cache
        also the new cache.

        Args:
            query: Tensor [B, L, embed_dim].
            key: Tensor [B, S, kdim]. Default: query.
            value: Tensor [B, S, vdim]. Default: query.
            attn_mask: Tensor that broadcasts to [B, heads, L, S]: bool or int, 0 where not to attend; or
                floats that are added.
            cache: from `gen_cache`.
        """
        q, k, v, *rest = self._prepare_qkv(
            query, query if key is None else key, query if value is None else value, cache
        )
        cache = rest[0] if rest else None
        out, weights = self._attend(q, k, v, attn_mask)
        # The order of the extra results is Paddle's: weights, then the cache.
        extra = [weights] if self.need_weights else []
        extra += [] if cache is None else [cache]
        if extra:
            outputs: Any = (out, *extra)
            return outputs
        return out

    def _prepare_qkv(
        self, query: Tensor, key: Tensor, value: Tensor, cache: Cache | StaticCache | None = None
    ) -> tuple[Any, ...]:
        """The projected queries, keys and values, each [B, heads, L, head_dim]; with a cache also the new
        cache. Subclasses call it."""
        q = self._heads(self.q_proj(query))
        # A StaticCache holds the projected memory of an encoder: nothing to project or append.
        if isinstance(cache, StaticCache):
            return q, *cache, cache
        k, v = self.compute_kv(key, value)
        if isinstance(cache, Cache):
            k = concat([cache.k, k], axis=2)
            v = concat([cache.v, v], axis=2)
            cache = Cache(k, v)
        if cache is None:
            return (q, k, v)
        return (q, k, v, cache)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None) -> tuple[Tensor, Tensor]:
        # The queries are scaled, which are fewer numbers than the scores.
        scores = (q * self.head_dim**-0.5) @ k.transpose([0, 1, 3, 2])
        if attn_mask is not None:
            scores = scores + _convert_attention_mask(attn_mask, scores.dtype)
        weights = F.softmax(scores)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training, mode="upscale_in_train")
        out = (weights @ v).transpose([0, 2, 1, 3])
        return self.out_proj(out.reshape([0, 0, self.embed_dim])), weights


__all__ = ["MultiHeadAttention"]
