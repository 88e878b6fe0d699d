"""Layers that rearrange the pixels and channels of images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _check(what: str, factor: Any, data_format: str) -> None:
    if not isinstance(factor, int) or isinstance(factor, bool):
        raise TypeError(f"{what}: got {factor!r}; it must be an int")
    if factor <= 0:
        raise ValueError(f"{what}: got {factor}; it must be above 0")
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"{what}: data_format: got {data_format!r}; allowed are 'NCHW' and 'NHWC'")


def _format(data_format: str) -> dict[str, str]:
    if data_format == "NCHW":
        return {}
    return {"data_format": data_format}


class PixelShuffle(Layer):
    """Makes images r times larger by moving groups of r * r channels into pixels.

    Args:
        upscale_factor: int, r.
        data_format: "NCHW" or "NHWC".
    Raises:
        TypeError: upscale_factor is not an int.
        ValueError: data_format is not allowed.
    Example:
        >>> paddle.nn.PixelShuffle(2)(paddle.ones([1, 8, 3, 3])).shape
        paddle.Size([1, 2, 6, 6])
    See: Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel CNN, 2016.
    """

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        _check("PixelShuffle: upscale_factor", upscale_factor, data_format)
        self._upscale_factor = upscale_factor
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format)

    def extra_repr(self) -> str:
        return show(self._name, upscale_factor=self._upscale_factor, **_format(self._data_format))


class PixelUnshuffle(Layer):
    """Makes images r times smaller by moving squares of r * r pixels into channels: the reverse
    of PixelShuffle.

    Args:
        downscale_factor: int, r.
        data_format: "NCHW" or "NHWC".
    Raises:
        TypeError: downscale_factor is not an int.
        ValueError: it is not positive or data_format is not allowed.
    Example:
        >>> paddle.nn.PixelUnshuffle(2)(paddle.ones([1, 2, 6, 6])).shape
        paddle.Size([1, 8, 3, 3])
    """

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        _check("PixelUnshuffle: downscale_factor", downscale_factor, data_format)
        self._downscale_factor = downscale_factor
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format)

    def extra_repr(self) -> str:
        return show(self._name, downscale_factor=self._downscale_factor, **_format(self._data_format))


class ChannelShuffle(Layer):
    """Interleaves groups of channels.

    Args:
        groups: int, a divisor of the number of channels.
        data_format: "NCHW" or "NHWC".
    Raises:
        TypeError: groups is not an int.
        ValueError: it is not positive or data_format is not allowed.
    Example:
        >>> paddle.nn.ChannelShuffle(2)(paddle.arange(4.0).reshape([1, 4, 1, 1])).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    See: Zhang et al., ShuffleNet, 2017.
    """

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        _check("ChannelShuffle: groups", groups, data_format)
        self._groups = groups
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.channel_shuffle(x, self._groups, self._data_format)

    def extra_repr(self) -> str:
        return show(self._name, groups=self._groups, **_format(self._data_format))


__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]
