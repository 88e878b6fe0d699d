"""What a program asks about the processes it runs in (`paddle.distributed`). One process drives all devices of JAX."""

from paddle_jax.distributed import auto_parallel, fleet
from paddle_jax.distributed.auto_parallel.api import dtensor_from_fn, reshard, shard_tensor, unshard_dtensor
from paddle_jax.distributed.auto_parallel.placement_type import Partial, Placement, ReduceType, Replicate, Shard
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, get_mesh, set_mesh
from paddle_jax.distributed.parallel import get_rank, get_world_size, is_initialized

__all__ = ["fleet", "get_rank", "get_world_size", "is_initialized"]
__all__ += ["Partial", "Placement", "ProcessMesh", "ReduceType", "Replicate", "Shard", "auto_parallel", "dtensor_from_fn", "get_mesh", "reshard"]
__all__ += ["set_mesh", "shard_tensor", "unshard_dtensor"]
