"""Convolutions as functions that create their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax.nn import functional as F
from paddle_jax.static.nn.common import Owner, activated, he_normal

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, ParamAttrLike, Size
    from paddle_jax._core.tensors.tensor import Tensor


def _tuple(value: Size, n: int) -> list[int]:
    if isinstance(value, int | np.integer):
        return [value] * n
    return [int(v) for v in value]


def _conv(
    kind: str,
    n: int,
    input: Tensor,
    num_filters: int,
    filter_size: Size,
    stride: Size,
    padding: Padding,
    dilation: Size,
    groups: int | None,
    param_attr: ParamAttrLike | None,
    bias_attr: ParamAttrLike | None,
    act: str | None,
    name: str | None,
    data_format: str,
) -> Tensor:
    owner = Owner(kind, name, input)
    # Channels of the input: their number is part of the weight's shape.
    channels = input.shape[-1 if data_format[-1] == "C" else 1]
    groups = groups or 1
    if channels % groups:
        raise ValueError(
            f"{kind}: groups: got {groups} for {channels} channels; "
            "the number of channels must be a multiple of it"
        )
    kernel = _tuple(filter_size, n)
    weight = owner.parameter(
        [num_filters, channels // groups, *kernel],
        param_attr,
        input.dtype,
        default=he_normal(kernel, channels),
    )
    bias = owner.parameter([num_filters], bias_attr, input.dtype, is_bias=True)
    return activated(
        getattr(F, kind)(input, weight, bias, stride, padding, dilation, groups, data_format), act
    )


def conv2d(
    input: Tensor,
    num_filters: int,
    filter_size: Size,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int | None = None,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """A convolution over images, with parameters of its own.

    Args:
        input: Variable [N, C, H, W] or [N, H, W, C].
        num_filters: int, the number of output channels.
        filter_size: int or list of two ints.
        stride, padding, dilation, groups: as for `paddle.nn.functional.conv2d`.
        param_attr, bias_attr: ParamAttr; False: no bias.
        use_cudnn: accepted.
        act: str, the name of an activation. Default None.
        name: str that the names of the parameters begin with.
        data_format: "NCHW" or "NHWC".
    Returns:
        Variable [N, num_filters, ...].
    Raises:
        ValueError: the channels are no multiple of groups.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.conv2d(paddle.static.data("x", [None, 3, 8, 8]), 4, 3, act="relu").shape
        paddle.Size([-1, 4, 6, 6])
        >>> paddle.disable_static()
    """
    return _conv(
        "conv2d",
        2,
        input,
        num_filters,
        filter_size,
        stride,
        padding,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        name,
        data_format,
    )


def conv3d(
    input: Tensor,
    num_filters: int,
    filter_size: Size,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int | None = None,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Tensor:
    """A convolution over volumes, with parameters of its own. Arguments as for `conv2d`, with one more axis.

    Args:
        input: Variable [batch, channels, depth, height, width], or with the channels last.
        num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr, use_cudnn, act,
            data_format: as for `conv2d`, with one axis more.
    Returns:
        Variable [batch, num_filters, depth, height, width], or with the channels last.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.conv3d(paddle.static.data("x", [None, 3, 8, 8, 8]), 4, 3).shape
        paddle.Size([-1, 4, 6, 6, 6])
        >>> paddle.disable_static()
    """
    return _conv(
        "conv3d",
        3,
        input,
        num_filters,
        filter_size,
        stride,
        padding,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        name,
        data_format,
    )


def _transposed(
    kind: str,
    n: int,
    input: Tensor,
    num_filters: int,
    output_size: Size | None,
    filter_size: Size | None,
    padding: Padding,
    stride: Size,
    dilation: Size,
    groups: int | None,
    param_attr: ParamAttrLike | None,
    bias_attr: ParamAttrLike | None,
    act: str | None,
    name: str | None,
    data_format: str,
) -> Tensor:
    owner = Owner(kind, name, input)
    last = data_format[-1] == "C"
    channels = input.shape[-1 if last else 1]
    groups = groups or 1
    sizes = input.shape[1:-1] if last else input.shape[2:]
    strides = _tuple(stride, n)
    dilations = _tuple(dilation, n)
    if filter_size is None:
        # Only then the lengths decide the size of the filter.
        if output_size is None or isinstance(padding, str) or -1 in sizes:
            raise ValueError(
                f"{kind}: filter_size: got None; give it, or output_size with a numeric padding "
                "for an input of known lengths"
            )
        wanted = _tuple(output_size, n)
        pads = _tuple(padding, n)
        # The formula of the length of a transposed convolution, solved for the filter.
        kernel = [
            (o - (s - 1) * k + 2 * p - 1) // d + 1
            for o, s, k, p, d in zip(wanted, sizes, strides, pads, dilations, strict=True)
        ]
    else:
        kernel = _tuple(filter_size, n)
    weight = owner.parameter([channels, num_filters // groups, *kernel], param_attr, input.dtype)
    bias = owner.parameter([num_filters], bias_attr, input.dtype, is_bias=True)
    size = None if output_size is None else _tuple(output_size, n)
    out = getattr(F, kind)(
        input,
        weight,
        bias,
        stride=strides,
        padding=padding,
        dilation=dilations,
        groups=groups,
        output_size=size,
        data_format=data_format,
    )
    return activated(out, act)


def conv2d_transpose(
    input: Tensor,
    num_filters: int,
    output_size: Size | None = None,
    filter_size: Size | None = None,
    padding: Padding = 0,
    stride: Size = 1,
    dilation: Size = 1,
    groups: int | None = None,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """A transposed convolution over images, with parameters of its own.

    Args:
        input: Variable [N, C, H, W] or [N, H, W, C].
        num_filters: int, the number of output channels.
        output_size: int or list of two ints. Default: what the other arguments give.
        filter_size: int or list of two ints. Default: from output_size.
        padding, stride, dilation, groups, data_format: as for `paddle.nn.functional.conv2d_transpose`.
        param_attr, bias_attr, use_cudnn, act, name: as for `conv2d`.
    Returns:
        Variable [N, num_filters, ...].
    Raises:
        ValueError: neither filter_size nor output_size is given.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.conv2d_transpose(paddle.static.data("x", [None, 3, 8, 8]), 4,
        ...                                       filter_size=3).shape
        paddle.Size([-1, 4, 10, 10])
        >>> paddle.disable_static()
    """
    return _transposed(
        "conv2d_transpose",
        2,
        input,
        num_filters,
        output_size,
        filter_size,
        padding,
        stride,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        name,
        data_format,
    )


def conv3d_transpose(
    input: Tensor,
    num_filters: int,
    output_size: Size | None = None,
    filter_size: Size | None = None,
    padding: Padding = 0,
    stride: Size = 1,
    dilation: Size = 1,
    groups: int | None = None,
    param_attr: ParamAttrLike | None = None,
    bias_attr: ParamAttrLike | None = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Tensor:
    """A transposed convolution over volumes, with parameters of its own. Arguments as for `conv2d_transpose`,
    with one more axis.

    Args:
        input: Variable [batch, channels, depth, height, width], or with the channels last.
        num_filters, output_size, filter_size, padding, stride, dilation, groups, param_attr, bias_attr,
            use_cudnn, act, data_format: as for `conv2d_transpose`, with one axis more.
    Returns:
        Variable [batch, num_filters, depth, height, width], or with the channels last.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     paddle.static.nn.conv3d_transpose(paddle.static.data("x", [None, 3, 4, 4, 4]), 4,
        ...                                       filter_size=3).shape
        paddle.Size([-1, 4, 6, 6, 6])
        >>> paddle.disable_static()
    """
    return _transposed(
        "conv3d_transpose",
        3,
        input,
        num_filters,
        output_size,
        filter_size,
        padding,
        stride,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        name,
        data_format,
    )


__all__ = ["conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]
