"""The optimizer of the stages 1 and 2 of ZeRO, which stands in `distributed/sharding`."""

from paddle_jax.distributed.sharding.optimizers import (
    GroupShardedOptimizerStage2 as GroupShardedOptimizerStage2,
)

__all__ = []
