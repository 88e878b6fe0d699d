"""How gradients of recorded operations are written: by operations that any engine runs.

`rule(call, cotangents)` gives the gradients of the operands, None where there is none. call: RecordedCall.
cotangents: gradients of the results, None where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.lazy.lengths import expression_of, extreme, has_lengths, is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading_helpers import P

Cotangents = list[Tensor | None]
RULES: dict[str, Callable[..., Cotangents]] = {}


def add_rule(*names: str) -> Callable[..., Any]:
    """Registers a function of the attributes, the gradient of the result, the result and the operands."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        def rule(call: Any, cotangents: Cotangents) -> Cotangents:
            found = function(call.attributes, cotangents[0], call.results[0], *call.operands)
            pairs = zip(as_list(found), call.operands, strict=False)
            return [
                None if cotangent is None else summed_to(operand, cotangent) for cotangent, operand in pairs
            ]

        RULES.update(dict.fromkeys(names, rule))
        return function

    return add


def summed_to(operand: Tensor, cotangent: Tensor) -> Tensor:
    """A gradient in the shape of an operand, which was broadcast."""
    extra = cotangent.ndim - operand.ndim
    if extra > 0:
        cotangent = cotangent.sum(axis=list(range(extra)))
    axes = [axis for axis in range(operand.ndim) if _is_one(operand.shape[axis], cotangent.shape[axis])]
    if axes:
        cotangent = cotangent.sum(axis=axes, keepdim=True)
    for axis in range(operand.ndim):
        if is_length(operand.shape[axis]) and axis not in axes:
            cotangent = _rows_summed_to(operand.shape[axis], cotangent, axis)
    if numpy_dtype(cotangent) != numpy_dtype(operand):
        return cotangent.astype(numpy_dtype(operand).name)
    return cotangent


def _is_one(length: Any, longer: Any) -> bool:
    """Whether an axis has the length 1, which was repeated."""
    return not is_length(length) and length == 1 and expression_of(longer) != 1


def _rows_summed_to(length: Any, cotangent: Tensor, axis: int) -> Tensor:
    """A gradient with an axis of an open length, which may be 1 and repeated."""
    longer = cotangent.shape[axis]
    # the same expression: the lengths are equal for all inputs
    if expression_of(longer) == expression_of(length):
        return cotangent
    # each row adds to the one that it was taken from: to row 0 where the length is 1, else to its own
    row = P.minimum(P.arange(longer), P.full([], length - 1, "int64"))
    return _added_rows(cotangent, axis, row, length)


def _added_rows(g: Tensor, axis: int, place: Tensor, length: Any) -> Tensor:
    """Zeros of a length on an axis, with rows added at places."""
    shape = list(g.shape)
    shape[axis] = length
    return P.index_add(P.zeros(shape, numpy_dtype(g).name), place, axis, g)


def only_where(condition: Tensor, cotangent: Tensor) -> Tensor:
    """The gradient where a condition holds, zeros elsewhere."""
    return P.where(condition, cotangent, P.zeros_like(cotangent))


# elements ---------------------------------------------------------------------------------------------------

add_rule("add")(lambda a, g, out, x, y: (g, g * a["alpha"] if a["alpha"] != 1 else g))
add_rule("subtract")(lambda a, g, out, x, y: (g, -g * a["alpha"] if a["alpha"] != 1 else -g))
add_rule("multiply")(lambda a, g, out, x, y: (g * y, g * x))
add_rule("true_divide")(lambda a, g, out, x, y: (g / y, -g * out / y))
add_rule("neg", "negative")(lambda a, g, out, x: -g)
add_rule("square")(lambda a, g, out, x: g * x * 2)
add_rule("exp")(lambda a, g, out, x: g * out)
add_rule("expm1")(lambda a, g, out, x: g * (out + 1))
add_rule("log")(lambda a, g, out, x: g / x)
add_rule("log1p")(lambda a, g, out, x: g / (x + 1))
add_rule("tanh")(lambda a, g, out, x: g * (1 - out * out))
add_rule("sigmoid")(lambda a, g, out, x: g * out * (1 - out))
add_rule("sqrt")(lambda a, g, out, x: g * 0.5 / out)
add_rule("rsqrt")(lambda a, g, out, x: g * -0.5 * out * out * out)
add_rule("reciprocal")(lambda a, g, out, x: -g * out * out)
add_rule("sin")(lambda a, g, out, x: g * P.cos(x))
add_rule("cos")(lambda a, g, out, x: -g * P.sin(x))
add_rule("abs")(lambda a, g, out, x: g * P.sign(x))
add_rule("erf")(lambda a, g, out, x: g * P.exp(-x * x) * (2 / math.sqrt(math.pi)))
add_rule("relu")(lambda a, g, out, x: only_where(out > 0, g))
add_rule("leaky_relu")(lambda a, g, out, x: P.where(x > 0, g, g * a["negative_slope"]))
add_rule("elu")(lambda a, g, out, x: P.where(x > 0, g, g * P.exp(x) * a["alpha"]))
add_rule("silu", "swish")(lambda a, g, out, x: g * P.sigmoid(x) * (1 + x * (1 - P.sigmoid(x))))
add_rule("clone", "assign", "cast")(lambda a, g, out, x: g)
add_rule("maximum")(lambda a, g, out, x, y: (only_where(x > y, g), only_where(x <= y, g)))
add_rule("minimum")(lambda a, g, out, x, y: (only_where(x < y, g), only_where(x >= y, g)))
add_rule("choose")(lambda a, g, out, c, x, y: (None, only_where(c, g), only_where(P.logical_not(c), g)))


