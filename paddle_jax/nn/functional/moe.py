"""Rows of tokens in the order of the experts they go to, each expert's filled up to a multiple, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.ops.op import op

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


@op("x route prob scale", register=False, method=False)
def _dispatch_rows(
    x: jax.Array,
    route: jax.Array,
    prob: jax.Array,
    scale: jax.Array | None = None,
    starts: tuple[int, ...] = (),
    rows: int = 0,
) -> jax.Array | tuple[jax.Array, ...]:
    """(rows, map [n, experts], weights of the rows, scales of the rows, experts of the rows)."""
    experts = len(starts)
    chosen = route[:, :, None] == jnp.arange(experts)  # [n, k, experts]
    hit = chosen.any(1)
    # The place of each token within its expert: how many came before.
    place = jnp.asarray(starts, jnp.int32) + jnp.cumsum(hit, 0, dtype=jnp.int32) - 1
    to = jnp.where(hit & (place < rows), place, rows).reshape(-1)  # what is beyond is dropped
    token = jnp.repeat(jnp.arange(x.shape[0]), experts)

    def put(values: jax.Array, fill: float = 0) -> jax.Array:
        # Each row is written by one token at most, so the order does not matter.
        return jnp.full((rows, *values.shape[1:]), fill, values.dtype).at[to].set(values, mode="drop")

    weights = jnp.where(chosen, prob[:, :, None], 0).sum(1)
    kept = None if scale is None else put(scale[token])
    number = put(jnp.broadcast_to(jnp.arange(experts, dtype=jnp.int32), hit.shape).reshape(-1), -1)
    found = put(x[token]), jnp.where(hit, place, -1), put(weights.reshape(-1)), number
    if kept is None:
        return found
    return (*found, kept)


@op("rows rowmap route prob", register=False, method=False)
def _gathered(
    rows: jax.Array, rowmap: jax.Array, route: jax.Array, prob: jax.Array, mixed: bool, weighted: bool
) -> tuple[jax.Array, jax.Array]:
    # -1: the token does not go to that expert.
    place = jnp.maximum(rowmap, 0)
    there = rowmap >= 0
    picked = jnp.where(there[..., None], rows[place], 0)
    if mixed:
        # Sums over experts lose digits in half precision.
        picked = picked.astype(jnp.promote_types(rows.dtype, jnp.float32))
    flat = prob.reshape(-1)
    if weighted:
        picked = picked * flat[place][..., None].astype(picked.dtype)
    # For each place of the route, the weight with which its expert counts.
    own = jnp.take_along_axis(jnp.where(there, flat[place], 0), jnp.maximum(route, 0), 1)
    return picked.sum(1).astype(rows.dtype), jnp.where(route >= 0, own, 0)


def moe_permute(
    hidden_states: Tensor,
    scale: Tensor | None,
    expert_routemap_topk: Tensor,
    expert_prob_topk: Tensor,
    num_experts: int,
    tokens_per_expert: Sequence[int],
    padding_alignment: int,
    do_gather: bool = True,
    using_ue8m0_scale: bool = False,
    return_expert_indices: bool = False,
    override_buffer_size: int = -1,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """The rows of tokens in the order of experts, once for each expert that a token goes to; each expert's
    rows are filled up with zeros.

    Differs from Paddle: works on every device and in every dtype, where there is no reference; it follows the
    documented meaning. `do_gather` must be True. What does not fit into `override_buffer_size` is dropped.

    Args:
        hidden_states: Tensor [n, features].
        scale: Tensor [n, blocks], sent along with the rows (of float8 numbers), or None.
        expert_routemap_topk: int Tensor [n, k]: experts of each token; -1 is none.
        expert_prob_topk: Tensor [n, k], their weights.
        num_experts: number of experts.
        tokens_per_expert: list of ints [num_experts], how many tokens each expert gets.
        padding_alignment: each expert's number of rows is a multiple of it.
        using_ue8m0_scale: accepted; scales are sent along as they are.
        return_expert_indices: give the experts of the rows, too; -1 for rows of zeros.
        override_buffer_size: number of rows of the result. Default: the sum over experts.
        do_gather: True; False is refused.
    Returns:
        (rows [m, features], map int32 [n, num_experts] of a token's row for each expert or -1, weights [m],
        scales [m, blocks] or [0]), and the experts int32 [m] if asked for.
    Raises:
        ValueError: shapes or numbers do not fit.
    Example:
        >>> x, route = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[0, 1], [1, -1]], dtype="int32")
        >>> rows, places, *_ = paddle.nn.functional.moe_permute(x, None, route, paddle.ones([2, 2]), 2,
        ...                                                     [1, 2], 2)
        >>> rows.tolist(), places.tolist()
        ([[1.0], [0.0], [1.0], [2.0]], [[0, 2], [-1, 3]])
    """
    shape = list(expert_routemap_topk.shape)
    if (
        hidden_states.ndim != 2
        or len(shape) != 2
        or shape != list(expert_prob_topk.shape)
        or shape[0] != hidden_states.shape[0]
    ):
        raise ValueError(
            f"moe_permute: got hidden_states {list(hidden_states.shape)}, expert_routemap_topk "
            f"{shape} and expert_prob_topk {list(expert_prob_topk.shape)}; "
            "they must be [n, features], [n, k] and [n, k]"
        )
    if len(tokens_per_expert) != num_experts or padding_alignment < 1 or not do_gather:
        raise ValueError(
            f"moe_permute: got {len(tokens_per_expert)} tokens_per_expert for "
            f"num_experts={num_experts}, padding_alignment={padding_alignment} and "
            f"do_gather={do_gather}; use one number per expert, a positive alignment, and True"
        )
    # Each expert's rows are filled up, as grouped products want it.
    ends = np.cumsum([-(-int(n) // padding_alignment) * padding_alignment for n in tokens_per_expert])
    if override_buffer_size < 0:
        rows = int(ends[-1])
    else:
        rows = int(override_buffer_size)
    starts = tuple([0, *ends[:-1].tolist()])
    y, rowmap, weights, number, *scales = _dispatch_rows(
        hidden_states, expert_routemap_topk, expert_prob_topk, scale, starts, rows
    )
    found = (y, rowmap, weights, scales[0] if scales else weights[:0])
    if return_expert_indices:
        return (*found, number)
    return found


def moe_unpermute(
    hidden_states_unzipped: Tensor,
    zipped_expertwise_rowmap: Tensor,
    expert_routemap_topk: Tensor,
    token_prob_unzipped: Tensor,
    total_zipped_tokens: int,
    num_experts: int,
    using_mix_precision: bool = True,
    using_weighted_combine: bool = False,
    name: str | None = None,
) -> Any:
    """The way back from `moe_permute`: for each token the sum of its rows.

    Differs from Paddle: as `moe_permute`.

    Args:
        hidden_states_unzipped: Tensor [m, features].
        zipped_expertwise_rowmap: int Tensor [n, num_experts], from `moe_permute`.
        expert_routemap_topk: int Tensor [n, k], as given to it.
        token_prob_unzipped: Tensor [m] or [m, 1], the weights of the rows.
        total_zipped_tokens: int, n.
        num_experts: number of experts.
        using_mix_precision: add up in float32.
        using_weighted_combine: multiply rows by their weights.
    Returns:
        (Tensor [n, features], weights [n, k]; 0 where there is no expert).
    Raises:
        ValueError: the map has another shape.
    Example:
        >>> x, route = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[0, 1], [1, -1]], dtype="int32")
        >>> rows, places, weights, _ = paddle.nn.functional.moe_permute(
        ...     x, None, route, paddle.full([2, 2], 0.5), 2, [1, 2], 2)
        >>> [t.tolist() for t in paddle.nn.functional.moe_unpermute(rows, places, route, weights, 2, 2)]
        [[[2.0], [2.0]], [[0.5, 0.5], [0.5, 0.0]]]
    """
    if list(zipped_expertwise_rowmap.shape) != [total_zipped_tokens, num_experts]:
        raise ValueError(
            "moe_unpermute: zipped_expertwise_rowmap: "
            f"got shape {list(zipped_expertwise_rowmap.shape)}; it must be "
            f"[total_zipped_tokens, num_experts], {[total_zipped_tokens, num_experts]}"
        )
    return _gathered(
        hidden_states_unzipped,
        zipped_expertwise_rowmap,
        expert_routemap_topk,
        token_prob_unzipped,
        bool(using_mix_precision),
        bool(using_weighted_combine),
    )
