"""Data parallel training of two processes, as in the real Paddle; batch normalisation over both as over the
whole batch in one."""

import json

import numpy as np
import pytest

from tests.distributed import pairs, spawned

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    ended = pairs.run("training.py", "paddle_jax", seconds=120)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def expected(oracle, tmp_path_factory):
    return spawned.found("training", tmp_path_factory.mktemp("oracle"))


def test_as_in_paddle(found, expected):
    for rank in range(2):
        for name in set(expected[rank]) - {"training", "training alone"}:
            assert found[rank][name] == expected[rank][name], (rank, name)
        for got, wanted in zip(found[rank]["training"], expected[rank]["training"], strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


def test_as_in_one_process(found):
    assert found[0]["training"] == found[1]["training"]
    for got, wanted in zip(found[0]["training"], found[0]["training alone"], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


def test_batch_normalisation(found):
    for rank in range(2):
        assert max(found[rank]["normalised"]) < 2e-5 and found[rank]["normalised, evaluation"] < 2e-5, found[
            rank
        ]["normalised"]


def test_buckets(found):
    assert found[0]["buckets"] == [[[1 << 17], [1 << 17]], [[4]], [[1 << 19]]]


def test_other_parameters_on_each_process(found):
    for rank in range(2):
        assert (
            "find_unused_parameters=True" in found[rank]["uneven"]
            and "rank 0 calls gradients" in found[rank]["uneven"]
        )


def test_compiled_and_recomputed(found):
    for rank in range(2):
        assert found[rank]["compiled"] == found[rank]["recomputed"] == [[1.5, 1.5], [1.5, 1.5]]
