"""Operations that ONNX files have as expressions of public functions.

An expression is `function(op, *operands)`; `op` has Paddle's attributes. It is recorded with the dtypes and
lengths of the operands, and its operations are written in place of the one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.plain_values import shape_along
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import NotInOnnx


def _is_float(x: Tensor) -> bool:
    return numpy_dtype(x).name in ("float32", "float64", "float16", "bfloat16")


def _axis(op: Any, x: Tensor) -> int:
    axis = -1 if op.axis is None else op.axis
    return axis % max(x.ndim, 1)


# chosen elements --------------------------------------------------------------------------------------------


def _order(x: Tensor, axis: int) -> Tensor:
    """Places of the numbers of x from the smallest one on, NaN at the end: runtimes sort NaN anywhere."""
    if not _is_float(x):
        return P.argsort(x, axis, stable=True)
    is_nan = P.isnan(x)
    order = P.argsort(P.where(is_nan, P.full_like(x, np.inf), x), axis, stable=True)
    # NaN also comes behind infinity.
    behind = P.argsort(P.take_along_axis(P.cast(is_nan, "int64"), order, axis), axis, stable=True)
    return P.take_along_axis(order, behind, axis)


def _picked(x: Tensor, index: Tensor, axis: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    value = P.take_along_axis(x, index, axis)
    if keepdim:
        return value, index
    return P.squeeze(value, axis), P.squeeze(index, axis)


def _kthvalue(op: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    if not x.ndim:
        return x, P.zeros([], "int64")
    axis = _axis(op, x)
    # The runtime refuses a place behind the end, where a slice would be empty.
    index = P.index_select(_order(x, axis), P.full([1], op.k - 1, "int64"), axis)
    return _picked(x, index, axis, op.keepdim)


def _mode(op: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    if not x.ndim:
        return x, P.zeros([], "int64")
    axis = _axis(op, x)
    rows = P.moveaxis(x, axis, -1)
    order = _order(rows, rows.ndim - 1)
    ranked = P.take_along_axis(rows, order, -1)
    same = P.equal(P.unsqueeze(ranked, -1), P.unsqueeze(ranked, -2))
    counts = P.sum(P.cast(same, "int64"), -1)
    # The first of the largest numbers, so the smallest of equally frequent elements.
    first = P.argmax(counts, -1, True)
    count = P.take_along_axis(counts, first, -1)
    # NaN equals nothing, not even itself.
    last = first + P.maximum(count, P.ones_like(count)) - 1
    index = P.moveaxis(P.take_along_axis(order, last, -1), -1, axis)
    return _picked(x, index, axis, op.keepdim)


def _searchsorted(op: Any, sequence: Tensor, values: Tensor) -> Tensor:
    wanted = P.unsqueeze(values, -1)
    if sequence.ndim > 1:
        sequence = P.unsqueeze(sequence, -2)
    # How many are before the value.
    if op.right:
        before = sequence <= wanted
    else:
        before = sequence < wanted
    found = P.sum(P.cast(before, "int64"), -1)
    if _is_float(values):
        # NaN comes behind all numbers.
        count = P.sum(P.ones_like(P.cast(before, "int64")), -1)
        found = P.where(P.isnan(values), count, found)
    return P.cast(found, "int32" if op.out_int32 else "int64")


def _index_sample(op: Any, x: Tensor, index: Tensor) -> Tensor:
    return P.take_along_axis(x, P.cast(index, "int64"), 1, broadcast=False)


def _multiplex(op: Any, inputs: Sequence[Tensor], index: Tensor) -> Tensor:
    stacked = P.stack(list(inputs), 1)
    rows = P.reshape(P.cast(index, "int64"), [-1])
    return P.gather_nd(stacked, P.stack([P.arange(rows.shape[0]), rows], 1))


def _repeated(op: Any, x: Tensor, repeats: Tensor) -> Tensor:
    ends = P.cumsum(P.cast(repeats, "int64"))
    total = P.sum(P.cast(repeats, "int64"))
    # An element is repeated at the places before its end and not before that of the one in front.
    places = P.unsqueeze(P.arange(total), 1)
    rows = P.sum(P.cast(ends <= places, "int64"), 1)
    return P.gather(x, rows, op.axis)


# counts -----------------------------------------------------------------------------------------------------


def _added_at(places: Tensor, size: Any, values: Tensor) -> Tensor:
    zeros = P.zeros([size], numpy_dtype(values).name)
    return P.scatter_nd_add(zeros, P.unsqueeze(places, 1), values)


def _bincount(op: Any, x: Tensor, weights: Tensor | None, minlength: Tensor) -> Tensor:
    x = P.cast(x, "int64")
    # With a number in front, as the largest of no numbers is not defined.
    least = P.reshape(P.cast(minlength, "int64"), [1]) - 1
    size = P.max(P.concat([P.full_like(least, -1), least, x])) + 1
    # A place behind the end, which the runtime refuses, as Paddle refuses numbers below zero.
    places = P.where(x < 0, P.zeros_like(x) + size, x)
    return _added_at(places, size, P.ones_like(x) if weights is None else weights)


def _histogram(op: Any, x: Tensor, weight: Tensor | None) -> Tensor:
    if not _is_float(x):
        x = P.cast(x, "float32")
    flat = P.reshape(x, [-1])
    low, high = P.full_like(flat[:1], op.min), P.full_like(flat[:1], op.max)
    if op.min == op.max:
        low, high = P.reshape(P.min(flat), [1]), P.reshape(P.max(flat), [1])
    same = P.equal(low, high)
    # Equal numbers have a range of their own.
    low, high = P.where(same, low - 0.5, low), P.where(same, high + 0.5, high)
    is_inside = P.logical_and(flat >= low, flat <= high)
    places = P.floor((flat - low) * op.bins / (high - low))
    places = P.cast(P.where(is_inside, places, P.zeros_like(places)), "int64")
    # The largest number belongs to the last range.
    places = P.minimum(places, P.full_like(places, op.bins - 1))
    if weight is None:
        counted = P.cast(is_inside, "float32" if op.density else "int64")
    else:
        weight = P.reshape(weight, [-1])
        counted = P.where(is_inside, weight, P.zeros_like(weight))
    found = _added_at(places, op.bins, counted)
    if op.density:
        width = P.cast((high - low) / op.bins, numpy_dtype(found).name)
        area = P.sum(found) * width
        # Without numbers inside, all counts are 0.
        found = P.where(area > 0, found / area, P.zeros_like(found))
    return found


# random choices ---------------------------------------------------------------------------------------------


def _gumbel(shape: Any, dtype: str) -> Tensor:
    """Numbers by which the largest of logarithms is chosen as often as its probability says."""
    return -P.log(-P.log(P.uniform(shape, dtype, 0.0, 1.0)))


def _multinomial(op: Any, x: Tensor, count: Tensor) -> Tensor:
    number = op.number(1)
    chances = P.log(x)
    if not op.replacement:
        _, found = P.topk(chances + _gumbel(list(x.shape), numpy_dtype(x).name), number, -1)
        return found
    drawn = _gumbel([*x.shape[:-1], number, x.shape[-1]], numpy_dtype(x).name)
    return P.argmax(P.unsqueeze(chances, -2) + drawn, -1)


def _randperm(op: Any) -> Tensor:
    # In double precision, as equal numbers would keep their order.
    return P.cast(P.argsort(P.uniform([op.n], "float64", 0.0, 1.0)), op.dtype)


# products and diagonals -------------------------------------------------------------------------------------


def _kron(op: Any, x: Tensor, y: Tensor) -> Tensor:
    ndim = max(x.ndim, y.ndim)
    x = P.reshape(x, [*[1] * (ndim - x.ndim), *x.shape])
    y = P.reshape(y, [*[1] * (ndim - y.ndim), *y.shape])
    for axis in range(ndim):
        x = P.unsqueeze(x, 2 * axis + 1)
        y = P.unsqueeze(y, 2 * axis)
    product = x * y
    shape = [product.shape[2 * axis] * product.shape[2 * axis + 1] for axis in range(ndim)]
    return P.reshape(product, shape)


def _trace(op: Any, x: Tensor) -> Tensor:
    return P.sum(P.diagonal(x, op.offset, op.axis1, op.axis2), -1)


def _diag_embed(op: Any, x: Tensor) -> Tensor:
    count = x.shape[-1]
    size = count + abs(op.offset)
    places = P.arange(size)
    is_there = P.equal(P.unsqueeze(places, 1) + op.offset, places)
    # Zeros beside the diagonal, whose elements begin in the row or column of the offset.
    padding = P.zeros([*x.shape[:-1], abs(op.offset)], numpy_dtype(x).name)
    row = P.unsqueeze(P.concat([padding, x] if op.offset > 0 else [x, padding], -1), -2)
    matrix = P.where(is_there, P.expand(row, [*x.shape[:-1], size, size]), P.zeros_like(row))
    ndim = x.ndim + 1
    first, second = op.dim1 % ndim, op.dim2 % ndim
    return P.moveaxis(matrix, [ndim - 2, ndim - 1], [first, second])


def _matrix_power(op: Any, x: Tensor) -> Tensor:
    if op.n < 1:
        raise NotInOnnx(f"n={op.n}; use 1 or more")
    product = x
    for _ in range(op.n - 1):
        product = P.matmul(product, x)
    return product


def _multi_dot(op: Any, operands: Sequence[Tensor]) -> Tensor:
    product, *others = operands
    for one in others:
        product = P.matmul(product, one)
    return product


def _bilinear(op: Any, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    products = P.matmul(P.unsqueeze(x, 0), weight) * P.unsqueeze(y, 0)
    found = P.transpose(P.sum(products, 2), [1, 0])
    if bias is not None:
        found = found + bias
    return found


def _dist(op: Any, x: Tensor, y: Tensor) -> Tensor:
    return P.norm(P.reshape(x - y, [-1]), op.p)


def _renorm(op: Any, x: Tensor) -> Tensor:
    axis = op.axis % x.ndim
    rows = P.reshape(P.moveaxis(x, axis, 0), [x.shape[axis], -1])
    size = P.reshape(P.norm(rows, op.p, 1), shape_along(axis, x.ndim))
    most = P.full_like(size, op.max_norm)
    return P.where(size > most, x * (most / (size + 1e-7)), x)


# elements ---------------------------------------------------------------------------------------------------


def _copysign(op: Any, x: Tensor, y: Tensor) -> Tensor:
    if not _is_float(x):
        return P.where(y < 0, -P.abs(x), P.abs(x))
    # The quotient tells the sign of zero, too.
    is_below = P.where(P.equal(y, P.zeros_like(y)), 1 / y, y) < 0
    # A product: runtimes choose by sums, in which the sign of a zero is lost.
    return P.abs(x) * P.where(is_below, P.full_like(y, -1), P.ones_like(y))


def _trunc_divide(op: Any, x: Tensor, y: Tensor) -> Tensor:
    if _is_float(x):
        return P.trunc(x / y)
    size = P.floor_divide(P.abs(x), P.abs(y))
    return P.where(P.not_equal(x < 0, y < 0), -size, size)


def _shard_index(op: Any, x: Tensor) -> Tensor:
    size = (op.index_num + op.nshards - 1) // op.nshards
    whole = P.full_like(x, size)
    is_there = P.equal(P.floor_divide(x, whole), P.full_like(x, op.shard_id))
    return P.where(is_there, P.remainder(x, whole), P.full_like(x, op.ignore_value))


def _maxout(op: Any, x: Tensor) -> Tensor:
    axis = op.axis % x.ndim
    shape = list(x.shape)
    grouped = P.reshape(x, [*shape[:axis], shape[axis] // op.groups, op.groups, *shape[axis + 1 :]])
    return P.max(grouped, axis + 1)


def _temporal_shift(op: Any, x: Tensor) -> Tensor:
    if op.data_format[-1] == "C":
        raise NotInOnnx("channels on the last axis")
    frames, channels, height, width = x.shape
    # In the precision of the attribute, or 20 * 0.45 would be less than 9.
    ratio = np.float32(op.shift_ratio)
    first, second = (int(np.float32(channels * times) * ratio) for times in (1, 2))
    rows = P.reshape(x, [frames // op.seg_num, op.seg_num, channels, height, width])
    forward, backward, rest = rows[:, :, :first], rows[:, :, first:second], rows[:, :, second:]
    forward = P.concat([P.zeros_like(forward[:, :1]), forward[:, :-1]], 1)
    backward = P.concat([backward[:, 1:], P.zeros_like(backward[:, :1])], 1)
    return P.reshape(P.concat([forward, backward, rest], 2), list(x.shape))


def _gumbel_softmax(op: Any, x: Tensor) -> Tensor:
    soft = P.softmax((x + _gumbel(list(x.shape), numpy_dtype(x).name)) / op.temperature, op.axis)
    if not op.hard:
        return soft
    places = P.arange(x.shape[op.axis])
    chosen = P.argmax(soft, op.axis, True)
    return P.cast(
        P.equal(P.reshape(places, shape_along(op.axis % x.ndim, x.ndim)), chosen), numpy_dtype(x).name
    )


# losses -----------------------------------------------------------------------------------------------------


def _log_loss(op: Any, x: Tensor, label: Tensor) -> Tensor:
    return -label * P.log(x + op.epsilon) - (1 - label) * P.log(1 - x + op.epsilon)


def _label_smooth(op: Any, label: Tensor, prior: Tensor | None) -> Tensor:
    share = 1 / label.shape[-1] if prior is None else prior
    return label * (1 - op.epsilon) + share * op.epsilon


def _huber_loss(op: Any, x: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
    gap = label - x
    size = P.abs(gap)
    loss = P.where(size <= op.delta, P.square(gap) * 0.5, (size - op.delta * 0.5) * op.delta)
    return loss, gap


def _kldiv_loss(op: Any, x: Tensor, label: Tensor) -> Tensor:
    if op.log_target:
        loss = P.exp(label) * (label - x)
    else:
        is_some = label > 0
        logarithm = P.log(P.where(is_some, label, P.ones_like(label)))
        loss = P.where(is_some, label * (logarithm - x), P.zeros_like(label))
    if op.reduction == "batchmean":
        return P.sum(loss) / x.shape[0]
    if op.reduction == "none":
        return loss
    if op.reduction == "mean":
        return P.mean(loss)
    return P.sum(loss)


def _logits_loss(op: Any, x: Tensor, label: Tensor, pos_weight: Tensor | None) -> Tensor:
    # -log(sigmoid(x)) = softplus(-x), and 1 - sigmoid(x) = sigmoid(-x)
    of_true = P.softplus(-x)
    if pos_weight is not None:
        of_true = of_true * pos_weight
    counts = P.cast(P.not_equal(label, P.full_like(label, op.ignore_index)), numpy_dtype(x).name)
    loss = (label * of_true + (1 - label) * P.softplus(x)) * counts
    if op.normalize:
        loss = loss / P.maximum(P.sum(counts), P.full_like(P.sum(counts), 1e-5))
    return loss


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "kthvalue": _kthvalue,
    "mode": _mode,
    "searchsorted": _searchsorted,
    "index_sample": _index_sample,
    "multiplex": _multiplex,
    "repeat_interleave_with_tensor_index": _repeated,
    "bincount": _bincount,
    "histogram": _histogram,
    "multinomial": _multinomial,
    "randperm": _randperm,
    "kron": _kron,
    "trace": _trace,
    "diag_embed": _diag_embed,
    "matrix_power": _matrix_power,
    "multi_dot": _multi_dot,
    "bilinear": _bilinear,
    "dist": _dist,
    "renorm": _renorm,
    "copysign": _copysign,
    "trunc_divide": _trunc_divide,
    "shard_index": _shard_index,
    "maxout": _maxout,
    "temporal_shift": _temporal_shift,
    "gumbel_softmax": _gumbel_softmax,
    "log_loss": _log_loss,
    "label_smooth": _label_smooth,
    "huber_loss": _huber_loss,
    "kldiv_loss": _kldiv_loss,
    "sigmoid_cross_entropy_with_logits": _logits_loss,
}
