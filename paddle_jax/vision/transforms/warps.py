"""Random maps and rectangles."""

from __future__ import annotations

import math
import numbers
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.random import standard_normal
from paddle_jax.vision.transforms import functional as F
from paddle_jax.vision.transforms.base import BaseTransform, _get_image_size

if TYPE_CHECKING:
    from collections.abc import Sequence


def _check_sequence_input(x: Any, name: str | None, req_sizes: Sequence[int]) -> None:
    """Raises unless x is a list of one of the given lengths."""
    if not isinstance(x, list | tuple) or len(x) not in req_sizes:
        raise ValueError(
            f"{name}: got {x!r}; it must be a list of {' or '.join(map(str, req_sizes))} numbers"
        )


def _setup_angle(x: Any, name: str | None, req_sizes: Sequence[int] = (2,)) -> list[float]:
    """Angles as floats; a single number stands for minus it to plus it."""
    if isinstance(x, numbers.Number):
        if x < 0:
            raise ValueError(f"{name}: got {x}; a single number must not be negative")
        return [-float(x), float(x)]
    _check_sequence_input(x, name, req_sizes)
    return [float(d) for d in x]


class RandomAffine(BaseTransform):
    """Turns, moves, scales and shears images randomly: see `affine`.

    Args:
        degrees: number (the angle lies between -degrees and degrees) or (least, most).
        translate: (along x, along y), largest moves in parts of width and height. Default None: none.
        scale: (least, most). Default None: no scaling.
        shear: number, (least, most) along x, or four numbers for x and y, degrees. Default None: none.
        interpolation, fill, center: see `affine`.
        keys: see BaseTransform.
    Attributes:
        interpolation, translate, scale, fill, center: as given.
        degrees: tuple of two numbers, the range of angles.
        shear: tuple of numbers, the ranges of shears, or None.
    Raises:
        ValueError: numbers are out of range.
    Example:
        >>> paddle.vision.transforms.RandomAffine(30, (0.1, 0.1), (0.5, 2.0),
        ...                                       10)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 8, 9])
    """

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Any = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        self.degrees: list[float] = _setup_angle(degrees, "RandomAffine: degrees")
        super().__init__(keys)
        if translate is not None:
            _check_sequence_input(translate, "RandomAffine: translate", (2,))
            if not all(0.0 <= part <= 1.0 for part in translate):
                raise ValueError(
                    f"RandomAffine: translate: got {translate}; each number must lie between 0 and 1"
                )
        if scale is not None:
            _check_sequence_input(scale, "RandomAffine: scale", (2,))
            if min(scale) <= 0:
                raise ValueError(f"RandomAffine: scale: got {scale}; the numbers must be positive")
        if shear is None:
            self.shear = None
        else:
            self.shear: list[float] | None = _setup_angle(shear, "RandomAffine: shear", (2, 4))
        if center is not None:
            _check_sequence_input(center, "RandomAffine: center", (2,))
        if not isinstance(fill, numbers.Number | str | list | tuple):
            raise TypeError(f"RandomAffine: fill: got {fill!r}; it must be a number or a list")
        self.interpolation = interpolation
        self.translate = translate
        self.scale = scale
        self.fill = fill
        self.center = center

    def _get_param(
        self,
        img_size: Sequence[int],
        degrees: Sequence[float],
        translate: Any = None,
        scale_ranges: Sequence[float] | None = None,
        shears: Sequence[float] | None = None,
    ) -> tuple[Any, ...]:
        angle = random.uniform(*degrees)
        moves = (0, 0)
        scale = 1.0
        shear = (0.0, 0.0)
        if translate is not None:
            reach = [part * size for part, size in zip(translate, img_size, strict=True)]
            # Moves are whole pixels.
            moves = tuple(int(random.uniform(-r, r)) for r in reach)
        if scale_ranges is not None:
            scale = random.uniform(*scale_ranges)
        if shears is not None:
            shear = (random.uniform(*shears[:2]), random.uniform(*shears[2:]) if len(shears) == 4 else 0.0)
        return angle, moves, scale, shear

    def _apply_image(self, img: Any) -> Any:
        drawn = self._get_param(_get_image_size(img), self.degrees, self.translate, self.scale, self.shear)
        return F.affine(img, *drawn, self.interpolation, self.fill, self.center)


