"""Activations."""

import math

from paddle_jax.framework.model_files.builder_helpers import binary, positive
from paddle_jax.framework.model_files.records import Lowering


def _gelu(w, a, out, x):
    return w.op("gelu", [x], out[0], approximate=a.approximate in (True, "tanh"))


def _onnx_gelu(g, op, x):
    dtype = op.kind()
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
    else:
        gate = g.node(
            "Add", [g.node("Erf", [g.node("Mul", [x, g.number(math.sqrt(0.5), dtype)])]), g.number(1, dtype)]
        )
    return g.node("Mul", [g.node("Mul", [x, gate]), g.number(0.5, dtype)])


def _prelu(w, a, out, x, weight):
    last = a.data_format[-1] == "C" and a.data_format != "NC"
    return w.op(
        "prelu",
        [x, weight],
        out[0],
        data_format="NHWC" if last else "NCHW",
        mode="all" if math.prod(weight.shape) == 1 else "channel",
    )


def _onnx_prelu(g, op, x, w):
    shape = [1] * max(op.ndim() - 1, 1)
    shape[0] = -1 if op.ndim() > 1 and op.mode != "all" else 1
    return g.node("PRelu", [x, g.node("Reshape", [w, g.ints(shape)])])


def _glu(w, a, out, x):
    first, second = w.list_op(
        "split_with_num", [x, w.full(positive(a.axis, x.ndim), "int32")], [out[0], out[0]], num=2
    )
    return binary(w, "multiply", first, w.op("sigmoid", [second], out[0]), out[0])


gelu = Lowering(_gelu, onnx=_onnx_gelu)
prelu = Lowering(_prelu, onnx=_onnx_prelu)
glu = Lowering(_glu)
