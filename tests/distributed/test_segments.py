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
    if replicas == 1:
        looks_as_in_one_process([one["cp"] for one in found], alone["cp"])


def looks_as_in_one_process(parts, alone):
    """Masks give the same results and gradients; dropout drops some weights and doubles the others."""

    def joined(found):
        return [np.concatenate(pieces, axis=1) for pieces in zip(*found, strict=True)]

    for name, wanted in alone["masks"].items():
        for got, want in zip(joined([part["masks"][name] for part in parts]), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=name)
    weights = np.array(alone["weights"][0])
    dropped, _, _, of_values = joined([part["dropped"] for part in parts])
    kept = dropped != 0
    np.testing.assert_allclose(dropped, np.where(kept, 2 * weights, 0), rtol=1e-4)
    assert 0.4 < kept.mean() < 0.6
    # The backward pass drops the same weights: two heads share a value.
    rows = np.arange(dropped.shape[1]).reshape(1, -1, 1, 1)
    received = (dropped * rows).sum(1).reshape(2, 2, 2, -1).sum(2)
    np.testing.assert_allclose(of_values, np.repeat(received.transpose(0, 2, 1)[..., None], 8, -1), rtol=1e-4)
    for part in parts:
        columns, gradient = part["refused"]
        assert "a process has its own rows and all columns: [2 or 1, 4 or 1, 4 or 1, 8]" in columns
        assert "it wants a gradient" in gradient
