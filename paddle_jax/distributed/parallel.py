"""The processes of a program: starting to work together, and asking who one is."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.base import launch_variables
from paddle_jax._core.process_group import schedulers, startup_barrier
from paddle_jax._core.process_group.group_flags import is_single_controller
from paddle_jax._core.process_group.messages import Channel
from paddle_jax._core.process_group.registry import Groups
from paddle_jax.distributed.communication.group import create_group, default_group
from paddle_jax.distributed.data_parallel import same_everywhere

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


__all__ = ["ParallelEnv", "ParallelMode", "get_rank", "get_world_size", "init_parallel_env"]


def init_parallel_env(nccl_config: Any = None) -> Any:
    """Makes the group of all processes, which a launcher or a scheduler (torchrun, `srun`, `mpirun`) has
    started. The processes are connected with this call, or with Paddle's launcher before it by the first use
    of a device; from then on one that fails ends all of them, each with a message.

    Args:
        nccl_config: accepted.
    Returns:
        Group of all processes; None, with a warning, where there is one process.
    Raises:
        ValueError: the launcher has not said where the processes meet. RuntimeError: a device was in use
            before the launcher's variables were set.
    Example:
        >>> group = paddle.distributed.init_parallel_env()  # doctest: +SKIP
        >>> paddle.distributed.get_world_size()  # in each of two processes  # doctest: +SKIP
        2
    """
    # Called twice, by a library and by the program, it must not connect again.
    if 0 in Groups.known:
        return Groups.known[0]
    # What torchrun, Slurm or MPI call rank and size, under the launcher's names.
    schedulers.adopt_environment()
    if launch_variables.size() == 1:
        warnings.warn(
            "Currently not a parallel execution environment, "
            "`paddle.distributed.init_parallel_env` will not do anything.",
            stacklevel=2,
        )
        return None
    if launch_variables.has_servers():
        raise RuntimeError(
            "init_parallel_env: this is a job with parameter servers (PADDLE_PSERVERS_IP_PORT_LIST), whose "
            "workers have no collectives; use fleet.util.all_reduce, or a job without servers"
        )
    found = launch_variables.read()
    if not startup_barrier.is_connected() and found.coordinator is None:
        raise ValueError(
            "init_parallel_env: PADDLE_TRAINERS_NUM tells of several processes, and nothing "
            "where they meet; set PADDLE_MASTER to host:port of process 0, or start the program "
            "by `python -m paddle_jax.distributed.launch`"
        )
    startup_barrier.connect()
    if not startup_barrier.is_connected():
        raise RuntimeError(
            "init_parallel_env: a device of this process was used before PADDLE_TRAINERS_NUM "
            "was set, or a process that the launcher started has started this one; "
            "set the variables before the first tensor, in each process"
        )
    # The channel is kept: connections serve all later groups.
    Groups.channel = Groups.channel or Channel(
        found.rank, found.coordinator or startup_barrier.coordinator_address()
    )
    Groups.known[0] = create_group(0, list(range(found.size)), found.timeout, "_default_pg")
    return Groups.known[0]


def get_rank(group: Any = None) -> int:
    """The number of this process, from 0.

    Args:
        group: Group, for the place in it (-1 outside). Default None: what the launcher put into
            PADDLE_TRAINER_ID, or 0.
    Returns:
        int.
    Example:
        >>> paddle.distributed.get_rank()
        0
    """
    if group is None:
        return launch_variables.rank()
    return group.rank


def get_world_size(group: Any = None) -> int:
    """The number of processes.

    Args:
        group: Group, for those in it (-1 outside). Default None: what the launcher put into
            PADDLE_TRAINERS_NUM, or 1; in a single process with FLAGS_single_controller the
            number of its devices.
    Returns:
        int.
    Example:
        >>> paddle.distributed.get_world_size()
        1
    """
    if group is not None:
        return group.world_size
    count = launch_variables.size()
    # One process that drives all devices counts them, as each is a place.
    if count == 1 and is_single_controller():
        return jax.device_count()
    return count


class ParallelEnv:
    """What the launcher has told this process.

    Attributes:
        _rank, _world_size: int, which process this is, of how many.
        _devices: list of the numbers of its devices.
        _timeout: int, milliseconds.
        _endpoints: list of str, those of all processes.
        _current: str, its own one.
    Example:
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size, env.nrings
        (0, 1, 1)
    """

    def __init__(self) -> None:
        found = launch_variables.read()
        self._rank = found.rank
        self._world_size = found.size
        self._devices = found.devices
        # Programs of Paddle count milliseconds here, the launcher counts seconds.
        self._timeout, self._endpoints = int(found.timeout * 1000), launch_variables.endpoints()
        self._current = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")

    @property
    def rank(self) -> Any:
        """The number of this process."""
        return self._rank

    @property
    def world_size(self) -> Any:
        """The number of processes."""
        return self._world_size

    @property
    def device_id(self) -> Any:
        """The number of the first accelerator of this process, 0 where none was chosen."""
        if self._devices:
            return self._devices[0]
        return 0

    @property
    def device_type(self) -> Any:
        """The kind of device that PADDLE_XCCL_BACKEND names, else empty."""
        return os.environ.get("PADDLE_XCCL_BACKEND", "")

    @property
    def current_endpoint(self) -> Any:
        """The address of this process, as far as the launcher has told it."""
        return self._current

    @property
    def trainer_endpoints(self) -> Any:
        """The addresses of all processes, as far as the launcher has told them."""
        return self._endpoints

    @property
    def nrings(self) -> Any:
        """1."""
        return 1

    @property
    def pg_timeout(self) -> Any:
        """Milliseconds that a call may take."""
        return self._timeout

    local_rank = rank
    nranks = world_size
    dev_id = device_id


class ParallelMode:
    """Numbers for the ways to divide work.

    Example:
        >>> paddle.distributed.ParallelMode.DATA_PARALLEL
        0
    """

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


def sync_params_buffers(
    model: Layer,
    comm_group: Any = None,
    src_rank: int = 0,
    is_model_parallel: Any = False,
    fuse_params: Any = True,
    is_moe_sharding_parallel: Any = False,
) -> None:
    """Gives the processes of a group the Parameters and buffers of one of them.

    Args:
        model: Layer.
        comm_group: Group. Default None: all processes. A process that does not belong to it goes on.
        src_rank: int, the number in the program of the process whose values they are.
        is_model_parallel: leave out Parameters of which each process has its own part. Default False.
        fuse_params: accepted.
        is_moe_sharding_parallel: whether the processes have the same experts. By default Parameters that are
            marked `no_sync` are left out; with this one those of them that are not marked `expert`.
    Raises:
        RuntimeError: there is no group of all processes. ValueError: src_rank is not in the group.
    """
    group = default_group() if comm_group is None else comm_group
    if group.is_member():
        tensors = [
            t
            for t in (*model.parameters(), *model.buffers())
            # Experts of other processes are others.
            if not getattr(t, "no_sync", False) or (is_moe_sharding_parallel and getattr(t, "expert", False))
        ]
        # Parts of weights differ between processes by intention.
        chosen = [t for t in tensors if not (is_model_parallel and getattr(t, "is_distributed", False))]
        same_everywhere(chosen, group, source=group.get_group_rank(src_rank))
