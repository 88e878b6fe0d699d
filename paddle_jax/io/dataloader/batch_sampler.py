"""Batch samplers: lists of indices, for one process and for one process of many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import launch_variables
from paddle_jax.io.dataloader.dataset import IterableDataset
from paddle_jax.io.dataloader.sampler import RandomSampler, Sampler, SequenceSampler

if TYPE_CHECKING:
    from paddle_jax.io.dataloader.dataset import Dataset


def _need(condition: Any, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _need_settings(owner: str, batch_size: Any, shuffle: Any, drop_last: Any) -> None:
    _need(
        isinstance(batch_size, int) and batch_size > 0,
        f"{owner}: batch_size: got {batch_size!r}; it must be a positive int.",
    )
    _need(isinstance(shuffle, bool), f"{owner}: shuffle: got {shuffle!r}; pass True or False.")
    _need(isinstance(drop_last, bool), f"{owner}: drop_last: got {drop_last!r}; pass True or False.")


def _batches(indices: Iterable[int], batch_size: int, drop_last: bool) -> Iterator[list[int]]:
    batch = []
    for index in indices:
        batch.append(index)
        if len(batch) == batch_size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


def _count(samples: int, batch_size: int, drop_last: bool) -> int:
    if drop_last:
        return samples // batch_size
    return -(-samples // batch_size)


class BatchSampler(Sampler):
    """Gives lists of indices, one list per batch.

    Args:
        dataset: Dataset to make the order for. Give this or `sampler`.
        sampler: Sampler, or any iterable of indices, to group.
        shuffle: random order; only together with `dataset`. Default False.
        batch_size: int, positive. Default 1.
        drop_last: leave out the last batch when it is not full. Default False.
    Raises:
        AssertionError: both or none of `dataset` and `sampler` are given, or a setting is not valid.
    Example:
        >>> list(paddle.io.BatchSampler([7, 8, 9], batch_size=2))
        [[0, 1], [2]]
    """

    def __init__(
        self,
        dataset: Dataset | None = None,
        sampler: Any = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        _need(
            dataset is not None or sampler is not None,
            "BatchSampler: dataset: neither dataset nor sampler is given; give one of them.",
        )
        _need(
            dataset is None or sampler is None,
            "BatchSampler: dataset: both dataset and sampler are given; give one of them.",
        )
        _need(
            not isinstance(dataset, IterableDataset),
            "BatchSampler: dataset: an IterableDataset has no index to sample; pass one that has.",
        )
        _need_settings("BatchSampler", batch_size, shuffle, drop_last)
        _need(
            sampler is None or not shuffle,
            "BatchSampler: shuffle: a sampler has its own order; leave shuffle at False.",
        )
        if sampler is None:
            if shuffle:
                sampler = RandomSampler(dataset)
            else:
                sampler = SequenceSampler(dataset)
        self.sampler = sampler
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return _batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return _count(len(self.sampler), self.batch_size, self.drop_last)


class DistributedBatchSampler(BatchSampler):
    """Gives one process of many its share of the batches. All shares have the same length; the first samples
    fill up the last ones.

    Args:
        dataset: Dataset, or anything with a length.
        batch_size: int, positive, samples per batch and process.
        num_replicas: int, positive, number of processes. Default None: that of the running program.
        rank: int, number of this process. Default None: that of the running program.
        shuffle: random order, another one in every epoch. Default False.
        drop_last: leave out the last batch when it is not full. Default False.
    Attributes:
        dataset, batch_size, shuffle, drop_last: as given.
        nranks, local_rank: int, the number of processes, and which one this is.
        epoch: int, which seeds the order.
        num_samples: int, the samples of each process.
        total_size: int, those of all, some of them twice.
    Raises:
        AssertionError: a setting is not valid.
    Example:
        >>> list(paddle.io.DistributedBatchSampler(list(range(5)), 2, num_replicas=2, rank=1))
        [[2, 3], [0]]
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        _need_settings("DistributedBatchSampler", batch_size, shuffle, drop_last)
        replicas_valid = num_replicas is None or (isinstance(num_replicas, int) and num_replicas > 0)
        _need(
            replicas_valid,
            f"DistributedBatchSampler: num_replicas: got {num_replicas!r}; it must be a positive int.",
        )
        _need(
            rank is None or (isinstance(rank, int) and rank >= 0),
            f"DistributedBatchSampler: rank: got {rank!r}; it must be an int of at least 0.",
        )
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        if num_replicas is None:
            self.nranks = launch_variables.size()
        else:
            self.nranks: int = num_replicas
        if rank is None:
            self.local_rank = launch_variables.rank()
        else:
            self.local_rank: int = rank
        _need(
            self.local_rank < self.nranks,
            f"DistributedBatchSampler: rank: got {self.local_rank} of "
            f"{self.nranks} processes; it must be smaller.",
        )
        self.drop_last = drop_last
        self.epoch: int = 0
        self.num_samples: int = math.ceil(len(dataset) / self.nranks)
        self.total_size: int = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        count = len(self.dataset)
        order = (list(range(count)) * (-(-self.total_size // count) if count else 0))[: self.total_size]
        if self.shuffle:
            # Every process must find the same order: the seed is the epoch, and the legacy generator is the
            # one Paddle uses.
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return _batches(self._share(order), self.batch_size, self.drop_last)

    def _share(self, order: list[int]) -> list[int]:
        """This process's part: batches are dealt out in turn, then the remainder is cut into equal pieces."""
        whole = self.total_size // (self.batch_size * self.nranks) * self.batch_size * self.nranks
        stride = self.batch_size * self.nranks
        indices = [
            i
            for start in range(self.local_rank * self.batch_size, whole, stride)
            for i in order[start : start + self.batch_size]
        ]
        remainder = (self.total_size - whole) // self.nranks
        start = whole + self.local_rank * remainder
        return indices + order[start : start + remainder]

    def __len__(self) -> int:
        return _count(self.num_samples, self.batch_size, self.drop_last)

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, which decides the random order.

        Args:
            epoch: int.
        Example:
            >>> sampler = paddle.io.DistributedBatchSampler(list(range(4)), 2, 1, 0, shuffle=True)
            >>> sampler.set_epoch(3)
            >>> sampler.epoch
            3
        """
        self.epoch = epoch
