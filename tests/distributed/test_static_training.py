"""Static programs of several processes train as one process with the whole batch."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs.static_training import CASES


def run(count):
    ended = pairs.run("static_training.py", count=count, seconds=100)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def results():
    return run(1)[0], run(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_two_processes_train_as_one(results, name):
    alone, pair = results
    expected = alone["results"][name]
    tolerance = 0.02 if "amp" in CASES[name] else 1e-5
    found = [one["results"][name] for one in pair]
    assert found[0]["weight"] == found[1]["weight"]
    np.testing.assert_allclose(found[0]["weight"], expected["weight"], rtol=tolerance, atol=tolerance)
    losses = np.mean([one["losses"] for one in found], axis=0)
    np.testing.assert_allclose(losses, expected["losses"], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found[0]["after"], expected["after"], rtol=tolerance, atol=tolerance)


@pytest.mark.slow
def test_merged_gradients_update_once(results):
    """The loss of a batch does not change between two updates: three batches see the first weights."""
    alone = results[0]["results"]
    assert alone["merged"]["losses"][:3] != alone["adam"]["losses"][:3]
    assert alone["merged"]["losses"][0] == alone["adam"]["losses"][0]


@pytest.mark.slow
def test_what_several_processes_cannot_do_is_refused(results):
    assert results[0]["refused"] == ""
    assert all("localsgd in a static program of several processes" in one["refused"] for one in results[1])
