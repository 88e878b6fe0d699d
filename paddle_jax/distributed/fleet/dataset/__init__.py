"""Examples from files of slots, for `Executor.train_from_dataset`."""

from paddle_jax.distributed.fleet.dataset.dataset import (
    DatasetBase,
    InMemoryDataset as InMemoryDataset,
    QueueDataset as QueueDataset,
)

__all__ = []
