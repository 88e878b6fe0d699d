"""Random programs on unknown lengths: their files give what the functions give, here and in Paddle."""

import importlib.util

import pytest

from tests.jit.lengths.compare import run
from tests.jit.lengths.oracle import Oracle

SAMPLE = {"numbers": range(12), "tensors": range(7)}


@pytest.fixture(scope="module")
def reader():
    """The real Paddle in a process of its own; None where it is not installed."""
    if importlib.util.find_spec("paddle") is None:
        yield None
        return
    oracle = Oracle()
    yield oracle
    oracle.close()


@pytest.mark.parametrize("kind", SAMPLE)
def test_random_programs(kind, tmp_path, reader):
    refused = 0
    for seed in SAMPLE[kind]:
        found = run(seed, tmp_path, "file", kind, reader)
        if found is not None:
            assert not found.wrong, f"seed {seed}: {found.wrong}\n{found.program.body}"
            refused += found.refused is not None
    assert refused <= len(SAMPLE[kind]) // 4


def test_random_programs_in_onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    for seed in range(20, 26):
        found = run(seed, tmp_path, "onnx")
        assert found is None or not found.wrong, f"seed {seed}: {found.wrong}\n{found.program.body}"


def test_random_static_programs(tmp_path):
    for seed in range(30, 34):
        found = run(seed, tmp_path, "static", "static")
        assert found is None or not found.wrong, f"seed {seed}: {found.wrong}\n{found.program.body}"
