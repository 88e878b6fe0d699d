"""What schedulers say about the machines of a job, where they start one launcher on each."""

import os
import re


def machines() -> dict[str, str]:
    """{option of the launcher: text}: `nnodes`, `rank` and, where it is known, `host_of_master`.

    A step of Slurm's `srun` and MPI count only where they have started one launcher for each machine; the
    index of a Kubernetes Job gives the rank alone.
    """
    return _slurm() or _mpi() or _kubernetes()


def _slurm() -> dict[str, str]:
    tasks = os.environ.get("SLURM_STEP_NUM_TASKS", "1")
    nodes = os.environ.get("SLURM_STEP_NUM_NODES", "")
    # One task for each machine: launchers, and not the processes of a program.
    if tasks == "1" or tasks != nodes or "SLURM_NODEID" not in os.environ:
        return {}
    first = re.match(r"([^\[,]+)(?:\[(\d+))?", os.environ.get("SLURM_STEP_NODELIST", ""))
    options = {"nnodes": nodes, "rank": os.environ["SLURM_NODEID"]}
    if first is not None:  # node[07-09,12] begins with node07
        options["host_of_master"] = first[1] + (first[2] or "")
    return options


def _mpi() -> dict[str, str]:
    kinds = [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
        ("PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"),
    ]
    for size, rank, on_this_machine in kinds:
        # Several processes on a machine are those of the program, and no launchers.
        alone = os.environ.get(on_this_machine, "1") == "1"
        if os.environ.get(size, "1") != "1" and rank in os.environ and alone:
            return {"nnodes": os.environ[size], "rank": os.environ[rank]}
    return {}


def _kubernetes() -> dict[str, str]:
    index = os.environ.get("JOB_COMPLETION_INDEX")
    if index is None or "KUBERNETES_SERVICE_HOST" not in os.environ:
        return {}
    return {"rank": index}
