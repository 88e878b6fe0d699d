"""Translates the environment variables of other schedulers into those of Paddle's launcher.

Only `init_parallel_env` asks for it: many programs that a scheduler starts side by side have nothing to do
with each other.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from jax._src.clusters import OmpiCluster, SlurmCluster  # JAX reads their variables only while it connects

from paddle_jax._core.base import launch_variables
from paddle_jax._core.process_group import startup_barrier

_MASTER = ("MASTER_ADDR", "MASTER_PORT")


class Started(NamedTuple):
    """A process that a scheduler started.

    Attributes:
        rank: int, its number.
        size: int, the number of processes.
        coordinator: "host:port", or None.
    """

    rank: int
    size: int
    coordinator: str | None


def adopt_environment() -> str | None:
    """Sets Paddle's variables from those of a scheduler, unless the program's launcher has set them.

    Returns:
        The name of the scheduler, or None.
    """
    if os.environ.get("PADDLE_TRAINERS_NUM") or startup_barrier.is_connected():
        return None
    for name, read in (
        ("PADDLE_TRAINER_ENDPOINTS", _from_endpoints),
        ("torchrun", _from_torchrun),
        ("Slurm", _from_slurm),
        ("Open MPI", _from_open_mpi),
        ("MPI", _from_mpi),
    ):
        started = read()
        if started is not None and started.size > 1:
            os.environ["PADDLE_TRAINER_ID"] = str(started.rank)
            os.environ["PADDLE_TRAINERS_NUM"] = str(started.size)
            if started.coordinator:
                os.environ.setdefault("PADDLE_MASTER", started.coordinator)
            os.environ.setdefault(startup_barrier.MARK, str(os.getpid()))
            return name
    return None


def _has(*names: str) -> bool:
    return all(os.environ.get(name) for name in names)


def _from_endpoints() -> Started | None:
    """The list of all processes' addresses; the number or the address of this process gives its rank."""
    addresses = [address.strip() for address in launch_variables.endpoints() if address.strip()]
    own_address = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")
    if len(addresses) < 2 or not (_has("PADDLE_TRAINER_ID") or own_address in addresses):
        return None
    if own_address in addresses:
        default_rank = addresses.index(own_address)
    else:
        default_rank = 0
    rank = launch_variables.integer("PADDLE_TRAINER_ID", default_rank)
    return Started(rank, len(addresses), addresses[0])


def _from_torchrun() -> Started | None:
    if _has(*_MASTER):
        return _from_variables("RANK", "WORLD_SIZE")
    return None


def _from_slurm() -> Started | None:
    """A step of `srun`.

    The variables of a job alone (`sbatch`, `salloc`) do not say that several processes were started.
    """
    if not (SlurmCluster.is_env_present() and _has("SLURM_STEP_NUM_TASKS")):
        return None
    size = launch_variables.integer("SLURM_STEP_NUM_TASKS", 1)
    return Started(SlurmCluster.get_process_id(), size, _coordinator_of(SlurmCluster))


def _from_open_mpi() -> Started | None:
    """`mpirun` of Open MPI.

    From version 5 on it does not say where it runs; then the address comes from MASTER_ADDR and MASTER_PORT.
    """
    started = _from_variables("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
    if started is None or not OmpiCluster.is_env_present():
        return started
    return started._replace(coordinator=_coordinator_of(OmpiCluster))


def _from_mpi() -> Started | None:
    """`mpiexec` of MPICH and Intel MPI."""
    return _from_variables("PMI_RANK", "PMI_SIZE")


def _from_variables(rank: str, size: str) -> Started | None:
    """A process whose rank and size two variables hold."""
    if not _has(rank, size):
        return None
    return Started(launch_variables.integer(rank, 0), launch_variables.integer(size, 1), None)


def _coordinator_of(cluster: Any) -> str | None:
    """The address that JAX derives for a cluster, unless the environment has one."""
    if _has(*_MASTER):
        return None
    return cluster.get_coordinator_address(None, os.environ.get("MASTER_PORT"))
