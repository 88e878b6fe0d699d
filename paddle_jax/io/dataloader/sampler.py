"""Samplers: orders in which the samples of a data set are read."""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle_jax._core.tensors.random import default_generator
from paddle_jax.io.dataloader.draw import permutation


class Sampler:
    """Gives the indices of the samples to read; the base class to derive from. A subclass
    defines `__iter__()`.

    Args:
        data_source: Dataset, or anything with a length. Default None.
    Example:
        >>> class Backwards(paddle.io.Sampler):
        ...     def __iter__(self):
        ...         return iter(reversed(range(len(self.data_source))))
        >>> list(Backwards("abc"))
        [2, 1, 0]
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)  # Sampler[int] says what it gives

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        """Returns an iterator over indices; a subclass must define it."""
        raise NotImplementedError(
            f"{type(self).__name__}: __iter__ is not defined; a Sampler must define it."
        )


class SequenceSampler(Sampler):
    """Gives the indices in order: 0, 1, 2 ...

    Args:
        data_source: Dataset, or anything with a length.
    Example:
        >>> list(paddle.io.SequenceSampler("abc"))
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _positive_int(value: Any) -> bool:
    return isinstance(value, int) and value > 0


class RandomSampler(Sampler):
    """Gives the indices in random order. The order is drawn from NumPy's global generator, as in Paddle:
    `np.random.seed` repeats it.

    Args:
        data_source: Dataset, or anything with a length.
        replacement: draw with replacement. Default False.
        num_samples: int, number of indices. Default None: as many as there are samples.
        generator: iterator of indices to use instead of a random order. Default None.
    Raises:
        TypeError: `replacement` is not a bool.
        ValueError: `num_samples` is not a positive int, or too large without replacement.
    Example:
        >>> sorted(paddle.io.RandomSampler("abc"))
        [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        super().__init__(data_source)
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement: got {replacement!r}; pass True or False.")
        if num_samples is not None and not _positive_int(num_samples):
            raise ValueError(f"RandomSampler: num_samples: got {num_samples!r}; it must be a positive int.")
        if not replacement and num_samples is not None and num_samples > len(data_source):
            raise ValueError(
                f"RandomSampler: num_samples: got {num_samples} of {len(data_source)} samples; "
                "replacement=True is needed for that."
            )
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """The number of indices given."""
        if self._num_samples is None:
            return len(self.data_source)
        return self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return itertools.islice(self.generator, self.num_samples)
        return iter(
            np.random.choice(  # noqa: NPY002
                len(self.data_source),
                self.num_samples,
                replace=self.replacement,
            ).tolist()
        )

    def __len__(self) -> int:
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """Draws indices at random, index `i` with a probability proportional to `weights[i]`.

    Args:
        weights: list, tuple or ndarray [n] of numbers, not negative.
        num_samples: int, positive, number of indices.
        replacement: draw with replacement. Default True.
    Raises:
        ValueError: `num_samples` is not a positive int, or `replacement` not a bool.
        AssertionError: while drawing: a weight is negative, none is positive, or too few are positive
            without replacement.
    Example:
        >>> list(paddle.io.WeightedRandomSampler(np.array([0.0, 1.0]), 3))
        [1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        if not _positive_int(num_samples):
            raise ValueError(
                f"WeightedRandomSampler: num_samples: got {num_samples!r}; it must be a positive int."
            )
        if not isinstance(replacement, bool):
            raise ValueError(f"WeightedRandomSampler: replacement: got {replacement!r}; pass True or False.")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement

    def _probabilities(self) -> np.ndarray:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or weights.size == 0:
            raise ValueError(
                f"WeightedRandomSampler: weights: got shape {list(weights.shape)}; "
                "one weight per sample is needed."
            )
        if (weights < 0).any():
            raise AssertionError(
                "WeightedRandomSampler: weights: a weight is negative; all must be at least 0."
            )
        positive = int((weights > 0).sum())
        if positive < (1 if self.replacement else self.num_samples):
            raise AssertionError(
                f"WeightedRandomSampler: weights: {positive} are positive; "
                f"too few to draw {self.num_samples} indices."
            )
        return weights / weights.sum()

    def __iter__(self) -> Iterator[int]:
        chances = self._probabilities()
        return iter(
            np.random.choice(  # noqa: NPY002
                len(chances),
                self.num_samples,
                replace=self.replacement,
                p=chances,
            ).tolist()
        )

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Gives the listed indices in random order, drawn from Paddle's generator.

    Args:
        indices: sequence of ints, not empty.
    Raises:
        ValueError: `indices` is empty.
    Example:
        >>> sorted(paddle.io.SubsetRandomSampler([5, 2, 7]))
        [2, 5, 7]
    """

    def __init__(self, indices: Any) -> None:
        if len(indices) == 0:
            raise ValueError("SubsetRandomSampler: indices: got none; give at least one index.")
        self.indices = indices

    def __iter__(self) -> Iterator[Any]:
        return (self.indices[i] for i in permutation(len(self.indices), default_generator()))

    def __len__(self) -> int:
        return len(self.indices)
