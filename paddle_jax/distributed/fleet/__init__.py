"""Programs of several processes that all do the same: data, tensor and sharding parallelism
(`paddle.distributed.fleet`)."""

from paddle_jax.distributed.fleet import (
    base,
    data_generator,
    layers,
    meta_optimizers,
    meta_parallel,
    recompute,
    utils,
)
from paddle_jax.distributed.fleet.base.distributed_strategy import DistributedStrategy
from paddle_jax.distributed.fleet.base.role_maker import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from paddle_jax.distributed.fleet.base.topology import CommunicateTopology, HybridCommunicateGroup
from paddle_jax.distributed.fleet.base.util_factory import UtilBase
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.data_generator.data_generator import (
    MultiSlotDataGenerator,
    MultiSlotStringDataGenerator,
)
from paddle_jax.distributed.fleet.fleet import Fleet
from paddle_jax.distributed.fleet.model import distributed_model
from paddle_jax.distributed.fleet.optimizer import distributed_optimizer
from paddle_jax.distributed.fleet.scaler import distributed_scaler

Current.fleet = fleet = Fleet()
util = fleet.util
init, worker_index, worker_num, is_first_worker = (
    fleet.init,
    fleet.worker_index,
    fleet.worker_num,
    fleet.is_first_worker,
)
rank, nranks, world_size = fleet.worker_index, fleet.worker_num, fleet.worker_num
is_worker, is_server, worker_endpoints, node_num, local_rank = (
    fleet.is_worker,
    fleet.is_server,
    fleet.worker_endpoints,
    fleet.node_num,
    fleet.local_rank,
)
barrier_worker, get_hybrid_communicate_group, minimize = (
    fleet.barrier_worker,
    fleet.get_hybrid_communicate_group,
    fleet.minimize,
)
server_num, server_index, server_endpoints = fleet.server_num, fleet.server_index, fleet.server_endpoints
save_persistables = fleet.save_persistables
init_worker, stop_worker, init_server, run_server = (
    fleet.init_worker,
    fleet.stop_worker,
    fleet.init_server,
    fleet.run_server,
)

__all__ = [
    "CommunicateTopology",
    "DistributedStrategy",
    "Fleet",
    "HybridCommunicateGroup",
    "MultiSlotDataGenerator",
    "MultiSlotStringDataGenerator",
    "PaddleCloudRoleMaker",
    "Role",
    "UserDefinedRoleMaker",
    "UtilBase",
    "utils",
]
