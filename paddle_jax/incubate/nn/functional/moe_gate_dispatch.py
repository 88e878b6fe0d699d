"""Rows of tokens in the order of the experts that they go to, and where each went.

Of an expert's rows those of the first tokens are kept, up to its capacity; a choice that is dropped gets the
weight 0 and the place 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.ops.op import op
from paddle_jax.tensor.manipulation import reshape, transpose

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


@op("expert_id", register=False, method=False)
def _places(expert_id: jax.Array, experts: int, capacity: int, last: bool) -> tuple[jax.Array, ...]:
    """Of each choice [n, k] the expert's row that it gets and whether it is kept; how many choices
    each expert has."""
    flat = expert_id.reshape(-1)
    # Stable: among the choices of one expert the earlier tokens come first.
    order = jnp.argsort(flat, stable=True)
    counts = jnp.bincount(flat, length=experts)
    starts = jnp.concatenate([jnp.zeros(1, counts.dtype), jnp.cumsum(counts)])
    # the place of each choice among those of the same expert
    rank = jnp.zeros_like(order).at[order].set(jnp.arange(flat.size)) - starts[flat]
    if last:
        # Counted from the end: the first ones are too many, and get numbers below 0.
        rank = rank - jnp.maximum(counts[flat] - capacity, 0)
    return rank.reshape(expert_id.shape), ((rank >= 0) & (rank < capacity)).reshape(expert_id.shape), counts


@op("x weight rank kept expert_id", register=False, method=False)
def _padded(
    x: jax.Array,
    weight: jax.Array,
    rank: jax.Array,
    kept: jax.Array,
    expert_id: jax.Array,
    first: int,
    experts: int,
    capacity: int,
) -> tuple[jax.Array, ...]:
    """Rows of experts `first` and following, each filled up with zeros to its capacity."""
    kept = kept & (expert_id >= first) & (expert_id < first + experts)
    place = jnp.where(kept, (expert_id - first) * capacity + rank, 0).astype(jnp.int32)
    # What is not kept is written behind the end, where `mode="drop"` leaves it out.
    beyond = jnp.where(kept, place, experts * capacity).reshape(-1)
    token = jnp.repeat(jnp.arange(x.shape[0], dtype=jnp.int32), kept.shape[1])
    y = jnp.zeros((experts * capacity, x.shape[1]), x.dtype).at[beyond].set(x[token], mode="drop")
    back = jnp.zeros(experts * capacity, jnp.int32).at[beyond].set(token, mode="drop")
    return y, jnp.where(kept, weight, 0), place.T, back


@op("x weight rank kept expert_id counts", register=False, method=False)
def _packed(
    x: jax.Array,
    weight: jax.Array,
    rank: jax.Array,
    kept: jax.Array,
    expert_id: jax.Array,
    counts: jax.Array,
    first: int,
    experts: int,
    capacity: int,
    rows: int,
) -> tuple[jax.Array, ...]:
    """The same without rows of zeros; `rows` is how many are kept."""
    kept = kept & (expert_id >= first) & (expert_id < first + experts)
    used = jnp.minimum(counts, capacity)[first : first + experts]
    starts = jnp.concatenate([jnp.zeros(1, used.dtype), jnp.cumsum(used)])
    # Choices of other experts are masked; their index only has to be within bounds.
    place = jnp.where(kept, starts[jnp.clip(expert_id - first, 0, experts)] + rank, 0).astype(jnp.int32)
    # As in `_padded`: behind the end, where it is dropped.
    beyond = jnp.where(kept, place, rows).reshape(-1)
    token = jnp.repeat(jnp.arange(x.shape[0], dtype=jnp.int32), kept.shape[1])
    back = jnp.zeros(rows, jnp.int32).at[beyond].set(token, mode="drop")
    return x[back], jnp.where(kept, weight, 0), place.T, back


def _dispatched(
    name: str,
    x: Tensor,
    weight: Tensor,
    expert_id: Tensor,
    k: int,
    capacity: int,
    use_pad: bool,
    span: Sequence[int],
    last: bool = False,
) -> tuple[Tensor, ...]:
    """(rows, weights, places [k, n], tokens of the rows, counts) for the experts
    span[0]..span[1] - 1 of span[2]."""
    first, end, experts = span
    if x.ndim != 2 or list(weight.shape) != [x.shape[0], k] or list(expert_id.shape) != [x.shape[0], k]:
        raise ValueError(
            f"{name}: got x of shape {list(x.shape)}, weights {list(weight.shape)} and experts "
            f"{list(expert_id.shape)} with k={k}; they must be [n, features], [n, k] and [n, k]"
        )
    if not 0 <= first < end <= experts or capacity < 1:
        raise ValueError(
            f"{name}: got experts {first} to {end} of {experts} and capacity={capacity}; "
            "use 0 <= first < end <= experts and a positive capacity"
        )
    rank, kept, counts = _places(expert_id, experts, capacity, bool(last))
    if use_pad:
        return *_padded(x, weight, rank, kept, expert_id, first, end - first, capacity), counts
    # The shape of the result depends on this number, so it is read here.
    rows = int(counts[first:end].clip(max=capacity).sum())
    return *_packed(x, weight, rank, kept, expert_id, counts, first, end - first, capacity, rows), counts


def moe_gate_dispatch(
    x: Tensor,
    gate_logits: Tensor,
    corr_bias: Tensor | None,
    k: Any,
    capacity: Any,
    use_pad: bool,
    name: str | None = None,
) -> tuple[Any, Any, Any, Any, Any]:
    """Sends each token to the k experts with the highest gates: the tokens' rows in the order of experts.

    Args:
        x: Tensor [n, features].
        gate_logits: Tensor [n, experts], what the gate gives; its values are the weights, so nothing is
            normalised here.
        corr_bias: Tensor [experts] that is added for the choice only, or None.
        k: experts per token.
        capacity: most rows of an expert; those of later tokens are dropped.
        use_pad: whether experts with less rows are filled up with zeros. Without, the number of rows
            depends on values.
    Returns:
        (rows [experts * capacity, features], weights [n, k], places int32 [k, n] of a token's rows, ends
        int64 [experts] of the experts' choices (those that are dropped, too), experts int32 [n, k]). A choice
        that is dropped has weight and place 0.
    Raises:
        ValueError: shapes do not fit, or k is not in 1..experts.
    Example:
        >>> x, gates = (paddle.to_tensor([[1.0], [2.0], [3.0]]),
        ...             paddle.to_tensor([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]))
        >>> rows, weights, places, ends, experts = paddle.incubate.nn.functional.moe_gate_dispatch(
        ...     x, gates, None, 1, 2, True)
        >>> rows.tolist(), places.tolist(), ends.tolist()
        ([[1.0], [3.0], [2.0], [0.0]], [[0, 2, 1]], [2, 3])
    """
    if gate_logits.ndim != 2 or gate_logits.shape[0] != x.shape[0]:
        raise ValueError(
            f"moe_gate_dispatch: gate_logits: got shape {list(gate_logits.shape)} for x "
            f"{list(x.shape)}; it must be [n, experts]"
        )
    if corr_bias is None:
        # The choice has no gradient; the weights below have.
        chosen = gate_logits.detach()
    else:
        chosen = gate_logits.detach() + corr_bias
    expert_id = chosen.topk(k, axis=-1)[1]
    # Without the correction, which only balances the choice.
    weight = gate_logits.take_along_axis(expert_id, 1)
    experts = gate_logits.shape[1]
    y, weight, place, _, counts = _dispatched(
        "moe_gate_dispatch", x, weight, expert_id, k, capacity, use_pad, (0, experts, experts)
    )
    return y, weight, place, counts.cumsum(0), expert_id.astype("int32")


def moe_gate_dispatch_permute(
    x: Tensor,
    gate_logits: Tensor,
    corr_bias: Any,
    k: Any,
    capacity: Any,
    world_size: float,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """`moe_gate_dispatch` for experts that lie on several devices: first the rows of each device's first
    expert, and so on.

    Args:
        x, gate_logits, corr_bias, k, capacity: as for `moe_gate_dispatch`.
        world_size: number of devices, which divides that of the experts.
    Returns:
        As `moe_gate_dispatch`; the rows are [experts / world_size, world_size * capacity, features].
    Raises:
        ValueError: shapes do not fit, or `world_size` does not divide the number of experts.
    Example:
        >>> x, gates = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[0.9, 0.1], [0.2, 0.8]])
        >>> paddle.incubate.nn.functional.moe_gate_dispatch_permute(x, gates, None, 1, 1, 2)[0].tolist()
        [[[1.0], [2.0]]]
    """
    y, *rest = moe_gate_dispatch(x, gate_logits, corr_bias, k, capacity, True)
    experts = gate_logits.shape[1]
    if world_size < 1 or experts % world_size:
        raise ValueError(
            f"moe_gate_dispatch_permute: world_size: got {world_size} for {experts} experts; "
            "it must divide them"
        )
    own = experts // world_size
    y = transpose(reshape(y, [world_size, own, capacity, x.shape[1]]), [1, 0, 2, 3])
    return reshape(y, [own, world_size * capacity, x.shape[1]]), *rest


def moe_gate_dispatch_partial_nosoftmaxtopk(
    x: Tensor,
    combine_weights: Tensor,
    expert_id: Tensor,
    k: Any,
    capacity: Any,
    num_experts: Any,
    use_pad: bool,
    expert_start_index: Any,
    expert_end_index: Any,
    reverse_token_drop: bool,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """The rows of tokens that go to some of the experts, from experts that are chosen already.

    Args:
        x: Tensor [n, features].
        combine_weights: Tensor [n, k], the weights of the choices.
        expert_id: int Tensor [n, k], the experts, in 0..num_experts-1.
        k: choices per token.
        capacity: most rows of an expert.
        num_experts: how many experts there are.
        use_pad: whether experts with less rows are filled up with zeros. Without, the number of rows
            depends on values.
        expert_start_index, expert_end_index: rows are given for experts from the first up to, and
            without, the second.
        reverse_token_drop: drops the first tokens of an expert with too many, not the last.
    Returns:
        (rows [m, features], weights [n, k], places int32 [k, n] of a token's rows, tokens int32 [m] of the
        rows, choices of each expert int64 [num_experts], rows of each expert int64 [num_experts]). Choices of
        other experts and dropped ones have weight and place 0.
    Raises:
        ValueError: shapes or experts do not fit.
    Example:
        >>> x, weights = paddle.to_tensor([[1.0], [2.0], [3.0]]), paddle.ones([3, 1])
        >>> F, experts = paddle.incubate.nn.functional, paddle.to_tensor([[0], [0], [0]], dtype="int32")
        >>> F.moe_gate_dispatch_partial_nosoftmaxtopk(x, weights, experts, 1, 2, 2, False, 0, 1,
        ...                                           True)[0].tolist()
        [[2.0], [3.0]]
    """
    name = "moe_gate_dispatch_partial_nosoftmaxtopk"
    span = (expert_start_index, expert_end_index, num_experts)
    *found, counts = _dispatched(
        name, x, combine_weights, expert_id, k, capacity, use_pad, span, reverse_token_drop
    )
    return *found, counts, _clipped_counts(counts, expert_start_index, expert_end_index, capacity)


@op("counts", register=False, method=False)
def _clipped_counts(counts: jax.Array, first: int, end: int, capacity: int) -> jax.Array:
    number = jnp.arange(counts.shape[0])
    return jnp.where((number >= first) & (number < end), jnp.minimum(counts, capacity), 0)
