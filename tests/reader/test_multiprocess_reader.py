"""Readers in processes of their own, against the real Paddle: what comes, in which order, what is refused;
and that no process is left."""

import itertools
import os
import time
from pathlib import Path

import numpy as np
import pytest


def counting(name, count):
    def reader():
        return ((name, i) for i in range(count))

    return reader


def failing():
    yield 1
    raise OSError("gone")


def with_none():
    return iter([1, None, 2])


def arrays():
    return (np.full(3, i) for i in range(4))


def whose():
    return iter([os.getpid()])


def outcome(call):
    try:
        return list(call()())
    except Exception as error:
        return type(error)


def descendants():
    """Numbers of the processes that workers were forked from or are."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(status.parent.name)] = int(fields[1])
    found, more = set(), {os.getpid()}
    while more:
        more = {child for child, parent in parents.items() if parent in more}
        found |= more
    return found


CASES = [
    lambda R: R.multiprocess_reader([counting("a", 3), counting("b", 1), counting("c", 5)]),
    lambda R: R.multiprocess_reader((counting("a", 2),), True),
    lambda R: R.multiprocess_reader([counting("a", 6)], False, 2),
    lambda R: R.multiprocess_reader([failing]),
    lambda R: R.multiprocess_reader([with_none], False),
    lambda R: R.multiprocess_reader([]),
    lambda R: R.multiprocess_reader(counting("a", 1)),
]


@pytest.mark.own_process  # the real Paddle forks
@pytest.mark.parametrize("case", range(len(CASES)))
def test_like_the_real_one(paddle, oracle, case):
    ours, theirs = (outcome(lambda p=p: CASES[case](p.reader)) for p in (paddle, oracle))
    assert ours == theirs


def test_processes_of_their_own(paddle):
    ids = list(paddle.reader.multiprocess_reader([whose, whose])())
    assert len({*ids, os.getpid()}) == 3


def test_arrays_and_a_failure(paddle):
    R = paddle.reader
    assert [sample.tolist() for sample in R.multiprocess_reader([arrays])()] == [[i] * 3 for i in range(4)]
    with pytest.raises(ValueError, match="OSError: gone"):
        list(R.multiprocess_reader([failing])())


def test_no_process_is_left(paddle):
    """Neither after the end nor when the loop is left early."""
    list(paddle.reader.multiprocess_reader([whose])())  # the server that forks stays
    before = descendants()
    rows = paddle.reader.multiprocess_reader([counting("a", 10**6), counting("b", 10**6)], queue_size=4)()
    assert list(itertools.islice(rows, 3)) == [["a", 0], ["b", 0], ["a", 1]]
    assert len(descendants() - before) == 2
    rows.close()
    for _ in range(100):
        if not descendants() - before:
            break
        time.sleep(0.1)
    assert not descendants() - before
