"""Transforms of images of pillow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.tensor.creation import to_tensor as make_tensor
from paddle_jax.vision.image import pillow
from paddle_jax.vision.transforms.pixels import eight_bit
from paddle_jax.vision.transforms.sizes import corner, four, resized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import Size
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []

_FILTERS = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")
_WIDE = {"I": np.int32, "I;16": np.int16, "F": np.float32}  # modes with more than 8 bits for a pixel


def _filter(name: str) -> Any:
    if name not in _FILTERS:
        raise KeyError(f"interpolation: got {name!r}; allowed are {', '.join(_FILTERS)}")
    return getattr(pillow().Resampling, name.upper())


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """Tensor [C, H, W] or [H, W, C] of an Image; 8-bit pixels become floats from 0 to 1."""
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"to_tensor: data_format: got {data_format!r}; allowed are 'CHW' and 'HWC'")
    if pic.mode in _WIDE:
        # Modes with more than 8 bits for a pixel keep their numbers.
        pixels = np.array(pic, _WIDE[pic.mode])
    else:
        if pic.mode == "1":
            # Black and white: pillow has bools.
            pixels = np.array(pic, np.uint8) * np.uint8(255)
        else:
            pixels = np.asarray(pic, np.uint8)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if data_format == "CHW":
        pixels = pixels.transpose(2, 0, 1)
    if pixels.dtype == np.uint8:
        return eight_bit(pixels)
    return make_tensor(np.ascontiguousarray(pixels))


def resize(img: Any, size: Size, interpolation: str = "bilinear") -> Any:
    """The Image with another size."""
    width, height = img.size
    wanted = resized(height, width, size)
    if wanted == (height, width) and isinstance(size, int):
        return img
    return img.resize(wanted[::-1], _filter(interpolation))


def pad(img: Any, padding: Size, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The Image with a border."""
    left, top, right, bottom = four(padding)
    if padding_mode == "constant":
        # The border drops the palette of a picture of indices.
        palette = img.getpalette() if img.mode == "P" else None
        image = pillow("PIL.ImageOps").expand(img, border=(left, top, right, bottom), fill=fill)
        if palette:
            image.putpalette(palette)
        return image
    # Pillow itself pads with constants alone.
    pixels = np.asarray(img)
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (pixels.ndim - 2)
    image = pillow().fromarray(np.pad(pixels, widths, mode=padding_mode))
    if img.mode == "P":
        image.putpalette(img.getpalette())
    return image


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of the Image; black outside."""
    return img.crop((left, top, left + width, top + height))


def center_crop(img: Any, output_size: Size) -> Any:
    """The middle of the Image."""
    width, height = img.size
    return crop(img, *corner(height, width, output_size))


def hflip(img: Any) -> Any:
    """The Image with left and right exchanged."""
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    """The Image upside down."""
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The Image brighter (above 1) or darker."""
    return pillow("PIL.ImageEnhance").Brightness(img).enhance(brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The Image with more (above 1) or less contrast."""
    return pillow("PIL.ImageEnhance").Contrast(img).enhance(contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """The Image with stronger (above 1) or weaker colours."""
    return pillow("PIL.ImageEnhance").Color(img).enhance(saturation_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The Image with its colours moved round the colour circle, by a part of it from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: hue_factor: got {hue_factor}; it must lie between -0.5 and 0.5")
    # Grey has no hue.
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    moved = np.array(hue, np.uint8) + np.int64(hue_factor * 255).astype(np.uint8)  # goes round at 256
    return pillow().merge("HSV", (pillow().fromarray(moved), saturation, value)).convert(img.mode)


def affine(img: Any, matrix: Sequence[float], interpolation: str = "nearest", fill: Any = 0) -> Any:
    """The Image moved by a matrix of six numbers that leads from places of the result to
    places of the Image."""
    return img.transform(img.size, pillow().Transform.AFFINE, matrix, _filter(interpolation), fillcolor=fill)


def rotate(
    img: Any,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Any = None,
    fill: Any = 0,
) -> Any:
    """The Image turned counterclockwise by an angle in degrees."""
    if isinstance(fill, int):
        # Pillow takes a single number for one channel alone.
        if img.mode == "RGB":
            fill = (fill,) * 3
    return img.rotate(angle, _filter(interpolation), expand, center, fillcolor=fill)


def perspective(img: Any, coeffs: Sequence[float], interpolation: str = "nearest", fill: Any = 0) -> Any:
    """The Image under a projective map of eight numbers that leads from places of the result to
    places of the Image."""
    return img.transform(
        img.size, pillow().Transform.PERSPECTIVE, coeffs, _filter(interpolation), fillcolor=fill
    )


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The Image in grey, with one channel or three."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels: got {num_output_channels}; allowed are 1 and 3")
    grey = img.convert("L")
    if num_output_channels == 1:
        return grey
    return pillow().merge("RGB", (grey,) * 3)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """The Image with a rectangle of given pixels; an Image is never changed in place."""
    pixels = np.array(img)
    pixels[i : i + h, j : j + w] = v
    return pillow().fromarray(pixels, img.mode)
