"""Losses of predictions and targets; those of class scores, margins and sequences have files of their own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.kernels.value_checks import (
    add_check,
    enqueue_check,
    traced_value,
)
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.functional.classification import cross_entropy, nll_loss, softmax_with_cross_entropy  # noqa: F401
from paddle_jax.nn.functional.input import concrete
from paddle_jax.nn.functional.many_classes import (  # noqa: F401
    adaptive_log_softmax_with_loss,
    hsigmoid_loss,
    margin_cross_entropy,
)
from paddle_jax.nn.functional.margin_losses import (
    cosine_embedding_loss,  # noqa: F401
    hinge_embedding_loss,  # noqa: F401
    margin_ranking_loss,  # noqa: F401
    multi_label_margin_loss,  # noqa: F401
    multi_label_soft_margin_loss,  # noqa: F401
    multi_margin_loss,  # noqa: F401
    npair_loss,  # noqa: F401
    soft_margin_loss,  # noqa: F401
    triplet_margin_loss,  # noqa: F401
    triplet_margin_with_distance_loss,  # noqa: F401
)
from paddle_jax.nn.functional.reduce_loss import check_reduction, check_shapes, reduced
from paddle_jax.nn.functional.sequence_losses import ctc_loss, rnnt_loss  # noqa: F401
from paddle_jax.tensor.axes import at_hand, check_index, guarded
from paddle_jax.tensor.inner import magnitude, negative_log_sigmoids

if TYPE_CHECKING:
    from paddle_jax._annotations import DivergenceReduction, Reduction


PAIR = [
    "f(2,3), f(2,3)",
    "f(2,3), f(2,3), reduction='none'",
    "f(2,3), f(2,3), reduction='sum'",
    "d(2,3), d(2,3)",
    "f(), f()",
    "f(0,3), f(0,3)",
    "f(2,3), f(2,3), reduction='x'",
]
# Labels that are no leaves: as in Paddle no gradient flows to them, which differences would not see.
SOME = "(idx(9,2,3).astype('float32') + 1) / 10"
SOME_D = "(idx(9,2,3).astype('float64') + 1) / 10"
UNIT = [
    f"u(.1,.9,2,3), {SOME}",
    f"u(.1,.9,2,3), {SOME}, reduction='none'",
    f"ud(.1,.9,2,3), {SOME_D}, reduction='sum'",
]


@known_as(amp="square", code="losses:mse_loss")
@op(
    "input label",
    method=False,
    promote=True,
    cases=[*PAIR, "f(2,3), f(3)", "i(2,3), i(2,3)", "f(2,3), f(2,4)"],
)
def mse_loss(
    input: jax.Array, label: jax.Array, reduction: Reduction = "mean", name: str | None = None
) -> jax.Array:
    """Squared difference of input and label.

    Args:
        input: Tensor [...].
        label: Tensor broadcastable with input.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the broadcast shape for "none".
    Raises:
        ValueError: reduction is something else.
    Example:
        >>> paddle.nn.functional.mse_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        2.0
    """
    return reduced("mse_loss", jnp.square(input - label), reduction)


@known_as(amp="reduce_mean", code="losses:l1_loss")
@op(
    "input label",
    method=False,
    promote=True,
    cases=[*PAIR, "f(2,3), f(3)", "i(2,3), i(2,3)", "f(2,3), f(2,4)"],
)
def l1_loss(
    input: jax.Array, label: jax.Array, reduction: Reduction = "mean", name: str | None = None
) -> jax.Array:
    """Absolute difference of input and label.

    Args:
        input: Tensor [...].
        label: Tensor broadcastable with input.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the broadcast shape for "none".
    Example:
        >>> paddle.nn.functional.l1_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        1.0
    """
    return reduced("l1_loss", magnitude(input - label), reduction)


@known_as(amp="square", code="losses:square_error_cost")
@op(
    "input label",
    method=False,
    promote=True,
    cases=[
        "f(2,3), f(2,3)",
        "f(2,3), f(3)",
        "d(2,3), d(2,3)",
        "f(0,3), f(0,3)",
        "i(2), i(2)",
        "f(2,3), f(2,4)",
    ],
)
def square_error_cost(input: jax.Array, label: jax.Array) -> jax.Array:
    """(input - label) squared, elementwise.

    Args:
        input, label: floating Tensors [...] that broadcast with each other.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.nn.functional.square_error_cost(paddle.to_tensor([1.0]), paddle.to_tensor([4.0])).tolist()
        [9.0]
    """
    return jnp.square(input - label)


@known_as(amp="huber_loss", pir="huber_loss delta:f32", code="losses:smooth_l1_loss")
@op(
    "input label",
    method=False,
    promote=True,
    cases=[
        *PAIR,
        "f(2,3), f(2,3), 'none', 0.5",
        "f(2,3), f(2,3), 'none', 0.5, False",
        "f(2,3), f(2,3), 'mean', 2.0, is_huber=False",
        "f(3,1), f(3)",
        "f(3), f(3,1)",
        "f(2,3), f(1,3)",
    ],
)
def smooth_l1_loss(
    input: jax.Array,
    label: jax.Array,
    reduction: Reduction = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> jax.Array:
    """Squared for small differences, linear for large ones (Huber's loss).

    Args:
        input: Tensor [...].
        label: Tensor of the same shape.
        reduction: "mean", "sum" or "none".
        delta: positive number, where the linear part starts.
        is_huber: False divides the loss by delta.
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Example:
        >>> paddle.nn.functional.smooth_l1_loss(paddle.to_tensor([0.0, 3.0]), paddle.to_tensor([1.0, 0.0]),
        ...                                     reduction="none").tolist()
        [0.5, 2.5]
    """
    check_shapes("smooth_l1_loss", "label", label, input.shape)
    size = jnp.abs(input - label)
    # At the distance delta both pieces have the same value and slope.
    loss = jnp.where(size < delta, 0.5 * jnp.square(input - label), delta * (size - 0.5 * delta))
    return reduced("smooth_l1_loss", loss if is_huber else loss / delta, reduction)


@known_as(pir="log_loss epsilon:f32")
@op(
    "input label",
    same_dtype=True,
    method=False,
    promote=True,
    constant="label",
    cases=[
        "u(.1,.9,3,1), idx(2,3,1).astype('float32')",
        "ud(.1,.9,3,1), idx(2,3,1).astype('float64'), 0.1",
        "u(.1,.9,0,1), u(0,1,0,1)",
        "u(.1,.9,3,2), u(0,1,3,2)",
        "u(.1,.9,3), u(0,1,3)",
        "u(.1,.9,3,1), u(0,1,1,1)",
    ],
)
def log_loss(input: jax.Array, label: jax.Array, epsilon: float = 1e-4, name: str | None = None) -> jax.Array:
    """-label log(input + epsilon) - (1 - label) log(1 - input + epsilon), elementwise. No
    gradient flows to label.

    Args:
        input: Tensor [N, 1]: probabilities.
        label: Tensor [N, 1].
        epsilon: keeps the logarithm finite.
    Returns:
        Tensor of the shape of input.
    Raises:
        ValueError: the shapes are others.
    Example:
        >>> round(paddle.nn.functional.log_loss(paddle.to_tensor([[0.5]]), paddle.to_tensor([[1.0]])).item(),
        ...       2)
        0.69
    """
    # Paddle checks the shape strictly; a broadcast would change the number of losses.
    if input.shape != label.shape or input.ndim != 2 or input.shape[1] != 1:
        raise ValueError(
            f"(InvalidArgument) log_loss: label: got shape {list(label.shape)} for input "
            f"{list(input.shape)}; both must be [N, 1]"
        )
    return -label * jnp.log(input + epsilon) - (1 - label) * jnp.log(1 - input + epsilon)


@known_as(amp="reduce_mean", pir="kldiv_loss reduction:str log_target:bool")
@op(
    "input label",
    method=False,
    promote=True,
    constant="label",
    cases=[
        f"f(2,3), {SOME}",
        f"f(2,3), {SOME}, 'batchmean'",
        f"f(2,3), {SOME}, 'none'",
        f"d(2,3), {SOME_D}, 'sum'",
        "f(2,3), -pos_i(2,3).astype('float32'), 'mean', True",
        "f(2,3), const([[0,1,0],[0,0,1]]).astype('float32')",
        "f(3,1), f(3)",
        "f(2,3), f(3)",
    ],
)
def kl_div(
    input: jax.Array,
    label: jax.Array,
    reduction: DivergenceReduction = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Kullback-Leibler divergence: label (log(label) - input), 0 where label is not positive. No
    gradient flows to label.

    Args:
        input: Tensor [N, ...]: logarithms of probabilities.
        label: Tensor of the same shape: probabilities, or their logarithms with log_target=True.
        reduction: "mean", "batchmean" (sum divided by N), "sum" or "none"; None means "none".
        log_target: label holds logarithms.
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Example:
        >>> paddle.nn.functional.kl_div(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).item()
        0.0
    """
    check_shapes("kl_div", "label", label, input.shape)
    if log_target:
        # The target is a logarithm, so the weight is its exponential.
        loss = jnp.exp(label) * (label - input)
    else:
        some = label > 0
        # The inner choice keeps the gradient of log at 0 from being infinite times 0.
        loss = jnp.where(some, label * (jnp.log(jnp.where(some, label, 1)) - input), 0)
    if reduction == "batchmean":
        if input.ndim:
            # The mean over samples alone is the divergence in its mathematical form.
            return jnp.sum(loss) / input.shape[0]
        return loss
    return reduced("kl_div", loss, "none" if reduction is None else reduction)


_NO_PROBABILITY = (
    "binary_cross_entropy: input: got {}; probabilities lie in [0, 1]; for other numbers use "
    "binary_cross_entropy_with_logits"
)


def _outside() -> ValueError:
    return ValueError(_NO_PROBABILITY.format("a number outside"))


def _wrong(x: jax.Array) -> jax.Array:
    # Written so that NaN is wrong as well.
    return ~((x >= 0) & (x <= 1))


@op("x", nondiff=True, register=False, method=False)
def no_probability(x: jax.Array) -> jax.Array:
    """Whether an element is not in [0, 1], as 0 or 1."""
    return _wrong(x).any().astype(jnp.int64)


def _check_probabilities(*args: Any, **kwargs: Any) -> None:
    given = args[0] if args else kwargs.get("input")
    if not isinstance(given, Tensor):
        return
    value = traced_value(given)
    # In a compiled function the check is a part of it, and is read after the run.
    if value is not None:
        add_check(_wrong(value).any(), (), _outside)
    elif (found := at_hand(given)) is not None:
        if (wrong := _wrong(found)).any():
            # Looked at now, as the value is here.
            raise ValueError(_NO_PROBABILITY.format(found[wrong].flat[0]))
    elif local.ctx.frame.has_value(given):
        # The step stays pending: the check is read when its value is.
        enqueue_check(held_value(no_probability(given)), _outside)


@guarded(_check_probabilities)
@known_as(amp="reduce_mean", pir="bce_loss", code="losses:binary_cross_entropy")
@op(
    "input label weight",
    same_dtype=True,
    method=False,
    constant="label",
    cases=[
        *UNIT,
        f"u(.1,.9,2,3), {SOME}, pos_i(2,3).astype('float32'), 'sum'",
        f"u(.1,.9,2,3), {SOME}, pos_i(3).astype('float32')",
        "const([0.,1.],'float32'), const([1,0]).astype('float32')",
        "u(.1,.9,2,3), u(0,1,2,3), reduction='x'",
        "u(.1,.9,2,3), u(0,1,2,4)",
        "u(.1,.9,0,3), u(0,1,0,3)",
    ],
)
def binary_cross_entropy(
    input: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """-label log(input) - (1 - label) log(1 - input); logarithms are limited to -100. No
    gradient flows to label.

    Args:
        input: Tensor [...]: probabilities.
        label: Tensor of the same shape.
        weight: Tensor broadcastable with them, or None: factor of each element.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Raises:
        ValueError: shapes differ, reduction is something else, or an input lies outside [0, 1]; told at the
            latest when a value is read.
    Example:
        >>> paddle.nn.functional.binary_cross_entropy(paddle.to_tensor([1.0]),
        ...                                           paddle.to_tensor([1.0])).item() == 0
        True
    """
    if input.shape != label.shape:
        raise ValueError(
            f"binary_cross_entropy: label: got shape {list(label.shape)}; "
            f"it must be that of input, {list(input.shape)}"
        )
    loss = -label * _bounded_log(input) - (1 - label) * _bounded_log(1 - input)
    return reduced("binary_cross_entropy", loss if weight is None else loss * weight, reduction)


def _bounded_log(p: jax.Array) -> jax.Array:
    """log(p), at least -100; for p below 1e-12 the slope stays 1e12, so that a probability of 0
    can be left again."""
    fixed = jax.lax.stop_gradient(p)
    # The slope of log at p is 1 / p, bounded by that at 1e-12.
    low = jnp.maximum(jnp.log(fixed), -100) + (p - fixed) * 1e12
    return jnp.where(p > 1e-12, jnp.log(jnp.where(p > 1e-12, p, 1)), low)


def logistic(logit: jax.Array, label: jax.Array, pos_weight: jax.Array | None = None) -> jax.Array:
    """Cross entropy of sigmoid(logit) and label: no cancellation anywhere and smooth at 0. As in Paddle
    labels are constants."""
    label, pos_weight = jax.lax.stop_gradient((label, pos_weight))
    positive = label if pos_weight is None else label * pos_weight
    # log(1 + exp(-x)) for positive labels, log(1 + exp(x)) for negative ones
    of_positive, of_negative = negative_log_sigmoids(logit)
    return (1 - label) * of_negative + positive * of_positive


@known_as(
    amp="sigmoid_cross_entropy_with_logits",
    pir="sigmoid_cross_entropy_with_logits normalize:bool=False ignore_index:i32=-100",
    code="losses:binary_cross_entropy_with_logits",
)
@op(
    "logit label weight pos_weight",
    same_dtype=True,
    method=False,
    constant="label pos_weight",
    cases=[
        f"f(2,3), {SOME}",
        f"f(2,3), {SOME}, reduction='none'",
        f"d(2,3), {SOME_D}, reduction='sum'",
        f"f(2,3), {SOME}, pos_i(2,3).astype('float32')",
        f"f(2,3), {SOME}, None, 'mean', pos_i(3).astype('float32')",
        f"f(2,3), {SOME}, pos_i(3).astype('float32'), 'none', pos_i(2,3).astype('float32')",
        "u(-200,200,5), idx(2,5).astype('float32')",
        "f(2,3), u(0,1,2,3), reduction='x'",
        "f(0,3), u(0,1,0,3)",
        f"f(2,3), {SOME}, pos_weight=pos_i(1,2,3).astype('float32')",
        f"f(2,3), {SOME}, pos_weight=pos_i(2,1).astype('float32')",
        "f(3,1), u(0,1,3)",
        "f(3), u(0,1,3,1)",
        "f(2,3), u(0,1,3)",
    ],
)
def binary_cross_entropy_with_logits(
    logit: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    reduction: Reduction = "mean",
    pos_weight: jax.Array | None = None,
    name: str | None = None,
) -> jax.Array:
    """Binary cross entropy of sigmoid(logit) and label, without overflow. No gradient flows to
    label and pos_weight.

    Args:
        logit: Tensor [...].
        label: Tensor of the same shape, usually 0 or 1.
        weight: Tensor broadcastable with them, or None: factor of each element.
        reduction: "mean", "sum" or "none".
        pos_weight: Tensor broadcastable with them, or None: factor of the positive part.
    Returns:
        Tensor: 0-D, or of the shape of logit for "none".
    Raises:
        ValueError: shapes differ or reduction is something else.
    Example:
        >>> round(paddle.nn.functional.binary_cross_entropy_with_logits(paddle.to_tensor([0.0]),
        ...                                                             paddle.to_tensor([1.0])).item(), 4)
        0.6931
    """
    check_shapes("binary_cross_entropy_with_logits", "label", label, logit.shape)
    if pos_weight is not None and pos_weight.ndim > logit.ndim:
        raise ValueError(
            "(InvalidArgument) binary_cross_entropy_with_logits: pos_weight: got shape "
            f"{list(pos_weight.shape)}; it must broadcast to that of logit, {list(logit.shape)}"
        )
    loss = logistic(logit, label, pos_weight)
    return reduced("binary_cross_entropy_with_logits", loss if weight is None else loss * weight, reduction)


@known_as(amp="sigmoid_cross_entropy_with_logits", code="decomposed_losses:focal")
@op(
    "logit label normalizer",
    same_dtype=True,
    method=False,
    cases=[
        "f(2,3), const([[0,1,0],[1,1,0]]).astype('float32')",
        "f(2,3), const([[0,1,0],[1,1,0]]).astype('float32'), pos(1)",
        "d(2,2), const([[0,1],[1,0]]).astype('float64'), None, 0.5, 1.0, 'mean'",
        f"f(2,3), {SOME}, reduction='none'",
        "f(2,3), u(0,1,2,3), reduction='x'",
        "f(2,3), u(0,1,2,3), pos(2,2)",
        f"f(2,3), {SOME}, alpha=-1.0",
        "f(3,1), u(0,1,3)",
        "f(3), u(0,1,3,1)",
    ],
)
def sigmoid_focal_loss(
    logit: jax.Array,
    label: jax.Array,
    normalizer: jax.Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: Reduction = "sum",
    name: str | None = None,
) -> jax.Array:
    """Binary cross entropy that counts well classified elements less: alpha_t (1 - p_t) ** gamma
    * cross entropy.

    Args:
        logit: Tensor [...].
        label: Tensor of the same shape: 1 for positive, 0 for negative elements.
        normalizer: Tensor of one element that divides the loss, or None.
        alpha: weight of positive elements (negative ones get 1 - alpha).
        gamma: not negative: how much easy elements are discounted.
        reduction: "sum", "mean" or "none".
    Returns:
        Tensor: 0-D, or of the shape of logit for "none".
    Raises:
        ValueError: shapes differ, normalizer has more than one element or reduction is something else.
    Example:
        >>> paddle.nn.functional.sigmoid_focal_loss(paddle.to_tensor([0.0]), paddle.to_tensor([1.0]),
        ...                                         alpha=1.0, gamma=1.0).item() < 0.35
        True

    See: Lin et al., Focal Loss for Dense Object Detection, 2017, equation 5.
    """
    if normalizer is not None and normalizer.size != 1:
        raise ValueError(
            f"sigmoid_focal_loss: normalizer: got shape {list(normalizer.shape)}; it must have one element"
        )
    check_shapes("sigmoid_focal_loss", "label", label, logit.shape)
    p = jax.nn.sigmoid(logit)
    # The probability of the wrong answer: what is classified well has a small one.
    wrong = p * (1 - label) + (1 - p) * label
    loss = logistic(logit, label) * jnp.power(wrong, gamma)
    loss = loss * (alpha * label + (1 - alpha) * (1 - label))
    return reduced(
        "sigmoid_focal_loss", loss if normalizer is None else loss / normalizer.reshape(()), reduction
    )


def _check_dice(input: Any = None, label: Any = None, *_: Any, **__: Any) -> None:
    if isinstance(input, Tensor) and isinstance(label, Tensor) and input.ndim and label.dtype.is_integer:
        check_index("dice_loss", label, input.shape[-1], ValueError, low=0, name="label")


@guarded(_check_dice)
@known_as(amp="reduce_mean", code="decomposed_losses:dice")
@op(
    "input label",
    method=False,
    cases=[
        "u(0,1,2,4,3), idx(3,2,4,1)",
        "ud(0,1,3,2), idx(2,3,1), 0.1",
        "u(0,1,2,3), idx(3,2,2)",
        "u(0,1,2,3), idx(3,2)",
        "u(0,1,3), idx(3,1)",
        "u(0,1,2,3), f(2,1)",
    ],
)
def dice_loss(
    input: jax.Array, label: jax.Array, epsilon: float = 1e-05, name: str | None = None
) -> jax.Array:
    """1 - 2 |input and label| / (|input| + |label|), averaged over the batch.

    Args:
        input: Tensor [N, ..., C]: class probabilities.
        label: int Tensor [N, ..., 1].
        epsilon: keeps the quotient finite.
    Returns:
        0-D Tensor.
    Raises:
        AssertionError: shapes do not fit, or label holds no integers.
        ValueError: a label is not a class.
    Example:
        >>> round(paddle.nn.functional.dice_loss(paddle.to_tensor([[1.0, 0.0]]),
        ...                                      paddle.to_tensor([[0]])).item(), 3)
        0.0

    See: Milletari et al., V-Net, 2016.
    """
    if (
        input.ndim < 2
        or input.ndim != label.ndim
        or label.shape[-1] != 1
        or input.shape[:-1] != label.shape[:-1]
    ):
        raise AssertionError(
            f"dice_loss: label: got shape {list(label.shape)}; "
            f"for input of shape {list(input.shape)} it must be {[*input.shape[:-1], 1]}"
        )
    if not jnp.issubdtype(label.dtype, jnp.integer):
        raise AssertionError(
            f"dice_loss: label: got dtype {label.dtype}; class numbers must be int32 or int64"
        )
    # The label's one-hot form overlaps with the probabilities.
    target = jax.nn.one_hot(label[..., 0], input.shape[-1], dtype=input.dtype)
    axes = tuple(range(1, input.ndim))
    overlap = jnp.sum(input * target, axes)
    total = jnp.sum(input, axes) + jnp.sum(target, axes)
    # epsilon: both may be empty.
    return jnp.mean(1 - 2 * overlap / (total + epsilon))


@known_as(amp="reduce_mean", code="decomposed_losses:gaussian")
@op("input label variance", method=False, register=False)
def _gaussian(
    input: jax.Array, label: jax.Array, variance: jax.Array, full: bool, epsilon: float, reduction: Reduction
) -> jax.Array:
    # The limit changes the value alone: the gradient is that of the variance as it was given.
    variance = variance + jax.lax.stop_gradient(jnp.maximum(variance, epsilon) - variance)
    loss = 0.5 * (jnp.log(variance) + jnp.square(input - label) / variance)
    return reduced("gaussian_nll_loss", loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


# The variances are no leaves: the real Paddle loses their gradient.
@composite(
    method=False,
    cases=[
        "f(2,3), f(2,3), pos_i(2,3).astype('float32')",
        "f(2,3), f(2,3), pos_i(2,3).astype('float32'), True, reduction='none'",
        "d(2,3), d(2,3), pos_i(2,1).astype('float64'), reduction='sum'",
        "f(2,3), f(2,3), pos_i(2).astype('float32')",
        "f(2,3), f(2,3), f(2,3)",
        "f(2,3), f(2,3), pos(2,3), reduction='x'",
        "f(2,3), f(2,3), pos(2,2)",
        "f(2,3), f(2,3), pos_i(2,3).astype('float32'), epsilon=2.5",
    ],
)
def gaussian_nll_loss(
    input: Tensor,
    label: Tensor,
    variance: Tensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """Negative log likelihood of label under normal distributions with means input.

    Differs from Paddle: the gradient flows to variance too; Paddle loses it.

    Args:
        input: Tensor [N, ...] or [...].
        label: Tensor broadcastable with input.
        variance: Tensor of the shape of input, or without its last axis or with length 1 there; at
            least epsilon counts.
        full: add the constant log(2 pi) / 2.
        epsilon: the least variance.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Raises:
        ValueError: shapes do not fit, a variance is negative or reduction is something else.
    Example:
        >>> paddle.nn.functional.gaussian_nll_loss(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]),
        ...                                        paddle.to_tensor([1.0])).item()
        2.0
    """
    check_reduction("gaussian_nll_loss", reduction)
    shape = list(input.shape)
    given = list(variance.shape)
    if given != shape:
        if given == shape[:-1]:
            # One variance for each row.
            variance = variance.unsqueeze(-1)
        elif given[:-1] != shape[:-1] or given[-1] != 1:
            raise ValueError(
                f"gaussian_nll_loss: variance: got shape {given}; it must be that of input, "
                f"{shape}, or end in 1"
            )
    values = concrete(variance)
    # Where the value can be seen for free.
    if values is not None and (values < 0).any():
        raise ValueError("gaussian_nll_loss: variance: got a negative number; variances must not be negative")
    return _gaussian(input, label, variance, bool(full), float(epsilon), reduction)


@known_as(amp="reduce_mean", code="decomposed_losses:poisson")
@op(
    "input label",
    method=False,
    promote=True,
    cases=[
        "f(2,3), pos(2,3)",
        "f(2,3), u(0,5,2,3), full=True",
        "pos(2,3), pos(2,3), False, reduction='none'",
        "d(2,3), ud(0,5,2,3), True, True, 1e-8, 'sum'",
        "f(2,3), pos(2,3), epsilon=-1.0",
        "f(2,3), pos(2,3), reduction='x'",
        "f(2,3), pos(2,4)",
        "f(3,1), pos(3)",
    ],
)
def poisson_nll_loss(
    input: jax.Array,
    label: jax.Array,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """Negative log likelihood of counts under Poisson distributions.

    Args:
        input: Tensor [...]: logarithms of the rates, or the rates with log_input=False.
        label: Tensor of the same shape: counts.
        log_input: input holds logarithms.
        full: add Stirling's formula for log(label!) where label > 1.
        epsilon: positive; keeps the logarithm of a rate finite.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Raises:
        ValueError: shapes differ, epsilon is not positive or reduction is something else.
    Example:
        >>> paddle.nn.functional.poisson_nll_loss(paddle.to_tensor([0.0]), paddle.to_tensor([3.0])).item()
        1.0
    """
    if epsilon <= 0:
        raise ValueError(f"poisson_nll_loss: epsilon: got {epsilon}; it must be positive")
    check_shapes("poisson_nll_loss", "label", label, input.shape, "")
    if log_input:
        # exp(input) is the rate, so the logarithm of the rate is input.
        loss = jnp.exp(input) - label * input
    else:
        loss = input - label * jnp.log(input + epsilon)
    if full:
        stirling = label * jnp.log(label) - label + 0.5 * jnp.log(2 * math.pi * label)
        # Stirling's formula for log(label!) holds for large labels; it is 0 for 0 and 1.
        loss = loss + jnp.where(label > 1, stirling, 0)
    return reduced("poisson_nll_loss", loss, reduction)
