"""Slices of a mapped file, as the real Paddle reads them."""

import numpy as np
import pytest


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "weights.bin"
    np.arange(20, dtype="float32").tofile(path)
    return str(path)


@pytest.mark.parametrize(
    ("dtype", "start", "stop"), [("float32", 0, 20), ("float32", 4, 8), ("uint8", 0, 8), ("int64", 2, 5)]
)
def test_reads_as_the_oracle(dtype, start, stop, file, oracle, paddle):
    ours, theirs = (m.MmapStorage(file, 80).get_slice(dtype, start, stop) for m in (paddle, oracle))
    assert str(ours.dtype) == str(theirs.dtype)
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_all_that_is_left(file, paddle):
    np.testing.assert_array_equal(
        paddle.MmapStorage(file, 80).get_slice("float32", 8).numpy(), np.arange(2, 20, dtype="float32")
    )


@pytest.mark.parametrize(
    "arguments",
    [("float32", 0, 21), ("float32", 8, 4), ("float32", 0, 8, 2), ("float32", -4, 0), ("float32", 100, 100)],
)
def test_refuses(arguments, file, paddle):
    with pytest.raises(ValueError, match="get_slice"):
        paddle.MmapStorage(file, 80).get_slice(*arguments)


@pytest.mark.parametrize(("name", "size"), [("missing.bin", 4), (None, 81)])
def test_refuses_files(name, size, file, oracle, paddle):
    for module in (oracle, paddle):
        with pytest.raises(RuntimeError):
            module.MmapStorage(name or file, size)
