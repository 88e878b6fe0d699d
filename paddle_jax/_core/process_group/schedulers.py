"""What schedulers other than Paddle's launcher have told this process, as the variables that Paddle's
launcher would have set.

Only `init_parallel_env` asks for it: many programs that a scheduler starts side by side have nothing to do
with each other.
"""

import os

from jax._src.clusters import OmpiCluster, SlurmCluster  # JAX reads their variables only while it connects

from paddle_jax._core.base import launch_variables
from paddle_jax._core.process_group import startup_barrier

_MASTER = ("MASTER_ADDR", "MASTER_PORT")


def adopt() -> str | None:
    """Sets Paddle's variables from those of a scheduler, unless the program's launcher has set them. Returns
    who has told them, None for nobody."""
    if os.environ.get("PADDLE_TRAINERS_NUM") or startup_barrier.joined():
        return None
    for name, ask in (
        ("PADDLE_TRAINER_ENDPOINTS", _endpoints),
        ("torchrun", _torchrun),
        ("Slurm", _slurm),
        ("Open MPI", _open_mpi),
        ("MPI", _mpi),
    ):
        found = ask()
        if found is not None and found[1] > 1:
            rank, size, coordinator = found
            os.environ |= {"PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": str(size)}
            if coordinator:
                os.environ.setdefault("PADDLE_MASTER", coordinator)
            os.environ.setdefault(startup_barrier.MARK, str(os.getpid()))
            return name
    return None


def _has(*names):
    return all(os.environ.get(name) for name in names)


def _numbers(rank, size):
    return launch_variables.integer(rank, 0), launch_variables.integer(size, 1)


def _endpoints():
    """The list of all processes' addresses; this one is told by its number or by its own address."""
    listed = [each.strip() for each in launch_variables.endpoints() if each.strip()]
    own = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")
    if len(listed) < 2 or not (_has("PADDLE_TRAINER_ID") or own in listed):
        return None
    return (
        launch_variables.integer("PADDLE_TRAINER_ID", listed.index(own) if own in listed else 0),
        len(listed),
        listed[0],
    )


def _torchrun():
    return (*_numbers("RANK", "WORLD_SIZE"), None) if _has("RANK", "WORLD_SIZE", *_MASTER) else None


def _slurm():
    """A step of `srun`: the variables of a job alone (`sbatch`, `salloc`) do not say that several
    processes were started."""
    if not (SlurmCluster.is_env_present() and _has("SLURM_STEP_NUM_TASKS")):
        return None
    return (
        SlurmCluster.get_process_id(),
        launch_variables.integer("SLURM_STEP_NUM_TASKS", 1),
        _address(SlurmCluster),
    )


def _open_mpi():
    """`mpirun` of Open MPI. From version 5 on it does not say where it runs; then the address comes from
    MASTER_ADDR and MASTER_PORT."""
    if not _has("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
        return None
    told = OmpiCluster.is_env_present()
    return (
        *_numbers("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        _address(OmpiCluster) if told else None,
    )


def _mpi():
    """`mpiexec` of MPICH and Intel MPI."""
    return (*_numbers("PMI_RANK", "PMI_SIZE"), None) if _has("PMI_RANK", "PMI_SIZE") else None


def _address(cluster):
    return None if _has(*_MASTER) else cluster.get_coordinator_address(None, os.environ.get("MASTER_PORT"))
