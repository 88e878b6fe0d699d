"""Losses that ask for a margin between scores or distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax.nn.functional.distance import p_norm, pairwise_distance
from paddle_jax.nn.functional.input import check_ids
from paddle_jax.nn.functional.reduce_loss import check_reduction, check_shapes, reduced
from paddle_jax.tensor.inner import log_one_plus_exp, negative_log_sigmoids

if TYPE_CHECKING:
    from paddle_jax._annotations import Reduction
    from paddle_jax._core.tensors.tensor import Tensor


SIGNS = "const([[1,-1,1],[-1,-1,1]]).astype('float32')"


def _hinge(x: jax.Array) -> jax.Array:
    """max(x, 0) with gradient 0 at 0, and 0 for NaN: Paddle uses its `relu` for CPUs in these losses."""
    return jnp.where(x > 0, x, jnp.zeros_like(x))


def _clipped(x: jax.Array) -> jax.Array:
    """max(x, 0) with gradient 0 at 0; NaN stays NaN."""
    return jnp.where(x <= 0, jnp.zeros_like(x), x)


@known_as(amp="reduce_mean", code="decomposed_losses:ranking")
@op(
    "input other label",
    method=False,
    promote=True,
    cases=[
        f"f(2,3), f(2,3), {SIGNS}",
        f"f(2,3), f(2,3), {SIGNS}, 0.5, 'none'",
        f"f(2,3), f(2,3), {SIGNS}, 0.5, 'sum'",
        f"f(2,3), f(2,3), {SIGNS}, reduction='x'",
        "d(3), d(3), const([1,-1,1]).astype('float64'), 0.1",
        "f(0,3), f(0,3), f(0,3)",
    ],
)
def margin_ranking_loss(
    input: jax.Array,
    other: jax.Array,
    label: jax.Array,
    margin: float = 0.0,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """max(0, -label (input - other) + margin).

    Args:
        input, other: Tensors of one shape: scores.
        label: Tensor of the same shape: 1 where input should be the larger, -1 where other should be.
        margin: number.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Raises:
        ValueError: reduction is something else.
    Example:
        >>> a, b, y = paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])
        >>> paddle.nn.functional.margin_ranking_loss(a, b, y).item()
        2.0
    """
    return reduced("margin_ranking_loss", _hinge((other - input) * label + margin), reduction)


@known_as(amp="reduce_mean", code="decomposed_losses:hinge_embedding")
@op(
    "input label",
    method=False,
    constant="label",
    cases=[
        f"f(2,3), {SIGNS}",
        f"f(2,3), {SIGNS}, 0.5, 'none'",
        f"f(2,3), {SIGNS}, reduction='sum'",
        f"f(2,3), {SIGNS}, reduction='x'",
        "d(3), const([1,-1,0]).astype('float64')",
        "f(0,3), f(0,3)",
        "f(2,3), const([[1,-1,1],[0,2,-1]])",
        "d(2,3), const([1,-1,1],'int32'), reduction='none'",
        "f(2,3), const([1,-1,1]).astype('float64')",
    ],
)
def hinge_embedding_loss(
    input: jax.Array,
    label: jax.Array,
    margin: float = 1.0,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """input where label is 1, max(0, margin - input) where it is -1.

    Args:
        input: Tensor [...]: distances.
        label: Tensor of the same shape, of any dtype: 1 for similar, -1 for different pairs.
        margin: number.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor in the dtype of input: 0-D, or of the shape of input for "none".
    Raises:
        ValueError: reduction is something else.
    Example:
        >>> paddle.nn.functional.hinge_embedding_loss(paddle.to_tensor([2.0, 0.5]),
        ...                                           paddle.to_tensor([1.0, -1.0])).item()
        1.25
    """
    # Other labels than 1 and -1 count nothing.
    loss = jnp.where(label == 1, input, 0) + jnp.where(label == -1, _hinge(margin - input), 0)
    return reduced("hinge_embedding_loss", loss, reduction)


@known_as(amp="reduce_mean", code="decomposed_losses:cosine_embedding")
@op(
    "input1 input2 label",
    method=False,
    constant="label",
    cases=[
        "f(2,3), f(2,3), const([1,-1])",
        "f(2,3), f(2,3), const([1,-1]), 0.2, 'none'",
        "d(2,3), d(2,3), const([1,-1]), -0.5, 'sum'",
        "f(2,3), f(2,4), const([1,-1])",
        "f(2,3), f(2,3), const([[1,-1]])",
        "f(2,3,4), f(2,3,4), const([1,-1])",
    ],
)
def cosine_embedding_loss(
    input1: jax.Array,
    input2: jax.Array,
    label: jax.Array,
    margin: float = 0,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """1 - cos where label is 1, max(0, cos - margin) where it is -1; cos is the cosine between
    the two vectors.

    Args:
        input1, input2: Tensors [N, D] or [D].
        label: Tensor [N] or 0-D: 1 for similar, -1 for different pairs.
        margin: number from -1 to 1.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: shapes do not fit or reduction is something else.
    Example:
        >>> a = paddle.to_tensor([[1.0, 0.0]])
        >>> paddle.nn.functional.cosine_embedding_loss(a, a, paddle.to_tensor([1])).item()
        0.0
    """
    if label.ndim > 1 or input1.ndim > 2 or input1.shape != input2.shape:
        raise ValueError(
            f"cosine_embedding_loss: got shapes {list(input1.shape)}, {list(input2.shape)} and "
            f"label {list(label.shape)}; inputs must have one shape [N, D] or [D], "
            "label [N] or 0-D"
        )
    dot = jnp.sum(input1 * input2, -1)
    # The small number keeps the root differentiable where a vector is zero.
    squares = (jnp.sum(jnp.square(input1), -1) + 1e-12) * (jnp.sum(jnp.square(input2), -1) + 1e-12)
    cos = dot / jnp.sqrt(squares)
    loss = jnp.where(label == 1, 1 - cos, 0) + jnp.where(label == -1, _clipped(cos - margin), 0)
    return reduced("cosine_embedding_loss", loss, reduction)


@known_as(code="decomposed_losses:triplet")
@op(
    "input positive negative",
    method=False,
    promote=True,
    cases=[
        "f(4,3), f(4,3), f(4,3)",
        "f(4,3), f(4,3), f(4,3), 0.5, 1, 0.1, True, 'none'",
        "d(4,3), d(4,3), d(4,3), swap=True, reduction='sum'",
        "f(4,3), f(4,3), f(4,3), -1.0",
        "f(4,3), f(4,3), f(4,3), reduction='x'",
        "f(4,3), f(4,3), f(3)",
        "f(4,3), f(1,3), f(4,3)",
    ],
)
def triplet_margin_loss(
    input: jax.Array,
    positive: jax.Array,
    negative: jax.Array,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-06,
    swap: bool = False,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """max(0, d(input, positive) - d(input, negative) + margin) with d the p-norm distance.

    Args:
        input, positive, negative: Tensors [N, D].
        margin: positive number.
        p, epsilon: as for `pairwise_distance`.
        swap: use the smaller of d(input, negative) and d(positive, negative).
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: shapes differ, margin is negative or reduction is something else.
    Example:
        >>> a, b = paddle.zeros([1, 2]), paddle.ones([1, 2])
        >>> paddle.nn.functional.triplet_margin_loss(a, a, b, margin=0.5).item()
        0.0

    See: Balntas et al., Learning Shallow Convolutional Feature Descriptors with Triplet Losses, 2016.
    """
    if margin < 0:
        raise ValueError(f"triplet_margin_loss: margin: got {margin}; it must not be negative")
    for name, other in (("positive", positive), ("negative", negative)):
        check_shapes("triplet_margin_loss", name, other, input.shape, "")
    # epsilon is added to each difference, not to the norm: the root has a slope where both are equal.
    near = p_norm(input - positive + epsilon, p, -1)
    far = p_norm(input - negative + epsilon, p, -1)
    # The closer of both ways to the negative example (Balntas and others, 2016).
    if swap:
        far = jnp.minimum(far, p_norm(positive - negative + epsilon, p, -1))
    return reduced("triplet_margin_loss", _clipped(near - far + margin), reduction)


@known_as(amp="triplet_margin_loss", code="decomposed_losses:distances")
@op("near far other", method=False, register=False)
def _triplet(
    near: jax.Array,
    far: jax.Array,
    other: jax.Array | None = None,
    margin: float = 1.0,
    reduction: Reduction = "mean",
) -> jax.Array:
    return reduced(
        "triplet_margin_with_distance_loss",
        _clipped(near - (far if other is None else jnp.minimum(far, other)) + margin),
        reduction,
    )


@composite(
    method=False,
    cases=[
        "f(4,3), f(4,3), f(4,3)",
        "f(4,3), f(4,3), f(4,3), lambda a, b: (a - b).abs().sum(-1), 0.5, True, 'none'",
        "d(4,3), d(4,3), d(4,3), swap=True, reduction='sum'",
        "f(4,3), f(4,3), f(4,3), margin=-1.0",
        "f(4,3), f(4,3), f(4,3), reduction='x'",
        "f(4,3), f(3,3), f(4,3)",
    ],
)
def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own.

    Args:
        input, positive, negative: Tensors [N, D].
        distance_function: function of two Tensors that gives a Tensor [N]. Default: `pairwise_distance`.
        margin, swap, reduction: as for `triplet_margin_loss`.
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: shapes differ, margin is negative or reduction is something else.
    Example:
        >>> a, b = paddle.zeros([1, 2]), paddle.ones([1, 2])
        >>> paddle.nn.functional.triplet_margin_with_distance_loss(
        ...     a, a, b, lambda x, y: (x - y).abs().sum(-1), margin=3.0).item()
        1.0
    """
    # Bad arguments raise before the user's function runs.
    check_reduction("triplet_margin_with_distance_loss", reduction)
    if margin < 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin: got {margin}; it must not be negative")
    if not list(input.shape) == list(positive.shape) == list(negative.shape):
        raise ValueError(
            f"triplet_margin_with_distance_loss: got shapes {list(input.shape)}, "
            f"{list(positive.shape)}, {list(negative.shape)}; they must be equal"
        )
    distance = distance_function or pairwise_distance
    near = distance(input, positive)
    far = distance(input, negative)
    return _triplet(near, far, distance(positive, negative) if swap else None, float(margin), reduction)


