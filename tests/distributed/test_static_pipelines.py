"""Static programs in stages over processes train as one process with the whole batch."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs.static_pipelines import CASES, fits


def run(count):
    ended = pairs.run("static_pipelines.py", count=count, seconds=100)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def results():
    return run(1), run(2), run(4)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_stages_train_as_one_process(results, name):
    expected = results[0][0]["whole"][name]
    tolerance = 0.02 if "amp" in CASES[name] else 1e-5
    for processes in results:
        if not fits(CASES[name], len(processes)):
            continue
        found = [one["results"][name] for one in processes]
        losses = np.mean([one["losses"] for one in found], axis=0)
        np.testing.assert_allclose(losses, expected["losses"], rtol=tolerance, atol=tolerance)
        for one in found:
            assert one["weights"] == found[0]["weights"]
        for one, other in zip(found[0]["weights"], expected["weights"], strict=True):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    # where one pipeline has the whole batch
    for one in (*results[0], *results[CASES[name]["stages"] // 2]):
        found = one["results"][name]
        np.testing.assert_allclose(found["result"], expected["result"], rtol=tolerance, atol=tolerance)


@pytest.mark.slow
def test_gradients_drop_what_the_loss_has_dropped(results):
    """The loss is proportional to the weight of 1, so its gradient is the loss."""
    for one in (*results[0], *results[1]):
        loss, weight, _, _ = one["dropped"]
        assert abs(loss) > 1e-3
        np.testing.assert_allclose(weight, 1 - loss, rtol=1e-5)


@pytest.mark.slow
def test_running_statistics_follow_the_micro_batches(results):
    for one in (*results[0], *results[1]):
        *_, mean, rows = one["dropped"]
        expected = np.zeros(4)
        for part in np.split(np.array(rows), 2):
            expected = 0.9 * expected + 0.1 * part.mean(0)
        np.testing.assert_allclose(mean, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_what_does_not_fit_is_refused(results):
    for one in results[1]:
        too_many, odd_rows, wrong_order = one["refused"]
        assert "the program has 3 stages of device_guard" in too_many
        assert "x: got 3 rows; accumulate_steps 2 must divide them" in odd_rows
        assert "stage 0 takes a result of stage 1" in wrong_order
