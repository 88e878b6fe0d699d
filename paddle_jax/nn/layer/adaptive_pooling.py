"""Pooling layers with given output lengths, and the reverse of max pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.helpers import alias, linked, show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import OptionalSizes, Size
    from paddle_jax._core.tensors.tensor import Tensor


class AdaptiveAvgPool1D(Layer):
    """Takes means over windows chosen so that sequences [N, C, L] get given lengths.

    Args:
        output_size: int or a list of one int, the new lengths.
    Example:
        >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 2])
    """

    def __init__(self, output_size: Size, name: str | None = None) -> None:
        super().__init__()
        self.output_size = output_size
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)

    def extra_repr(self) -> str:
        return show(output_size=self.output_size)


class AdaptiveAvgPool2D(Layer):
    """Takes means over windows chosen so that images get given lengths.

    Args:
        output_size: int or two ints, the new lengths; None keeps one.
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.AdaptiveAvgPool2D(2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    def __init__(
        self, output_size: OptionalSizes, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    output_size: property = linked("_output_size", "The new lengths.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(x, output_size=self._output_size, data_format=self._data_format)

    def extra_repr(self) -> str:
        return show(output_size=self._output_size)


class AdaptiveAvgPool3D(Layer):
    """Takes means over windows chosen so that volumes get given lengths.

    Args:
        output_size: int or three ints, the new lengths; None keeps one.
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.AdaptiveAvgPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    def __init__(
        self, output_size: OptionalSizes, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    output_size: property = linked("_output_size", "The new lengths.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(x, output_size=self._output_size, data_format=self._data_format)

    def extra_repr(self) -> str:
        return show(output_size=self._output_size)


class AdaptiveMaxPool1D(Layer):
    """Takes maxima over windows chosen so that sequences [N, C, L] get given lengths.

    Args:
        output_size: int or a list of one int, the new lengths.
        return_mask: bool, also return the positions of the maxima; `return_indices` is accepted as a name.
    Example:
        >>> paddle.nn.AdaptiveMaxPool1D(2)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 2])
    """

    @alias(return_indices="return_mask")
    def __init__(self, output_size: Size, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_mask = return_mask
        self.name = name

    return_indices: property = linked("return_mask", "return_mask, under its other name.")

    def forward(self, input: Tensor) -> Tensor:  # with return_mask also the mask
        return F.adaptive_max_pool1d(input, self.output_size, self.return_mask)

    def extra_repr(self) -> str:
        return show(output_size=self.output_size, return_mask=self.return_mask)


class AdaptiveMaxPool2D(Layer):
    """Takes maxima over windows chosen so that images get given lengths.

    Args:
        output_size: int or two ints, the new lengths.
        return_mask: bool, also return the positions of the maxima; `return_indices` is accepted as a name.
    Example:
        >>> paddle.nn.AdaptiveMaxPool2D(2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    @alias(return_indices="return_mask")
    def __init__(
        self, output_size: OptionalSizes, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size = output_size
        self._return_mask = return_mask
        self._name = name

    return_indices: property = linked("_return_mask", "return_mask, under its other name.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:  # with return_mask also the mask
        return F.adaptive_max_pool2d(x, self._output_size, self._return_mask)

    def extra_repr(self) -> str:
        return show(output_size=self._output_size, return_mask=self._return_mask)


class AdaptiveMaxPool3D(Layer):
    """Takes maxima over windows chosen so that volumes get given lengths.

    Args:
        output_size: int or three ints, the new lengths.
        return_mask: bool, also return the positions of the maxima; `return_indices` is accepted as a name.
    Example:
        >>> paddle.nn.AdaptiveMaxPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    @alias(return_indices="return_mask")
    def __init__(
        self, output_size: OptionalSizes, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size = output_size
        self._return_mask = return_mask
        self._name = name

    return_indices: property = linked("_return_mask", "return_mask, under its other name.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:  # with return_mask also the mask
        return F.adaptive_max_pool3d(x, self._output_size, self._return_mask)

    def extra_repr(self) -> str:
        return show(output_size=self._output_size, return_mask=self._return_mask)


class MaxUnPool1D(Layer):
    """Puts maxima back to where they were before max pooling, zeros elsewhere.

    Args:
        kernel_size: int or a list of one int, the window of the pooling.
        stride: likewise. Default: kernel_size.
        padding: likewise.
        data_format: "NCL".
        output_size: list of ints, where the lengths before pooling cannot be told.
    Attributes:
        stride, padding, data_format, output_size, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
    Example:
        >>> x = paddle.rand([1, 2, 4]); y, at = paddle.nn.functional.max_pool1d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool1D(2)(y, at).shape
        paddle.Size([1, 2, 4])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        data_format: str = "NCL",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.data_format = data_format
        self.output_size = output_size
        self.name = name

    @alias(input="x")
    def forward(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool1d(
            x,
            indices,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            data_format=self.data_format,
            output_size=self.output_size if output_size is None else output_size,
        )

    def extra_repr(self) -> str:
        return show(output_size=self.output_size)


class MaxUnPool2D(Layer):
    """Puts maxima back to where they were before max pooling, zeros elsewhere.

    Args:
        kernel_size: int or two ints, the window of the pooling.
        stride: likewise. Default: kernel_size.
        padding: likewise.
        data_format: "NCHW".
        output_size: list of ints, where the lengths before pooling cannot be told.
    Attributes:
        stride, padding, data_format, output_size, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
    Example:
        >>> x = paddle.rand([1, 2, 4, 4]); y, at = paddle.nn.functional.max_pool2d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool2D(2)(y, at).shape
        paddle.Size([1, 2, 4, 4])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        data_format: str = "NCHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.data_format = data_format
        self.output_size = output_size
        self.name = name

    @alias(input="x")
    def forward(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool2d(
            x,
            indices,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            data_format=self.data_format,
            output_size=self.output_size if output_size is None else output_size,
        )

    def extra_repr(self) -> str:
        return show(output_size=self.output_size)


class MaxUnPool3D(Layer):
    """Puts maxima back to where they were before max pooling, zeros elsewhere.

    Args:
        kernel_size: int or three ints, the window of the pooling.
        stride: likewise. Default: kernel_size.
        padding: likewise.
        data_format: "NCDHW".
        output_size: list of ints, where the lengths before pooling cannot be told.
    Attributes:
        stride, padding, data_format, output_size, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
    Example:
        >>> x = paddle.rand([1, 2, 4, 4, 4]); y, at = paddle.nn.functional.max_pool3d(x, 2, return_mask=True)
        >>> paddle.nn.MaxUnPool3D(2)(y, at).shape
        paddle.Size([1, 2, 4, 4, 4])
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        data_format: str = "NCDHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.data_format = data_format
        self.output_size = output_size
        self.name = name

    @alias(input="x")
    def forward(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool3d(
            x,
            indices,
            kernel_size=self.ksize,
            stride=self.stride,
            padding=self.padding,
            data_format=self.data_format,
            output_size=self.output_size if output_size is None else output_size,
        )

    def extra_repr(self) -> str:
        return show(output_size=self.output_size)


class FractionalMaxPool2D(Layer):
    """Takes maxima over windows of lengths that vary at random so that images get given lengths.

    Args:
        output_size: int or two ints, the new lengths.
        kernel_size: likewise, overlapping windows of this length; None for windows side by side.
        random_u: float between 0 and 1 that stands for the random number.
        return_mask: bool, also return the positions of the maxima.
    Example:
        >>> paddle.nn.FractionalMaxPool2D(2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    See: Graham, Fractional Max-Pooling, 2014.
    """

    def __init__(
        self,
        output_size: OptionalSizes,
        kernel_size: Size | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._output_size = output_size
        self._kernel_size = kernel_size
        self._random_u = random_u
        self._return_mask = return_mask
        self._name = name

    def forward(self, x: Tensor) -> Tensor:  # with return_mask also the mask
        return F.fractional_max_pool2d(
            x, self._output_size, self._kernel_size, self._random_u, self._return_mask
        )

    def extra_repr(self) -> str:
        return show(output_size=self._output_size, return_mask=self._return_mask)


class FractionalMaxPool3D(Layer):
    """Takes maxima over windows of lengths that vary at random so that volumes get given lengths.

    Args:
        output_size: int or three ints, the new lengths.
        kernel_size: likewise, overlapping windows of this length; None for windows side by side.
        random_u: float between 0 and 1 that stands for the random number.
        return_mask: bool, also return the positions of the maxima.
    Example:
        >>> paddle.nn.FractionalMaxPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    See: Graham, Fractional Max-Pooling, 2014.
    """

    def __init__(
        self,
        output_size: OptionalSizes,
        kernel_size: Size | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._output_size = output_size
        self._kernel_size = kernel_size
        self._random_u = random_u
        self._return_mask = return_mask
        self._name = name

    def forward(self, x: Tensor) -> Tensor:  # with return_mask also the mask
        return F.fractional_max_pool3d(
            x, self._output_size, self._kernel_size, self._random_u, self._return_mask
        )

    def extra_repr(self) -> str:
        return show(output_size=self._output_size, return_mask=self._return_mask)


__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D",
    "AdaptiveMaxPool3D",
    "FractionalMaxPool2D",
    "FractionalMaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]
