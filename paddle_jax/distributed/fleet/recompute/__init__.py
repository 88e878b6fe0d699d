"""Computing parts of the forward pass again in the backward pass (`paddle.distributed.fleet.recompute`)."""

from paddle_jax.distributed.fleet.recompute.recompute import recompute, recompute_sequential
from paddle_jax.distributed.fleet.recompute.recompute_hybrid import recompute_hybrid

__all__ = []
