"""One pass over a DataLoader."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.lazy.recording import end_step

if TYPE_CHECKING:
    from paddle_jax.io.reader import DataLoader


__all__ = []


class _DataLoaderIterBase:
    """The batches of an epoch; what `iter(loader)` gives.

    Args:
        loader: DataLoader.
        batches: iterator of the batches.
    """

    def __init__(self, loader: DataLoader, batches: Iterator[Any]) -> None:
        self._loader = loader
        self._batches = batches
        self._dataset = loader.dataset
        self._batch_sampler = loader.batch_sampler

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        # Asking for a batch ends the step of the last one.
        end_step()
        start = time.perf_counter()
        batch = next(self._batches)
        Counters.batches += 1
        Counters.data_seconds += time.perf_counter() - start
        return batch

    def __len__(self) -> int:
        return len(self._loader)