def _clip(call: Any, cotangents: Cotangents) -> Cotangents:
    """On a bound the gradient passes; NaN gets none. A bound that is left out cuts nothing."""
    named = call.named()
    x: Any = named["x"]
    g: Any = cotangents[0]
    if named["min"] is not None:
        g = only_where(x >= named["min"], g)
    if named["max"] is not None:
        g = only_where(x <= named["max"], g)
    return [g]


RULES["clip"] = _clip


@add_rule("pow")
def _pow(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    of_base = g * y * P.pow(x, y - 1)
    # A number as the exponent gets no gradient, and its logarithm could be NaN.
    if y.stop_gradient and not y.ndim:
        return of_base, None
    return of_base, g * out * P.log(x)


@add_rule("softplus")
def _softplus(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.where(x * a["beta"] > a["threshold"], g, g * P.sigmoid(x * a["beta"]))


@add_rule("gelu")
def _gelu(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    if a["approximate"]:
        scale = math.sqrt(2 / math.pi)
        bend = P.tanh((x + x * x * x * 0.044715) * scale)
        return g * ((1 + bend) * 0.5 + x * 0.5 * (1 - bend * bend) * (1 + x * x * (3 * 0.044715)) * scale)
    density = P.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return g * ((1 + P.erf(x * math.sqrt(0.5))) * 0.5 + x * density)


# reductions -------------------------------------------------------------------------------------------------


def as_axes(axis: Any, x: Tensor) -> list[int]:
    """The axes of a reduction, as numbers from 0."""
    if axis is None or isinstance(axis, tuple | list) and not axis:
        return list(range(x.ndim))
    return [int(one) % x.ndim for one in as_list(axis)]


def with_axes(a: Any, value: Tensor, x: Tensor) -> Tensor:
    """A result of a reduction, or its gradient, with the axes that it lacks."""
    if a["keepdim"] or not x.ndim:
        return value
    return P.unsqueeze(value, sorted(as_axes(a["axis"], x)))


@add_rule("sum")
def _sum(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.zeros_like(x) + with_axes(a, g, x).astype(x.dtype)


@add_rule("mean")
def _mean(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    count = P.ones_like(x).sum(axis=as_axes(a["axis"], x), keepdim=True)
    return P.zeros_like(x) + with_axes(a, g, x).astype(x.dtype) / count


@add_rule("max", "min")
def _extreme(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.zeros_like(x) + with_axes(a, g, x) * P.equal(x, with_axes(a, out, x)).astype(x.dtype)


@add_rule("logsumexp")
def _logsumexp(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return with_axes(a, g, x) * P.exp(x - with_axes(a, out, x))


@add_rule("norm", "vector_norm")
def _norm(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    p = a["p"]
    g, out = with_axes(a, g, x), with_axes(a, out, x)
    if p in (None, 2, "fro"):
        return g * x / out
    if not isinstance(p, int | float) or p <= 0:
        raise NotWritable(f"paddle.grad through norm with p={p} cannot be saved; write the sum of powers")
    if p == 1:
        return g * P.sign(x)
    if math.isinf(p):
        is_largest = P.equal(P.abs(x), out).astype(numpy_dtype(x).name)
        return g * P.sign(x) * is_largest
    return g * P.sign(x) * P.pow(P.abs(x) / out, p - 1)


def sum_from_end(x: Tensor, axis: int) -> Tensor:
    """The running sum along an axis that begins at its end: the transpose of `cumsum`."""
    return P.flip(P.cumsum(P.flip(x, [axis]), axis), [axis])


@add_rule("cumsum")
def _cumsum(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    axis = a["axis"]
    if axis is None:
        g = P.reshape(g, [-1])
        axis = 0
    return P.reshape(sum_from_end(g, axis), list(x.shape))


@add_rule("softmax")
def _softmax(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return out * (g - (g * out).sum(axis=a["axis"], keepdim=True))


@add_rule("log_softmax")
def _log_softmax(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return g - P.exp(out) * g.sum(axis=a["axis"], keepdim=True)


@add_rule("mse_loss")
def _mse_loss(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    cotangent = (x - y) * 2 * g
    if a["reduction"] == "mean":
        cotangent = cotangent / P.ones_like(x - y).sum()
    return cotangent, -cotangent


# products ---------------------------------------------------------------------------------------------------


def turned(x: Tensor) -> Tensor:
    """A matrix, or many, with the last two axes exchanged."""
    return P.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@add_rule("matmul", "bmm", "mm")
def _matmul(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    if x.ndim < 2 or y.ndim < 2:
        return _matmul_of_vectors(a, g, x, y)
    turned_x, turned_y = a.get("transpose_x"), a.get("transpose_y")
    # d(X Y) = dX Y + X dY, with what was multiplied.
    if turned_x:
        x = turned(x)
    if turned_y:
        y = turned(y)
    of_x = P.matmul(g, turned(y))
    of_y = P.matmul(turned(x), g)
    if turned_x:
        of_x = turned(of_x)
    if turned_y:
        of_y = turned(of_y)
    return of_x, of_y


def _matmul_of_vectors(a: Any, g: Tensor, x: Tensor, y: Tensor) -> Any:
    """As `_matmul` where an operand has one axis: a row on the left, a column on the right."""
    if x.ndim < 2:
        g = P.unsqueeze(g, -1 if y.ndim < 2 else -2)
    if y.ndim < 2:
        g = P.unsqueeze(g, -1)
    if x.ndim < 2 and y.ndim < 2:
        g = P.reshape(g, [1, 1])
    row = P.unsqueeze(x, 0) if x.ndim < 2 else x
    column = P.unsqueeze(y, 1) if y.ndim < 2 else y
    flags = {
        "transpose_x": bool(a.get("transpose_x")) and x.ndim > 1,
        "transpose_y": bool(a.get("transpose_y")) and y.ndim > 1,
    }
    of_row, of_column = _matmul(flags, g, g, row, column)
    if x.ndim < 2:
        of_row = P.reshape(P.reshape(of_row, [-1, x.shape[0]]).sum(axis=0), [x.shape[0]])
    if y.ndim < 2:
        of_column = P.reshape(P.reshape(of_column, [-1, y.shape[0]]).sum(axis=0), [y.shape[0]])
    return of_row, of_column


@add_rule("linear")
def _linear(a: Any, g: Tensor, out: Tensor, x: Tensor, weight: Tensor, *bias: Tensor) -> Any:
    rows = P.reshape(g, [-1, g.shape[-1]])
    of_weight = P.matmul(turned(P.reshape(x, [-1, x.shape[-1]])), rows)
    return P.matmul(g, turned(weight)), of_weight, *[g for _ in bias]


@add_rule("dot")
def _dot(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    g = g.unsqueeze(-1)
    return g * y, g * x


# shapes -----------------------------------------------------------------------------------------------------

add_rule("reshape", "flatten", "squeeze", "unsqueeze")(lambda a, g, out, x: P.reshape(g, list(x.shape)))
add_rule("expand", "broadcast_to")(lambda a, g, out, x: g)
add_rule("t")(lambda a, g, out, x: P.t(g))


@add_rule("permute_axes")
def _permute(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    perm = [int(axis) % x.ndim for axis in a["perm"]]
    return P.transpose(g, sorted(range(x.ndim), key=perm.__getitem__))


@add_rule("concat")
def _concat(a: Any, g: Tensor, out: Tensor, *xs: Tensor) -> list[Tensor]:
    axis = a["axis"] % g.ndim
    start: Any = 0
    cotangents = []
    for x in xs:
        end = start + x.shape[axis]
        cotangents.append(P.slice(g, [axis], [start], [end]))
        start = end
    return cotangents


@add_rule("stack")
def _stack(a: Any, g: Tensor, out: Tensor, *xs: Tensor) -> list[Tensor]:
    return list(P.unbind(g, a["axis"]))


def filled_up(g: Tensor, axis: int, start: Any, length: Any) -> Tensor:
    """Zeros of a length along an axis, with `g` from a start on, which may be past the end."""
    shape = list(g.shape)
    if has_lengths([start, length]):
        start = extreme("max", [extreme("min", [start, length]), 0])
    else:
        start = max(min(start, length), 0)
    dtype = numpy_dtype(g).name

    def zeros(count: Any) -> list[Tensor]:
        if not is_length(count) and count == 0:
            return []
        return [P.zeros([*shape[:axis], count, *shape[axis + 1 :]], dtype)]

    pieces = [*zeros(start), g, *zeros(length - start - shape[axis])]
    # Nothing to fill: the block is the whole axis.
    if len(pieces) == 1:
        return g
    return P.concat(pieces, axis)


def _take_index(call: Any, cotangents: Cotangents) -> Cotangents:
    """A slice or an item: the gradient among zeros."""
    x, *places = call.operands
    g = cotangents[0]
    starts = iter(call.elements(places[0]) if places else [])
    # the gradient with the axes of x, in the order of x
    axis = 0
    for kind, *rest in call.attributes["axes"]:
        if kind == "n":
            g = P.squeeze(g, axis)
            continue
        if kind == ":":
            axis += 1
            continue
        if kind not in "is":
            raise NotWritable(
                "paddle.grad through such an index cannot be saved; use slices and plain numbers"
            )
        start = next(starts)
        length = x.shape[axis]
        if kind == "i":
            g = P.unsqueeze(g, axis)
        step = rest[1] if kind == "s" else 1
        if is_length(step):
            raise NotWritable("paddle.grad through a slice with an open step cannot be saved; use a number")
        if step < 0:  # it starts at the last place that it reads
            g = P.flip(g, [axis])
            step = -step
        if isinstance(start, Tensor) or step != 1 or is_length(start):
            g = _at_places(g, axis, start, step, length)
        else:
            g = filled_up(g, axis, start + length if start < 0 else start, length)
        axis += 1
    return [g]


def _at_places(g: Tensor, axis: int, start: Any, step: Any, length: Any) -> Tensor:
    """Zeros of a length along an axis, with `g` at places from a start on."""
    count = g.shape[axis]
    first = start.astype("int64") if isinstance(start, Tensor) else P.full([], start, "int64")
    last = P.full([], length, "int64")
    place = P.where(first < 0, first + last, first) + P.arange(count) * step
    return _added_rows(g, axis, place, length)


def _take_rows(call: Any, cotangents: Cotangents) -> Cotangents:
    """`gather`: each row adds to the row that it was taken from."""
    x, index = call.operands
    axis = call.attributes["axis"]
    return [P.index_add(P.zeros_like(x), index.flatten(), axis, cotangents[0])]


def _lookup(call: Any, cotangents: Cotangents) -> Cotangents:
    """`embedding`."""
    index, weight = call.operands
    padding, by_frequency = call.attributes["padding_idx"], call.attributes["by_frequency"]
    if by_frequency:
        raise NotWritable("paddle.grad through embedding scaled by frequency cannot be saved; use gather")
    rows = P.reshape(cotangents[0], [-1, weight.shape[1]])
    if padding not in (None, -1):
        # The row of the padding gets no gradient.
        counts = P.not_equal(P.reshape(index, [-1, 1]), P.full([], padding, numpy_dtype(index).name))
        rows = only_where(P.expand(counts, list(rows.shape)), rows)
    return [None, P.index_add(P.zeros_like(weight), index.flatten(), 0, rows)]


RULES["take_index"] = _take_index
RULES["take_rows"] = _take_rows
RULES["_lookup"] = _lookup


def _of_all_results(call: Any, cotangents: Cotangents) -> Sequence[Tensor]:
    """The gradients of all results, zeros for those that nothing reads."""
    return [
        P.zeros_like(result) if cotangent is None else cotangent
        for cotangent, result in zip(cotangents, call.results, strict=True)
    ]


def _split(call: Any, cotangents: Cotangents) -> Cotangents:
    return [P.concat(_of_all_results(call, cotangents), call.attributes["axis"])]


def _unbind(call: Any, cotangents: Cotangents) -> Cotangents:
    return [P.stack(_of_all_results(call, cotangents), call.attributes["axis"])]


RULES["split_at"] = _split
RULES["unbind"] = _unbind
RULES["unstack"] = _unbind

__all__ = [
    "RULES",
    "Cotangents",
    "add_rule",
    "as_axes",
    "filled_up",
    "only_where",
    "sum_from_end",
    "summed_to",
    "turned",
    "with_axes",
]
