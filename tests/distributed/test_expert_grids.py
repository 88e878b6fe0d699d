"""Experts with a dimension of their own in the grid of processes: losses are those of one process."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs.expert_grids import GRIDS

pytestmark = pytest.mark.slow


def found(count):
    ended = pairs.run("expert_grids.py", count=count, seconds=150)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


def test_experts_in_grids_of_four_processes():
    alone = found(1)[0]
    for rank, one in enumerate(found(4)):
        for name in GRIDS:
            np.testing.assert_allclose(one[name], alone, rtol=1e-6, err_msg=f"{name}, rank {rank}")
        # A PipelineLayer that does not know the grid has other stages.
        assert "give it topology=" in one["refused"][0]
