"""Multi-head attention with PyTorch's signature and parameter layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.compat.nn import functional as C
from paddle_jax.compat.nn.layers import Linear
from paddle_jax.nn.functional.sdpa import attention
from paddle_jax.nn.initializer import Constant, XavierNormal, XavierUniform
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.creation import to_tensor, zeros
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.manipulation import cast
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


class MultiheadAttention(Layer):
    """Attends with several heads: each output is a mean of values, weighted by how well keys match the query.

    Args:
        embed_dim: int, the length of queries and outputs.
        num_heads: int, a divisor of embed_dim.
        dropout: float, probability of dropout of weights while training.
        bias: bool, projections have biases.
        add_bias_kv: bool, append a learned key and value.
        add_zero_attn: bool, append a key and a value of zeros.
        kdim, vdim: int, the lengths of keys and values. Default: embed_dim.
        batch_first: bool, tensors are [batch, length, dim], not [length, batch, dim].
        device: where the parameters are put.
        dtype: their dtype. Default: the default floating dtype.
    Attributes:
        in_proj_weight, in_proj_bias: Parameters [3 embed_dim, embed_dim] and [3 embed_dim], of queries, keys
            and values one below the other, when all have the length embed_dim. Otherwise q_proj_weight,
            k_proj_weight, v_proj_weight and q_proj_bias, k_proj_bias, v_proj_bias.
        out_proj: Linear.
        bias_k, bias_v: Parameters [1, 1, embed_dim] with add_bias_kv.
    Raises:
        AssertionError: a size is not positive or num_heads does not divide embed_dim.
    Example:
        >>> x = paddle.rand([5, 2, 8])
        >>> out, weights = paddle.compat.nn.MultiheadAttention(8, 2)(x, x, x)
        >>> weights.shape
        paddle.Size([2, 5, 5])

    See: Vaswani et al., Attention Is All You Need, 2017, section 3.2.2.
    """

    batch_first: bool
    dropout: float
    embed_dim: int
    head_dim: int
    kdim: int
    num_heads: int
    vdim: int

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise AssertionError(
                f"MultiheadAttention: got embed_dim={embed_dim}, num_heads={num_heads}; "
                "both must be above 0 and num_heads must divide embed_dim"
            )
        self.embed_dim, self.kdim, self.vdim = (
            embed_dim,
            embed_dim if kdim is None else kdim,
            embed_dim if vdim is None else vdim,
        )
        self.num_heads, self.dropout, self.batch_first, self.head_dim = (
            num_heads,
            dropout,
            batch_first,
            embed_dim // num_heads,
        )
        self.add_bias_kv = add_bias_kv
        self.add_zero_attn = add_zero_attn

        def parameter(wanted: bool, shape: Any, initializer: Any, is_bias: bool = False) -> Tensor | None:
            if wanted:
                return self.create_parameter(shape, None, dtype, is_bias, initializer, device)
            return None

        # As PyTorch: one parameter for all three where their widths agree, which state dicts show.
        packed = self.kdim == self.vdim == embed_dim
        self.in_proj_weight: Tensor | None = parameter(packed, [3 * embed_dim, embed_dim], XavierUniform())
        self.in_proj_bias: Tensor | None = parameter(packed and bias, [3 * embed_dim], Constant(0.0), True)
        for name, length in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            setattr(self, f"{name}_proj_weight", parameter(not packed, [embed_dim, length], XavierUniform()))
        for name in "qkv":
            setattr(
                self, f"{name}_proj_bias", parameter(not packed and bias, [embed_dim], Constant(0.0), True)
            )
        self.bias_k: Tensor | None = parameter(
            add_bias_kv, [1, 1, embed_dim], XavierNormal(embed_dim, embed_dim)
        )
        self.bias_v: Tensor | None = parameter(
            add_bias_kv, [1, 1, embed_dim], XavierNormal(embed_dim, embed_dim)
        )
        self.out_proj: Linear = Linear(embed_dim, embed_dim, bias, device, dtype)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Any, Any, Any]:
        """Queries, keys and values of all heads, [batch, length, embed_dim]."""
        if self.in_proj_weight is None:
            weights, biases = (
                [getattr(self, f"{n}_proj_{what}") for n in "qkv"] for what in ("weight", "bias")
            )
        else:
            weights = self.in_proj_weight.split(3)
            if self.in_proj_bias is None:
                biases = [None] * 3
            else:
                biases = self.in_proj_bias.split(3)
        q, k, v = (C.linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases, strict=True))
        if self.add_bias_kv:
            k, v = (
                concat([t, e.expand([t.shape[0], 1, self.embed_dim])], 1)
                for t, e in ((k, self.bias_k), (v, self.bias_v))
            )
        if self.add_zero_attn:
            k, v = (concat([t, zeros([t.shape[0], 1, self.embed_dim], t.dtype)], 1) for t in (k, v))
        return q, k, v

    def _mask(
        self,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool,
        single: bool,
        batch: int,
        queries: int,
        keys: int,
        dtype: Any,
    ) -> Tensor | None:
        """What is added to the scores: a Tensor that broadcasts to [batch, heads, query, key], or None."""
        if attn_mask is None and is_causal:
            attn_mask = to_tensor(~np.tril(np.ones((queries, keys), bool)))
        parts = []
        if attn_mask is not None:
            shape = {2: [1, 1, *attn_mask.shape], 3: [batch, self.num_heads, *attn_mask.shape[1:]]}.get(
                attn_mask.ndim, attn_mask.shape
            )
            parts.append(_additive(attn_mask, dtype).reshape(shape))
        if key_padding_mask is not None:
            if numpy_dtype(key_padding_mask).kind in "iuc":
                raise TypeError(
                    f"MultiheadAttention: key_padding_mask: got {key_padding_mask.dtype}; "
                    "it must be bool or floating"
                )
            allowed = [[batch, keys]]
            if single:
                allowed.append([keys])
            if list(key_padding_mask.shape) not in allowed:
                raise AssertionError(
                    "MultiheadAttention: key_padding_mask: got shape "
                    f"{list(key_padding_mask.shape)}; it must be [{batch}, {keys}]"
                )
            parts.append(_additive(key_padding_mask, dtype).reshape([batch, 1, 1, keys]))
        if not parts:
            return None
        if len(parts) == 1:
            mask = parts[0]
        else:
            # The sum of two most negative numbers would be minus infinity.
            mask = (parts[0] + parts[1]).clip(_least(dtype))
        extra = self.add_bias_kv + self.add_zero_attn
        if extra:
            # The added keys may always be seen.
            return concat([mask, zeros([*mask.shape[:-1], extra], mask.dtype)], -1)
        return mask

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any | None]:
        """Returns (output, weights), both as the query is laid out.

        Args:
            query: Tensor [L, batch, embed_dim], or [batch, L, embed_dim] with batch_first, or [L, embed_dim].
            key, value: Tensors [S, batch, kdim] and [S, batch, vdim], likewise.
            key_padding_mask: Tensor [batch, S]: bool, True where a key is left out; or floats that are added.
            need_weights: also return the weights, [batch, L, S] or [L, S]; otherwise None.
            attn_mask: Tensor [L, S] or [batch * num_heads, L, S]: bool, True where not to attend; or
                numbers that are added.
            average_attn_weights: average the weights over the heads; otherwise they have an axis of heads
                after the batch.
            is_causal: position i sees keys 0..i only. Not used when attn_mask is given.
        Raises:
            ValueError: shapes do not fit.
            AssertionError: key_padding_mask has another shape.
            TypeError: key_padding_mask is of integers.
        """
        single = query.ndim == 2
        if single:
            query, key, value = (t.unsqueeze(0) for t in (query, key, value))
        elif not self.batch_first:
            query, key, value = (t.transpose([1, 0, 2]) for t in (query, key, value))
        q, k, v = self._projected(query, key, value)
        batch = q.shape[0]
        length = q.shape[1]
        mask = self._mask(
            attn_mask, key_padding_mask, is_causal, single, batch, length, key.shape[1], q.dtype
        )
        heads = [t.reshape([*t.shape[:2], self.num_heads, self.head_dim]) for t in (q, k, v)]
        p = 0.0
        if self.training:
            p = self.dropout
        weights = None
        if need_weights:
            out, weights = attention("MultiheadAttention", *heads, mask, p, False, None, "weights")
        else:
            # without weights a fused kernel can be taken
            out = attention("MultiheadAttention", *heads, mask, p, False, None, None)
        out = self.out_proj(out.reshape([batch, length, self.embed_dim]))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if single:
            if weights is not None:
                weights = weights.squeeze(0)
            return out.squeeze(0), weights
        if not self.batch_first:
            out = out.transpose([1, 0, 2])
        return out, weights


def _least(dtype: Any) -> float:
    """The most negative number of a floating dtype."""
    if dtype.np.itemsize > 2:
        return float(np.finfo(np.float64 if dtype.np == np.float64 else np.float32).min)
    return -6.0e4


def _additive(mask: Tensor, dtype: Any) -> Tensor:
    """A mask as numbers to add: the most negative one where a bool mask is True. Rows without any key then
    weigh all keys alike."""
    if numpy_dtype(mask).kind != "b":
        return cast(mask, dtype)
    return where(mask, to_tensor(_least(dtype), dtype), to_tensor(0.0, dtype))
