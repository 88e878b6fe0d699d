"""Readers of small colour images, as Paddle 1 gave them; `paddle.vision.datasets.Cifar10` and `Cifar100` are
the classes for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paddle_jax.dataset import common
from paddle_jax.vision.datasets.cifar import (  # noqa: F401
    CIFAR10_MD5,
    CIFAR10_URL,
    CIFAR100_MD5,
    CIFAR100_URL,
    MODE_FLAG_MAP,
    URL_PREFIX,
    samples_in,
)

__all__ = []


def reader_creator(filename: str, sub_name: str, cycle: bool = False) -> Callable[..., Any]:
    """A reader of the images in an archive of pickles, which are read without running code from them.

    Args:
        filename: str, the archive.
        sub_name: str, what the names of the wanted files in it contain.
        cycle: bool, begin again at the end, for ever. Default False.
    Returns:
        A function without arguments; its iterator gives (float32 array [3072] from 0 to 1, int).
    Raises:
        ValueError: a file in the archive is damaged or has no labels (when the reader is iterated).
    Example:
        >>> import io, pickle, tarfile
        >>> batch = pickle.dumps({b"data": np.full([2, 3072], 255, "uint8"), b"labels": [3, 4]}, protocol=2)
        >>> with tarfile.open("images.tar.gz", "w:gz") as archive:
        ...     member = tarfile.TarInfo("data_batch_1")
        ...     member.size = len(batch)
        ...     archive.addfile(member, io.BytesIO(batch))
        >>> reader = paddle.dataset.cifar.reader_creator("images.tar.gz", "data_batch")
        >>> [(image.max().item(), label) for image, label in reader()]
        [(1.0, 3), (1.0, 4)]
    """

    def reader() -> Iterator[Any]:
        while True:
            for image, label in samples_in(filename, sub_name, "cifar"):
                yield (image / 255.0).astype(np.float32), int(label)
            if not cycle:
                return

    return reader


def train100() -> Any:
    """The reader of the 50 000 images of CIFAR-100 for training."""
    return reader_creator(_archive(CIFAR100_URL, CIFAR100_MD5), MODE_FLAG_MAP["train100"])


def test100() -> Any:
    """The reader of the 10 000 images of CIFAR-100 for testing."""
    return reader_creator(_archive(CIFAR100_URL, CIFAR100_MD5), MODE_FLAG_MAP["test100"])


def train10(cycle: Any = False) -> Any:
    """The reader of the 50 000 images of CIFAR-10 for training; for ever with `cycle`."""
    return reader_creator(_archive(CIFAR10_URL, CIFAR10_MD5), MODE_FLAG_MAP["train10"], cycle)


def test10(cycle: bool = False) -> Any:
    """The reader of the 10 000 images of CIFAR-10 for testing; for ever with `cycle`."""
    return reader_creator(_archive(CIFAR10_URL, CIFAR10_MD5), MODE_FLAG_MAP["test10"], cycle)


def fetch() -> None:
    """Downloads both archives if they are not in `dataset.common.DATA_HOME`."""
    _archive(CIFAR10_URL, CIFAR10_MD5)
    _archive(CIFAR100_URL, CIFAR100_MD5)


def _archive(url: str, md5: str) -> str:
    return common.download(url, "cifar", md5)