@known_as(amp="reduce_mean", code="decomposed_losses:soft_margin")
@op(
    "input label",
    method=False,
    cases=[
        f"f(2,3), {SIGNS}",
        f"f(2,3), {SIGNS}, 'none'",
        "d(3), const([1,-1,1]).astype('float64'), 'sum'",
        "f(3), const([1,-1,1])",
        "d(3), const([1,-1,1]).astype('float32')",
        f"f(2,3), {SIGNS}, 'x'",
        "f(2,3), f(2,4)",
    ],
)
def soft_margin_loss(
    input: jax.Array, label: jax.Array, reduction: Reduction = "mean", name: str | None = None
) -> jax.Array:
    """log(1 + exp(-label input)).

    Args:
        input: Tensor [...]: scores.
        label: Tensor of the same shape: 1 or -1; cast to the dtype of input.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the shape of input for "none".
    Raises:
        ValueError: shapes differ or reduction is something else.
    Example:
        >>> round(paddle.nn.functional.soft_margin_loss(paddle.to_tensor([0.0]),
        ...                                             paddle.to_tensor([1.0])).item(), 4)
        0.6931
    """
    if input.shape != label.shape:
        raise ValueError(
            f"soft_margin_loss: label: got shape {list(label.shape)}; it must be that of input, "
            f"{list(input.shape)}"
        )
    # log(1 + exp(-y x)) without overflow.
    return reduced("soft_margin_loss", log_one_plus_exp(-label.astype(input.dtype) * input), reduction)


