"""Optimizers and models that are divided among processes (ZeRO)."""

from paddle_jax.distributed.fleet.meta_parallel.sharding import (
    group_sharded_optimizer_stage2 as group_sharded_optimizer_stage2,
    group_sharded_stage2 as group_sharded_stage2,
    group_sharded_stage3 as group_sharded_stage3,
)

__all__ = []
