"""How gradients of layers, losses and assignments to elements are written; see `gradient_rules.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import same_shape
from paddle_jax.framework.model_files.gradient_rules import (
    RULES,
    Cotangents,
    add_rule,
    as_axes,
    filled_up,
    only_where,
    summed_to,
    with_axes,
)
from paddle_jax.framework.model_files.plain_values import shape_along
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.nn.functional.padding import pad_pairs
from paddle_jax.tensor.indexing import put_index, run_pattern, take_index

# elements ---------------------------------------------------------------------------------------------------


def _selu(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.where(x > 0, g * a["scale"], g * P.exp(x) * (a["scale"] * a["alpha"]))


def _hardswish(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    inside = g * (x * 2 + 3) / 6
    return P.where(x >= 3, g, P.where(x <= -3, P.zeros_like(g), inside))


def _mish(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    bend = P.tanh(P.softplus(x))
    return g * (bend + x * (1 - bend * bend) * P.sigmoid(x))


_ELEMENTS: dict[str, Callable[..., Any]] = {
    "tan": lambda a, g, out, x: g * (1 + out * out),
    "atan": lambda a, g, out, x: g / (1 + x * x),
    "asin": lambda a, g, out, x: g * P.rsqrt(1 - x * x),
    "acos": lambda a, g, out, x: -g * P.rsqrt(1 - x * x),
    "sinh": lambda a, g, out, x: g * P.cosh(x),
    "cosh": lambda a, g, out, x: g * P.sinh(x),
    "log2": lambda a, g, out, x: g / (x * math.log(2)),
    "log10": lambda a, g, out, x: g / (x * math.log(10)),
    "relu6": lambda a, g, out, x: only_where(P.logical_and(x > 0, x < 6), g),
    "hardtanh": lambda a, g, out, x: only_where(P.logical_and(x > a["min"], x < a["max"]), g),
    "hardsigmoid": lambda a, g, out, x: only_where(P.logical_and(out > 0, out < 1), g * a["slope"]),
    "hardswish": _hardswish,
    "selu": _selu,
    "mish": _mish,
    "softsign": lambda a, g, out, x: g / P.square(1 + P.abs(x)),
    "tanhshrink": lambda a, g, out, x: g * P.square(P.tanh(x)),
    "log_sigmoid": lambda a, g, out, x: g * P.sigmoid(-x),
    "lerp": lambda a, g, out, x, y, weight: (g * (1 - weight), g * weight, g * (y - x)),
    "fill_masked": lambda a, g, out, x, mask, value: (
        P.where(mask, P.zeros_like(g), g),
        None,
        only_where(mask, g),
    ),
    "roll": lambda a, g, out, x: P.roll(g, _negative(a["shifts"]), a["axis"]),
    "flip": lambda a, g, out, x: P.flip(g, a["axis"]),
}
for _name, _function in _ELEMENTS.items():
    add_rule(_name)(_function)


def _negative(shifts: Any) -> Any:
    if isinstance(shifts, tuple | list):
        return [-one for one in shifts]
    return -shifts


@add_rule("prod")
def _prod(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return with_axes(a, g * out, x) / x


def _moments(a: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Distances from the mean, and the number that the sum of their squares is divided by."""
    axes = as_axes(a["axis"], x)
    count = P.ones_like(x).sum(axis=axes, keepdim=True)
    correction = a.get("correction")
    if correction is None:
        correction = 0 if a["unbiased"] is False else 1
    return x - x.mean(axis=axes, keepdim=True), count - correction


