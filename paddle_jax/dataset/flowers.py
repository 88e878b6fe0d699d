"""Readers of photographs of flowers, as Paddle 1 gave them; `paddle.vision.datasets.Flowers` is the class
for new programs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax.dataset import common
from paddle_jax.dataset.image import load_image_bytes, simple_transform
from paddle_jax.reader import map_readers, xmap_readers
from paddle_jax.text.datasets.source import members
from paddle_jax.vision.datasets.flowers import (
    DATA_MD5,
    DATA_URL,
    LABEL_MD5,
    LABEL_URL,
    MODE_FLAG_MAP,
    SETID_MD5,
    SETID_URL,
    labels_in,
)

__all__ = []

TRAIN_FLAG, TEST_FLAG, VALID_FLAG = (MODE_FLAG_MAP[mode] for mode in ("train", "test", "valid"))


def default_mapper(is_train: bool, sample: Any) -> tuple[Any, Any]:
    """What a network takes of (content of an image file, label): (float32 array [150528] without the mean of
    each colour, label).

    Raises:
        AssertionError: opencv is not installed.
    """
    content, label = sample
    image = simple_transform(load_image_bytes(content), 256, 224, is_train, mean=[103.94, 116.78, 123.68])
    return image.flatten(), label


train_mapper: Any = functools.partial(default_mapper, True)
test_mapper: Any = functools.partial(default_mapper, False)


def reader_creator(
    data_file: str,
    label_file: str,
    setid_file: str,
    dataset_name: str,
    mapper: Callable[..., Any],
    buffered_size: int = 1024,
    use_xmap: bool = True,
    cycle: bool = False,
) -> Callable[..., Any]:
    """A reader of the images of a set, in the order of the archive.

    Args:
        data_file: str, the archive of images.
        label_file, setid_file: str, the labels and the sets (.mat).
        dataset_name: "tstid", "trnid" or "valid".
        mapper: called with (bytes of an image file, label from 0 to 101), gives a sample.
        buffered_size: int, samples that threads compute ahead. Default 1024.
        use_xmap: bool, samples are computed by threads, and come in any order. Default True.
        cycle: means nothing, as in Paddle.
    Returns:
        A function without arguments that returns an iterator over samples.
    """

    def reader() -> Iterator[Any]:
        labels, numbers = labels_in(label_file, setid_file, dataset_name)
        # Labels begin at 1 in the file, classes at 0.
        wanted = {f"jpg/image_{number:05}.jpg": int(labels[number - 1]) - 1 for number in numbers}
        for name, content in members(data_file, wanted.__contains__):
            yield content, wanted[name]

    if use_xmap:
        return xmap_readers(mapper, reader, min(4, os.cpu_count() or 1), buffered_size)
    return map_readers(mapper, reader)


def train(
    mapper: Any = train_mapper, buffered_size: Any = 1024, use_xmap: bool = True, cycle: bool = False
) -> Callable[..., Any]:
    """The reader of the 6149 images for training; its arguments are those of `reader_creator`."""
    return reader_creator(*_files(), TRAIN_FLAG, mapper, buffered_size, use_xmap, cycle)


def test(
    mapper: Any = test_mapper, buffered_size: Any = 1024, use_xmap: bool = True, cycle: bool = False
) -> Callable[..., Any]:
    """The reader of the 1020 images for testing; its arguments are those of `reader_creator`."""
    return reader_creator(*_files(), TEST_FLAG, mapper, buffered_size, use_xmap, cycle)


def valid(mapper: Any = test_mapper, buffered_size: Any = 1024, use_xmap: bool = True) -> Callable[..., Any]:
    """The reader of the 1020 images for validation; its arguments are those of `reader_creator`."""
    return reader_creator(*_files(), VALID_FLAG, mapper, buffered_size, use_xmap)


def fetch() -> None:
    """Downloads the files that are not in `dataset.common.DATA_HOME`."""
    _files()


def _files() -> list[str]:
    files = (DATA_URL, DATA_MD5), (LABEL_URL, LABEL_MD5), (SETID_URL, SETID_MD5)
    return [common.download(url, "flowers", md5) for url, md5 in files]
