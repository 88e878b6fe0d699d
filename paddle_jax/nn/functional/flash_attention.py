"""Attention under the names of the flash attention kernels. GPUs and TPUs have fused kernels
(fused_attention.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.size import index_range
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.nn.attention import SDPBackend as SDPBackend
from paddle_jax.nn.attention import sdpa_kernel as sdpa_kernel
from paddle_jax.nn.functional.sdpa import attention

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


@composite(
    method=False,
    cases=[
        "f(1,3,2,4), f(1,3,2,4), f(1,3,2,4)",
        "f(1,3,2,4), f(1,3,2,4), f(1,3,2,4), is_causal=True",
        "f(1,2,2,4), f(1,3,2,4), f(1,3,2,4), is_causal=True",
        "f(1,2,2,4), f(1,3,2,4), f(1,3,2,5)",
        "f(1,2,2,4), f(1,3,2,4), f(1,3,2,4), f(1,2,2,3)",
        "f(1,2,2,4), f(1,3,2,4), f(1,3,2,4), const(np.array([[1,0,1],[1,1,0]],bool))",
        "f(1,2,2,4), f(1,3,2,4), f(1,3,2,4), f(2,3)",
        "f(1,3,4,4), f(1,3,2,4), f(1,3,2,4)",
        "f(1,3,4,4), f(1,3,2,4), f(1,3,2,4), enable_gqa=False",
        "f(1,3,2,4), f(1,3,2,4), f(1,3,2,4), scale=1.0",
        "f(3,2,4), f(3,2,4), f(3,2,4)",
        "d(2,2,2,4), d(2,3,2,4), d(2,3,2,4)",
        "f(1,2,2,4), f(1,3,2,5), f(1,3,2,4)",
        "f(2,4), f(3,4), f(3,4)",
        "~f(1,3,2,4), f(1,3,2,4), f(1,3,2,4), dropout_p=0.5",
        "f(1,0,2,4), f(1,3,2,4), f(1,3,2,4)",
        "f(1,2,4,4), f(1,3,2,4), f(1,3,2,4), f(1,4,2,3)",
        "f(1,3,2,4), f(1,3,2,4), f(1,3,2,4), dropout_p=0.5, training=False",
    ],
)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Tensor:
    """softmax(scale * query @ key^T + mask) @ value, for each head.

    Args:
        query: Tensor [batch, query length, heads, width], or without batch.
        key, value: Tensors [batch, key length, heads, width]; fewer heads are shared by
            neighbouring query heads.
        attn_mask: Tensor broadcastable with [batch, heads, query length, key length]: bool (True takes part)
            or floating (added).
        dropout_p: probability of dropping a weight while training.
        is_causal: position i sees keys 0..i only; attn_mask is not used then.
        training: False drops nothing.
        backend: accepted; the platform decides the implementation.
        scale: factor of the products. Default: 1 / sqrt(width).
        enable_gqa: allow fewer key heads than query heads.
    Returns:
        Tensor [batch, query length, heads, width of value].
    Raises:
        ValueError: shapes do not fit.
        AssertionError: the numbers of heads differ and enable_gqa is False.
    Example:
        >>> x = paddle.ones([1, 3, 2, 4]); paddle.nn.functional.scaled_dot_product_attention(x, x, x).shape
        paddle.Size([1, 3, 2, 4])

    See: Vaswani et al., Attention Is All You Need, 2017, section 3.2.
    """
    single = query.ndim == 3
    check_equal_dtypes("scaled_dot_product_attention", query, key, value)
    # A sequence alone is a batch of one.
    q, k, v = (t.unsqueeze(0) if single else t for t in (query, key, value))
    if q.ndim == 4 and not enable_gqa and not q.shape[2] == k.shape[2] == v.shape[2]:
        raise AssertionError(
            f"scaled_dot_product_attention: got {q.shape[2]}, {k.shape[2]} and {v.shape[2]} "
            "heads; they must be equal when enable_gqa is False"
        )
    # Paddle's causal form takes no mask besides.
    mask = None if is_causal else attn_mask
    out = attention(
        "scaled_dot_product_attention", q, k, v, mask, dropout_p if training else 0.0, is_causal, scale, None
    )
    if single:
        return out.squeeze(0)
    return out


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Attention with optional causal mask and dropout.

    Args:
        query, key, value: Tensors [batch, sequence, heads, width].
        dropout: probability of dropping a weight while training.
        causal: position i sees keys 0..i only.
        return_softmax: also return the weights [batch, heads, query, key].
        fixed_seed_offset, rng_name: accepted; random numbers come from the default generator.
        training: False drops nothing.
        softmax_scale: factor of the products. Default: 1 / sqrt(width).
    Returns:
        (Tensor, weights or None).
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> out, _ = paddle.nn.functional.flash_attention.flash_attention(x, x, x)
        >>> out.shape
        paddle.Size([1, 3, 2, 4])

    See: Dao et al., FlashAttention, 2022.
    """
    p = dropout if training else 0.0
    out = attention(
        "flash_attention",
        query,
        key,
        value,
        None,
        p,
        causal,
        softmax_scale,
        "weights" if return_softmax else None,
    )
    if return_softmax:
        return out
    # Paddle returns a pair in either case.
    return (out, None)


