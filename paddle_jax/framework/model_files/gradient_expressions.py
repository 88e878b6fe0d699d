"""Operations whose gradients are written as those of an expression: the same results, computed by operations
that have rules.

An expression is `function(call, **operands)`. Its attributes are in `call.attributes`.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.tape.grad_mode import enable_grad
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.recorded_gradients import recorded_gradients
from paddle_jax._program.variable import variable
from paddle_jax.framework.model_files.gradient_blocks import in_shape_of
from paddle_jax.framework.model_files.gradient_rules import RULES, Cotangents
from paddle_jax.framework.model_files.plain_values import as_list, shape_along
from paddle_jax.framework.model_files.reading_helpers import P


def add_expression(*names: str) -> Callable[..., Any]:
    """Registers a function of a RecordedCall and its operands by name."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, ft.partial(gradients_through, function)))
        return function

    return add


def gradients_through(function: Callable[..., Any], call: Any, cotangents: Cotangents) -> Cotangents:
    """The gradients of a call, through an expression of its results."""
    symbols = call.operation.inputs
    places = [
        k
        for k, (symbol, is_wanted) in enumerate(zip(symbols, call.wanted, strict=True))
        if is_wanted and symbol.dtype.kind in INEXACT
    ]
    for place in places:
        call.operands[place] = variable(symbols[place], False, call.recorder.variable_class)
    with enable_grad():
        results = as_list(function(call, **call.named()))
    missing = [g for g in cotangents[len(results) :] if g is not None]
    if missing:
        raise NotWritable(
            f"paddle.grad through result {len(results)} of {call.name} cannot be saved; only the results "
            "before it have gradients"
        )
    pairs = [(r, g) for r, g in zip(results, cotangents, strict=False) if g is not None]
    starts = [in_shape_of(result, g.astype(numpy_dtype(result).name)) for result, g in pairs]
    sources = [call.operands[place] for place in places]
    targets = [result for result, _ in pairs]
    found = recorded_gradients(targets, sources, starts, call.create_graph, (), ends_at_inputs=True)
    # An operand that is given twice has one gradient, for both places.
    by_symbol = {symbols[place]: g for place, g in zip(places, found, strict=True)}
    return [by_symbol.pop(symbol, None) for symbol in symbols]


# elements ---------------------------------------------------------------------------------------------------


@add_expression("prelu")
def _prelu(call: Any, x: Tensor, weight: Tensor) -> Tensor:
    if weight.ndim and x.ndim > 1:
        axis = x.ndim - 1 if call.attributes["data_format"][-1] == "C" else 1
        weight = P.reshape(weight, shape_along(axis, x.ndim))
    return P.where(x > 0, x, x * weight)


@add_expression("glu")
def _glu(call: Any, x: Tensor) -> Tensor:
    left, right = P.chunk(x, 2, call.attributes["axis"])
    return left * P.sigmoid(right)


@add_expression("swiglu")
def _swiglu(call: Any, x: Tensor, y: Tensor | None) -> Tensor:
    if y is None:
        x, y = P.chunk(x, 2, -1)
    return P.silu(x) * y


