"""Trainers as libraries of models write them, on two processes, against the real Paddle in one."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs import trainers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    ended = pairs.run("trainers.py", seconds=120)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.mark.parametrize("name", ["images", "accumulated", "fused", "buffers", "pipeline"])
def test_as_in_one_process(found, oracle, name):
    alone = {
        "images": trainers.images_alone,
        "accumulated": trainers.accumulated_alone,
        "fused": trainers.accumulated_alone,
        "buffers": trainers.accumulated_alone,
        "pipeline": trainers.pipeline_alone,
    }
    wanted = alone[name](oracle)
    for one in found:
        assert one[name].keys() == wanted.keys()
        for key, values in wanted.items():
            np.testing.assert_allclose(one[name][key], values, rtol=2e-5, atol=2e-5, err_msg=key)
