"""Convolutions. Kernels larger than the padded input are refused; the real Paddle returns a negative shape
for them and dies when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose  # noqa: F401
from paddle_jax.nn.functional.convolve import convolve

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Padding, Size


@known_as(amp=("depthwise_conv2d", "conv2d"), cast=2, code="convolution:conv1d")
@op(
    "x weight bias",
    method=False,
    alias={"input": "x"},
    cases=[
        "f(2,4,9), f(6,4,3), f(6)",
        "f(2,4,9), f(6,2,3), None, 2, 1, 2, 2",
        "f(2,9,4), f(6,4,3), f(6), data_format='NLC'",
        "f(2,4,9), f(6,4,3), padding='SAME', stride=2",
        "f(2,4,9), f(6,4,3), padding='VALID'",
        "f(2,4,9), f(6,4,1)",
        "f(2,4,9), f(6,4,3), padding=[1,2]",
        "f(2,4,9), f(6,3,3)",
        "f(4,9), f(6,4,3)",
        "d(0,4,9), d(6,4,3)",
        "f(2,4,9), f(6,4,3), padding='X'",
        "f(2,4,9), f(6,4,3), data_format='X'",
        "d(1,1,40), d(2,1,5), d(2), padding=2",
    ],
)
def conv1d(
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> jax.Array:
    """Convolves (cross-correlates) a sequence with a bank of kernels. Arguments as for `conv2d`, with
    one spatial axis.

    Args:
        x: Tensor [N, C, L], or [N, L, C] with data_format "NLC".
        weight: Tensor [out, C / groups, K].
        bias: Tensor [out], or None.
        stride, padding, dilation, groups: as for `conv2d`.
    Returns:
        Tensor [N, out, ...], or with the channels last, as x.
    Example:
        >>> paddle.nn.functional.conv1d(paddle.ones([1, 1, 4]), paddle.ones([1, 1, 2])).tolist()
        [[[2.0, 2.0, 2.0]]]
    """
    return convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups, data_format)


@known_as(
    amp=("depthwise_conv2d", "conv2d"),
    cast=2,
    pir="conv2d|depthwise_conv2d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' "
    "dilations:i32s groups:i32=1 data_format:str='NCHW'",
    code="convolution:conv2d",
)
@op(
    "x weight bias",
    method=False,
    alias={"input": "x"},
    cases=[
        "f(2,4,6,7), f(6,4,3,3), f(6)",
        "f(2,4,6,7), f(6,2,3,2), f(6), [2,1], [1,0], 2, 2",
        "f(2,6,7,4), f(6,4,3,3), f(6), padding=1, data_format='NHWC'",
        "f(2,4,6,7), f(6,4,3,3), padding='SAME', stride=2",
        "f(2,4,6,7), f(6,4,3,3), padding='VALID', dilation=2",
        "f(2,4,6,7), f(4,1,3,3), padding=1, groups=4",
        "f(2,4,6,7), f(8,1,3,3), padding=1, groups=4, stride=2",
        "f(2,4,6,7), f(6,4,1,1), f(6)",
        "f(2,4,6,7), f(6,4,1,1), stride=2, padding=1",
        "f(2,6,7,4), f(6,4,1,1), data_format='NHWC'",
        "f(2,4,6,7), f(6,4,3,3), padding=[1,0,2,1]",
        "f(2,4,6,7), f(6,4,3,3), padding=[[0,0],[0,0],[1,0],[2,1]]",
        "f(2,6,7,4), f(6,4,3,3), padding=[[0,0],[1,0],[2,1],[0,0]], data_format='NHWC'",
        "f(1,2,2,2), f(3,2,3,3), f(3), padding=1",
        "f(2,4,6,7), f(6,3,3,3)",
        "f(2,4,6), f(6,4,3,3)",
        "f(2,4,6,7), f(6,4,3,3), f(5)",
        "d(0,4,6,7), d(6,4,3,3)",
        "f(2,4,6,7), f(6,4,3,3), groups=3",
        "f(2,4,6,7), f(6,4,3,3), stride=0",
        "d(1,1,12,12), d(2,1,3,3), d(2)",
        "f(2,4,6,7), f(6,4,3,3), padding=[1,2,3]",
        "f(1,2,6,6), f(3,2,3,3), dilation=0",
    ],
)
def conv2d(
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """Convolves (cross-correlates) an image with a bank of kernels.

    Args:
        x: Tensor [N, C, H, W], or [N, H, W, C] with data_format "NHWC". `input` is accepted as a name.
        weight: Tensor [out, C / groups, kernel height, kernel width].
        bias: Tensor [out], or None.
        stride: int or [height, width].
        padding: int, [height, width], [top, bottom, left, right], pairs for all four axes, "SAME" (output
            length ceil(n / stride)) or "VALID".
        dilation: int or [height, width]: distance of kernel elements. "SAME" takes it as 1.
        groups: int: input and output channels are cut into so many groups that do not mix.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor [N, out, H', W'] or [N, H', W', out].
    Raises:
        ValueError: shapes or arguments do not fit.
    Example:
        >>> paddle.nn.functional.conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    return convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format)


@known_as(
    pir="conv3d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 "
    "dilations:i32s data_format:str='NCDHW'",
    code="convolution:conv3d",
)
@op(
    "x weight bias",
    method=False,
    alias={"input": "x"},
    cases=[
        "f(1,2,4,5,4), f(3,2,2,3,2), f(3)",
        "f(1,2,4,5,4), f(4,1,2,3,2), None, 2, 1, 1, 2",
        "f(1,4,5,4,2), f(3,2,2,2,2), f(3), data_format='NDHWC'",
        "f(1,2,4,5,4), f(3,2,3,3,3), padding='SAME'",
        "f(1,2,4,5,4), f(3,2,1,1,1), f(3)",
        "f(1,2,4,5,4), f(3,2,2,2,2), padding=[1,0,1,0,0,1]",
        "f(1,2,4,5), f(3,2,2,3,2)",
        "d(0,2,4,4,4), d(3,2,2,2,2)",
    ],
)
def conv3d(
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> jax.Array:
    """Convolves (cross-correlates) a volume with a bank of kernels. Arguments as for `conv2d`, with
    three spatial axes.

    Args:
        x: Tensor [N, C, D, H, W], or [N, D, H, W, C] with data_format "NDHWC".
        weight: Tensor [out, C / groups, kernel depth, height, width].
        bias: Tensor [out], or None.
        stride, padding, dilation, groups: as for `conv2d`.
    Returns:
        Tensor [N, out, ...], or with the channels last, as x.
    Example:
        >>> paddle.nn.functional.conv3d(paddle.ones([1, 1, 2, 2, 2]), paddle.ones([1, 1, 2, 2, 2])).item()
        8.0
    """
    return convolve("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format)
