"""Transforms of one image: an Image of pillow, a NumPy array [H, W, C] or [H, W], or a Tensor [C, H, W]."""

from __future__ import annotations

import numbers
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.vision.transforms import functional_cv2 as F_cv2
from paddle_jax.vision.transforms import functional_pil as F_pil
from paddle_jax.vision.transforms import functional_tensor as F_t
from paddle_jax.vision.transforms.geometry import affine_matrix, perspective_coefficients

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from paddle_jax._annotations import Size

__all__ = []


def _is_pil_image(img: Any) -> bool:
    pil = sys.modules.get("PIL.Image")  # what is an Image of pillow has imported it
    return pil is not None and isinstance(img, pil.Image)


def _is_tensor_image(img: Any) -> bool:
    return isinstance(img, Tensor)


def _is_numpy_image(img: Any) -> bool:
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def _module(img: Any) -> ModuleType:
    """The functions for images of this kind."""
    if _is_pil_image(img):
        return F_pil
    if _is_tensor_image(img):
        return F_t
    if _is_numpy_image(img):
        return F_cv2
    raise TypeError(
        f"transforms: img: got {type(img).__name__}; it must be an Image of pillow, a Tensor, "
        "or an array with 2 or 3 axes"
    )


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """A Tensor of an image; 8-bit pixels become floats from 0 to 1.

    Args:
        pic: Image of pillow, array [H, W, C] or [H, W], or Tensor [C, H, W], which keeps its dtype.
        data_format: "CHW" or "HWC". Default "CHW".
    Returns:
        Tensor [C, H, W] or [H, W, C]: float32 for 8-bit images, else of the image's dtype.
    Raises:
        TypeError: pic is no image.
        ValueError: another data_format.
    Example:
        >>> paddle.vision.transforms.to_tensor(np.full([1, 2, 1], 51, "uint8")).tolist()
        [[[0.20000000298023224, 0.20000000298023224]]]
    """
    module = _module(pic)
    if module is F_t:
        if data_format == "HWC" and pic.ndim == 3:
            return pic.transpose([1, 2, 0])
        return pic
    return module.to_tensor(pic, data_format)


def resize(img: Any, size: Size, interpolation: str = "bilinear") -> Any:
    """The image with another size.

    Args:
        img: image.
        size: (height, width), or an int for the shorter side; the other one follows in proportion.
        interpolation: "nearest", "bilinear", "bicubic"; "lanczos" for pillow and opencv, "box" and "hamming"
            for pillow, "area" for opencv and Tensors. Default "bilinear".
    Returns:
        An image of the same kind.
    Raises:
        TypeError: img is no image, or size is neither.
        KeyError: another interpolation.
    Example:
        >>> paddle.vision.transforms.resize(paddle.ones([3, 4, 8]), 2).shape
        paddle.Size([3, 2, 4])
    """
    return _module(img).resize(img, size, interpolation)


