"""VOC2012: photographs and the outlines of the objects in them."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from tarfile import TarFile, TarInfo
from typing import Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.vision.datasets.common import backend_of, file_of, mode_of
from paddle_jax.vision.image import pillow

__all__ = []

VOC_URL = "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar"
VOC_MD5 = "6cd6e144f989b92b3379bac3b3de84fd"
SET_FILE = "VOCdevkit/VOC2012/ImageSets/Segmentation/{}.txt"
DATA_FILE = "VOCdevkit/VOC2012/JPEGImages/{}.jpg"
LABEL_FILE = "VOCdevkit/VOC2012/SegmentationClass/{}.png"
CACHE_DIR = "voc2012"
# As in Paddle: training has both sets, and testing the one for training.
MODE_FLAG_MAP = {"train": "trainval", "test": "train", "valid": "val"}


class VOC2012(Dataset):
    """Photographs with the class of every pixel: 2913 for training, 1464 for testing and 1449 for validation.

    Images are read from the archive when they are asked for; a copy in another process opens
    the archive again.

    Args:
        data_file: str, the archive (.tar). Default None: it is looked for in
            `~/.cache/paddle/dataset/voc2012`, and downloaded.
        mode: "train", "valid" or "test". Default "train".
        transform: called with a photograph, gives what stands in its place. Default None.
        download: bool, download the archive when it is not given. Default True.
        backend: "pil" (Images of pillow) or "cv2" (float32 arrays). Default: that of
            `paddle.vision.set_image_backend`.
    Returns:
        An item is (photograph, classes of its pixels).
    Attributes:
        transform: as given.
        backend: str, "pil" or "cv2".
        flag: str, the list of names inside the archive.
        data_file: str, the archive.
        dtype: str, that of images of the backend "cv2".
        data, labels: lists of names inside the archive.
        data_tar: TarFile, opened by this process.
        _owner: int, the process that has opened it.
        name2mem: dict from names to members of the archive.
    Raises:
        AssertionError: another mode, or the archive is not given and download is False.
        RuntimeError: the archive is neither there nor to be downloaded.
        ValueError: another backend.
    Example:
        >>> import io, tarfile
        >>> from PIL import Image
        >>> def packed(archive, name, content):
        ...     member = tarfile.TarInfo("VOCdevkit/VOC2012/" + name)
        ...     member.size = len(content)
        ...     archive.addfile(member, io.BytesIO(content))
        >>> photograph, classes = io.BytesIO(), io.BytesIO()
        >>> Image.new("RGB", (6, 5)).save(photograph, "JPEG")
        >>> Image.new("L", (6, 5), 3).save(classes, "PNG")
        >>> with tarfile.open("voc.tar", "w") as archive:
        ...     packed(archive, "ImageSets/Segmentation/trainval.txt", b"dog")
        ...     packed(archive, "JPEGImages/dog.jpg", photograph.getvalue())
        ...     packed(archive, "SegmentationClass/dog.png", classes.getvalue())
        >>> data = paddle.vision.datasets.VOC2012("voc.tar", backend="cv2")
        >>> image, kinds = data[0]
        >>> len(data), image.shape, int(kinds.max())
        (1, (5, 6, 3), 3)
    """

    data_tar: TarFile

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[..., Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        self.backend: str = backend_of("VOC2012", backend)
        self.flag: str = MODE_FLAG_MAP[mode_of("VOC2012", mode, ("train", "valid", "test"))]
        self.data_file: str = file_of(
            "VOC2012", "data_file", data_file, VOC_URL, VOC_MD5, CACHE_DIR, download
        )
        self.transform = transform
        self._load_anno()
        self.dtype = "float32"

    def _load_anno(self) -> None:
        self._open()
        names = self._content(SET_FILE.format(self.flag)).decode().split()
        self.data: list[str] = [DATA_FILE.format(name) for name in names]
        self.labels: list[str] = [LABEL_FILE.format(name) for name in names]

    def _open(self) -> None:
        self.data_tar, self._owner = tarfile.open(self.data_file), os.getpid()
        self.name2mem: dict[str, TarInfo] = {member.name: member for member in self.data_tar.getmembers()}

    def _content(self, name: str) -> bytes:
        if self._owner != os.getpid():  # two processes would move one place in the file
            self._open()
        return self.data_tar.extractfile(self.name2mem[name]).read()

    def __del__(self) -> None:
        if archive := self.__dict__.get("data_tar"):
            archive.close()

    def __getstate__(self) -> dict[str, Any | None]:
        # An open file cannot be pickled. The copy opens one of its own, as its owner is nobody.
        return {key: value for key, value in self.__dict__.items() if key not in ("data_tar", "name2mem")} | {
            "_owner": None
        }

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        image, label = (
            pillow().open(io.BytesIO(self._content(names[idx]))) for names in (self.data, self.labels)
        )
        if self.backend == "cv2":
            image = np.array(image)
            label = np.array(label)
        if self.transform is not None:
            image = self.transform(image)
        if self.backend == "cv2":
            return (image.astype(self.dtype), label.astype(self.dtype))
        return (image, label)

    def __len__(self) -> int:
        return len(self.data)
