"""One pass over a DataLoader."""

import time

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.lazy.recording import end_step

__all__ = []


class _DataLoaderIterBase:
    """The batches of an epoch; what `iter(loader)` gives.

    Args:
        loader: DataLoader.
        batches: iterator of the batches.
    """

    def __init__(self, loader, batches):
        self._loader = loader
        self._batches = batches
        self._dataset = loader.dataset
        self._batch_sampler = loader.batch_sampler

    def __iter__(self):
        return self

    def __next__(self):
        end_step()
        start = time.perf_counter()
        batch = next(self._batches)
        Counters.batches += 1
        Counters.data_seconds += time.perf_counter() - start
        return batch

    def __len__(self):
        return len(self._loader)
