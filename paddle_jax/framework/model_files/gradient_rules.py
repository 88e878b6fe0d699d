"""How gradients of recorded operations are written: by operations that any engine runs.

`rule(call, cotangents)` gives the gradients of the operands, None where there is none. call: RecordedCall.
cotangents: gradients of the results, None where there is none.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.length_expressions import evaluate, leaves_of
from paddle_jax._core.lazy.lengths import expression_of, extreme, has_lengths, is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.reading_helpers import P

_TRIES = 100
Cotangents = list[Tensor | None]
RULES: dict[str, Callable[..., Cotangents]] = {}


def _rule(*names: str) -> Callable[..., Any]:
    """Registers a function of the attributes, the gradient of the result, the result and the operands."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        def rule(call: Any, cotangents: Cotangents) -> Cotangents:
            found = function(call.attributes, cotangents[0], call.results[0], *call.operands)
            pairs = zip(found if isinstance(found, tuple | list) else [found], call.operands, strict=False)
            return [
                None if cotangent is None else _summed_to(operand, cotangent) for cotangent, operand in pairs
            ]

        RULES.update(dict.fromkeys(names, rule))
        return function

    return add


def _summed_to(operand: Tensor, cotangent: Tensor) -> Tensor:
    """A gradient in the shape of an operand, which was broadcast."""
    extra = cotangent.ndim - operand.ndim
    if extra > 0:
        cotangent = cotangent.sum(axis=list(range(extra)))
    axes = [axis for axis in range(operand.ndim) if _was_repeated(operand.shape[axis], cotangent.shape[axis])]
    if axes:
        cotangent = cotangent.sum(axis=axes, keepdim=True)
    if numpy_dtype(cotangent) != numpy_dtype(operand):
        return cotangent.astype(numpy_dtype(operand).name)
    return cotangent


