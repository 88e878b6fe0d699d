"""Pooling layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.adaptive_pooling import (
    AdaptiveAvgPool1D,
    AdaptiveAvgPool2D,
    AdaptiveAvgPool3D,
    AdaptiveMaxPool1D,
    AdaptiveMaxPool2D,
    AdaptiveMaxPool3D,
    FractionalMaxPool2D,
    FractionalMaxPool3D,
    MaxUnPool1D,
    MaxUnPool2D,
    MaxUnPool3D,
)
from paddle_jax.nn.layer.helpers import alias, show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, Size
    from paddle_jax._core.tensors.tensor import Tensor


class MaxPool1D(Layer):
    """Takes the maximum of each window of sequences [N, C, L].

    Args:
        kernel_size: int or a list of one int, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        return_mask: bool, also return the positions of the maxima.
        ceil_mode: bool, round output lengths up.
    Attributes:
        kernel_size, stride, padding, return_mask, ceil_mode, name: as given.
    Example:
        >>> paddle.nn.MaxPool1D(2)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 2])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.name = name

    def forward(self, input: Tensor) -> Tensor:  # with return_mask also the mask
        return F.max_pool1d(
            input,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            return_mask=self.return_mask,
            ceil_mode=self.ceil_mode,
        )

    def extra_repr(self) -> str:
        return show(kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)


class MaxPool2D(Layer):
    """Takes the maximum of each window of images.

    Args:
        kernel_size: int or two ints, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        return_mask: bool, also return the positions of the maxima.
        ceil_mode: bool, round output lengths up.
        data_format: "NCHW" or "NHWC".
    Attributes:
        stride, padding, return_mask, ceil_mode, data_format, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
    Example:
        >>> paddle.nn.MaxPool2D(2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:  # with return_mask also the mask
        return F.max_pool2d(
            x,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            return_mask=self.return_mask,
            ceil_mode=self.ceil_mode,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(kernel_size=self.ksize, stride=self.stride, padding=self.padding)


class MaxPool3D(Layer):
    """Takes the maximum of each window of volumes.

    Args:
        kernel_size: int or three ints, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        return_mask: bool, also return the positions of the maxima.
        ceil_mode: bool, round output lengths up.
        data_format: "NCDHW" or "NDHWC".
    Attributes:
        stride, padding, return_mask, ceil_mode, data_format, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
    Example:
        >>> paddle.nn.MaxPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:  # with return_mask also the mask
        return F.max_pool3d(
            x,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            return_mask=self.return_mask,
            ceil_mode=self.ceil_mode,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(kernel_size=self.ksize, stride=self.stride, padding=self.padding)


class AvgPool1D(Layer):
    """Takes the mean of each window of sequences [N, C, L].

    Args:
        kernel_size: int or a list of one int, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        exclusive: bool, leave padding out of the mean.
        ceil_mode: bool, round output lengths up.
    Attributes:
        kernel_size, stride, padding, ceil_mode, exclusive, name: as given.
    Example:
        >>> paddle.nn.AvgPool1D(2)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 2])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool1d(
            x,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            exclusive=self.exclusive,
        )

    def extra_repr(self) -> str:
        return show(kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)


class AvgPool2D(Layer):
    """Takes the mean of each window of images.

    Args:
        kernel_size: int or two ints, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        exclusive: bool, leave padding out of the mean.
        ceil_mode: bool, round output lengths up.
        divisor_override: int, divide by this instead of the size of the window.
        data_format: "NCHW" or "NHWC".
    Attributes:
        stride, padding, ceil_mode, exclusive, data_format, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
        divisor: int or None, the argument divisor_override.
    Example:
        >>> paddle.nn.AvgPool2D(2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.divisor = divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool2d(
            x,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            exclusive=self.exclusive,
            divisor_override=self.divisor,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(kernel_size=self.ksize, stride=self.stride, padding=self.padding)


class AvgPool3D(Layer):
    """Takes the mean of each window of volumes.

    Args:
        kernel_size: int or three ints, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        exclusive: bool, leave padding out of the mean.
        ceil_mode: bool, round output lengths up.
        divisor_override: int, divide by this instead of the size of the window.
        data_format: "NCDHW" or "NDHWC".
    Attributes:
        stride, padding, ceil_mode, exclusive, data_format, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
        divisor: int or None, the argument divisor_override.
    Example:
        >>> paddle.nn.AvgPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.divisor = divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool3d(
            x,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            exclusive=self.exclusive,
            divisor_override=self.divisor,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(kernel_size=self.ksize, stride=self.stride, padding=self.padding)


class LPPool1D(Layer):
    """Takes the p-norm (sum |x|^p)^(1/p) of each window of sequences [N, C, L].

    Args:
        norm_type: float, p; inf for the maximum.
        kernel_size: int or a list of one int, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        ceil_mode: bool, round output lengths up.
        data_format: "NCL" or "NLC".
    Attributes:
        kernel_size, padding, ceil_mode, stride, data_format, name: as given.
        norm_type: float, the exponent.
    Raises:
        ValueError: norm_type is not a number.
    Example:
        >>> paddle.nn.LPPool1D(2, 2)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 2])
    """

    def __init__(
        self,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.norm_type: float = float(norm_type)
        self.kernel_size = kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.stride = stride
        self.data_format = data_format
        self.name = name

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.lp_pool1d(
            x,
            norm_type=self.norm_type,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(
            norm_type=self.norm_type, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding
        )


class LPPool2D(Layer):
    """Takes the p-norm (sum |x|^p)^(1/p) of each window of images.

    Args:
        norm_type: float, p; inf for the maximum.
        kernel_size: int or two ints, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, or "SAME" or "VALID".
        ceil_mode: bool, round output lengths up.
        data_format: "NCHW" or "NHWC".
    Attributes:
        padding, ceil_mode, data_format, name: as given.
        norm_type: float, the exponent.
        ksize: int, list or tuple, the argument kernel_size.
        stride: as given; the kernel size where it is None.
    Raises:
        ValueError: norm_type is not a number.
    Example:
        >>> paddle.nn.LPPool2D(2, 2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    def __init__(
        self,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.norm_type: float = float(norm_type)
        self.ksize = kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.stride: Size = kernel_size if stride is None else stride
        self.data_format = data_format
        self.name = name

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.lp_pool2d(
            x,
            norm_type=self.norm_type,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            data_format=self.data_format,
        )

    def extra_repr(self) -> str:
        return show(
            norm_type=self.norm_type, kernel_size=self.ksize, stride=self.stride, padding=self.padding
        )


__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D",
    "AdaptiveMaxPool3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "FractionalMaxPool2D",
    "FractionalMaxPool3D",
    "LPPool1D",
    "LPPool2D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]
