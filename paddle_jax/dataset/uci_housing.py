"""Readers of prices of houses, as Paddle 1 gave them; `paddle.text.UCIHousing` is the class for new programs."""

from paddle_jax.dataset import common
from paddle_jax.text.datasets.uci_housing import MD5, URL, parts_of

__all__ = []

feature_names = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"]


def _reader(part):
    rows = parts_of(common.download(URL, "uci_housing", MD5))[part]

    def reader():
        for row in rows:
            yield row[:-1], row[-1:]

    return reader


def train():
    """The reader of the first four fifths of the houses: (float64 array [13] of features, float64 array [1] with the price)."""
    return _reader(0)


def test():
    """The reader of the last fifth of the houses: (float64 array [13] of features, float64 array [1] with the price)."""
    return _reader(1)


def fetch():
    """Downloads the file if it is not in `dataset.common.DATA_HOME`."""
    common.download(URL, "uci_housing", MD5)
