"""Ranges of integers that are not computed yet: an index of a known range is not looked at.

Unit tests of `tensor.known_ranges`.
"""

import numpy as np
import pytest

from paddle_jax.tensor.known_ranges import range_of_pending
from tests.deferred import differential

# (operation of x [4, 7], a permutation n of 0..6 and small numbers i, the range that is known before it runs)
RANGES = {
    "argmax": (lambda p, x, n, i: x.argmax(1), (0, 6)),
    "argmin of all": (lambda p, x, n, i: p.argmin(x), (0, 27)),
    "argsort": (lambda p, x, n, i: p.argsort(x, axis=0), (0, 3)),
    "positions of topk": (lambda p, x, n, i: p.topk(x, 2, axis=0)[1], (0, 3)),
    "elements of topk": (lambda p, x, n, i: p.topk(i, 2)[0], (0, 3)),
    "kthvalue": (lambda p, x, n, i: p.kthvalue(x, 2)[1], (0, 6)),
    "multinomial": (lambda p, x, n, i: p.multinomial(p.exp(x), 2), (0, 6)),
    "categories": (lambda p, x, n, i: p.distribution.Categorical(x).sample([3]), (0, 6)),
    "randperm": (lambda p, x, n, i: p.randperm(5), (0, 4)),
    "randint": (lambda p, x, n, i: p.randint(-2, 3, [50]), (-2, 2)),
    "searchsorted": (lambda p, x, n, i: p.searchsorted(p.sort(x[0]), x[1]), (0, 7)),
    "comparison": (lambda p, x, n, i: (x > 0).astype("int32"), (0, 1)),
    "add": (lambda p, x, n, i: i + n, (0, 9)),
    "subtract": (lambda p, x, n, i: 1 - n, (-5, 1)),
    "multiply": (lambda p, x, n, i: (i - 2) * n, (-12, 6)),
    "remainder": (lambda p, x, n, i: (n - 9) % 4, (0, 3)),
    "smaller remainder": (lambda p, x, n, i: i % 9, (0, 3)),
    "floor_divide": (lambda p, x, n, i: n // 2, (0, 3)),
    "maximum": (lambda p, x, n, i: p.maximum(n - 3, i), (0, 3)),
    "minimum": (lambda p, x, n, i: p.minimum(n - 3, i), (-3, 3)),
    "concat": (lambda p, x, n, i: p.concat([n + 1, i - 1]), (-1, 7)),
    "where": (lambda p, x, n, i: p.where(n > 3, n, i), (0, 6)),
    "masked_fill": (lambda p, x, n, i: p.masked_fill(i, i > 1, 9), (0, 9)),
    "movements": (lambda p, x, n, i: p.roll(n.reshape([7, 1]).flip(0).T.tile([2, 1]), 1)[:, 2:], (0, 6)),
    "elements": (lambda p, x, n, i: p.gather(n, i.argsort()) + 1, (1, 7)),
}
UNKNOWN = {
    "float": lambda p, x, n, i: (x * 2).astype("int64"),
    "sum": lambda p, x, n, i: n.sum(),
    "wraps around": lambda p, x, n, i: n.astype("int8") * n.astype("int8") * n.astype("int8"),
    "divisor of both signs": lambda p, x, n, i: n % (i * 2 - 3),
    "no integer": lambda p, x, n, i: x + 1,
}


@pytest.fixture
def operands(paddle):
    paddle.seed(1)
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(4, 7)).astype("float32"))
    n = paddle.to_tensor([3, 0, 6, 2, 5, 1, 4])
    i = paddle.to_tensor([0, 3, 1, 2, 2, 0, 3])
    with differential.tier(paddle, deferred="sync"):
        yield paddle, x, n, i


@pytest.mark.parametrize("name", RANGES)
def test_the_range_is_known_before_the_numbers(operands, name):
    operation, expected = RANGES[name]
    result = operation(*operands)
    assert range_of_pending(result._raw) == expected
    numbers = result.numpy()
    assert expected[0] <= numbers.min() <= numbers.max() <= expected[1]


@pytest.mark.parametrize("name", UNKNOWN)
def test_nothing_is_known(operands, name):
    assert range_of_pending(UNKNOWN[name](*operands)._raw) is None


def test_an_index_of_a_known_range_stays_pending(operands):
    paddle, x, n, _ = operands
    best = x.argmax(1)
    picked = paddle.gather(n, best)
    rows = n[best] + paddle.nn.functional.one_hot(best, 7).sum().astype("int64")
    assert best._raw.array is None
    expected = n.numpy()[x.numpy().argmax(1)]
    assert picked.tolist() == expected.tolist()
    assert rows.tolist() == (expected + 4).tolist()


def test_an_index_outside_is_refused_at_once(operands):
    paddle, x, n, _ = operands
    with pytest.raises(IndexError, match="length 7"):
        paddle.gather(n, x.argmax(1) + 7)
    with pytest.raises(ValueError, match="one_hot"):
        paddle.nn.functional.one_hot(n + 1, 7)


def test_an_index_that_may_be_outside_is_looked_at(operands):
    """All of x is positive, so no number is outside, though the operations do not show it."""
    paddle, x, n, _ = operands
    positions = paddle.where(x.abs() >= 0, n, n + 100)[0]
    assert range_of_pending(positions._raw) == (0, 106)
    assert paddle.gather(n, positions).tolist() == [2, 3, 4, 6, 1, 0, 5]


def test_an_automaton_runs_without_a_look(operands):
    paddle, *_ = operands
    start = np.random.default_rng(3).integers(0, 2, 30)
    rule = paddle.to_tensor([0, 1, 1, 1, 0, 1, 1, 0])
    cells = paddle.to_tensor(start)
    expected = start
    for _ in range(20):
        cells = rule[paddle.roll(cells, 1) * 4 + cells * 2 + paddle.roll(cells, -1)]
        codes = np.roll(expected, 1) * 4 + expected * 2 + np.roll(expected, -1)
        expected = np.array([0, 1, 1, 1, 0, 1, 1, 0])[codes]
    assert cells._raw.array is None
    assert len(cells._raw.segment.ops) > 100
    assert cells.tolist() == expected.tolist()
