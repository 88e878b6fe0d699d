"""Helpers of `paddle.distributed.fleet.utils`."""

from paddle_jax.distributed.fleet.utils import hybrid_parallel_util, log_util as log_util
from paddle_jax.distributed.fleet.recompute.recompute import recompute
from paddle_jax.distributed.fleet.utils.fs import HDFSClient, LocalFS

__all__ = ["HDFSClient", "LocalFS", "hybrid_parallel_util", "recompute"]
