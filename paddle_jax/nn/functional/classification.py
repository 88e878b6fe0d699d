"""Cross entropy and its relatives: losses of class scores."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.nn.functional.input import check_ids
from paddle_jax.nn.functional.reduce_loss import check_reduction
from paddle_jax.nn.functional.softmaxes import log_shares, softmax
from paddle_jax.tensor.axes import check_floating
from paddle_jax.tensor.lowering import narrowed, on_cpu
from paddle_jax.tensor.products import along_axis

if TYPE_CHECKING:
    from paddle_jax._annotations import Reduction
    from paddle_jax._core.tensors.tensor import Tensor


def _float32(x: jax.Array) -> jax.Array:
    check_floating("cross_entropy", x, "input")
    if x.dtype in (jnp.float16, jnp.bfloat16):
        return x.astype(jnp.float32)
    return x


def _log_probabilities(scores: jax.Array, axis: int, use_softmax: bool) -> jax.Array:
    """log softmax, or the log of what already are probabilities (kept away from log 0)."""
    if use_softmax:
        return log_shares(scores, axis)
    # Probabilities may be exactly 0.
    return jnp.log(jnp.maximum(scores, jnp.asarray(1e-12, scores.dtype)))


def _pick(values: jax.Array, label: jax.Array, axis: int, ignored: jax.Array) -> jax.Array:
    """values at the labels, axis kept with length 1; 0 where ignored, NaN where the label does not exist."""
    # A gather is fast on the CPU alone; elsewhere its gradient, a scatter, is slow.
    own = along_axis(values, label, axis) if on_cpu() else _matching(values, label, axis)
    return lax.select(ignored, lax.full_like(own, 0), own)


def _matching(values: jax.Array, label: jax.Array, axis: int) -> jax.Array:
    """As `along_axis`, by comparing the number of each class with the label.

    XLA fuses that into what computes the values, and into their gradient. The gradient of a lookup writes a
    matrix of zeros instead, and changes one number of each row.
    """
    axis %= values.ndim
    count = values.shape[axis]
    exists = (label >= 0) & (label < count)
    # int32 is what accelerators compare fast.
    number = lax.convert_element_type(label, jnp.int32)  # a label that does not fit does not exist
    is_own = lax.broadcasted_iota(jnp.int32, values.shape, axis) == number
    own = jnp.sum(jnp.where(is_own, values, jnp.zeros((), values.dtype)), axis, keepdims=True)
    return jnp.where(exists, own, jnp.asarray(jnp.nan, values.dtype))


@known_as(
    amp="softmax_with_cross_entropy",
    pir="cross_entropy_with_softmax soft_label:bool=False use_softmax:bool=True "
    "numeric_stable_mode:bool=True ignore_index:i32=-100 axis:i32",
    code="losses:cross_entropy",
)
@op("scores label weight", method=False, register=False)
def cross_entropy_hard(
    scores: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    axis: int = -1,
    use_softmax: bool = True,
) -> jax.Array:
    """Cross entropy with class numbers; label has length 1 along axis."""
    logs = _log_probabilities(_float32(scores), axis, use_softmax)
    # A large number may stand for no label, and does not fit into int32.
    if abs(ignore_index) < 1 << 31:
        label = narrowed(label)
    # An ignored label counts neither in the sum nor in the mean.
    ignored = label == ignore_index
    loss = -_pick(logs, label, axis, ignored)
    weights = None
    if weight is not None:
        weights = jnp.where(
            # ignore_index may be outside of the classes, so the label is clipped before the lookup.
            ignored,
            0,
            jnp.take(weight, jnp.clip(label, 0, weight.shape[0] - 1)).astype(loss.dtype),
        )
        loss = loss * weights
    # Paddle leaves ignored labels out of the mean for indices that are not negative only.
    elif ignore_index >= 0:
        weights = (~ignored).astype(loss.dtype)
    return _average(loss, weights, reduction).astype(scores.dtype)


def _average(loss: jax.Array, weights: jax.Array | None, reduction: Reduction) -> jax.Array:
    """The mean is weighted; where every weight is 0 it is 0."""
    if reduction == "none":
        return loss
    total = jnp.sum(loss)
    if reduction == "sum":
        return total
    if weights is None:
        return jnp.mean(loss)
    count = jnp.sum(weights)
    # All labels ignored: 0 / 1 instead of 0 / 0.
    return total / jnp.where(count == 0, 1, count)


@known_as(amp="softmax_with_cross_entropy", code="decomposed_losses:soft")
@op("scores label weight", method=False, register=False)
def cross_entropy_soft(
    scores: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    smoothing: float = 0.0,
    reduction: Reduction = "mean",
    axis: int = -1,
    use_softmax: bool = True,
    one_hot: bool = False,
    ignore_index: int = -100,
) -> jax.Array:
    """Cross entropy with class probabilities; `one_hot`: label holds class numbers instead
    (without the axis)."""
    x = _float32(scores)
    n = x.shape[axis]
    if one_hot:
        target = jax.nn.one_hot(label, n, dtype=x.dtype, axis=axis)
    else:
        target = label.astype(x.dtype)
    if smoothing:
        # (1 - s) * target + s / classes
        target = target * (1 - smoothing) + smoothing / n
    loss = -jnp.sum(
        # Paddle gives labels no gradient here.
        jax.lax.stop_gradient(target) * _log_probabilities(x, axis, use_softmax),
        axis,
        keepdims=True,
    )
    weights = None
    if weight is not None:
        shape = [-1 if a == axis % x.ndim else 1 for a in range(x.ndim)]
        # With soft labels the weight of a sample is that of its mix of classes.
        weights = jnp.sum(target * weight.astype(x.dtype).reshape(shape), axis, keepdims=True)
        loss = loss * weights
    # Paddle compares each probability with the index, and divides the sum by how many differ from it.
    if ignore_index >= 0:
        counted = jnp.sum(target != ignore_index, axis, keepdims=True).astype(x.dtype)
        weights = counted if weights is None else counted * weights
    return _average(loss, weights, reduction).astype(scores.dtype)


def _class_axis(op_name: str, x: Any, axis: int) -> int:
    if x.ndim == 0:
        raise ValueError(f"{op_name}: input: got a 0-D tensor; it needs an axis of classes")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"{op_name}: axis={axis} is out of range for input of shape {list(x.shape)}; "
            f"use {-x.ndim}..{x.ndim - 1}"
        )
    return axis % x.ndim


def _kept_shape(op_name: str, x: Tensor, label: Tensor, axis: int) -> bool:
    """Whether label lacks the class axis; raises unless it fits the scores."""
    want = [n for a, n in enumerate(x.shape) if a != axis]
    # The class axis may be left out, or have length 1.
    missing = label.ndim == x.ndim - 1
    if missing:
        rest = list(label.shape)
    else:
        rest = [n for a, n in enumerate(label.shape) if a != axis]
    if rest != want or not (missing or label.ndim == x.ndim and label.shape[axis] == 1):
        raise ValueError(
            f"{op_name}: label: got shape {list(label.shape)} for scores of shape "
            f"{list(x.shape)}; class numbers have shape {want}, with or without length "
            f"1 on axis {axis}"
        )
    return missing


# Soft labels sum to 1 here: the real Paddle's gradient takes that for granted. It also stops losses at 64
# (the case with ~).
SOFT = "paddle.nn.functional.softmax(i(2,3).astype('float32'))"


@composite(
    method=False,
    alias={"target": "label"},
    cases=[
        "f(2,3), idx(3,2)",
        "f(2,3), idx(3,2), reduction='none'",
        "f(2,3), idx(3,2,1), reduction='none'",
        "f(2,3), idx32(3,2), reduction='sum'",
        "f(2,3), idx(3,2).astype('float32')",
        f"f(2,3), {SOFT}, soft_label=True, reduction='none'",
        f"f(2,3), {SOFT}, soft_label=True",
        "f(2,3), u(0,1,2,3)",
        "f(2,3), idx(3,2), pos(3)",
        "f(2,3), idx(3,2), pos(3), reduction='none'",
        "f(2,3), idx(3,2), pos(2)",
        "f(2,3), const([1,-100]), pos(3)",
        "f(2,3), const([1,-100])",
        "f(2,3), const([-100,-100]), pos(3)",
        "f(2,3), const([1,3])",
        "f(2,3), const([1,-1])",
        "f(2,3), const([1,0]), ignore_index=0",
        "f(2,3), const([0,0]), ignore_index=0",
        "f(2,3), const([1,0]), reduction='x'",
        "f(2,3,4), idx(3,2,4), axis=1",
        "f(2,3,4), idx(3,2,1,4), pos(3), axis=1, reduction='none'",
        f"f(2,3), {SOFT}, pos(3), soft_label=True",
        f"f(2,3), {SOFT}, pos(3), soft_label=True, reduction='none'",
        "f(2,3), idx(3,2), label_smoothing=0.1",
        f"f(2,3), {SOFT}, label_smoothing=0.1",
        "f(2,3), idx(3,2), label_smoothing=0.1, reduction='none'",
        "f(2,3), idx(3,2), pos(3), label_smoothing=0.1",
        "f(2,3), const([1,-100]), label_smoothing=0.1",
        "f(2,3), const([1,0]), label_smoothing=0.1, ignore_index=0",
        "f(2,3), idx(3,2), pos(3), label_smoothing=0.1, ignore_index=2",
        f"f(2,3), {SOFT}, soft_label=True, ignore_index=0",
        f"f(2,3), {SOFT}, soft_label=True, ignore_index=2",
        "u(.1,1,2,3), idx(3,2), use_softmax=False, reduction='none'",
        f"u(.1,1,2,3), {SOFT}, use_softmax=False, soft_label=True",
        "f(3), idx(3)",
        "f(3), idx(3,1)",
        "f(0,3), idx(3,0)",
        "f(0,3), idx(3,0), reduction='sum'",
        "f(2,3), idx(3,4)",
        "f(2,3), idx(3,2,2)",
        "d(2,3), idx(3,2)",
        "f(2,3), idx(3,2), axis=2",
        f"f(2,3), {SOFT}, soft_label=True, label_smoothing=0.1",
        "~const([[1000., 0., -1000.]], 'float32'), const([1])",
        "f(2,3), u(0,1,1,3), soft_label=True",
        "f(2,3), idx(3,2), pos(3).astype('float64')",
        f"f(2,3), {SOFT}.astype('float64'), label_smoothing=0.1",
        f"d(2,3), {SOFT}, label_smoothing=0.1",
        "f(2,3), idx(3,2), label_smoothing=1.5",
    ],
)
def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cross entropy between class scores and labels: -log softmax(input)[label].

    Args:
        input: Tensor [..., C, ...], floating: scores (probabilities with use_softmax=False),
            classes on `axis`.
        label: class numbers, the shape of input without the class axis or with length 1 there; or class
            probabilities of the shape of input with soft_label=True. `target` is accepted as a name.
        weight: Tensor [C]: factor for each class; one of float64 makes the result float64.
        ignore_index: this label counts for nothing. With probabilities or smoothing no label is left out, and
            one that is not negative makes a mean count classes in place of labels, as in Paddle.
        reduction: "none", "sum" or "mean" (weighted by weight; labels ignored by a non-negative ignore_index
            or with a weight do not count).
        soft_label: label holds probabilities; no gradient flows to them.
        axis: the class axis.
        use_softmax: False takes input as probabilities.
        label_smoothing: part of the probability that is spread evenly over the classes.
    Returns:
        Tensor: 0-D, or for reduction "none" the shape of label (length 1 along axis with soft labels).
    Raises:
        ValueError: shapes or arguments do not fit.
        IndexError: a class number does not exist. In a branch or loop of a compiled function it gives NaN.
    Example:
        >>> round(paddle.nn.functional.cross_entropy(paddle.to_tensor([[0.0, 0.0]]),
        ...                                          paddle.to_tensor([1])).item(), 4)
        0.6931
    """
    check_reduction("cross_entropy", reduction)
    axis = _class_axis("cross_entropy", input, axis)
    if weight is not None and list(weight.shape) != [input.shape[axis]]:
        raise ValueError(
            f"cross_entropy: weight: got shape {list(weight.shape)}; "
            f"it must be [{input.shape[axis]}], one for each class"
        )
    if label_smoothing > 1:
        raise ValueError(f"cross_entropy: label_smoothing: got {label_smoothing}; it must be in [0, 1]")
    # Paddle computes in the wider of both dtypes.
    if weight is not None and numpy_dtype(weight) == np.float64:
        input = input.astype("float64")
    smoothed = ft.partial(
        cross_entropy_soft,
        weight=weight,
        smoothing=float(label_smoothing),
        reduction=reduction,
        axis=axis,
        use_softmax=use_softmax,
        ignore_index=int(ignore_index),
    )
    # Labels of the shape of the scores are probabilities where smoothing is asked for, as Paddle takes
    # them.
    if soft_label or (
        label_smoothing > 0 and list(label.shape) == list(input.shape) and numpy_dtype(label).kind == "f"
    ):
        _check_probabilities(input, label, label_smoothing)
        if soft_label and ignore_index > 0:
            raise ValueError(
                f"cross_entropy: ignore_index: got {ignore_index}; probabilities have no class number to "
                "leave out; use -100"
            )
        if weight is None and not label.stop_gradient:
            label = label.detach()  # probabilities get a gradient by the weights of their classes only
        return smoothed(input, label, one_hot=False)
    missing = _kept_shape("cross_entropy", input, label, axis)
    label = label if np.issubdtype(numpy_dtype(label), np.integer) else label.astype("int64")
    # Smoothing turns class numbers into probabilities.
    if label_smoothing > 0:
        check_ids("cross_entropy", "label", label, input.shape[axis])
        # The other function takes class numbers without the axis.
        flat = label if missing else label.squeeze(axis)
        return smoothed(input, flat, one_hot=True)
    check_ids("cross_entropy", "label", label, input.shape[axis], IndexError, int(ignore_index))
    loss = cross_entropy_hard(
        input,
        label.unsqueeze(axis) if missing else label,
        weight,
        int(ignore_index),
        reduction,
        axis,
        use_softmax,
    )
    return loss.squeeze(axis) if missing and reduction == "none" else loss


