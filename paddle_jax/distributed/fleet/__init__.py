"""Programs of several processes that all do the same: data, tensor and sharding parallelism
(`paddle.distributed.fleet`)."""

from paddle_jax.distributed.fleet import (
    base as base,
    data_generator as data_generator,
    dataset as dataset,
    layers as layers,
    meta_optimizers as meta_optimizers,
    meta_parallel as meta_parallel,
    metrics as metrics,
    recompute as recompute,
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

fleet: Fleet = Fleet()
Current.fleet = fleet
util = fleet.util
init = fleet.init
worker_index = fleet.worker_index
worker_num = fleet.worker_num
is_first_worker = fleet.is_first_worker
rank = fleet.worker_index
nranks = fleet.worker_num
world_size = fleet.worker_num
is_worker = fleet.is_worker
is_server = fleet.is_server
worker_endpoints = fleet.worker_endpoints
node_num = fleet.node_num
local_rank = fleet.local_rank
barrier_worker = fleet.barrier_worker
get_hybrid_communicate_group = fleet.get_hybrid_communicate_group
minimize = fleet.minimize
amp_init = fleet.amp_init
get_loss_scaling = fleet.get_loss_scaling
server_num = fleet.server_num
server_index = fleet.server_index
server_endpoints = fleet.server_endpoints
save_persistables = fleet.save_persistables
save_inference_model = fleet.save_inference_model
load_inference_model = fleet.load_inference_model
save = fleet.save
all_reduce = fleet.all_reduce
init_worker = fleet.init_worker
stop_worker = fleet.stop_worker
init_server = fleet.init_server
run_server = fleet.run_server
completed_rounds = fleet.completed_rounds
load_model = fleet.load_model
save_one_table = fleet.save_one_table
load_one_table = fleet.load_one_table
save_dense_params = fleet.save_dense_params
shrink = fleet.shrink
print_table_stat = fleet.print_table_stat

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
