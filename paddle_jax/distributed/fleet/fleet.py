"""Programs in which all processes do the same: who one is, and what a model and an optimizer become."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.process_group import schedulers
from paddle_jax._core.process_group.one_process import OneProcess
from paddle_jax._core.process_group.registry import Groups
from paddle_jax.amp import GradScaler, decorate
from paddle_jax.distributed.checkpoint.sharded_weight import CuttingGroup
from paddle_jax.distributed.communication.group import barrier, create_group, default_group, is_initialized
from paddle_jax.distributed.data_parallel import DataParallel
from paddle_jax.distributed.fleet.base.device_grid import DeviceGrid
from paddle_jax.distributed.fleet.base.distributed_strategy import DistributedStrategy
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.base.role_maker import PaddleCloudRoleMaker, RoleMakerBase
from paddle_jax.distributed.fleet.base.topology import (
    SHORT_NAMES,
    CommunicateTopology,
    EPHybridCommunicateGroup,
    HybridCommunicateGroup,
)
from paddle_jax.distributed.fleet.base.util_factory import UtilBase
from paddle_jax.distributed.fleet.layers.mpu.random import model_parallel_random_seed
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_optimizer import (
    HybridParallelOptimizer,
)
from paddle_jax.distributed.fleet.meta_parallel.device_pipeline import DevicePipeline, plain_mode
from paddle_jax.distributed.fleet.meta_parallel.dualpipev import DualPipeVParallel
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayer
from paddle_jax.distributed.fleet.meta_parallel.pipeline_parallel import (
    NoPipelineParallel,
    PipelineParallel,
    PipelineParallelWithInterleave,
    PipelineParallelWithInterleaveFthenB,
)
from paddle_jax.distributed.fleet.meta_parallel.wrapped import (
    DeviceParallel,
    SegmentParallel,
    ShardingParallel,
    TensorParallel,
)
from paddle_jax.distributed.fleet.meta_parallel.zero_bubble import (
    ProcessZeroBubblePipeline,
    ZeroBubblePipeline,
)
from paddle_jax.distributed.fleet.server_methods import ServerMethods
from paddle_jax.distributed.fleet.static_training import StaticOptimizer, acts
from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import unwrap_optimizer
from paddle_jax.distributed.fleet.utils.mix_precision_utils import MixPrecisionOptimizer
from paddle_jax.distributed.parallel import ParallelMode, init_parallel_env
from paddle_jax.framework.mode import in_dynamic_mode

if TYPE_CHECKING:
    from paddle_jax.distributed.fleet.base.role_maker import UserDefinedRoleMaker
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = ["Fleet"]

# settings that Paddle builds into static programs
_STATIC = (
    "amp",
    "recompute",
    "gradient_merge",
    "sharding",
    "pipeline",
    "tensor_parallel",
    "lamb",
    "lars",
    "sync_batch_norm",
    "localsgd",
    "adaptive_localsgd",
    "dgc",
    "asp",
    "qat",
    "fp16_allreduce",
    "fuse_grad_merge",
    "auto",
    "semi_auto",
    "auto_search",
    "elastic",
    "adam_d2sum",
    "heter_ccl_mode",
    "is_fl_ps_mode",
    "is_with_coordinator",
)

# short and long names of the dimensions of experts
_EXPERT_NAMES = {"ep": "expert", "moe_sharding": "moe_sharding"}

_WRAPPERS = {
    ParallelMode.TENSOR_PARALLEL: TensorParallel,
    ParallelMode.SEGMENT_PARALLEL: SegmentParallel,
    ParallelMode.SHARDING_PARALLEL: ShardingParallel,
}


def _pure_dtype(strategy: DistributedStrategy) -> str | None:
    """The dtype that `strategy.amp` gives parameters, or None."""
    if not strategy.amp:
        return None
    if strategy.amp_configs["use_pure_fp16"]:
        return "float16"
    if strategy.amp_configs["use_pure_bf16"]:
        return "bfloat16"
    return None


def _warn_of_static(strategy: DistributedStrategy) -> None:
    """Warns an eager program of settings that act on static programs only."""
    ignored = [name for name in _STATIC if getattr(strategy, name)]
    if _pure_dtype(strategy) is not None:
        ignored.remove("amp")
    if ignored and in_dynamic_mode():
        warnings.warn(
            f"fleet.init: strategy: {', '.join(ignored)} act on Paddle's static programs only, "
            "and do nothing here; use paddle.amp, fleet.utils.recompute, several backward() "
            "before a step(), hybrid_configs, an optimizer of that name, "
            "or nn.SyncBatchNorm.convert_sync_batchnorm",
            stacklevel=3,
        )


class Fleet(ServerMethods):
    """All of `paddle.distributed.fleet`; its methods are functions there.

    Example:
        >>> from paddle_jax.distributed import fleet
        >>> _ = fleet.init(is_collective=True)
        >>> fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()
        (0, 1, True)
    """

    def __init__(self) -> None:
        self._role_maker, self._user_defined_strategy, self._util = None, None, UtilBase()

    def init(
        self,
        role_maker: Any = None,
        is_collective: bool = False,
        strategy: DistributedStrategy | None = None,
        log_level: str = "INFO",
    ) -> Fleet:
        """Connects the processes of the program and makes their groups.

        A process without launcher that sees several devices takes them for the degrees: weights lie on the
        devices in parts, batches are cut by `distributed_model`, and collectives have one process.

        Args:
            role_maker: PaddleCloudRoleMaker or UserDefinedRoleMaker. Default None:
                PaddleCloudRoleMaker(is_collective).
            is_collective: True for processes that all do the same. False for programs with parameter
                servers, and for a process alone.
            strategy: DistributedStrategy. Default None: one with data parallelism over all processes.
            log_level: accepted.
        Returns:
            This object.
        Raises:
            ValueError: role_maker is none; a process alone has fewer devices than the degrees make up.
                TypeError: strategy is none; a variable of a job with parameter
                servers is missing. NotImplementedError: several workers that are neither collective nor have
                servers, a role that there is none of, cp_degree above 1.
                AssertionError: the product of the degrees is not the number of processes.
        Example:
            >>> from paddle_jax.distributed import fleet
            >>> fleet.init(is_collective=True).worker_num()
            1
        """
        # The variables of torchrun, srun and mpirun become Paddle's.
        schedulers.adopt_environment()
        if role_maker is None:
            role_maker = PaddleCloudRoleMaker(is_collective)
        if not isinstance(role_maker, RoleMakerBase):
            raise ValueError(
                f"`role_maker` should be subclass of `RoleMakerBase`, but got {type(role_maker)}"
            )
        role_maker.check_role()
        if strategy is None:
            strategy = DistributedStrategy()
        if not isinstance(strategy, DistributedStrategy):
            raise TypeError(
                f"fleet.init: strategy: got {type(strategy).__name__}; it must be a DistributedStrategy"
            )
        _warn_of_static(strategy)
        self._role_maker = role_maker
        self._user_defined_strategy = strategy
        self._start_servers(role_maker, strategy)
        # With servers a worker exchanges rows, not gradients.
        if Current.servers is not None:
            return self  # processes with servers are not connected with each other
        if launch_variables.size() > 1:
            init_parallel_env()
        lengths = _dimensions(strategy)
        # An earlier `init` may have made a grid of devices.
        Current.grid = Groups.alone = None
        if lengths.get("expert", 1) > 1:
            self._hcg = Current.hcg = EPHybridCommunicateGroup([*lengths], [*lengths.values()])
        else:
            self._take_grid(CommunicateTopology([*lengths], [*lengths.values()]))
        # Sharded checkpoints ask for it, and lie below this module.
        CuttingGroup.find = self._hcg.get_model_parallel_group
        # -1 is the default: nobody has chosen a seed.
        seed = strategy.tensor_parallel_configs["tensor_init_seed"]
        # Parts of a weight must draw different numbers, other layers the same.
        if self._hcg.get_model_parallel_world_size() > 1 or (Current.grid is not None and seed != -1):
            model_parallel_random_seed(None if seed == -1 else seed)
        return self

    def _take_grid(self, topology: CommunicateTopology) -> None:
        """Lays processes out in a grid, or the devices of one process."""
        if launch_variables.size() == 1 and topology.world_size() > 1:
            self._take_devices(topology)
        else:
            self._hcg = Current.hcg = HybridCommunicateGroup(topology)

    def _take_devices(self, topology: CommunicateTopology) -> None:
        """Lays the devices of this process out in a grid; collectives then have one process."""
        Current.grid = DeviceGrid(topology)
        Groups.alone = OneProcess()
        Groups.known[0] = create_group(0, [0], launch_variables.read().timeout, "_default_pg")
        self._hcg = Current.hcg = HybridCommunicateGroup.of_devices(topology)

    def _role(self) -> PaddleCloudRoleMaker | UserDefinedRoleMaker:
        if self._role_maker is None:
            raise AttributeError("fleet: it is not initialized; call fleet.init(is_collective=True) first")
        return self._role_maker

    # who this process is ------------------------------------------------------------------------------------

    def worker_index(self) -> int:
        """The number of this process, from 0."""
        return self._role()._worker_index()

    def worker_num(self) -> int:
        """The number of processes."""
        return self._role()._worker_num()

    def is_first_worker(self) -> bool:
        """Whether this is process 0."""
        return self._role()._is_first_worker()

    def is_worker(self) -> bool:
        """Whether this process trains."""
        return self._role()._is_worker()

    def is_server(self) -> bool:
        """Whether this process is a parameter server."""
        return self._role()._is_server()

    def worker_endpoints(self, to_string: bool = False) -> Any:
        """The addresses of all processes, as far as the launcher has told them: a list, or a str with
        commas between them."""
        found = self._role()._get_trainer_endpoints()
        if to_string:
            return ",".join(found)
        return found

    def server_num(self) -> int:
        """The number of parameter servers."""
        return self._role()._server_num()

    def server_index(self) -> int:
        """The number of this process among the parameter servers; in a worker its own number, as in
        Paddle."""
        return self._role()._server_index()

    def server_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The addresses of parameter servers: a list, or a str with commas between them. Without servers it
        is an empty str, as in Paddle, whatever `to_string` is."""
        found = self._role()._get_pserver_endpoints()
        # Paddle's result without servers is a text in either case.
        return found if found and not to_string else ",".join(found)

    def node_num(self) -> int:
        """The number of machines, as far as the launcher has told it."""
        self._role()
        return launch_variables.integer("PADDLE_NNODES", 1)

    def local_rank(self) -> str | None:
        """The number of this process on its machine, as the launcher has told it: a str, or None."""
        return os.environ.get("PADDLE_LOCAL_RANK")

    def barrier_worker(self) -> None:
        """Waits until all workers have called it."""
        self._role()
        if Current.servers is not None:
            # An exchange of empty texts through the servers, as such workers have no collectives.
            Current.servers.gather("")
        elif is_initialized():
            barrier()

    @property
    def util(self) -> UtilBase:
        """Small exchanges between all processes, a UtilBase."""
        return self._util

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """The HybridCommunicateGroup.

        Raises:
            AttributeError: `fleet.init` was not called.
        """
        self._role()
        return self._hcg

    def get_hybrid_parallel_topology(self) -> Any:
        """The CommunicateTopology of all processes."""
        return self.get_hybrid_communicate_group().topology()

    # model, optimizer, scaler -------------------------------------------------------------------------------

    def distributed_model(self, model: Layer) -> Layer:
        """A Layer for training in several processes. With `strategy.amp` and `use_pure_fp16` or
        `use_pure_bf16` in its `amp_configs` the parameters become float16 or bfloat16.

        Args:
            model: Layer.
        Returns:
            DataParallel, TensorParallel, SegmentParallel, ShardingParallel or PipelineParallel round it, as
            the degrees say; DeviceParallel where one process drives several devices; the Layer itself where
            there is one process with one device, and it is no PipelineLayer.
        Raises:
            AttributeError: `fleet.init` was not called. AssertionError: nothing in the Layer is trained.
        Example:
            >>> from paddle_jax.distributed import fleet
            >>> net = paddle.nn.Linear(2, 1)
            >>> fleet.init(is_collective=True).distributed_model(net) is net
            True
        """
        if Current.servers is not None:
            return model  # its optimizer does what there is to do
        strategy = self._user_defined_strategy
        mode = self._hcg.get_parallel_mode()
        dtype = _pure_dtype(strategy)
        # As in Paddle, one process with one device keeps the model as it is.
        if dtype is not None and (self.worker_num() > 1 or Current.grid is not None):
            model = decorate(models=model, level="O2", dtype=dtype)
        # A pipeline decides by its schedule which class runs it.
        if isinstance(model, PipelineLayer):
            return _pipeline(model, self._hcg, strategy)
        if Current.grid is not None:
            return DeviceParallel(model, self._hcg, strategy)
        # One process: nothing to exchange.
        if self.worker_num() <= 1:
            return model
        if mode == ParallelMode.PIPELINE_PARALLEL:
            raise CheckError(
                f"fleet.distributed_model: model: got {type(model).__name__}; with pp_degree above 1 it must "
                "be a PipelineLayer"
            )
        if mode == ParallelMode.DATA_PARALLEL:
            return DataParallel(
                model,
                comm_buffer_size=strategy.fuse_grad_size_in_MB,
                last_comm_buffer_size=strategy.last_comm_group_size_MB,
                find_unused_parameters=strategy.find_unused_parameters,
            )
        return _WRAPPERS[mode](model, self._hcg, strategy)

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """The numbers of all workers brought together, as `fleet.util.all_reduce`.

        Args:
            input: number, list or NumPy array, of one shape on all workers.
            mode: "sum", "mean", "max" or "min".
        Returns:
            NumPy array, or a number for a number.
        Raises:
            AssertionError: mode is another one.
        Example:
            >>> from paddle_jax.distributed import fleet
            >>> fleet.init(is_collective=True).all_reduce([2, 3], "mean").tolist()
            [2.0, 3.0]
        """
        # `util.all_reduce` has no mean.
        if mode == "mean":
            return self.util.all_reduce(input, "sum") / self.worker_num()
        return self.util.all_reduce(input, mode)

    def distributed_optimizer(self, optimizer: Optimizer, strategy: DistributedStrategy | None = None) -> Any:
        """An optimizer for training in several processes.

        Args:
            optimizer: Optimizer.
            strategy: DistributedStrategy in place of that of `fleet.init`; the degrees stay.
        Returns:
            HybridParallelOptimizer round it; in static mode an optimizer whose `minimize` averages gradients
            over the processes, and does what the strategy says (`amp`, `recompute`, `gradient_merge`, `lamb`,
            `lars`, `sharding`, `fp16_allreduce`, `localsgd`, `adaptive_localsgd`, `dgc`,
            `pipeline`). The optimizer itself where there is one process and nothing to do.
        Raises:
            AttributeError: `fleet.init` was not called.
            NotImplementedError: the strategy asks for what static programs of several processes cannot do.
        """
        if strategy is not None:
            self._user_defined_strategy = strategy
        optimizer = unwrap_optimizer(optimizer, MixPrecisionOptimizer)
        if Current.servers is not None:
            self._optimizer = self._server_optimizer(optimizer)
            return self._optimizer
        if Current.grid is not None:
            self._optimizer = Current.grid.shard_states(optimizer)
            return self._optimizer
        strategy = self._user_defined_strategy
        alone = self.worker_num() <= 1
        # A static program gets its exchange by a hook.
        if not in_dynamic_mode() and (not alone or acts(strategy)):
            self._optimizer = StaticOptimizer(optimizer, strategy, None if alone else default_group())
            return self._optimizer
        if alone:
            self._optimizer = optimizer
            return optimizer
        self._optimizer = HybridParallelOptimizer(optimizer, self._hcg, self._user_defined_strategy)
        return self._optimizer

    def distributed_scaler(self, scaler: Any) -> GradScaler:
        """The GradScaler itself: the optimizers of this module tell it what the other processes have found.

        Args:
            scaler: GradScaler.
        """
        if not isinstance(scaler, GradScaler):
            raise TypeError(
                f"fleet.distributed_scaler: scaler: got {type(scaler).__name__}; it must be a GradScaler"
            )
        return scaler

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Any:
        """`minimize` of the optimizer that was given to distributed_optimizer last."""
        if not hasattr(self, "_optimizer"):
            raise AttributeError(
                "fleet.minimize: there is no optimizer; call fleet.distributed_optimizer first"
            )
        return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    def amp_init(
        self, place: Any, scope: Any = None, test_program: Any = None, use_fp16_test: Any = False
    ) -> Any:
        """Casts the parameters of a static program, after its startup program has run.

        Args:
            place: accepted.
            scope: Scope. Default: the global one.
            test_program: Program cloned for testing, rewritten with `use_fp16_test`. Default None.
            use_fp16_test: rewrite test_program. Default False.
        Raises:
            AttributeError: the optimizer does not train in mixed precision (`strategy.amp`).
        """
        return self._mixed_precision("amp_init").amp_init(place, scope, test_program, use_fp16_test)

    def get_loss_scaling(self) -> Any:
        """The Variable of the loss scale of a static program, None without one."""
        return self._mixed_precision("get_loss_scaling").get_loss_scaling()

    def _mixed_precision(self, name: Any) -> Any:
        optimizer = getattr(self, "_optimizer", None)
        if not hasattr(optimizer, name):
            raise AttributeError(
                f"fleet.{name}: the optimizer does not train in mixed precision; set strategy.amp, and call "
                "fleet.distributed_optimizer in static mode"
            )
        return optimizer


