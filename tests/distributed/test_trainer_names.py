"""Functions that trainers import from inside fleet, on two processes, against NumPy."""

import json

import numpy as np
import pytest

from paddle_jax.distributed.communication.group import Group, _warn_cur_rank_not_in_group
from paddle_jax.distributed.utils.log_utils import get_logger
from tests.distributed import pairs
from tests.distributed.programs import trainer_names as program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    ended = pairs.run("trainer_names.py", str(folder), seconds=90)
    assert all(process.code == 0 for process in ended), ended
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


def test_five_dimensions(found):
    for one in found:
        assert one["names"] == ["data", "pipe", "sharding", "sep", "model"]
        assert one["rank"] == 1


def test_parts_of_a_model(found):
    exponents = np.exp(program.LOGITS.astype("float64"))
    softmax = exponents / exponents.sum(1, keepdims=True)
    counted = program.LABELS[:, 0] >= 0
    losses = np.where(counted, -np.log(softmax[np.arange(4), program.LABELS[:, 0]]), 0)
    slopes = np.where(counted[:, None], softmax - np.eye(6)[program.LABELS[:, 0]], 0)
    rows = 0
    for rank, one in enumerate(found):
        parts = one["parts"]
        columns = slice(3 * rank, 3 * rank + 3)
        np.testing.assert_allclose(parts["losses"], losses[:, None], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(parts["softmax"], softmax[:, columns], rtol=1e-5)
        np.testing.assert_allclose(parts["slope"], slopes[:, columns], rtol=1e-4, atol=1e-6)
        used = np.bincount(program.INDEX.ravel(), minlength=8)[4 * rank : 4 * rank + 4]
        np.testing.assert_array_equal(parts["used"], np.repeat(used[:, None], 3, 1))
        rows = rows + np.array(parts["rows"])
    np.testing.assert_allclose(rows, program.TABLE[program.INDEX], rtol=1e-6)


def test_divided_classes(found):
    rows = np.arange(4)
    angles = np.arccos(program.COSINES.astype("float64"))[rows, program.CLASSES]
    scores = 16 * program.COSINES.astype("float64")
    scores[rows, program.CLASSES] = 16 * (np.cos(angles + 0.3) - 0.1)
    exponents = np.exp(scores)
    softmax = exponents / exponents.sum(1, keepdims=True)
    loss = -np.log(softmax[rows, program.CLASSES]).sum()
    slopes = 16 * (softmax - np.eye(9)[program.CLASSES])
    # The chain rule through cos(arccos(x) + 0.3).
    slopes[rows, program.CLASSES] *= np.sin(angles + 0.3) / np.sin(angles)
    picked = []
    for rank, one in enumerate(found):
        parts = one["classes"]
        columns = program.COLUMNS[rank]
        np.testing.assert_allclose([parts["loss"], parts["alone"]], loss, rtol=1e-5)
        np.testing.assert_allclose(parts["softmax"], softmax[:, columns], rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(parts["slope"], slopes[:, columns], rtol=1e-4, atol=1e-5)
        assert len(set(parts["own"])) == len(parts["own"]) == 2 + rank
        picked += [columns.start + number for number in parts["own"]]
    for one in found:
        assert [picked[position] for position in one["classes"]["positions"]] == program.CLASSES.tolist()


def test_inputs_and_parameters_of_the_first_process(found):
    for rank, one in enumerate(found):
        assert one["inputs"] == [[0, 0], [5], [7], [[rank], [rank]], [0]]


def test_gradients_that_hooks_add_up(found):
    for rank, one in enumerate(found):
        # After the second pass: both passes of both processes, [1 + 10, 1 + 10 + 2 rank] and 2.
        first, both = [[1.0, 1.0 + rank], [1.0]], [[22.0, 24.0], [4.0]]
        assert one["hooks"] == [first, both] * 2


SUMS, MEANS = [3.0, 30.0], [1.5, 15.0]
SECOND_SUMS, SECOND_MEANS = [6.0, 60.0], [3.0, 30.0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # The second backward pass adds its slopes to the mean of the first.
        ("sum", [SUMS, MEANS, SECOND_SUMS, SECOND_MEANS]),
        ("mean", [MEANS, MEANS, SECOND_MEANS, SECOND_MEANS]),
        ("native mean", [MEANS, MEANS, SECOND_MEANS, SECOND_MEANS]),
        ("released", [SUMS, MEANS, SECOND_SUMS, SECOND_MEANS]),
        ("reduced", [SUMS, MEANS]),
        ("reduced mean", [MEANS, MEANS]),
        ("accumulated", [None, [6.0, 60.0], [3.0, 30.0], None, [12.0, 120.0], [6.0, 60.0]]),
    ],
)
def test_gradients_in_buffers(found, name, expected):
    """The values are those of the real Paddle on two processes."""
    for rank, one in enumerate(found):
        # The other process of a reduction to the second one has a value of no use.
        if not name.startswith("reduced") or rank == 1:
            for got, wanted in zip(one["buffers"][name], expected, strict=False):
                assert wanted is None or got == wanted


def test_gradients_checked_in_by_hand(found):
    for rank, one in enumerate(found):
        assert one["checked in"] == [[rank + 1.0, 0.0], [1.5, 0.0], [1.5, 1.5], [1.5, 0.0]]


def test_float32_gradients_of_half_precision(found):
    slope = [[2.0], [256.00390625]]  # the mean of both processes, twice
    for one in found:
        start, is_wide, gradient, weight = one["copies"]
        assert start == [[0.5], [0.5]] and is_wide and gradient == slope
        assert weight == [[-0.5], [-127.5]]


def test_checkpoints_of_tensors_that_differ(found):
    for rank, one in enumerate(found):
        results, count = one["checkpoints"]
        assert results["same"] == ["", ["0.metadata", "0_0.distcp", "1_0.distcp"]]
        # All values are those of the first process, and the process that writes the metadata warns.
        warning, files = results["others"]
        assert files == ["0.metadata", "0_0.distcp"] and count == 0
        assert ("1 Tensors have other values" in warning) == (rank == 0)
        refusal, files = results["shapes"]
        assert "'w' is float32 [2] on one process and float32 [3] on another" in refusal and files == []
        refusal, files = results["experts"]
        assert "'expert' is another expert" in refusal and files == []
        assert "use sharded_state_dict" in one["pieces"]


def test_levels_in_checkpoints(found):
    """Training goes on in any level, as if nothing had happened."""
    for one in found:
        whole, levels = one["levels"]
        for level, (first, others, said) in levels.items():
            for losses in others:
                np.testing.assert_allclose(first + losses, whole, rtol=1e-6)
            # Pieces without their places are refused.
            assert ("is the piece of a parameter" in said) == (level == "p_g_os")


def test_tokens_of_experts(found):
    counts = [[1, 1, 0, 2], [0, 0, 1, 2]]
    received = [[1, 1, 0, 0], [0, 2, 1, 2]]
    left = [[1, 0, 3, 3], [-1, 2, -1, -1]]
    order = [[1, 0, 3, 2], [1, 2, 0]]
    for rank, one in enumerate(found):
        positions, sent, got, sent_limited, got_limited, limited = one["tokens"]
        assert (positions, sent, got) == (order[rank], counts[rank], received[rank])
        assert sent_limited == [[1, 1, 0, 2], [0, 0, 1, 0]][rank]
        assert got_limited == [[1, 1, 0, 0], [0, 2, 1, 0]][rank]
        assert limited == left[rank]


def test_a_process_outside_of_a_group():
    """The values are those of the real Paddle."""
    with pytest.warns(UserWarning, match="Current global rank 0 is not in group pair"):
        assert _warn_cur_rank_not_in_group(Group(-1, 5, [1, 2], name="pair"))
    assert not _warn_cur_rank_not_in_group(Group(0, 5, [0, 1]))
    assert not _warn_cur_rank_not_in_group(None)


def test_loggers():
    """The level of the first call for a name counts, as in the real Paddle."""
    logger = get_logger("INFO", "trainer of a test")
    assert get_logger("DEBUG", "trainer of a test") is logger
    assert (logger.level, logger.propagate, len(logger.handlers)) == (20, False, 1)
    record = logger.makeRecord("n", 20, "file.py", 3, "text", None, None)
    assert logger.handlers[0].format(record).endswith("[    INFO] file.py:3 - text")
