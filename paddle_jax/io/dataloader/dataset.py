"""Data sets: by index, by iteration, and combinations of them."""

from __future__ import annotations

import bisect
import itertools
import math
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from paddle_jax._core.tensors.random import default_generator
from paddle_jax.io.dataloader.draw import permutation

if TYPE_CHECKING:
    from paddle_jax._core.tensors.random import Generator
    from paddle_jax._core.tensors.tensor import Tensor


class Dataset:
    """A data set read by index; the base class to derive from.

    A subclass defines `__getitem__(idx)`, which returns one sample, and `__len__()`, the number of samples.

    Example:
        >>> class Squares(paddle.io.Dataset):
        ...     def __getitem__(self, idx):
        ...         return idx * idx
        ...     def __len__(self):
        ...         return 4
        >>> [batch.tolist() for batch in paddle.io.DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4, 9]]
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)  # Dataset[int] says what a sample is

    def __getitem__(self, idx: int) -> Any:
        """Returns sample `idx`; a subclass must define it."""
        raise NotImplementedError(
            f"{type(self).__name__}: __getitem__ is not defined; a Dataset must define it."
        )

    def __len__(self) -> int:
        """Returns the number of samples; a subclass must define it."""
        raise NotImplementedError(f"{type(self).__name__}: __len__ is not defined; a Dataset must define it.")


class IterableDataset(Dataset):
    """A data set read by iteration; the base class for streams. A subclass defines `__iter__()`.

    With several workers each one iterates over the data set; use `get_worker_info()` in `__iter__` to give
    each worker its own part.

    Raises:
        RuntimeError: it is indexed, or asked for its length.
    Example:
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(4))
        >>> [batch.tolist() for batch in paddle.io.DataLoader(Count(), batch_size=3)]
        [[0, 1, 2], [3]]
    """

    def __iter__(self) -> Iterator[Any]:
        """Returns an iterator over the samples; a subclass must define it."""
        raise NotImplementedError(
            f"{type(self).__name__}: __iter__ is not defined; an IterableDataset must define it."
        )

    def __getitem__(self, idx: int) -> NoReturn:
        """Not available: an iterable data set has no index."""
        raise RuntimeError(f"{type(self).__name__}: an IterableDataset cannot be indexed; iterate over it.")

    def __len__(self) -> NoReturn:
        """Not available: the length of a stream is not known."""
        raise RuntimeError(f"{type(self).__name__}: an IterableDataset has no length; iterate over it.")


class TensorDataset(Dataset):
    """Samples made of row `i` of every given tensor.

    Args:
        tensors: list or tuple of Tensors or ndarrays of equal length.
    Raises:
        AssertionError: the lengths differ.
    Example:
        >>> data = paddle.io.TensorDataset([paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3, 4])])
        >>> [field.item() for field in data[1]]
        [2.0, 4]
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        lengths = [tensor.shape[0] for tensor in tensors]
        if len(set(lengths)) > 1:
            raise AssertionError(
                f"TensorDataset: tensors: got lengths {lengths}; all must have the same first dimension."
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


def _need_some(datasets: Sequence[Any], owner: str) -> None:
    if len(datasets) == 0:
        raise AssertionError(f"{owner}: datasets: got none; give at least one data set.")


def _fields(sample: Any) -> list[Any]:
    if isinstance(sample, list | tuple):
        return list(sample)
    return [sample]


class ComposeDataset(Dataset):
    """Puts the fields of sample `i` of several data sets together in one sample.

    Args:
        datasets: list of Datasets of equal length.
    Raises:
        AssertionError: there is none, one is iterable, or the lengths differ.
    Example:
        >>> a, b = paddle.io.Subset([1, 2], [0, 1]), paddle.io.Subset([5, 6], [0, 1])
        >>> paddle.io.ComposeDataset([a, b])[1]
        (2, 6)
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets: list[Dataset] = list(datasets)
        _need_some(self.datasets, "ComposeDataset")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ComposeDataset: datasets: {type(dataset).__name__} is iterable; "
                    "only data sets read by index can be composed."
                )
        lengths = [len(dataset) for dataset in self.datasets]
        if len(set(lengths)) > 1:
            raise AssertionError(f"ComposeDataset: datasets: got lengths {lengths}; all must be equal.")

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        return tuple(itertools.chain.from_iterable(_fields(dataset[idx]) for dataset in self.datasets))


class ChainDataset(IterableDataset):
    """Iterates over several iterable data sets, one after the other.

    Args:
        datasets: list of IterableDatasets.
    Raises:
        AssertionError: there is none, or one is not iterable.
    Example:
        >>> class Count(paddle.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(iter(paddle.io.ChainDataset([Count(), Count()])))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Sequence[IterableDataset]) -> None:
        self.datasets: list[IterableDataset] = list(datasets)
        _need_some(self.datasets, "ChainDataset")
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ChainDataset: datasets: got {type(dataset).__name__}; "
                    "only an IterableDataset can be chained."
                )

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """Lines up several data sets read by index, one after the other.

    Args:
        datasets: iterable of Datasets.
    Raises:
        AssertionError: there is none, or one is iterable.
    Example:
        >>> both = paddle.io.ConcatDataset([[1, 2], [3]])
        >>> len(both), both[2], both[-3]
        (3, 3, 1)
    """

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Returns the running total of the lengths."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets: list[Dataset] = list(datasets)
        _need_some(self.datasets, "ConcatDataset")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ConcatDataset: datasets: {type(dataset).__name__} is iterable; use ChainDataset for it."
                )
        self.cumulative_sizes: list[int] = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError(
                    f"ConcatDataset: idx: got {idx} for {len(self)} samples; "
                    "it may not lie before the first one."
                )
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        if which == len(self.datasets):
            raise IndexError(f"ConcatDataset: idx: got {idx} for {len(self)} samples; it must be smaller.")
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Some samples of a data set, chosen by index.

    Args:
        dataset: Dataset, or anything with `__getitem__`.
        indices: sequence of ints, the samples in the order wanted.
    Example:
        >>> paddle.io.Subset([10, 20, 30], [2, 0])[0]
        30
    """

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: int) -> Any:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def _counts(fractions: Sequence[float], total: int) -> list[int]:
    counts = [math.floor(total * fraction) for fraction in fractions]
    # What rounding leaves goes to the first parts, one each.
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    return counts


def random_split(
    dataset: Dataset, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """Splits a data set at random into parts that do not overlap.

    Args:
        dataset: Dataset to split.
        lengths: list of ints that add up to `len(dataset)`; or of fractions that add up to 1 (what is left
            over goes to the first parts).
        generator: Generator to draw from. Default None: the one `paddle.seed` sets.
    Returns:
        list of Subset, one per length.
    Raises:
        ValueError: the lengths do not add up.
    Example:
        >>> [len(part) for part in paddle.io.random_split(list(range(10)), [0.7, 0.3])]
        [7, 3]
    """
    total = len(dataset)
    lengths = list(lengths)
    # Numbers that add up to 1 are fractions.
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if any(fraction < 0 or fraction > 1 for fraction in lengths):
            raise ValueError(f"random_split: lengths: got fractions {lengths}; each must lie in [0, 1].")
        lengths = _counts(lengths, total)
    if sum(lengths) != total:
        raise ValueError(
            f"random_split: lengths: {lengths} add up to {sum(lengths)}; the data set has {total} samples."
        )
    order = permutation(total, generator if hasattr(generator, "draw") else default_generator())
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
