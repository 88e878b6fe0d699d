"""Images as arrays [H, W, C], blue first, as Paddle 1 prepared them; `paddle.vision.transforms` is
for new programs."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.text.datasets.source import members
from paddle_jax.vision.image import opencv

if TYPE_CHECKING:
    import types


__all__ = []


def batch_images_from_tar(
    data_file: str, dataset_name: str, img2label: dict[str, Any], num_per_batch: int = 1024
) -> str:
    """Gathers files of an archive into pickles, in a folder beside it.

    Args:
        data_file: str, the archive.
        dataset_name: str, begins the name of the folder in `{data_file}_batch`; the number of the
            process ends it.
        img2label: dict, labels of the wanted names in the archive.
        num_per_batch: int, how many files a pickle takes. Default 1024.
    Returns:
        str, the path of a text file with the paths of the pickles: dicts of lists "data", the contents as
        bytes, and "label". When the folder is there already, nothing is written.
    """
    folder = Path(f"{data_file}_batch") / f"{dataset_name}_{os.getpid()}"
    listed = f"{folder}.txt"
    # An earlier call of this process has written it.
    if folder.exists():
        return listed
    folder.mkdir(parents=True)
    data = []
    labels = []
    paths = []

    def write() -> None:
        paths.append(folder / f"batch_{len(paths)}")
        paths[-1].write_bytes(pickle.dumps({"label": labels, "data": data}, protocol=2))

    for name, content in members(data_file, img2label.__contains__):
        data.append(content)
        labels.append(img2label[name])
        if len(data) == num_per_batch:
            write()
            data = []
            labels = []
    if data:
        write()
    with Path(listed).open("a") as file:
        file.writelines(f"{path.absolute()}\n" for path in paths)
    return listed


def load_image_bytes(bytes: Any, is_color: bool = True) -> Any:
    """The image in the content of a file.

    Args:
        bytes: bytes.
        is_color: bool, blue, green and red; else grey. Default True.
    Returns:
        uint8 array [H, W, 3], or [H, W] for grey; None for what is no image.
    Raises:
        AssertionError: opencv is not installed.
    """
    return _opencv().imdecode(np.frombuffer(bytes, np.uint8), int(is_color))


def load_image(file: str, is_color: bool = True) -> Any:
    """The image in a file.

    Args:
        file: str, the path.
        is_color: bool, blue, green and red; else grey. Default True.
    Returns:
        uint8 array [H, W, 3], or [H, W] for grey; None where no image is.
    Raises:
        AssertionError: opencv is not installed.
    """
    return _opencv().imread(file, int(is_color))


def resize_short(im: Any, size: Any) -> Any:
    """The image [H, W, C] or [H, W] with a shorter side of `size` pixels and the same shape, by
    cubic interpolation.

    Raises:
        AssertionError: opencv is not installed.
    """
    cv2, (height, width) = _opencv(), im.shape[:2]
    if height > width:
        wanted = (size, size * height // width)
    else:
        wanted = (size * width // height, size)
    return cv2.resize(im, wanted, interpolation=cv2.INTER_CUBIC)


def to_chw(im: Any, order: Any = (2, 0, 1)) -> np.ndarray:
    """The image with its axes in another order.

    Raises:
        AssertionError: it has another number of axes.
    Example:
        >>> paddle.dataset.image.to_chw(np.zeros([4, 5, 3])).shape
        (3, 4, 5)
    """
    if im.ndim != len(order):
        raise AssertionError(
            f"to_chw: order: got {order} for an image of {im.ndim} axes; give one number for each"
        )
    return im.transpose(order)


def center_crop(im: Any, size: Any, is_color: bool = True) -> np.ndarray:
    """The middle of the image [H, W, C] (with `is_color`) or [H, W], `size` pixels high and wide.

    Example:
        >>> paddle.dataset.image.center_crop(np.arange(25).reshape(5, 5), 1, is_color=False)
        array([[12]])
    """
    height, width = im.shape[:2]
    return _cut(im, (height - size) // 2, (width - size) // 2, size, is_color)


def random_crop(im: Any, size: Any, is_color: bool = True) -> np.ndarray:
    """A part of the image [H, W, C] (with `is_color`) or [H, W], `size` pixels high and wide, where NumPy's
    random generator says.

    Raises:
        ValueError: the image is smaller.
    """
    height, width = im.shape[:2]
    return _cut(im, _drawn(height - size + 1), _drawn(width - size + 1), size, is_color)


def left_right_flip(im: Any, is_color: bool = True) -> np.ndarray:
    """The image [H, W, C] or [H, W] with left and right exchanged.

    Example:
        >>> paddle.dataset.image.left_right_flip(np.array([[1, 2, 3]]), is_color=False)
        array([[3, 2, 1]])
    """
    return im[:, ::-1]


def simple_transform(
    im: Any, resize_size: int, crop_size: int, is_train: bool, is_color: bool = True, mean: Any = None
) -> Any:
    """The image resized and cut out: for training anywhere, and flipped half of the time; else in the middle.

    Args:
        im: array [H, W, C] or [H, W].
        resize_size: int, the shorter side after resizing.
        crop_size: int, both sides after cutting.
        is_train: bool.
        is_color: bool, the image has an axis of colours. Default True.
        mean: what is subtracted: a list or array with a number for each colour, or an array of the shape of
            the result. Default None.
    Returns:
        float32 array [C, crop_size, crop_size], or [crop_size, crop_size].
    Raises:
        AssertionError: opencv is not installed, or mean has another number of axes.
    """
    im = resize_short(im, resize_size)
    if is_train:
        im = random_crop(im, crop_size, is_color)
        if _drawn(2) == 0:
            im = left_right_flip(im, is_color)
    else:
        im = center_crop(im, crop_size, is_color)
    im = (to_chw(im) if im.ndim == 3 else im).astype(np.float32)
    if mean is None:
        return im
    return im - _mean(mean, im, is_color)


def load_and_transform(
    filename: str, resize_size: Any, crop_size: Any, is_train: bool, is_color: bool = True, mean: Any = None
) -> Any:
    """The image in a file, as `load_image` reads it and `simple_transform` prepares it."""
    return simple_transform(load_image(filename, is_color), resize_size, crop_size, is_train, is_color, mean)


def _opencv() -> types.ModuleType:
    try:
        return opencv()
    except ImportError as error:
        raise AssertionError(str(error)) from error


def _drawn(stop: int) -> int:
    return np.random.randint(0, stop)  # noqa: NPY002 - the generator that programs for Paddle seed


def _cut(im: np.ndarray, top: int, left: int, size: int, is_color: bool) -> np.ndarray:
    part = slice(top, top + size), slice(left, left + size)
    if is_color:
        return im[(*part, slice(None))]
    return im[part]


def _mean(mean: Any, im: Any, is_color: Any) -> Any:
    mean = np.array(mean, np.float32)
    if mean.ndim == 1:
        if is_color:
            return mean[:, None, None]
        return mean
    if mean.ndim != im.ndim:
        raise AssertionError(
            f"simple_transform: mean: got {mean.ndim} axes for an image of {im.ndim}; "
            "give one number for each colour or each value"
        )
    return mean
