"""CIFAR-10 and CIFAR-100: small colour images of ten and of a hundred kinds, in a tar archive of pickles."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paddle_jax.framework.pickle_names import Budget
from paddle_jax.framework.pickle_reader import read
from paddle_jax.io import Dataset
from paddle_jax.vision.datasets.common import backend_of, file_of, mode_of
from paddle_jax.vision.image import pillow

__all__ = []

URL_PREFIX = "https://dataset.bj.bcebos.com/cifar/"
CIFAR10_URL = URL_PREFIX + "cifar-10-python.tar.gz"
CIFAR10_MD5 = "c58f30108f718f92721af3b95e74349a"
CIFAR100_URL = URL_PREFIX + "cifar-100-python.tar.gz"
CIFAR100_MD5 = "eb9058c3a382ffc7106e4002c42a8d85"
MODE_FLAG_MAP = {"train10": "data_batch", "test10": "test_batch", "train100": "train", "test100": "test"}


def samples_in(path: str, flag: str, owner: str) -> Iterator[Any]:
    """(uint8 array [3072], label) of all samples in the files of an archive whose names contain `flag`, in
    the order of these names."""
    with tarfile.open(path) as archive:
        # By name, so that the order does not depend on the archive.
        for member in sorted((m for m in archive if m.isfile() and flag in m.name), key=lambda m: m.name):
            content = archive.extractfile(member).read()
            batch = read(io.BytesIO(content), Budget(len(content)))
            # The files were written by Python 2, whose texts come as bytes.
            batch = {key.decode() if isinstance(key, bytes) else key: value for key, value in batch.items()}
            # CIFAR-100 has two kinds of labels; Paddle takes the fine ones.
            labels = batch.get("labels", batch.get("fine_labels"))
            if labels is None:
                raise ValueError(f"{owner}: {member.name} in {path} has no labels")
            yield from zip(batch["data"], labels, strict=True)


class Cifar10(Dataset):
    """Colour images of ten kinds, 32 x 32 pixels: 50 000 for training and 10 000 for testing.

    The archive's pickles are read without running code from them.

    Args:
        data_file: str, the archive. Default None: it is looked for in
            `~/.cache/paddle/dataset/cifar`, and downloaded.
        mode: "train" or "test". Default "train".
        transform: called with an image, gives what stands in its place. Default None.
        download: bool, download the archive when it is not given. Default True.
        backend: "pil" (images are Images of pillow) or "cv2" (float32 arrays [32, 32, 3]). Default: that of
            `paddle.vision.set_image_backend`.
    Returns:
        An item is (image, int64 array [] with the kind).
    Attributes:
        transform: as given.
        mode: str, "train" or "test".
        backend: str, "pil" or "cv2".
        data_file: str, the archive.
        data_url, data_md5: str, where it comes from, and its checksum.
        flag: str, part of the names of the files inside.
        dtype: str, that of images of the backend "cv2".
        data: list of (array, label).
    Raises:
        AssertionError: another mode, or the archive is not given and download is False.
        RuntimeError: the archive is neither there nor to be downloaded.
        ValueError: another backend, or a pickle is damaged or asks for what data do not need.
    Example:
        >>> import io, pickle, tarfile
        >>> content = pickle.dumps({b"data": np.zeros([2, 3072], "uint8"), b"labels": [3, 5]})
        >>> with tarfile.open("archive.tar.gz", "w:gz") as archive:
        ...     member = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
        ...     member.size = len(content)
        ...     archive.addfile(member, io.BytesIO(content))
        >>> images = paddle.vision.datasets.Cifar10("archive.tar.gz", backend="cv2")
        >>> image, kind = images[1]
        >>> len(images), image.shape, int(kind)
        (2, (32, 32, 3), 5)
    """

    backend: str
    data_md5: str
    data_url: str
    flag: str
    mode: str

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[..., Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.mode, self.backend = mode_of(name, mode, ("train", "test")), backend_of(name, backend)
        self._init_url_md5_flag()
        self.data_file: str = file_of(
            name, "data_file", data_file, self.data_url, self.data_md5, "cifar", download
        )
        self.transform = transform
        self._load_data()
        self.dtype = "float32"

    def _init_url_md5_flag(self) -> None:
        self.data_url, self.data_md5, self.flag = CIFAR10_URL, CIFAR10_MD5, MODE_FLAG_MAP[self.mode + "10"]

    def _load_data(self) -> None:
        self.data: list[Any] = list(samples_in(self.data_file, self.flag, type(self).__name__))

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        image, label = self.data[idx]
        # Files store one channel after the other.
        image = image.reshape(3, 32, 32).transpose(1, 2, 0)
        image = np.ascontiguousarray(image, np.uint8)
        if self.backend == "pil":
            image = pillow().fromarray(image)
        if self.transform is not None:
            image = self.transform(image)
        return image if self.backend == "pil" else image.astype(self.dtype), np.array(label).astype(np.int64)

    def __len__(self) -> int:
        return len(self.data)


class Cifar100(Cifar10):
    """Colour images of a hundred kinds, 32 x 32 pixels: 50 000 for training and 10 000 for testing. Arguments
    as for `Cifar10`.

    Args:
        data_file, mode, transform, download, backend: as for `Cifar10`.
    Example:
        >>> import io, pickle, tarfile
        >>> content = pickle.dumps({b"data": np.zeros([2, 3072], "uint8"), b"fine_labels": [3, 5]})
        >>> with tarfile.open("archive.tar.gz", "w:gz") as archive:
        ...     member = tarfile.TarInfo("cifar-100-python/train")
        ...     member.size = len(content)
        ...     archive.addfile(member, io.BytesIO(content))
        >>> images = paddle.vision.datasets.Cifar100("archive.tar.gz", backend="cv2")
        >>> image, kind = images[1]
        >>> len(images), image.shape, int(kind)
        (2, (32, 32, 3), 5)
    """

    data_md5: str
    data_url: str
    flag: str

    def _init_url_md5_flag(self) -> None:
        self.data_url, self.data_md5, self.flag = CIFAR100_URL, CIFAR100_MD5, MODE_FLAG_MAP[self.mode + "100"]
