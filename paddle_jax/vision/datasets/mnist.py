"""MNIST and FashionMNIST: small grey images of digits and of clothes, in the IDX file format."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.vision.datasets.common import backend_of, file_of, mode_of
from paddle_jax.vision.image import pillow

__all__ = []


def read_idx(path: str, axes: Any) -> np.ndarray:
    """The uint8 array of an IDX file with a known number of axes; the file may be compressed by gzip."""
    content = Path(path).read_bytes()
    # the first bytes of a gzip file
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    # Four bytes say what it is, and four the length of each axis.
    start = 4 + 4 * axes
    if len(content) < start:
        raise ValueError(
            f"MNIST: {path} has {len(content)} bytes; an IDX file with {axes} axes has "
            f"{start} before its data"
        )
    shape = struct.unpack_from(f">{axes}I", content, 4)
    # The product of damaged lengths may overflow as an integer.
    if len(content) - start < np.prod(shape, dtype=np.float64):
        raise ValueError(
            f"MNIST: {path} speaks of an array {list(shape)} but has only "
            f"{len(content) - start} bytes of data; is it the right file?"
        )
    return np.frombuffer(content, np.uint8, int(np.prod(shape)), start).reshape(shape)


class MNIST(Dataset):
    """Handwritten digits, 28 x 28 pixels: 60 000 for training and 10 000 for testing.

    Args:
        image_path, label_path: str, the files. Default None: they are looked for in
            `~/.cache/paddle/dataset/mnist`, and downloaded.
        mode: "train" or "test". Default "train".
        transform: called with an image, gives what stands in its place. Default None.
        download: bool, download files that are not given. Default True.
        backend: "pil" (images are Images of pillow) or "cv2" (float32 arrays [28, 28]). Default: that of
            `paddle.vision.set_image_backend`.
    Returns:
        An item is (image, int64 array [1] with the digit).
    Attributes:
        mode: str, "train" or "test".
        backend: str, "pil" or "cv2".
        transform: as given.
        image_path, label_path: str, the files.
        images, labels: lists of arrays.
        dtype: str, that of images of the backend "cv2".
    Raises:
        AssertionError: another mode, or a file is not given and download is False.
        RuntimeError: a file is neither there nor to be downloaded.
        ValueError: another backend, or a file is damaged.
    Example:
        >>> import gzip
        >>> for name, head, count in (("images.gz", [2051, 100, 28, 28], 78400),
        ...                           ("labels.gz", [2049, 100], 100)):
        ...     with gzip.open(name, "wb") as file:
        ...         _ = file.write(np.array(head, ">i4").tobytes() + bytes(count))
        >>> digits = paddle.vision.datasets.MNIST("images.gz", "labels.gz", backend="cv2")
        >>> image, label = digits[0]
        >>> len(digits), image.shape, label.tolist()
        (100, (28, 28), [0])
    """

    backend: str
    mode: str
    transform: Callable[..., Any]

    NAME = "mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(
        self,
        image_path: str | None = None,
        label_path: str | None = None,
        mode: str = "train",
        transform: Callable[..., Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.mode, self.backend, self.transform = (
            mode_of(name, mode, ("train", "test")),
            backend_of(name, backend),
            transform,
        )
        images, labels = (
            [getattr(self, f"{self.mode.upper()}_{what}_{part}") for part in ("URL", "MD5")]
            for what in ("IMAGE", "LABEL")
        )
        self.image_path = file_of(name, "image_path", image_path, *images, self.NAME, download)
        self.label_path = file_of(name, "label_path", label_path, *labels, self.NAME, download)
        images = read_idx(self.image_path, 3)
        labels = read_idx(self.label_path, 1)
        if len(images) != len(labels):
            raise ValueError(
                f"{name}: got {len(images)} images and {len(labels)} labels; the files do not belong together"
            )
        self.images: list[np.ndarray] = list(images.reshape(len(images), -1).astype(np.float32))
        self.labels: list[np.ndarray] = [np.array([label], np.int64) for label in labels.tolist()]
        self.dtype = "float32"

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        image = self.images[idx].reshape(28, 28)
        label = self.labels[idx]
        if self.backend == "pil":
            image = pillow().fromarray(image.astype(np.uint8))
        if self.transform is not None:
            image = self.transform(image)
        return image if self.backend == "pil" else image.astype(self.dtype), label.astype(np.int64)

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Pictures of clothes in the form of MNIST. Arguments as for `MNIST`; the folder is
    `~/.cache/paddle/dataset/fashion-mnist`.

    Args:
        image_path, label_path, mode, transform, download, backend: as for `MNIST`.
    Example:
        >>> import gzip
        >>> for name, head, count in (("images.gz", [2051, 100, 28, 28], 78400),
        ...                           ("labels.gz", [2049, 100], 100)):
        ...     with gzip.open(name, "wb") as file:
        ...         _ = file.write(np.array(head, ">i4").tobytes() + bytes(count))
        >>> clothes = paddle.vision.datasets.FashionMNIST("images.gz", "labels.gz", backend="cv2")
        >>> len(clothes), clothes[0][0].shape
        (100, (28, 28))
    """

    NAME = "fashion-mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/fashion_mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"