def _pipeline(model: Layer, hcg: HybridCommunicateGroup, strategy: DistributedStrategy) -> Layer:
    """A PipelineLayer with the schedule that its stages, chunks and micro-batches ask for."""
    stages = hcg.topology().get_dim("pipe")
    # Several chunks on one stage are interleaved.
    chunks = model.get_num_virtual_stages()
    is_folded = strategy.hybrid_configs["pp_configs"].use_dualpipev
    if stages > 1 and is_folded != model.sizes(1).is_folded:
        raise CheckError(
            f"fleet.distributed_model: use_dualpipev: the strategy has {is_folded}, the PipelineLayer "
            f"{not is_folded}; set it in hybrid_configs['pp_configs'] and give it to the PipelineLayer"
        )
    split = plain_mode(strategy.pipeline_configs["schedule_mode"]) == "zbh1"
    # One process drives the devices of all stages.
    if stages > 1 and Current.grid is not None:
        kind = ZeroBubblePipeline if split and not is_folded else DevicePipeline
        return kind(model, hcg, strategy)
    if stages == 1:
        return NoPipelineParallel(model, strategy, hcg)
    _check_stages(model, hcg)
    if is_folded:
        return DualPipeVParallel(model, hcg, strategy)
    if split:
        return ProcessZeroBubblePipeline(model, hcg, strategy)
    if chunks == 1:
        return PipelineParallel(model, hcg, strategy)
    micro_batches = strategy.pipeline_configs["accumulate_steps"]
    # Below that the stages would wait for each other in between.
    if micro_batches >= 2 * stages:
        return PipelineParallelWithInterleave(model, hcg, strategy)
    if micro_batches >= stages:
        return PipelineParallelWithInterleaveFthenB(model, hcg, strategy)
    raise ValueError(
        f"fleet.distributed_model: accumulate_steps: got {micro_batches}; a pipeline of {stages} stages of "
        f"{chunks} chunks needs {stages} micro-batches at least"
    )


