"""Transforms of NumPy arrays [H, W, C] or [H, W]. What interpolates or changes colour spaces needs opencv."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.tensor.creation import to_tensor as make_tensor
from paddle_jax.vision.image import opencv
from paddle_jax.vision.transforms.pixels import eight_bit
from paddle_jax.vision.transforms.sizes import corner, four, resized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import Size
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []

_FILTERS = {
    "nearest": "INTER_NEAREST",
    "bilinear": "INTER_LINEAR",
    "area": "INTER_AREA",
    "bicubic": "INTER_CUBIC",
    "lanczos": "INTER_LANCZOS4",
}


def _filter(name: str) -> int:
    if name not in _FILTERS:
        raise KeyError(f"interpolation: got {name!r}; allowed are {', '.join(_FILTERS)}")
    return getattr(opencv(), _FILTERS[name])


def _like(result: np.ndarray, img: np.ndarray) -> np.ndarray:
    """The result with the axis of one channel, which opencv drops."""
    if result.ndim == 2 and img.ndim == 3:
        return result[:, :, None]
    return result


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """Tensor [C, H, W] or [H, W, C] of an array; 8-bit pixels become floats from 0 to 1."""
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"to_tensor: data_format: got {data_format!r}; allowed are 'CHW' and 'HWC'")
    pixels = pic[:, :, None] if pic.ndim == 2 else pic
    if data_format == "CHW":
        pixels = pixels.transpose(2, 0, 1)
    if pixels.dtype == np.uint8:
        return eight_bit(pixels)
    return make_tensor(np.ascontiguousarray(pixels))


def resize(img: np.ndarray, size: Size, interpolation: str = "bilinear") -> np.ndarray:
    """The image with another size."""
    height, width = img.shape[:2]
    wanted = resized(height, width, size)
    if wanted == (height, width) and isinstance(size, int):
        return img
    return _like(opencv().resize(img, dsize=tuple(wanted[::-1]), interpolation=_filter(interpolation)), img)


def pad(img: np.ndarray, padding: Size, fill: Any = 0, padding_mode: str = "constant") -> np.ndarray:
    """The image with a border."""
    left, top, right, bottom = four(padding)
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (img.ndim - 2)
    if padding_mode != "constant":
        return np.pad(img, widths, mode=padding_mode)
    result = np.empty((img.shape[0] + top + bottom, img.shape[1] + left + right, *img.shape[2:]), img.dtype)
    # a number is for the first channel, as opencv has it
    single = img.ndim == 3 and not isinstance(fill, list | tuple)
    result[...] = [fill] + [0] * (img.shape[2] - 1) if single else fill
    result[top : top + img.shape[0], left : left + img.shape[1]] = img
    return result


def crop(img: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    """A part of the image; what lies outside is left out."""
    return img[top : top + height, left : left + width]


def center_crop(img: np.ndarray, output_size: Size) -> np.ndarray:
    """The middle of the image."""
    top, left, height, width = corner(*img.shape[:2], output_size)
    return crop(img, top, left, height, width)


def hflip(img: np.ndarray) -> np.ndarray:
    """The image with left and right exchanged."""
    # Opencv takes no views with negative strides.
    return np.ascontiguousarray(img[:, ::-1])


def vflip(img: np.ndarray) -> np.ndarray:
    """The image upside down."""
    return np.ascontiguousarray(img[::-1])


def _looked_up(img: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The image with each pixel replaced by what stands in a table of 256 values, which are cut
    off at 0 and 255."""
    return values.clip(0, 255).astype(np.uint8)[img.astype(np.uint8)]


def adjust_brightness(img: np.ndarray, brightness_factor: float) -> np.ndarray:
    """The image brighter (above 1) or darker."""
    return _looked_up(img, np.arange(256) * brightness_factor)


def adjust_contrast(img: np.ndarray, contrast_factor: float) -> np.ndarray:
    """The image with more (above 1) or less contrast about the grey of value 74, as in Paddle."""
    return _looked_up(img, (np.arange(256) - 74) * contrast_factor + 74)


