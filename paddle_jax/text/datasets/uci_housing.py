"""Prices of houses in Boston (Harrison and Rubinfeld, 1978)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.base.dtype import convert, get_default_dtype
from paddle_jax.io import Dataset
from paddle_jax.text.datasets.source import check_mode, located

if TYPE_CHECKING:
    from os import PathLike

__all__ = []

URL = "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data"
MD5 = "d4accdce7a25600298819f8e28e8d593"


def parts_of(
    path: str | PathLike[str], columns: int = 14, ratio: float = 0.8
) -> tuple[np.ndarray, np.ndarray]:
    """(rows for training, rows for testing) of the file; all columns but the last are centred and
    divided by their range."""
    rows = np.fromfile(path, sep=" ").reshape(-1, columns)
    features = rows[:, :-1]
    # By the means of all rows, before they are split, as Paddle does.
    rows[:, :-1] = (features - features.mean(0)) / (features.max(0) - features.min(0))
    split = int(len(rows) * ratio)
    return rows[:split], rows[split:]


class UCIHousing(Dataset):
    """Prices of houses: 13 features, each centred and divided by its range, and the price.

    Args:
        data_file: path of `housing.data`, rows of 14 numbers. Default None: download it.
        mode: "train" (the first four fifths) or "test". Default "train".
        download: download the file if `data_file` is None. Default True.
    Raises:
        AssertionError: the mode is unknown, or there is no file.
        FileNotFoundError: there is no such file.
    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "housing.data")
        ...     np.savetxt(path, np.arange(140.0).reshape(10, 14))
        ...     data = paddle.text.UCIHousing(path)
        >>> len(data), [field.shape for field in data[0]]
        (8, [(13,), (1,)])
    """

    def __init__(
        self, data_file: str | PathLike[str] | None = None, mode: str = "train", download: bool = True
    ) -> None:
        self.mode: str = check_mode("UCIHousing", mode)
        self.data_file: str = located("uci_housing", data_file, download, URL, MD5)
        self.dtype: str = get_default_dtype()
        self.data: np.ndarray = parts_of(self.data_file)[self.mode == "test"].astype(convert(self.dtype).np)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        row = self.data[idx]
        return row[:-1], row[-1:]

    def __len__(self) -> int:
        return len(self.data)
