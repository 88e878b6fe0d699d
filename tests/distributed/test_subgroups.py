"""Four processes, and groups of some of them."""

import json

import numpy as np
import pytest

from tests.distributed import pairs

pytestmark = pytest.mark.slow

COMBINED = {"SUM": np.sum, "MAX": np.max, "MIN": np.min, "PROD": np.prod, "AVG": np.mean}


def test_four_processes():
    ended = pairs.run("subgroups.py", count=4, seconds=150)
    assert all(process.code == 0 for process in ended), ended
    found = [json.loads(process.out.splitlines()[-1]) for process in ended]
    rows = np.array([[rank + 1, 2] for rank in range(4)], "float32")
    for rank, got in enumerate(found):
        for op, combined in COMBINED.items():
            np.testing.assert_allclose(got[op], combined(rows, axis=0))
            np.testing.assert_allclose(got[f"{op} of three"], combined(rows[1:], axis=0) if rank else rows[0])
        assert got["bool"] == [1.0, 0.0]
        assert all(got[f"broadcast {src}"] == [src, 7.0] for src in range(4))
        assert got["broadcast of three"] == [3.0 if rank else 0.0, 7.0]
        place, ranks = rank // 2, "1, 3" if rank % 2 else "0, 2"
        assert (
            got["group"][:4] == [4.0 if rank % 2 else 2.0, 2.0, place, 1]
            and f"ranks: {ranks}" in got["group"][4]
        )
        assert got["alltoall"] == [[10.0 * other + rank] for other in range(4)]
        assert got["reduce_scatter"] == [3.0 * rank] and got["scatter"] == [float(rank)]
        assert got["objects"] == [0, 1, 2, 3] and got["ring"] == [float((rank - 1) % 4)]
