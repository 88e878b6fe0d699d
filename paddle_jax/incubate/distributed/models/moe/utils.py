"""Counting the tokens of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax.tensor.creation import full_like, to_tensor
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
    place = (taken.cumsum(0) * taken).sum(-1)
    if group is not None and group.nranks > 1:
        counts = np.asarray(group.process_group.all_gather(to_numpy(taken.sum(0)._value)))
        before = to_tensor(counts[: group.rank].sum(0))
        place = place + (before * taken).sum(-1)
    return reshape(where(place <= capacity, flat, full_like(flat, -1)), numbers.shape)
