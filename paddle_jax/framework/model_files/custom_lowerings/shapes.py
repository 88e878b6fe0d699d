"""Shapes, joining and splitting."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import has_lengths
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import reshape, transpose
from paddle_jax.framework.model_files.plain_values import as_list, shape_along
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.tensor.matrices import grid as mesh_grid

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _read_shape(a: Any, x: Tensor) -> np.ndarray:
    if any(n < 0 for n in x.shape):  # while a program is recorded
        return P.shape(x)
    return np.array(x.shape, np.int64)


def _reshape(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Any:
    if has_lengths(a.shape):  # as the user says it: one length may be what is left
        return w.op("reshape", [x, w.ints(a.shape)], out[0])
    return reshape(w, x, out[0][1])


def _view(w: Any, a: Any, out: Any, x: Any) -> Any:
    if out[0][0] != x.dtype:
        raise NotWritable("a view in another dtype has no form in PIR")
    return reshape(w, x, out[0][1])


def _split_at(w: Builder, a: Any, out: Sequence[Any], x: Value) -> list[Value]:
    edges = [0, *a.bounds, x.shape[a.axis]]
    sizes = [end - start for start, end in itertools.pairwise(edges)]
    return w.list_op("split", [x, w.ints(sizes), w.full(a.axis, "int32")], out)


def _pieces(a: Any, x: Any) -> list[Any]:
    return [x[(*[slice(None)] * a.axis, slice(low, high))] for low, high in a.bounds]


def _onnx_split(g: Graph, op: Any, x: str, sizes: str, axis: str) -> list[Any]:
    if isinstance(sizes, list):
        count = len(sizes)
    else:
        count = len(g.numbers(sizes))
    found = g.node("Split", [x, g.int_list(sizes)], count, axis=int(g.numbers(axis)[0]))
    if isinstance(found, list):
        return found
    return [found]


def _onnx_unbind(g: Graph, op: Any, x: str) -> list[Any]:
    length = op.lengths()[op.axis]
    found = g.node("Split", [x, g.ints([1] * length)], length, axis=op.axis)
    return [g.node("Squeeze", [piece, g.ints([op.axis])]) for piece in as_list(found)]


def _onnx_stack(g: Graph, op: Any, xs: Sequence[str]) -> str:
    return g.node("Concat", [g.node("Unsqueeze", [x, g.ints([op.axis])]) for x in xs], axis=op.axis)


def _onnx_expand(g: Graph, op: Any, x: str, shape: Sequence[str] | str) -> str:
    shape = g.int_list(shape)
    return g.node(
        "Expand",
        # -1 in Paddle keeps a length, which 1 does in ONNX.
        [x, g.node("Where", [g.node("Less", [shape, g.number(0, "int64")]), g.number(1, "int64"), shape])],
    )


def _onnx_reshape(g: Graph, op: Any, x: str, shape: Any) -> str:
    sizes = g.int_list(shape)
    given = [g.known[one].ravel()[0] for one in shape if one in g.known] if isinstance(shape, list) else []
    # A computed 0 is a length. A given one keeps that of x, and ONNX has no -1 beside a length of 0.
    if isinstance(shape, list) and len(given) < len(shape) and all(n > 0 for n in given):
        return g.node("Reshape", [x, sizes], allowzero=1)
    return g.node("Reshape", [x, sizes])


def _onnx_flatten(g: Graph, op: Any, x: str) -> str:
    shape = op.lengths()
    if not shape:
        return g.node("Reshape", [x, g.ints([1])])
    start = op.start_axis % len(shape)
    stop = op.stop_axis % len(shape)
    head = [0] * start
    if all(n > 0 for n in shape[stop + 1 :]):
        return g.node("Reshape", [x, g.ints([*head, -1, *shape[stop + 1 :]])])
    # One length may be -1, the rest of the elements; those after it are read from the operand.
    lengths = g.node("Slice", [g.node("Shape", [x]), g.ints([stop + 1]), g.ints([len(shape)])])
    return g.node("Reshape", [x, g.node("Concat", [g.ints([*head, -1]), lengths], axis=0)])


def _onnx_flip(g: Graph, op: Any, x: str) -> str:
    count = len(op.axis)
    # From the last element backwards to before the first one.
    return g.node(
        "Slice", [x, g.ints([-1] * count), g.ints([-(2**63)] * count), g.ints(op.axis), g.ints([-1] * count)]
    )


def _onnx_meshgrid(g: Graph, op: Any, xs: Sequence[str]) -> list[Any]:
    shape = g.node("Concat", [g.node("Shape", [g.node("Reshape", [x, g.ints([-1])])]) for x in xs], axis=0)
    rows = [g.node("Reshape", [x, g.ints(shape_along(i, len(xs)))]) for i, x in enumerate(xs)]
    return [g.node("Expand", [row, shape]) for row in rows]


def _grid(a: Any, xs: Sequence[Tensor]) -> list[Any] | None:
    """With the first two axes of the grids swapped."""
    if a.indexing == "ij" or len(xs) < 2:
        return None
    perm = [1, 0, *range(2, len(xs))]
    return [P.transpose(one, perm) for one in mesh_grid(xs, "ij")]


grid: Lowering = Lowering(decompose=_grid)
shape: Lowering = Lowering(read=_read_shape)
reshape_form: Lowering = Lowering(_reshape, onnx=_onnx_reshape)
view: Lowering = Lowering(_view)
transposed: Lowering = Lowering(
    lambda w, a, out, x: w.op("transpose", [x], out[0], perm=list(range(x.ndim))[::-1])
)
matrix_transposed: Lowering = Lowering(
    lambda w, a, out, x: transpose(w, x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])
)
expand_as: Lowering = Lowering(lambda w, a, out, x, y: w.op("expand", [x, w.ints(y.shape)], out[0]))
rank: Lowering = Lowering(lambda w, a, out, x: w.full(x.ndim, "int32", ()))
split: Lowering = Lowering(onnx=_onnx_split)
split_at: Lowering = Lowering(_split_at)
pieces: Lowering = Lowering(decompose=_pieces)
stack: Lowering = Lowering(onnx=_onnx_stack)
unbind: Lowering = Lowering(onnx=_onnx_unbind)
unstack: Lowering = Lowering(
    lambda w, a, out, x: w.list_op("unstack", [x], out, axis=a.axis, num=len(out)), onnx=_onnx_unbind
)
expand: Lowering = Lowering(onnx=_onnx_expand)
flatten: Lowering = Lowering(onnx=_onnx_flatten)
flip: Lowering = Lowering(onnx=_onnx_flip)
meshgrid: Lowering = Lowering(onnx=_onnx_meshgrid)
