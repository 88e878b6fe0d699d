"""Losses that Paddle computes by several operations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.framework.model_files.plain_values import shape_along
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.nn.functional.classification import negative_log_likelihood

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _mean(loss: Any, reduction: Any) -> Any:
    """A loss per element as it is, summed, or averaged."""
    if reduction == "none":
        return loss
    if reduction == "sum":
        return P.sum(loss)
    return P.mean(loss)


def _hinge(x: Any) -> Any:
    return P.relu(x)


def _softplus(x: Any) -> Any:
    """log(1 + exp(x))"""
    return -P.log_sigmoid(-x)


def _only(is_meant: Any, loss: Any) -> Any:
    return P.where(is_meant, loss, P.zeros_like(loss))


def _ranking(a: Any, x: Any, other: Any, label: Any) -> Any:
    return _mean(_hinge((other - x) * label + a.margin), a.reduction)


def _hinge_embedding(a: Any, x: Any, label: Any) -> Any:
    x, label = P.broadcast_tensors([x, P.cast(label, x.dtype)])
    return _mean(_only(label == 1, x) + _only(label == -1, _hinge(a.margin - x)), a.reduction)


def _cosine_embedding(a: Any, x: Any, y: Any, label: Any) -> Any:
    # 1e-12 keeps the length of a zero vector from dividing by zero.
    lengths = (P.sum(P.square(x), -1) + 1e-12) * (P.sum(P.square(y), -1) + 1e-12)
    cosine = P.sum(x * y, -1) / P.sqrt(lengths)
    loss = _only(label == 1, 1 - cosine) + _only(label == -1, _hinge(cosine - a.margin))
    return _mean(loss, a.reduction)


def _triplet(a: Any, x: Any, near: Any, far: Any) -> Any:
    def distance(one: Any, other: Any) -> Any:
        return P.vector_norm(one - other + a.epsilon, float(a.p), -1)

    closer = distance(x, near)
    further = distance(x, far)
    # The smaller one of the distances of `far` to `x` and to `near` counts.
    if a.swap:
        further = P.minimum(further, distance(near, far))
    return _mean(_hinge(closer - further + a.margin), a.reduction)


def _distances(a: Any, near: Any, far: Any, other: Any) -> Any:
    if other is not None:
        far = P.minimum(far, other)
    return _mean(_hinge(near - far + a.margin), a.reduction)


def _soft_margin(a: Any, x: Any, label: Any) -> Any:
    return _mean(_softplus(-P.cast(label, x.dtype) * x), a.reduction)


def _weighted(loss: Any, weight: Any) -> Any:
    if weight is None:
        return loss
    return loss * weight


def _labels_soft_margin(a: Any, x: Any, label: Any, weight: Any) -> Any:
    loss = label * _softplus(-x) + (1 - label) * _softplus(x)
    return _mean(P.mean(_weighted(loss, weight), -1), a.reduction)


def _labels_margin(a: Any, x: Any, label: Any) -> Any:
    classes = x.shape[1]
    # Labels end at the first negative one: the running product is 0 from there on.
    is_listed = P.cast(P.cumprod(P.cast(label >= 0, "int64"), 1), "bool")
    target = _only(is_listed, label)
    is_target = P.any(P.logical_and(P.one_hot(target, classes) > 0, P.unsqueeze(is_listed, -1)), 1)
    # Gaps of each listed label to each class; classes that are labels do not count.
    gaps = 1 - (P.unsqueeze(P.take_along_axis(x, target, 1), 2) - P.unsqueeze(x, 1))
    is_counted = P.logical_and(P.unsqueeze(is_listed, 2), P.logical_not(P.unsqueeze(is_target, 1)))
    return _mean(P.sum(_only(is_counted, _hinge(gaps)), [1, 2]) / classes, a.reduction)


def _class_margin(a: Any, x: Any, label: Any, weight: Any) -> Any:
    own = P.take_along_axis(x, P.unsqueeze(label, 1), 1)
    gaps = P.pow(_hinge(a.margin - own + x), a.p)
    is_own = P.one_hot(label, x.shape[1]) > 0
    loss = P.sum(P.where(is_own, P.zeros_like(gaps), gaps), 1)
    # Paddle subtracts margin ** p for the own class, also where the hinge has made that term 0.
    if a.margin < 0:
        loss = loss - a.margin**a.p
    if weight is not None:
        loss = loss * P.gather(weight, label)
    return _mean(loss / x.shape[1], a.reduction)


def _pairs(a: Any, anchor: Any, positive: Any, labels: Any) -> Any:
    rows = P.reshape(labels, [-1, 1])
    columns = P.reshape(labels, [1, -1])
    is_same = P.cast(rows == columns, anchor.dtype)
    # Each row is a distribution over the samples of its class.
    target = is_same / P.sum(is_same, 1, keepdim=True)
    penalty = P.mean(P.sum(P.square(anchor), 1)) + P.mean(P.sum(P.square(positive), 1))
    logs = P.log_softmax(P.matmul(anchor, positive, False, True), -1)
    loss = -P.sum(target * logs, 1, keepdim=True)
    return penalty * (0.25 * a.l2_reg) + P.mean(P.sum(target * loss, 0))


def huber(a: Any, x: Any, label: Any) -> Any:
    """Decomposes a smooth L1 loss that has another form than that of Paddle."""
    # Paddle's operation is this one.
    if a.is_huber and a.delta == 1.0:
        return None
    gap = P.abs(x - label)
    # Huber's loss; the smooth L1 loss is the same divided by delta.
    loss = P.where(gap < a.delta, P.square(gap) * 0.5, (gap - 0.5 * a.delta) * a.delta)
    if not a.is_huber:
        loss = loss / a.delta
    return _mean(loss, a.reduction)


def weighted_bce(a: Any, x: Tensor, label: Tensor, weight: Any) -> Any:
    """Decomposes a binary cross entropy with weights."""
    if weight is None:
        return None
    return _mean(P.binary_cross_entropy(x, label, None, "none") * weight, a.reduction)


def weighted_logits(a: Any, x: Any, label: Any, weight: Any, pos_weight: Any) -> Any:
    """Decomposes a binary cross entropy of logits with weights."""
    if weight is None and pos_weight is None:
        return None
    loss = P.binary_cross_entropy_with_logits(x, label, None, "none")
    if pos_weight is not None:
        # log(1 + exp(-x)) is the part of the loss that belongs to positive labels.
        loss = loss + (pos_weight - 1) * label * _softplus(-x)
    return _mean(_weighted(loss, weight), a.reduction)


def _focal(a: Any, x: Any, label: Any, normalizer: Any) -> Any:
    share = P.sigmoid(x)
    # The probability of the wrong answer.
    wrong = share * (1 - label) + (1 - share) * label
    loss = P.binary_cross_entropy_with_logits(x, label, None, "none") * P.pow(wrong, a.gamma)
    loss = loss * (a.alpha * label + (1 - a.alpha) * (1 - label))
    if normalizer is not None:
        loss = loss / P.reshape(normalizer, [])
    return _mean(loss, a.reduction)


def _dice(a: Any, x: Any, label: Any) -> Any:
    target = P.cast(P.one_hot(P.squeeze(label, -1), x.shape[-1]), x.dtype)
    axes = list(range(1, x.ndim))
    overlap = P.sum(x * target, axes)
    return P.mean(1 - 2 * overlap / (P.sum(x, axes) + P.sum(target, axes) + a.epsilon))


def _gaussian(a: Any, x: Any, label: Any, variance: Any) -> Any:
    variance = P.maximum(variance, P.full([], a.epsilon, variance.dtype))
    loss = (P.log(variance) + P.square(x - label) / variance) * 0.5
    if a.full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _mean(loss, a.reduction)


def _poisson(a: Any, x: Any, label: Any) -> Any:
    if a.log_input:
        loss = P.exp(x) - label * x
    else:
        loss = x - label * P.log(x + a.epsilon)
    if a.full:
        # Stirling's approximation of log(label!).
        stirling = label * P.log(label) - label + P.log(label * (2 * math.pi)) * 0.5
        loss = loss + _only(label > 1, stirling)
    return _mean(loss, a.reduction)


# scores of classes ------------------------------------------------------------------------------------------


def _wide(x: Any) -> Any:
    if numpy_dtype(x).name in ("float16", "bfloat16"):
        return P.cast(x, "float32")
    return x


def _average(loss: Any, weights: Any, reduction: Any) -> Any:
    """The mean over weights."""
    if reduction != "mean" or weights is None:
        return _mean(loss, reduction)
    count = P.sum(weights)
    # A batch of ignored labels alone has the mean 0.
    return P.sum(loss) / P.where(count == 0, P.ones_like(count), count)


def _logs(x: Any, axis: Any, use_softmax: Any) -> Any:
    if use_softmax:
        return P.log_softmax(x, axis)
    # Keeps log(0) finite.
    return P.log(P.maximum(x, P.full([], 1e-12, x.dtype)))


def _of_labels(logs: Any, label: Any, axis: Any, ignore_index: Any) -> tuple[Any, Any]:
    """(-log of the share of each label, 0 where it is ignored; whether it is)"""
    is_ignored = label == ignore_index
    # An ignored label is read as class 0, and its loss is put to 0.
    own = P.take_along_axis(logs, P.where(is_ignored, P.zeros_like(label), label), axis)
    return P.where(is_ignored, P.zeros_like(own), -own), is_ignored


def _class_weights(weight: Any, label: Any, is_ignored: Any, dtype: Any) -> Any:
    found = P.reshape(P.gather(weight, P.flatten(_only(P.logical_not(is_ignored), label))), list(label.shape))
    return _only(P.logical_not(is_ignored), P.cast(found, dtype))


def hard(a: Any, x: Any, label: Any, weight: Any) -> Any:
    """Decomposes a cross entropy with class numbers that Paddle's operation does not take."""
    is_plain = a.use_softmax and a.axis % x.ndim == x.ndim - 1
    # Then Paddle has an operation for all of it.
    if weight is None and is_plain and (a.ignore_index < 0 or a.reduction != "mean"):
        return None
    wide = _wide(x)
    loss, is_ignored = _of_labels(_logs(wide, a.axis, a.use_softmax), label, a.axis, a.ignore_index)
    weights = None
    if weight is not None:
        weights = _class_weights(weight, label, is_ignored, loss.dtype)
        loss = loss * weights
    elif a.ignore_index >= 0:
        weights = P.cast(P.logical_not(is_ignored), loss.dtype)
    return P.cast(_average(loss, weights, a.reduction), x.dtype)


