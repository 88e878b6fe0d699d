"""How gradients of pooling, resizing and convolution are written; see `gradient_expressions.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.lazy.lengths import extreme, is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.gradient_expressions import (
    add_expression,
    channels_back,
    channels_first,
)
from paddle_jax.framework.model_files.gradient_rules import RULES, Cotangents, add_rule, filled_up
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.nn.functional.windows import ints, paddings


def _strides(call: Any, n: int) -> tuple[int, ...]:
    # Windows lie side by side unless the stride is given.
    size = call.attributes["kernel_size"]
    return ints(call.name, "stride", call.attributes["stride"] or size, n)


def _sizes(call: Any, n: int) -> tuple[int, ...]:
    return ints(call.name, "kernel_size", call.attributes["kernel_size"], n)


def _pads(call: Any, lengths: Sequence[Any], sizes: Sequence[int], strides: Sequence[int]) -> list[Any]:
    """(before, after) for each axis of space, also where the padding is a name."""
    last = call.attributes.get("data_format", "NCL")[-1] == "C"
    value = call.attributes["padding"]
    pads = paddings(call.name, list(value) if isinstance(value, tuple) else value, len(sizes), last)
    if pads == "VALID":
        return [(0, 0)] * len(sizes)
    if pads != "SAME":
        return list(pads)
    totals = [
        extreme("max", [(-(-n // stride) - 1) * stride + size - n, 0])
        for n, size, stride in zip(lengths, sizes, strides, strict=True)
    ]
    return [(total // 2, total - total // 2) for total in totals]


# pooling ----------------------------------------------------------------------------------------------------


def _chosen(x: Tensor, index: Tensor) -> Tensor:
    """The elements of images at places that a pooling gives."""
    places = P.flatten(index, 2).astype("int64")
    return P.reshape(P.take_along_axis(P.flatten(x, 2), places, 2), list(index.shape))


def _max_pool(n: int) -> Callable[..., Any]:
    def expression(call: Any, x: Tensor) -> Tensor:
        x = channels_first(call, x)
        sizes, strides = _sizes(call, n), _strides(call, n)
        pads = _pads(call, x.shape[2:], sizes, strides)
        lowest = float(np.finfo(numpy_dtype(x).name).min)
        around = [0, 0, 0, 0, *[pad for both in pads for pad in both]]
        x = P.pad(x, around, value=lowest, pad_from_left_axis=True)
        if n == 1:
            x, sizes, strides = P.unsqueeze(x, 2), (1, *sizes), (1, *strides)
        pool = P.max_pool3d if n == 3 else P.max_pool2d
        _, index = pool(x, list(sizes), list(strides), 0, True, call.attributes["ceil_mode"])
        chosen = _chosen(x, index)
        return channels_back(call, P.squeeze(chosen, 2) if n == 1 else chosen)

    return expression


def _adaptive_max_pool(n: int) -> Callable[..., Any]:
    def expression(call: Any, x: Tensor) -> Tensor:
        sizes = list(call.results[0].shape[2:])
        if n == 1:
            x, sizes = P.unsqueeze(x, 2), [1, *sizes]
        pool = P.adaptive_max_pool3d if n == 3 else P.adaptive_max_pool2d
        _, index = pool(x, sizes, True)
        chosen = _chosen(x, index)
        return P.squeeze(chosen, 2) if n == 1 else chosen

    return expression


def _along_axes(x: Tensor, first: int, matrix_of: Callable[[int, Tensor], Tensor]) -> Tensor:
    """x with a linear function of each axis of space.

    Args:
        x: Tensor.
        first: the first axis of space.
        matrix_of: function of the number of an axis of space and of images [1, n, n, 1], the unit vectors of
            that axis, that gives the results of the function for them.
    """
    for k in range(x.ndim - 2):
        axis = first + k
        unit = P.eye(x.shape[axis], dtype=numpy_dtype(x).name)
        matrix = P.squeeze(matrix_of(k, P.unsqueeze(unit, [0, 3])), [0, 3])
        turned = [*[one for one in range(x.ndim) if one != axis], axis]
        product = P.matmul(P.transpose(x, turned), matrix)
        x = P.transpose(product, sorted(range(x.ndim), key=turned.__getitem__))
    return x


def _means(call: Any, n: int, x: Tensor, exclusive: bool) -> Tensor:
    """The means over windows. The axes are independent of each other."""
    sizes, strides = _sizes(call, n), _strides(call, n)
    padding = call.attributes["padding"]

    def matrix_of(k: int, unit: Tensor) -> Tensor:
        around: Any = padding
        if not isinstance(padding, str):
            around = [*_pads(call, x.shape[2:], sizes, strides)[k], 0, 0]
        window, stride = [sizes[k], 1], [strides[k], 1]
        return P.avg_pool2d(unit, window, stride, around, call.attributes["ceil_mode"], exclusive)

    return _along_axes(x, 2, matrix_of)


def _avg_pool(n: int) -> Callable[..., Any]:
    def expression(call: Any, x: Tensor) -> Tensor:
        a = call.attributes
        divisor = a.get("divisor_override")
        means = _means(call, n, channels_first(call, x), a["exclusive"])
        if divisor is not None:
            means = means * (math.prod(_sizes(call, n)) / divisor)
        return channels_back(call, means)

    return expression


def _lp_pool(n: int) -> Callable[..., Any]:
    def expression(call: Any, x: Tensor) -> Tensor:
        p = float(call.attributes["norm_type"])
        if math.isinf(p):
            raise NotWritable(f"paddle.grad through {call.name} with infinity cannot be saved; use max_pool")
        powers = P.pow(channels_first(call, x), p)
        total = _means(call, n, powers, False) * math.prod(_sizes(call, n))
        some = P.not_equal(total, P.zeros_like(total))
        root = P.pow(P.where(some, total, P.ones_like(total)), 1 / p)
        return channels_back(call, P.where(some, root, P.zeros_like(total)))

    return expression


@add_expression("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_mean")
def _adaptive_mean(call: Any, x: Tensor) -> Tensor:
    first = 1 if call.attributes.get("data_format", "NCL")[-1] == "C" else 2
    sizes = call.results[0].shape[first:]
    return _along_axes(x, first, lambda k, unit: P.adaptive_avg_pool2d(unit, [sizes[k], 1]))


@add_expression("_resize")
def _resize(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    if a["antialias"]:
        raise NotWritable("paddle.grad through interpolate with antialias cannot be saved; leave it out")
    first = 1 if a["last"] else 2
    sizes = call.results[0].shape[first:]
    scales = a["scale_factor"]
    if scales is not None and not isinstance(scales, tuple | list):
        scales = [scales] * (x.ndim - 2)
    mode = {"linear": "bilinear", "trilinear": "bilinear"}.get(a["mode"], a["mode"])

    def matrix_of(k: int, unit: Tensor) -> Tensor:
        # The ratio of the lengths counts unless a factor is given.
        if scales is None or a["recompute"]:
            found = {"size": [sizes[k], 1]}
        else:
            found = {"scale_factor": [scales[k], 1.0]}
        return P.interpolate(
            unit, mode=mode, align_corners=a["align_corners"], align_mode=a["align_mode"], **found
        )

    return _along_axes(x, first, matrix_of)


@add_expression("local_response_norm")
def _local_response_norm(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    size = a["size"]
    first = channels_first(call, x)
    around = [0, 0, 0, 0, size // 2, (size - 1) // 2, 0, 0]
    unit = P.unsqueeze(P.eye(first.shape[1], dtype=numpy_dtype(x).name), [0, 3])
    matrix = P.squeeze(P.avg_pool2d(P.pad(unit, around, pad_from_left_axis=True), [size, 1], 1), [0, 3])
    rows = P.reshape(P.square(first), [first.shape[0], first.shape[1], -1])
    means = P.reshape(P.matmul(matrix, rows, transpose_x=True), list(first.shape))
    return x / channels_back(call, P.pow(means * a["alpha"] + a["k"], a["beta"]))


for _n in (1, 2, 3):
    add_expression(f"max_pool{_n}d")(_max_pool(_n))
    add_expression(f"avg_pool{_n}d")(_avg_pool(_n))
    add_expression(f"lp_pool{_n}d")(_lp_pool(_n))
    add_expression(f"adaptive_max_pool{_n}d")(_adaptive_max_pool(_n))

# convolution ------------------------------------------------------------------------------------------------


def _groups(x: Tensor, count: int) -> Sequence[Tensor]:
    if count == 1:
        return [x]
    if is_length(x.shape[1]):
        raise NotWritable("paddle.grad through groups of open channels cannot be saved; give their number")
    return P.split(x, count, 1)


def _of_weight(
    call: Any,
    images: Tensor,
    windows: Tensor,
    weight: Tensor,
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:
    """The gradient of a weight: images [batch, a, ...] times windows [batch, b, ...], as [b, a, ...]."""
    count = weight.ndim - 2
    convolve = getattr(P, f"conv{count}d")
    spatial = list(range(2, count + 2))
    swapped = [1, 0, *spatial]
    groups = call.attributes["groups"]
    parts = []
    for one, other in zip(_groups(images, groups), _groups(windows, groups), strict=True):
        kernel = P.transpose(other, swapped)
        part = convolve(P.transpose(one, swapped), kernel, stride=list(dilations), dilation=list(strides))
        part = P.slice(part, spatial, [0] * count, list(weight.shape[2:]))
        parts.append(P.transpose(part, swapped))
    return P.concat(parts, 0) if len(parts) > 1 else parts[0]


def _geometry(call: Any, lengths: Sequence[Any], weight: Tensor) -> tuple[Any, Any, Any]:
    """(strides, dilations, pads) of a convolution."""
    count = weight.ndim - 2
    a = call.attributes
    strides = ints(call.name, "stride", a["stride"], count)
    dilations = ints(call.name, "dilation", a["dilation"], count)
    # Paddle leaves out the dilation where it finds the padding.
    if isinstance(a["padding"], str) and a["padding"].upper() == "SAME":
        dilations = (1,) * count
    sizes = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations, strict=True)]
    return strides, dilations, _pads(call, lengths, sizes, strides)


def _convolution(call: Any, cotangents: Cotangents) -> Cotangents:
    named = call.named()
    weight = named["weight"]
    count = weight.ndim - 2
    x, g = channels_first(call, named["x"]), channels_first(call, cotangents[0])
    strides, dilations, pads = _geometry(call, x.shape[2:], weight)
    groups = call.attributes["groups"]
    transposed = getattr(P, f"conv{count}d_transpose")
    of_x = transposed(g, weight, stride=list(strides), dilation=list(dilations), groups=groups)
    padded = x
    for axis, (before, after) in enumerate(pads, 2):
        length = x.shape[axis]
        of_x = filled_up(of_x, axis, 0, length + before + after)
        of_x = P.slice(of_x, [axis], [before], [length + before])
        padded = filled_up(padded, axis, before, length + before + after)
    found: Cotangents = [channels_back(call, of_x), _of_weight(call, padded, g, weight, strides, dilations)]
    if named["bias"] is not None:
        found.append(P.sum(g, [0, *range(2, g.ndim)]))
    return found


def _transposed_convolution(call: Any, cotangents: Cotangents) -> Cotangents:
    named = call.named()
    weight = named["weight"]
    count = weight.ndim - 2
    if call.attributes["padding"] in ("SAME", "same"):
        raise NotWritable(f"paddle.grad through {call.name} with padding 'SAME' cannot be saved; use numbers")
    x, g = channels_first(call, named["x"]), channels_first(call, cotangents[0])
    strides, dilations, pads = _geometry(call, g.shape[2:], weight)
    padded = g
    for axis, (before, after) in enumerate(pads, 2):
        padded = filled_up(padded, axis, before, g.shape[axis] + before + after)
    convolve = getattr(P, f"conv{count}d")
    groups = call.attributes["groups"]
    of_x = convolve(padded, weight, stride=list(strides), dilation=list(dilations), groups=groups)
    # What output_padding adds has no place in x.
    of_x = P.slice(of_x, list(range(2, x.ndim)), [0] * count, list(x.shape[2:]))
    found: Cotangents = [channels_back(call, of_x), _of_weight(call, padded, x, weight, strides, dilations)]
    if named["bias"] is not None:
        found.append(P.sum(g, [0, *range(2, g.ndim)]))
    return found


for _n in (1, 2, 3):
    RULES[f"conv{_n}d"] = _convolution
    RULES[f"conv{_n}d_transpose"] = _transposed_convolution


# frames of signals ------------------------------------------------------------------------------------------


@add_rule("frame")
def _frame(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    size, hop, axis = a["frame_length"], a["hop_length"], a["axis"]
    if hop > size:
        raise NotWritable(
            f"paddle.grad through frame: hop_length: got {hop}; it can be saved up to frame_length, {size}"
        )
    # Elements past the last frame get nothing.
    return filled_up(P.overlap_add(g, hop, axis), axis % x.ndim, 0, x.shape[axis])


@add_rule("overlap_add")
def _overlap_add(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    axis = a["axis"]
    size = x.shape[-2] if axis == -1 else x.shape[1]
    return P.frame(g, size, a["hop_length"], axis)


__all__ = []
