"""Counting the tokens of experts."""

from paddle_jax.tensor.creation import full_like
from paddle_jax.tensor.manipulation import cast, reshape
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange


def marks(numbers, experts):
    """float32 [n, experts]: 1 where a choice is that expert. -1 is none."""
    return cast(numbers.unsqueeze(-1) == arange(experts, dtype=numbers.dtype), "float32")


def limited(numbers, experts, capacity):
    """The choices with -1 for those of an expert beyond the first `capacity`."""
    flat = numbers.flatten()
    taken = cast(marks(flat, experts), "int64")
    place = (taken.cumsum(0) * taken).sum(-1)
    return reshape(where(place <= capacity, flat, full_like(flat, -1)), numbers.shape)