@known_as(amp="reduce_mean", code="decomposed_losses:labels_soft_margin")
@op(
    "input label weight",
    method=False,
    cases=[
        "f(2,3), const([[1,0,1],[0,0,1]]).astype('float32')",
        "f(2,3), const([[1,0,1],[0,0,1]]).astype('float32'), pos_i(3).astype('float32'), 'none'",
        "d(2,3), idx(2,2,3).astype('float64'), reduction='sum'",
        "f(2,3), u(0,1,2,3), reduction='x'",
        "f(2,3), u(0,1,2,4)",
    ],
)
def multi_label_soft_margin_loss(
    input: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """Binary cross entropy of each class with logits, averaged over the classes.

    Args:
        input: Tensor [N, C]: scores.
        label: Tensor of the same shape: 0 or 1.
        weight: Tensor [C], or None: factor of each class.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: shapes differ or reduction is something else.
    Example:
        >>> round(paddle.nn.functional.multi_label_soft_margin_loss(paddle.zeros([1, 2]),
        ...                                                         paddle.ones([1, 2])).item(), 4)
        0.6931
    """
    if input.shape != label.shape:
        raise ValueError(
            f"multi_label_soft_margin_loss: label: got shape {list(label.shape)}; "
            f"it must be that of input, {list(input.shape)}"
        )
    of_positive, of_negative = negative_log_sigmoids(input)
    loss = label * of_positive + (1 - label) * of_negative
    return reduced(
        "multi_label_soft_margin_loss", jnp.mean(loss if weight is None else loss * weight, -1), reduction
    )


@known_as(amp="reduce_mean", code="decomposed_losses:labels_margin")
@op(
    "input label",
    method=False,
    cases=[
        "f(2,4), const([[3,0,-1,1],[2,-1,0,0]])",
        "f(2,4), const([[3,0,-1,1],[2,-1,0,0]]), 'none'",
        "d(2,3), const([[-1,0,1],[0,1,2]]), 'sum'",
        "f(2,4), const([[3,0,-1,1],[2,-1,0,0]]), 'sum'",
        "f(2,4), const([[3,0,-1,1],[2,-1,0,0]]), 'x'",
    ],
)
def multi_label_margin_loss(
    input: jax.Array, label: jax.Array, reduction: Reduction = "mean", name: str | None = None
) -> jax.Array:
    """Sum over the target classes t and other classes j of max(0, 1 - (input[t] - input[j])), divided by the
    number of classes.

    Args:
        input: Tensor [N, C]: scores.
        label: int Tensor [N, C]: target classes from the left, ended by -1.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: shapes differ or reduction is something else.
    Example:
        >>> paddle.nn.functional.multi_label_margin_loss(paddle.to_tensor([[1.0, 0.0]]),
        ...                                              paddle.to_tensor([[0, -1]])).item()
        0.0
    """
    if input.ndim != 2 or input.shape != label.shape:
        raise ValueError(
            f"multi_label_margin_loss: label: got shape {list(label.shape)} for input "
            f"{list(input.shape)}; both must be [N, C]"
        )
    classes = input.shape[1]
    # Targets stand first in a row; the first negative number ends them.
    # cumprod stays 0 behind the first negative number.
    live = jnp.cumprod(label >= 0, axis=1).astype(bool)
    # Any valid index will do where the place does not count.
    target = jnp.where(live, label, 0)
    is_target = jnp.any(jax.nn.one_hot(target, classes, dtype=bool) & live[..., None], 1)
    # Each target is compared with each class.
    gaps = 1 - (jnp.take_along_axis(input, target, 1)[:, :, None] - input[:, None, :])
    loss = jnp.sum(jnp.where(live[:, :, None] & ~is_target[:, None, :], _clipped(gaps), 0), (1, 2)) / classes
    return reduced("multi_label_margin_loss", loss, reduction)


@composite(
    method=False,
    cases=[
        "f(2,4), const([1,3])",
        "f(2,4), const([1,3]), 2, 0.5, reduction='none'",
        "d(2,4), const([1,3]), 1, 1.0, pos_i(4).astype('float64'), 'sum'",
        "f(2,4), const([1,3]), 3",
        "f(2,4), const([1,3]), reduction='x'",
        "f(2,4), const([1,3,0])",
        "f(2,4), const([1,3]), weight=pos_i(4).astype('float32')",
        "f(2,4), const([1,3]), weight=pos_i(3).astype('float32')",
        "f(2,4), const([1,3]), 2, 0.5, pos_i(4).astype('float32')",
        "f(2,4), const([1,3]), 1, -0.2",
        "f(2,4), const([1,3]), 2, -0.2, reduction='none'",
        "f(2,4), const([1,4])",
    ],
)
def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: float = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """Sum over the other classes j of max(0, margin - input[label] + input[j]) ** p, divided by the
    number of classes.

    Args:
        input: Tensor [N, C]: scores.
        label: int Tensor [N].
        p: 1 or 2.
        margin: number.
        weight: Tensor [C], or None: factor of each class.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: shapes do not fit or a label does not exist.
    Example:
        >>> paddle.nn.functional.multi_margin_loss(paddle.to_tensor([[1.0, 0.5]]),
        ...                                        paddle.to_tensor([0])).item()
        0.25
    """
    if input.ndim != 2 or label.shape != input.shape[:1]:
        raise ValueError(
            f"multi_margin_loss: got input of shape {list(input.shape)} and label "
            f"{list(label.shape)}; they must be [N, C] and [N]"
        )
    if weight is not None and weight.shape != input.shape[1:]:
        raise ValueError(
            f"multi_margin_loss: weight: got shape {list(weight.shape)}; it must be [{input.shape[1]}]"
        )
    check_ids("multi_margin_loss", "label", label, input.shape[1])
    check_reduction("multi_margin_loss", reduction)
    return _multi_margin(input, label, weight, p, margin, reduction)


@known_as(code="decomposed_losses:class_margin")
@op("input label weight", method=False, register=False)
def _multi_margin(
    input: jax.Array,
    label: jax.Array,
    weight: jax.Array | None = None,
    p: float = 1,
    margin: float = 1.0,
    reduction: Reduction = "mean",
) -> jax.Array:
    # The score of the class itself.
    own = jnp.take_along_axis(input, label[:, None], 1)
    gaps = _clipped(margin - own + input) ** p
    # Paddle sums over all classes and takes margin ** p away for the class itself
    rest = 0 if margin >= 0 else -(margin**p)
    loss = jnp.sum(jnp.where(jax.nn.one_hot(label, input.shape[1], dtype=bool), 0, gaps), 1) + rest
    if weight is not None:
        # The weight is that of the sample's own class, not of the classes in the sum.
        loss = loss * jnp.take(weight, label)
    return reduced("multi_margin_loss", loss / input.shape[1], reduction)


@known_as(amp="reduce_mean", code="decomposed_losses:pairs")
@op(
    "anchor positive labels",
    same_dtype="anchor positive",
    method=False,
    constant="labels",
    cases=[
        "f(4,3), f(4,3), const([0,1,0,2]).astype('float32')",
        "f(3,2), f(3,2), const([0,1,1]).astype('float32'), 0.1",
        "f(2,3), f(2,3), const([1,1])",
    ],
)
def npair_loss(anchor: jax.Array, positive: jax.Array, labels: jax.Array, l2_reg: float = 0.002) -> jax.Array:
    """Cross entropy of the similarities anchor @ positive.T against equal labels, plus a penalty on the
    length of the vectors.

    Args:
        anchor, positive: Tensors [N, D].
        labels: Tensor [N]: equal labels mark similar pairs.
        l2_reg: factor of the penalty.
    Returns:
        0-D Tensor.
    Example:
        >>> x = paddle.zeros([2, 3])
        >>> round(paddle.nn.functional.npair_loss(x, x, paddle.to_tensor([0.0, 1.0])).item(), 4)
        0.6931

    See: Sohn, Improved Deep Metric Learning with Multi-class N-pair Loss Objective, 2016.
    """
    same = (labels.reshape(-1, 1) == labels.reshape(1, -1)).astype(anchor.dtype)
    # All rows with the same label share the probability.
    target = same / jnp.sum(same, 1, keepdims=True)
    penalty = (
        (jnp.mean(jnp.sum(jnp.square(anchor), 1)) + jnp.mean(jnp.sum(jnp.square(positive), 1)))
        * 0.25
        * l2_reg
    )
    # Rows are anchors: each has to find its own positive.
    logs = jax.nn.log_softmax(anchor @ positive.T, -1)
    return penalty + _columns(target, logs)


def _columns(target: jax.Array, logs: jax.Array) -> jax.Array:
    """Paddle weighs the cross entropy of each row by the columns of the target matrix before averaging."""
    rows = -jnp.sum(target * logs, 1, keepdims=True)
    return jnp.mean(jnp.sum(target * rows, 0))
