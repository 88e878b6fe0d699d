"""One program over the devices of a mesh (`paddle.distributed.auto_parallel`): what lies where is said of
Tensors, the rest follows."""

from paddle_jax.distributed.auto_parallel import (
    api,
    high_level_api as high_level_api,
    placement_type,
    process_mesh,
)
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, create_mesh, get_mesh, set_mesh
from paddle_jax.distributed.auto_parallel.engine import Engine
from paddle_jax.distributed.auto_parallel.random import parallel_manual_seed as parallel_manual_seed
from paddle_jax.distributed.auto_parallel.strategy import Strategy

__all__ = [
    "Engine",
    "ProcessMesh",
    "Strategy",
    "api",
    "create_mesh",
    "get_mesh",
    "placement_type",
    "process_mesh",
    "set_mesh",
]
