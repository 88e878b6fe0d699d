"""Readers of prices of houses, as Paddle 1 gave them; `paddle.text.UCIHousing` is the class for new programs."""

import numpy as np

from paddle_jax.dataset import common
from paddle_jax.text.datasets.uci_housing import MD5, URL

__all__ = []

feature_names = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"]


def _rows(filename, feature_num=14, ratio=0.8):
    """(rows for training, rows for testing) of a file of numbers; all columns but the last are centred and divided by their range."""
    rows = np.fromfile(filename, sep=" ").reshape(-1, feature_num)
    features = rows[:, :-1]
    rows[:, :-1] = (features - features.mean(0)) / (features.max(0) - features.min(0))
    split = int(len(rows) * ratio)
    return rows[:split], rows[split:]


def _reader(part):
    rows = _rows(common.download(URL, "uci_housing", MD5))[part]

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