def _soft(a: Any, x: Any, label: Any, weight: Any) -> Any:
    wide = _wide(x)
    axis = a.axis % x.ndim
    count = x.shape[axis]
    if a.one_hot:
        target = P.cast(P.one_hot(label, count), wide.dtype)
        if not (axis == x.ndim - 1):
            target = P.moveaxis(target, -1, axis)
    else:
        target = P.cast(label, wide.dtype)
    if a.smoothing:
        # Smoothed labels: a share of them goes to all classes evenly.
        target = target * (1 - a.smoothing) + a.smoothing / count
    loss = -P.sum(target * _logs(wide, axis, a.use_softmax), axis, keepdim=True)
    weights = None
    if weight is not None:
        each = P.reshape(P.cast(weight, wide.dtype), shape_along(axis, x.ndim))
        weights = P.sum(target * each, axis, keepdim=True)
        loss = loss * weights
    if a.ignore_index >= 0:
        differs = P.logical_not(target == a.ignore_index)
        counted = P.sum(P.cast(differs, wide.dtype), axis, keepdim=True)
        weights = counted if weights is None else counted * weights
    return P.cast(_average(loss, weights, a.reduction), x.dtype)


def _likelihood(w: Any, a: Any, out: Any, x: Any, label: Any, weight: Any) -> Any:
    both = [out[0], (x.dtype, [])]
    return w.op("nll_loss", [x, label, weight], both, ignore_index=a.ignore_index, reduction=a.reduction)[0]