def _check_stages(model: PipelineLayer, hcg: HybridCommunicateGroup) -> None:
    """Refuses a PipelineLayer whose stages are other processes than those of the grid."""
    of_grid = hcg.get_pipe_parallel_group().ranks
    of_model = next(ranks for ranks in model._topo.get_comm_list("pipe") if hcg.global_rank in ranks)
    if of_model != of_grid:
        raise CheckError(
            f"fleet.distributed_model: model: the stages of the PipelineLayer are processes {of_model}, "
            f"those of the grid {of_grid}; give it topology=fleet.get_hybrid_communicate_group().topology()"
        )


def _dimensions(strategy: DistributedStrategy) -> dict[str, int]:
    """The lengths of the dimensions of the grid that a strategy asks for, from outside to inside.

    Raises:
        NotImplementedError: the lengths are not for one grid.
    """
    degrees = {name: strategy.hybrid_configs[f"{name}_degree"] for name in SHORT_NAMES}
    # The two would need groups across both, which are not made here.
    if degrees["cp"] > 1 and degrees["pp"] > 1 and launch_variables.size() > 1:
        raise NotImplementedError(
            f"fleet.init: cp_degree: got {degrees['cp']} with pp_degree {degrees['pp']} over processes; use "
            "sep_degree with stages, or one process that drives all devices"
        )
    # -1: as many as the other degrees leave.
    if degrees["dp"] < 0:
        others = 1
        for name, degree in degrees.items():
            others *= degree if name != "dp" else 1
        degrees["dp"] = max(_places(others) // others, 1)
    order = _order(strategy, degrees)
    for name in set(order) & set(_EXPERT_NAMES):
        degrees[name] = strategy.hybrid_configs[f"{name}_degree"]
    _check_degrees_of_experts(degrees)
    names = SHORT_NAMES | _EXPERT_NAMES
    return {names[name]: degrees[name] for name in order}


def _check_degrees_of_experts(degrees: dict[str, int]) -> None:
    """Refuses degrees of experts without a grid for them."""
    experts = degrees.get("ep", 1)
    if experts > 1 and degrees["cp"] > 1:
        raise NotImplementedError(
            f"fleet.init: ep_degree: got {experts} with cp_degree {degrees['cp']}; use one of them"
        )
    copies = degrees.get("moe_sharding", 1)
    if experts == 1 and copies > 1:
        raise NotImplementedError(
            f"fleet.init: moe_sharding_degree: got {copies} with ep_degree 1; leave it 1, all processes have "
            "the same experts then"
        )


def _order(strategy: DistributedStrategy, degrees: dict[str, int]) -> list[str]:
    """The dimensions of the grid of a strategy, from outside to inside."""
    order = list(strategy.hybrid_parallel_order)
    for name in _EXPERT_NAMES:
        degree = strategy.hybrid_configs[f"{name}_degree"]
        if degree > 1 and name not in order:
            warnings.warn(
                f"fleet.init: {name}_degree: got {degree}; {name} is not in order, so it has no effect; add "
                'it to hybrid_configs["order"], or pass MoELayer the group of its experts as moe_group',
                stacklevel=4,
            )
    # Programs for older releases name four dimensions, those without segments of keys five.
    for name in SHORT_NAMES:
        if name not in order and (name != "cp" or degrees["cp"] > 1):
            order.insert(len(order) - 1, name)
    return order


def _places(others: int) -> int:
    """How many processes there are; of a process alone whose strategy asks for several devices, how
    many it sees."""
    count = launch_variables.size()
    if count == 1 and others > 1:
        return jax.local_device_count()
    return count