def _check_probabilities(input: Tensor, label: Tensor, smoothing: float) -> None:
    if list(label.shape) != list(input.shape):
        subject = "label: got" if label.ndim in (input.ndim - 1, input.ndim) else "got a label of"
        raise ValueError(
            f"cross_entropy: {subject} shape {list(label.shape)}; "
            f"with soft_label=True it must be that of input, {list(input.shape)}"
        )
    # Class numbers in place of probabilities are the usual mistake.
    if numpy_dtype(label).kind in "iub":
        raise ValueError(
            f"(InvalidArgument) cross_entropy: label: got {numpy_dtype(label)}; "
            "probabilities must have the dtype of input"
        )
    if smoothing == 0:
        check_equal_dtypes("cross_entropy", input, label)


def _labels(label: Tensor, want: Sequence[int], ndim: int) -> Tensor:
    """The labels of nll_loss in the shape [N, ...]; other shapes are read as Paddle reads them, in the order
    of the elements."""
    shape = list(label.shape)
    if label.ndim not in (ndim - 1, ndim):
        raise ValueError(f"nll_loss: label: got shape {shape}; it must be {want}")
    count = math.prod(want)
    # Paddle looks at the elements alone: it reads as many labels as there are rows.
    if ndim == 2:
        # More labels than rows: the rest is left out, as Paddle does.
        if shape[0] == want[0] and label.size >= count:
            return label.flatten()[:count]
    elif label.size == count and (ndim != 4 or shape == want):
        return label.reshape(want)
    raise ValueError(f"(InvalidArgument) nll_loss: label: got shape {shape}; it must be {want}")


