"""Experts with a dimension of their own in the grid of processes: losses are those of one process."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs.expert_grids import GRIDS, LEVELS

pytestmark = pytest.mark.slow


def found(count, folder):
    ended = pairs.run("expert_grids.py", str(folder), count=count, seconds=150)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


def test_experts_in_grids_of_four_processes(tmp_path):
    processes = found(4, tmp_path)
    [alone] = found(1, tmp_path)
    for rank, one in enumerate(processes):
        for name in (*GRIDS, *LEVELS):
            np.testing.assert_allclose(one[name], alone["alone"], rtol=1e-6, err_msg=f"{name}, rank {rank}")
        # A PipelineLayer that does not know the grid has other stages, and one file no experts of others.
        stages, *files = one["refused"]
        assert "give it topology=" in stages
        assert len(files) == 3 and all("use distributed.save_state_dict" in text for text in files)
        # Two grids of processes and one process go on from each other's checkpoints.
        losses = one["resumed"] + alone["resumed"]
        np.testing.assert_allclose(losses, alone["with states"], rtol=1e-5)
