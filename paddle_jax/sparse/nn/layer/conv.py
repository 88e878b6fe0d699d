"""Convolutions of sparse Tensors as layers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paddle_jax.nn.initializer import Normal
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.sparse.nn import functional as F
from paddle_jax.sparse.nn.functional.products import numbers, sides

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, ParamAttrLike, Size
    from paddle_jax.nn.parameter import Parameter
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


class _Conv(Layer):
    """What the sparse convolution layers share.

    Attributes:
        _in_channels, _out_channels, _groups, _padding, _padding_mode, _bias_attr, _data_format, _key,
            _backend: as given.
        _kernel_size, _stride, _dilation: list of ints, one for each axis.
        _param_attr: the argument weight_attr.
        weight: Parameter [*kernel_size, in_channels, out_channels].
        bias: Parameter [out_channels], or None.
    """

    _spatial = 3
    _submanifold = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size,
        padding: Padding,
        dilation: Size,
        groups: int,
        padding_mode: str,
        key: str | None,
        weight_attr: ParamAttrLike | None,
        bias_attr: ParamAttrLike | None,
        data_format: str,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        self._check(weight_attr, groups, padding_mode, data_format, backend)
        n = self._spatial
        name = type(self).__name__
        self._kernel_size, self._stride, self._dilation = (
            list(numbers(name, argument, value, n))
            for argument, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation))
        )
        # Called for its checks; the functions get the padding as it was given.
        sides(name, padding, n)
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._groups = groups
        self._padding = padding
        self._padding_mode = padding_mode
        self._param_attr = weight_attr
        self._bias_attr = bias_attr
        self._data_format = data_format
        self._key = key
        self._backend = backend
        # The spread of He et al., 2015: a variance of 2 / inputs, for ReLU.
        spread = math.sqrt(2 / (math.prod(self._kernel_size) * in_channels))
        shape = [*self._kernel_size, in_channels, out_channels]
        self.weight: Parameter = self.create_parameter(
            shape, attr=weight_attr, default_initializer=Normal(0.0, spread)
        )
        self.bias: Parameter = self.create_parameter([out_channels], attr=bias_attr, is_bias=True)

    def _check(
        self,
        weight_attr: ParamAttrLike | None,
        groups: int,
        padding_mode: str,
        data_format: str,
        backend: str | None,
    ) -> None:
        name = type(self).__name__
        form = "NDHWC" if self._spatial == 3 else "NHWC"
        if weight_attr is False:
            raise AssertionError(f"{name}: weight_attr: got False; a convolution needs a weight")
        if groups != 1:
            raise AssertionError(f"{name}: groups: got {groups}; only 1 is allowed")
        if padding_mode != "zeros":
            raise AssertionError(f"{name}: padding_mode: got {padding_mode!r}; only 'zeros' is allowed")
        if data_format != form:
            raise ValueError(f"{name}: data_format: got {data_format!r}; only {form!r} is allowed")
        if backend not in (None, "igemm"):
            raise AssertionError(f"{name}: backend: got {backend!r}; allowed are None and 'igemm'")

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The convolution of a SparseCooTensor."""
        # `igemm` names another kernel of Paddle for the same numbers.
        kind = ("subm_conv" if self._submanifold else "conv") + f"{self._spatial}d"
        return getattr(F, kind)(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._groups,
            self._data_format,
        )

    def extra_repr(self) -> str:
        """Channels, kernel, and what is not as usual."""
        ones = [1] * self._spatial
        settings = [
            ("stride", self._stride, ones),
            ("padding", self._padding, 0),
            ("dilation", self._dilation, ones),
        ]
        shown = "".join(f", {key}={value}" for key, value, usual in settings if value != usual)
        return (
            f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}{shown}, "
            f"data_format={self._data_format}"
        )


class Conv3D(_Conv):
    """`paddle.sparse.nn.functional.conv3d` with learnt kernels.

    Args:
        in_channels, out_channels: ints.
        kernel_size, stride, dilation: int or 3 ints each.
        padding: int, 3 ints, 6 ints or 5 pairs, the zeros beside each axis.
        groups: 1.
        padding_mode: "zeros".
        weight_attr: ParamAttr of `weight`, shape [*kernel_size, in_channels, out_channels].
        bias_attr: ParamAttr of `bias`, shape [out_channels]; False for none.
        data_format: "NDHWC".
    Raises:
        AssertionError: groups or padding_mode is not allowed.
        ValueError: a number or data_format is not allowed.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [0]], [[1.0, 2.0]], [1, 2, 2, 2, 2])
        >>> paddle.sparse.nn.Conv3D(2, 4, 3, padding=1)(x).shape
        paddle.Size([1, 2, 2, 2, 4])
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
        padding_mode: str = "zeros",
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NDHWC",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            None,
            weight_attr,
            bias_attr,
            data_format,
        )


class Conv2D(_Conv):
    """`paddle.sparse.nn.functional.conv2d` with learnt kernels. Arguments as for `Conv3D`, with two axes of
    space; data_format is "NHWC".

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr: as for `Conv3D`.
        data_format: "NHWC".
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [0]], [[1.0, 2.0]], [1, 2, 2, 2])
        >>> paddle.sparse.nn.Conv2D(2, 4, 3, padding=1)(x).shape
        paddle.Size([1, 2, 2, 4])
    """

    _spatial = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NHWC",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            None,
            weight_attr,
            bias_attr,
            data_format,
        )


class SubmConv3D(_Conv):
    """`paddle.sparse.nn.functional.subm_conv3d` with learnt kernels: the result has the
    coordinates of the input.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format: as for `Conv3D`.
        key: str; it has no effect.
        backend: None or "igemm"; it has no effect.
    Raises:
        AssertionError: groups, padding_mode or backend is not allowed.
        ValueError: a number or data_format is not allowed.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [0]], [[1.0, 2.0]], [1, 2, 2, 2, 2])
        >>> paddle.sparse.nn.SubmConv3D(2, 4, 3)(x).nnz()
        1
    """

    _submanifold = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NDHWC",
        backend: str | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            key,
            weight_attr,
            bias_attr,
            data_format,
            backend,
        )


class SubmConv2D(_Conv):
    """`paddle.sparse.nn.functional.subm_conv2d` with learnt kernels. Arguments as for `SubmConv3D`, with two
    axes of space; data_format is "NHWC".

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, key,
            weight_attr, bias_attr: as for `SubmConv3D`.
        data_format: "NHWC".
        backend: None or "igemm", which changes nothing.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [0]], [[1.0, 2.0]], [1, 2, 2, 2])
        >>> paddle.sparse.nn.SubmConv2D(2, 4, 3)(x).nnz()
        1
    """

    _spatial = 2
    _submanifold = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NHWC",
        backend: str | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            key,
            weight_attr,
            bias_attr,
            data_format,
            backend,
        )
