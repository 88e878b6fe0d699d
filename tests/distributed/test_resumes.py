"""Checkpoints over processes: training goes on with another split, as if nothing had happened."""

import json

import numpy as np
import pytest

from tests.distributed import pairs


def trained(count, *cases):
    """For each case: the losses, as means over the processes."""
    ended = pairs.run("resumes.py", *map(json.dumps, cases), count=count, seconds=120)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    found = [json.loads(process.out.splitlines()[-1]) for process in ended]
    return [np.mean(losses, axis=0) for losses in zip(*found, strict=True)]


@pytest.mark.slow
def test_training_goes_on_with_another_split(tmp_path):
    """Two steps of each split, one after the other, on 4, 8 and 1 processes.

    Optimizers have states of whole Parameters, or of pieces of them.
    """

    def case(degrees, first, read=None, write=None, pieces=False):
        folders = {"read": read and str(tmp_path / read), "write": write and str(tmp_path / write)}
        return {"degrees": degrees, "steps": [first, first + 2], "pieces": pieces, **folders}

    pieces = trained(
        4,
        case({"dp": 2, "mp": 2}, 0, write="a"),
        case({"pp": 2, "sharding": 2}, 2, read="a", write="b"),
        case({"sharding": 4}, 4, read="b", write="c", pieces=True),
        case({"mp": 2, "sharding": 2}, 6, read="c", write="d", pieces=True),
        case({"sharding": 4}, 8, read="d", write="e"),
    )
    pieces += trained(8, case({"dp": 2, "mp": 2, "pp": 2}, 10, read="e", write="f"))
    last, from_pieces, wanted = trained(
        1, case({}, 12, read="f"), case({}, 6, read="c"), {**case({}, 0), "steps": [0, 14]}
    )
    np.testing.assert_allclose(np.concatenate([*pieces, last]), wanted, rtol=1e-6)
    np.testing.assert_allclose(from_pieces, wanted[6:8], rtol=1e-6)