@add_expression("maxout")
def _maxout(call: Any, x: Tensor) -> Tensor:
    axis = call.attributes["axis"] % x.ndim
    groups = call.attributes["groups"]
    shape = list(x.shape)
    grouped = P.reshape(x, [*shape[:axis], shape[axis] // groups, groups, *shape[axis + 1 :]])
    first = P.argmax(grouped, axis + 1, True)
    return P.squeeze(P.take_along_axis(grouped, first, axis + 1), axis + 1)


# chosen elements --------------------------------------------------------------------------------------------


@add_expression("sort")
def _sort(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    return P.take_along_axis(x, P.argsort(x, a["axis"], a["descending"], a["stable"]), a["axis"])


def _at_indices(call: Any, x: Tensor) -> Tensor:
    """Elements along an axis, whose places are the second result of the call."""
    axis = call.attributes["axis"]
    keepdim = call.attributes.get("keepdim", True)
    index = call.results[1].astype("int64")
    if axis is None:
        x, axis = P.flatten(x), 0
    if not keepdim:
        index = P.unsqueeze(index, axis)
    chosen = P.take_along_axis(x, index, axis)
    return chosen if keepdim else P.squeeze(chosen, axis)


for _name in ("_top", "kthvalue", "mode", "cummax", "cummin"):
    add_expression(_name)(_at_indices)


@add_expression("median")
def _median(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    if a["ignore_nan"]:
        raise NotWritable("paddle.grad through nanmedian cannot be saved; use median")
    axes = [axis % max(x.ndim, 1) for axis in a["axes"]]
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in rest]
    rows = P.sort(P.reshape(P.transpose(x, [*rest, *axes]), [*shape, -1]), -1)
    count = rows.shape[-1]
    low = rows[..., (count - 1) // 2]
    value = (low + rows[..., count // 2]) / 2 if a["mode"] == "avg" else low
    if a["keepdim"]:
        value = P.unsqueeze(value, sorted(axes))
    return value


# normalization ----------------------------------------------------------------------------------------------


def channels_first(call: Any, x: Tensor) -> Tensor:
    """x with its channels on axis 1."""
    if call.attributes.get("data_format", "NCL")[-1] == "C":
        return P.transpose(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])
    return x


def channels_back(call: Any, x: Tensor) -> Tensor:
    """x with its channels where the call has them."""
    if call.attributes.get("data_format", "NCL")[-1] == "C":
        return P.transpose(x, [0, *range(2, x.ndim), 1])
    return x


def _normal(x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    """x less its mean, by its spread."""
    distance = x - P.mean(x, axes, True)
    return distance * P.rsqrt(P.mean(P.square(distance), axes, True) + epsilon)


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """x by a weight and with a bias for each channel."""
    shape = shape_along(1, x.ndim)
    if weight is not None:
        x = x * P.reshape(weight, shape)
    if bias is not None:
        x = x + P.reshape(bias, shape)
    return x


@add_expression("group_norm")
def _group_norm(call: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    first = channels_first(call, x)
    rows = P.reshape(first, [first.shape[0], call.attributes["num_groups"], -1])
    normal = P.reshape(_normal(rows, [2], call.attributes["epsilon"]), list(first.shape))
    return channels_back(call, _scaled(normal, weight, bias))


@add_expression("instance_norm")
def _instance_norm(
    call: Any,
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
) -> Tensor:
    if not call.attributes["use_input_stats"]:
        raise NotWritable(
            "paddle.grad through instance_norm with running statistics cannot be saved; use batch_norm"
        )
    first = channels_first(call, x)
    normal = _normal(first, list(range(2, x.ndim)), call.attributes["eps"])
    return channels_back(call, _scaled(normal, weight, bias))


@add_expression("rms_norm")
def _rms_norm(call: Any, input: Tensor, weight: Tensor | None) -> Tensor:
    shape = call.attributes["normalized_shape"]
    count = len(shape) if isinstance(shape, tuple | list) else 1
    axes = list(range(input.ndim - count, input.ndim))
    epsilon = call.attributes["eps"]
    if epsilon is None:
        raise NotWritable("paddle.grad through rms_norm without eps cannot be saved; give the number")
    normal = input * P.rsqrt(P.mean(P.square(input), axes, True) + epsilon)
    return normal if weight is None else normal * weight


@add_expression("_normalized")
def _normalized(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    size = P.norm(x, a["p"], a["axis"], True)
    return x / P.maximum(size, P.full_like(size, a["epsilon"]))


@add_expression("renorm")
def _renorm(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    if a["p"] <= 0:
        raise NotWritable(f"paddle.grad through renorm with p={a['p']} cannot be saved; p must be above 0")
    axis = a["axis"] % x.ndim
    rows = P.reshape(P.transpose(x, [axis, *[k for k in range(x.ndim) if k != axis]]), [x.shape[axis], -1])
    size = P.reshape(P.norm(rows, a["p"], 1), shape_along(axis, x.ndim))
    most = P.full_like(size, a["max_norm"])
    return x * most / P.maximum(size, most)


@add_expression("cosine_similarity")
def _cosine_similarity(call: Any, x1: Tensor, x2: Tensor) -> Tensor:
    axis = call.attributes["axis"]
    squares = P.sum(x1 * x1, axis) * P.sum(x2 * x2, axis)
    least = P.full_like(squares, call.attributes["eps"] ** 2)
    return P.sum(x1 * x2, axis) * P.rsqrt(P.maximum(squares, least))


@add_expression("pairwise_distance")
def _pairwise_distance(call: Any, x: Tensor, y: Tensor) -> Tensor:
    a = call.attributes
    return P.norm(x - y + a["epsilon"], a["p"], -1, a["keepdim"])


@add_expression("dist")
def _dist(call: Any, x: Tensor, y: Tensor) -> Tensor:
    return P.norm(P.reshape(x - y, [-1]), call.attributes["p"])


# attention --------------------------------------------------------------------------------------------------


@add_expression("attend")
def _attend(call: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Attention over [batch, sequence, heads, width]."""
    a = call.attributes
    if a["extra"] is not None:
        raise NotWritable("paddle.grad through attention that gives its weights cannot be saved")
    q, k, v = (P.transpose(one, [0, 2, 1, 3]) for one in (q, k, v))
    # Query heads that share a key head lie side by side.
    shared = q.shape[1] // k.shape[1]
    k, v = (P.repeat_interleave(one, shared, 1) if shared != 1 else one for one in (k, v))
    scale = 1 / math.sqrt(q.shape[3]) if a["scale"] is None else a["scale"]
    scores = P.matmul(q, k, transpose_y=True) * scale
    nothing = P.full_like(scores, -math.inf)
    if mask is not None and numpy_dtype(mask) == "bool":
        scores = P.where(P.expand(mask, list(scores.shape)), scores, nothing)
    elif mask is not None:
        scores = scores + mask
    if a["causal"]:
        rows, columns = P.arange(q.shape[2]), P.arange(k.shape[2])
        earlier = P.unsqueeze(rows, 1) >= columns
        scores = P.where(P.expand(earlier, list(scores.shape)), scores, nothing)
    return P.transpose(P.matmul(P.softmax(scores, -1), v), [0, 2, 1, 3])


# losses -----------------------------------------------------------------------------------------------------


def _reduced(call: Any, loss: Tensor) -> Tensor:
    reduction = call.attributes["reduction"]
    if reduction == "mean":
        return P.mean(loss)
    if reduction == "batchmean":
        return P.sum(loss) / P.sum(P.ones_like(P.sum(loss, list(range(1, loss.ndim)))))
    return P.sum(loss) if reduction == "sum" else loss


@add_expression("kl_div")
def _kl_div(call: Any, input: Tensor, label: Tensor) -> Tensor:
    if call.attributes["log_target"]:
        return _reduced(call, P.exp(label) * (label - input))
    # 0 log 0 is 0
    some = label > 0
    logarithm = P.log(P.where(some, label, P.ones_like(label)))
    return _reduced(call, P.where(some, label * (logarithm - input), P.zeros_like(label)))


@add_expression("smooth_l1_loss")
def _smooth_l1_loss(call: Any, input: Tensor, label: Tensor) -> Tensor:
    delta = call.attributes["delta"]
    distance = P.abs(input - label)
    loss = P.where(distance < delta, P.square(distance) * 0.5, (distance - delta * 0.5) * delta)
    return _reduced(call, loss if call.attributes["is_huber"] else loss / delta)


@add_expression("binary_cross_entropy_with_logits")
def _logits(
    call: Any, logit: Tensor, label: Tensor, weight: Tensor | None, pos_weight: Tensor | None
) -> Tensor:
    # -log(sigmoid(x)) = softplus(-x), and 1 - sigmoid(x) = sigmoid(-x)
    of_true = P.softplus(-logit)
    if pos_weight is not None:
        of_true = of_true * pos_weight
    loss = label * of_true + (1 - label) * P.softplus(logit)
    return _reduced(call, loss if weight is None else loss * weight)


@add_expression("negative_log_likelihood")
def _likelihood(call: Any, input: Tensor, label: Tensor, weight: Tensor | None) -> Tensor:
    counts = P.not_equal(label, P.full_like(label, call.attributes["ignore_index"]))
    number = P.where(counts, label, P.zeros_like(label)).astype("int64")
    share = counts.astype(numpy_dtype(input).name)
    if weight is not None:
        share = share * P.reshape(P.gather(weight, P.flatten(number)), list(label.shape))
    chosen = P.squeeze(P.take_along_axis(input, P.unsqueeze(number, 1), 1), 1)
    if call.attributes["reduction"] == "mean":
        return -P.sum(chosen * share) / P.sum(share)
    return _reduced(call, -(chosen * share))


@add_expression("log_loss")
def _log_loss(call: Any, input: Tensor, label: Tensor) -> Tensor:
    epsilon = call.attributes["epsilon"]
    return -label * P.log(input + epsilon) - (1 - label) * P.log(1 - input + epsilon)


@add_expression("label_smooth")
def _label_smooth(call: Any, label: Tensor, prior_dist: Tensor | None) -> Tensor:
    epsilon = call.attributes["epsilon"]
    prior = 1 / label.shape[-1] if prior_dist is None else prior_dist
    return label * (1 - epsilon) + prior * epsilon


# products ---------------------------------------------------------------------------------------------------


@add_expression("outer")
def _outer(call: Any, x: Tensor, y: Tensor) -> Tensor:
    return P.reshape(x, [-1, 1]) * P.reshape(y, [1, -1])


@add_expression("inner")
def _inner(call: Any, x: Tensor, y: Tensor) -> Tensor:
    if not x.ndim or not y.ndim:
        return x * y
    rows = P.reshape(x, [-1, x.shape[-1]])
    product = P.matmul(rows, P.reshape(y, [-1, y.shape[-1]]), transpose_y=True)
    return P.reshape(product, [*x.shape[:-1], *y.shape[:-1]])


@add_expression("mv")
def _mv(call: Any, x: Tensor, vec: Tensor) -> Tensor:
    return P.matmul(x, vec)


@add_expression("addmm", "baddbmm")
def _addmm(call: Any, input: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return input * call.attributes["beta"] + P.matmul(x, y) * call.attributes["alpha"]


@add_expression("bilinear")
def _bilinear(call: Any, x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x1 W x2 for each matrix of the weight."""
    products = P.matmul(P.unsqueeze(x1, 0), weight) * P.unsqueeze(x2, 0)
    out = P.transpose(P.sum(products, 2), [1, 0])
    return out if bias is None else out + bias


@add_expression("trace")
def _trace(call: Any, x: Tensor) -> Tensor:
    a = call.attributes
    return P.sum(P.diagonal(x, a["offset"], a["axis1"], a["axis2"]), -1)


@add_expression("matrix_power")
def _matrix_power(call: Any, x: Tensor) -> Tensor:
    power = call.attributes["n"]
    if power == 0:
        return P.zeros_like(x) + P.eye(x.shape[-1], dtype=numpy_dtype(x).name)
    base = x if power > 0 else P.inv(x)
    product = base
    for _ in range(abs(power) - 1):
        product = P.matmul(product, base)
    return product


@add_expression("einsum")
def _einsum(call: Any, operands: Sequence[Tensor]) -> Tensor:
    """A product of matrices, each label being one axis of them."""
    terms, result = call.attributes["equation"].split("->")
    labels = terms.split(",")
    if any(len(set(label)) < len(label) or "." in label for label in (*labels, result)) or len(labels) > 2:
        raise NotWritable(
            f"paddle.grad through einsum of {call.attributes['equation']!r} cannot be saved; write products"
        )
    if len(labels) == 1:
        return _ordered(operands[0], labels[0], result)
    x, y = operands
    left, right = labels
    both = [c for c in left if c in right and c in result]
    inside = [c for c in left if c in right and c not in result]
    # An axis that only one operand has is added up first, or stays.
    x, left = _summed(x, left, right + result)
    y, right = _summed(y, right, left + result)
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    sizes = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))
    x = _as_matrices(x, left, (both, rows, inside), sizes)
    y = _as_matrices(y, right, (both, inside, columns), sizes)
    order = [*both, *rows, *columns]
    product = P.reshape(P.matmul(x, y), [sizes[c] for c in order])
    return _ordered(product, "".join(order), result)


def _summed(x: Tensor, label: str, needed: str) -> tuple[Tensor, str]:
    """x without the axes that nothing needs, and its label."""
    axes = [k for k, c in enumerate(label) if c not in needed]
    if not axes:
        return x, label
    return P.sum(x, axes), "".join(c for c in label if c in needed)


def _ordered(x: Tensor, label: str, result: str) -> Tensor:
    """x with the axes of a label in the order of the result, the others added up."""
    x, label = _summed(x, label, result)
    perm = [label.index(c) for c in result]
    return x if perm == sorted(perm) else P.transpose(x, perm)


def _as_matrices(x: Tensor, label: str, groups: Sequence[Sequence[str]], sizes: dict[str, Any]) -> Tensor:
    """x with one axis for each of three groups of labels."""
    x = _ordered(x, label, "".join(c for group in groups for c in group))
    return P.reshape(x, [math.prod([sizes[c] for c in group]) for group in groups])


__all__ = ["add_expression", "channels_back", "channels_first", "gradients_through"]