def pad(img: Any, padding: Size, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The image with a border.

    Args:
        img: image.
        padding: int, (left and right, top and bottom) or (left, top, right, bottom), pixels.
        fill: number, or colour (not for Tensors), for the mode "constant". Default 0.
        padding_mode: "constant", "edge" (the outermost pixel), "reflect" (mirrored at it) or "symmetric"
            (mirrored with it). Default "constant".
    Returns:
        An image of the same kind.
    Raises:
        TypeError, ValueError: padding is not of these forms.
        AssertionError: another mode.
    Example:
        >>> paddle.vision.transforms.pad(paddle.ones([1, 1, 2]), (1, 0)).tolist()
        [[[0.0, 1.0, 1.0, 0.0]]]
    """
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise AssertionError(
            f"pad: padding_mode: got {padding_mode!r}; allowed are 'constant', 'edge', "
            "'reflect' and 'symmetric'"
        )
    return _module(img).pad(img, padding, fill, padding_mode)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of the image.

    Args:
        img: image.
        top, left: int, the first row and column.
        height, width: int, of the part. What lies outside is black in an Image, and left out of an
            array or Tensor.
    Returns:
        An image of the same kind.
    Example:
        >>> paddle.vision.transforms.crop(paddle.arange(6).reshape([1, 2, 3]), 0, 1, 2, 1).tolist()
        [[[1], [4]]]
    """
    return _module(img).crop(img, top, left, height, width)


def center_crop(img: Any, output_size: Size) -> Any:
    """The middle of the image.

    Args:
        img: image.
        output_size: int or (height, width).
    Returns:
        An image of the same kind.
    Example:
        >>> paddle.vision.transforms.center_crop(paddle.arange(9).reshape([1, 3, 3]), 1).tolist()
        [[[4]]]
    """
    return _module(img).center_crop(img, output_size)


def hflip(img: Any) -> Any:
    """The image with left and right exchanged.

    Args:
        img: image of pillow, array [H, W, C], or Tensor [..., H, W].
    Returns:
        The image, of the same kind.
    Example:
        >>> paddle.vision.transforms.hflip(paddle.arange(3).reshape([1, 1, 3])).tolist()
        [[[2, 1, 0]]]
    """
    return _module(img).hflip(img)


def vflip(img: Any) -> Any:
    """The image upside down.

    Args:
        img: image of pillow, array [H, W, C], or Tensor [..., H, W].
    Returns:
        The image, of the same kind.
    Example:
        >>> paddle.vision.transforms.vflip(paddle.arange(3).reshape([1, 3, 1])).tolist()
        [[[2], [1], [0]]]
    """
    return _module(img).vflip(img)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The image brighter or darker.

    Args:
        img: image; arrays are uint8.
        brightness_factor: float, 0 for black, 1 for no change.
    Returns:
        An image of the same kind.
    Raises:
        AssertionError: a negative factor for a Tensor.
    Example:
        >>> paddle.vision.transforms.adjust_brightness(paddle.full([1, 1, 2], 0.25), 2.0).tolist()
        [[[0.5, 0.5]]]
    """
    return _module(img).adjust_brightness(img, brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The image with more or less contrast.

    Args:
        img: image; arrays are uint8.
        contrast_factor: float, 0 for plain grey, 1 for no change.
    Returns:
        An image of the same kind.
    Example:
        >>> paddle.vision.transforms.adjust_contrast(paddle.to_tensor([[[0.25, 0.75]]]), 0.5).tolist()
        [[[0.375, 0.625]]]
    """
    return _module(img).adjust_contrast(img, contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """The image with stronger or weaker colours.

    Args:
        img: image of three channels; arrays are uint8.
        saturation_factor: float, 0 for grey, 1 for no change.
    Returns:
        An image of the same kind.
    """
    return _module(img).adjust_saturation(img, saturation_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The image with its colours moved round the colour circle.

    Args:
        img: image; arrays are uint8.
        hue_factor: float from -0.5 to 0.5, a part of the circle; 0 for no change.
    Returns:
        An image of the same kind.
    Raises:
        ValueError: the factor is out of range (AssertionError for a Tensor).
    Example:
        >>> red = paddle.to_tensor([1.0, 0.0, 0.0]).reshape([3, 1, 1])
        >>> [round(c, 2) for c in paddle.vision.transforms.adjust_hue(red, 0.5).flatten().tolist()]
        [0.0, 1.0, 1.0]
    """
    return _module(img).adjust_hue(img, hue_factor)


def _affine_arguments(angle: float, translate: Any, scale: Any, shear: Any) -> tuple[Any, ...]:
    """The angle, and translate and shear as pairs."""
    if not isinstance(angle, numbers.Number):
        raise TypeError(f"affine: angle: got {angle!r}; it must be a number")
    if not isinstance(translate, list | tuple):
        raise TypeError(f"affine: translate: got {translate!r}; it must be a pair")
    if len(translate) != 2:
        raise ValueError(f"affine: translate: got {len(translate)} numbers; there must be two")
    if scale <= 0:
        raise ValueError(f"affine: scale: got {scale}; it must be positive")
    if not isinstance(shear, numbers.Number | list | tuple):
        raise TypeError(f"affine: shear: got {shear!r}; it must be a number or a pair")
    if isinstance(shear, numbers.Number):
        shear = [shear, 0.0]
    else:
        shear = list(shear)
    # One number in a list means both directions, a bare one only the first.
    if len(shear) == 1:
        shear = shear * 2
    if len(shear) != 2:
        raise ValueError(f"affine: shear: got {len(shear)} numbers; there must be two")
    return angle, list(translate), shear


def affine(
    img: Any,
    angle: float,
    translate: Any,
    scale: Any,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Any = None,
) -> Any:
    """The image turned, moved, scaled and sheared.

    Args:
        img: image.
        angle: number, degrees, clockwise.
        translate: (right, down), pixels.
        scale: float above 0.
        shear: degrees along x, or (along x, along y).
        interpolation: "nearest", "bilinear" or "bicubic". Default "nearest".
        fill: number or colour of what comes from outside. Default 0.
        center: (x, y) that stays in its place but for `translate`. Default: the middle.
    Returns:
        An image of the same kind and size.
    Raises:
        TypeError, ValueError: an argument is not of these forms.
    Example:
        >>> paddle.vision.transforms.affine(paddle.arange(9.0).reshape([3, 1, 3]), 0, (1, 0), 1.0, 0).tolist()
        [[[0.0, 0.0, 1.0]], [[0.0, 3.0, 4.0]], [[0.0, 6.0, 7.0]]]
    """
    angle, translate, shear = _affine_arguments(angle, translate, scale, shear)
    module = _module(img)
    # Pillow counts places from the upper left corner, Tensors from the middle.
    if module is F_pil:
        if center is None:
            center = [size * 0.5 for size in img.size]
        return F_pil.affine(img, affine_matrix(center, angle, translate, scale, shear), interpolation, fill)
    if module is F_cv2:
        return F_cv2.affine(img, angle, translate, scale, shear, interpolation, fill, center)
    height, width = img.shape[-2:]
    if center is None:
        middle = [0.0, 0.0]
    else:
        middle = [c - s * 0.5 for c, s in zip(center, (width, height), strict=True)]
    return F_t.affine(img, affine_matrix(middle, angle, translate, scale, shear), interpolation, fill)


def rotate(
    img: Any,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Any = None,
    fill: Any = 0,
) -> Any:
    """The image turned.

    Args:
        img: image.
        angle: number, degrees, counterclockwise.
        interpolation: "nearest", "bilinear" or "bicubic". Default "nearest".
        expand: bool, make the result as large as the whole turned image. Default False.
        center: (x, y) that stays in its place. Default: the middle.
        fill: number or colour of what comes from outside. Default 0.
    Returns:
        An image of the same kind.
    Example:
        >>> paddle.vision.transforms.rotate(paddle.arange(12.0).reshape([3, 2, 2]), 90)[0].tolist()
        [[1.0, 3.0], [0.0, 2.0]]
    """
    return _module(img).rotate(img, angle, interpolation, expand, center, fill)


def perspective(
    img: Any,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "nearest",
    fill: Any = 0,
) -> Any:
    """The image under the projective map that takes four points to four others.

    Args:
        img: image.
        startpoints, endpoints: lists of four (x, y).
        interpolation: "nearest", "bilinear" or "bicubic". Default "nearest".
        fill: number or colour of what comes from outside. Default 0.
    Returns:
        An image of the same kind and size.
    Example:
        >>> corners = [[0, 0], [3, 0], [3, 2], [0, 2]]
        >>> paddle.vision.transforms.perspective(paddle.ones([3, 3, 4]), corners, corners).shape
        paddle.Size([3, 3, 4])
    """
    module = _module(img)
    if module is F_cv2:
        return F_cv2.perspective(img, startpoints, endpoints, interpolation, fill)
    return module.perspective(img, perspective_coefficients(startpoints, endpoints), interpolation, fill)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The image in grey.

    Args:
        img: image of three channels.
        num_output_channels: 1 or 3. Default 1.
    Returns:
        An image of the same kind.
    Raises:
        ValueError: another number of channels.
    Example:
        >>> paddle.vision.transforms.to_grayscale(paddle.ones([3, 1, 2])).shape
        paddle.Size([1, 1, 2])
    """
    return _module(img).to_grayscale(img, num_output_channels)


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """(img - mean) / std for each channel.

    Args:
        img: image.
        mean, std: number for each channel.
        data_format: "CHW" or "HWC". Default "CHW".
        to_rgb: bool, exchange blue and red first (not for Tensors). Default False.
    Returns:
        A Tensor for a Tensor, otherwise a float32 array, or float64 for one of float64.
    Example:
        >>> paddle.vision.transforms.normalize(paddle.full([1, 1, 2], 3.0), [1.0], [4.0]).tolist()
        [[[0.5, 0.5]]]
    """
    if _is_tensor_image(img):
        return F_t.normalize(img, mean, std, data_format)
    return F_cv2.normalize(np.array(img) if _is_pil_image(img) else img, mean, std, data_format, to_rgb)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """The image with a rectangle of given pixels.

    Args:
        img: image.
        i, j: int, the first row and column of the rectangle.
        h, w: int, its height and width.
        v: what it is filled with: number, colour, array or Tensor.
        inplace: bool, change img itself (not an Image). Default False.
    Returns:
        An image of the same kind.
    Example:
        >>> paddle.vision.transforms.erase(paddle.zeros([1, 2, 2]), 0, 1, 1, 1, 5.0).tolist()
        [[[0.0, 5.0], [0.0, 0.0]]]
    """
    return _module(img).erase(img, i, j, h, w, v, inplace)
