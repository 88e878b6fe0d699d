"""The model of the stages 1 and 2 of ZeRO, which stands in `distributed/sharding`."""

from paddle_jax.distributed.sharding.group_sharded import GroupShardedStage2 as GroupShardedStage2

__all__ = []
