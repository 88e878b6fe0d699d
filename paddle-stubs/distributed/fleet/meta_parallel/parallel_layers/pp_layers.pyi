from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import *
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayer as PipelineLayer
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayerChunk as PipelineLayerChunk
