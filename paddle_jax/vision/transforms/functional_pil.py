"""Transforms of images of pillow."""

import numpy as np

from paddle_jax.tensor.creation import to_tensor as make_tensor
from paddle_jax.vision.image import pillow
from paddle_jax.vision.transforms.pixels import eight_bit
from paddle_jax.vision.transforms.sizes import corner, four, resized

__all__ = []

_FILTERS = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")
_WIDE = {"I": np.int32, "I;16": np.int16, "F": np.float32}  # modes with more than 8 bits for a pixel


def _filter(name):
    if name not in _FILTERS:
        raise KeyError(f"interpolation: got {name!r}; allowed are {', '.join(_FILTERS)}")
    return getattr(pillow().Resampling, name.upper())


def to_tensor(pic, data_format="CHW"):
    """Tensor [C, H, W] or [H, W, C] of an Image; 8-bit pixels become floats from 0 to 1."""
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"to_tensor: data_format: got {data_format!r}; allowed are 'CHW' and 'HWC'")
    if pic.mode in _WIDE:
        pixels = np.array(pic, _WIDE[pic.mode])
    else:
        if pic.mode == "1":
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


def resize(img, size, interpolation="bilinear"):
    """The Image with another size."""
    width, height = img.size
    wanted = resized(height, width, size)
    if wanted == (height, width) and isinstance(size, int):
        return img
    return img.resize(wanted[::-1], _filter(interpolation))


def pad(img, padding, fill=0, padding_mode="constant"):
    """The Image with a border."""
    left, top, right, bottom = four(padding)
    if padding_mode == "constant":
        palette = img.getpalette() if img.mode == "P" else None
        image = pillow("PIL.ImageOps").expand(img, border=(left, top, right, bottom), fill=fill)
        if palette:
            image.putpalette(palette)
        return image
    pixels = np.asarray(img)
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (pixels.ndim - 2)
    image = pillow().fromarray(np.pad(pixels, widths, mode=padding_mode))
    if img.mode == "P":
        image.putpalette(img.getpalette())
    return image


def crop(img, top, left, height, width):
    """A part of the Image; black outside."""
    return img.crop((left, top, left + width, top + height))


def center_crop(img, output_size):
    """The middle of the Image."""
    width, height = img.size
    return crop(img, *corner(height, width, output_size))


def hflip(img):
    """The Image with left and right exchanged."""
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img):
    """The Image upside down."""
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img, brightness_factor):
    """The Image brighter (above 1) or darker."""
    return pillow("PIL.ImageEnhance").Brightness(img).enhance(brightness_factor)


def adjust_contrast(img, contrast_factor):
    """The Image with more (above 1) or less contrast."""
    return pillow("PIL.ImageEnhance").Contrast(img).enhance(contrast_factor)


def adjust_saturation(img, saturation_factor):
    """The Image with stronger (above 1) or weaker colours."""
    return pillow("PIL.ImageEnhance").Color(img).enhance(saturation_factor)


def adjust_hue(img, hue_factor):
    """The Image with its colours moved round the colour circle, by a part of it from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: hue_factor: got {hue_factor}; it must lie between -0.5 and 0.5")
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    moved = np.array(hue, np.uint8) + np.int64(hue_factor * 255).astype(np.uint8)  # goes round at 256
    return pillow().merge("HSV", (pillow().fromarray(moved), saturation, value)).convert(img.mode)


def affine(img, matrix, interpolation="nearest", fill=0):
    """The Image moved by a matrix of six numbers that leads from places of the result to
    places of the Image."""
    return img.transform(img.size, pillow().Transform.AFFINE, matrix, _filter(interpolation), fillcolor=fill)


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0):
    """The Image turned counterclockwise by an angle in degrees."""
    if isinstance(fill, int):
        if img.mode == "RGB":
            fill = (fill,) * 3
    return img.rotate(angle, _filter(interpolation), expand, center, fillcolor=fill)


def perspective(img, coeffs, interpolation="nearest", fill=0):
    """The Image under a projective map of eight numbers that leads from places of the result to
    places of the Image."""
    return img.transform(
        img.size, pillow().Transform.PERSPECTIVE, coeffs, _filter(interpolation), fillcolor=fill
    )


def to_grayscale(img, num_output_channels=1):
    """The Image in grey, with one channel or three."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels: got {num_output_channels}; allowed are 1 and 3")
    grey = img.convert("L")
    if num_output_channels == 1:
        return grey
    return pillow().merge("RGB", (grey,) * 3)


def erase(img, i, j, h, w, v, inplace=False):
    """The Image with a rectangle of given pixels; an Image is never changed in place."""
    pixels = np.array(img)
    pixels[i : i + h, j : j + w] = v
    return pillow().fromarray(pixels, img.mode)
