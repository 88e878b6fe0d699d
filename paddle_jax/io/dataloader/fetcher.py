"""Fetching: from a task (indices, one index, or nothing) to a collated batch."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax.io.dataloader.collate import default_collate_fn, default_convert_fn, laid_out
from paddle_jax.io.dataloader.dataset import IterableDataset, TensorDataset
from paddle_jax.io.dataloader.worker import END


def make_fetch(
    dataset: Any,
    collate_fn: Callable[[Any], Any] | None,
    auto_collate: bool,
    batch_size: int | None,
    drop_last: bool,
    sent: bool = False,
) -> Callable[[Any], Any]:
    """The function `task -> batch` of one worker. sent: batches go to another process at once."""
    collate = collate_fn or (default_collate_fn if auto_collate else default_convert_fn)
    is_default = collate is default_collate_fn
    if is_default and sent:
        collate = laid_out
    if isinstance(dataset, IterableDataset):
        # One iterator for the whole epoch: each task reads on.
        samples = iter(dataset)
        return lambda task: _next_batch(samples, collate, auto_collate, batch_size, drop_last)
    if not auto_collate:
        return lambda index: collate(dataset[index])
    # The exact class, as a subclass may give other samples.
    if type(dataset) is TensorDataset and is_default and all(_is_rows(tensor) for tensor in dataset.tensors):
        return lambda indices: _gather(dataset, indices)
    return lambda indices: collate([dataset[i] for i in indices])


def _next_batch(
    samples: Iterator[Any],
    collate: Callable[[Any], Any],
    auto_collate: bool,
    batch_size: int | None,
    drop_last: bool,
) -> Any:
    if not auto_collate:
        sample = next(samples, END)
        if sample is END:
            return END
        return collate(sample)
    batch = list(itertools.islice(samples, batch_size))
    if not batch or (drop_last and len(batch) < batch_size):
        return END
    return collate(batch)


def _is_rows(tensor: Any) -> bool:
    return getattr(tensor, "stop_gradient", False) and tensor.ndim > 0


def _gather(dataset: TensorDataset, indices: Any) -> Any:
    # One gather per field instead of one read per sample; NumPy's view of a jax array costs no copy.
    if not all(isinstance(i, numbers.Integral) for i in indices):
        return default_collate_fn([dataset[i] for i in indices])
    return [to_numpy(tensor._value, "DataLoader")[indices] for tensor in dataset.tensors]
