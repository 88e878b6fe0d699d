"""Transforms of Tensors [C, H, W] or [N, C, H, W]; with data_format "HWC" or "NHWC" the
channels come last."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax import nn
from paddle_jax.nn import functional as F
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.joining import concat, split, stack
from paddle_jax.tensor.search import where
from paddle_jax.vision.transforms.geometry import affine_matrix
from paddle_jax.vision.transforms.pixels import scaled
from paddle_jax.vision.transforms.sizes import corner, four, resized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import Size
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []

_GREY = (0.2989, 0.587, 0.114)  # shares of red, green and blue


def _axes(data_format: str) -> tuple[int, int, int]:
    """(channels, height, width) as axes from the end."""
    if data_format.endswith("CHW"):
        return (-3, -2, -1)
    return (-1, -3, -2)


def _size(img: Tensor, data_format: str) -> tuple[int, int]:
    _, h, w = _axes(data_format)
    return img.shape[h], img.shape[w]


def _is_float(img: Tensor) -> bool:
    return img.is_floating_point()


def _assert_image_tensor(img: Any, data_format: str) -> None:
    if img.ndim not in (3, 4) or data_format.upper().lstrip("N") not in ("CHW", "HWC"):
        raise RuntimeError(
            f"transforms: img: got shape {list(img.shape)} with data_format {data_format!r}; "
            "it must have 3 or 4 axes, CHW or HWC"
        )


def normalize(img: Tensor, mean: Any, std: Any, data_format: str = "CHW") -> Tensor:
    """(img - mean) / std for each channel."""
    _assert_image_tensor(img, data_format)
    shape = [-1, 1, 1] if _axes(data_format)[0] == -3 else [-1]
    if (made := scaled(img, mean, std, shape)) is not None:
        return made
    mean, std = (v if hasattr(v, "stop_gradient") else to_tensor(v, dtype=img.dtype) for v in (mean, std))
    return (img - mean.reshape(shape)) / std.reshape(shape)


def to_grayscale(img: Tensor, num_output_channels: int = 1, data_format: str = "CHW") -> Tensor:
    """The images in grey, with one channel or three."""
    _assert_image_tensor(img, data_format)
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels: got {num_output_channels}; allowed are 1 and 3")
    channels = _axes(data_format)[0]
    weights = to_tensor(np.array(_GREY), dtype=img.dtype if _is_float(img) else "float32").reshape(
        [-1, 1, 1] if channels == -3 else [1, 1, -1]
    )
    grey = (img.astype(weights.dtype) * weights).sum(channels, keepdim=True).astype(img.dtype)
    if num_output_channels == 1:
        return grey
    return concat([grey] * 3, channels)


def _sampled(img: Tensor, grid: np.ndarray, mode: str, fill: Any, data_format: str) -> Tensor:
    """The images read at the places of a grid [h, w, 2] between -1 and 1; outside they are filled."""
    last = _axes(data_format)[0] == -1
    batched = img.ndim == 4
    x = img if batched else img.unsqueeze(0)
    if last:
        x = x.transpose([0, 3, 1, 2])
    if not _is_float(img):
        x = x.astype("float32")
    places = to_tensor(grid, dtype=x.dtype).unsqueeze(0).expand([x.shape[0], *grid.shape])
    if fill is not None:
        # A channel of ones: what is read of it says how much of a place lies inside.
        x = concat([x, (x[:, :1] * 0 + 1)], 1)
    y = F.grid_sample(x, places, mode, "zeros", False)
    if fill is not None:
        y, inside = y[:, :-1], y[:, -1:]
        color = to_tensor(
            np.array(fill if isinstance(fill, list | tuple) else [fill], np.float64), dtype=x.dtype
        ).reshape([1, -1, 1, 1])
        if mode == "nearest":
            # The nearest pixel is inside or not; nothing is mixed.
            y = (inside < 0.5).astype(x.dtype) * (color - y) + y
        else:
            y = y * inside + (1.0 - inside) * color
    if not _is_float(img):
        # The conversion to integers would cut the fraction off.
        y = y.round().astype(img.dtype)
    if last:
        y = y.transpose([0, 2, 3, 1])
    if batched:
        return y
    return y.squeeze(0)


def _centres(n: int) -> np.ndarray:
    """Places of n pixels about their middle."""
    return np.arange(n) - (n - 1) / 2


def _affine_grid(
    matrix: Sequence[float] | np.ndarray, height: int, width: int, rows: int, columns: int
) -> np.ndarray:
    """Where an affine map about the middle takes rows x columns pixels, in parts of half the
    height and width."""
    matrix = np.array(matrix, np.float64).reshape(2, 3)
    x, y = np.meshgrid(_centres(columns), _centres(rows))
    return np.stack([x, y, np.ones_like(x)], -1) @ (matrix.T / [width / 2, height / 2])


def affine(
    img: Tensor,
    matrix: Sequence[float],
    interpolation: str = "nearest",
    fill: Any = None,
    data_format: str = "CHW",
) -> Tensor:
    """The images moved by a matrix of six numbers about their middle that leads from places of the result to
    places of the image."""
    height, width = _size(img, data_format)
    return _sampled(img, _affine_grid(matrix, height, width, height, width), interpolation, fill, data_format)


def rotate(
    img: Tensor,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Any = None,
    fill: Any = None,
    data_format: str = "CHW",
) -> Tensor:
    """The images turned counterclockwise by an angle in degrees."""
    height, width = _size(img, data_format)
    if center is None:
        middle = [0.0, 0.0]
    else:
        middle = [c - s * 0.5 for c, s in zip(center, (width, height), strict=True)]
    matrix = affine_matrix(middle, -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    rows = height
    columns = width
    if expand:
        corners = np.array(
            [
                [-width / 2, -height / 2, 1],
                [-width / 2, height / 2, 1],
                [width / 2, height / 2, 1],
                [width / 2, -height / 2, 1],
            ]
        )
        moved = corners @ np.array(matrix).reshape(2, 3).T
        # A corner that rounding puts just beyond a pixel must not add one.
        low = np.floor(moved.min(0) + 1e-6)
        high = np.ceil(moved.max(0) - 1e-6)
        columns, rows = (high - low).astype(int)
    return _sampled(img, _affine_grid(matrix, height, width, rows, columns), interpolation, fill, data_format)


def perspective(
    img: Tensor,
    coeffs: Sequence[float],
    interpolation: str = "nearest",
    fill: Any = None,
    data_format: str = "CHW",
) -> Tensor:
    """The images under a projective map of eight numbers that leads from places of the result to
    places of the image."""
    height, width = _size(img, data_format)
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    points = np.stack([x, y, np.ones_like(x)], -1)
    # In parts of half the image from its middle, as `grid_sample` counts.
    above = points @ (np.array(coeffs[:6]).reshape(2, 3).T / [width / 2, height / 2])
    below = points @ np.array([coeffs[6], coeffs[7], 1.0])
    return _sampled(img, above / below[..., None] - 1, interpolation, fill, data_format)


def vflip(img: Tensor, data_format: str = "CHW") -> Tensor:
    """The images upside down."""
    _assert_image_tensor(img, data_format)
    return img.flip([_axes(data_format)[1]])


def hflip(img: Tensor, data_format: str = "CHW") -> Tensor:
    """The images with left and right exchanged."""
    _assert_image_tensor(img, data_format)
    return img.flip([_axes(data_format)[2]])


def crop(img: Tensor, top: int, left: int, height: int, width: int, data_format: str = "CHW") -> Tensor:
    """A part of the images; what lies outside is left out."""
    _assert_image_tensor(img, data_format)
    if _axes(data_format)[0] == -3:
        return img[..., top : top + height, left : left + width]
    return img[..., top : top + height, left : left + width, :]


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """The images with a rectangle of given pixels."""
    _assert_image_tensor(img, "CHW")
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result


def center_crop(img: Tensor, output_size: Size, data_format: str = "CHW") -> Tensor:
    """The middle of the images."""
    _assert_image_tensor(img, data_format)
    top, left, height, width = corner(*_size(img, data_format), output_size)
    return crop(img, top, left, height, width, data_format)


def pad(
    img: Tensor, padding: Size, fill: Any = 0, padding_mode: str = "constant", data_format: str = "CHW"
) -> Tensor:
    """The images with a border."""
    _assert_image_tensor(img, data_format)
    left, top, right, bottom = four(padding)
    batched = img.ndim == 4
    last = _axes(data_format)[0] == -1
    if padding_mode == "symmetric":
        height, width = _size(img, data_format)
        # By numbers of rows and columns, as `F.pad` has no symmetric mode.
        rows = np.pad(np.arange(height), (top, bottom), mode=padding_mode)
        columns = np.pad(np.arange(width), (left, right), mode=padding_mode)
        h, w = (img.ndim + axis for axis in _axes(data_format)[1:])
        return img.index_select(to_tensor(rows), h).index_select(to_tensor(columns), w)
    x = img if batched else img.unsqueeze(0)
    mode = "replicate" if padding_mode == "edge" else padding_mode
    fill = float(fill)
    y = F.pad(x, [left, right, top, bottom], mode=mode, value=fill, data_format="NHWC" if last else "NCHW")
    if batched:
        return y
    return y.squeeze(0)


def resize(img: Tensor, size: Size, interpolation: str = "bilinear", data_format: str = "CHW") -> Tensor:
    """The images with another size."""
    _assert_image_tensor(img, data_format)
    height, width = _size(img, data_format)
    wanted = resized(height, width, size)
    if wanted == (height, width) and isinstance(size, int):
        return img
    x = img.unsqueeze(0) if img.ndim == 3 else img
    if not _is_float(img):
        x = x.astype("float32")
    y = F.interpolate(
        x,
        size=list(wanted),
        mode=interpolation.lower(),
        data_format="NHWC" if _axes(data_format)[0] == -1 else "NCHW",
    )
    return (y.squeeze(0) if img.ndim == 3 else y).astype(img.dtype)


def _blend_images(img1: Tensor, img2: Any, ratio: float) -> Tensor:
    """ratio parts of one image and 1 - ratio of the other, cut off at 0 and the largest value."""
    # Floats go up to 1, integers to 255.
    largest = 1.0 if _is_float(img1) else 255
    a, b = (img if _is_float(img) else img.astype("float32") for img in (img1, img2))
    return (a * ratio + b * (1.0 - ratio)).clip(0, largest).astype(img1.dtype)


def _check_factor(op_name: str, what: str, value: float) -> None:
    if value < 0:
        raise AssertionError(f"{op_name}: {what}: got {value}; it must not be negative")


def adjust_brightness(img: Tensor, brightness_factor: float) -> Tensor:
    """The images brighter (above 1) or darker."""
    _assert_image_tensor(img, "CHW")
    _check_factor("adjust_brightness", "brightness_factor", brightness_factor)
    return _blend_images(img, img * 0, brightness_factor)


def adjust_contrast(img: Tensor, contrast_factor: float) -> Tensor:
    """The images with more (above 1) or less contrast."""
    _assert_image_tensor(img, "CHW")
    _check_factor("adjust_contrast", "contrast_factor", contrast_factor)
    grey = to_grayscale(img) if img.shape[-3] == 3 else img
    mean = (grey if _is_float(grey) else grey.astype("float32")).mean([-3, -2, -1], keepdim=True)
    return _blend_images(img, mean, contrast_factor)


def adjust_saturation(img: Tensor, saturation_factor: float) -> Tensor:
    """The images with stronger (above 1) or weaker colours."""
    _assert_image_tensor(img, "CHW")
    _check_factor("adjust_saturation", "saturation_factor", saturation_factor)
    return _blend_images(img, to_grayscale(img), saturation_factor)


def _rgb_to_hsv(img: Tensor) -> Tensor:
    """Hue, saturation and value, each from 0 to 1, of images with red, green and blue from 0 to 1."""
    largest = img.max(-3)
    spread = img.max(-3) - img.min(-3)
    red, green, blue = (c.squeeze(-3) for c in split(img, 3, -3))
    flat = spread == 0
    # Grey has no hue; the divisor must not be 0.
    safe = spread + flat.astype(img.dtype)
    hue = nn.functional.relu((largest == red).astype(img.dtype)) * ((green - blue) / safe)
    # Where two colours are largest the first one counts.
    of_green = ((largest == green) & (largest != red)).astype(img.dtype)
    of_blue = ((largest != green) & (largest != red)).astype(img.dtype)
    hue = (hue + of_green * ((blue - red) / safe + 2.0) + of_blue * ((red - green) / safe + 4.0)) / 6.0 + 1.0
    saturation = spread / (largest + (largest == 0).astype(img.dtype))
    return stack([hue - hue.floor(), saturation, largest], -3)


def _hsv_to_rgb(img: Tensor) -> Tensor:
    """The reverse of `_rgb_to_hsv`: each colour is value (1 - saturation * t), where t is 0 or 1 or changes
    evenly over a sixth of the circle."""
    hue, saturation, value = (c.squeeze(-3) for c in split(img, 3, -3))
    sixth = (hue * 6.0).floor()
    rising = hue * 6.0 - sixth
    sixth = sixth.astype("int32")
    colors = []
    for start in (1, 3, 5):  # the sixth over which t of red, green and blue rises
        away = (sixth - start) % 6
        # After its rise t stays at 1 for two sixths, falls in one, and stays at 0 for two.
        share = where(away == 0, rising, where(away == 3, 1.0 - rising, (away < 3).astype(img.dtype)))
        colors.append((value * (1.0 - saturation * share)).clip(0.0, 1.0))
    return stack(colors, -3)


def adjust_hue(img: Tensor, hue_factor: float) -> Tensor:
    """The images with their colours moved round the colour circle, by a part of it from -0.5 to 0.5."""
    _assert_image_tensor(img, "CHW")
    if not isinstance(hue_factor, numbers.Number) or not -0.5 <= hue_factor <= 0.5 or math.isnan(hue_factor):
        raise AssertionError(f"adjust_hue: hue_factor: got {hue_factor}; it must lie between -0.5 and 0.5")
    # Grey has no hue.
    if img.shape[-3] == 1:
        return img
    x = img if _is_float(img) else img.astype("float32") / 255.0
    hue, saturation, value = split(_rgb_to_hsv(x), 3, -3)
    hue = hue + hue_factor
    # On a circle only the fraction counts.
    y = _hsv_to_rgb(concat([hue - hue.floor(), saturation, value], -3))
    if _is_float(img):
        return y
    return (y * 255.0).astype(img.dtype)
