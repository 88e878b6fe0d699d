"""Normalization of layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import Length, is_length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import (
    binary,
    reduced,
    reshape,
    scaled,
    squeeze,
    unsqueeze,
)
from paddle_jax.framework.model_files.plain_values import image_format, with_ones
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _weights(w: Builder, weight: Value, bias: Value, count: int, dtype: str) -> tuple[Any, Any]:
    """Scale and shift, filled in where they are missing."""
    return weight or w.full(1.0, dtype, (count,)), bias or w.full(0.0, dtype, (count,))


def _batch_norm(
    w: Builder, a: Any, out: Sequence[Any], x: Value, mean: Value, variance: Value, weight: Value, bias: Value
) -> Value:
    # "NC" ends in C, and has its channels on axis 1.
    last = a.data_format[-1] == "C" and a.data_format != "NC"
    weight, bias = _weights(w, weight, bias, mean.shape[0], mean.dtype)
    kinds = [out[0], mean.type, mean.type, mean.type, mean.type, None]
    return w.op(
        "batch_norm_",
        [x, mean, variance, weight, bias],
        kinds,
        momentum=0.9,
        epsilon=a.epsilon,
        data_format=image_format(last),
    )[0]


def _batch_norm_train(
    w: Any, a: Any, out: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any
) -> list[Any]:
    """As in evaluation: Paddle saves it like that."""
    return [_batch_norm(w, a, out, x, mean, variance, weight, bias), mean, variance]


def _layer_norm(w: Builder, a: Any, out: Sequence[Any], x: Value, weight: Any, bias: Any) -> Value:
    if isinstance(a.normalized_shape, int):
        count = 1
    else:
        count = len(a.normalized_shape)
    begin = x.ndim - count
    # Weights are vectors in Paddle's operation.
    both = []
    for one in (weight, bias):
        if one is not None and one.ndim != 1:
            one = reshape(w, one, [math.prod(one.shape)])
        both.append(one)
    return w.op(
        "layer_norm",
        [x, *both],
        [out[0], ("float32", x.shape[:begin]), ("float32", x.shape[:begin])],
        epsilon=a.epsilon,
        begin_norm_axis=begin,
    )[0]


def _group_norm(w: Any, a: Any, out: Any, x: Any, weight: Any, bias: Any) -> Any:
    last = a.data_format[-1] == "C" and a.data_format != "NC"
    groups = ("float32", [x.shape[0], a.num_groups])
    return w.op(
        "group_norm",
        [x, weight, bias],
        [out[0], groups, groups],
        epsilon=a.epsilon,
        groups=a.num_groups,
        data_format=image_format(last),
    )[0]


def _instance_norm(w: Any, a: Any, out: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any) -> Any:
    return w.op("instance_norm", [x, weight, bias], [out[0], None, None], epsilon=a.eps)[0]


def _rms_norm(w: Any, a: Any, out: Any, x: Any, weight: Any) -> Any:
    if isinstance(a.normalized_shape, int):
        count = 1
    else:
        count = len(a.normalized_shape)
    axes = list(range(x.ndim - count, x.ndim))
    kept = x.dtype, with_ones(x.shape, axes)
    mean = reduced(w, "mean", w.op("square", [x], x.type), axes, True, kept)
    # x / sqrt(mean(x^2) + eps), Zhang and Sennrich (2019).
    done = binary(w, "multiply", x, w.op("rsqrt", [scaled(w, mean, 1.0, a.eps)], kept), x.type)
    if weight is None:
        return done
    return binary(w, "multiply", done, weight, out[0])


def _response_by_parts(a: Any, x: Any) -> Any:
    """Of other than 4 axes, or with the channels last."""
    last = a.data_format[-1] == "C"
    if x.ndim == 4 and not last and not is_length(x.shape[1]):
        return None
    squares = P.square(x)
    # As many neighbours before as after, one more before for an even size.
    before = a.size // 2
    after = (a.size - 1) // 2
    if last:
        flat = P.reshape(squares, [x.shape[0], 1, -1, x.shape[-1]])
        mean = P.avg_pool2d(P.pad(flat, [before, after, 0, 0]), [1, a.size], 1)
    else:
        flat = P.reshape(squares, [x.shape[0], 1, x.shape[1], -1])
        mean = P.avg_pool2d(P.pad(flat, [0, 0, before, after]), [a.size, 1], 1)
    return x / P.pow(P.reshape(mean, list(x.shape)) * a.alpha + a.k, a.beta)


def _local_response_norm(w: Any, a: Any, out: Any, x: Any) -> Any:
    if a.data_format[-1] == "C" or x.ndim != 4 or isinstance(x.shape[1], Length):
        raise NotWritable("local_response_norm of this shape has no form in PIR")
    squares = unsqueeze(w, w.op("square", [x], x.type), 1)
    # The channel is an axis to pool over.
    pads = [0, 0, 0, 0, a.size // 2, (a.size - 1) // 2]
    wide = [*squares.shape[:2], squares.shape[2] + a.size - 1, *squares.shape[3:]]
    padded = w.op("pad3d", [squares, w.ints(pads)], (x.dtype, wide), mode="constant", pad_value=0.0)
    mean = w.op(
        "pool3d",
        [padded],
        squares.type,
        kernel_size=[a.size, 1, 1],
        strides=[1, 1, 1],
        paddings=[0, 0, 0],
        pooling_type="avg",
    )
    power = w.op("pow", [scaled(w, squeeze(w, mean, [1]), a.alpha, a.k)], x.type, y=a.beta)
    return binary(w, "divide", x, power, out[0])


# reading and exporting --------------------------------------------------------------------------------------


def _read_batch_norm(
    a: Any, x: Tensor, mean: Tensor, var: Tensor, w: Tensor, b: Tensor
) -> tuple[Any, Any, Any, None, None, None]:
    training = not (a.is_test or a.use_global_stats)
    if training:
        # Copied, as training changes them.
        mean = P.assign(mean)
        var = P.assign(var)
    done = P.batch_norm(x, mean, var, w, b, training, a.momentum, a.epsilon, a.data_format, not training)
    return done, mean, var, None, None, None


def _read_layer_norm(a: Any, x: Any, w: Any, b: Any) -> Any:
    shape = list(x.shape[a.begin_norm_axis :])
    return P.layer_norm(x, shape, *(None if one is None else one.reshape(shape) for one in (w, b)), a.epsilon)


def _read_group_norm(a: Any, x: Any, w: Any, b: Any) -> Any:
    return P.group_norm(x, a.groups, a.epsilon, w, b, a.data_format)


def _read_instance_norm(a: Any, x: Any, w: Any, b: Any) -> Any:
    return P.instance_norm(x, weight=w, bias=b, eps=a.epsilon)


def _onnx_batch_norm(g: Graph, op: Any, x: str, mean: str, var: str, w: str, b: str) -> list[Any]:
    op.channels_first()
    return [
        g.node("BatchNormalization", [x, w, b, mean, var], epsilon=op.epsilon),
        None,
        None,
        None,
        None,
        None,
    ]


def _onnx_layer_norm(g: Graph, op: Any, x: str, w: str, b: str) -> list[Any]:
    axis = op.begin_norm_axis
    lengths = [int(n) for n in op.lengths()[axis:]]
    if any(n < 0 for n in lengths):
        return [_onnx_open_layer_norm(g, op, x, w, b), None, None]
    if w is None:
        w = g.constant(np.ones(lengths, op.kind()))
    else:
        w = g.node("Reshape", [w, g.ints(lengths)])
    if b is not None:
        b = g.node("Reshape", [b, g.ints(lengths)])
    return [g.node("LayerNormalization", [x, w, b], axis=axis, epsilon=op.epsilon), None, None]


def _onnx_open_layer_norm(g: Any, op: Any, x: Any, w: Any, b: Any) -> Any:
    """By its parts: the runtime wants a scale of known lengths."""
    axes = list(range(op.begin_norm_axis, op.ndim()))
    gap = g.node("Sub", [x, g.node("ReduceMean", [x], axes=axes, keepdims=1)])
    variance = g.node("ReduceMean", [g.node("Mul", [gap, gap])], axes=axes, keepdims=1)
    deviation = g.node("Sqrt", [g.node("Add", [variance, g.number(op.epsilon, op.kind())])])
    y = g.node("Div", [gap, deviation])
    shape = g.node("Slice", [g.node("Shape", [x]), g.ints(axes[:1]), g.ints([op.ndim()])])
    for kind, one in (("Mul", w), ("Add", b)):
        if one is not None:
            y = g.node(kind, [y, g.node("Reshape", [one, shape])])
    return y


def _onnx_instance_norm(g: Any, op: Any, x: Any, w: Any, b: Any) -> list[Any]:
    channels = op.lengths()[1]
    if w is None:
        w = g.constant(np.ones(channels, op.kind()))
    if b is None:
        b = g.constant(np.zeros(channels, op.kind()))
    return [g.node("InstanceNormalization", [x, w, b], epsilon=op.epsilon), None, None]


def _onnx_group_norm(g: Any, op: Any, x: Any, w: Any, b: Any) -> list[Any]:
    op.channels_first()
    ones = np.ones(op.groups, op.kind())
    n = op.ndim()
    # Groups as channels: normalizing an instance by channel is normalizing by group.
    folded = g.node("Reshape", [x, g.ints([0, op.groups, -1])])
    y = g.node("InstanceNormalization", [folded, g.constant(ones), g.constant(0 * ones)], epsilon=op.epsilon)
    y = g.node("Reshape", [y, g.node("Shape", [x])])
    for kind, one in (("Mul", w), ("Add", b)):
        if one is not None:
            y = g.node(kind, [y, g.node("Reshape", [one, g.ints([-1] + [1] * (n - 2))])])
    return [y, None, None]


batch_norm: Lowering = Lowering(_batch_norm, _read_batch_norm, _onnx_batch_norm)
batch_norm_train: Lowering = Lowering(_batch_norm_train)
layer_norm: Lowering = Lowering(_layer_norm, _read_layer_norm, _onnx_layer_norm)
group_norm: Lowering = Lowering(_group_norm, _read_group_norm, _onnx_group_norm)
instance_norm: Lowering = Lowering(_instance_norm, _read_instance_norm, _onnx_instance_norm)
rms_norm: Lowering = Lowering(_rms_norm)
local_response_norm: Lowering = Lowering(_local_response_norm, decompose=_response_by_parts)
