"""Checkpoints of sharded Tensors: each piece is written once, and read into whatever layout the Tensors have
that are loaded."""

from paddle_jax.distributed.checkpoint.load_state_dict import load_merged_state_dict, load_state_dict
from paddle_jax.distributed.checkpoint.save_state_dict import save_state_dict
from paddle_jax.distributed.checkpoint.sharded_weight import (
    ShardedStateDict,
    ShardedWeight,
    build_sharded_state_dict,
    shard_weight,
)

__all__ = [
    "ShardedStateDict",
    "ShardedWeight",
    "build_sharded_state_dict",
    "load_merged_state_dict",
    "load_state_dict",
    "save_state_dict",
    "shard_weight",
]