@composite(
    method=False,
    cases=[
        "f(2,3), idx(3,2,1)",
        "f(2,3), idx(3,2,1), return_softmax=True",
        f"f(2,3), {SOFT}, soft_label=True",
        "f(2,3,4), idx(3,2,1,4), axis=1",
        "f(2,3), const([[1],[-100]])",
        "f(2,3), const([[1],[4]])",
        "f(2,3), idx(3,3,1)",
        "f(2,3), idx(3,2,1), axis=3",
        "d(2,3), const([[1],[0]]), False, 0",
    ],
)
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Tensor | tuple[Tensor, ...]:
    """Cross entropy between scores and labels, not averaged; the older form of `cross_entropy`.

    Args:
        logits: Tensor [..., C, ...], floating.
        label: class numbers, length 1 on the class axis, or probabilities of the shape of logits with
            soft_label=True.
        soft_label: label holds probabilities.
        ignore_index: this label gives 0.
        numeric_stable_mode: accepted; the computation is always stable.
        return_softmax: also return the softmax, which carries no gradient.
        axis: the class axis.
    Returns:
        Tensor with length 1 on the class axis, or (that, softmax).
    Raises:
        ValueError: shapes or axis do not fit.
        IndexError: a class number does not exist.
    Example:
        >>> loss = paddle.nn.functional.softmax_with_cross_entropy(paddle.zeros([1, 2]),
        ...                                                        paddle.to_tensor([[1]]))
        >>> round(loss.item(), 4)
        0.6931
    """
    axis = _class_axis("softmax_with_cross_entropy", logits, axis)
    # In this older form class numbers keep the axis.
    if not soft_label and _kept_shape("softmax_with_cross_entropy", logits, label, axis):
        label = label.unsqueeze(axis)
    # The older form ignores the index where labels are probabilities.
    loss = cross_entropy(logits, label, None, -100 if soft_label else ignore_index, "none", soft_label, axis)
    if return_softmax:
        # The probabilities are for looking at, and get no gradient.
        return (loss, softmax(logits.detach(), axis))
    return loss


