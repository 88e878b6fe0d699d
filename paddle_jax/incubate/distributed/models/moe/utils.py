"""Counting the tokens of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax.distributed.communication.data_movement import alltoall_single
from paddle_jax.distributed.models.moe.utils import (
    _assign_pos,
    _limit_by_capacity,
    _number_count,
    _prune_gate_by_capacity,
)
from paddle_jax.tensor.creation import empty_like, full, full_like, to_tensor
from paddle_jax.tensor.manipulation import cast, reshape
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def marks(numbers: Tensor, experts: Any) -> Tensor:
    """float32 [n, experts]: 1 where a choice is that expert. -1 is none."""
    return cast(numbers.unsqueeze(-1) == arange(experts, dtype=numbers.dtype), "float32")


def limited(numbers: Tensor, experts: Any, capacity: Any, group: Any = None) -> Tensor:
    """The choices with -1 for those of an expert beyond the first `capacity`.

    In a group of several processes an expert takes those of the first process first.
    """
    flat = numbers.flatten()
    taken = cast(marks(flat, experts), "int64")
    # The number of a choice among those of its expert, from 1 on.
    place = (taken.cumsum(0) * taken).sum(-1)
    if group is not None and group.nranks > 1:
        counts = np.asarray(group.process_group.all_gather(to_numpy(taken.sum(0)._value)))
        # Processes come one after the other: those before this one have their places first.
        before = to_tensor(counts[: group.rank].sum(0))
        place = place + (before * taken).sum(-1)
    return reshape(where(place <= capacity, flat, full_like(flat, -1)), numbers.shape)


def _exchanged_counts(counts: Tensor, world_size: int, group: Any) -> Tensor:
    """Counts for the experts of each process, against those of each process for the experts of this one."""
    if world_size == 1:
        return counts
    received = empty_like(counts)
    alltoall_single(received, counts, group=group)
    return received


def count_by_gate(
    gate: Tensor, num_expert: int, world_size: int, require_pos: bool = True, group: Any = None
) -> tuple[Tensor | None, Tensor, Tensor]:
    """Counts the tokens of each expert.

    Args:
        gate: Tensor of int64, the experts of the tokens of this process; -1 is none.
        num_expert: int, experts of one process.
        world_size: int, processes that share the experts.
        require_pos: bool, whether the order of tokens is wanted.
        group: Group of the processes. Default None: all.
    Returns:
        The positions of tokens in the order of their experts, or None. Two Tensors of int64
        [world_size * num_expert]: the tokens of this process for each expert, and of each process for the
        experts of this one.
    Example:
        >>> from paddle_jax.incubate.distributed.models.moe.utils import count_by_gate
        >>> [one.tolist() for one in count_by_gate(paddle.to_tensor([1, 0, 1]), 2, 1)]
        [[1, 2, 0], [1, 2], [1, 2]]
    """
    sent = _number_count(gate, num_expert * world_size)
    received = _exchanged_counts(sent, world_size, group)
    positions = None
    if require_pos:
        positions = _assign_pos(gate, sent.cumsum(0))
    return positions, sent, received


def limit_by_capacity(
    topk_idx: Tensor, num_expert: int, world_size: int, capacity: int, group: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Leaves out the tokens of an expert beyond its capacity.

    Args:
        topk_idx: Tensor of int64, the experts of the tokens of this process; -1 is none.
        num_expert: int, experts of one process.
        world_size: int, processes that share the experts.
        capacity: int, the tokens that an expert takes from all processes.
        group: Group of the processes. Default None: all.
    Returns:
        The counts of `count_by_gate` after that, and topk_idx with -1 for tokens that are left out.
    Example:
        >>> from paddle_jax.incubate.distributed.models.moe.utils import limit_by_capacity
        >>> [one.tolist() for one in limit_by_capacity(paddle.to_tensor([1, 0, 1]), 2, 1, 1)]
        [[1, 1], [1, 1], [1, 0, -1]]
    """
    _, _, received = count_by_gate(topk_idx, num_expert, world_size, require_pos=False, group=group)
    limits = full([num_expert], int(capacity), "int64")
    received = _limit_by_capacity(received, limits, world_size)
    # Each process is sent back how many of its tokens the experts take.
    sent = _exchanged_counts(received, world_size, group)
    return sent, received, _prune_gate_by_capacity(topk_idx, sent, num_expert, world_size)
