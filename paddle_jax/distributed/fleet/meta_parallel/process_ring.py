"""Attention over a sequence of which each process has a part: keys and values travel round the processes.

The same sums as `auto_parallel/ring_attention.py`, which has all devices in one program. Each process keeps
its queries, and process r has the positions r * length and on.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.distributed.auto_parallel.ring_attention import add_block, block_gradients
from paddle_jax.distributed.communication.point_to_point import P2POp, batch_isend_irecv, irecv, isend
from paddle_jax.nn.functional.sdpa import Attention
from paddle_jax.tensor.creation import empty_like

__all__ = []


def attention_over(group: Any) -> swapped_attributes:
    """A block in which attention is that over the sequence of all processes of a group.

    Masks and dropout raise NotImplementedError: a process has a part of a mask's columns only.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, is_causal: bool, scale: float | None) -> Any:
        if q.shape[1] != k.shape[1]:
            raise ValueError(
                f"attention over processes: query: got a part of {q.shape[1]} positions, and {k.shape[1]} "
                "of key; a process has the same positions of both"
            )
        factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
        return _ProcessRing.apply(q, k, v, group, is_causal, factor)

    return swapped_attributes(Attention, replacement=attend, is_over_processes=True)


class _ProcessRing(PyLayer):
    """Attention of the queries of this process to the keys and values of all."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, group: Any, is_causal: bool, scale: float
    ) -> Tensor:
        queries = _array(q)
        wide = jnp.promote_types(queries.dtype, jnp.float32)
        out = jnp.zeros((*q.shape[:3], v.shape[3]), wide)
        lse = jnp.full(tuple(q.shape[:3]), -jnp.inf, wide)
        pair = [k.detach(), v.detach()]
        for hop in range(group.nranks):
            following = _onward(pair, group) if hop < group.nranks - 1 else []
            step = _step(add_block, scale, _mask(group, hop, is_causal))
            if step is not None:
                out, lse = step(queries, *map(_array, pair), out, lse)
            pair = following
        out = out.astype(queries.dtype)
        ctx.settings = (group, is_causal, scale)
        ctx.arrays = (queries, out, lse)
        ctx.save_for_backward(k, v)
        return wrap(out)

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        group, is_causal, scale = ctx.settings
        queries, out, lse = ctx.arrays
        k, v = (one.detach() for one in ctx.saved_tensor())
        wide = _array(cotangent).astype(lse.dtype)
        delta = jnp.sum(wide * out.astype(lse.dtype), axis=-1)
        of_queries = jnp.zeros(queries.shape, lse.dtype)
        # gradients of keys and values travel with them, and are home after a hop for each process
        carried = [k, v, *(wrap(jnp.zeros(tuple(one.shape), lse.dtype)) for one in (k, v))]
        for hop in range(group.nranks):
            step = _step(block_gradients, scale, _mask(group, hop, is_causal))
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