@known_as(amp="nll_loss", code="decomposed_losses:likelihood")
@op("input label weight", method=False, constant="weight", register=False)
def negative_log_likelihood(
    input: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> jax.Array:
    """-weight[label] * input[label]; input [N, C, ...], label [N, ...]."""
    ignored = label == ignore_index
    if weight is None:
        inside = ~ignored
    else:
        # ignore_index may lie outside of the classes, and is clipped before the lookup.
        inside = jnp.where(ignored, 0, jnp.take(weight, jnp.clip(label, 0, weight.shape[0] - 1)))
    inside = inside.astype(input.dtype)
    loss = -_pick(input, label[:, None], 1, ignored[:, None])[:, 0] * inside
    return _average(loss, inside, reduction)


@composite(
    method=False,
    cases=[
        "f(2,3), idx(3,2)",
        "f(2,3), idx(3,2), reduction='none'",
        "f(2,3), idx(3,2), pos_i(3).astype('float32')",
        "f(2,3), const([1,0]), None, 0, 'none'",
        "f(2,3), const([1,-100]), reduction='none'",
        "f(2,3), const([1,3])",
        "f(2,3,2,2), idx(3,2,2,2), reduction='none'",
        "f(2,3,2), idx(3,2,2), pos_i(3).astype('float32')",
        "f(3), idx(3)",
        "f(0,3), idx(3,0)",
        "f(2,3), idx(3,2), reduction='x'",
        "d(2,3), idx(3,2), pos_i(3).astype('float64'), 1, 'none'",
        "f(2,3), idx(3,4)",
    ],
)
def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """Negative log likelihood: -input[label] where input holds logarithms of probabilities.

    Args:
        input: Tensor [N, C, ...].
        label: int Tensor [N, ...].
        weight: Tensor [C], or None: factor of each class.
        ignore_index: this label counts for nothing.
        reduction: "none", "sum" or "mean" (divided by the sum of the weights that count).
    Returns:
        Tensor: 0-D, or of the shape of label for "none".
    Raises:
        ValueError: shapes do not fit or a label does not exist (NaN inside compiled code).
    Example:
        >>> paddle.nn.functional.nll_loss(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
        2.0
    """
    check_reduction("nll_loss", reduction)
    if input.ndim < 2:
        raise ValueError(f"nll_loss: input: got shape {list(input.shape)}; it must have at least 2 axes")
    check_equal_dtypes("nll_loss", input, weight)
    # Paddle's kernel reads int64 alone.
    if numpy_dtype(label) != np.int64:
        raise ValueError(f"(InvalidArgument) nll_loss: label: got {numpy_dtype(label)}; it must be int64")
    if weight is not None and list(weight.shape) != [input.shape[1]]:
        raise ValueError(
            f"(InvalidArgument) nll_loss: weight: got shape {list(weight.shape)}; "
            f"it must be [{input.shape[1]}]"
        )
    # Labels have all axes but that of the classes.
    want = [input.shape[0], *input.shape[2:]]
    label = _labels(label, want, input.ndim)
    check_ids("nll_loss", "label", label, input.shape[1], allowed=int(ignore_index))
    return negative_log_likelihood(input, label, weight, int(ignore_index), reduction)
