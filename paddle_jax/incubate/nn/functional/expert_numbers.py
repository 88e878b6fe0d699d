"""Counts, numbers and losses of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.ops.op import op
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.reorder import repeat_interleave
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


@op(register=False, method=False)
def _counted(x: jax.Array, low: int, high: int, dtype: Any) -> jax.Array:
    flat = x.reshape(-1)
    inside = (flat >= low) & (flat < high)
    # Numbers outside are dropped.
    return jnp.zeros(high - low, dtype.np).at[jnp.where(inside, flat - low, high - low)].add(1, mode="drop")


def int_bincount(
    x: Tensor, low: int, high: int, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """How often each of the integers low..high-1 occurs.

    Args:
        x: Tensor [...] of int32 or int64; what lies outside is not counted.
        low, high: int, the first and one beyond the last number that is counted.
        dtype: int32 or int64. Default: that of x.
    Returns:
        Tensor [high - low].
    Raises:
        ValueError: `high` is less than `low`.
        TypeError: x or `dtype` is of another dtype.
    Example:
        >>> paddle.incubate.nn.functional.int_bincount(paddle.to_tensor([1, 3, 3, 7]), 1, 5).tolist()
        [1, 0, 2, 0]
    """
    kind = x.dtype if dtype is None else dtypes.convert(dtype)
    for what, given in (("x", x.dtype), ("dtype", kind)):
        if given not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"int_bincount: {what}: got {given}; use int32 or int64")
    if high < low:
        raise ValueError(f"int_bincount: got low={low} and high={high}; high must be at least low")
    return _counted(x, int(low), int(high), kind)


def cal_aux_loss(
    gate_prob: Tensor,
    dispatch_mask: Tensor,
    tokens_mask: Tensor | None,
    dispatch_tokens_mask: Tensor,
    num_experts: float,
    use_group: bool,
    moe_k: Any,
    clip_min: Any,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The loss that keeps experts equally busy: experts times the sum of the mean gate times the share
    of tokens of each.

    Args:
        gate_prob: Tensor [n, experts], the gates.
        dispatch_mask: Tensor [experts] of the experts' counts of tokens, or [n, experts], which is added up.
        tokens_mask: Tensor [n] of the tokens that count, or None for all.
        dispatch_tokens_mask: Tensor [m] of the tokens that were counted in `dispatch_mask`, where these are
            others, or None.
        num_experts: number of experts.
        use_group: whether each of the `moe_k` choices is among experts of its own; the loss is divided
            by `moe_k` then.
        moe_k: choices per token.
        clip_min: least number of tokens to divide by.
    Returns:
        (loss, 0-d; number of tokens, 0-d; shares [experts] of the tokens). Gradients reach `gate_prob`.
    Raises:
        ValueError: `gate_prob` is not [n, experts].
    Example:
        >>> gates, counts = paddle.to_tensor([[0.75, 0.25], [0.25, 0.75]]), paddle.to_tensor([1, 1])
        >>> paddle.incubate.nn.functional.cal_aux_loss(gates, counts, None, None, 2, False, 1, 1e-6)[0].item()
        1.0
    """
    if gate_prob.ndim != 2:
        raise ValueError(
            f"cal_aux_loss: gate_prob: got shape {list(gate_prob.shape)}; it must be [n, experts]"
        )
    if tokens_mask is None:
        own = None
    else:
        own = tokens_mask.astype(gate_prob.dtype).sum()
    tokens = own
    scale = None
    if dispatch_tokens_mask is not None:
        tokens = dispatch_tokens_mask.astype(gate_prob.dtype).sum()
        # The mask is that of all devices, the gates are those of this one.
        if own is not None and dispatch_tokens_mask.shape[0] != gate_prob.shape[0]:
            scale = tokens / own.clip(min=clip_min)
    elif own is None:
        # Without a mask all tokens count.
        tokens = to_tensor(gate_prob.size / num_experts, dtype=gate_prob.dtype)
    tokens = tokens.clip(min=clip_min)
    counts = (
        (dispatch_mask.sum(0) if dispatch_mask.ndim == 2 else dispatch_mask).astype(gate_prob.dtype).detach()
    )
    shares = counts / tokens
    # Only gates have a gradient; counts of tokens are numbers.
    loss = (gate_prob.sum(0) / tokens * shares).sum() * (num_experts / moe_k if use_group else num_experts)
    if scale is not None:  # the value of the parts seen here, the gradient of the whole
        loss = loss + (scale - 1) * loss.detach()
    return loss, tokens, shares


def expand_modality_expert_id(
    expert_id: Tensor,
    num_expert_per_modality: Any,
    group_size: Any,
    modality_offset: Any,
    is_group_expert: bool,
    name: str | None = None,
) -> Tensor:
    """The numbers of experts among all, where each device holds those of two modalities, one after the other.

    Args:
        expert_id: int Tensor [n, k], numbers among the experts of one modality.
        num_expert_per_modality: experts of one modality on a device; 0 leaves numbers as they are.
        group_size: experts of a group.
        modality_offset: 0 or 1, which modality.
        is_group_expert: whether choice i is a number in group i; i * group_size is added then.
    Returns:
        Tensor [n, k], dtype of expert_id.
    Raises:
        ValueError: `expert_id` does not have two axes.
    Example:
        >>> ids = paddle.to_tensor([[0, 1, 2, 3]])
        >>> paddle.incubate.nn.functional.expand_modality_expert_id(ids, 2, 0, 1, False).tolist()
        [[2, 3, 6, 7]]
    """
    if expert_id.ndim != 2:
        raise ValueError(
            f"expand_modality_expert_id: expert_id: got shape {list(expert_id.shape)}; it must be [n, k]"
        )
    if is_group_expert:
        # The j-th choice counts within the j-th group of experts.
        expert_id = expert_id + arange(expert_id.shape[1], dtype=expert_id.dtype) * group_size
    if num_expert_per_modality <= 0:
        return expert_id
    # On each device the experts of one modality come first, then those of the other.
    device = expert_id // num_expert_per_modality
    number = expert_id % num_expert_per_modality
    return device * (2 * num_expert_per_modality) + number + modality_offset * num_expert_per_modality


def build_src_rank_and_local_expert_id(
    expert_num_global_tensor: Tensor, expert_num_global: Any, num_local_experts: Any, name: str | None = None
) -> tuple[Any, Any]:
    """For rows in the order of experts: the device each expert lies on, and its number there.

    Args:
        expert_num_global_tensor: int Tensor [experts], rows of each expert.
        expert_num_global: the same as a list, which gives the length of the results.
        num_local_experts: experts on a device.
    Returns:
        (devices, numbers), both int32 [rows].
    Raises:
        ValueError: the list has another length than the Tensor.
    Example:
        >>> F, rows = paddle.incubate.nn.functional, [1, 0, 2, 1]
        >>> [t.tolist() for t in F.build_src_rank_and_local_expert_id(paddle.to_tensor(rows), rows, 2)]
        [[0, 1, 1, 1], [0, 0, 0, 1]]
    """
    if expert_num_global_tensor.size != len(expert_num_global):
        raise ValueError(
            "build_src_rank_and_local_expert_id: expert_num_global: "
            f"got {len(expert_num_global)} numbers for {expert_num_global_tensor.size} experts; "
            "they must be equally many"
        )
    expert = repeat_interleave(
        arange(len(expert_num_global), dtype="int32"), to_tensor(list(expert_num_global), dtype="int32")
    )
    return expert // num_local_experts, expert % num_local_experts
