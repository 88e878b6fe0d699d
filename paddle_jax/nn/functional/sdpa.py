"""The arithmetic of attention, over arrays [batch, sequence, heads, width]."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.devices import traced_platform
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.fused_attention import fused_attention, is_fusible, register_reference
from paddle_jax.tensor.inner import chosen_at_random

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


# by platform: the most scores that exist at a time; longer sequences are computed in blocks
_SCORES = {"cpu": 1 << 22}
_SCORES_ELSEWHERE = 1 << 28  # where a block has to keep thousands of cores busy


def _scores(q: jax.Array, k: jax.Array, scale: float | None) -> jax.Array:
    """Scaled products [batch, key heads, queries per key head, query, key], in float32 for half precision."""
    # Query heads that share a key head lie side by side.
    grouped = q.reshape(*q.shape[:2], k.shape[2], q.shape[2] // k.shape[2], q.shape[3])
    scores = jnp.einsum("bqhgd,bkhd->bhgqk", grouped, k)
    wide = jnp.promote_types(scores.dtype, jnp.float32)
    # The softmax needs more digits than half precision has.
    return scores.astype(wide) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)


def _masked(scores: jax.Array, mask: jax.Array | None, causal: bool, first: int = 0) -> jax.Array:
    """Scores with a mask [batch or 1, heads or 1, query, key] (bool: True is kept; number: added), and
    nothing from later keys.

    first: the number of the first query.
    """
    groups = scores.shape[1:3]
    if mask is not None:
        # Missing axes are those in front.
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        # One mask for all heads.
        if mask.shape[1] == 1:
            mask = mask[:, :, None]
        else:
            mask = mask.reshape(mask.shape[0], *groups, *mask.shape[2:])
        if mask.dtype == jnp.bool_:
            scores = jnp.where(mask, scores, -jnp.inf)
        else:
            scores = scores + mask.astype(scores.dtype)
    if causal:
        shape = scores.shape[-2:]
        scores = jnp.where(
            # iotas, as a stored triangle would take as much memory as the scores.
            lax.broadcasted_iota(jnp.int32, shape, 1) <= first + lax.broadcasted_iota(jnp.int32, shape, 0),
            scores,
            -jnp.inf,
        )
    return scores


def _mixed(weights: jax.Array, v: jax.Array, dtype: Any) -> jax.Array:
    # The products run in the dtype of v, where matrix units are fast.
    out = jnp.einsum("bhgqk,bkhd->bqhgd", weights.astype(v.dtype), v)
    return out.reshape(*out.shape[:2], out.shape[2] * out.shape[3], out.shape[4]).astype(dtype)


def _flat(weights: jax.Array) -> jax.Array:
    """[batch, heads, query, key]"""
    return weights.reshape(weights.shape[0], weights.shape[1] * weights.shape[2], *weights.shape[3:])


def _attend(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: Any,
    causal: bool,
    scale: float | None,
    extra: str | None,
    drop: Any,
) -> Any:
    # All weights are asked for, so there is no memory to save.
    count = 1 if extra == "weights" else _blocks(q, k)
    if count > 1:
        return _in_blocks(count, q, k, v, mask, causal, scale, extra, drop)
    return _block(q, k, v, mask, causal, scale, extra, lambda weights: drop(weights, None), 0)


def _block(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: Any,
    causal: bool,
    scale: float | None,
    extra: str | None,
    drop: Any,
    first: int,
) -> Any:
    scores = _masked(_scores(q, k, scale), mask, causal, first)
    # Weights are dropped after the softmax, as in the Transformer (Vaswani and others, 2017).
    weights = drop(jax.nn.softmax(scores, -1))
    out = _mixed(weights, v, q.dtype)
    if extra is None:
        return out
    return (
        out,
        (
            _flat(weights).astype(q.dtype)
            if extra == "weights"
            else _flat(jax.nn.logsumexp(scores, -1, keepdims=True))[..., 0]
        ),
    )


def _blocks(q: jax.Array, k: jax.Array) -> int:
    """Into how many blocks the queries are cut, so that the scores of one block stay within the limit
    of the platform."""
    # A symbolic length has no number of blocks.
    if not all(isinstance(n, int) for n in (*q.shape, *k.shape)):
        return 1
    limit = _SCORES.get(traced_platform(), _SCORES_ELSEWHERE)
    # Rounded up, but no more blocks than queries.
    return min(q.shape[1], -(-q.shape[0] * q.shape[1] * q.shape[2] * k.shape[1] // limit))


def _in_blocks(
    count: int,
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: Any,
    causal: bool,
    scale: float | None,
    extra: str | None,
    drop: Any,
) -> Any:
    """Attention block by block of the queries, each against all keys; the backward pass computes the scores
    of a block again.

    So memory grows with the length of the sequence, not with its square.
    """
    length = q.shape[1]
    rows = -(-length // count)
    # Blocks of whole rows may be fewer than were asked for.
    count = -(-length // rows)

    def cut(x: jax.Array, axis: int) -> jax.Array:
        """x [..., length, ...] as [blocks, ..., rows, ...]."""
        # The last block is filled up; these rows are cut off at the end.
        x = jnp.pad(x, [(0, count * rows - length) if a == axis else (0, 0) for a in range(x.ndim)])
        return jnp.moveaxis(x.reshape(*x.shape[:axis], count, rows, *x.shape[axis + 1 :]), axis, 0)

    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    # A mask with one row holds for all queries.
    parted = mask is not None and mask.shape[2] > 1

    # The backward pass computes the weights of a block once more in place of storing them.
    @jax.checkpoint
    def one(block: Any) -> Any:
        number, queries, part = block
        return _block(
            queries,
            k,
            v,
            part if parted else mask,
            causal,
            scale,
            extra,
            lambda weights: drop(weights, number),
            number * rows,
        )

    # One block after the other, so that only one has its scores in memory.
    made = lax.map(one, (jnp.arange(count), cut(q, 1), cut(mask, 2) if parted else None))
    out, lse = made if extra == "lse" else (made, None)
    # The last block may have been filled up.
    out = jnp.moveaxis(out, 0, 1).reshape(q.shape[0], count * rows, *out.shape[3:])[:, :length]
    if lse is None:
        return out
    return (out, jnp.moveaxis(lse, 0, 2).reshape(*lse.shape[1:3], count * rows)[..., :length])


@known_as(amp="flash_attn", code="sequences:attend")
@op("q k v mask", method=False, register=False)
def attend(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: jax.Array | None = None,
    causal: bool = False,
    scale: float | None = None,
    extra: str | None = None,
) -> jax.Array:
    """Attention; extra: None, "weights" or "lse" (log of the sum of exponentials) makes the result a pair."""
    # Fused kernels give no weights, and the CPU has none of them.
    if extra is None and traced_platform() != "cpu" and is_fusible(q, k, v, mask):
        return fused_attention(q, k, v, mask, causal, scale)
    return _attend(q, k, v, mask, causal, scale, extra, _keep_all)


def _keep_all(weights: jax.Array, number: Any) -> jax.Array:
    """Drops no weights."""
    return weights


register_reference(
    lambda q, k, v, mask, causal, scale: _attend(q, k, v, mask, causal, scale, "lse", _keep_all)
)


@known_as(amp="flash_attn", code="sequences:attend")
@op("q k v mask", random=True, method=False, register=False)
def attend_dropout(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: jax.Array | None = None,
    causal: bool = False,
    scale: float | None = None,
    extra: str | None = None,
    p: float = 0.0,
    *,
    key: jax.Array,
) -> jax.Array:
    """`attend` with weights dropped at random."""

    def drop(weights: jax.Array, number: Any) -> jax.Array:
        # 1 / (1 - p) would be infinite.
        if p == 1:
            return jnp.zeros_like(weights)
        if number is None:
            drawn = key
        else:
            # Each block draws numbers of its own.
            drawn = jax.random.fold_in(key, number)
        return jnp.where(chosen_at_random(drawn, 1 - p, weights.shape), weights / (1 - p), 0)

    return _attend(q, k, v, mask, causal, scale, extra, drop)


class _Attention(threading.local):
    """How this thread computes attention.

    Attributes:
        replacement: (q, k, v, is_causal, scale) -> Tensor, or None where it does not apply; it computes what
            has neither mask nor dropout. None: nothing is replaced.
        over_processes: (q, k, v, mask, dropout, is_causal, scale) -> Tensor, where q, k and v are parts of
            sequences of several processes; nothing else is right then. None: they are whole.
    """

    replacement: Callable[..., Any] | None = None
    over_processes: Callable[..., Any] | None = None


Attention: _Attention = _Attention()


def attention(
    op_name: str,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Any,
    dropout: float,
    causal: bool,
    scale: float | None,
    extra: str | None,
) -> Any:
    """Checks shapes and runs attention on Tensors."""
    if not q.ndim == k.ndim == v.ndim == 4:
        raise ValueError(
            f"{op_name}: got shapes {list(q.shape)}, {list(k.shape)}, {list(v.shape)}; "
            "all must be [batch, sequence, heads, width]"
        )
    if (
        k.shape[1:3] != v.shape[1:3]
        or q.shape[3] != k.shape[3]
        or k.shape[0] != q.shape[0]
        or v.shape[0] != q.shape[0]
    ):
        raise ValueError(
            f"(InvalidArgument) {op_name}: got shapes {list(q.shape)}, {list(k.shape)}, "
            f"{list(v.shape)}; batch, width of query and key, length of key and "
            "value must agree"
        )
    if k.shape[2] == 0 or q.shape[2] % k.shape[2]:
        raise ValueError(
            f"{op_name}: query has {q.shape[2]} heads; they must be a multiple of the "
            f"{k.shape[2]} heads of key"
        )
    scale = None if scale is None else float(scale)
    if not 0 <= dropout <= 1:
        raise ValueError(f"{op_name}: dropout: got {dropout}; a probability lies between 0 and 1")
    if Attention.over_processes is not None:
        if extra is not None:
            raise NotImplementedError(
                f"{op_name}: got a request for {extra} with cp_degree above 1 over processes; each of them "
                "has a part of the keys; ask for the result alone"
            )
        return Attention.over_processes(q, k, v, mask, dropout, bool(causal), scale)
    if dropout:
        return attend_dropout(q, k, v, mask, bool(causal), scale, extra, float(dropout))
    # A context may replace the formula, such as by one over several processes.
    if Attention.replacement is not None and mask is None and extra is None:
        out = Attention.replacement(q, k, v, bool(causal), scale)
        if out is not None:
            return out
    return attend(q, k, v, mask, bool(causal), scale, extra)
