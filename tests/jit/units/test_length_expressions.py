"""Unit tests of `_core.lazy.length_expressions`, `_core.lazy.lengths` and `_core.base`: values and bounds of
expressions of lengths."""

import math

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import length_expressions
from paddle_jax._core.lazy.lengths import Length, OpenSize, expression_of, extreme, select


def test_expressions_follow_python():
    """An expression has, for other lengths, the value that Python computes."""
    n, m = Length((97, 264), ("dim", 0, 0)), Length((103, 244), ("dim", 0, 1))
    programs = (
        lambda n, m: (16 - n % 16) % 16,
        lambda n, m: n // 3 * 2 - m,
        lambda n, m: n / m + 0.5,
        lambda n, m: -n // 4,
        lambda n, m: round(n / 8),
        lambda n, m: math.ceil(n / 7) * m,
        lambda n, m: divmod(n * m, 5)[0],
        lambda n, m: abs(n - m) ** 2,
        lambda n, m: 2.0 * n - 1 / m,
        lambda n, m: math.floor(-n / 3),
        lambda n, m: math.trunc((n - m) / 2),
        lambda n, m: n**0.5,
        lambda n, m: sum([n, m, 3]),
        lambda n, m: math.prod([n, m, 2]),
        lambda n, m: 7 % n,
    )
    for program in programs:
        node = expression_of(program(n, m))
        for pair in ((1, 1), (2, 9), (30, 7), (64, 64), (511, 1024)):
            assert length_expressions.evaluate(node, lambda leaf, pair=pair: pair[leaf[2]]) == program(*pair)


def test_what_is_equal_is_known_to_be():
    n = Length((97, 264), ("dim", 0, 0))
    assert (n + 1 - 1 == n) is True
    assert (n >= 0) is True
    assert (n < 0) is False
    assert (OpenSize([1, n]) == [1, n]) is True
    assert (OpenSize([1, n]) == [2, n]) is False
    assert select(n > 3, n, n).node == n.node


def test_many_conditions_take_few_steps():
    """Each way to combine them would be a step else: 10! for ten."""
    n, m = ("dim", 0, 0), ("dim", 0, 1)
    above = tuple([length_expressions.add(n, length_expressions.multiply(m, k), -1) for k in range(1, 11)])
    known = length_expressions._known_bounds
    before = known.cache_info().misses
    with swapped_attributes(local.ctx.frame, assumed=above):
        assert length_expressions.bounds(n) == (1, None)
    assert known.cache_info().misses - before < 1000


def test_counters_are_within_their_bounds():
    """Bounds of sums hold for all values, and prove what a slice at a counter needs."""
    binary, bounds = length_expressions.binary, length_expressions.bounds
    n = ("dim", 0, 0)
    half = binary("floordiv", n, 2, True)
    i = ("counter", 1, (1, binary("sub", n, 1, True)))
    j = ("counter", 2, (i, binary("sub", half, 1, True)))
    programs = (
        (lambda n, i, j: n - 1 - i, (0, None)),
        (lambda n, i, j: n - 2 - 2 * j, (0, None)),
        (lambda n, i, j: i - j, (None, 0)),
        (lambda n, i, j: 3 * i - n, (None, None)),
        (lambda n, i, j: n - i - j, (None, None)),
        (lambda n, i, j: 2 * (n // 2) - n, (-1, 0)),
        (lambda n, i, j: 4 * (n // 2) - n - i, (None, None)),
    )
    values = [(a, b, c) for a in range(12) for b in range(1, a) for c in range(b, a // 2)]
    leaves = [Length((97, 264), n), Length((1, 2), i), Length((2, 3), j)]
    for program, proven in programs:
        low, high = bounds(expression_of(program(*leaves)))
        found = [program(*numbers) for numbers in values]
        assert low is None or low <= min(found)
        assert high is None or high >= max(found)
        assert [known for known, wanted in zip((low, high), proven, strict=True) if wanted is not None] == [
            wanted for wanted in proven if wanted is not None
        ]


def test_conditions_bound_what_is_in_their_branches():
    """Where a condition holds, bounds hold for all values that it allows, and prove what slices need."""
    bounds = length_expressions.bounds
    n, m = ("dim", 0, 0), ("dim", 0, 1)
    leaves = [Length((97, 264), n), Length((89, 200), m)]
    programs = (
        # (condition, number, what is proven of it)
        (lambda n, m: n > 3, lambda n, m: n - 4, (0, None)),
        (lambda n, m: 2 * n + 1 < m // 2, lambda n, m: m - 2 * n, (4, None)),
        (lambda n, m: n < extreme("max", (m, 5)), lambda n, m: m - n, (-4, None)),
        (lambda n, m: n < extreme("min", (m, 5)), lambda n, m: n - m, (None, -1)),
        (lambda n, m: n == m + 2, lambda n, m: 2 * n - 2 * m, (4, 4)),
        (lambda n, m: (n < m) & (m < 6), lambda n, m: n, (0, 4)),
    )
    values = [(a, b) for a in range(14) for b in range(30)]
    for condition, number, proven in programs:
        known = tuple(length_expressions.positive_ones(condition(*leaves).node))
        found = [number(*one) for one in values if condition(*one)]
        with swapped_attributes(local.ctx.frame, assumed=known):
            low, high = bounds(expression_of(number(*leaves)))
        assert (low, high) == proven
        assert low is None or low <= min(found)
        assert high is None or high >= max(found)
