"""Models whose Parameters, gradients and optimizer states are cut among devices."""

from paddle_jax.distributed.fsdp.fully_shard import fully_shard

__all__ = ["fully_shard"]
