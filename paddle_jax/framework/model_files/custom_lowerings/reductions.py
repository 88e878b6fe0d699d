"""Reductions, sorting, running sums and norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import (
    axes_of,
    binary,
    cast,
    expanded,
    positive,
    reduced,
    scaled,
    squeeze,
)
from paddle_jax.framework.model_files.plain_values import with_ones
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _listed(axis: int | None) -> list[Any]:
    if axis is None:
        return []
    if isinstance(axis, tuple):
        return list(axis)
    return [axis]


def _onnx_reduced(kind: str) -> Lowering:
    def onnx(g: Graph, op: Any, x: str, axes: Any) -> str:
        axes = [int(a) for a in g.numbers(axes)] or list(range(op.ndim()))
        if not axes:
            return g.node("Identity", [x])
        if kind == "ReduceSum":
            if op.kind() != op.out[0]:
                x = g.cast(x, op.out[0])
            return g.node(kind, [x, g.ints(axes)], keepdims=int(op.keepdim))
        found = g.node(kind, [x], axes=axes, keepdims=int(op.keepdim))
        if kind == "ReduceMean":
            return _nan_of_nothing(g, op, x, axes, found)
        return found

    return Lowering(onnx=onnx)


def _nan_of_nothing(g: Graph, op: Any, x: str, axes: Sequence[int], mean: str) -> str:
    """A mean, which onnxruntime takes for 0 where there are no numbers."""
    if all(op.lengths()[axis] > 0 for axis in axes):
        return mean
    count = g.node("ReduceProd", [g.node("Gather", [g.node("Shape", [x]), g.ints(list(axes))])], keepdims=0)
    is_empty = g.node("Equal", [count, g.number(0, "int64")])
    return g.node("Where", [is_empty, g.number(math.nan, op.kind()), mean])


def _onnx_listed(kind: str) -> Lowering:
    def onnx(g: Graph, op: Any, x: str) -> str:
        return g.node(
            kind, [x], axes=[int(a) for a in op.axis] or list(range(op.ndim())), keepdims=int(op.keepdim)
        )

    return Lowering(onnx=onnx)


def _onnx_truth(kind: str) -> Lowering:
    def onnx(g: Graph, op: Any, x: str) -> str:
        if op.kind() == "bool":
            x = g.node("Identity", [x])
        else:
            x = g.cast(x, "bool")
        # No axes: the bool itself.
        axes = [int(a) for a in op.axis] or list(range(op.ndim()))
        if not axes:
            return x
        # ONNX reduces no bools.
        return g.cast(g.node(kind, [g.cast(x, "int32")], axes=axes, keepdims=int(op.keepdim)), "bool")

    return Lowering(onnx=onnx)


def _without_nan(w: Builder, x: Value) -> Any:
    nan = w.op("isnan", [x], ("bool", x.shape))
    return w.op("where", [nan, w.op("full_like", [x, w.full(0.0)], x.type, dtype=x.dtype), x], x.type)


def _nansum(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    if out[0][0] != x.dtype:
        dtype = out[0][0]
    else:
        dtype = "Undefined(ALL_DTYPE)"
    return reduced(w, "sum", _without_nan(w, x), _listed(a.axis), a.keepdim, out[0], dtype=dtype)


def _nanmean(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    x = cast(w, x, out[0][0])
    present = cast(
        w, w.op("logical_not", [w.op("isnan", [x], ("bool", x.shape))], ("bool", x.shape)), x.dtype
    )
    total, count = (
        reduced(w, "sum", v, _listed(a.axis), a.keepdim, out[0]) for v in (_without_nan(w, x), present)
    )
    return binary(w, "divide", total, count, out[0])


def _count_nonzero(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    different = w.op("not_equal", [x, w.full(0, x.dtype, ())], ("bool", x.shape))
    return reduced(w, "sum", cast(w, different, "int64"), _listed(a.axis), a.keepdim, out[0], dtype="int64")


def _variance(w: Builder, a: Any, x: Value) -> tuple[Any, list[int] | list[Any | int]]:
    """(variance with the reduced axes kept, these axes)"""
    if not x.dtype.startswith("float"):
        raise NotWritable("var of whole numbers has no form in PIR")
    # An empty tuple means all axes; the axis 0 does not.
    if a.axis == ():
        axes = axes_of(None, x.ndim)
    else:
        axes = axes_of(a.axis, x.ndim)
    kept = x.dtype, with_ones(x.shape, axes)
    if any(not isinstance(x.shape[i], int) for i in axes):
        raise NotWritable("var over an axis whose length is not fixed")
    count = math.prod(x.shape[i] for i in axes)
    correction = _correction(a)
    # In two passes, which does not cancel as the mean of squares does.
    centred = binary(w, "subtract", x, reduced(w, "mean", x, axes, True, kept), x.type)
    total = reduced(w, "sum", w.op("square", [centred], x.type), axes, True, kept)
    factor = math.nan
    # An open count may be too small: the file then divides by zero, and 0 times infinity is NaN.
    if is_length(count) or count > correction:
        factor = 1.0 / (count - correction)
    return scaled(w, total, factor), axes


def _correction(a: Any) -> int:
    unbiased = getattr(a, "unbiased", None)
    if unbiased is None:
        return getattr(a, "correction", 1)
    return int(unbiased)


def _var(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    found, axes = _variance(w, a, x)
    if a.keepdim:
        return found
    return squeeze(w, found, axes)


def _std(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Any:
    found, axes = _variance(w, a, x)
    found = w.op("sqrt", [found], found.type)
    if a.keepdim:
        return found
    return squeeze(w, found, axes)


# norms ------------------------------------------------------------------------------------------------------


def _p_norm(
    w: Builder, x: Value, p: float, axis: int | None, keepdim: bool, out: Sequence[Any], epsilon: float = 0.0
) -> Any:
    is_whole = axis is None
    # Paddle's files have an axis in either case.
    if is_whole:
        axis = -1
    return w.op("p_norm", [x], out, porder=p, axis=axis, epsilon=epsilon, keepdim=keepdim, asvector=is_whole)


def write_norm(w: Builder, a: Any, out: Any, x: Any) -> Value:
    """A vector norm as `p_norm`."""
    if isinstance(a.axis, tuple) and len(a.axis) == 1:
        axis = a.axis[0]
    else:
        axis = a.axis
    p = a.p
    # Frobenius' norm of a matrix is the length of its elements as a vector.
    if p in (None, "fro"):
        p = 2.0
    if not isinstance(p, int | float):
        raise NotWritable(f"norm with p={p!r} has no form in PIR")
    if isinstance(axis, tuple):
        # Paddle's `p_norm` takes one axis or all.
        if sorted(axes_of(axis, x.ndim)) != list(range(x.ndim)) or p != 2:
            raise NotWritable("norm over some of the axes has no form in PIR")
        axis = None
    if x.dtype.startswith("complex"):
        part = {"complex64": "float32"}.get(x.dtype, "float64")
        x = w.op("abs", [x], (part, x.shape))
    return _p_norm(w, cast(w, x, out[0][0]), float(p), axis, a.keepdim, out[0])


def read_norm(a: Any, x: Any) -> Any:
    """A `p_norm` as a vector norm."""
    if a.asvector:
        return P.vector_norm(x, a.porder, None, a.keepdim)
    return P.vector_norm(x, a.porder, a.axis, a.keepdim)


def onnx_norm(g: Graph, op: Any, x: str) -> str:
    """A vector norm."""
    form = {"axes": list(range(op.ndim())) if op.asvector else [op.axis], "keepdims": int(op.keepdim)}
    order = op.porder
    if order in (1, 2):
        return g.node(f"ReduceL{int(order)}", [x], **form)
    size = g.node("Abs", [x])
    if math.isinf(order):
        return g.node("ReduceMax" if order > 0 else "ReduceMin", [size], **form)
    axes = g.ints(form.pop("axes"))
    if order == 0:
        is_some = g.node("Not", [g.node("Equal", [x, g.number(0, op.kind())])])
        return g.node("ReduceSum", [g.cast(is_some, op.kind()), axes], **form)
    total = g.node("ReduceSum", [g.node("Pow", [size, g.number(order, op.kind())]), axes], **form)
    return g.node("Pow", [total, g.number(1 / order, op.kind())])


def _normalized(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    axis = positive(a.axis, x.ndim)
    size = x.dtype, with_ones(x.shape, [axis])
    length = _p_norm(w, x, float(a.p), axis, True, size, a.epsilon)
    # As Paddle: the length, but at least epsilon.
    return binary(w, "divide", x, binary(w, "maximum", length, w.full(a.epsilon, x.dtype, ()), size), out[0])


def _pairwise(w: Builder, a: Any, out: Sequence[Any], x: Value, y: Value) -> Any:
    gap = scaled(w, binary(w, "subtract", x, y), 1.0, a.epsilon)
    return w.op("p_norm", [gap], out[0], porder=a.p, axis=-1, epsilon=0.0, keepdim=a.keepdim, asvector=False)


def _cosine(w: Builder, a: Any, out: Sequence[Any], x: Any, y: Any) -> Value:
    kind = out[0]
    both = binary(w, "multiply", x, y)
    x, y = (expanded(w, v, both.shape) for v in (x, y))
    axes = [positive(a.axis, both.ndim)]
    top = reduced(w, "sum", both, axes, False, kind)
    norms = [reduced(w, "sum", w.op("square", [v], v.type), axes, False, kind) for v in (x, y)]
    bottom = w.op(
        "sqrt",
        # The product of both squared lengths, but at least eps squared.
        [binary(w, "maximum", binary(w, "multiply", *norms, kind), w.full(a.eps * a.eps, x.dtype, ()), kind)],
        kind,
    )
    return binary(w, "divide", top, bottom, kind)


# sorting and running sums -----------------------------------------------------------------------------------


def _onnx_argument(kind: str) -> Lowering:
    def onnx(g: Graph, op: Any, x: str, axis: str) -> str:
        if op.flatten:
            y = g.node(kind, [g.node("Reshape", [x, g.ints([-1])])], axis=0, keepdims=0)
        else:
            y = g.node(kind, [x], axis=int(g.numbers(axis)[0]), keepdims=int(op.keepdims))
        if op.dtype == "int64":
            return y
        return g.cast(y, op.dtype)

    return Lowering(onnx=onnx)


def _onnx_topk(g: Graph, op: Any, x: str, k: str) -> list[str]:
    count = g.node("Reshape", [g.cast(k, "int64"), g.ints([1])])
    return g.node("TopK", [x, count], 2, axis=op.axis, largest=int(op.largest), sorted=1)


def _read_argsort(a: Any, x: Any) -> tuple[Any, Any]:
    order = P.argsort(x, a.axis, a.descending, a.stable)
    # A single number has no axis to take along.
    if x.ndim:
        x = P.take_along_axis(x, order, a.axis)
    return x, order


def _onnx_argsort(g: Graph, op: Any, x: str) -> list[str]:
    axis = op.axis % op.ndim()
    # ONNX sorts by taking all of the largest or smallest.
    length = g.node("Slice", [g.node("Shape", [x]), g.ints([axis]), g.ints([axis + 1])])
    return g.node("TopK", [x, length], 2, axis=axis, largest=int(op.descending), sorted=1)


def _read_cumsum(a: Any, x: Any, s_axis: Any) -> Any:
    if a.flatten:
        x = P.flatten(x)
        s_axis = 0
    if a.reverse:
        x = P.flip(x, [s_axis])
    total = P.cumsum(x, s_axis)
    # Exclusive sums leave out the element itself.
    if a.exclusive:
        total = P.subtract(total, x)
    if a.reverse:
        return P.flip(total, [s_axis])
    return total


def _onnx_cumsum(g: Graph, op: Any, x: str, axis: str) -> str:
    if op.flatten:
        x = g.node("Reshape", [x, g.ints([-1])])
        axis = g.number(0, "int32")
    else:
        axis = g.number(int(g.numbers(axis)[0]), "int32")
    return g.node("CumSum", [x, axis], exclusive=int(op.exclusive), reverse=int(op.reverse))


def _flat_running(name: str) -> Lowering:
    """Parts of a running product or extreme over all elements."""

    def decompose(a: Any, x: Any) -> Any:
        axis = getattr(a, {"cumprod": "dim"}.get(name, "axis"))
        if axis is not None and x.ndim:
            return None
        flat = P.flatten(x)
        if name == "cumprod":
            found = P.cumprod(flat, 0, dtype=a.dtype)
            if not x.ndim and axis is not None:
                return P.reshape(found, list(x.shape))
            return found
        found = getattr(P, name)(flat, 0, a.dtype)
        if not x.ndim and axis is not None:
            return [P.reshape(one, []) for one in found]
        return found

    return Lowering(decompose=decompose)


any_true: Lowering = _onnx_truth("ReduceMax")
all_true: Lowering = _onnx_truth("ReduceMin")
cumprod: Lowering = _flat_running("cumprod")
cummax: Lowering = _flat_running("cummax")
cummin: Lowering = _flat_running("cummin")
total, mean, prod = _onnx_reduced("ReduceSum"), _onnx_reduced("ReduceMean"), _onnx_reduced("ReduceProd")
largest: Lowering = _onnx_reduced("ReduceMax")
smallest: Lowering = _onnx_reduced("ReduceMin")
amax: Lowering = _onnx_listed("ReduceMax")
amin: Lowering = _onnx_listed("ReduceMin")
logsumexp: Lowering = _onnx_listed("ReduceLogSumExp")
nansum: Lowering = Lowering(_nansum)
nanmean: Lowering = Lowering(_nanmean)
count_nonzero: Lowering = Lowering(_count_nonzero)
var: Lowering = Lowering(_var)
std: Lowering = Lowering(_std)
normalized: Lowering = Lowering(_normalized)
pairwise_distance: Lowering = Lowering(_pairwise)
cosine_similarity: Lowering = Lowering(_cosine)
argmax: Lowering = _onnx_argument("ArgMax")
argmin: Lowering = _onnx_argument("ArgMin")
topk: Lowering = Lowering(onnx=_onnx_topk)
argsort: Lowering = Lowering(read=_read_argsort, onnx=_onnx_argsort)
cumsum: Lowering = Lowering(read=_read_cumsum, onnx=_onnx_cumsum)
