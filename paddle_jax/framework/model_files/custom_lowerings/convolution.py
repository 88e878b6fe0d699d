"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.framework.model_files.builder_helpers import pair, squeeze, unsqueeze
from paddle_jax.framework.model_files.plain_values import as_list, image_format
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.nn.functional.windows import paddings

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def padding(a: Any, n: Any, last: bool) -> tuple[Any, str] | tuple[list[Any], str]:
    """(paddings, padding_algorithm)"""
    value = paddings("", a.padding, n, last)
    if isinstance(value, str):
        return [0] * n, value
    # Paddle has one number per axis where both sides are equal.
    if all(p == q for p, q in value):
        return [both[0] for both in value], "EXPLICIT"
    return [p for both in value for p in both], "EXPLICIT"


def _channels(ndim: int, is_last: bool) -> int:
    """The axis of the channels."""
    if is_last:
        return ndim - 1
    return 1


def _bias(w: Builder, out: Sequence[Any], done: Value, bias: Value, channel: int) -> Any:
    """done + bias along the channel axis."""
    if bias is None:
        return done
    shape = [1] * len(out[1])
    shape[channel] = bias.shape[0]
    return w.op("add", [done, w.op("reshape", [bias, w.ints(shape)], (bias.dtype, shape))], out)


def _settings(a: Any, n: int) -> tuple[dict[str, Any], Any]:
    """Attributes that convolutions share, and whether channels are last."""
    last = a.data_format[-1] == "C"
    pads, how = padding(a, n, last)
    found = {
        "strides": pair(a.stride, n),
        "paddings": pads,
        "padding_algorithm": how,
        "dilations": pair(a.dilation, n),
        "groups": a.groups,
    }
    return found | {"data_format": a.data_format}, last


def _conv(n: int) -> Callable[..., Any]:
    def rule(w: Builder, a: Any, out: Any, x: Value, weight: Value, bias: Value) -> Value:
        attrs, last = _settings(a, n)
        # One channel per group: Paddle has an operation for it.
        if n == 2 and a.groups > 1 and a.groups == x.shape[_channels(x.ndim, last)] and weight.shape[1] == 1:
            name = "depthwise_conv2d"
        else:
            name = f"conv{n}d"
        done = w.op(name, [x, weight], out[0], **attrs)
        return _bias(w, out[0], done, bias, _channels(x.ndim, last))

    return rule


def _conv_transpose(n: int) -> Callable[..., Any]:
    def rule(w: Builder, a: Any, out: Any, x: Value, weight: Value, bias: Value) -> Value:
        attrs, last = _settings(a, n)
        extra = []
        if a.output_padding:
            extra = pair(a.output_padding, n)
        if n == 3:
            # Operations of 3D convolutions say NCHW for NCDHW.
            attrs["data_format"] = image_format(last)
        if n == 2 and a.groups > 1 and a.groups == x.shape[_channels(x.ndim, last)]:
            name = "depthwise_conv2d_transpose"
        else:
            name = f"conv{n}d_transpose"
        size = []
        if a.output_size is not None:
            size = pair(a.output_size, n)
        operands = [x, weight]
        # In the 2D operation the size is an operand, in the 3D one an attribute.
        if n == 2:
            operands.append(w.ints(size))
        if n == 3:
            attrs["output_size"] = size
        done = w.op(name, operands, out[0], output_padding=extra, **attrs)
        return _bias(w, out[0], done, bias, _channels(x.ndim, last))

    return rule


