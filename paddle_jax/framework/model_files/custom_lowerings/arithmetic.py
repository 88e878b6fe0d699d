"""Arithmetic on elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import binary, cast, expanded, scaled
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _arithmetic(name: str) -> Lowering:
    def write(w: Builder, a: Any, out: Any, x: Value, y: Value) -> Any:
        if a.alpha != 1:
            y = scaled(w, y, a.alpha)
        return w.op(name, [x, y], out[0])

    return Lowering(write)


def _write_scale(w: Builder, a: Any, out: Sequence[Any], x: Value, factor: Value, bias: Value) -> Value:
    if a.act:
        raise NotWritable("scale with an activation has no form in PIR")
    factor = cast(w, factor, x.dtype)
    bias = cast(w, bias, x.dtype)
    # `bias_after_scale` says which comes first.
    if a.bias_after_scale:
        return binary(w, "add", binary(w, "multiply", x, factor, out[0]), bias, out[0])
    return binary(w, "multiply", binary(w, "add", x, bias, out[0]), factor, out[0])


def _activated_scale(a: Any, x: Tensor, factor: Tensor, bias: Tensor) -> Any:
    if not a.act:
        return None
    return getattr(P, a.act)(P.scale(x, factor, bias, a.bias_after_scale))


def _divide(w: Any, a: Any, out: Any, x: Any, y: Any) -> Any:
    if a.rounding_mode is None:
        return w.op("divide", [cast(w, x, out[0][0]), cast(w, y, out[0][0])], out[0])
    return w.op({"floor": "floor_divide", "trunc": "trunc_divide"}[a.rounding_mode], [x, y], out[0])


def _read_scale(a: Any, x: Any, s_factor: Any) -> Any:
    return P.scale(x, s_factor, a.bias, a.bias_after_scale)


def _onnx_scale(g: Graph, op: Any, x: str, factor: str) -> str:
    factor = g.number(g.numbers(factor)[0], op.kind())
    bias = g.number(op.bias, op.kind())
    if op.bias_after_scale:
        # A node for a factor of 1 would only cost time.
        y = x
        if g.known[factor] != 1:
            y = g.node("Mul", [x, factor])
        if op.bias == 0:
            return y
        return g.node("Add", [y, bias])
    return g.node("Mul", [g.node("Add", [x, bias]), factor])


def _write_clip(
    w: Builder, a: Any, out: Sequence[Any], x: Value, low: Value | None, high: Value | None
) -> Value:
    x = cast(w, x, out[0][0])
    if low is not None:
        x = binary(w, "maximum", x, cast(w, low, x.dtype), x.type)
    if high is None:
        return x
    return binary(w, "minimum", x, cast(w, high, x.dtype), x.type)


def _read_clip(a: Any, x: Any, s_low: Any, s_high: Any) -> Any:
    # Infinite bounds of whole numbers are those of int64.
    if isinstance(s_low, float) and isinstance(s_high, float) and x.dtype.is_integer:
        limit = 2**63 - 1
        return P.clip(x, *(int(max(-limit, min(bound, limit))) for bound in (s_low, s_high)))
    return P.cast(P.clip(x, s_low, s_high), x.dtype)


def _onnx_clip(g: Any, op: Any, x: Any, low: Any, high: Any) -> Any:
    return g.node("Clip", [x, *(g.number(g.numbers(bound)[0], op.kind()) for bound in (low, high))])


def _onnx_floor_divide(g: Graph, op: Any, x: str, y: str) -> str:
    if np.dtype(op.kind()).kind == "f":
        return g.node("Floor", [g.node("Div", [x, y])])
    # ONNX divides whole numbers towards zero, so the quotient is taken in float64.
    return g.cast(g.node("Floor", [g.node("Div", [g.cast(x, "float64"), g.cast(y, "float64")])]), op.kind())


def _onnx_remainder(g: Graph, op: Any, x: str, y: str) -> str:
    # Python's remainder, with the sign of the divisor.
    return g.node("Sub", [x, g.node("Mul", [_onnx_floor_divide(g, op, x, y), y])])


def _frac(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    return binary(w, "subtract", x, w.op("trunc", [x], x.type), x.type)


def _on_one_shape(name: str) -> Lowering:
    """A rule for an operation of Paddle that neither broadcasts nor casts."""

    def write(w: Builder, a: Any, out: Any, x: Any, y: Any) -> Any:
        both = [expanded(w, cast(w, one, out[0][0]), out[0][1]) for one in (x, y)]
        return w.op(name, both, out[0])

    return Lowering(write)


def _polygamma(w: Any, a: Any, out: Any, x: Any) -> Any:
    x = cast(w, x, out[0][0])
    if a.n == 0:
        return w.op("digamma", [x], out[0])
    return w.op("polygamma", [x], out[0], n=a.n)


def _renorm(w: Any, a: Any, out: Any, x: Any) -> Any:
    return w.op("renorm", [x], out[0], p=float(a.p), axis=a.axis % x.ndim, max_norm=float(a.max_norm))


def _hypot(w: Builder, a: Any, out: Sequence[Any], x: Value, y: Value) -> Any:
    x, y = (cast(w, one, out[0][0]) for one in (x, y))
    return w.op(
        "sqrt", [binary(w, "add", w.op("square", [x], x.type), w.op("square", [y], y.type), out[0])], out[0]
    )


# max(x, y) + log1p(exp(-|x - y|)), which does not overflow.
def _logaddexp(w: Builder, a: Any, out: Sequence[Any], x: Value, y: Value) -> Value:
    x, y = (cast(w, one, out[0][0]) for one in (x, y))
    gap = w.op("abs", [binary(w, "subtract", x, y, out[0])], out[0])
    tail = w.op("log1p", [w.op("exp", [scaled(w, gap, -1.0)], out[0])], out[0])
    return binary(w, "add", binary(w, "maximum", x, y, out[0]), tail, out[0])


def _nan_to_num(w: Builder, a: Any, out: Sequence[Any], x: Any) -> Value:
    # The largest finite number of the dtype.
    top = {"float16": 65504.0, "float64": 1.7976931348623157e308}.get(x.dtype, 3.4028234663852886e38)
    high, low = a.posinf, a.neginf
    if high is None:
        high = top
    if low is None:
        low = -top
    for found, number in ((math.nan, a.nan), (math.inf, high), (-math.inf, low)):
        # NaN is not equal to itself.
        if math.isnan(found):
            hit = w.op("isnan", [x], ("bool", x.shape))
        else:
            hit = w.op("equal", [x, w.full(found, x.dtype, ())], ("bool", x.shape))
        x = w.op("where", [hit, w.op("full_like", [x, w.full(number)], x.type, dtype=x.dtype), x], x.type)
    return x


add: Lowering = _arithmetic("add")
subtract: Lowering = _arithmetic("subtract")
scale: Lowering = Lowering(_write_scale, _read_scale, _onnx_scale, _activated_scale)
divide: Lowering = Lowering(_divide)
clip: Lowering = Lowering(_write_clip, _read_clip, _onnx_clip)
floor_divide: Lowering = Lowering(onnx=_onnx_floor_divide)
remainder: Lowering = Lowering(onnx=_onnx_remainder)
atan2: Lowering = _on_one_shape("atan2")
copysign: Lowering = _on_one_shape("copysign")
polygamma: Lowering = Lowering(_polygamma)
renorm: Lowering = Lowering(_renorm)
frac: Lowering = Lowering(_frac)
hypot: Lowering = Lowering(_hypot)
logaddexp: Lowering = Lowering(_logaddexp)
nan_to_num: Lowering = Lowering(_nan_to_num)
