"""Experts on several processes: tokens go to them and come back, with gradients."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs import divided


def found(count):
    ended = pairs.run("experts.py", count=count, seconds=100)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def alone():
    return found(1)[0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_experts_train_as_in_one_process(alone, count):
    processes = found(count)
    for kind in ("naive", "switch") if count < 4 else ("switch",):
        losses = np.sum([one[kind] for one in processes], axis=0)
        np.testing.assert_allclose(losses, alone[kind], rtol=2e-5)
        weights = {}
        for one in processes:
            weights |= one[kind + " weights"]
        assert weights.keys() == alone[kind + " weights"].keys()
        for number, value in weights.items():
            np.testing.assert_allclose(value, alone[kind + " weights"][number], rtol=1e-4, atol=1e-5)
    assert all(one["marked"] == [True] for one in processes) and alone["marked"] == [False]
    if count == 4:  # two copies of weights in two parts
        divided.check([one["split"] for one in processes], alone["split"])
    if count == 2:  # the values that Paddle's documentation shows
        assert processes[0]["scattered"] == [[1, 2], [3, 4], [1, 2], [5, 6], [3, 4]]
        assert processes[1]["scattered"] == [[7, 8], [5, 6], [7, 8], [9, 10], [9, 10]]
        for one in processes:
            assert one["gradient"] == [[2, 4], [6, 8], [10, 12], [14, 16], [18, 20]] and one["back"]
            assert "[processes * experts of each]" in one["refused"][0] and "5 rows" in one["refused"][1]
