"""Recomputing under its older path (`paddle.incubate.distributed.fleet`)."""

from paddle_jax.distributed.fleet.recompute import recompute_hybrid, recompute_sequential

__all__ = ["recompute_sequential", "recompute_hybrid"]
