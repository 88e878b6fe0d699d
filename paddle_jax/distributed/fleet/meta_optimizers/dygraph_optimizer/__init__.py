"""Optimizers round an optimizer, for steps that run at once."""

from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer import (
    DygraphShardingOptimizer as DygraphShardingOptimizer,
    DygraphShardingOptimizerV2 as DygraphShardingOptimizerV2,
)
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_gradscaler import (
    HybridParallelGradScaler as HybridParallelGradScaler,
)
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_optimizer import (
    HybridParallelOptimizer as HybridParallelOptimizer,
)

__all__ = []
