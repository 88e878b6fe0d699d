"""Readers of handwritten digits, as Paddle 1 gave them; `paddle.vision.datasets.MNIST` is the class
for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paddle_jax.dataset import common
from paddle_jax.vision.datasets.mnist import MNIST, read_idx

__all__ = []

URL_PREFIX = MNIST.URL_PREFIX
TEST_IMAGE_URL = MNIST.TEST_IMAGE_URL
TEST_IMAGE_MD5 = MNIST.TEST_IMAGE_MD5
TEST_LABEL_URL = MNIST.TEST_LABEL_URL
TEST_LABEL_MD5 = MNIST.TEST_LABEL_MD5
TRAIN_IMAGE_URL = MNIST.TRAIN_IMAGE_URL
TRAIN_IMAGE_MD5 = MNIST.TRAIN_IMAGE_MD5
TRAIN_LABEL_URL = MNIST.TRAIN_LABEL_URL
TRAIN_LABEL_MD5 = MNIST.TRAIN_LABEL_MD5


def reader_creator(image_filename: str, label_filename: str, buffer_size: int) -> Callable[..., Any]:
    """A reader of the digits in two IDX files, compressed by gzip or not.

    Args:
        image_filename, label_filename: str, the files.
        buffer_size: int, how many images are scaled at once.
    Returns:
        A function without arguments; its iterator gives (float32 array [784] from -1 to 1, int).
    Raises:
        ValueError: a file is damaged, or the files hold different numbers of samples (when the
            reader is iterated).
    Example:
        >>> import gzip
        >>> for name, head, count in (("images.gz", [2051, 3, 28, 28], 2352), ("labels.gz", [2049, 3], 3)):
        ...     with gzip.open(name, "wb") as file:
        ...         _ = file.write(np.array(head, ">i4").tobytes() + bytes(count))
        >>> reader = paddle.dataset.mnist.reader_creator("images.gz", "labels.gz", 3)
        >>> [(image.shape, label) for image, label in reader()]
        [((784,), 0), ((784,), 0), ((784,), 0)]
    """

    def reader() -> Iterator[Any]:
        images = read_idx(image_filename, 3)
        labels = read_idx(label_filename, 1)
        if len(images) != len(labels):
            raise ValueError(
                f"mnist: got {len(images)} images and {len(labels)} labels; give files that belong together"
            )
        images = images.reshape(len(images), -1)
        for start in range(0, len(images), buffer_size):
            # In pieces: all digits as float32 take four times the memory of the file.
            scaled = images[start : start + buffer_size].astype(np.float32) / 255.0 * 2.0 - 1.0
            yield from zip(scaled, labels[start : start + buffer_size].tolist(), strict=True)

    return reader


def train() -> Any:
    """The reader of the 60 000 digits for training; their files are downloaded when they are not in
    `dataset.common.DATA_HOME`."""
    return _reader_of("TRAIN")


def test() -> Any:
    """The reader of the 10 000 digits for testing; their files are downloaded when they are not in
    `dataset.common.DATA_HOME`."""
    return _reader_of("TEST")


def fetch() -> None:
    """Downloads the four files that are not in `dataset.common.DATA_HOME`."""
    for part in ("TRAIN", "TEST"):
        _files(part)


def _reader_of(part: str) -> Any:
    return reader_creator(*_files(part), 100)


def _files(part: str) -> list[str]:
    names = [f"{part}_{what}" for what in ("IMAGE", "LABEL")]
    return [common.download(globals()[f"{name}_URL"], "mnist", globals()[f"{name}_MD5"]) for name in names]
