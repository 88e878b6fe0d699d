"""How gradients of layers, losses and assignments to elements are written; see `gradient_rules.py`."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import Any

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import same_shape
from paddle_jax.framework.model_files.gradient_expressions import gradients_through
from paddle_jax.framework.model_files.gradient_rules import (
    RULES,
    Cotangents,
    add_rule,
    as_axes,
    only_where,
    sum_from_end,
    summed_to,
    turned,
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
    "acosh": lambda a, g, out, x: g * P.rsqrt(x * x - 1),
    "asinh": lambda a, g, out, x: g * P.rsqrt(x * x + 1),
    "atanh": lambda a, g, out, x: g / (1 - x * x),
    "deg2rad": lambda a, g, out, x: g * (math.pi / 180),
    "rad2deg": lambda a, g, out, x: g * (180 / math.pi),
    "digamma": lambda a, g, out, x: g * P.polygamma(x, 1),
    "polygamma": lambda a, g, out, x: g * P.polygamma(x, a["n"] + 1),
    "lgamma": lambda a, g, out, x: g * P.digamma(x),
    "gammaln": lambda a, g, out, x: g * P.digamma(x),
    "erfinv": lambda a, g, out, x: g * P.exp(out * out) * (math.sqrt(math.pi) / 2),
    "i0": lambda a, g, out, x: g * P.i1(x),
    "i0e": lambda a, g, out, x: g * (P.i1e(x) - P.sign(x) * out),
    "frac": lambda a, g, out, x: g,
    "positive": lambda a, g, out, x: g,
    "remainder": lambda a, g, out, x, y: (g, -g * P.floor(x / y)),
    "atan2": lambda a, g, out, x, y: (g * y / (x * x + y * y), -g * x / (x * x + y * y)),
    "hypot": lambda a, g, out, x, y: (g * x / out, g * y / out),
    "logaddexp": lambda a, g, out, x, y: (g * P.exp(x - out), g * P.exp(y - out)),
    "add_n": lambda a, g, out, *xs: [g for _ in xs],
    "nan_to_num": lambda a, g, out, x: only_where(P.isfinite(x), g),
    "nansum": lambda a, g, out, x: only_where(P.logical_not(P.isnan(x)), with_axes(a, g, x)),
    "square_error_cost": lambda a, g, out, x, y: ((x - y) * 2 * g, (y - x) * 2 * g),
    "celu": lambda a, g, out, x: P.where(x > 0, g, g * P.exp(x / a["alpha"])),
    "hardshrink": lambda a, g, out, x: only_where(P.abs(x) > a["threshold"], g),
    "softshrink": lambda a, g, out, x: only_where(P.abs(x) > a["threshold"], g),
    "thresholded_relu": lambda a, g, out, x: only_where(x > a["threshold"], g),
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


for _name in ("floor", "ceil", "round", "trunc", "sign"):
    add_rule(_name)(lambda a, g, out, x: P.zeros_like(x))
add_rule("fmax")(
    lambda a, g, out, x, y: (only_where(_is_taken(x, y, x >= y), g), only_where(_is_taken(y, x, y > x), g))
)
add_rule("fmin")(
    lambda a, g, out, x, y: (only_where(_is_taken(x, y, x <= y), g), only_where(_is_taken(y, x, y < x), g))
)


def _is_taken(x: Tensor, other: Tensor, is_better: Tensor) -> Tensor:
    """Where a choice that leaves out NaN takes x."""
    return P.logical_or(is_better, P.logical_and(P.isnan(other), P.logical_not(P.isnan(x))))


@add_rule("stanh")
def _stanh(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return g * (a["scale_a"] * a["scale_b"]) * (1 - P.square(out / a["scale_b"]))


@add_rule("copysign")
def _copysign(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    return g * P.sign(x) * P.sign(out), P.zeros_like(y)


@add_rule("logit")
def _logit(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    slope = g / (x * (1 - x))
    if not a["eps"]:
        return slope
    return only_where(P.logical_and(x >= a["eps"], x <= 1 - a["eps"]), slope)


@add_rule("nanmean")
def _nanmean(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    is_number = P.logical_not(P.isnan(x)).astype(numpy_dtype(x).name)
    return is_number * with_axes(a, g, x) / is_number.sum(axis=as_axes(a["axis"], x), keepdim=True)


@add_rule("scale")
def _scale(a: Any, g: Tensor, out: Tensor, x: Tensor, scale: Tensor, bias: Tensor) -> Any:
    if a["act"] is not None:
        raise NotWritable("paddle.grad through scale with act cannot be saved; call the activation")
    return g * scale, None, None


@add_rule("expand_as")
def _expand_as(a: Any, g: Tensor, out: Tensor, x: Tensor, *y: Tensor) -> Any:
    return g, *[None for _ in y]


def _negative(shifts: Any) -> Any:
    if isinstance(shifts, tuple | list):
        return [-one for one in shifts]
    return -shifts


@add_rule("amax", "amin")
def _shared_extreme(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    """Equal elements share the gradient."""
    is_extreme = P.equal(x, with_axes(a, out, x)).astype(numpy_dtype(x).name)
    return with_axes(a, g, x) * is_extreme / is_extreme.sum(axis=as_axes(a["axis"], x), keepdim=True)


@add_rule("logcumsumexp")
def _logcumsumexp(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    axis = 0 if a["axis"] is None else a["axis"]
    flat = [P.flatten(one) for one in (g, out, x)] if a["axis"] is None else [g, out, x]
    # x[i] is part of the sums from i on: exp(x[i] - out[k]) with the largest exponent taken out
    g, out, x = flat
    top = P.max(out, axis, True)
    return P.exp(x - top) * sum_from_end(g * P.exp(top - out), axis)


@add_rule("cumprod")
def _cumprod(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    axis = a["dim"]
    # After the first zero all products are zero. At the zero itself the product of the others counts.
    is_zero = P.equal(x, P.zeros_like(x))
    zeros = P.cumsum(is_zero.astype("int64"), axis)
    before = P.equal(zeros, P.zeros_like(zeros))
    first = P.logical_and(is_zero, P.equal(zeros, P.ones_like(zeros)))
    others = P.cumprod(P.where(first, P.ones_like(x), x), axis)
    of_others = sum_from_end(g * out, axis) / P.where(before, x, P.ones_like(x))
    of_first = only_where(first, sum_from_end(g * others, axis))
    return P.where(before, of_others, of_first)


@add_rule("kron")
def _kron(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    if x.ndim != y.ndim:
        raise NotWritable("paddle.grad through kron of other numbers of axes cannot be saved; reshape first")
    pairs = [n for pair in zip(x.shape, y.shape, strict=True) for n in pair]
    ones = [n for n in x.shape for n in (n, 1)]
    others = [n for n in y.shape for n in (1, n)]
    blocks = P.reshape(g, pairs)
    even, odd = list(range(0, 2 * x.ndim, 2)), list(range(1, 2 * x.ndim, 2))
    of_x = P.sum(blocks * P.reshape(y, others), odd)
    of_y = P.sum(blocks * P.reshape(x, ones), even)
    return of_x, of_y


@add_rule("cross")
def _cross(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    return P.cross(y, g, a["axis"]), P.cross(g, x, a["axis"])


@add_rule("det")
def _det(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.reshape(g * out, [*x.shape[:-2], 1, 1]) * turned(P.inv(x))


@add_rule("inv")
def _inv(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return -P.matmul(turned(out), P.matmul(g, turned(out)))


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


def _grid(call: Any, cotangents: Cotangents) -> Cotangents:
    """`meshgrid`: each operand was repeated along the axes of the others."""
    count = len(call.operands)
    order = list(range(count))
    if call.attributes["indexing"] == "xy" and count > 1:
        order[:2] = [1, 0]
    found: Cotangents = []
    for axis, x, g in zip(order, call.operands, cotangents, strict=True):
        others = [k for k in range(count) if k != axis]
        if g is not None and others:
            g = P.sum(g, others)
        found.append(None if g is None else P.reshape(g, list(x.shape)))
    return found


RULES["grid"] = _grid


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
        return _padded(call, cotangents)
    g = cotangents[0]
    for axis, (before, after) in enumerate(pad_pairs(x, a["pad"], a["data_format"], a["pad_from_left_axis"])):
        length = x.shape[axis]
        if is_length(before) or is_length(after) or min(before, after) >= 0:
            g = P.slice(g, [axis], [before], [before + length])
        else:
            raise NotWritable("paddle.grad through pad with negative numbers cannot be saved; use a slice")
    return [g]


def _padded_by_rows(call: Any, x: Tensor) -> Tensor:
    """Rows of x around it: each axis takes the rows that its numbers have."""
    a = call.attributes
    pairs = pad_pairs(x, a["pad"], a["data_format"], a["pad_from_left_axis"])
    for axis, (before, after) in enumerate(pairs):
        if is_length(before) or is_length(after) or before or after:
            numbers = P.reshape(P.arange(x.shape[axis]).astype("float64"), [1, 1, -1])
            rows = P.pad(numbers, [before, after], mode=a["mode"], data_format="NCL")
            x = P.gather(x, P.flatten(rows).astype("int64"), axis)
    return x


_padded = ft.partial(gradients_through, _padded_by_rows)
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


RULES["layer_norm"] = _layer_norm
RULES["batch_norm_infer"] = _batch_norm
# A file has it as in evaluation, as Paddle's files.
RULES["batch_norm_train"] = _batch_norm

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


@add_rule("binary_cross_entropy")
def _binary_cross_entropy(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor, *weight: Tensor) -> Any:
    if weight:
        raise NotWritable("paddle.grad through binary cross entropy with weights cannot be saved; multiply")
    # The slope is bounded by that at 1e-12.
    least = P.full([], 1e-12, numpy_dtype(x).name)
    return _averaged(a, g, (x - y) / P.maximum(x * (1 - x), least)), None


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
