"""Observers: they watch values and find scales for them."""

from paddle_jax.quantization.observers.abs_max import AbsmaxObserver
from paddle_jax.quantization.observers.groupwise import GroupWiseWeightObserver

__all__ = ["AbsmaxObserver", "GroupWiseWeightObserver"]
