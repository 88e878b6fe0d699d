"""Transposed convolutions: the adjoint of a convolution with respect to its input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.kernels.product_precision import convolution_precision
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.convolve import SPATIAL
from paddle_jax.nn.functional.convolve_cpu import Plan, transposed
from paddle_jax.nn.functional.windows import channel_last, check_ndim, ints, paddings
from paddle_jax.tensor.lowering import on_cpu

if TYPE_CHECKING:
    import jax


def _transpose(
    op_name: str,
    n: int,
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
    output_size: Any,
    data_format: str,
) -> jax.Array:
    last = channel_last(op_name, n, data_format)
    check_ndim(op_name, x, n + 2)
    _check(op_name, x, weight, bias, groups, last)
    strides, dilations = ints(op_name, "stride", stride, n), ints(op_name, "dilation", dilation, n)
    sizes = x.shape[1:-1] if last else x.shape[2:]
    kernel = weight.shape[2:]
    pads, dilations = _resolve(op_name, padding, n, last, sizes, kernel, strides, dilations)
    # The shortest result that a convolution with these settings maps to x.
    least = [
        (s - 1) * t - a - b + d * (k - 1) + 1
        for s, t, (a, b), d, k in zip(sizes, strides, pads, dilations, kernel, strict=True)
    ]
    # How much longer than that the result is to be.
    extra = _extra(op_name, n, output_padding, output_size, least, strides, dilations)
    if any(m + e <= 0 for m, e in zip(least, extra, strict=True)):
        raise ValueError(
            f"{op_name}: padding: got {padding}; "
            f"the result would be {[m + e for m, e in zip(least, extra, strict=True)]} long"
        )
    # XLA runs most of these as a serial loop nest on the CPU, see convolve_cpu.py.
    if on_cpu():
        wanted = tuple(m + e for m, e in zip(least, extra, strict=True))
        plan = Plan(strides, pads, dilations, tuple(sizes), groups)
        # The plan has channels on axis 1.
        first = jnp.moveaxis(x, -1, 1) if last else x
        y = transposed(
            first,
            weight,
            plan,
            wanted,
            lambda v, w: _adjoint(v, w, strides, pads, dilations, groups, extra, False),
        )
        if last:
            y = jnp.moveaxis(y, 1, -1)
    else:
        y = _adjoint(x, weight, strides, pads, dilations, groups, extra, last)
    if bias is None:
        return y
    return y + (bias if last else bias.reshape(-1, *[1] * n))


def _check(
    op_name: str, x: jax.Array, weight: jax.Array, bias: jax.Array | None, groups: int, last: bool
) -> None:
    channels = x.shape[-1] if last else x.shape[1]
    if weight.ndim != x.ndim or weight.shape[0] != channels:
        raise ValueError(
            f"{op_name}: weight: got shape {list(weight.shape)}; "
            f"it must have {x.ndim} axes, the first as long as the {channels} channels of x"
        )
    if not isinstance(groups, int) or groups < 1 or channels % groups:
        raise ValueError(f"{op_name}: groups: got {groups!r}; it must divide the {channels} channels of x")
    # Paddle takes one bias for all channels as well.
    if bias is not None and bias.shape not in ((weight.shape[1] * groups,), (1,), ()):
        raise ValueError(
            f"(InvalidArgument) {op_name}: bias: got shape {list(bias.shape)}; "
            f"it must be [{weight.shape[1] * groups}] or [1]"
        )
    if x.dtype != weight.dtype:
        raise ValueError(f"{op_name}: weight: got {weight.dtype}; it must have the dtype of x, {x.dtype}")


def _resolve(
    op_name: str, padding: Any, n: int, last: bool, sizes: Any, kernel: Any, strides: Any, dilations: Any
) -> tuple[Any, Any]:
    """Pairs of padding; "SAME" makes the output n * stride long and takes dilation as 1."""
    pads = paddings(op_name, padding, n, last)
    if pads == "VALID":
        return ((0, 0),) * n, dilations
    if pads != "SAME":
        return pads, dilations
    # As TensorFlow's SAME: more padding at the end.
    totals = [max((-(-s // t) - 1) * t + k - s, 0) for s, t, k in zip(sizes, strides, kernel, strict=True)]
    return tuple((t // 2, t - t // 2) for t in totals), (1,) * n


def _extra(
    op_name: str, n: int, output_padding: Any, output_size: Any, least: Any, strides: Any, dilations: Any
) -> Any:
    """How much longer than the least length each output is."""
    if output_size is None:
        extra = ints(op_name, "output_padding", output_padding, n, 0)
        # Beyond the stride the result would have places that nothing reaches.
        if any(e >= max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
            raise ValueError(
                f"{op_name}: output_padding: got {output_padding}; each must be below the "
                f"stride {list(strides)} or the dilation {list(dilations)}"
            )
        return extra
    if output_padding not in (0, (0,) * n, (0,)):
        raise ValueError(
            f"{op_name}: got output_size={output_size} together with output_padding; give only one of them"
        )
    wanted = ints(op_name, "output_size", output_size, n)
    extra = tuple(w - m for w, m in zip(wanted, least, strict=True))
    # Several input lengths share one output length, within a stride.
    if any(not 0 <= e < s for e, s in zip(extra, strides, strict=True)):
        raise ValueError(
            f"{op_name}: output_size: got {list(wanted)}; each must lie from {least} to less "
            f"than one stride {list(strides)} more"
        )
    return extra


def _adjoint(
    x: jax.Array,
    weight: jax.Array,
    strides: Any,
    pads: Any,
    dilations: Any,
    groups: int,
    extra: str | None,
    last: bool,
) -> jax.Array:
    """Convolution of x, spread out by the strides, with the mirrored kernel."""
    n = len(strides)
    # y = sum over k of x[(i + pad - k * dilation) / stride] * w[k]: a convolution with gaps of `stride` in
    # x, padded by the reach of the kernel less the padding.
    reach = [d * (k - 1) for d, k in zip(dilations, weight.shape[2:], strict=True)]
    around = [(r - a, r - b + e) for r, (a, b), e in zip(reach, pads, extra, strict=True)]
    spatial = weight.shape[2:]
    kernel = weight[(slice(None), slice(None), *[slice(None, None, -1)] * n)]
    if groups > 1:  # [groups * in, out, ...] -> [in, groups * out, ...]
        kernel = (
            kernel.reshape(groups, -1, *kernel.shape[1:])
            .swapaxes(0, 1)
            .reshape(x.shape[-1 if last else 1] // groups, -1, *spatial)
        )
    letters = SPATIAL[n]
    image = f"N{letters}C" if last else f"NC{letters}"
    return lax.conv_general_dilated(
        x,
        kernel,
        (1,) * n,
        around,
        lhs_dilation=strides,
        rhs_dilation=dilations,
        # IO: the weight's first axis holds the channels of x here.
        dimension_numbers=(image, "IO" + letters, image),
        feature_group_count=groups,
        precision=convolution_precision(),
    )


@known_as(code="convolution:conv1d_transpose")
@op(
    "x weight bias",
    method=False,
    cases=[
        "f(2,4,5), f(4,6,3), f(6)",
        "f(2,4,5), f(4,3,3), None, 2, 1, 1, 2",
        "f(2,5,4), f(4,6,3), f(6), 2, data_format='NLC'",
        "f(2,4,5), f(4,6,3), stride=2, output_size=[12]",
        "f(2,4,5), f(4,6,3), stride=2, output_size=20",
        "f(2,4,5), f(4,6,3), padding='SAME', stride=2",
        "f(2,4,5), f(3,6,3)",
        "f(4,5), f(4,6,3)",
        "f(2,4,5), f(4,6,3), dilation=2",
        "f(2,4,5), f(4,6,3), padding=[1,0]",
        "f(2,4,5), f(4,6,3), output_padding=1",
    ],
)
def conv1d_transpose(
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> jax.Array:
    """Transposed convolution of a sequence: spreads each element over a kernel. Arguments as for
    `conv2d_transpose`, with one spatial axis.

    Args:
        x: Tensor [N, C, L], or [N, L, C] with data_format "NLC".
        weight: Tensor [C, out / groups, K].
        bias: Tensor [out], or None.
        stride, padding, output_padding, groups, dilation, output_size: as for `conv2d_transpose`.
        data_format: "NCL" or "NLC".
    Returns:
        Tensor [N, out, length], or with the channels last, as x.
    Example:
        >>> paddle.nn.functional.conv1d_transpose(paddle.ones([1, 1, 2]), paddle.ones([1, 1, 2])).tolist()
        [[[1.0, 2.0, 1.0]]]
    """
    return _transpose(
        "conv1d_transpose",
        1,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


@known_as(
    pir="conv2d_transpose|depthwise_conv2d_transpose|conv2d_transpose_bias strides:i32s "
    "paddings:i32s output_padding:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 "
    "dilations:i32s data_format:str='NCHW'",
    code="convolution:conv2d_transpose",
)
@op(
    "x weight bias",
    method=False,
    cases=[
        "f(2,4,5,4), f(4,6,3,3), f(6)",
        "f(2,4,5,4), f(4,3,3,2), f(6), [2,1], 1, 0, 1, 2",
        "f(2,5,4,4), f(4,6,3,3), f(6), 2, data_format='NHWC'",
        "f(2,4,5,4), f(4,6,3,3), stride=2, output_size=[12,10]",
        "f(2,4,5,4), f(4,6,3,3), stride=2, padding=1, output_padding=1",
        "f(2,4,5,4), f(4,6,3,3), padding='SAME', stride=2",
        "f(2,4,5,4), f(4,6,3,3), padding='VALID', dilation=2",
        "f(2,4,5,4), f(3,6,3,3)",
        "f(4,5,4), f(4,6,3,3)",
        "f(2,4,5,4), f(4,6,3,3), padding=[1,0,0,1]",
        "f(2,4,5,4), f(4,1,3,3), groups=4, stride=2",
        "f(2,4,5,4), f(4,6,3,3), output_padding=2",
        "d(1,1,4,4), d(1,2,3,3), d(2), 2",
        "f(2,4,5,4), f(4,6,3,3), stride=2, output_size=[12,10], output_padding=1",
        "f(2,4,5,4), f(4,6,3,3), stride=2, output_size=[30,10]",
        "d(0,4,5,4), d(4,6,3,3)",
    ],
)
def conv2d_transpose(
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """Transposed convolution of an image: the adjoint of `conv2d` with the same weight, so it
    enlarges by the stride.

    Args:
        x: Tensor [N, C, H, W], or [N, H, W, C] with data_format "NHWC".
        weight: Tensor [C, out / groups, kernel height, kernel width].
        bias: Tensor [out], or None.
        stride, padding, dilation, groups, data_format: those of the convolution that is
            transposed; see `conv2d`.
        output_padding: int or [height, width], below the stride or dilation: makes the output
            longer at its end.
        output_size: int or [height, width]: the wanted output lengths, instead of output_padding.
    Returns:
        Tensor [N, out, (H - 1) * stride - padding + dilation * (kernel - 1) + 1 + output_padding, ...].
    Raises:
        ValueError: shapes or arguments do not fit.
    Example:
        >>> paddle.nn.functional.conv2d_transpose(paddle.ones([1, 1, 1, 1]),
        ...                                       paddle.ones([1, 1, 2, 2])).tolist()
        [[[[1.0, 1.0], [1.0, 1.0]]]]
    """
    return _transpose(
        "conv2d_transpose",
        2,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


@known_as(
    pir="conv3d_transpose strides:i32s paddings:i32s output_padding:i32s output_size:i32s=() "
    "padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s data_format:str='NCHW'",
    code="convolution:conv3d_transpose",
)
@op(
    "x weight bias",
    method=False,
    cases=[
        "f(1,2,3,4,3), f(2,3,2,3,2), f(3)",
        "f(1,2,3,4,3), f(2,2,2,2,2), None, 2, 1, 1, 2",
        "f(1,3,4,3,2), f(2,3,2,2,2), f(3), data_format='NDHWC'",
        "f(1,2,3,3), f(2,3,2,2,2)",
        "f(1,2,3,4,3), f(2,3,2,2,2), stride=2, output_size=[7,8,7]",
        "f(1,2,3,4,3), f(2,3,3,3,3), padding='SAME'",
    ],
)
def conv3d_transpose(
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> jax.Array:
    """Transposed convolution of a volume. Arguments as for `conv2d_transpose`, with three spatial axes.

    Args:
        x: Tensor [N, C, D, H, W], or [N, D, H, W, C] with data_format "NDHWC".
        weight: Tensor [C, out / groups, kernel depth, height, width].
        bias: Tensor [out], or None.
        stride, padding, output_padding, groups, dilation, output_size: as for `conv2d_transpose`.
        data_format: "NCDHW" or "NDHWC".
    Returns:
        Tensor [N, out, depth, height, width], or with the channels last, as x.
    Example:
        >>> paddle.nn.functional.conv3d_transpose(paddle.ones([1, 1, 1, 1, 1]),
        ...                                       paddle.ones([1, 1, 2, 2, 2])).sum().item()
        8.0
    """
    return _transpose(
        "conv3d_transpose",
        3,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )
