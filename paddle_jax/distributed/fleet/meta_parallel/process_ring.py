"""Attention over a sequence of which each process has a part: keys and values travel round the processes.

The same sums as `auto_parallel/ring_attention.py`, which has all devices in one program. Each process keeps
its queries, and process r has the positions r * length and on.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.random import next_key
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.distributed.auto_parallel.ring_attention import add_block, block_gradients
from paddle_jax.distributed.communication.point_to_point import P2POp, batch_isend_irecv, irecv, isend
from paddle_jax.nn.functional.sdpa import Attention
from paddle_jax.tensor.creation import empty_like
from paddle_jax.tensor.inner import chosen_at_random

__all__ = []


def attention_over(group: Any) -> swapped_attributes:
    """A block in which attention is that over the sequence of all processes of a group.

    A mask has the rows of this process and the columns of the whole sequence.
    """

    def attend(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        dropout: float,
        is_causal: bool,
        scale: float | None,
    ) -> Any:
        if q.shape[1] != k.shape[1]:
            raise ValueError(
                f"attention over processes: query: got a part of {q.shape[1]} positions, and {k.shape[1]} "
                "of key; a process has the same positions of both"
            )
        factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
        bias = None if mask is None else _bias(mask, q, group)
        # Each process drops weights of its own queries.
        key = jax.random.fold_in(next_key(), group.rank) if dropout else None
        settings = _Settings(group, is_causal, factor, bias, dropout, key)
        return _ProcessRing.apply(q, k, v, settings)

    return swapped_attributes(Attention, over_processes=attend)


def _bias(mask: Tensor, q: Tensor, group: Any) -> jax.Array:
    """What a mask adds to scores [batch or 1, heads or 1, rows or 1, positions of the whole sequence]."""
    if not mask.stop_gradient:
        raise NotImplementedError(
            "attention over processes: mask: it wants a gradient, which is not computed here; detach it"
        )
    array = _array(mask)
    # Axes that are missing in front have length 1.
    array = array.reshape((1,) * (4 - array.ndim) + array.shape)
    batch, rows, heads = q.shape[:3]
    whole = rows * group.nranks
    allowed = ((1, batch), (1, heads), (1, rows), (whole,))
    if any(length not in lengths for length, lengths in zip(array.shape, allowed, strict=True)):
        raise ValueError(
            f"attention over processes: mask: got shape {list(mask.shape)}; a process has its own rows and "
            f"all columns: [{batch} or 1, {heads} or 1, {rows} or 1, {whole}]"
        )
    if array.dtype == jnp.bool_:
        # True is what may be seen.
        return jnp.where(array, 0.0, -jnp.inf)
    return array


class _Settings(NamedTuple):
    """How the queries of this process look at keys.

    Attributes:
        group: Group of the processes.
        is_causal: bool, whether later keys are not seen.
        scale: float, what products of queries and keys are multiplied by.
        bias: array that is added to the scores, or None.
        dropout: float, the share of weights that are dropped.
        key: key of the random numbers for that, or None.
    """

    group: Any
    is_causal: bool
    scale: float
    bias: jax.Array | None
    dropout: float
    key: jax.Array | None

    def block(self, function: Callable[..., Any], hop: int, queries: jax.Array, keys: Tensor) -> Any:
        """The function of a block of keys that has come in a hop; None where no query sees them."""
        step = _step(function, self.scale, _mask(self.group, hop, self.is_causal))
        if step is None:
            return None
        source = (self.group.rank - hop) % self.group.nranks
        return ft.partial(
            step,
            bias=self._bias_of(source, queries, keys),
            drop_factors=self._drop_factors(source, queries, keys),
        )

    def _bias_of(self, source: int, queries: jax.Array, keys: Tensor) -> jax.Array | None:
        """The columns of the keys of a process, by [batch, key head, queries per key head, query, key]."""
        if self.bias is None:
            return None
        length, key_heads = keys.shape[1:3]
        part = self.bias[..., source * length : (source + 1) * length]
        # One mask for all heads.
        if part.shape[1] == 1:
            return part[:, :, None]
        return part.reshape(part.shape[0], key_heads, -1, *part.shape[2:])

    def _drop_factors(self, source: int, queries: jax.Array, keys: Tensor) -> jax.Array | None:
        """What weights are multiplied by: the same numbers in the forward and in the backward pass."""
        if self.key is None:
            return None
        batch, length, heads = queries.shape[:3]
        key_heads = keys.shape[2]
        shape = (batch, key_heads, heads // key_heads, length, keys.shape[1])
        # 1 / (1 - p) would be infinite.
        if self.dropout == 1:
            return jnp.zeros(shape)
        kept = chosen_at_random(jax.random.fold_in(self.key, source), 1 - self.dropout, shape)
        # Python numbers leave the dtype of the weights as it is.
        return jnp.where(kept, 1 / (1 - self.dropout), 0.0)


class _ProcessRing(PyLayer):
    """Attention of the queries of this process to the keys and values of all."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, settings: _Settings) -> Tensor:
        group = settings.group
        queries = _array(q)
        # Sums over the hops would lose digits in half precision.
        wide = jnp.promote_types(queries.dtype, jnp.float32)
        out = jnp.zeros((*q.shape[:3], v.shape[3]), wide)
        lse = jnp.full(tuple(q.shape[:3]), -jnp.inf, wide)
        pair = [k.detach(), v.detach()]
        for hop in range(group.nranks):
            # After the last hop nobody needs these keys.
            following = _onward(pair, group) if hop < group.nranks - 1 else []
            step = settings.block(add_block, hop, queries, k)
            if step is not None:
                out, lse = step(queries, *map(_array, pair), out, lse)
            pair = following
        # A query that sees no key has no weights; one process gives NaN as well.
        out = jnp.where(jnp.isneginf(lse)[..., None], jnp.nan, out).astype(queries.dtype)
        ctx.settings = settings
        ctx.arrays = (queries, out, lse)
        # Keys and values of this process alone: those of others travel once more.
        ctx.save_for_backward(k, v)
        return wrap(out)

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        settings = ctx.settings
        group = settings.group
        queries, out, lse = ctx.arrays
        k, v = (one.detach() for one in ctx.saved_tensor())
        wide = _array(cotangent).astype(lse.dtype)
        # the part of the derivative of softmax that all keys have in common
        delta = jnp.sum(wide * out.astype(lse.dtype), axis=-1)
        of_queries = jnp.zeros(queries.shape, lse.dtype)
        # gradients of keys and values travel with them, and are home after a hop for each process
        carried = [k, v, *(wrap(jnp.zeros(tuple(one.shape), lse.dtype)) for one in (k, v))]
        for hop in range(group.nranks):
            step = settings.block(block_gradients, hop, queries, k)
            if step is not None:
                keys, values, of_keys, of_values = map(_array, carried)
                of_queries, of_keys, of_values = step(
                    queries, keys, values, lse, wide, delta, of_queries, of_keys, of_values
                )
                carried = [*carried[:2], wrap(of_keys), wrap(of_values)]
            carried = _onward(carried, group)
        return wrap(of_queries.astype(queries.dtype)), carried[2].astype(k.dtype), carried[3].astype(v.dtype)


