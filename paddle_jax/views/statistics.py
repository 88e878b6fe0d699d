"""Numbers about the elements of a Tensor: all of them, or an even sample of very many."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

_MOST_READ = 1 << 24  # elements; of more a sample is read
# Of a larger array only so many elements are read, so that the picture comes soon.
_SAMPLE = 1 << 22
_MOST_BINNED = 1 << 20  # elements of a histogram
_BINS = 24


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What a view shows of the elements of a Tensor.

    Attributes:
        size: int, elements of the Tensor.
        read: int, elements that were read: all, or those of the sample.
        nan: int, NaN among those read.
        infinite: int, infinite ones among those read.
        what: str, what the other numbers are of: "values", "absolute values" or "ones".
        mean: float of the finite ones, or None without any.
        deviation: float, standard deviation of the finite ones, or None.
        low: float or int, the least finite one, or None.
        high: float or int, the greatest finite one, or None.
        binned: int, finite elements of the histogram.
        counts: list of int, elements in each bin.
        edges: list of float, bounds of the bins.
    """

    size: int
    read: int
    nan: int
    infinite: int
    what: str
    mean: float | None
    deviation: float | None
    low: float | int | None
    high: float | int | None
    binned: int
    counts: list[int]
    edges: list[float]

    @property
    def is_sample(self) -> bool:
        """Whether elements were left out."""
        return self.read < self.size


def sample(flat: np.ndarray, most: int) -> np.ndarray:
    """At most `most` elements of an array [n], evenly distributed.

    The distance of two of them has no factor in common with the length, so rows and columns are all met.
    """
    if flat.size <= most:
        return flat
    step = -(-flat.size // most)
    # A step that shares a factor with the length would favour some columns.
    while math.gcd(step, flat.size) != 1:
        step += 1
    return flat[::step]


def _as_numbers(flat: np.ndarray) -> tuple[np.ndarray, str]:
    """Elements as real numbers that NumPy reduces, and what they are."""
    if flat.dtype.kind == "c":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.abs(flat), "absolute values"
    if flat.dtype.kind == "b":
        return flat.astype(np.uint8), "ones"
    if flat.dtype.kind not in "iuf":  # bfloat16, float8
        return flat.astype(np.float32), "values"
    return flat, "values"


def statistics_of(array: np.ndarray) -> Statistics:
    """The numbers about the elements of an array of numbers or bools.

    Args:
        array: [...], any dtype of Tensors. Complex numbers count by their absolute values.
    """
    read = sample(array.reshape(-1), _MOST_READ if array.size <= _MOST_READ else _SAMPLE)
    numbers, what = _as_numbers(read)
    nan = int(np.isnan(numbers).sum())
    infinite = int(np.isinf(numbers).sum())
    finite = numbers
    if nan or infinite:
        finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return Statistics(array.size, read.size, nan, infinite, what, None, None, None, None, 0, [], [])
    # Bins need fewer elements than the mean does.
    binned = sample(finite, _MOST_BINNED)
    counts, edges = _histogram(binned)
    # Large numbers may have no finite mean.
    with np.errstate(over="ignore"):
        mean = float(finite.mean(dtype=np.float64))
        deviation = float(finite.std(dtype=np.float64))
    low = finite.min().item()
    high = finite.max().item()
    return Statistics(
        array.size, read.size, nan, infinite, what, mean, deviation, low, high, binned.size, counts, edges
    )


def _histogram(values: np.ndarray) -> tuple[list[int], list[float]]:
    """Counts and bounds of bins; whole numbers of a short range get a bin each."""
    wide = values.astype(np.float64)
    scale = 1.0
    with np.errstate(over="ignore"):
        if not np.isfinite(wide.max() - wide.min()):
            scale = 4.0  # the range of all float64 numbers is no float64 number
    wide = wide / scale
    low = float(wide.min())
    high = float(wide.max())
    bins = _BINS
    if values.dtype.kind in "iu" and high - low < _BINS:
        low = low - 0.5
        high = high + 0.5
        bins = int(high - low)
    elif not low < np.nextafter(low, high) < high:  # one number, or two neighbours
        bins = 1
        low = low - max(abs(low), 1.0) / 2
        high = high + max(abs(high), 1.0) / 2
    counts, edges = np.histogram(wide, bins=bins, range=(low, high))
    return counts.tolist(), (edges * scale).tolist()
