"""Training in which each process keeps a part of the optimizer's states, and of gradients and parameters
if wanted (ZeRO)."""

from paddle_jax.distributed.sharding.group_sharded import group_sharded_parallel, save_group_sharded_model

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]
