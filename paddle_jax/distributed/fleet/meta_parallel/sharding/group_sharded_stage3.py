"""The model of stage 3 of ZeRO, which stands in `distributed/sharding`."""

from paddle_jax.distributed.sharding.group_sharded import GroupShardedStage3 as GroupShardedStage3

__all__ = []
