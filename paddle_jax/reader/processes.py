"""The data set through which worker processes run readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddle_jax.io import IterableDataset, get_worker_info


class Sent:
    """A sample on its way from a worker, left as it is by what takes tuples and lists apart; or
    what went wrong."""

    def __init__(self, sample: Any, failure: Any = None) -> None:
        self.sample = sample
        self.failure = failure


class ReaderDataset(IterableDataset):
    """Each worker runs the reader of its own number and gives what is Sent."""

    def __init__(self, readers: Any, lists: bool) -> None:
        self.readers = readers
        self.lists = lists

    def __iter__(self) -> Iterator[Any]:
        try:
            for sample in self.readers[get_worker_info().id]():
                if sample is None:
                    yield Sent(None, "got None as a sample")
                    return
                yield Sent(_listed(sample) if self.lists else sample)
        except Exception as error:
            yield Sent(None, f"{type(error).__name__}: {error}")


def as_it_is(sample: Any) -> Any:
    """The sample."""
    return sample


def _listed(sample: Any) -> Any:
    """The sample with lists for tuples, as JSON has it."""
    if isinstance(sample, list | tuple):
        return [_listed(part) for part in sample]
    if isinstance(sample, dict):
        return {key: _listed(part) for key, part in sample.items()}
    return sample
