"""Counts and orders of the tokens of experts, against counting one by one. Paddle has these functions on GPUs
only."""

import numpy as np
import pytest

from paddle_jax.distributed.models.moe import utils
from paddle_jax.incubate.distributed.models.moe import utils as experts

CHOSEN = [[[0, 2], [0, 2]], [[1, -1], [3, 3]], [[3], [1], [3], [-1], [0], [1]], [[-1], [-1]]]


def tokens_by_expert(chosen, count):
    flat = np.ravel(chosen).tolist()
    return [[place for place, expert in enumerate(flat) if expert == number] for number in range(count)]


@pytest.mark.parametrize("chosen", CHOSEN)
def test_counts_and_order(paddle, chosen):
    places = tokens_by_expert(chosen, 4)
    counts = utils._number_count(paddle.to_tensor(chosen), 4)
    assert counts.dtype == paddle.int64 and counts.tolist() == [len(each) for each in places]
    order = utils._assign_pos(paddle.to_tensor(chosen), counts.cumsum(0))
    assert order.tolist() == [place for each in places for place in reversed(each)]
    by_gate = experts.count_by_gate(paddle.to_tensor(chosen), 4, 1, require_pos=False)
    assert by_gate[0] is None and by_gate[1].tolist() == [len(each) for each in places]


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("capacity", [0, 1, 5])
def test_tokens_beyond_the_capacity(paddle, chosen, capacity):
    want = np.array(chosen)
    for places in tokens_by_expert(chosen, 4):
        want.reshape(-1)[places[capacity:]] = -1
    sent, received, left = experts.limit_by_capacity(paddle.to_tensor(chosen), 4, 1, capacity)
    assert left.tolist() == want.tolist()
    counts = [min(len(each), capacity) for each in tokens_by_expert(chosen, 4)]
    assert sent.tolist() == counts and received.tolist() == counts


def test_first_processes_come_first(paddle):
    counts, limits = np.array([[1, 2, 2], [8, 3, 6], [4, 0, 9]]), np.array([5, 4, 7])
    left = limits.copy()
    want = []
    for row in counts:
        taken = np.minimum(row, left)
        left = left - taken
        want += taken.tolist()
    found = utils._limit_by_capacity(paddle.to_tensor(counts.ravel()), paddle.to_tensor(limits), 3)
    assert found.tolist() == want


def test_second_experts_of_small_value(paddle):
    values = np.float32([[0.9, 0.1], [0.5, 0.4], [0.5, 0.25]])
    limits = np.float32([0.5, 0.5, 0.5])
    found = utils._random_routing(
        paddle.to_tensor([[0, 1], [1, 0], [2, 3]]), paddle.to_tensor(values), paddle.to_tensor(limits)
    )
    second = [1, 0, 3]
    want = [
        -1 if 2 * value < limit else expert
        for expert, value, limit in zip(second, values[:, 1], limits, strict=True)
    ]
    assert found.tolist() == [[first, expert] for first, expert in zip([0, 1, 2], want, strict=True)]


def test_refusals(paddle):
    with pytest.raises(ValueError, match="got 3 tokens in all, and x has 2"):
        utils._assign_pos(paddle.to_tensor([1, 0]), paddle.to_tensor([1, 3]))
    with pytest.raises(ValueError, match=r"got 2 counts; it must have 2 \* 2"):
        utils._prune_gate_by_capacity(paddle.to_tensor([1, 0]), paddle.to_tensor([1, 3]), 2, 2)
    with pytest.raises(RuntimeError, match="it must be 2"):
        utils._random_routing(None, None, None, topk=3)
