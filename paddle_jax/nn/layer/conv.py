"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax.nn import functional as F
from paddle_jax.nn.initializer import Normal
from paddle_jax.nn.layer.helpers import alias
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import DeviceLike, DTypeLike, Padding, PaddingMode, ParamAttrLike, Size
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.initializer import Initializer
    from paddle_jax.nn.parameter import Parameter


_FORMATS = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")
_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Layer):
    """What the convolution layers share.

    Attributes:
        weight: Parameter, the kernels.
        bias: Parameter [out_channels], or None.
        output_padding: as given; 0 where the layer is not transposed.
        _kernel_size, _stride, _dilation: lists of ints, one for each spatial axis.
        _padding, _padding_mode: as given.
        _updated_padding: the padding per axis, or per side where both sides differ.
        _channel_dim: int, the axis of channels.
    """

    _spatial = 2
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size,
        padding: Padding,
        output_padding: Size,
        dilation: Size,
        groups: int,
        padding_mode: PaddingMode,
        weight_attr: ParamAttrLike | None,
        bias_attr: ParamAttrLike | None,
        data_format: str,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(dtype=dtype)
        self._check(in_channels, groups, padding, padding_mode, weight_attr, data_format)
        self._param_attr = weight_attr
        self._bias_attr = bias_attr
        self._data_format = data_format
        self._device = device
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._groups = groups
        # The format's last letter says where the channels are.
        if data_format.endswith("C"):
            self._channel_dim = len(data_format) - 1
        else:
            self._channel_dim = 1
        self._kernel_size, self._stride, self._dilation = (
            self._ints(value, name)
            for value, name in ((kernel_size, "kernel_size"), (stride, "stride"), (dilation, "dilation"))
        )
        self._padding = padding
        self._padding_mode = padding_mode
        self.output_padding = output_padding
        self._updated_padding = self._explicit_padding()
        # The other modes pad before the convolution, which then pads nothing itself.
        if padding_mode != "zeros":
            # Pads before and behind each axis of space.
            self._reversed_padding_repeated_twice = [padding] * (2 * self._spatial)
        self.weight: Parameter = self.create_parameter(
            self._weight_shape(),
            attr=weight_attr,
            dtype=dtype,
            default_initializer=self._default(),
            device=device,
        )
        self.bias: Parameter = self.create_parameter(
            [out_channels], attr=bias_attr, dtype=dtype, is_bias=True, device=device
        )

    def _check(
        self,
        in_channels: int,
        groups: int,
        padding: Padding,
        padding_mode: PaddingMode,
        weight_attr: ParamAttrLike | None,
        data_format: str,
    ) -> None:
        name = type(self).__name__
        if weight_attr is False:
            raise AssertionError(f"{name}: weight_attr: got False; a convolution needs a weight")
        if data_format not in _FORMATS:
            raise ValueError(f"{name}: data_format: got {data_format!r}; allowed are {', '.join(_FORMATS)}")
        if padding_mode not in _MODES:
            raise ValueError(f"{name}: padding_mode: got {padding_mode!r}; allowed are {', '.join(_MODES)}")
        if padding_mode != "zeros" and not isinstance(padding, int):
            raise TypeError(
                f"{name}: padding: got {padding!r}; with padding_mode={padding_mode!r} it must be an int"
            )
        if in_channels % groups:
            raise ValueError(f"{name}: groups: got {groups}; it must divide in_channels={in_channels}")

    def _ints(self, value: Size, name: str) -> list[int]:
        if isinstance(value, int):
            return [value] * self._spatial
        if isinstance(value, float):
            raise ValueError(
                f"{type(self).__name__}: {name}: got {value}; it must be an int or a list of "
                f"{self._spatial} ints"
            )
        # A string has a length, too.
        if isinstance(value, str) or len(value) != self._spatial:
            raise ValueError(
                f"{type(self).__name__}: {name}: got {value!r}; it must be an int or a list of "
                f"{self._spatial} ints"
            )
        return list(value)

    def _explicit_padding(self) -> list[Any]:
        """The padding per axis where it is the same on both sides, else per side; zeros for
        "SAME" and "VALID"."""
        padding = self._padding
        n = self._spatial
        if isinstance(padding, str):
            if padding.upper() not in ("SAME", "VALID"):
                raise ValueError(
                    f"{type(self).__name__}: padding: got {padding!r}; allowed are 'SAME', 'VALID' and ints"
                )
            # The two names are resolved in each call, by the size of the input.
            return [0] * n
        if isinstance(padding, int):
            sides = [padding] * n
        elif len(padding) == n + 2 and isinstance(padding[0], list | tuple):
            # The list has pairs for batch and channels as well; only those of space are meant.
            if self._data_format.endswith("C"):
                spatial = padding[1:-1]
            else:
                spatial = padding[2:]
            sides = [side for pair in spatial for side in pair]
        elif len(padding) in (n, 2 * n) and not isinstance(padding[0], list | tuple):
            sides = list(padding)
        else:
            raise ValueError(
                f"{type(self).__name__}: padding: got {padding}; "
                f"it must be an int, {n} or {2 * n} ints, or {n + 2} pairs"
            )
        if any(side < 0 for side in sides):
            raise ValueError(f"{type(self).__name__}: padding: got {padding}; it must not be negative")
        # The short form, which Paddle shows.
        if len(sides) == 2 * n and sides[::2] == sides[1::2]:
            return sides[::2]
        return sides

    def _weight_shape(self) -> list[int]:
        if self._transposed:
            # Transposed: the input comes first, since the convolution runs backwards.
            return [self._in_channels, self._out_channels // self._groups, *self._kernel_size]
        return [self._out_channels, self._in_channels // self._groups, *self._kernel_size]

    def _default(self) -> Initializer | None:
        # None is the default of `create_parameter`, which Paddle uses for transposed convolutions.
        if self._transposed:
            return None
        # Without channels the formula would divide by zero.
        if self._in_channels:
            # He and others, 2015.
            return Normal(0.0, math.sqrt(2.0 / (math.prod(self._kernel_size) * self._in_channels)))
        return None

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        # A 1D convolution leaves the check to the function, whose error differs.
        if x.ndim != self._spatial + 2 and self._spatial > 1:
            raise ValueError(
                f"(InvalidArgument) {type(self).__name__}: x: got shape {list(x.shape)}; "
                f"it must have {self._spatial + 2} axes"
            )
        padding = self._padding
        if self._padding_mode != "zeros":
            x = F.pad(
                x,
                self._reversed_padding_repeated_twice,
                mode=self._padding_mode,
                data_format=self._data_format,
            )
            padding = 0
        return self._convolve(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=padding,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )

    def _transpose(self, function: Callable[..., Tensor], x: Tensor, output_size: Size | None) -> Tensor:
        return function(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=self._padding,
            # A length that is asked for decides alone.
            output_padding=self.output_padding if output_size is None else 0,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        ones = [1] * self._spatial
        settings = [
            ("stride", self._stride, ones),
            ("padding", self._padding, 0),
            ("padding_mode", self._padding_mode, "zeros"),
            ("output_padding", self.output_padding, 0),
            ("dilation", self._dilation, ones),
            ("groups", self._groups, 1),
        ]
        shown = "".join(f", {key}={value}" for key, value, usual in settings if value != usual)
        return (
            f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}{shown}, "
            f"data_format={self._data_format}"
        )


class Conv1D(_ConvNd):
    """Convolves sequences with learnt kernels.

    Args:
        in_channels: int, channels of the input.
        out_channels: int, channels of the output.
        kernel_size: int or a list of one int.
        stride: int or a list of one int.
        padding: int, a list of one int or two ints, "SAME" or "VALID".
        dilation: int or a list of one int, the distance of kernel elements.
        groups: int, channels are convolved in this many separate groups.
        bias: bool, whether there is a bias.
        padding_mode: "zeros", "reflect", "replicate" or "circular"; the last three need an int padding.
        device: where the parameters are put.
        dtype: of the parameters. Default: paddle.get_default_dtype().
        weight_attr: ParamAttr of `weight`, shape [out_channels, in_channels // groups, *kernel_size].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NCL" or "NLC".
    Raises:
        ValueError: groups does not divide in_channels; a length, format or mode is not allowed.
        TypeError: padding is not an int with a padding_mode other than "zeros".
    Example:
        >>> paddle.nn.Conv1D(2, 4, 3, padding=1)(paddle.ones([1, 2, 5])).shape
        paddle.Size([1, 4, 5])
    """

    _spatial = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            # `bias=False` is torch's way to leave it out.
            bias_attr if bias else False,
            data_format,
            device,
            dtype,
        )

    _convolve = staticmethod(F.conv1d)


class Conv2D(_ConvNd):
    """Convolves images with learnt kernels.

    Args:
        in_channels: int, channels of the input.
        out_channels: int, channels of the output.
        kernel_size: int or two ints.
        stride: int or two ints.
        padding: int, two ints or four ints, "SAME" or "VALID".
        dilation: int or two ints, the distance of kernel elements.
        groups: int, channels are convolved in this many separate groups.
        bias: bool, whether there is a bias.
        padding_mode: "zeros", "reflect", "replicate" or "circular"; the last three need an int padding.
        device: where the parameters are put.
        dtype: of the parameters. Default: paddle.get_default_dtype().
        weight_attr: ParamAttr of `weight`, shape [out_channels, in_channels // groups, *kernel_size].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NCHW" or "NHWC".
    Raises:
        ValueError: groups does not divide in_channels; a length, format or mode is not allowed.
        TypeError: padding is not an int with a padding_mode other than "zeros".
    Example:
        >>> paddle.nn.Conv2D(2, 4, 3, padding=1)(paddle.ones([1, 2, 5, 5])).shape
        paddle.Size([1, 4, 5, 5])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr if bias else False,
            data_format,
            device,
            dtype,
        )

    _convolve = staticmethod(F.conv2d)


class Conv3D(_ConvNd):
    """Convolves volumes with learnt kernels.

    Args:
        in_channels: int, channels of the input.
        out_channels: int, channels of the output.
        kernel_size: int or three ints.
        stride: int or three ints.
        padding: int, three ints or six ints, "SAME" or "VALID".
        dilation: int or three ints, the distance of kernel elements.
        groups: int, channels are convolved in this many separate groups.
        bias: bool, whether there is a bias.
        padding_mode: "zeros", "reflect", "replicate" or "circular"; the last three need an int padding.
        device: where the parameters are put.
        dtype: of the parameters. Default: paddle.get_default_dtype().
        weight_attr: ParamAttr of `weight`, shape [out_channels, in_channels // groups, *kernel_size].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NCDHW" or "NDHWC".
    Raises:
        ValueError: groups does not divide in_channels; a length, format or mode is not allowed.
        TypeError: padding is not an int with a padding_mode other than "zeros".
    Example:
        >>> paddle.nn.Conv3D(2, 4, 3, padding=1)(paddle.ones([1, 2, 5, 5, 5])).shape
        paddle.Size([1, 4, 5, 5, 5])
    """

    _spatial = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr if bias else False,
            data_format,
            device,
            dtype,
        )

    _convolve = staticmethod(F.conv3d)


class Conv1DTranspose(_ConvNd):
    """Convolves sequences with the transpose of a convolution: it makes them larger where the convolution
    makes them smaller.

    Args:
        in_channels: int, channels of the input.
        out_channels: int, channels of the output.
        kernel_size: int or a list of one int.
        stride: int or a list of one int, the enlargement.
        padding: int, a list of one int or two ints, "SAME" or "VALID"; cut off at the sides.
        output_padding: int or a list of one int, added at the ends.
        dilation: int or a list of one int, the distance of kernel elements.
        groups: int, channels are convolved in this many separate groups.
        weight_attr: ParamAttr of `weight`, shape [in_channels, out_channels // groups, *kernel_size].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NCL" or "NLC".
    Raises:
        ValueError: groups does not divide in_channels; a length or format is not allowed.
    Example:
        >>> paddle.nn.Conv1DTranspose(2, 4, 2, stride=2)(paddle.ones([1, 2, 5])).shape
        paddle.Size([1, 4, 10])
    """

    _spatial = 1
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        output_padding: Size = 0,
        groups: int = 1,
        dilation: Size = 1,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            "zeros",
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Tensor, output_size: Tensor | None = None) -> Tensor:
        return self._transpose(F.conv1d_transpose, x, output_size)


class Conv2DTranspose(_ConvNd):
    """Convolves images with the transpose of a convolution: it makes them larger where the convolution
    makes them smaller.

    Args:
        in_channels: int, channels of the input.
        out_channels: int, channels of the output.
        kernel_size: int or two ints.
        stride: int or two ints, the enlargement.
        padding: int, two ints or four ints, "SAME" or "VALID"; cut off at the sides.
        output_padding: int or two ints, added at the ends.
        dilation: int or two ints, the distance of kernel elements.
        groups: int, channels are convolved in this many separate groups.
        weight_attr: ParamAttr of `weight`, shape [in_channels, out_channels // groups, *kernel_size].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NCHW" or "NHWC".
    Raises:
        ValueError: groups does not divide in_channels; a length or format is not allowed.
    Example:
        >>> paddle.nn.Conv2DTranspose(2, 4, 2, stride=2)(paddle.ones([1, 2, 5, 5])).shape
        paddle.Size([1, 4, 10, 10])
    """

    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        output_padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            "zeros",
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Tensor, output_size: Tensor | None = None) -> Tensor:
        return self._transpose(F.conv2d_transpose, x, output_size)


class Conv3DTranspose(_ConvNd):
    """Convolves volumes with the transpose of a convolution: it makes them larger where the convolution
    makes them smaller.

    Args:
        in_channels: int, channels of the input.
        out_channels: int, channels of the output.
        kernel_size: int or three ints.
        stride: int or three ints, the enlargement.
        padding: int, three ints or six ints, "SAME" or "VALID"; cut off at the sides.
        output_padding: int or three ints, added at the ends.
        dilation: int or three ints, the distance of kernel elements.
        groups: int, channels are convolved in this many separate groups.
        weight_attr: ParamAttr of `weight`, shape [in_channels, out_channels // groups, *kernel_size].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NCDHW" or "NDHWC".
    Raises:
        ValueError: groups does not divide in_channels; a length or format is not allowed.
    Example:
        >>> paddle.nn.Conv3DTranspose(2, 4, 2, stride=2)(paddle.ones([1, 2, 5, 5, 5])).shape
        paddle.Size([1, 4, 10, 10, 10])
    """

    _spatial = 3
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        output_padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            "zeros",
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Tensor, output_size: Tensor | None = None) -> Tensor:
        return self._transpose(F.conv3d_transpose, x, output_size)


__all__ = ["Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"]