def flat(rule: Callable[..., Any], weighted: bool = True) -> Callable[..., Any]:
    """A rule for one spatial axis, made of that for two: the new axis has length 1 and comes first."""

    def one(w: Any, a: Any, out: Any, x: Any, *operands: Any) -> Any:
        last = getattr(a, "data_format", "NCL")[-1] == "C"
        # The new axis comes first among those of space.
        axis = 2 - last
        for name, fill in (
            ("stride", 1),
            ("dilation", 1),
            ("output_padding", 0),
            ("kernel_size", 1),
            ("output_size", 1),
        ):
            value = getattr(a, name, None)
            if value is not None:
                setattr(a, name, [fill, *as_list(value)])
        if not isinstance(getattr(a, "padding", ""), str):
            # No padding on the axis that is added.
            a.padding = [0, 0, *paddings("", a.padding, 1, last)[0]]
        a.data_format = image_format(last)
        if weighted:
            operands = (unsqueeze(w, operands[0], 2), *operands[1:])
        outs = [(dtype, [*shape[:axis], 1, *shape[axis:]]) for dtype, shape in out]
        found = rule(w, a, outs, unsqueeze(w, x, axis), *operands)
        if isinstance(found, list):
            return [squeeze(w, one, [axis]) for one in found]
        return squeeze(w, found, [axis])

    return one


# reading and exporting --------------------------------------------------------------------------------------


def read_padding(a: Any) -> list[int]:
    """The padding argument of convolutions and pooling."""
    if a.padding_algorithm == "EXPLICIT":
        return a.paddings
    return a.padding_algorithm


def layout(a: Any, name: str) -> str | None:
    """3D operations of Paddle may say NCHW for NCDHW."""
    if "3d" not in name:
        return a.data_format
    return {"NCHW": "NCDHW", "NHWC": "NDHWC"}.get(a.data_format, a.data_format)


def _read_conv(name: str) -> Callable[..., Any]:
    return lambda a, x, w: getattr(P, name)(
        x, w, None, a.strides, read_padding(a), a.dilations, a.groups, data_format=layout(a, name)
    )


def _read_transpose(name: str) -> Callable[..., Any]:
    def rule(a: Any, x: Tensor, w: Tensor, n_size: Any = None) -> Tensor:
        size = n_size or getattr(a, "output_size", None) or None
        if size:
            extra = {"output_size": size}
        else:
            extra = {"output_padding": a.output_padding or 0}
        return getattr(P, name)(
            x,
            w,
            None,
            a.strides,
            read_padding(a),
            dilation=a.dilations,
            groups=a.groups,
            data_format=layout(a, name),
            **extra,
        )

    return rule


def onnx_pads(op: Any, n: Any) -> dict[str, str] | dict[str, list[Any]]:
    """The attributes of a node that say how it pads n axes."""
    pads = list(op.paddings)
    if op.padding_algorithm == "SAME":
        # Paddle's SAME pads more at the end, as SAME_UPPER does.
        return {"auto_pad": "SAME_UPPER"}
    if op.padding_algorithm == "VALID":
        pads = [0] * n
    # Paddle has pairs for each axis, ONNX all begins and then all ends.
    if len(pads) == n:
        return {"pads": [*pads, *pads]}
    return {"pads": [*pads[::2], *pads[1::2]]}


def _onnx_conv(g: Graph, op: Any, x: str, w: str) -> str:
    op.channels_first()
    n = op.ndim() - 2
    return g.node(
        "Conv", [x, w], strides=op.strides, dilations=op.dilations, group=op.groups, **onnx_pads(op, n)
    )


def _onnx_transpose(g: Any, op: Any, x: Any, w: Any, size: Any = None) -> Any:
    op.channels_first()
    n = op.ndim() - 2
    if op.output_padding:
        extra = {"output_padding": op.output_padding}
    else:
        extra = {}
    return g.node(
        "ConvTranspose",
        [x, w],
        strides=op.strides,
        dilations=op.dilations,
        group=op.groups,
        **extra,
        **onnx_pads(op, n),
    )


conv1d: Lowering = Lowering(flat(_conv(2)))
conv1d_transpose: Lowering = Lowering(flat(_conv_transpose(2)))
conv2d: Lowering = Lowering(_conv(2), _read_conv("conv2d"), _onnx_conv)
conv3d: Lowering = Lowering(_conv(3), _read_conv("conv3d"), _onnx_conv)
conv2d_transpose: Lowering = Lowering(
    _conv_transpose(2), _read_transpose("conv2d_transpose"), _onnx_transpose
)
conv3d_transpose: Lowering = Lowering(
    _conv_transpose(3), _read_transpose("conv3d_transpose"), _onnx_transpose
)
