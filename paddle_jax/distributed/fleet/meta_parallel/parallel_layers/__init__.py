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
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.layer_desc import (
    LayerDesc,
    LocalSharedLayerDesc,
    SharedLayerDesc,
)
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayer
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.spec_utils import (
    LayerSpec,
    build_spec_layer,
    get_spec_layer,
    import_spec_layer,
)

__all__ = [
    "ColumnParallelLinear",
    "LayerDesc",
    "LayerSpec",
    "LocalSharedLayerDesc",
    "ParallelCrossEntropy",
    "PipelineLayer",
    "RNGStatesTracker",
    "RowParallelLinear",
    "SharedLayerDesc",
    "VocabParallelEmbedding",
    "build_spec_layer",
    "get_rng_state_tracker",
    "get_spec_layer",
    "import_spec_layer",
    "model_parallel_random_seed",
]
