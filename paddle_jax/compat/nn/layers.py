"""Linear, Softmax, Unfold and average pooling with PyTorch's signatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.compat.nn import functional as C
from paddle_jax.nn import functional as F
from paddle_jax.nn.initializer import Uniform
from paddle_jax.nn.layer.common import Unfold as PaddleUnfold
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.parameter import Parameter


class Linear(Layer):
    """Computes x @ weight^T + bias.

    Args:
        in_features: int, the last length of the input.
        out_features: int, the last length of the output.
        bias: bool, with a bias.
        device: where the parameters are put. Default: the current device.
        dtype: their dtype. Default: the default floating dtype.
    Attributes:
        weight: Parameter [out_features, in_features], filled evenly between -1 / sqrt(in_features) and 1 /
            sqrt(in_features).
        bias: Parameter [out_features], filled likewise, or None.
    Example:
        >>> paddle.compat.nn.Linear(3, 4).weight.shape
        paddle.Size([4, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight: Parameter = self.create_parameter(
            [out_features, in_features], dtype=dtype, default_initializer=self._initializer(), device=device
        )
        self.bias = None
        if bias:
            self.bias = self.create_parameter(
                [out_features],
                dtype=dtype,
                is_bias=True,
                default_initializer=self._initializer(),
                device=device,
            )

    def _initializer(self) -> Uniform:
        # A layer without inputs has no weights to draw.
        if self.in_features > 0:
            bound = 1 / math.sqrt(self.in_features)
        else:
            bound = 0.0
        return Uniform(-bound, bound)

    def reset_parameters(self) -> None:
        """Fills the parameters again."""
        for parameter in self.parameters():
            self._initializer()(parameter)

    def forward(self, input: Tensor) -> Tensor:
        return C.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return show(in_features=self.in_features, out_features=self.out_features, bias=self.bias is not None)


class Softmax(Layer):
    """Softmax along an axis.

    Args:
        dim: int. Default: axis 0 of tensors of 0, 1 or 3 axes, otherwise axis 1.
    Example:
        >>> paddle.compat.nn.Softmax(dim=0)(paddle.to_tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return C.softmax(input, self.dim)

    def extra_repr(self) -> str:
        return show(dim=self.dim)


class Unfold(PaddleUnfold):
    """Gathers the sliding windows of images as columns: [N, C, H, W] -> [N, C * window, number of windows].

    Args:
        kernel_size, dilation, stride: int or two ints.
        padding: int, two or four ints.
    Example:
        >>> paddle.compat.nn.Unfold(2)(paddle.ones([1, 3, 4, 4])).shape
        paddle.Size([1, 12, 9])
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: int = 0, stride: Any = 1) -> None:
        super().__init__(kernel_size, dilation, padding, stride)


class _AvgPool(Layer):
    def extra_repr(self) -> str:
        return show(kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)


def _tuple(value: Sequence[int] | int) -> tuple[int] | tuple[Any, ...]:
    if isinstance(value, int):
        return (value,)
    return tuple(value)


class AvgPool1D(_AvgPool):
    """Takes the mean of each window of sequences [N, C, L].

    Args:
        kernel_size: int or a list of one int, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, zeros at both ends.
        ceil_mode: bool, round output lengths up.
        count_include_pad: bool, count padding as elements.
    Example:
        >>> paddle.compat.nn.AvgPool1D(2)(paddle.ones([1, 2, 4])).shape
        paddle.Size([1, 2, 2])
    """

    kernel_size: tuple[int, ...]
    padding: tuple[int, ...]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = _tuple(kernel_size), _tuple(padding)
        if stride is None:
            self.stride = self.kernel_size
        else:
            self.stride = _tuple(stride)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, not self.count_include_pad, self.ceil_mode
        )


class AvgPool2D(_AvgPool):
    """Takes the mean of each window of images [N, C, H, W].

    Args:
        kernel_size: int or two ints, the window.
        stride: likewise. Default: kernel_size.
        padding: likewise, zeros on all sides.
        ceil_mode: bool, round output lengths up.
        count_include_pad: bool, count padding as elements.
        divisor_override: int, divide by this instead of the number of elements.
    Attributes:
        ceil_mode, count_include_pad, divisor_override: as given.
        kernel_size, padding: as given.
        stride: as given; the kernel size where it is None.
    Example:
        >>> paddle.compat.nn.AvgPool2D(2)(paddle.ones([1, 2, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    kernel_size: Any
    padding: Any
    stride: Any

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        if stride is None:
            self.stride = kernel_size  # windows side by side, as in PyTorch
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            not self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3D(AvgPool2D):
    """Takes the mean of each window of volumes [N, C, D, H, W]. Arguments as for `AvgPool2D`, with
    three spatial axes.

    Args:
        kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: as for `AvgPool2D`,
            with three lengths.
    Example:
        >>> paddle.compat.nn.AvgPool3D(2)(paddle.ones([1, 2, 4, 4, 4])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            not self.count_include_pad,
            self.divisor_override,
        )
