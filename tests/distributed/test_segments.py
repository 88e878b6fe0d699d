"""Sequences in segments: each process has a part, gradients are summed."""

import json

import numpy as np
import pytest

from tests.distributed import pairs


def trained(count, **environment):
    more = {name: str(value) for name, value in environment.items()}
    ended = pairs.run("segments.py", count=count, seconds=100, **more)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def alone():
    return trained(1)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "replicas"), [(2, 1), (2, 2)])
def test_segments_train_as_the_whole(alone, parts, replicas):
    found = trained(parts * replicas, SEP=parts, DP=replicas)
    for kind in ("sep", "cp"):
        losses = np.sum([one[kind]["losses"] for one in found], axis=0) / replicas
        np.testing.assert_allclose(losses, alone[kind]["losses"], rtol=1e-5)
        for one in found:
            assert one[kind]["class"] == "SegmentParallel"
            np.testing.assert_allclose(one[kind]["weight"], alone[kind]["weight"], rtol=1e-4, atol=1e-5)
    assert all("a mask or dropout with cp_degree" in one["cp"]["refused"] for one in found)
