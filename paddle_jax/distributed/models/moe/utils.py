"""Counts and orders of the tokens that gates send to experts.

Tokens are counted on the host: the counts say how many rows the processes exchange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []


def _number_count(numbers: Tensor, upper_range: int) -> Tensor:
    """How often each of the numbers 0 to upper_range - 1 occurs.

    Args:
        numbers: Tensor of int64, the experts of tokens; -1 is none.
        upper_range: int, the number of experts.
    Returns:
        Tensor, int64 [upper_range].
    """
    chosen = host_value(numbers, "number_count").ravel()
    # -1 stands for tokens without an expert.
    return to_tensor(np.bincount(chosen[chosen >= 0], minlength=upper_range)[:upper_range])


def _assign_pos(x: Tensor, cum_count: Tensor) -> Tensor:
    """The positions of tokens in the order of their experts, the last tokens of an expert first.

    Args:
        x: Tensor of int64, the experts of tokens; -1 is none.
        cum_count: Tensor of int64, running totals of the tokens of the experts.
    Returns:
        Tensor, int64 [cum_count[-1]].
    Raises:
        ValueError: x has another number of tokens than cum_count.
    """
    chosen = host_value(x, "assign_pos").ravel()
    # The stable sort below keeps this order within an expert.
    positions = np.flatnonzero(chosen >= 0)[::-1]
    total = int(host_value(cum_count, "assign_pos")[-1])
    if total != positions.size:
        raise ValueError(
            f"assign_pos: cum_count: got {total} tokens in all, and x has {positions.size} that are not -1; "
            "pass cumsum of the counts of x"
        )
    return to_tensor(positions[np.argsort(chosen[positions], kind="stable")])


def _limit_by_capacity(expert_count: Tensor, capacity: Tensor, n_worker: int) -> Tensor:
    """The counts of tokens when each expert takes so many at most, those of the first processes first.

    Args:
        expert_count: Tensor of int64 [n_worker * experts], tokens of each process for each expert.
        capacity: Tensor of int64 [experts].
        n_worker: int, the number of processes.
    Returns:
        Tensor, int64 [n_worker * experts].
    """
    counts = host_value(expert_count, "limit_by_capacity").reshape(n_worker, -1)
    # Processes come one after the other: each takes what those before have left.
    before = np.cumsum(counts, axis=0) - counts
    free = np.maximum(host_value(capacity, "limit_by_capacity") - before, 0)
    return to_tensor(np.minimum(counts, free).ravel())


def _prune_gate_by_capacity(gate_idx: Tensor, expert_count: Tensor, n_expert: int, n_worker: int) -> Tensor:
    """The experts of tokens, with -1 for the tokens that are too many for their expert.

    Args:
        gate_idx: Tensor of int64, the experts of tokens; -1 is none.
        expert_count: Tensor of int64 [n_expert * n_worker], how many tokens each expert takes.
        n_expert, n_worker: int, experts of a process, and processes.
    Returns:
        Tensor of the shape of gate_idx.
    Raises:
        ValueError: expert_count has another length.
    """
    limits = host_value(expert_count, "prune_gate_by_capacity").ravel()
    if limits.size != n_expert * n_worker:
        raise ValueError(
            f"prune_gate_by_capacity: expert_count: got {limits.size} counts; "
            f"it must have {n_expert} * {n_worker}"
        )
    chosen = host_value(gate_idx, "prune_gate_by_capacity")
    pruned = chosen.ravel().copy()
    for expert in range(limits.size):
        # The first tokens of an expert stay.
        pruned[np.flatnonzero(pruned == expert)[limits[expert] :]] = -1
    return to_tensor(pruned.reshape(chosen.shape))


def _random_routing(topk_idx: Tensor, topk_value: Tensor, prob: Tensor, topk: int = 2) -> Tensor:
    """The two experts of tokens, with -1 for a second one whose value is small.

    Args:
        topk_idx, topk_value: Tensors [tokens, 2], the experts and their values.
        prob: Tensor [tokens], random numbers; a second expert stays if twice its value reaches them.
        topk: 2.
    Returns:
        Tensor of the shape of topk_idx.
    Raises:
        RuntimeError: topk is not 2.
    """
    if topk != 2:
        raise RuntimeError(f"random_routing: topk: got {topk}; it must be 2")
    chosen = host_value(topk_idx, "random_routing").copy()
    # `prob` has random numbers: the second expert is taken with twice its value as probability.
    chosen[2 * host_value(topk_value, "random_routing")[:, 1] < host_value(prob, "random_routing"), 1] = -1
    return to_tensor(chosen)
