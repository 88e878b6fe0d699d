"""Programs of several processes, and Tensors on the devices of a mesh (`paddle.distributed`)."""

from paddle_jax.distributed import auto_parallel, communication, fleet, fsdp as fsdp, rpc as rpc, sharding
from paddle_jax.distributed.auto_parallel.api import (
    dtensor_from_fn,
    in_auto_parallel_align_mode,
    reshard,
    shard_tensor,
    unshard_dtensor,
)
from paddle_jax.distributed.auto_parallel.high_level_api import to_distributed
from paddle_jax.distributed.auto_parallel.dist_attr import DistAttr
from paddle_jax.distributed.auto_parallel.dist_model import DistModel, to_static
from paddle_jax.distributed.auto_parallel.layers import shard_dataloader, shard_layer
from paddle_jax.distributed.auto_parallel.local_map import LocalLayer, local_map
from paddle_jax.distributed.auto_parallel.optimizers import (
    ShardingStage1,
    ShardingStage2,
    ShardingStage3,
    shard_optimizer,
    shard_scaler,
)
from paddle_jax.distributed.auto_parallel.intermediate.parallelize import parallelize
from paddle_jax.distributed.auto_parallel.intermediate.pipeline_parallel import SplitPoint
from paddle_jax.distributed.auto_parallel.placement_type import (
    Partial,
    Placement,
    ReduceType,
    Replicate,
    Shard,
)
from paddle_jax.distributed.auto_parallel.plans import (
    ColWiseParallel,
    PrepareLayerInput,
    PrepareLayerOutput,
    RowWiseParallel,
    SequenceParallelBegin,
    SequenceParallelDisable,
    SequenceParallelEnable,
    SequenceParallelEnd,
)
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, get_mesh, set_mesh
from paddle_jax.distributed.auto_parallel.spatial_plans import (
    ContextParallel,
    ConvParallel,
    PrepareContextParallel,
)
from paddle_jax.distributed.auto_parallel.step_strategy import Strategy
from paddle_jax.distributed.auto_parallel.weights import gather_weights
from paddle_jax.distributed.checkpoint import (
    ShardedStateDict,
    ShardedWeight,
    build_sharded_state_dict,
    load_merged_state_dict,
    load_state_dict,
    save_state_dict,
    shard_weight,
)
from paddle_jax.distributed.fleet.dataset.dataset import InMemoryDataset, QueueDataset
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import split
from paddle_jax.distributed.entry_attr import CountFilterEntry, ProbabilityEntry, ShowClickEntry
from paddle_jax.distributed.collective import is_available, new_group
from paddle_jax.distributed.communication import (
    P2POp,
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    destroy_process_group,
    gather,
    get_backend,
    get_group,
    irecv,
    is_initialized,
    isend,
    recv,
    recv_object_list,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    send_object_list,
    stream,
    wait,
)
from paddle_jax.distributed.data_parallel import DataParallel
from paddle_jax.distributed import passes as passes
from paddle_jax.distributed.launch.main import launch
from paddle_jax.distributed.planning import plan
from paddle_jax.distributed.parallel import (
    ParallelEnv,
    ParallelMode,
    get_rank,
    get_world_size,
    init_parallel_env,
)
from paddle_jax.distributed.parallel_with_gloo import gloo_barrier, gloo_init_parallel_env, gloo_release
from paddle_jax.distributed.sharding import group_sharded_parallel, save_group_sharded_model
from paddle_jax.distributed.spawn import spawn

__all__ = [
    "DataParallel",
    "P2POp",
    "ParallelEnv",
    "ReduceOp",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "alltoall",
    "alltoall_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "communication",
    "destroy_process_group",
    "fleet",
    "gather",
    "get_backend",
    "get_group",
    "get_rank",
    "get_world_size",
    "gloo_barrier",
    "gloo_init_parallel_env",
    "gloo_release",
    "init_parallel_env",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "launch",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "spawn",
    "split",
    "stream",
    "wait",
]
__all__ += [
    "Partial",
    "Placement",
    "ProcessMesh",
    "ReduceType",
    "Replicate",
    "Shard",
    "auto_parallel",
    "dtensor_from_fn",
    "get_mesh",
    "reshard",
]
__all__ += ["set_mesh", "shard_tensor", "unshard_dtensor"]
__all__ += [
    "LocalLayer",
    "ShardingStage1",
    "ShardingStage2",
    "ShardingStage3",
    "local_map",
    "shard_dataloader",
    "shard_layer",
    "shard_optimizer",
]
__all__ += ["shard_scaler"]
__all__ += [
    "ColWiseParallel",
    "DistModel",
    "PrepareLayerInput",
    "PrepareLayerOutput",
    "RowWiseParallel",
    "SequenceParallelBegin",
    "Strategy",
]
__all__ += [
    "SequenceParallelDisable",
    "SequenceParallelEnable",
    "SequenceParallelEnd",
    "parallelize",
    "to_static",
]
__all__ += ["load_state_dict", "save_state_dict"]
__all__ += [
    "ContextParallel",
    "ConvParallel",
    "DistAttr",
    "ParallelMode",
    "PrepareContextParallel",
    "ShardedStateDict",
    "ShardedWeight",
    "SplitPoint",
]
__all__ += ["build_sharded_state_dict", "load_merged_state_dict", "shard_weight", "to_distributed"]
__all__ += ["CountFilterEntry", "InMemoryDataset", "ProbabilityEntry", "QueueDataset", "ShowClickEntry"]
__all__ += ["gather_weights", "in_auto_parallel_align_mode", "plan", "sharding"]
