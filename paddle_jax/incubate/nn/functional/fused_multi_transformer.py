"""A stack of Transformer layers for inference, with caches of keys and values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.fused_rotary_position_embedding import rotated
from paddle_jax.nn.functional.activation import gelu, relu, silu, swiglu
from paddle_jax.nn.functional.common import linear
from paddle_jax.nn.functional.drop import dropout
from paddle_jax.nn.functional.norm import layer_norm, rms_norm
from paddle_jax.nn.functional.softmaxes import softmax
from paddle_jax.nn.layer.attention import _convert_attention_mask
from paddle_jax.tensor.creation import full_like
from paddle_jax.tensor.gathering import take_along_axis
from paddle_jax.tensor.joining import concat, split, stack
from paddle_jax.tensor.linalg import matmul
from paddle_jax.tensor.manipulation import cast, reshape, transpose
from paddle_jax.tensor.reorder import repeat_interleave
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu, "swiglu": swiglu}
_NAME = "fused_multi_transformer"


def _normalized(x: Tensor, scale: Tensor, bias: Tensor | None, epsilon: float, kind: str) -> Tensor:
    if kind == "layernorm":
        return layer_norm(x, x.shape[-1], scale, bias, epsilon)
    y = rms_norm(x, x.shape[-1], scale, epsilon)
    if bias is None:
        return y
    return y + bias


def projected(x: Tensor, weight: Tensor, bias: Tensor | None, trans_qkvw: bool, groups: Any) -> list[Tensor]:
    """Queries [batch, heads, length, width], keys and values [batch, key heads, length, width]."""
    if not trans_qkvw:
        # to [..., features of x], as with trans_qkvw
        weight = transpose(weight, [*range(1, weight.ndim), 0])
    shape = list(weight.shape[:-1])
    flat = reshape(weight, [-1, weight.shape[-1]])
    y = matmul(x, flat, transpose_y=True)
    y = reshape(y if bias is None else y + reshape(bias, [-1]), [0, 0, -1, shape[-1]])
    heads = shape[0] - 2 * groups if groups > 0 else shape[1]
    return split(transpose(y, [0, 2, 1, 3]), [heads, *[groups if groups > 0 else heads] * 2], 1)


def turned(x: Tensor, rotary: Tensor, positions: Tensor, neox: bool) -> Tensor:
    """x [batch, heads, length, width] turned by cos and sin [2, batch, 1, length or more, width]."""
    cos = rotary[0]
    sin = rotary[1]
    # The tables have all positions: those of this call are taken out.
    if cos.shape[2] != x.shape[2]:
        rows = repeat_interleave(reshape(positions, [-1, 1, x.shape[2], 1]), cos.shape[-1], -1)
        cos = take_along_axis(cos, rows, 2)
        sin = take_along_axis(sin, rows, 2)
    return x * cast(cos, x.dtype) + rotated(x, not neox) * cast(sin, x.dtype)


def positioned(x: Tensor, seq_lens: Tensor | None, time_step: Tensor | None) -> Tensor:
    """int64 [batch, length]: where in the sequence the rows of x stand."""
    if time_step is None:
        return arange(x.shape[1]).unsqueeze(0).expand([x.shape[0], -1])
    # With lengths each sequence stands at another place.
    at = time_step if seq_lens is None else seq_lens
    return cast(reshape(at, [-1, 1]), "int64").expand([x.shape[0], 1])


def remembered(
    k: Tensor, v: Tensor, cache: Tensor | None, prefix: Tensor | None, positions: Tensor, decoding: bool
) -> tuple[Any, Any, None] | tuple[Any, Any, Any] | tuple[Any, Any, Any]:
    """Keys and values to attend to, and the cache with the new ones in their places."""
    if prefix is not None and not decoding:
        k = concat([prefix[0], k], 2)
        v = concat([prefix[1], v], 2)
    if cache is None:
        return k, v, None
    new = cast(stack([k, v]), cache.dtype)
    if not decoding:
        if new.shape[3] > cache.shape[3]:
            raise ValueError(
                f"{_NAME}: cache_kvs: got room for {cache.shape[3]} positions; {new.shape[3]} are needed"
            )
        # The cache keeps its length: the new positions replace its first ones.
        return k, v, concat([new, cache[:, :, :, new.shape[3] :]], 3)
    # One place for each sequence, so the cache is chosen by a comparison, without an index.
    here = reshape(arange(cache.shape[3]), [1, 1, 1, -1, 1]) == reshape(positions, [1, -1, 1, 1, 1])
    cache = where(here, new, cache)
    return cast(cache[0], k.dtype), cast(cache[1], v.dtype), cache


def seen(keys: Any, positions: Tensor, seq_lens: Tensor | None, decoding: bool) -> Tensor | None:
    """bool [batch, 1, 1, keys]: which keys hold something; None for all."""
    if decoding:
        last = positions[:, -1:]
    elif seq_lens is None:
        return None
    else:
        # What the keys have more than the queries is a prefix, which is always seen.
        last = cast(reshape(seq_lens, [-1, 1]), "int64") + (keys - positions.shape[1]) - 1
    return (arange(keys).unsqueeze(0) <= last).unsqueeze(1).unsqueeze(1)


def attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, seen: Tensor | None) -> Tensor:
    """Attention [batch, length, heads * width]; masks may be shorter than the keys."""
    if k.shape[1] != q.shape[1]:
        # Several heads of queries share one of keys.
        k, v = (repeat_interleave(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = matmul(q * (1 / math.sqrt(q.shape[-1])), k, transpose_y=True)
    if mask is not None:
        mask = _convert_attention_mask(mask, scores.dtype)
        scores = scores + _longer(mask, k.shape[2] - mask.shape[-1])
    if seen is not None:
        scores = where(seen, scores, full_like(scores, -math.inf))
    return reshape(transpose(matmul(softmax(scores), v), [0, 2, 1, 3]), [0, 0, q.shape[1] * q.shape[3]])


def _longer(mask: Tensor, missing: int) -> Tensor:
    """A mask [..., keys] with zeros after it."""
    if missing <= 0:
        return mask
    return concat([mask, full_like(mask[..., :1], 0.0).expand([*mask.shape[:-1], missing])], -1)


def _of(values: Sequence[Tensor] | None, i: int) -> Tensor | None:
    if values is None:
        return None
    return values[i]


def _check(options: Sequence[Any], beam_offset: Tensor | None, ring_id: int, rotary_emb_dims: int) -> None:
    for name, value, allowed in options:
        if value not in allowed:
            raise ValueError(f"{_NAME}: {name}: got {value!r}; allowed are {', '.join(map(repr, allowed))}")
    if beam_offset is not None or ring_id != -1 or rotary_emb_dims not in (0, 1):
        raise ValueError(
            f"{_NAME}: beam_offset, ring_id, rotary_emb_dims: got {beam_offset}, {ring_id}, "
            f"{rotary_emb_dims}; allowed are None, -1, and 0 or 1"
        )


def fused_multi_transformer(
    x: Tensor,
    ln_scales: Sequence[Tensor],
    ln_biases: Sequence[Tensor] | None,
    qkv_weights: Sequence[Tensor],
    qkv_biases: Sequence[Tensor],
    linear_weights: Sequence[Tensor],
    linear_biases: Sequence[Tensor] | None,
    ffn_ln_scales: Sequence[Tensor],
    ffn_ln_biases: Sequence[Tensor] | None,
    ffn1_weights: Sequence[Tensor],
    ffn1_biases: Sequence[Tensor] | None,
    ffn2_weights: Sequence[Tensor],
    ffn2_biases: Sequence[Tensor] | None,
    pre_layer_norm: bool = True,
    epsilon: Any = 1e-5,
    residual_alpha: Any = 1.0,
    cache_kvs: Sequence[Tensor] | None = None,
    beam_offset: Tensor | None = None,
    pre_caches: Sequence[Tensor] | None = None,
    seq_lens: Tensor | None = None,
    rotary_embs: Tensor | None = None,
    time_step: Tensor | None = None,
    attn_mask: Tensor | None = None,
    dropout_rate: Any = 0.0,
    rotary_emb_dims: Any = 0,
    activation: str = "gelu",
    training: bool = False,
    mode: str = "upscale_in_train",
    trans_qkvw: bool = True,
    ring_id: Any = -1,
    norm_type: str = "layernorm",
    use_neox_rotary_style: bool = False,
    gqa_group_size: Any = -1,
    name: str | None = None,
) -> Tensor | tuple[Any, ...]:
    """A stack of Transformer layers: attention and feed-forward blocks, each with residual and normalisation.

    Differs from Paddle: works on the CPU, and time_step may be on any device.

    Args:
        x: Tensor [batch, length, n]; length 1 with time_step.
        ln_scales, ln_biases: lists of Tensors [n], one for each layer, as all lists here; a list of biases
            may be None or hold None.
        qkv_weights: Tensors [3, heads, width, n]; [n, 3, heads, width] without trans_qkvw; [heads + 2 * key
            heads, width, n] with gqa_group_size.
        qkv_biases: Tensors of the same shape without n.
        linear_weights, linear_biases: Tensors [heads * width, n] and [n].
        ffn_ln_scales, ffn_ln_biases: Tensors [n].
        ffn1_weights, ffn1_biases, ffn2_weights, ffn2_biases: Tensors [n, inner], [inner], [inner, n], [n];
            "swiglu" halves what ffn2 gets.
        pre_layer_norm: normalise before each block instead of after it.
        epsilon: of the normalisations.
        residual_alpha: factor of the residuals.
        cache_kvs: list of Tensors [2, batch, key heads, positions, width]; new keys and values are
            written into them.
        pre_caches: list of Tensors [2, batch, key heads, prefix, width] that come before the sequence.
        seq_lens: int Tensor [batch]: how much of each sequence counts; with time_step the place of the new
            row in each sequence.
        rotary_embs: Tensor [2, batch, 1, length, width]: cosines and sines; if it is longer than x, rows are
            picked by position.
        time_step: int Tensor [1]: where the row of x stands in the sequence; None for the first call
            with a whole text.
        attn_mask: Tensor that broadcasts with [batch, heads, length, keys]: added to the scores; bool or int:
            0 where not to attend.
        dropout_rate, training, mode: dropout of what the blocks give.
        rotary_emb_dims: 1 to use rotary_embs, 0 not to.
        activation: "gelu", "relu", "silu" or "swiglu".
        trans_qkvw: the form of qkv_weights.
        norm_type: "layernorm" or "rmsnorm".
        use_neox_rotary_style: True pairs the halves of a head, False neighbours.
        gqa_group_size: how many key heads there are. Default: as many as heads.
        beam_offset, ring_id: must be left at their defaults.
    Returns:
        Tensor of the shape of x; with cache_kvs a pair of that and cache_kvs.
    Raises:
        ValueError: sizes or options do not fit.
    Example:
        >>> x, v, qkv, w = (paddle.ones([1, 2, 4]), [paddle.ones([4])], [paddle.ones([3, 2, 2, 4])],
        ...                 [paddle.ones([4, 4])])
        >>> paddle.incubate.nn.functional.fused_multi_transformer(x, v, v, qkv, None, w, None, v, v, w, None,
        ...                                                       w, None).shape
        paddle.Size([1, 2, 4])
    """
    options = [
        ("activation", activation, tuple(_ACTIVATIONS)),
        ("norm_type", norm_type, ("layernorm", "rmsnorm")),
    ]
    _check(options, beam_offset, ring_id, rotary_emb_dims)
    decoding = time_step is not None
    act = _ACTIVATIONS[activation]
    if decoding and (cache_kvs is None or x.shape[1] != 1):
        raise ValueError(
            f"{_NAME}: time_step: x has length {x.shape[1]}, cache_kvs "
            f"{'are' if cache_kvs else 'are not'} given; with time_step x must have length 1 "
            "and cache_kvs are needed"
        )
    positions = positioned(x, seq_lens, time_step)

    def added(x: Tensor, y: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
        y = x * residual_alpha + dropout(y, dropout_rate, training=training, mode=mode)
        # Then the next block normalises what it gets.
        if pre_layer_norm:
            return y
        return _normalized(y, scale, bias, epsilon, norm_type)

    for i in range(len(qkv_weights)):
        norms = [(_of(ln_scales, i), _of(ln_biases, i)), (_of(ffn_ln_scales, i), _of(ffn_ln_biases, i))]
        if pre_layer_norm:
            y = _normalized(x, *norms[0], epsilon, norm_type)
        else:
            y = x
        q, k, v = projected(y, qkv_weights[i], _of(qkv_biases, i), trans_qkvw, gqa_group_size)
        if rotary_emb_dims:
            q, k = (turned(t, rotary_embs, positions, use_neox_rotary_style) for t in (q, k))
        k, v, cache = remembered(k, v, _of(cache_kvs, i), _of(pre_caches, i), positions, decoding)
        if cache is not None:
            # In place: programs keep their caches between calls.
            cache_kvs[i]._adopt(cache)
        y = attended(q, k, v, attn_mask, seen(k.shape[2], positions, seq_lens, decoding))
        x = added(x, linear(y, linear_weights[i], _of(linear_biases, i)), *norms[0])
        if pre_layer_norm:
            y = _normalized(x, *norms[1], epsilon, norm_type)
        else:
            y = x
        y = dropout(
            act(linear(y, ffn1_weights[i], _of(ffn1_biases, i))), dropout_rate, training=training, mode=mode
        )
        x = added(x, linear(y, ffn2_weights[i], _of(ffn2_biases, i)), *norms[1])
    if cache_kvs is None:
        return x
    return (x, cache_kvs)