def adjust_saturation(img: np.ndarray, saturation_factor: float) -> np.ndarray:
    """The image, in the order blue, green, red, with stronger (above 1) or weaker colours."""
    cv2 = opencv()
    grey = cv2.cvtColor(cv2.cvtColor(img, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR).astype(np.float32)
    mixed = img.astype(np.float32) * saturation_factor + grey * (1 - saturation_factor)
    return mixed.clip(0, 255).astype(img.dtype)


def adjust_hue(img: np.ndarray, hue_factor: float) -> np.ndarray:
    """The image, in the order blue, green, red, with its colours moved round the colour circle, by a part of
    it from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: hue_factor: got {hue_factor}; it must lie between -0.5 and 0.5")
    cv2 = opencv()
    dtype = img.dtype
    hsv = cv2.cvtColor(img.astype(np.uint8), cv2.COLOR_BGR2HSV_FULL)
    hsv[..., 0] += np.int64(hue_factor * 255).astype(np.uint8)  # goes round at 256
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR_FULL).astype(dtype)


def affine(
    img: np.ndarray,
    angle: float,
    translate: Any,
    scale: Any,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Any = None,
) -> np.ndarray:
    """The image turned counterclockwise about its upper left corner, sheared, scaled and moved; `center` does
    not count, as in Paddle."""
    turn, (shear_x, shear_y) = math.radians(angle), (math.tan(math.radians(s)) for s in shear)
    turned = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    linear = scale * np.array([[1, shear_y], [shear_x, 1]]) @ turned
    return _warped(img, np.column_stack([linear, translate]), img.shape[1::-1], interpolation, fill)


def _border(fill: Any) -> Any:
    if isinstance(fill, list | tuple):
        return tuple(fill)
    return fill


def _warped(
    img: np.ndarray, matrix: np.ndarray, size: Sequence[int], interpolation: str, fill: Any
) -> np.ndarray:
    cv2 = opencv()
    return _like(
        cv2.warpAffine(
            img,
            matrix,
            size,
            flags=_filter(interpolation),
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=_border(fill),
        ),
        img,
    )


def rotate(
    img: np.ndarray,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Any = None,
    fill: Any = 0,
) -> np.ndarray:
    """The image turned counterclockwise by an angle in degrees."""
    height, width = img.shape[:2]
    matrix = opencv().getRotationMatrix2D(
        (width / 2.0, height / 2.0) if center is None else tuple(center), angle, 1
    )
    if expand:
        corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]]) @ matrix.T
        # Rounded first, against a pixel more by an error of the last digit.
        columns, rows = (int(n) for n in np.ceil(corners.max(0).round(9)) - np.floor(corners.min(0).round(9)))
        # The middle of the image goes to the middle of the larger result.
        matrix[:, 2] += [(columns - width) * 0.5, (rows - height) * 0.5]
        width = columns
        height = rows
    return _warped(img, matrix, (width, height), interpolation, fill)


def perspective(
    img: np.ndarray,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "nearest",
    fill: Any = 0,
) -> np.ndarray:
    """The image under the projective map that takes four points to four others."""
    cv2, (height, width) = opencv(), img.shape[:2]
    matrix = cv2.getPerspectiveTransform(np.array(startpoints, np.float32), np.array(endpoints, np.float32))
    return _like(
        cv2.warpPerspective(
            img,
            matrix,
            (width, height),
            flags=_filter(interpolation),
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=_border(fill),
        ),
        img,
    )


def to_grayscale(img: np.ndarray, num_output_channels: int = 1) -> np.ndarray:
    """The image in grey, with one channel or three."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels: got {num_output_channels}; allowed are 1 and 3")
    return np.repeat(opencv().cvtColor(img, opencv().COLOR_RGB2GRAY)[:, :, None], num_output_channels, 2)


def normalize(
    img: np.ndarray, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False
) -> np.ndarray:
    """(img - mean) / std for each channel, in float32, that of a float64 image in float64."""
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    mean, std = (np.float32(np.array(v).reshape(shape)) for v in (mean, std))
    if to_rgb:
        # BGR has the channels the other way round.
        img = img[..., ::-1]
    img = np.asarray(img)
    return ((img if img.dtype == np.float64 else img.astype(np.float32)) - mean) / std


def erase(img: np.ndarray, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> np.ndarray:
    """The image with a rectangle of given pixels."""
    result = img if inplace else img.copy()
    result[i : i + h, j : j + w] = v
    return result
