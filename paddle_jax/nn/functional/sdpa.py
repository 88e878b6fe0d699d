"""The arithmetic of attention, over arrays [batch, sequence, heads, width]."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.op import op


def _scores(q, k, scale):
    """Scaled products [batch, key heads, queries per key head, query, key], in float32 for half precision."""
    grouped = q.reshape(*q.shape[:2], k.shape[2], q.shape[2] // k.shape[2], q.shape[3])
    scores = jnp.einsum("bqhgd,bkhd->bhgqk", grouped, k)
    wide = jnp.promote_types(scores.dtype, jnp.float32)
    return scores.astype(wide) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)


def _masked(scores, mask, causal):
    """Scores with a mask [batch or 1, heads or 1, query, key] (bool: True is kept; number: added), and nothing from later keys."""
    groups = scores.shape[1:3]
    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        mask = mask[:, :, None] if mask.shape[1] == 1 else mask.reshape(mask.shape[0], *groups, *mask.shape[2:])
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == jnp.bool_ else scores + mask.astype(scores.dtype)
    if causal:
        queries, keys = scores.shape[-2:]
        scores = jnp.where(np.tril(np.ones((queries, keys), bool)), scores, -jnp.inf)
    return scores


def _mixed(weights, v, dtype):
    out = jnp.einsum("bhgqk,bkhd->bqhgd", weights.astype(v.dtype), v)
    return out.reshape(*out.shape[:2], out.shape[2] * out.shape[3], out.shape[4]).astype(dtype)


def _flat(weights):
    """[batch, heads, query, key]"""
    return weights.reshape(weights.shape[0], weights.shape[1] * weights.shape[2], *weights.shape[3:])


def _attend(q, k, v, mask, causal, scale, extra, drop):
    scores = _masked(_scores(q, k, scale), mask, causal)
    weights = drop(jax.nn.softmax(scores, -1))
    out = _mixed(weights, v, q.dtype)
    if extra is None:
        return out
    return out, _flat(weights).astype(q.dtype) if extra == "weights" else _flat(jax.nn.logsumexp(scores, -1, keepdims=True))[..., 0]


@op("q k v mask", method=False, register=False)
def attend(q, k, v, mask=None, causal=False, scale=None, extra=None):
    """Attention; extra: None, "weights" or "lse" (log of the sum of exponentials) makes the result a pair."""
    return _attend(q, k, v, mask, causal, scale, extra, lambda w: w)


@op("q k v mask", random=True, method=False, register=False)
def attend_dropout(q, k, v, mask=None, causal=False, scale=None, extra=None, p=0.0, *, key):
    """`attend` with weights dropped at random."""

    def drop(w):
        return jnp.where(jax.random.bernoulli(key, np.float32(1 - p), w.shape), w / (1 - p), 0) if p < 1 else jnp.zeros_like(w)

    return _attend(q, k, v, mask, causal, scale, extra, drop)


def attention(op_name, q, k, v, mask, dropout, causal, scale, extra):
    """Checks shapes and runs attention on Tensors."""
    if not q.ndim == k.ndim == v.ndim == 4:
        raise ValueError(f"{op_name}: got shapes {list(q.shape)}, {list(k.shape)}, {list(v.shape)}; all must be [batch, sequence, heads, width]")
    if k.shape[1:3] != v.shape[1:3] or q.shape[3] != k.shape[3] or k.shape[0] != q.shape[0] or v.shape[0] != q.shape[0]:
        raise ValueError(f"(InvalidArgument) {op_name}: got shapes {list(q.shape)}, {list(k.shape)}, {list(v.shape)}; "
                         "batch, width of query and key, length of key and value must agree")
    if k.shape[2] == 0 or q.shape[2] % k.shape[2]:
        raise ValueError(f"{op_name}: query has {q.shape[2]} heads; they must be a multiple of the {k.shape[2]} heads of key")
    scale = None if scale is None else float(scale)
    if not 0 <= dropout <= 1:
        raise ValueError(f"{op_name}: dropout: got {dropout}; a probability lies between 0 and 1")
    if dropout:
        return attend_dropout(q, k, v, mask, bool(causal), scale, extra, float(dropout))
    return attend(q, k, v, mask, bool(causal), scale, extra)
