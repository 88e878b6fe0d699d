"""Optimizers round an optimizer, for several processes."""

from paddle_jax.distributed.fleet.meta_optimizers import dygraph_optimizer
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer import HybridParallelOptimizer

__all__ = []
