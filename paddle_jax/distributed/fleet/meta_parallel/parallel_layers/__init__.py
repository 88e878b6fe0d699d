"""Layers and lists of layers of which each process has a part."""

from paddle_jax.distributed.fleet.layers.mpu.mp_layers import (
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)
from paddle_jax.distributed.fleet.layers.mpu.random import (
    RNGStatesTracker,
    get_rng_state_tracker,
    model_parallel_random_seed,
)
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.layer_desc import LayerDesc, SharedLayerDesc
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayer

__all__ = [
    "ColumnParallelLinear",
    "LayerDesc",
    "ParallelCrossEntropy",
    "PipelineLayer",
    "RNGStatesTracker",
    "RowParallelLinear",
    "SharedLayerDesc",
    "VocabParallelEmbedding",
    "get_rng_state_tracker",
    "model_parallel_random_seed",
]
