"""Models of which each process has a part, or works on one."""

from paddle_jax.distributed.fleet.meta_parallel import sharding as sharding
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers import *  # noqa: F403
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers import __all__ as _layers
from paddle_jax.distributed.fleet.meta_parallel.dualpipev import DualPipeVParallel
from paddle_jax.distributed.fleet.meta_parallel.micro_batches import PipelineDatasetPreprocessor
from paddle_jax.distributed.fleet.meta_parallel.micro_step_hooks import (
    PipelineParallelMicroStepLocations,
    register_global_pipeline_parallel_hook,
)
from paddle_jax.distributed.fleet.meta_parallel.pipeline_parallel import (
    NoPipelineParallel,
    PipelineParallel,
    PipelineParallelWithInterleave,
    PipelineParallelWithInterleaveFthenB,
)
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.forward_backward_overlap_utils import (
    ScheduleChunk,
    ScheduleNode,
)
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import dict_to_tuple_helper
from paddle_jax.distributed.fleet.meta_parallel.wrapped import (
    MetaParallelBase,
    SegmentParallel,
    ShardingParallel,
    TensorParallel,
)

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    *_layers,
    "DualPipeVParallel",
    "MetaParallelBase",
    "NoPipelineParallel",
    "PipelineDatasetPreprocessor",
    "PipelineParallel",
    "PipelineParallelMicroStepLocations",
    "PipelineParallelWithInterleave",
    "PipelineParallelWithInterleaveFthenB",
    "ScheduleChunk",
    "ScheduleNode",
    "SegmentParallel",
    "ShardingParallel",
    "TensorParallel",
    "dict_to_tuple_helper",
    "register_global_pipeline_parallel_hook",
]
