"""Computing parts of the forward pass again in the backward pass (`paddle.distributed.fleet.recompute`)."""

from paddle_jax.distributed.fleet.recompute.recompute import (
    custom_state_manager as custom_state_manager,
    recompute as recompute,
    recompute_sequential as recompute_sequential,
)
from paddle_jax.distributed.fleet.recompute.recompute_hybrid import recompute_hybrid as recompute_hybrid

__all__ = []
