"""Attention of sequences of different lengths, whose keys and values lie in pages (Kwon et al.,
PagedAttention, 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from paddle_jax._core.ops.op import op
from paddle_jax.incubate.nn.functional.precision import quantized
from paddle_jax.tensor.manipulation import cast, reshape

if TYPE_CHECKING:
    import numpy as np

    from paddle_jax._core.tensors.tensor import Tensor


_NAME = "block_multihead_attention"
_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}
_ZERO = 128  # what 0 is in a cache of uint8


def _turned(x: Any, positions: Any, rope: Any, neox: Any) -> Any:
    """x [batch, length, heads, width] turned by the cosines and sines of its positions [batch, length]."""
    width = x.shape[-1]
    if rope.shape[-1] != width:
        if neox:
            # Half of the angles is given; each pair of elements shares one.
            rope = jnp.concatenate([rope, rope], -1)
        else:
            rope = jnp.repeat(rope, 2, -1)
    # [cosine or sine, batch, position, width]
    rope = jnp.broadcast_to(rope[:, :, :, 0], (2, x.shape[0], *rope.shape[2:3], width))
    # Steps behind the end of a sequence count for nothing, so any position will do.
    cos, sin = jnp.take_along_axis(rope, positions[None, :, :, None], 2, mode="clip")[:, :, :, None]
    if neox:
        # NeoX: the halves of a head are the pairs; else neighbours are.
        other = jnp.concatenate([-x[..., width // 2 :], x[..., : width // 2]], -1)
    else:
        other = jnp.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    return (x * cos + other * sin).astype(x.dtype)


def _per_head(scale: jax.Array) -> jax.Array:
    """Scales [heads] or [batch, heads] beside [batch, length, heads, width]."""
    return scale.reshape(-1, 1, scale.shape[-1], 1)


def _dynamic_scales(
    new: jax.Array, valid: jax.Array, beginning: jax.Array, scale: jax.Array, back: jax.Array, most: float
) -> tuple[jax.Array, jax.Array]:
    """The scales of each sequence's heads: of those that begin from their largest number, of the
    others as they are."""
    largest = jnp.where(valid[:, :, None, None], jnp.abs(new.astype(jnp.float32)), 0).max((1, 3))
    # A sequence without tokens has no largest value.
    largest = jnp.where(largest > 0, largest, 1)
    beginning = beginning[:, None]
    return (
        jnp.where(beginning, 1 / largest, scale).astype(scale.dtype),
        jnp.where(beginning, largest / most, back).astype(back.dtype),
    )


def _stored(x: jax.Array, scale: jax.Array | None, kind: np.dtype, bounds: Sequence[float]) -> jax.Array:
    """Keys or values [batch, length, heads, width] as the cache keeps them; with a scale for each head as
    rounded numbers."""
    if scale is None:
        return x.astype(kind)
    most, least, rounding = bounds
    y = x.astype(jnp.float32) * (_per_head(scale) * most)
    if rounding == 0:
        y = jnp.round(y)
    else:
        # Halves away from 0, as C rounds.
        y = jnp.sign(y) * jnp.floor(jnp.abs(y) + 0.5)
    return (jnp.clip(y, least, most) + _ZERO).astype(kind)


def _with_new(
    cache: jax.Array, new: jax.Array, tables: jax.Array, at: jax.Array, scale: jax.Array | None
) -> jax.Array:
    """All keys (or values) of each sequence, [batch, positions, heads, width]: those of its pages, and the
    new ones in their places."""
    # What pages beyond a sequence give is masked later.
    pages = cache.at[tables].get(mode="clip")  # [batch, pages, heads, block, width]
    old = jnp.swapaxes(pages, 2, 3).reshape(tables.shape[0], -1, cache.shape[1], cache.shape[3])
    if scale is not None:
        # Stored numbers are shifted, since the cache is unsigned.
        old = (old.astype(jnp.float32) - _ZERO) * _per_head(scale)
    rows = jnp.arange(tables.shape[0])[:, None]
    return old.astype(new.dtype).at[rows, at].set(new, mode="drop")


def _scores(
    q: jax.Array,
    keys: jax.Array,
    positions: jax.Array,
    lengths: jax.Array,
    encoding: jax.Array,
    mask: jax.Array | None,
    tgt_mask: jax.Array | None,
) -> jax.Array:
    """[batch, key heads, heads of each, length, positions] in float32 at least, minus infinity where
    nothing is to be seen."""
    wide = jnp.promote_types(q.dtype, jnp.float32)
    # Several heads of queries share one of keys.
    grouped = q.reshape(*q.shape[:2], keys.shape[2], -1, q.shape[-1]).astype(wide)
    # At the default precision accelerators would multiply in fewer bits than float32 has.
    scores = (
        jnp.einsum("blghw,bkgw->bghlk", grouped, keys.astype(wide), precision=lax.Precision.HIGHEST)
        / q.shape[-1] ** 0.5
    )
    at = jnp.arange(keys.shape[1])
    # A token sees those before it, also of earlier calls.
    seen = at <= positions[..., None]
    there = at < lengths[:, None]
    first = encoding[:, None, None, None, None]
    if mask is not None:
        # A mask of the caller says what a first call sees, in place of causality.
        seen = jnp.where(encoding[:, None, None], there[:, None], seen)
        # `mask` is for sequences that begin, `tgt_mask` for later steps.
        scores = scores + jnp.where(first, _fitted(mask, scores.shape), 0)
    if tgt_mask is not None:
        scores = scores + jnp.where(first, 0, _fitted(tgt_mask, scores.shape))
    return jnp.where(seen[:, None, None], scores, -jnp.inf)


def _fitted(mask: jax.Array, shape: Sequence[int]) -> jax.Array:
    """A mask [batch, 1, length or 1, keys] cut, or filled up with zeros, to the scores."""
    wanted = [mask.shape[0], 1, mask.shape[2] if mask.shape[2] == 1 else shape[3], shape[4]]
    mask = mask[:, :1, : wanted[2], : wanted[3]]
    mask = jnp.pad(mask, [(0, w - n) for w, n in zip(wanted, mask.shape, strict=True)])
    return mask[:, :, None].astype(jnp.float32)


@op(
    "qkv key_cache value_cache encoder decoder lengths starts tables rope mask tgt_mask k_scale "
    "v_scale k_back v_back",
    register=False,
    method=False,
)
def paged_attention(
    qkv: jax.Array,
    key_cache: jax.Array,
    value_cache: jax.Array,
    encoder: jax.Array,
    decoder: jax.Array,
    lengths: jax.Array,
    starts: jax.Array,
    tables: jax.Array,
    rope: Any = None,
    mask: jax.Array | None = None,
    tgt_mask: jax.Array | None = None,
    k_scale: jax.Array | None = None,
    v_scale: jax.Array | None = None,
    k_back: jax.Array | None = None,
    v_back: jax.Array | None = None,
    longest: Any = 1,
    neox: bool = False,
    bounds: Any = (127.0, -127.0, 1),
    dynamic: bool = False,
) -> Any:
    """(results [tokens, heads * width], key cache, value cache, the scales). longest: length up to which
    sequences are filled up."""
    pages, groups, block, width = key_cache.shape
    encoder, decoder, lengths, starts = (
        t.reshape(-1).astype(jnp.int32) for t in (encoder, decoder, lengths, starts)
    )
    batch = lengths.shape[0]
    tokens = qkv.shape[0]
    steps = jnp.arange(longest)
    valid = steps < lengths[:, None]
    # Steps behind the end of a sequence have zeros.
    rows = (
        qkv.at[starts[:batch, None] + steps].get(mode="fill", fill_value=0).reshape(batch, longest, -1, width)
    )
    q = rows[:, :, : -2 * groups]
    k = rows[:, :, -2 * groups : -groups]
    v = rows[:, :, -groups:]
    # The first call begins at 0, later ones behind what is stored.
    first = jnp.where(encoder > 0, 0, decoder)
    positions = first[:, None] + steps
    if rope is not None:
        q = _turned(q, positions, rope, neox)
        k = _turned(k, positions, rope, neox)
    if dynamic:
        k_scale, k_back = _dynamic_scales(k, valid, encoder > 0, k_scale, k_back, bounds[0])
        v_scale, v_back = _dynamic_scales(v, valid, encoder > 0, v_scale, v_back, bounds[0])
    # Places behind the last page are dropped.
    at = jnp.where(valid, positions, tables.shape[1] * block)
    # This call attends to its own keys as they came, not as the cache stores them.
    keys = _with_new(key_cache, k, tables, at, k_back)
    values = _with_new(value_cache, v, tables, at, v_back)
    scores = _scores(q, keys, positions, first + lengths, encoder > 0, mask, tgt_mask)
    weights = jax.nn.softmax(scores, -1)
    out = jnp.einsum(
        "bghlk,bkgw->blghw", weights, values.astype(weights.dtype), precision=lax.Precision.HIGHEST
    )
    out = out.astype(qkv.dtype).reshape(batch, longest, -1)
    page = jnp.take_along_axis(tables, jnp.clip(positions // block, 0, tables.shape[1] - 1), 1)
    # Page numbers below 0 stand for none.
    page = jnp.where(valid & (positions < tables.shape[1] * block) & (page >= 0), page, pages)
    caches = [
        cache.at[page, :, positions % block].set(_stored(new, scale, cache.dtype, bounds), mode="drop")
        for cache, new, scale in ((key_cache, k, k_scale), (value_cache, v, v_scale))
    ]
    token = jnp.arange(tokens)
    # The sequence that a token belongs to: the last one that starts before it.
    owner = jnp.clip(jnp.searchsorted(starts, token, side="right") - 1, 0, batch - 1)
    step = token - starts[owner]
    # Tokens that belong to no sequence get zeros.
    flat = jnp.where((step < lengths[owner])[:, None], out[owner, jnp.clip(step, 0, longest - 1)], 0)
    return flat, *caches, *((k_scale, v_scale, k_back, v_back) if dynamic else ())


def _check(
    qkv: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    block_tables: Tensor,
    block_size: int,
    refused: Sequence[Any],
) -> None:
    for name, value, allowed in refused:
        if value is not allowed:
            raise ValueError(
                f"{_NAME}: {name}: only {allowed} is allowed; put a prefix into the pages of the cache"
            )
    if (
        key_cache.ndim != 4
        or list(value_cache.shape) != list(key_cache.shape)
        or key_cache.shape[2] != block_size
    ):
        raise ValueError(
            f"{_NAME}: key_cache, value_cache: got shapes {list(key_cache.shape)} and "
            f"{list(value_cache.shape)}; both must be [pages, key heads, {block_size}, width], "
            "the third being block_size"
        )
    if qkv.ndim == 2:
        # A width that does not divide gives a fraction, which is refused below.
        heads = qkv.shape[1] / key_cache.shape[3] - 2 * key_cache.shape[1]
    else:
        heads = 0
    if heads <= 0 or heads % key_cache.shape[1] or block_tables.ndim != 2:
        raise ValueError(
            f"{_NAME}: qkv, block_tables: got shapes {list(qkv.shape)} and "
            f"{list(block_tables.shape)}; they must be [tokens, (heads + 2 * key heads) * "
            "width], heads being a multiple of key heads, and [batch, pages of a sequence]"
        )


def _check_scales(scales: Sequence[Tensor], shape: Sequence[int]) -> None:
    found = [None if scale is None else list(scale.shape) for scale in scales]
    if found != [shape] * 4:
        raise ValueError(
            f"{_NAME}: cache_k_quant_scales and the other three scales: got shapes {found}; "
            f"with use_dynamic_cachekv_quant each must be [batch, key heads], {shape}"
        )


def _longest(lengths: Tensor, tokens: int) -> int:
    """A power of two that no sequence is longer than; where lengths are not known, while a function is
    compiled, the number of tokens."""
    raw = lengths._value
    if isinstance(raw, Tracer):
        # Inside a trace lengths are not known; all tokens may belong to one sequence.
        most = tokens
    else:
        # Read on the host, since it decides the shapes of the program.
        most = int(lengths.max())
    # Powers of two, so that few lengths are compiled.
    return max(1 << max(most - 1, 0).bit_length(), 1)


def block_multihead_attention(
    qkv: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    seq_lens_encoder: Tensor,
    seq_lens_decoder: Tensor,
    seq_lens_this_time: Tensor,
    padding_offsets: Tensor | None,
    cum_offsets: Tensor | None,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor | None,
    block_tables: Tensor,
    pre_key_cache: Tensor | None = None,
    pre_value_cache: Any = None,
    cache_k_quant_scales: Tensor | None = None,
    cache_v_quant_scales: Tensor | None = None,
    cache_k_dequant_scales: Tensor | None = None,
    cache_v_dequant_scales: Tensor | None = None,
    qkv_out_scale: Tensor | None = None,
    qkv_bias: Tensor | None = None,
    out_shift: Tensor | None = None,
    out_smooth: Tensor | None = None,
    max_enc_len_this_time: Any = None,
    max_dec_len_this_time: Any = None,
    rope_emb: Tensor | None = None,
    mask: Tensor | None = None,
    tgt_mask: Tensor | None = None,
    max_seq_len: Any = -1,
    block_size: Any = 64,
    use_neox_style: bool = False,
    use_dynamic_cachekv_quant: bool = False,
    quant_round_type: Any = 1,
    quant_max_bound: Any = 127.0,
    quant_min_bound: Any = -127.0,
    out_scale: Any = -1,
    compute_dtype: str = "default",
    rope_theta: Any = 10000.0,
) -> tuple[Any, Any, Any, Any]:
    """Attention of sequences, some at their beginning, some at their next tokens, whose keys and values lie
    in pages of a cache.

    Position p of sequence b is row p % block_size of page block_tables[b, p // block_size]. A sequence with
    seq_lens_encoder above 0 begins at position 0, another one goes on at position seq_lens_decoder. Each
    token sees the positions up to its own.

    Differs from Paddle: works on the CPU. qkv is not changed. A prefix (pre_key_cache,
        pre_value_cache) is refused.

    Args:
        qkv: Tensor [tokens, (heads + 2 * key heads) * width], the sequences one after the other; int32
            with qkv_out_scale.
        key_cache, value_cache: Tensors [pages, key heads, block_size, width]; new keys and values are written
            into them. uint8 with scales.
        seq_lens_encoder, seq_lens_decoder, seq_lens_this_time: int Tensors [batch] or [batch, 1]: tokens of a
            sequence that begins (else 0), positions in the cache before (else 0), and tokens in qkv.
        cu_seqlens_q: int Tensor [batch + 1]: where in qkv each sequence begins.
        block_tables: int Tensor [batch, pages of a sequence]; -1 where there is none.
        cache_k_quant_scales, cache_v_quant_scales: Tensors [key heads]; the cache keeps round(x * scale *
            quant_max_bound) + 128.
        cache_k_dequant_scales, cache_v_dequant_scales: Tensors [key heads]: the factors for the way back.
        use_dynamic_cachekv_quant: the four scales are [batch, key heads], and those of a sequence that begins
            are written: one over the largest number of its keys or values, and that number over
            quant_max_bound.
        qkv_out_scale: Tensor [(heads + 2 * key heads) * width]: factors of an int32 qkv.
        qkv_bias: Tensor of the same shape, added to qkv.
        out_shift, out_smooth: Tensors [heads * width]: the result is (result + out_shift) * out_smooth.
        rope_emb: Tensor [2, batch or 1, positions, 1, width / 2 or width]: cosines and sines.
        mask: Tensor [batch, 1, length, keys], added to the scores of sequences that begin, which then see
            all of themselves.
        tgt_mask: Tensor [batch, 1, 1, keys], added to the scores of the others.
        block_size: positions in a page.
        use_neox_style: True pairs the halves of a head, False neighbours.
        compute_dtype: "fp16", "bf16" or "fp32", needed for an int32 qkv.
        out_scale, quant_round_type, quant_max_bound, quant_min_bound: an int8 result, as for
            `fused_rms_norm`.
        padding_offsets, cum_offsets, cu_seqlens_k, max_enc_len_this_time, max_dec_len_this_time, max_seq_len,
            rope_theta: accepted; the lengths say it all.
        pre_key_cache, pre_value_cache: None.
    Returns:
        (Tensor [tokens, heads * width], qkv, key_cache, value_cache).
    Raises:
        ValueError: shapes or options do not fit.
    Example:
        >>> n, no = paddle.to_tensor([2], dtype="int32"), paddle.to_tensor([0], dtype="int32")
        >>> starts, pages = paddle.to_tensor([0, 2], dtype="int32"), paddle.to_tensor([[1]], dtype="int32")
        >>> keys, values = paddle.zeros([2, 1, 4, 2]), paddle.zeros([2, 1, 4, 2])
        >>> y, *_ = paddle.incubate.nn.functional.block_multihead_attention(
        ...     paddle.arange(12.0).reshape([2, 6]), keys, values, n, no, n, no, no, starts, starts, pages,
        ...     block_size=4)
        >>> y[0].tolist(), values[1, 0, :, 0].tolist()
        ([4.0, 5.0], [4.0, 10.0, 0.0, 0.0])
    """
    _check(
        qkv,
        key_cache,
        value_cache,
        block_tables,
        block_size,
        [("pre_key_cache", pre_key_cache, None), ("pre_value_cache", pre_value_cache, None)],
    )
    scales = (cache_k_quant_scales, cache_v_quant_scales, cache_k_dequant_scales, cache_v_dequant_scales)
    if use_dynamic_cachekv_quant:
        _check_scales(scales, [block_tables.shape[0], key_cache.shape[1]])
    x = qkv
    if qkv_out_scale is not None:
        if compute_dtype not in _DTYPES:
            raise ValueError(
                f"{_NAME}: compute_dtype: got {compute_dtype!r}; with qkv_out_scale it must be "
                "'fp16', 'bf16' or 'fp32'"
            )
        # Sums of 8-bit products are scaled in float32, before the conversion.
        x = cast(cast(qkv, "float32") * reshape(qkv_out_scale, [-1]), _DTYPES[compute_dtype])
    if qkv_bias is not None:
        x = x + reshape(qkv_bias, [-1])
    y, *changed = paged_attention(
        x,
        key_cache,
        value_cache,
        seq_lens_encoder,
        seq_lens_decoder,
        seq_lens_this_time,
        cu_seqlens_q,
        block_tables,
        rope_emb,
        mask,
        tgt_mask,
        *scales,
        _longest(seq_lens_this_time, qkv.shape[0]),
        bool(use_neox_style),
        (float(quant_max_bound), float(quant_min_bound), int(quant_round_type)),
        bool(use_dynamic_cachekv_quant),
    )
    # The caches are changed in place, as the kernel does it.
    for tensor, value in zip((key_cache, value_cache, *scales)[: len(changed)], changed, strict=True):
        tensor._adopt(value)
    if out_shift is not None:
        y = y + out_shift
    if out_smooth is not None:
        y = y * out_smooth
    return (
        quantized(_NAME, y, out_scale, quant_round_type, quant_max_bound, quant_min_bound),
        qkv,
        key_cache,
        value_cache,
    )