def _flat_likelihood(a: Any, x: Any, label: Any, weight: Any) -> Any:
    """Of other than 2 or 4 axes."""
    if x.ndim in (2, 4):
        return None
    flat = P.reshape(x, [x.shape[0], x.shape[1], 1, -1])
    labels = P.reshape(label, [x.shape[0], 1, -1])
    loss = negative_log_likelihood(flat, labels, weight, a.ignore_index, a.reduction)
    if a.reduction == "none":
        return P.reshape(loss, list(label.shape))
    return loss


def _clusters(a: Any, x: Any, label: Any, weight: Any, bias: Any, tails: Any) -> tuple[Any, Any]:
    """Scores of rare classes by clusters of their own."""
    logs = P.matmul(x, weight)
    if bias is not None:
        logs = logs + bias
    logs = P.log_softmax(logs, -1)
    few = a.cutoffs[0]

    def pick(table: Any, place: Any, count: Any) -> Any:
        place = P.clip(place, 0, count - 1)
        return P.squeeze(P.take_along_axis(table, P.unsqueeze(place, 1), 1), 1)

    found = pick(logs, label, few)
    # Cluster k has the classes first to end; its own share is the class `few + k` of the head.
    for k, (first, end) in enumerate(zip(a.cutoffs, a.cutoffs[1:], strict=False)):
        inner = P.log_softmax(P.matmul(P.matmul(x, tails[2 * k]), tails[2 * k + 1]), -1)
        is_here = P.logical_and(label >= first, label < end)
        found = P.where(is_here, pick(inner, label - first, end - first) + logs[:, few + k], found)
    return found, -P.mean(found)


