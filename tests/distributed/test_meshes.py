"""Groups along a mesh and parts of Tensors of two processes, as in the real Paddle; programs that other
schedulers start.

Unit tests of `_core.process_group.schedulers`.
"""

import json

import pytest

from paddle_jax._core.process_group import schedulers
from tests.distributed import pairs, spawned


def _last(ended):
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.mark.slow
def test_groups_and_parts(oracle, tmp_path):
    found = _last(pairs.run("meshes.py", "paddle_jax", str(tmp_path / "checkpoint"), seconds=90))
    assert found == spawned.found("meshes", tmp_path)
    assert [each["sum"] for each in found] == [[3.0, 3.0]] * 2 and found[1]["part"] == [
        [2, 3],
        [2, 6],
        [0, 3],
    ]


def told(kind, rank, port):
    return {
        "torchrun": {
            "RANK": str(rank),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        },
        "endpoints": {
            "PADDLE_TRAINER_ENDPOINTS": f"127.0.0.1:{port},127.0.0.1:1",
            "PADDLE_CURRENT_ENDPOINT": f"127.0.0.1:{(port, 1)[rank]}",
        },
        "numbered": {
            "PADDLE_TRAINER_ENDPOINTS": f"127.0.0.1:{port},127.0.0.1:1",
            "PADDLE_TRAINER_ID": str(rank),
        },
        "slurm": {
            "SLURM_JOB_ID": "5",
            "SLURM_STEP_NODELIST": "localhost",
            "SLURM_NTASKS": "2",
            "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_PROCID": str(rank),
            "SLURM_LOCALID": str(rank),
        },
        "Open MPI": {
            "OMPI_COMM_WORLD_RANK": str(rank),
            "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://127.0.0.1,10.0.0.1:34911",
        },
        "MPI": {"PMI_RANK": str(rank), "PMI_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
        "sbatch": {"SLURM_JOB_ID": "5", "SLURM_NTASKS": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"},
        "one": {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
    }[kind]


@pytest.mark.parametrize(
    "kind, wanted",
    [
        ("torchrun", ("1", "2", None)),
        ("endpoints", ("1", "2", "127.0.0.1:70")),
        ("numbered", ("1", "2", "127.0.0.1:70")),
        ("slurm", ("1", "2", "localhost:61445")),
        ("Open MPI", ("1", "2", "127.0.0.1:62624")),
        ("MPI", ("1", "2", None)),
        ("sbatch", None),
        ("one", None),
    ],
)
def test_what_schedulers_tell(monkeypatch, kind, wanted):
    for name in ("PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ID", "PADDLE_MASTER"):
        monkeypatch.setenv(name, "")  # so that what is set is taken back
        monkeypatch.delenv(name)
    monkeypatch.setenv(schedulers.startup_barrier.MARK, "1")
    for name, value in told(kind, 1, 70).items():
        monkeypatch.setenv(name, value)
    who = schedulers.adopt_environment()
    assert (who is None) == (wanted is None)
    if wanted is not None:
        found = tuple(
            schedulers.os.environ.get(f"PADDLE_{name}") for name in ("TRAINER_ID", "TRAINERS_NUM", "MASTER")
        )
        assert found == wanted
        assert schedulers.adopt_environment() is None  # what is set stays


@pytest.mark.slow
def test_a_program_that_a_scheduler_starts():
    port = pairs.free_port()
    found = _last(
        pairs.started(
            [told("endpoints", rank, port) for rank in range(2)], "meshes.py", "scheduled", seconds=60
        )
    )
    assert found == [[rank, 2, [3.0, 3.0], "2"] for rank in range(2)]
