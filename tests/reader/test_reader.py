"""paddle.reader against the real Paddle, and what it does not promise: errors in threads arrive,
and threads end."""

import importlib
import random
import threading
import time

import pytest


def numbers():
    return iter(range(5))


def letters():
    return iter("abcde")


def pairs():
    return iter([(1, 2), (3, 4)])


def ten():
    return iter(range(10))


CALLS = {
    "cache": lambda R: [list(kept()) for kept in [R.cache(numbers)] for _ in range(2)],
    "map": lambda R: list(R.map_readers(lambda x, y: (x, y), numbers, letters)()),
    "map short": lambda R: list(R.map_readers(lambda x, y: (x, y), numbers, pairs)()),
    "shuffle": lambda R: list(R.shuffle(ten, 4)()),
    "shuffle all": lambda R: list(R.shuffle(ten, 100)()),
    "chain": lambda R: list(R.chain(numbers, pairs)()),
    "chain nothing": lambda R: list(R.chain()()),
    "compose": lambda R: list(R.compose(numbers, letters)()),
    "compose tuples": lambda R: list(R.compose(pairs, pairs)()),
    "compose uneven": lambda R: list(R.compose(numbers, pairs)()),
    "compose short": lambda R: list(R.compose(numbers, pairs, check_alignment=False)()),
    "buffered": lambda R: list(R.buffered(numbers, 2)()),
    "firstn": lambda R: list(R.firstn(numbers, 2)()),
    "firstn all": lambda R: list(R.firstn(numbers, 20)()),
    "firstn none": lambda R: list(R.firstn(numbers, 0)()),
    "xmap": lambda R: sorted(R.xmap_readers(lambda x: x * 2, numbers, 2, 3)()),
    "xmap order": lambda R: list(R.xmap_readers(lambda x: x * 2, numbers, 3, 3, order=True)()),
    "batch": lambda R: list(
        importlib.import_module(R.__name__.split(".")[0]).batch(R.shuffle(numbers, 3), 2)()
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_like_the_real_ones(paddle, oracle, name):
    def outcome(p):
        random.seed(3)
        try:
            return CALLS[name](p.reader)
        except Exception as error:
            return type(error).__name__, type(error).__mro__[1]

    assert outcome(paddle) == outcome(oracle)


def failing():
    yield 1
    raise OSError("no disk")


def test_errors_arrive(paddle):
    for reader in (
        paddle.reader.buffered(failing, 2),
        paddle.reader.xmap_readers(lambda x: x, failing, 2, 2),
    ):
        with pytest.raises(OSError, match="disk"):
            list(reader())
    with pytest.raises(ZeroDivisionError):
        list(paddle.reader.xmap_readers(lambda x: 1 / x, numbers, 2, 2, order=True)())


def test_threads_end(paddle):
    before = threading.active_count()
    for reader in (
        paddle.reader.buffered(lambda: iter(range(10**9)), 2),
        paddle.reader.xmap_readers(abs, lambda: iter(range(10**9)), 2, 4),
    ):
        samples = reader()
        assert next(samples) is not None
        samples.close()
    limit = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < limit
        time.sleep(0.02)
