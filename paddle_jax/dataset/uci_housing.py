"""Readers of prices of houses, as Paddle 1 gave them; `paddle.text.UCIHousing` is the class
for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import UciHousingCache
from paddle_jax.dataset import common
from paddle_jax.text.datasets.uci_housing import MD5, URL, parts_of
from paddle_jax.utils import try_import

if TYPE_CHECKING:
    import numpy as np


__all__ = []

feature_names: list[str] = [
    "CRIM",
    "ZN",
    "INDUS",
    "CHAS",
    "NOX",
    "RM",
    "AGE",
    "DIS",
    "RAD",
    "TAX",
    "PTRATIO",
    "B",
    "LSTAT",
]


def __getattr__(name: str) -> np.ndarray:
    if name in ("UCI_TRAIN_DATA", "UCI_TEST_DATA"):
        if name == "UCI_TRAIN_DATA":
            return UciHousingCache.train
        return UciHousingCache.test
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_data(filename: str, feature_num: int = 14, ratio: float = 0.8) -> None:
    """Reads a file of prices into `UCI_TRAIN_DATA` and `UCI_TEST_DATA`; once they are there, nothing is read.

    Args:
        filename: str, the path of a text file of numbers.
        feature_num: int, numbers in a row; the last one is the price, the others are centred and divided by
            their range. Default 14.
        ratio: float, the share of rows for training. Default 0.8.
    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the numbers are not whole rows.
    """
    if UciHousingCache.train is None:
        UciHousingCache.train, UciHousingCache.test = parts_of(filename, feature_num, ratio)


def feature_range(maximums: Any, minimums: Any) -> None:
    """Draws the ranges of the 13 features, arrays [13], into the file `image/ranges.png`; matplotlib does it.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: there are not 13 features.
    Differs from Paddle: how pyplot draws later on is left alone.
    """
    count = len(maximums)
    figure = try_import("matplotlib.figure", "matplotlib is not installed: pip install matplotlib").Figure(
        (10, 6)
    )
    axes = figure.subplots()
    axes.bar(range(count), maximums - minimums, color="r")
    axes.set_title("feature scale")
    axes.set_xticks(range(count), feature_names)
    axes.set_xlim(-1, count)
    common.must_mkdirs("image")
    figure.savefig("image/ranges.png", dpi=48)


def train() -> Callable[..., Any]:
    """The reader of the first four fifths of the houses: (float64 array [13] of features, float64 array [1]
    with the price)."""
    load_data(_file())
    return lambda: _samples(UciHousingCache.train)


def test() -> Callable[..., Any]:
    """The reader of the last fifth of the houses: (float64 array [13] of features, float64 array [1]
    with the price)."""
    load_data(_file())
    return lambda: _samples(UciHousingCache.test)


def predict_reader() -> tuple[Any]:
    """The features of the first house for testing, a float64 array [13], alone in a tuple."""
    load_data(_file())
    return (UciHousingCache.test[0][:-1],)


def fetch() -> None:
    """Downloads the file if it is not in `dataset.common.DATA_HOME`."""
    _file()


def _samples(rows: np.ndarray) -> Iterator[Any]:
    for row in rows:
        yield row[:-1], row[-1:]


def _file() -> str:
    return common.download(URL, "uci_housing", MD5)