def _was_repeated(length: Any, longer: Any) -> bool:
    """Whether an axis of one length was repeated to another one."""
    if _are_equal(expression_of(length), expression_of(longer)):
        return False
    if is_length(length):
        raise NotWritable("paddle.grad through an operand of an open length that is repeated cannot be saved")
    return length == 1


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two lengths are equal for all lengths of the inputs, as far as many of these show."""
    leaves = _leaves(one)
    if one == other or not leaves or leaves != _leaves(other):
        return one == other
    generator = random.Random(0)
    for attempt in range(_TRIES):
        chosen = {leaf: min(attempt, generator.randint(0, 99)) for leaf in sorted(leaves, key=repr)}
        if _evaluated(one, chosen) != _evaluated(other, chosen):
            return False
    return True


def _likely(leaf: Any) -> Any:
    """The expression of a length that an operation gives where axes of its operands fit together; None where
    there is none. Whether they do shows at the other operands."""
    kind, number, axis = leaf
    if kind != "dim":
        return None
    found = local.ctx.frame.likely.get(number)
    return found[axis] if found else None


def _leaves(node: Any) -> set[Any]:
    """The lengths that an expression is made of."""
    found = set()
    for leaf in leaves_of(node):
        likely = _likely(leaf)
        found |= {leaf} if likely is None else _leaves(likely)
    return found


def _evaluated(node: Any, values: dict[Any, int]) -> Any:
    """The value of an expression for some lengths; None where it has none."""

    def value_of(leaf: Any) -> Any:
        likely = _likely(leaf)
        return values[leaf] if likely is None else evaluate(likely, value_of)

    try:
        return evaluate(node, value_of)
    except ArithmeticError:
        return None


def _where(condition: Tensor, cotangent: Tensor) -> Tensor:
    return P.where(condition, cotangent, P.zeros_like(cotangent))


# elements ---------------------------------------------------------------------------------------------------

_rule("add")(lambda a, g, out, x, y: (g, g * a["alpha"] if a["alpha"] != 1 else g))
_rule("subtract")(lambda a, g, out, x, y: (g, -g * a["alpha"] if a["alpha"] != 1 else -g))
_rule("multiply")(lambda a, g, out, x, y: (g * y, g * x))
_rule("true_divide")(lambda a, g, out, x, y: (g / y, -g * out / y))
_rule("neg", "negative")(lambda a, g, out, x: -g)
_rule("square")(lambda a, g, out, x: g * x * 2)
_rule("exp")(lambda a, g, out, x: g * out)
_rule("expm1")(lambda a, g, out, x: g * (out + 1))
_rule("log")(lambda a, g, out, x: g / x)
_rule("log1p")(lambda a, g, out, x: g / (x + 1))
_rule("tanh")(lambda a, g, out, x: g * (1 - out * out))
_rule("sigmoid")(lambda a, g, out, x: g * out * (1 - out))
_rule("sqrt")(lambda a, g, out, x: g * 0.5 / out)
_rule("rsqrt")(lambda a, g, out, x: g * -0.5 * out * out * out)
_rule("reciprocal")(lambda a, g, out, x: -g * out * out)
_rule("sin")(lambda a, g, out, x: g * P.cos(x))
_rule("cos")(lambda a, g, out, x: -g * P.sin(x))
_rule("abs")(lambda a, g, out, x: g * P.sign(x))
_rule("erf")(lambda a, g, out, x: g * P.exp(-x * x) * (2 / math.sqrt(math.pi)))
_rule("relu")(lambda a, g, out, x: _where(out > 0, g))
_rule("leaky_relu")(lambda a, g, out, x: P.where(x > 0, g, g * a["negative_slope"]))
_rule("elu")(lambda a, g, out, x: P.where(x > 0, g, g * P.exp(x) * a["alpha"]))
_rule("silu", "swish")(lambda a, g, out, x: g * P.sigmoid(x) * (1 + x * (1 - P.sigmoid(x))))
_rule("clone", "assign", "cast")(lambda a, g, out, x: g)
_rule("maximum")(lambda a, g, out, x, y: (_where(x > y, g), _where(x <= y, g)))
_rule("minimum")(lambda a, g, out, x, y: (_where(x < y, g), _where(x >= y, g)))
_rule("choose")(lambda a, g, out, c, x, y: (None, _where(c, g), _where(P.logical_not(c), g)))
_rule("clip")(lambda a, g, out, x, low, high: _where(P.logical_and(x > low, x < high), g))


@_rule("pow")
def _pow(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    return g * y * P.pow(x, y - 1), None if y.stop_gradient and not y.ndim else g * out * P.log(x)


@_rule("softplus")
def _softplus(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.where(x * a["beta"] > a["threshold"], g, g * P.sigmoid(x * a["beta"]))


@_rule("gelu")
def _gelu(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    if a["approximate"]:
        scale = math.sqrt(2 / math.pi)
        bend = P.tanh((x + x * x * x * 0.044715) * scale)
        return g * ((1 + bend) * 0.5 + x * 0.5 * (1 - bend * bend) * (1 + x * x * (3 * 0.044715)) * scale)
    density = P.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return g * ((1 + P.erf(x * math.sqrt(0.5))) * 0.5 + x * density)


# reductions -------------------------------------------------------------------------------------------------


def _axes(axis: Any, x: Tensor) -> list[int]:
    """The axes of a reduction, as numbers from 0."""
    if axis is None or isinstance(axis, tuple | list) and not axis:
        return list(range(x.ndim))
    return [int(one) % x.ndim for one in (axis if isinstance(axis, tuple | list) else [axis])]


def _with_axes(a: Any, value: Tensor, x: Tensor) -> Tensor:
    """A result of a reduction, or its gradient, with the axes that it lacks."""
    if a["keepdim"] or not x.ndim:
        return value
    return P.unsqueeze(value, sorted(_axes(a["axis"], x)))


@_rule("sum")
def _sum(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.zeros_like(x) + _with_axes(a, g, x).astype(x.dtype)


@_rule("mean")
def _mean(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    count = P.ones_like(x).sum(axis=_axes(a["axis"], x), keepdim=True)
    return P.zeros_like(x) + _with_axes(a, g, x).astype(x.dtype) / count


@_rule("max", "min")
def _extreme(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return P.zeros_like(x) + _with_axes(a, g, x) * P.equal(x, _with_axes(a, out, x)).astype(x.dtype)


@_rule("logsumexp")
def _logsumexp(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return _with_axes(a, g, x) * P.exp(x - _with_axes(a, out, x))


@_rule("norm")
def _norm(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    if a["p"] not in (None, 2, 2.0, "fro"):
        raise NotWritable(
            f"paddle.grad through norm with p={a['p']} cannot be saved; write the sum of powers"
        )
    return _with_axes(a, g, x) * x / _with_axes(a, out, x)


@_rule("cumsum")
def _cumsum(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    if a["axis"] is None:
        g = P.reshape(g, [-1])
    axis = 0 if a["axis"] is None else a["axis"]
    return P.reshape(P.flip(P.cumsum(P.flip(g, [axis]), axis), [axis]), list(x.shape))


@_rule("softmax")
def _softmax(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return out * (g - (g * out).sum(axis=a["axis"], keepdim=True))


@_rule("log_softmax")
def _log_softmax(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return g - P.exp(out) * g.sum(axis=a["axis"], keepdim=True)


@_rule("mse_loss")
def _mse_loss(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    cotangent = (x - y) * 2 * g
    if a["reduction"] == "mean":
        cotangent = cotangent / P.ones_like(x - y).sum()
    return cotangent, -cotangent


# products ---------------------------------------------------------------------------------------------------


def _turned(x: Tensor) -> Tensor:
    """A matrix, or many, with the last two axes exchanged."""
    return P.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@_rule("matmul", "bmm", "mm")
def _matmul(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    if x.ndim < 2 or y.ndim < 2:
        raise NotWritable("paddle.grad through matmul of a vector cannot be saved; give it two axes")
    left = _turned(x) if a.get("transpose_x") else x
    right = _turned(y) if a.get("transpose_y") else y
    of_left = P.matmul(g, _turned(right))
    of_right = P.matmul(_turned(left), g)
    return (
        _turned(of_left) if a.get("transpose_x") else of_left,
        _turned(of_right) if a.get("transpose_y") else of_right,
    )


@_rule("linear")
def _linear(a: Any, g: Tensor, out: Tensor, x: Tensor, weight: Tensor, *bias: Tensor) -> Any:
    rows = P.reshape(g, [-1, g.shape[-1]])
    of_weight = P.matmul(_turned(P.reshape(x, [-1, x.shape[-1]])), rows)
    return P.matmul(g, _turned(weight)), of_weight, *[g for _ in bias]


@_rule("dot")
def _dot(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    g = g.unsqueeze(-1)
    return g * y, g * x


# shapes -----------------------------------------------------------------------------------------------------

_rule("reshape", "flatten", "squeeze", "unsqueeze")(lambda a, g, out, x: P.reshape(g, list(x.shape)))
_rule("expand", "broadcast_to")(lambda a, g, out, x: g)
_rule("t")(lambda a, g, out, x: P.t(g))


@_rule("permute_axes")
def _permute(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    perm = [int(axis) % x.ndim for axis in a["perm"]]
    return P.transpose(g, sorted(range(x.ndim), key=perm.__getitem__))


@_rule("concat")
def _concat(a: Any, g: Tensor, out: Tensor, *xs: Tensor) -> list[Tensor]:
    axis = a["axis"] % g.ndim
    start: Any = 0
    cotangents = []
    for x in xs:
        end = start + x.shape[axis]
        cotangents.append(P.slice(g, [axis], [start], [end]))
        start = end
    return cotangents


@_rule("stack")
def _stack(a: Any, g: Tensor, out: Tensor, *xs: Tensor) -> list[Tensor]:
    return list(P.unbind(g, a["axis"]))


def _padded(g: Tensor, axis: int, start: Any, length: Any) -> Tensor:
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
    return P.concat(pieces, axis) if len(pieces) > 1 else g


def _take_index(call: Any, cotangents: Cotangents) -> Cotangents:
    """A slice or an item: the gradient among zeros."""
    x, *places = call.operands
    g = cotangents[0]
    numbers = call.constant(places[0]).tolist() if places else []
    if call.attributes["slots"] or numbers is None:
        raise NotWritable("paddle.grad through such an index cannot be saved; use slices and plain numbers")
    starts = iter(numbers)
    # the gradient with the axes of x, in the order of x
    axis = 0
    for kind, *rest in call.attributes["axes"]:
        if kind == "n":
            g = P.squeeze(g, axis)
            continue
        if kind == ":":
            axis += 1
            continue
        if kind not in "is" or kind == "s" and rest[1] != 1:
            raise NotWritable("paddle.grad through a slice with a step cannot be saved; take every row")
        start = next(starts)
        length = x.shape[axis]
        if kind == "i":
            g = P.unsqueeze(g, axis)
        g = _padded(g, axis, start + length if start < 0 else start, length)
        axis += 1
    return [g]


def _take_rows(call: Any, cotangents: Cotangents) -> Cotangents:
    """`gather`: each row adds to the row that it was taken from."""
    x, index = call.operands
    axis = call.attributes["axis"]
    return [P.index_add(P.zeros_like(x), index.flatten(), axis, cotangents[0])]


def _lookup(call: Any, cotangents: Cotangents) -> Cotangents:
    """`embedding`."""
    index, weight = call.operands
    if call.attributes["padding_idx"] not in (None, -1) or call.attributes["by_frequency"]:
        raise NotWritable("paddle.grad through embedding with padding_idx cannot be saved; use gather")
    rows = P.reshape(cotangents[0], [-1, weight.shape[1]])
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

__all__ = ["RULES"]