def _unpacked(op_name: str, qkv: Tensor, axis: int) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value from one Tensor [..., query groups + 2, key heads, width]."""
    if qkv.ndim != axis + 3 or qkv.shape[axis] < 3:
        raise ValueError(
            f"{op_name}: qkv: got shape {list(qkv.shape)}; it must be [..., query groups + 2, "
            "key heads, width]"
        )
    # The axis holds all query groups, then one key and one value.
    groups = qkv.shape[axis] - 2
    query, key, value = qkv.split([groups, 1, 1], axis)
    # query heads that share a key head stand next to each other
    order = [*range(axis), axis + 1, axis, axis + 2]
    query = query.transpose(order).reshape([*qkv.shape[:axis], groups * qkv.shape[axis + 1], qkv.shape[-1]])
    return query, key.squeeze(axis), value.squeeze(axis)


@composite(
    method=False, cases=["f(1,3,3,2,4)", "f(1,3,3,2,4), causal=True, return_softmax=True", "d(2,3,3,1,4)"]
)
def flash_attn_qkvpacked(
    qkv: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`flash_attention` of query, key and value packed in one Tensor.

    Args:
        qkv: Tensor [batch, sequence, query groups + 2, key heads, width].
        dropout, causal, return_softmax, fixed_seed_offset, rng_name, training: as for `flash_attention`.
    Returns:
        (Tensor [batch, sequence, heads, width], weights or None).
    Example:
        >>> out, _ = paddle.nn.functional.flash_attn_qkvpacked(paddle.ones([1, 3, 3, 2, 4])); out.shape
        paddle.Size([1, 3, 2, 4])
    """
    return flash_attention(
        *_unpacked("flash_attn_qkvpacked", qkv, 2), dropout, causal, return_softmax, training=training
    )


@op("starts_q starts_k used_q used_k", method=False, register=False, nondiff=True)
def _segment_mask(
    starts_q: jax.Array,
    starts_k: jax.Array,
    used_q: jax.Array | None = None,
    used_k: jax.Array | None = None,
    total_q: int = 0,
    total_k: int = 0,
    causal: bool = False,
    window: tuple[int, int] = (-1, -1),
) -> jax.Array:
    """bool [1, 1, query, key]: positions of the same sequence; causal counts from the end of both."""
    segments = []
    places = []
    lengths = []
    for starts, used, total in ((starts_q, used_q, total_q), (starts_k, used_k, total_k)):
        at = index_range(total)
        # The sequence that each position belongs to: the last one that starts at it or before.
        segment = jnp.searchsorted(starts, at, side="right") - 1
        # Positions behind the last sequence count as its own; the mask below leaves them out.
        segment = jnp.clip(segment, 0, starts.shape[0] - 2)
        # Of a sequence only so many positions are in use.
        size = jnp.diff(starts) if used is None else used
        segments.append(segment)
        places.append(at - starts[segment])
        lengths.append(size[segment])
    mask = (
        (segments[0][:, None] == segments[1][None])
        & (places[0] < lengths[0])[:, None]
        & (places[1] < lengths[1])[None]
    )
    sizes_k = (jnp.diff(starts_k) if used_k is None else used_k)[segments[0]]
    # how far the key lies before the query
    gap = places[0][:, None] + (sizes_k - lengths[0])[:, None] - places[1][None]
    # Causal within each sequence, counted from its end.
    if causal:
        mask &= gap >= 0
    # -1 means no limit on that side.
    left, right = window
    if left >= 0:
        mask &= gap <= left
    if right >= 0:
        mask &= gap >= -right
    return mask[None, None]


