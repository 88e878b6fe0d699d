"""Layers of which each process of a group holds a part (tensor parallelism), and what they are made of."""

from paddle_jax.distributed.fleet.layers.mpu import mp_layers, mp_ops, random
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import (
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)
from paddle_jax.distributed.fleet.layers.mpu.random import (
    RNGStatesTracker,
    dropout,
    get_rng_state_tracker,
    model_parallel_random_seed,
)

__all__ = [
    "ColumnParallelLinear",
    "ParallelCrossEntropy",
    "RNGStatesTracker",
    "RowParallelLinear",
    "VocabParallelEmbedding",
    "dropout",
    "get_rng_state_tracker",
    "model_parallel_random_seed",
    "mp_layers",
    "mp_ops",
    "random",
]
