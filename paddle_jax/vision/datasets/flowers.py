"""Flowers: photographs of 102 kinds."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.vision.datasets.common import backend_of, file_of, mode_of
from paddle_jax.vision.image import pillow

__all__ = []

DATA_URL = "http://paddlemodels.bj.bcebos.com/flowers/102flowers.tgz"
LABEL_URL = "http://paddlemodels.bj.bcebos.com/flowers/imagelabels.mat"
SETID_URL = "http://paddlemodels.bj.bcebos.com/flowers/setid.mat"
DATA_MD5 = "52808999861908f626f3c1f4e79d11fa"
LABEL_MD5 = "e0620be6f572b9609742df49c70aed4d"
SETID_MD5 = "a5357ecc9cb78c4bef273ce3793fc85c"
# the set that is called test there is the largest
MODE_FLAG_MAP = {"train": "tstid", "test": "trnid", "valid": "valid"}


def labels_in(label_file: str, setid_file: str, flag: str) -> tuple[Any, Any]:
    """(labels of all images, numbers of the images of a set, which begin at 1), arrays of integers."""
    from scipy.io import loadmat

    return loadmat(label_file)["labels"][0], loadmat(setid_file)[flag][0]


class Flowers(Dataset):
    """Photographs of 102 kinds of flowers: 6149 for training, 1020 for testing and 1020 for validation.

    The archive is unpacked into a folder beside it.

    Args:
        data_file: str, the archive of images (.tgz). Default None: it is looked for in
            `~/.cache/paddle/dataset/flowers`, and downloaded.
        label_file, setid_file: str, the labels and the sets (.mat); they are read with SciPy. Default None,
            as for data_file.
        mode: "train", "valid" or "test". Default "train".
        transform: called with an image, gives what stands in its place. Default None.
        download: bool, download files that are not given. Default True.
        backend: "pil" (images are Images of pillow) or "cv2" (arrays [H, W, 3]). Default: that of
            `paddle.vision.set_image_backend`.
    Returns:
        An item is (image, int64 array [1] with the kind, from 1 to 102).
    Raises:
        AssertionError: another mode, or a file is not given and download is False.
        RuntimeError: a file is neither there nor to be downloaded.
        ValueError: another backend, or the archive holds a member that would be written outside its folder.
    Example:
        >>> import io, tarfile
        >>> from PIL import Image
        >>> from scipy.io import savemat
        >>> content = io.BytesIO()
        >>> Image.new("RGB", (6, 5)).save(content, "JPEG")
        >>> with tarfile.open("flowers.tgz", "w:gz") as archive:
        ...     member = tarfile.TarInfo("jpg/image_00001.jpg")
        ...     member.size = content.tell()
        ...     _ = content.seek(0)
        ...     archive.addfile(member, content)
        >>> savemat("labels.mat", {"labels": np.array([[7]], "uint8")})
        >>> savemat("sets.mat", {name: np.array([[1]], "uint16") for name in ("trnid", "valid", "tstid")})
        >>> flowers = paddle.vision.datasets.Flowers("flowers.tgz", "labels.mat", "sets.mat")
        >>> image, kind = flowers[0]
        >>> len(flowers), image.size, kind.tolist()
        (1, (6, 5), [7])
    """

    indexes: Any
    labels: Any

    def __init__(
        self,
        data_file: str | None = None,
        label_file: str | None = None,
        setid_file: str | None = None,
        mode: str = "train",
        transform: Callable[..., Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        flag = MODE_FLAG_MAP[mode_of("Flowers", mode, ("train", "valid", "test"))]
        self.backend: str = backend_of("Flowers", backend)
        data_file = file_of("Flowers", "data_file", data_file, DATA_URL, DATA_MD5, "flowers", download)
        label_file = file_of("Flowers", "label_file", label_file, LABEL_URL, LABEL_MD5, "flowers", download)
        setid_file = file_of("Flowers", "setid_file", setid_file, SETID_URL, SETID_MD5, "flowers", download)
        self.transform = transform
        # The archive is unpacked once, into a folder beside it.
        if str(data_file).endswith(".tgz"):
            self.data_path = str(data_file).replace(".tgz", "/")
        else:
            self.data_path: str = f"{data_file}.d/"
        if not Path(self.data_path).is_dir():
            self._unpack(data_file)
        self.labels, self.indexes = labels_in(label_file, setid_file, flag)

    def _unpack(self, data_file: str) -> None:
        try:
            with tarfile.open(data_file) as archive:
                archive.extractall(self.data_path, filter="data")
        except tarfile.FilterError as error:
            raise ValueError(
                f"Flowers: data_file: {data_file} holds a member that would be written outside "
                f"its folder: {error}"
            ) from error

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        index = self.indexes[idx]
        image = pillow().open(Path(self.data_path) / "jpg" / f"image_{index:05d}.jpg")
        if not (self.backend == "pil"):
            image = np.array(image)
        if self.transform is not None:
            image = self.transform(image)
        # Numbers of images begin at 1.
        label = np.array([self.labels[index - 1]]).astype(np.int64)
        if self.backend == "pil":
            return (image, label)
        return (image.astype("float32"), label)

    def __len__(self) -> int:
        return len(self.indexes)