class RandomRotation(BaseTransform):
    """Turns images by random angles: see `rotate`.

    Args:
        degrees: number (the angle lies between -degrees and degrees) or (least, most).
        interpolation, expand, center, fill: see `rotate`.
        keys: see BaseTransform.
    Raises:
        ValueError: degrees is negative, or not a pair.
    Example:
        >>> paddle.vision.transforms.RandomRotation(30)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 8, 9])
    """

    def __init__(
        self,
        degrees: Any,
        interpolation: str = "nearest",
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        if isinstance(degrees, numbers.Number):
            if degrees < 0:
                raise ValueError(
                    f"RandomRotation: degrees: got {degrees}; a single number must not be negative"
                )
            degrees = (-degrees, degrees)
        elif len(degrees) != 2:
            raise ValueError(f"RandomRotation: degrees: got {len(degrees)} numbers; there must be one or two")
        self.degrees = degrees
        super().__init__(keys)
        self.interpolation = interpolation
        self.expand = expand
        self.center = center
        self.fill = fill

    def _get_param(self, degrees: Sequence[float]) -> float:
        return random.uniform(*degrees)

    def _apply_image(self, img: Any) -> Any:
        return F.rotate(
            img, self._get_param(self.degrees), self.interpolation, self.expand, self.center, self.fill
        )


class RandomPerspective(BaseTransform):
    """Looks at images from a random side, with a probability: see `perspective`.

    Args:
        prob: float. Default 0.5.
        distortion_scale: float from 0 to 1, how far corners may move, in parts of half the height and
            width. Default 0.5.
        interpolation, fill: see `perspective`.
        keys: see BaseTransform.
    Raises:
        AssertionError: prob or distortion_scale is out of range.
    Example:
        >>> paddle.vision.transforms.RandomPerspective(1.0)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 8, 9])
    """

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        for what, value in (("prob", prob), ("distortion_scale", distortion_scale)):
            if not 0 <= value <= 1:
                raise AssertionError(f"RandomPerspective: {what}: got {value}; it must lie between 0 and 1")
        if interpolation not in ("nearest", "bilinear", "bicubic"):
            raise AssertionError(
                f"RandomPerspective: interpolation: got {interpolation!r}; "
                "allowed are 'nearest', 'bilinear' and 'bicubic'"
            )
        if not isinstance(fill, numbers.Number | str | list | tuple):
            raise AssertionError(f"RandomPerspective: fill: got {fill!r}; it must be a number or a list")
        self.prob = prob
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill

    def get_params(
        self, width: int, height: int, distortion_scale: float
    ) -> tuple[list[list[int]], list[list[int]]]:
        """The four corners of an image and where they go at random: two lists of [x, y]."""
        # A corner moves inwards by at most this share of half the image.
        across = int(distortion_scale * (width // 2))
        down = int(distortion_scale * (height // 2))
        ends = []
        # Upper left, upper right, lower right, lower left.
        for right, bottom in ((False, False), (True, False), (True, True), (False, True)):
            if right:
                x = random.uniform(width - across - 1, width)
            else:
                x = random.uniform(0, across + 1)
            if bottom:
                y = random.uniform(height - down - 1, height)
            else:
                y = random.uniform(0, down + 1)
            ends.append([int(x), int(y)])
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def _apply_image(self, img: Any) -> Any:
        width, height = _get_image_size(img)
        if random.random() >= self.prob:
            return img
        return F.perspective(
            img, *self.get_params(width, height, self.distortion_scale), self.interpolation, self.fill
        )


class RandomErasing(BaseTransform):
    """Fills a random rectangle of each image, with a probability.

    Args:
        prob: float. Default 0.5.
        scale: (least, most) part of the area. Default (0.02, 0.33).
        ratio: (least, most) width by height. Default (0.3, 3.3).
        value: number or list of one per channel, or "random". Default 0.
        inplace: bool, change the image itself. Default False.
        keys: see BaseTransform.
    Raises:
        AssertionError: prob, scale or ratio are out of range.
        ValueError: another text as value, or a list that does not fit the channels.
    Example:
        >>> paddle.vision.transforms.RandomErasing(1.0)(paddle.ones([3, 8, 9])).shape
        paddle.Size([3, 8, 9])
    See:
        Zhong et al., arXiv 1708.04896.
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Any = (0.02, 0.33),
        ratio: Any = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        for what, limits, most in (("scale", scale, 1), ("ratio", ratio, float("inf"))):
            if not isinstance(limits, list | tuple) or not 0 <= limits[0] <= limits[1] <= most:
                raise AssertionError(
                    f"RandomErasing: {what}: got {limits!r}; it must be (least, most) between 0 and {most}"
                )
        if not 0 <= prob <= 1:
            raise AssertionError(f"RandomErasing: prob: got {prob}; it must lie between 0 and 1")
        if not isinstance(value, numbers.Number | str | list | tuple):
            raise AssertionError(
                f"RandomErasing: value: got {value!r}; it must be a number, a list or 'random'"
            )
        if isinstance(value, str) and value != "random":
            raise ValueError(f"RandomErasing: value: got {value!r}; the only text allowed is 'random'")
        self.prob = prob
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    def _get_param(self, img: Any) -> tuple[Any, ...]:
        """(row, column, height, width, value) of the rectangle; the whole image as it is
        where none was found."""
        is_tensor = F._is_tensor_image(img)
        (width, height), shape = (
            _get_image_size(img),
            img.shape if not F._is_pil_image(img) else np.asarray(img).shape,
        )
        if is_tensor:
            channels = shape[-3]
        elif len(shape) == 3:
            channels = shape[2]
        else:
            channels = 1
        if isinstance(self.value, list | tuple) and len(self.value) not in (1, channels):
            raise ValueError(
                f"RandomErasing: value: got {len(self.value)} numbers; "
                f"there must be one, or one for each of the {channels} channels"
            )
        for _ in range(10):
            area = np.random.uniform(*self.scale) * height * width  # noqa: NPY002
            ratio = math.exp(np.random.uniform(*(math.log(r) for r in self.ratio)))  # noqa: NPY002
            h = round(math.sqrt(area * ratio))
            w = round(math.sqrt(area / ratio))
            # A rectangle as large as the image is drawn again.
            if h < height and w < width:
                value = self._pixels(img, (h, w, channels), is_tensor)
                return np.random.randint(0, height - h + 1), np.random.randint(0, width - w + 1), h, w, value  # noqa: NPY002
        # Ten tries have not fitted: the image stays as it is.
        return 0, 0, height, width, img

    def _pixels(self, img: Any, shape: Sequence[int], is_tensor: bool) -> Any:
        """What fills the rectangle [h, w, C]."""
        if self.value == "random" and is_tensor:
            return standard_normal([shape[2], *shape[:2]]).astype(img.dtype)
        if self.value == "random":
            value = (np.random.normal(size=shape) * 255).astype(np.int64).astype(np.uint8)  # noqa: NPY002
            # A grey image has no axis of channels.
            if np.ndim(img) == 2:
                return value[..., 0]
            return value
        if is_tensor and isinstance(self.value, list | tuple):
            return to_tensor(np.array(self.value, np.float64).reshape(-1, 1, 1), dtype=img.dtype)
        return self.value

    def _apply_image(self, img: Any) -> Any:
        if random.random() >= self.prob:
            return img
        top, left, height, width, value = self._get_param(img)
        # That is how `_get_param` says that no rectangle has fitted.
        if value is img:
            return img
        return F.erase(img, top, left, height, width, value, self.inplace)