def _sphere(a: Any, x: Any, label: Any) -> tuple[Any, Any]:
    is_own = P.one_hot(P.reshape(label, [-1]), x.shape[1]) > 0
    cosine = P.clip(_only(is_own, x), -1.0, 1.0)
    # ArcFace and its relatives: cos(m1 * angle + m2) - m3.
    moved = P.cos(P.acos(cosine) * a.margin1 + a.margin2) - a.margin3
    logs = P.log_softmax(P.where(is_own, moved, x) * a.scale, -1)
    loss = -P.sum(_only(is_own, logs), 1, keepdim=True)
    return _mean(loss, a.reduction or "none"), P.exp(logs)


ranking: Lowering = Lowering(decompose=_ranking)
hinge_embedding: Lowering = Lowering(decompose=_hinge_embedding)
triplet: Lowering = Lowering(decompose=_triplet)
cosine_embedding: Lowering = Lowering(decompose=_cosine_embedding)
distances: Lowering = Lowering(decompose=_distances)
soft_margin: Lowering = Lowering(decompose=_soft_margin)
labels_soft_margin: Lowering = Lowering(decompose=_labels_soft_margin)
labels_margin: Lowering = Lowering(decompose=_labels_margin)
class_margin: Lowering = Lowering(decompose=_class_margin)
pairs: Lowering = Lowering(decompose=_pairs)
focal: Lowering = Lowering(decompose=_focal)
dice: Lowering = Lowering(decompose=_dice)
gaussian: Lowering = Lowering(decompose=_gaussian)
poisson: Lowering = Lowering(decompose=_poisson)
soft: Lowering = Lowering(decompose=_soft)
clusters: Lowering = Lowering(decompose=_clusters)
sphere: Lowering = Lowering(decompose=_sphere)
likelihood: Lowering = Lowering(_likelihood, decompose=_flat_likelihood)
