"""Pipelines of the library grain as streams of samples."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from paddle_jax.io.dataloader.dataset import IterableDataset


class GrainStream(IterableDataset):
    """The samples of a `grain.IterDataset` or `grain.DataLoader`, with a place to go on from.

    Args:
        source: the pipeline.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self._iterator = None
        self._state = None

    def __iter__(self) -> Iterator[Any]:
        self._iterator: Any = iter(self.source)
        if self._state is not None:
            self._iterator.set_state(self._state)
            self._state = None
        return self._iterator

    def state_dict(self) -> dict[str, Any]:
        """Where the newest iterator is."""
        state = self._iterator.get_state()
        if isinstance(state, bytes):  # of a grain.DataLoader
            return {"text": state.decode()}
        return {"state": state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Lets the next iterator go on from there."""
        self._state: Any = state["text"].encode() if "text" in state else state["state"]


def as_stream(dataset: Any, num_workers: int) -> Any:
    """A pipeline of grain as an IterableDataset; other data sets as they are, `grain.MapDataset` too.

    Raises:
        ValueError: workers would each read the whole pipeline.
    """
    # Without an import: who has such a pipeline has imported the library.
    grain = sys.modules.get("grain")
    if grain is None or not isinstance(dataset, grain.IterDataset | grain.DataLoader):
        return dataset
    if num_workers:
        raise ValueError(
            f"DataLoader: num_workers: got {num_workers} with a pipeline of grain; use 0, and grain's own "
            "workers: dataset.mp_prefetch(...), or grain.DataLoader(worker_count=...)"
        )
    return GrainStream(dataset)