def flash_attn_unpadded(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: Any,
    max_seqlen_k: Any,
    scale: float,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Attention of sequences of different lengths that lie one after the other.

    Args:
        query, key, value: Tensors [total length, heads, width].
        cu_seqlens_q, cu_seqlens_k: int32 Tensors [sequences + 1]: where each sequence starts, and the total.
        max_seqlen_q, max_seqlen_k: accepted; the lengths follow from the starts.
        scale: factor of the products.
        dropout, causal, return_softmax, fixed_seed_offset, rng_name, training: as for `flash_attention`; with
            causal the ends of query and key sequence coincide.
    Returns:
        (Tensor [total length, heads, width], weights [heads, query, key] or None).
    Example:
        >>> x, starts = paddle.ones([5, 2, 4]), paddle.to_tensor([0, 2, 5], dtype="int32")
        >>> out, _ = paddle.nn.functional.flash_attention.flash_attn_unpadded(x, x, x, starts, starts, 3, 3,
        ...                                                                   0.5)
        >>> out.shape
        paddle.Size([5, 2, 4])
    """
    mask = _segment_mask(cu_seqlens_q, cu_seqlens_k, None, None, query.shape[0], key.shape[0], bool(causal))
    # All sequences lie in one row, kept apart by the mask.
    q, k, v = (t.unsqueeze(0) for t in (query, key, value))
    p = dropout if training else 0.0
    out = attention(
        "flash_attn_unpadded", q, k, v, mask, p, False, scale, "weights" if return_softmax else None
    )
    if return_softmax:
        return (out[0].squeeze(0), out[1].squeeze(0))
    return (out.squeeze(0), None)


def flash_attn_varlen_qkvpacked(
    qkv: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: Any,
    max_seqlen_k: Any,
    scale: float,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    varlen_padded: bool = True,
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`flash_attn_unpadded` of query, key and value packed in one Tensor [total length, query groups + 2,
    key heads, width].

    Args:
        qkv: Tensor [total length, query groups + 2, key heads, width]: the queries of each key head, then
            its key and its value.
        cu_seqlens_q, cu_seqlens_k: int32 Tensors [batch + 1], where each sequence begins.
        max_seqlen_q, max_seqlen_k: the lengths of the longest sequences.
        scale: number that products of queries and keys are multiplied with.
        dropout, causal, return_softmax, fixed_seed_offset, rng_name, training: as for `flash_attn_unpadded`.
        varlen_padded: accepted.
    Returns:
        (Tensor [total length, heads, width], softmax or None), as of `flash_attn_unpadded`.
    Example:
        >>> starts = paddle.to_tensor([0, 2, 5], dtype="int32")
        >>> out, _ = paddle.nn.functional.flash_attn_varlen_qkvpacked(paddle.ones([5, 3, 2, 4]), starts,
        ...                                                           starts, 3, 3, 0.5)
        >>> out.shape
        paddle.Size([5, 2, 4])
    """
    q, k, v = _unpacked("flash_attn_varlen_qkvpacked", qkv, 1)
    return flash_attn_unpadded(
        q,
        k,
        v,
        cu_seqlens_q,
        cu_seqlens_k,
        max_seqlen_q,
        max_seqlen_k,
        scale,
        dropout,
        causal,
        return_softmax,
        training=training,
    )


def flash_attention_v3_varlen(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: Any,
    max_seqlen_k: Any,
    seqused_q: Tensor | None = None,
    seqused_k: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    qv: Tensor | None = None,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
    window_size: Any = (-1, -1),
    softcap: float = 0.0,
    num_splits: int = 1,
    pack_gqa: bool | None = None,
    sm_margin: int = 0,
) -> tuple[Tensor, Tensor]:
    """Attention of sequences of different lengths that lie one after the other.

    Args:
        query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k: as for
            `flash_attn_unpadded`.
        seqused_q, seqused_k: int Tensors [sequences]: how much of each sequence counts. Default: all.
        softmax_scale: factor of the products. Default: 1 / sqrt(width).
        causal: later keys are not seen.
        window_size: (left, right): how many keys before and after are seen; -1 for all.
        num_splits, pack_gqa, sm_margin: accepted; they steer a GPU kernel that is not used here.
        qv, q_descale, k_descale, v_descale, softcap: must be left at their defaults.
    Returns:
        (Tensor [total length, heads, width], log of the sum of exponentials [heads, total length]).
    Raises:
        ValueError: an option for 8-bit kernels or softcap is given.
    Example:
        >>> x, starts = paddle.ones([5, 2, 4]), paddle.to_tensor([0, 2, 5], dtype="int32")
        >>> paddle.nn.functional.flash_attention_v3_varlen(x, x, x, starts, starts, 3, 3)[0].shape
        paddle.Size([5, 2, 4])
    """
    if any(a is not None for a in (qv, q_descale, k_descale, v_descale)) or softcap:
        raise ValueError(
            "flash_attention_v3_varlen: qv, q_descale, k_descale, v_descale, softcap: "
            "they belong to 8-bit and capped kernels; leave them at their defaults"
        )
    mask = _segment_mask(
        cu_seqlens_q,
        cu_seqlens_k,
        seqused_q,
        seqused_k,
        query.shape[0],
        key.shape[0],
        bool(causal),
        tuple(window_size),
    )
    q, k, v = (t.unsqueeze(0) for t in (query, key, value))
    out, lse = attention("flash_attention_v3_varlen", q, k, v, mask, 0.0, False, softmax_scale, "lse")
    return out.squeeze(0), lse.squeeze(0)


flash_attn_varlen_func = flash_attention_v3_varlen


@op("rows", method=False, register=False, nondiff=True)
def _row_mask(rows: jax.Array, heads: int, queries: int, causal: bool, window: tuple[int, int]) -> jax.Array:
    """bool [batch, heads, query, key] from the first and last query rows that may not see each key."""
    i = index_range(queries)[:, None]
    bounds = [rows[..., n][:, :, None, :] for n in range(rows.shape[-1])]
    # One bound: rows from there on are hidden below the diagonal.
    if len(bounds) == 1:
        hidden = i >= bounds[0]
    # Two bounds: a block below the diagonal, or parts on both sides of it.
    elif len(bounds) == 2:
        if causal:
            hidden = (i >= bounds[0]) & (i < bounds[1])
        else:
            hidden = (i >= bounds[0]) | (i < bounds[1])
    # Four bounds: a block below and one above the diagonal.
    else:
        hidden = (i >= bounds[0]) & (i < bounds[1]) | (i >= bounds[2]) & (i < bounds[3])
    # How far each query comes after each key.
    gap = i - index_range(rows.shape[2])
    mask = ~hidden
    if causal:
        mask &= gap >= 0
    if window is not None:
        mask &= (gap <= window[0]) & (gap >= -window[1])
    # Query heads share the mask of their key head.
    if mask.shape[1] > 1:
        return jnp.repeat(mask, heads // mask.shape[1], axis=1)
    return mask


def flashmask_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    startend_row_indices: Tensor | None = None,
    *,
    dropout: float = 0.0,
    causal: bool = False,
    window_size: Any = None,
    return_softmax_lse: bool = False,
    return_seed_offset: bool = False,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
    block_mask: Tensor | None = None,
) -> Any:
    """Attention with a mask that is given column by column: for each key the query rows that may not see it.

    Args:
        query, key, value: Tensors [batch, sequence, heads, width].
        startend_row_indices: int32 Tensor [batch, 1 or key heads, key length, n]. Causal: n = 1 hides rows
            from the number on, n = 2 rows from the first to before the second. Not causal: n = 2 hides rows
            from the first on and rows before the second, n = 4 two ranges of rows.
        dropout, causal, fixed_seed_offset, rng_name, training, softmax_scale: as for `flash_attention`.
        window_size: int or (left, right): how many keys before and after are seen.
        return_softmax_lse: also return the log of the sum of exponentials [batch, heads, query].
        return_seed_offset, block_mask: must be left at their defaults; there is no seed per call and no
            block sparse kernel.
    Returns:
        Tensor [batch, sequence, heads, width], or (that, log of the sum of exponentials).
    Raises:
        ValueError: shapes or options do not fit.
    Example:
        >>> x, rows = paddle.ones([1, 3, 2, 4]), paddle.full([1, 1, 3, 1], 3, dtype="int32")
        >>> paddle.nn.functional.flashmask_attention(x, x, x, rows, causal=True).shape
        paddle.Size([1, 3, 2, 4])

    See: Wang et al., FlashMask, 2024.
    """
    if return_seed_offset or block_mask is not None:
        raise ValueError(
            "flashmask_attention: return_seed_offset, block_mask: there is no seed per call and "
            "no block sparse kernel; leave them at their defaults"
        )
    if isinstance(window_size, int):
        # A causal query sees no later key, so the window has no right part.
        window = (window_size, 0 if causal else window_size)
    else:
        window = window_size
    rows = startend_row_indices
    # A window without bounds: bounds that hide nothing.
    if rows is None and window is not None:
        rows = wrap(jnp.full((1, 1, key.shape[1], 1), query.shape[1], jnp.int32))
    mask = None
    if rows is not None:
        if (
            rows.ndim != 4
            or rows.shape[2] != key.shape[1]
            or rows.shape[3] not in ((1, 2) if causal else (1, 2, 4))
        ):
            raise ValueError(
                f"flashmask_attention: startend_row_indices: got shape {list(rows.shape)}; "
                f"it must be [batch, heads, {key.shape[1]}, 1, 2 or (not causal) 4]"
            )
        mask = _row_mask(
            rows, query.shape[2], query.shape[1], bool(causal), None if window is None else tuple(window)
        )
    p = dropout if training else 0.0
    return attention(
        "flashmask_attention",
        query,
        key,
        value,
        mask,
        p,
        # The mask covers the causal part already.
        causal and mask is None,
        softmax_scale,
        "lse" if return_softmax_lse else None,
    )


@op("query key softmax_lse", method=False, register=False)
def calc_reduced_attention_scores(query: jax.Array, key: jax.Array, softmax_lse: jax.Array) -> jax.Array:
    """How much attention each key gets in all: the weights summed over the queries.

    Args:
        query, key: Tensors [batch, sequence, heads, width].
        softmax_lse: Tensor [batch, heads, query length]: logs of the sums of exponentials.
    Returns:
        Tensor [batch, heads, 1, key length].
    Example:
        >>> x = paddle.zeros([1, 2, 1, 4]); lse = paddle.log(paddle.full([1, 1, 2], 2.0))
        >>> paddle.nn.functional.flash_attention.calc_reduced_attention_scores(x, x, lse).flatten().tolist()
        [1.0, 1.0]
    """
    # exp(score - log of the sum): weights without a second softmax.
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key).astype(jnp.float32) * query.shape[-1] ** -0.5
    return jnp.sum(jnp.exp(scores - softmax_lse[..., : query.shape[1], None]), 2, keepdims=True)


