"""Activations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.framework.model_files.builder_helpers import binary, positive
from paddle_jax.framework.model_files.plain_values import image_format
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _gelu(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Any:
    return w.op("gelu", [x], out[0], approximate=a.approximate in (True, "tanh"))


def _onnx_gelu(g: Graph, op: Any, x: str) -> str:
    dtype = op.kind()
    # tanh's approximation (Hendrycks and Gimpel, 2016): 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    if op.approximate:
        cube = g.node("Mul", [x, g.node("Mul", [x, x])])
        inner = g.node(
            "Mul",
            [
                g.node("Add", [x, g.node("Mul", [cube, g.number(0.044715, dtype)])]),
                g.number(math.sqrt(2 / math.pi), dtype),
            ],
        )
        gate = g.node("Add", [g.node("Tanh", [inner]), g.number(1, dtype)])
    # The exact one: 0.5 x (1 + erf(x / sqrt(2))).
    else:
        gate = g.node(
            "Add", [g.node("Erf", [g.node("Mul", [x, g.number(math.sqrt(0.5), dtype)])]), g.number(1, dtype)]
        )
    return g.node("Mul", [g.node("Mul", [x, gate]), g.number(0.5, dtype)])


def _prelu(w: Any, a: Any, out: Any, x: Any, weight: Any) -> Any:
    # "NC" ends in C as well, and has its channels on axis 1.
    last = a.data_format[-1] == "C" and a.data_format != "NC"
    mode = "channel"
    if math.prod(weight.shape) == 1:
        mode = "all"
    return w.op("prelu", [x, weight], out[0], data_format=image_format(last), mode=mode)


def _onnx_prelu(g: Any, op: Any, x: Any, w: Any) -> Any:
    shape = [1] * max(op.ndim() - 1, 1)
    # ONNX broadcasts the slope from the last axis, so it gets an axis for each of x behind the channels.
    if op.ndim() > 1 and op.mode != "all":
        shape[0] = -1
    return g.node("PRelu", [x, g.node("Reshape", [w, g.ints(shape)])])


def _glu(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    # Two halves: the second one is the gate of the first.
    first, second = w.list_op(
        "split_with_num", [x, w.full(positive(a.axis, x.ndim), "int32")], [out[0], out[0]], num=2
    )
    return binary(w, "multiply", first, w.op("sigmoid", [second], out[0]), out[0])


gelu: Lowering = Lowering(_gelu, onnx=_onnx_gelu)
prelu: Lowering = Lowering(_prelu, onnx=_onnx_prelu)
glu: Lowering = Lowering(_glu)
