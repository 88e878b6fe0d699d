"""Collectives of two processes: what the real Paddle gives on CPUs, and NumPy where it has none."""

import json

import numpy as np
import pytest

from tests.distributed import pairs, spawned
from tests.distributed.programs.collectives import DTYPES

pytestmark = pytest.mark.slow


def _found(engine):
    ended = pairs.run("collectives.py", engine, seconds=120)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


@pytest.fixture(scope="module")
def found():
    return _found("paddle_jax")


@pytest.fixture(scope="module")
def expected(oracle, tmp_path_factory):
    return spawned.found("collectives", tmp_path_factory.mktemp("oracle"))


def test_as_in_paddle(found, expected):
    for rank in range(2):
        for name, wanted in expected[rank].items():
            got = found[rank][name]
            if (
                isinstance(wanted, list)
                and wanted
                and isinstance(wanted[0], str)
                and wanted[0].endswith("Error")
            ):
                assert got[0] == wanted[0], (rank, name, got, wanted)
            else:
                assert got == wanted, (rank, name)


def test_bits_stay_as_they_are(found):
    assert all(np.signbit(found[rank]["broadcast"][1]) for rank in range(2))


NUMPY = {"SUM": np.sum, "MAX": np.max, "MIN": np.min, "PROD": np.prod}


def _reduced(op, rows, dtype):
    rows = np.array(rows)
    if dtype == "bool":
        return (
            ((rows != 0).any(0) if op in ("SUM", "MAX", "AVG") else (rows != 0).all(0)).astype(float).tolist()
        )
    if op == "AVG":
        return (rows.sum(0) // 2 if "int" in dtype else rows.mean(0)).astype(float).tolist()
    return NUMPY[op](rows, axis=0).astype(float).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(found, dtype):
    rows = [[rank, 3, 2 * rank] for rank in range(2)]
    for rank in range(2):
        for op in ("SUM", "MAX", "MIN", "PROD", "AVG"):
            got = found[rank][f"{dtype} all_reduce {op}"]
            if dtype.startswith("complex") and op in ("MAX", "MIN"):
                assert got[0] == "ValueError" and "no order" in got[1]
                continue
            assert dtype in got[0] and got[1:] == _reduced(op, rows, dtype), (rank, op, got)
            assert (
                found[rank][f"{dtype} reduce_scatter {op}"]
                == _reduced(op, [[r, 3] for r in range(2)], dtype)[rank : rank + 1]
            ), (rank, op)
        one = 1.0
        assert found[rank][f"{dtype} all_gather"] == [[0.0, one], [1.0, one]]
        assert found[rank][f"{dtype} broadcast"] == [1.0, one]
        assert found[rank][f"{dtype} alltoall_single"] == [[0.0, 1.0], [1.0, 1.0]][rank]
        assert found[rank][f"{dtype} messages"] == [1.0 - rank, one]


def test_all_to_all(found):
    assert [found[rank]["alltoall"] for rank in range(2)] == [
        [[0.0, 0.0], [1.0, 0.0]],
        [[0.0, 1.0], [1.0, 1.0]],
    ]
    assert found[0]["uneven"] == [[0, 1], [10, 11], [12, 13]]
    assert found[1]["uneven"] == [[2, 3], [4, 5], [14, 15]]
    assert found[0]["stream: sizes"] == [[0, 1], [10, 11]] and found[1]["stream: sizes"] == [
        [2, 3],
        [4, 5],
        [12, 13],
        [14, 15],
    ]
    assert found[0]["uneven: sizes"][0] == "ValueError" and "send [1, 2]" in found[0]["uneven: sizes"][1]


def test_messages(found):
    assert [found[rank]["crossed"] for rank in range(2)] == [[10.0, 11.0, 12.0], [0.0, 1.0, 2.0]]
    assert [found[rank]["crossed, large"] for rank in range(2)] == [float(1 << 20), 0.0]
    assert found[1]["objects"] == [1, "a"]
    assert found[0]["itself"][0] == "RuntimeError"
    assert found[1]["other size"][0] == "RuntimeError" and "float32[2]" in found[1]["other size"][1]


def test_streams(found):
    assert found[0]["stream all_gather"] == [0.0, 9.0, 1.0, 9.0]
    assert found[0]["stream later"][0] == "RuntimeError"
    assert found[0]["empty"] == [0, 2]


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("shapes", ["rank 0 calls all_reduce(sum, float32[3])", "rank 1 calls all_reduce(sum, float32[4])"]),
        ("dtypes", ["int32[3]", "float32[3]"]),
        ("kinds", ["rank 0 calls all_reduce(sum, float32[3])", "rank 1 calls broadcast(src 0, float32[3])"]),
    ],
)
def test_other_calls_are_refused_on_all_ranks(found, name, calls):
    for rank in range(2):
        kind, text = found[rank][name]
        assert kind == "MismatchError" and "group 0 (ranks 0, 1)" in text
        assert all(call in text for call in calls)


def test_waits_are_counted(found):
    (calls, seconds), (others, _) = found[0]["waits"], found[1]["waits"]
    assert calls == others == 1
    assert seconds > 0.5  # of the second that rank 1 was late


def test_the_rest(found):
    assert found[0]["compiled"] == [2.0, 2.0]  # op by op, with a warning
    assert found[1]["gradient"] == [6.0, 6.0]
    assert found[0]["destroyed"] is None
    assert found[1]["place"] == ["Place(cpu)", "Place(cpu)", "cpu"]
    assert found[1]["over"] == [False, "rank: 1, nranks: 2, id: 0, ranks: 0, 1; name: _default_pg"]


def test_examples_of_docstrings():
    """Examples that need two processes run in two; the files' own test runs them in one, where they
    do nothing."""
    ended = pairs.run("docstrings.py", seconds=120)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
        assert int(process.out.splitlines()[-1]) >= 30, process.out