def _array(tensor: Tensor) -> jax.Array:
    return to_jax_array(read_raw(tensor))


def _onward(tensors: list[Tensor], group: Any) -> list[Tensor]:
    """The Tensors of the process before; those of this one go to the next."""
    count = group.nranks
    following = group.ranks[(group.rank + 1) % count]
    before = group.ranks[(group.rank - 1) % count]
    received = [empty_like(tensor) for tensor in tensors]
    # All send before they receive; sends do not wait, so the ring cannot block.
    messages = [P2POp(isend, tensor, following, group) for tensor in tensors]
    messages += [P2POp(irecv, tensor, before, group) for tensor in received]
    for task in batch_isend_irecv(messages):
        task.wait()
    return received


def _mask(group: Any, hop: int, is_causal: bool) -> bool | None:
    """Whether keys of a hop are masked by position; None: the queries of this process see none of them."""
    if not is_causal:
        return False
    source = (group.rank - hop) % group.nranks
    # Later positions: all of these keys are masked.
    if source > group.rank:
        return None
    return source == group.rank


@ft.lru_cache(maxsize=256)
def _step(block: Callable[..., Any], scale: float, mask: bool | None) -> Callable[..., Any] | None:
    """The compiled function of a block; None where there is nothing to add."""
    if mask is None:
        return None
    whole = slice(None)
    return jax.jit(ft.partial(block, scale=scale, mask=mask, queries=whole, keys=whole))
