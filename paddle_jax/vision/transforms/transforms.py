"""Transforms of samples as objects: what a Dataset calls on each of its images.

Random ones draw from Python's `random` and from NumPy's global generator, as Paddle's do: seed those
to repeat a run.
"""

from __future__ import annotations

import math
import numbers
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.vision.transforms import functional as F
from paddle_jax.vision.transforms.base import BaseTransform, _get_image_size
from paddle_jax.vision.transforms.sizes import pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import Size

__all__ = []


class ToTensor(BaseTransform):
    """Images as Tensors: see `to_tensor`.

    Args:
        data_format: "CHW" or "HWC". Default "CHW".
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.ToTensor()(np.full([2, 3, 1], 255, "uint8")).shape
        paddle.Size([1, 2, 3])
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, img: Any) -> Any:
        return F.to_tensor(img, self.data_format)


class Resize(BaseTransform):
    """Images of another size: see `resize`.

    Args:
        size: (height, width), or an int for the shorter side.
        interpolation: see `resize`. Default "bilinear".
        keys: see BaseTransform.
    Raises:
        AssertionError: size is neither.
    Example:
        >>> paddle.vision.transforms.Resize(2)(paddle.ones([3, 4, 8])).shape
        paddle.Size([3, 2, 4])
    """

    def __init__(
        self, size: Size, interpolation: str = "bilinear", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        if not (isinstance(size, int) or isinstance(size, list | tuple) and len(size) == 2):
            raise AssertionError(f"Resize: size: got {size!r}; it must be an int or a pair")
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, img: Any) -> Any:
        return F.resize(img, self.size, self.interpolation)


class RandomResizedCrop(BaseTransform):
    """A random part of each image, resized.

    Args:
        size: int or (height, width) of the result.
        scale: (least, most) part of the area. Default (0.08, 1).
        ratio: (least, most) width by height of the part. Default (3 / 4, 4 / 3).
        interpolation: see `resize`. Default "bilinear".
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.RandomResizedCrop(5)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 5, 5])
    """

    def __init__(
        self,
        size: Size,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size: tuple[int, int] | Sequence[int] = (size, size) if isinstance(size, int) else size
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation

    def _get_param(self, image: Any, attempts: int = 10) -> tuple[int, int, int, int]:
        width, height = _get_image_size(image)
        for _ in range(attempts):
            area = np.random.uniform(*self.scale) * width * height  # noqa: NPY002
            # By its logarithm, so that wide and high parts are equally likely.
            ratio = math.exp(np.random.uniform(*(math.log(r) for r in self.ratio)))  # noqa: NPY002
            w = round(math.sqrt(area * ratio))
            h = round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        # No part has fitted: the largest one in the middle, of the nearest allowed ratio.
        ratio = width / height
        if ratio < min(self.ratio):
            w = width
            h = round(width / min(self.ratio))
        elif ratio > max(self.ratio):
            w = round(height * max(self.ratio))
            h = height
        else:
            w = width
            h = height
        return (height - h) // 2, (width - w) // 2, h, w

    def _apply_image(self, img: Any) -> Any:
        return F.resize(F.crop(img, *self._get_param(img)), self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of each image.

    Args:
        size: int or (height, width).
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.CenterCrop(2)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 2, 2])
    """

    def __init__(self, size: Size, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        if isinstance(size, numbers.Number):
            self.size = (int(size), int(size))
        else:
            self.size: tuple[int, int] = size

    def _apply_image(self, img: Any) -> Any:
        return F.center_crop(img, self.size)


class _Flip(BaseTransform):
    """Flips with a probability."""

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        if not 0 <= prob <= 1:
            raise AssertionError(f"{type(self).__name__}: prob: got {prob}; it must lie between 0 and 1")
        self.prob = prob

    def _apply_image(self, img: Any) -> Any:
        if random.random() < self.prob:
            return self._flip(img)
        return img


class RandomHorizontalFlip(_Flip):
    """Exchanges left and right with a probability.

    Args:
        prob: float. Default 0.5.
        keys: see BaseTransform.
    Raises:
        AssertionError: prob is no probability.
    Example:
        >>> paddle.vision.transforms.RandomHorizontalFlip(1.0)(paddle.arange(3).reshape([1, 1, 3])).tolist()
        [[[2, 1, 0]]]
    """

    _flip = staticmethod(F.hflip)


class RandomVerticalFlip(_Flip):
    """Turns images upside down with a probability.

    Args:
        prob: float. Default 0.5.
        keys: see BaseTransform.
    Raises:
        AssertionError: prob is no probability.
    Example:
        >>> paddle.vision.transforms.RandomVerticalFlip(1.0)(paddle.arange(3).reshape([1, 3, 1])).tolist()
        [[[2], [1], [0]]]
    """

    _flip = staticmethod(F.vflip)


class Normalize(BaseTransform):
    """(image - mean) / std for each channel: see `normalize`.

    Args:
        mean, std: number, or list of one per channel. Default 0 and 1.
        data_format: "CHW" or "HWC". Default "CHW".
        to_rgb: bool, exchange blue and red first. Default False.
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.Normalize(1.0, 2.0)(paddle.full([3, 1, 1], 5.0)).flatten().tolist()
        [2.0, 2.0, 2.0]
    """

    mean: Any
    std: Any

    def __init__(
        self,
        mean: Any = 0.0,
        std: Any = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.mean, self.std = ([v] * 3 if isinstance(v, numbers.Number) else v for v in (mean, std))
        self.data_format = data_format
        self.to_rgb = to_rgb

    def _apply_image(self, img: Any) -> Any:
        return F.normalize(img, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """Axes in another order.

    Args:
        order: tuple of axes. Default (2, 0, 1), which makes [C, H, W] of [H, W, C].
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.Transpose()(np.zeros([4, 5, 3])).shape
        (3, 4, 5)
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, img: Any) -> Any:
        if F._is_tensor_image(img):
            return img.transpose(self.order)
        pixels = np.asarray(img)
        # A grey image has no axis of channels.
        return (pixels[..., np.newaxis] if pixels.ndim == 2 else pixels).transpose(self.order)


class RandomCrop(BaseTransform):
    """A random part of each image.

    Args:
        size: int or (height, width).
        padding: border that is added first, see `pad`. Default None.
        pad_if_needed: bool, add a border to images that are too small. Default False.
        fill, padding_mode: see `pad`.
        keys: see BaseTransform.
    Raises:
        ValueError: the image is too small (when called).
    Example:
        >>> paddle.vision.transforms.RandomCrop(4)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 4, 4])
    """

    def __init__(
        self,
        size: Size,
        padding: Size | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size: tuple[int, ...] = pair(size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def _get_param(self, img: Any, output_size: Size) -> tuple[int, int, int, int]:
        width, height = _get_image_size(img)
        h, w = output_size
        if (height, width) == (h, w):
            return 0, 0, height, width
        return random.randint(0, height - h), random.randint(0, width - w), h, w

    def _apply_image(self, img: Any) -> Any:
        border = {"fill": self.fill, "padding_mode": self.padding_mode}
        if self.padding is not None:
            img = F.pad(img, self.padding, **border)
        width, height = _get_image_size(img)
        if self.pad_if_needed and width < self.size[1]:
            # On both sides, as Paddle does it: the image may become larger than needed.
            img = F.pad(img, (self.size[1] - width, 0), **border)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, (0, self.size[0] - height), **border)
        return F.crop(img, *self._get_param(img, self.size))


class Pad(BaseTransform):
    """Images with a border: see `pad`.

    Args:
        padding: int, (left and right, top and bottom) or (left, top, right, bottom).
        fill: number or colour. Default 0.
        padding_mode: "constant", "edge", "reflect" or "symmetric". Default "constant".
        keys: see BaseTransform.
    Raises:
        ValueError: padding has another length.
        AssertionError: another mode, or arguments of other types.
    Example:
        >>> paddle.vision.transforms.Pad(1)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 10, 11])
    """

    def __init__(
        self, padding: Size, fill: Any = 0, padding_mode: str = "constant", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise AssertionError(
                f"Pad: padding_mode: got {padding_mode!r}; allowed are 'constant', 'edge', "
                "'reflect' and 'symmetric'"
            )
        if not isinstance(padding, numbers.Number | list | tuple) or not isinstance(
            fill, numbers.Number | str | list | tuple
        ):
            raise AssertionError(
                f"Pad: got padding {padding!r} and fill {fill!r}; they must be numbers or lists"
            )
        if isinstance(padding, list | tuple) and len(padding) not in (2, 4):
            raise ValueError(f"Pad: padding: got {len(padding)} numbers; there must be one, two or four")
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def _apply_image(self, img: Any) -> Any:
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(BaseTransform):
    """Images in grey: see `to_grayscale`.

    Args:
        num_output_channels: 1 or 3. Default 1.
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.Grayscale()(paddle.ones([3, 8, 9])).shape
        paddle.Size([1, 8, 9])
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, img: Any) -> Any:
        return F.to_grayscale(img, self.num_output_channels)
