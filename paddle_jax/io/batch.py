"""The old form of batching: functions that make iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


def batch(
    reader: Callable[[], Iterable[Any]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[Any]]]:
    """Groups what a reader yields into lists.

    Args:
        reader: function without arguments that returns an iterator.
        batch_size: int > 0, the length of a list.
        drop_last: bool, leave out a last shorter list.
    Returns:
        Function without arguments that returns an iterator of lists.
    Raises:
        ValueError: batch_size is not a positive integer.
    Example:
        >>> [b for b in paddle.batch(lambda: iter(range(5)), 2)()]
        [[0, 1], [2, 3], [4]]
    """
    size = int(batch_size)
    if size <= 0:
        raise ValueError(f"batch: batch_size: got {batch_size}; a positive integer is needed")

    def batches() -> Iterator[list[Any]]:
        pending = []
        for item in reader():
            pending.append(item)
            if len(pending) == size:
                yield pending
                pending = []
        if pending and not drop_last:
            yield pending

    return batches
