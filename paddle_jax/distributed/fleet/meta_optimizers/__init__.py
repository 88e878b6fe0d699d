"""Optimizers round an optimizer, for several processes."""

from paddle_jax.distributed.fleet.meta_optimizers import dygraph_optimizer as dygraph_optimizer
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer import (
    HybridParallelOptimizer as HybridParallelOptimizer,
)

__all__ = []