@add_rule("var")
def _var(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    distance, count = _moments(a, x)
    return with_axes(a, g, x) * distance * 2 / count


@add_rule("std")
def _std(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    distance, count = _moments(a, x)
    return with_axes(a, g / out, x) * distance / count


@add_rule("tile")
def _tile(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    repeats = list(a["repeat_times"])
    repeats = [1] * (x.ndim - len(repeats)) + repeats
    lengths = [1] * (len(repeats) - x.ndim) + list(x.shape)
    pairs = [n for pair in zip(repeats, lengths, strict=True) for n in pair]
    return P.reshape(P.reshape(g, pairs).sum(axis=list(range(0, len(pairs), 2))), list(x.shape))


@add_rule("repeat_each")
def _repeat(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    axis = a["axis"] % x.ndim
    shape = list(x.shape)
    return P.reshape(g, [*shape[: axis + 1], a["repeats"], *shape[axis + 1 :]]).sum(axis=axis + 1)


@add_rule("take_elements")
def _take_elements(a: Any, g: Tensor, out: Tensor, x: Tensor, index: Tensor) -> Any:
    return P.put_along_axis(P.zeros_like(x), index, g, a["axis"], "add", True, False), None


# assignments ------------------------------------------------------------------------------------------------


def _put(call: Any, cotangents: Cotangents) -> Cotangents:
    """`x[index] = value`: what is replaced gets no gradient."""
    named = call.named()
    g = cotangents[0]
    value = named["value"]
    rest = tuple(call.attributes["axes"]), tuple(call.attributes["slots"]), named["starts"], named["arrays"]
    zero = P.zeros([], numpy_dtype(g).name)
    of_x = run_pattern(put_index.op, (g, zero), *rest)
    of_value = run_pattern(take_index.op, (g,), *rest)
    missing = value.ndim - of_value.ndim
    if missing > 0:
        of_value = P.unsqueeze(of_value, list(range(missing)))
    return [of_x, summed_to(value, of_value)]


def _masked(call: Any, cotangents: Cotangents) -> Cotangents:
    """`masked_select`."""
    x, mask = call.operands
    if not same_shape(x.shape, mask.shape):
        raise NotWritable("paddle.grad through masked_select cannot be saved where the mask is repeated")
    return [P.scatter_nd_add(P.zeros_like(x), P.nonzero(mask), cotangents[0]), None]


RULES["put_index"] = _put
RULES["masked_select"] = _masked


def _pad(call: Any, cotangents: Cotangents) -> Cotangents:
    """Zeros, or another number, at the ends of axes."""
    a = call.attributes
    x = call.operands[0]
    if a["mode"] != "constant":
        raise NotWritable(
            f"paddle.grad through pad with mode {a['mode']!r} cannot be saved; pad with a number"
        )
    g = cotangents[0]
    for axis, (before, after) in enumerate(pad_pairs(x, a["pad"], a["data_format"], a["pad_from_left_axis"])):
        length = x.shape[axis]
        if is_length(before) or is_length(after) or min(before, after) >= 0:
            g = P.slice(g, [axis], [before], [before + length])
        else:
            raise NotWritable("paddle.grad through pad with negative numbers cannot be saved; use a slice")
    return [g]


RULES["pad"] = _pad

# layers -----------------------------------------------------------------------------------------------------


def _layer_norm(call: Any, cotangents: Cotangents) -> Cotangents:
    named = call.named()
    g: Any = cotangents[0]
    x, weight, bias = named["x"], named["weight"], named["bias"]
    shape = call.attributes["normalized_shape"]
    count = len(shape) if isinstance(shape, tuple | list) else 1
    axes = list(range(x.ndim - count, x.ndim))
    leading = list(range(x.ndim - count))
    distance = x - x.mean(axis=axes, keepdim=True)
    scale = P.rsqrt(P.square(distance).mean(axis=axes, keepdim=True) + call.attributes["epsilon"])
    normal = distance * scale
    inner = g if weight is None else g * P.reshape(weight, list(x.shape[x.ndim - count :]))
    of_x = (
        inner - inner.mean(axis=axes, keepdim=True) - normal * (inner * normal).mean(axis=axes, keepdim=True)
    )
    found: Cotangents = [of_x * scale]
    for operand, slope in ((weight, g * normal), (bias, g)):
        if operand is not None:
            found.append(P.reshape(slope.sum(axis=leading) if leading else slope, list(operand.shape)))
    return found


def _batch_norm(call: Any, cotangents: Cotangents) -> Cotangents:
    named = call.named()
    g = cotangents[0]
    x = named["x"]
    axis = x.ndim - 1 if call.attributes["data_format"][-1] == "C" else 1
    shape = shape_along(axis, x.ndim)
    others = [k for k in range(x.ndim) if k != axis]
    scale = P.reshape(P.rsqrt(named["variance"] + call.attributes["epsilon"]), shape)
    weight = named["weight"]
    found: Cotangents = [g * scale if weight is None else g * scale * P.reshape(weight, shape), None, None]
    if weight is not None:
        found.append((g * (x - P.reshape(named["mean"], shape)) * scale).sum(axis=others))
    if named["bias"] is not None:
        found.append(g.sum(axis=others))
    return found


def _many(value: Any, count: int) -> list[int]:
    if isinstance(value, tuple | list):
        return list(value) * (count if len(value) == 1 else 1)
    return [value] * count


def _pads(padding: Any, count: int) -> list[tuple[int, int]]:
    """(before, after) for each axis of a convolution."""
    if padding == "VALID":
        return [(0, 0)] * count
    if isinstance(padding, int) or isinstance(padding, tuple | list) and len(padding) in (1, count):
        numbers = _many(padding, count)
        if all(isinstance(one, int) for one in numbers):
            return [(one, one) for one in numbers]
    elif isinstance(padding, tuple | list) and len(padding) == 2 * count:
        return list(zip(padding[::2], padding[1::2], strict=True))
    raise NotWritable(
        f"paddle.grad through a convolution with padding {padding!r} cannot be saved; use numbers"
    )


def _convolution(count: int) -> Callable[..., Cotangents]:
    """The rule of a convolution over some axes."""
    convolve = getattr(P, f"conv{count}d")
    transposed = getattr(P, f"conv{count}d_transpose")
    spatial = list(range(2, count + 2))
    swapped = [1, 0, *spatial]

    def rule(call: Any, cotangents: Cotangents) -> Cotangents:
        a = call.attributes
        named = call.named()
        x, weight, g = named["x"], named["weight"], cotangents[0]
        is_last = a["data_format"][-1] == "C"
        if is_last:
            x, g = (P.transpose(one, [0, count + 1, *range(1, count + 1)]) for one in (x, g))
        strides, dilations = _many(a["stride"], count), _many(a["dilation"], count)
        pads = _pads(a["padding"], count)
        of_x = transposed(g, weight, stride=strides, dilation=dilations, groups=a["groups"])
        padded = x
        for axis, (before, after) in zip(spatial, pads, strict=True):
            length = x.shape[axis]
            of_x = filled_up(of_x, axis, 0, length + before + after)
            of_x = P.slice(of_x, [axis], [before], [length + before])
            padded = filled_up(padded, axis, before, length + before + after)
        if is_last:
            of_x = P.transpose(of_x, [0, *spatial, 1])
        parts = []
        for one, other in zip(_groups(padded, a["groups"]), _groups(g, a["groups"]), strict=True):
            part = convolve(
                P.transpose(one, swapped), P.transpose(other, swapped), stride=dilations, dilation=strides
            )
            part = P.slice(part, spatial, [0] * count, list(weight.shape[2:]))
            parts.append(P.transpose(part, swapped))
        found: Cotangents = [of_x, P.concat(parts, 0) if len(parts) > 1 else parts[0]]
        if named["bias"] is not None:
            found.append(g.sum(axis=[0, *spatial]))
        return found

    return rule


def _groups(x: Tensor, count: int) -> Sequence[Tensor]:
    if count == 1:
        return [x]
    if is_length(x.shape[1]):
        raise NotWritable("paddle.grad through groups of open channels cannot be saved; give their number")
    return P.split(x, count, 1)


RULES["layer_norm"] = _layer_norm
RULES["batch_norm_infer"] = _batch_norm
RULES |= {f"conv{count}d": _convolution(count) for count in (1, 2, 3)}

# losses -----------------------------------------------------------------------------------------------------


def _averaged(a: Any, g: Tensor, slope: Tensor) -> Tensor:
    """The gradient of a loss by its elements, before its reduction."""
    if a["reduction"] == "mean":
        return slope * g / P.ones_like(slope).sum()
    return slope * g


@add_rule("l1_loss")
def _l1_loss(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    of_x = _averaged(a, g, P.sign(x - y))
    return of_x, -of_x


@add_rule("binary_cross_entropy_with_logits")
def _bce(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor, *more: Tensor) -> Any:
    if more:
        raise NotWritable("paddle.grad through binary cross entropy with weights cannot be saved")
    return _averaged(a, g, P.sigmoid(x) - y), _averaged(a, g, -x)


def _cross_entropy(call: Any, cotangents: Cotangents) -> Cotangents:
    a = call.attributes
    named = call.named()
    scores, label = named["scores"], named["label"]
    if named["weight"] is not None or not a["use_softmax"]:
        raise NotWritable("paddle.grad through cross entropy with weights cannot be saved; use log_softmax")
    axis = a["axis"] % scores.ndim
    counts = P.not_equal(label, P.full_like(label, a["ignore_index"]))
    kept = counts.astype(numpy_dtype(scores).name)
    number = P.where(counts, label, P.zeros_like(label))
    classes = P.reshape(P.arange(scores.shape[axis]), shape_along(axis, scores.ndim))
    chosen = P.equal(number.astype("int64"), classes).astype(numpy_dtype(scores).name)
    slope = (P.softmax(scores, axis) - chosen) * kept
    g = cotangents[0]
    if a["reduction"] == "mean":
        g = g / (kept.sum() if a["ignore_index"] >= 0 else P.ones_like(kept).sum())
    return [slope * g, None]


RULES["cross_entropy_hard"] = _cross_entropy

__all__ = []