def get_triangle_upper_mask(x: Tensor) -> Tensor:
    """A Tensor like x with -10000 above the diagonal and 0 elsewhere, to be added to attention scores."""
    size = x.shape[-2:]
    return wrap(
        # -10000 stands for minus infinity in half precision.
        jnp.broadcast_to(jnp.asarray(np.triu(np.full(size, -10000.0), 1), numpy_dtype(x)), tuple(x.shape))
    )


@contextlib.contextmanager
def sdp_kernel(
    enable_math: bool = False, enable_flash: bool = True, enable_mem_efficient: bool = True
) -> Iterator[None]:
    """Accepts a choice of attention kernels for a `with` block; there is one implementation, so
    results do not change."""
    yield


@op("query key value offset columns padding mask", method=False, register=False)
def _sparse(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    offset: jax.Array,
    columns: jax.Array,
    padding: jax.Array | None = None,
    mask: jax.Array | None = None,
) -> jax.Array:
    length = query.shape[2]
    count = columns.shape[-1]
    b, h, n = jnp.ogrid[: query.shape[0], : query.shape[1], :count]
    # The row that each place of the CSR form belongs to.
    row = jnp.sum(n[..., None] >= offset[:, :, None, 1:], -1)
    kept = jnp.zeros((*query.shape[:2], length, length), bool).at[b, h, row, columns].set(True, mode="drop")
    if padding is not None:
        kept &= (padding != 0)[:, None, None, :]
    if mask is not None:
        kept &= (mask != 0)[None, None]
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) * query.shape[-1] ** -0.5
    # The largest score is taken away first, so that exp cannot overflow.
    top = jnp.max(jnp.where(kept, scores, -jnp.inf), -1, keepdims=True)
    weights = jnp.where(kept, jnp.exp(jnp.where(kept, scores - jnp.where(jnp.isfinite(top), top, 0), 0)), 0)
    total = jnp.sum(weights, -1, keepdims=True)
    # A row that keeps nothing is zero.
    return jnp.einsum("bhqk,bhkd->bhqd", weights / jnp.where(total == 0, 1, total), value)


def sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_csr_offset: Tensor,
    sparse_csr_columns: Tensor,
    key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Attention where each query sees only the keys listed for it in compressed row form.

    Args:
        query, key, value: Tensors [batch, heads, length, width].
        sparse_csr_offset: int32 Tensor [batch, heads, length + 1]: where the keys of each query
            start in the list.
        sparse_csr_columns: int32 Tensor [batch, heads, n]: the keys.
        key_padding_mask: Tensor [batch, length], 0 hides a key, or None.
        attn_mask: Tensor [length, length], 0 hides a pair, or None.
    Returns:
        Tensor [batch, heads, length, width].
    Example:
        >>> x = paddle.ones([1, 1, 2, 3])
        >>> starts, keys = paddle.to_tensor([[[0, 1, 2]]]), paddle.to_tensor([[[0, 1]]])
        >>> paddle.nn.functional.sparse_attention(x, x, x, starts, keys).shape
        paddle.Size([1, 1, 2, 3])
    """
    return _sparse(query, key, value, sparse_csr_offset, sparse_csr_columns, key_padding_mask, attn_mask)
