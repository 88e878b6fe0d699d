"""Models of which each process has a part, or works on one."""

from paddle_jax.distributed.fleet.meta_parallel import sharding
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers import *  # noqa: F403
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers import __all__ as _layers
from paddle_jax.distributed.fleet.meta_parallel.pipeline_parallel import PipelineParallel
from paddle_jax.distributed.fleet.meta_parallel.wrapped import ShardingParallel, TensorParallel

__all__ = [*_layers, "PipelineParallel", "ShardingParallel", "TensorParallel"]  # pyright: ignore[reportUnsupportedDunderAll]
