"""One step of decoding with a cache of keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.fused_multi_transformer import (
    attended,
    positioned,
    remembered,
    seen,
    turned,
)
from paddle_jax.incubate.nn.functional.precision import quantized
from paddle_jax.tensor.creation import full
from paddle_jax.tensor.joining import split
from paddle_jax.tensor.manipulation import cast, reshape

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


def masked_multihead_attention(
    x: Tensor,
    cache_kv: Tensor | None = None,
    bias: Tensor | None = None,
    src_mask: Tensor | None = None,
    cum_offsets: Any = None,
    sequence_lengths: Tensor | None = None,
    rotary_tensor: Tensor | None = None,
    beam_cache_offset: Any = None,
    qkv_out_scale: Tensor | None = None,
    out_shift: Any = None,
    out_smooth: Any = None,
    seq_len: Any = 1,
    rotary_emb_dims: Any = 0,
    use_neox_rotary_style: bool = False,
    compute_dtype: str = "default",
    out_scale: Any = -1,
    quant_round_type: Any = 1,
    quant_max_bound: Any = 127.0,
    quant_min_bound: Any = -127.0,
) -> tuple[Any, Any]:
    """Attention of one new position of each sequence to the positions in the cache and itself.

    Differs from Paddle: works on the CPU.

    Args:
        x: Tensor [batch, (heads + 2 * key heads) * width]: query, key and value of the new position; int32
            with qkv_out_scale.
        cache_kv: Tensor [2, batch, key heads, positions, width]; the new key and value are written into it.
        bias: Tensor [heads + 2 * key heads, width] or [3, heads, width], added to x, or None.
        src_mask: Tensor [batch, 1, 1, position + 1], added to the scores, or None.
        sequence_lengths: int Tensor [batch, 1]: where the new position stands. Default: the last of src_mask.
        rotary_tensor: float32 Tensor [2, batch, 1, 1, width]: cosines and sines of the new position.
        qkv_out_scale: Tensor of the shape of bias: factors of an int32 x.
        out_shift, out_smooth: Tensors [heads * width]: the result is (result + out_shift) * out_smooth.
        rotary_emb_dims: 1 to use rotary_tensor, 0 not to.
        use_neox_rotary_style: True pairs the halves of a head, False neighbours.
        compute_dtype: "fp16", "bf16" or "fp32", needed for an int32 x.
        out_scale, quant_round_type, quant_max_bound, quant_min_bound: an int8 result, as for
            `fused_rms_norm`.
        cum_offsets, beam_cache_offset, seq_len: must be left at their defaults.
    Returns:
        (Tensor [batch, heads * width], cache_kv).
    Raises:
        ValueError: shapes or options do not fit.
    Example:
        >>> x, cache = paddle.ones([1, 12]), paddle.zeros([2, 1, 1, 3, 4])
        >>> n = paddle.to_tensor([[0]], dtype="int32")
        >>> y, cache = paddle.incubate.nn.functional.masked_multihead_attention(x, cache, sequence_lengths=n)
        >>> y.tolist(), cache[0, 0, 0, :, 0].tolist()
        ([[1.0, 1.0, 1.0, 1.0]], [1.0, 0.0, 0.0])
    """
    name = "masked_multihead_attention"
    if (
        cum_offsets is not None
        or beam_cache_offset is not None
        or seq_len != 1
        or rotary_emb_dims not in (0, 1)
    ):
        raise ValueError(
            f"{name}: cum_offsets, beam_cache_offset, seq_len, rotary_emb_dims: "
            "allowed are None, None, 1, and 0 or 1"
        )
    if cache_kv is None or cache_kv.ndim != 5 or x.ndim != 2 or x.shape[1] % cache_kv.shape[4]:
        raise ValueError(
            f"{name}: cache_kv: got {None if cache_kv is None else list(cache_kv.shape)} for x "
            f"of shape {list(x.shape)}; they must be [2, batch, key heads, positions, "
            "width] and [batch, (heads + 2 * key heads) * width]"
        )
    if sequence_lengths is None and src_mask is None:
        raise ValueError(
            f"{name}: sequence_lengths: got None without src_mask; one of them has to say the position"
        )
    batch = x.shape[0]
    groups = cache_kv.shape[2]
    width = cache_kv.shape[4]
    if qkv_out_scale is not None:
        if compute_dtype not in _DTYPES:
            raise ValueError(
                f"{name}: compute_dtype: got {compute_dtype!r}; with qkv_out_scale it must be "
                "'fp16', 'bf16' or 'fp32'"
            )
        x = cast(cast(x, "float32") * reshape(qkv_out_scale, [-1]), _DTYPES[compute_dtype])
    if bias is not None:
        x = x + reshape(bias, [-1])
    heads = x.shape[1] // width - 2 * groups
    q, k, v = split(reshape(x, [batch, heads + 2 * groups, 1, width]), [heads, groups, groups], 1)
    # Without lengths all sequences are as long as the mask.
    last = full([1], src_mask.shape[-1] - 1 if src_mask is not None else 0, dtype="int64")
    positions = positioned(q.squeeze(2), sequence_lengths, last)
    if rotary_emb_dims:
        rotary = reshape(rotary_tensor, [2, batch, 1, -1, width])
        q, k = (turned(t, rotary, positions, use_neox_rotary_style) for t in (q, k))
    keys, values, cache = remembered(k, v, cache_kv, None, positions, True)
    # In place: programs keep their cache between calls.
    cache_kv._adopt(cache)
    y = reshape(
        attended(q, keys, values, src_mask, seen(keys.shape[2], positions, None, True)),
        [batch, heads * width],
    )
    if out_shift is not None:
        y = y + out_shift
    if out_smooth is not None:
        y = y * out_smooth
    return quantized(name, y, out_scale, quant_round_type, quant_max_bound, quant_min_bound), cache_kv
