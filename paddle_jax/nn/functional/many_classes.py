"""Losses for very many classes: trees, clusters, margins on the sphere, sampled centres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.random import next_key
from paddle_jax._core.tensors.tensor import host_value, wrap
from paddle_jax.nn.functional.divided_classes import (
    counts_of_all,
    divided_cross_entropy,
    group_of_classes,
    reduced_losses,
)
from paddle_jax.nn.functional.input import check_ids
from paddle_jax.nn.functional.reduce_loss import reduced
from paddle_jax.tensor.axes import number
from paddle_jax.tensor.inner import log_one_plus_exp

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


@known_as(amp="hsigmoid_loss", code="sequence_losses:tree")
@op("input label weight bias path_table path_code", method=False, register=False)
def _tree_loss(
    input: jax.Array,
    label: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    path_table: jax.Array | None = None,
    path_code: jax.Array | None = None,
    num_classes: int = 2,
) -> jax.Array:
    label = label.reshape(-1)
    if path_table is None:
        # The tree is complete: class c is leaf c + num_classes in heap order.
        depth = (2 * num_classes - 1).bit_length() - 1
        code = label[:, None] + num_classes
        step = jnp.arange(depth, dtype=label.dtype)
        # Node numbers are those of the heap less 1, as rows of the weight.
        nodes = (code >> (step + 1)) - 1
        # The bit says left or right.
        bits = (code >> step) & 1
    else:
        nodes = path_table
        bits = path_code
    live = nodes >= 0
    # Any row will do where the path has ended.
    at = jnp.where(live, nodes, 0)
    score = jnp.einsum("nd,nkd->nk", input, jnp.take(weight, at, axis=0))
    if bias is not None:
        score = score + jnp.take(bias.reshape(-1), at)
    # As Paddle's kernel limits it, so that exp does not overflow; the limits have no gradient.
    score = jnp.where(score > 40, 40, jnp.where(score < -40, -40, score))
    # Paddle counts log 2 beyond the end
    loss = jnp.where(live, log_one_plus_exp(score) - bits.astype(score.dtype) * score, math.log(2))
    return jnp.sum(loss, 1, keepdims=True).astype(input.dtype)


@composite(
    method=False,
    cases=[
        "f(4,3), idx(5,4), 5, f(4,3)",
        "f(4,3), idx(5,4), 5, f(4,3), f(4)",
        "f(4,3), idx(5,4,1), 5, f(4,3), f(4,1)",
        "d(2,3), const([1,0]), 2, d(1,3)",
        (
            "f(2,3), idx(5,2), 5, f(4,3), path_table=const([[0,1,-1],[0,2,3]]), "
            "path_code=const([[1,0,-1],[0,1,1]])"
        ),
        "f(4,3), idx(5,4), 1, f(4,3)",
    ],
)
def hsigmoid_loss(
    input: Tensor,
    label: Tensor,
    num_classes: int,
    weight: Tensor,
    bias: Tensor | None = None,
    path_table: Tensor | None = None,
    path_code: Tensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Hierarchical sigmoid: cross entropy of the left-or-right decisions on the way from the root of a binary
    tree to the class.

    Args:
        input: Tensor [N, D].
        label: int Tensor [N] or [N, 1].
        num_classes: int, at least 2.
        weight: Tensor [num_classes - 1, D], a row for each inner node.
        bias: Tensor [num_classes - 1] or [num_classes - 1, 1], or None.
        path_table, path_code: int Tensors [N, L] for a tree of one's own: nodes on the way of each sample,
            ended by negative numbers, and the decision (0 or 1) at each. Default: the complete binary tree.
        is_sparse: accepted; gradients are dense arrays here.
    Returns:
        Tensor [N, 1].
    Raises:
        ValueError: num_classes is below 2 or a label does not exist.
    Example:
        >>> loss = paddle.nn.functional.hsigmoid_loss(paddle.zeros([1, 3]), paddle.to_tensor([0]), 2,
        ...                                           paddle.zeros([1, 3]))
        >>> round(loss.item(), 4)
        0.6931

    See: Morin and Bengio, Hierarchical Probabilistic Neural Network Language Model, 2005.
    """
    if num_classes < 2:
        raise ValueError(f"hsigmoid_loss: num_classes: got {num_classes}; it must be at least 2")
    if path_table is None:
        check_ids("hsigmoid_loss", "label", label, num_classes)
    check_equal_dtypes("hsigmoid_loss", input, weight, bias)
    return _tree_loss(input, label, weight, bias, path_table, path_code, int(num_classes))


def _margin_scores(
    logits: jax.Array,
    label: jax.Array,
    margin1: float,
    margin2: float,
    margin3: float,
    scale: float,
) -> tuple[jax.Array, jax.Array]:
    """(scaled cosines with the margins, which of them are of the label). A label outside has no column."""
    is_label = jax.nn.one_hot(label.reshape(-1), logits.shape[1], dtype=bool)
    # Other classes have 0, whose arccos has a finite slope.
    cos = jnp.clip(jnp.where(is_label, logits, 0), -1, 1)
    # ArcFace (Deng and others, 2019) in its general form, with three margins.
    moved = jnp.cos(margin1 * jnp.arccos(cos) + margin2) - margin3
    return scale * jnp.where(is_label, moved, logits), is_label


@known_as(amp="margin_cross_entropy")
@op("logits label", method=False, register=False)
def _scores_of_part(
    logits: jax.Array,
    label: jax.Array,
    margin1: float,
    margin2: float,
    margin3: float,
    scale: float,
) -> tuple[jax.Array, jax.Array]:
    return _margin_scores(logits, label, margin1, margin2, margin3, scale)


@known_as(amp="margin_cross_entropy", code="decomposed_losses:sphere")
@op("logits label", method=False, register=False)
def _sphere_margin(
    logits: jax.Array,
    label: jax.Array,
    margin1: float,
    margin2: float,
    margin3: float,
    scale: float,
    reduction: str | None,
) -> Any:
    scores, is_label = _margin_scores(logits, label, margin1, margin2, margin3, scale)
    logs = jax.nn.log_softmax(scores, -1)
    loss = -jnp.sum(jnp.where(is_label, logs, 0), 1, keepdims=True)
    return (loss if reduction is None else reduced("margin_cross_entropy", loss, reduction)), jnp.exp(logs)


@composite(
    method=False,
    cases=[
        "u(-.9,.9,2,4), idx(4,2)",
        "u(-.9,.9,2,4), idx(4,2), 0.9, .2, .1, 8., reduction='none', return_softmax=True",
        "ud(-.9,.9,2,4), idx(4,2,1), reduction='sum'",
    ],
)
def margin_cross_entropy(
    logits: Tensor,
    label: Tensor,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float | None = 64.0,
    group: Any = None,
    return_softmax: bool = False,
    reduction: Any = "mean",
) -> Any:
    """Cross entropy of scaled cosines where the true class has to win by a margin: cos(margin1 t + margin2) -
    margin3 instead of cos(t).

    Args:
        logits: Tensor [N, C]: cosines between features and class centres.
        label: int Tensor [N] or [N, 1]. With several processes: numbers of all classes, the same labels on
            each process.
        margin1, margin2, margin3: factor, angle and cosine margins.
        scale: factor of the cosines.
        group: the Group whose processes have the classes, each those of its columns, in order of rank.
            Default None: all processes. False: this process has all classes.
        return_softmax: also return the softmax of the scaled cosines.
        reduction: "mean", "sum", "none" or None.
    Returns:
        Tensor: 0-D, or [N, 1] for "none"; with return_softmax a tuple.
    Raises:
        ValueError: a label does not exist or reduction is something else.
    Example:
        >>> loss = paddle.nn.functional.margin_cross_entropy(paddle.zeros([1, 2]), paddle.to_tensor([0]),
        ...                                                  margin2=0.0)
        >>> round(loss.item(), 4)
        0.6931

    See: Deng et al., ArcFace, 2018, equation 4.
    """
    members = group_of_classes("margin_cross_entropy", group)
    settings = (float(margin1), float(margin2), float(margin3), float(scale))
    if members is None:
        check_ids("margin_cross_entropy", "label", label, logits.shape[1])
        loss, probabilities = _sphere_margin(logits, label, *settings, reduction)
    else:
        counts = counts_of_all(members, logits.shape[1])[:, 0]
        # Labels count over the classes of all processes; the scores are only those of this one.
        check_ids("margin_cross_entropy", "label", label, int(counts.sum()))
        scores, is_label = _scores_of_part(logits, label - int(counts[: members.rank].sum()), *settings)
        losses, probabilities = divided_cross_entropy(scores, is_label, members)
        loss = reduced_losses("margin_cross_entropy", losses, reduction)
    if return_softmax:
        return (loss, probabilities)
    return loss


@known_as(amp="log_softmax", code="decomposed_losses:clusters")
@op("input label head_weight head_bias *tails", method=False, register=False)
def _clustered(
    input: jax.Array,
    label: jax.Array,
    head_weight: jax.Array,
    head_bias: jax.Array | None = None,
    tails: Any = (),
    cutoffs: Sequence[int] = (),
) -> tuple[jax.Array, jax.Array]:
    if label.dtype.kind not in "iu":
        raise ValueError(
            f"adaptive_log_softmax_with_loss: label: got {label.dtype}; it must have integers; "
            "cast it with astype"
        )
    logs = input @ head_weight
    logs = jax.nn.log_softmax(logs if head_bias is None else logs + head_bias, -1)
    shortlist = cutoffs[0]
    # The label may be in a cluster, and is clipped before the lookup.
    out = jnp.take_along_axis(logs, jnp.clip(label, 0, shortlist - 1)[:, None], 1)[:, 0]
    for k, (first, end) in enumerate(zip(cutoffs, cutoffs[1:], strict=False)):
        # A narrow product in between: rare classes get a smaller width (Grave and others, 2017).
        inner = jax.nn.log_softmax((input @ tails[2 * k]) @ tails[2 * k + 1], -1)
        own = jnp.take_along_axis(inner, jnp.clip(label - first, 0, end - first - 1)[:, None], 1)[:, 0]
        # log P(cluster) + log P(class in the cluster).
        out = jnp.where((label >= first) & (label < end), own + logs[:, shortlist + k], out)
    return out, -jnp.mean(out)


@composite(
    method=False,
    cases=[
        "f(4,6), const([0,3,6,7]), f(6,4), [[f(6,3),f(3,3)],[f(6,2),f(2,3)]], [2,5,8]",
        "f(4,6), const([0,3,6,7]), f(6,4), [[f(6,3),f(3,3)],[f(6,2),f(2,3)]], [2,5,8], f(4)",
        "f(6), const(3), f(6,4), [[f(6,3),f(3,3)],[f(6,2),f(2,3)]], [2,5,8]",
        "f(4,6), const([0,3,6,9]), f(6,4), [[f(6,3),f(3,3)],[f(6,2),f(2,3)]], [2,5,8]",
        "f(4,6), const([[0,3]]), f(6,4), [], [2]",
    ],
)
def adaptive_log_softmax_with_loss(
    input: Tensor,
    label: Tensor,
    head_weight: Tensor,
    tail_weights: Sequence[Any],
    cutoffs: Sequence[int],
    head_bias: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Log softmax over frequent classes and clusters of rare ones, evaluated at the labels.

    Args:
        input: Tensor [N, D] or [D].
        label: int Tensor [N] or 0-D.
        head_weight: Tensor [D, shortlist + clusters].
        tail_weights: for each cluster a list of two Tensors [D, h] and [h, classes of the cluster].
        cutoffs: ascending ints: end of the shortlist, then of each cluster; the last is the
            number of classes.
        head_bias: Tensor [shortlist + clusters], or None.
    Returns:
        (log probability of each label, mean of their negatives).
    Raises:
        ValueError: shapes do not fit or a label does not exist.
    Example:
        >>> x, w = paddle.zeros([1, 2]), paddle.zeros([2, 2])
        >>> out, loss = paddle.nn.functional.adaptive_log_softmax_with_loss(x, paddle.to_tensor([0]), w, [],
        ...                                                                 [2])
        >>> round(loss.item(), 4)
        0.6931

    See: Grave et al., Efficient softmax approximation for GPUs, 2016.
    """
    if label.ndim > 1 or input.ndim != label.ndim + 1 or list(input.shape[:-1]) != list(label.shape):
        raise ValueError(
            f"adaptive_log_softmax_with_loss: label: got shape {list(label.shape)} for input "
            f"{list(input.shape)}; use [N] with [N, D] or 0-D with [D]"
        )
    cutoffs = tuple(int(c) for c in cutoffs)
    check_ids("adaptive_log_softmax_with_loss", "label", label, cutoffs[-1])
    single = label.ndim == 0
    # A flat list: operands of an operation are not nested.
    tails = [w for pair in tail_weights for w in pair]
    out, loss = _clustered(
        input.unsqueeze(0) if single else input,
        label.unsqueeze(0) if single else label,
        head_weight,
        head_bias,
        tails,
        cutoffs,
    )
    return (out.squeeze(0) if single else out), loss


@composite(method=False, cases=["const([11,5,1,3,12,2,15,19,18,19]), 20, 6", "~const([1,1,3]), 20, 6"])
def class_center_sample(
    label: Tensor, num_classes: int, num_samples: int, group: Any = None
) -> tuple[Tensor, Tensor]:
    """Picks the classes that occur in label and random others, up to num_samples, and renumbers the
    labels accordingly.

    Args:
        label: int Tensor [N].
        num_classes: int, or a Tensor of one.
        num_samples: int, how many classes to keep (all that occur are kept in any case).
        group: the Group whose processes have the classes, in order of rank. Labels are numbers of all
            classes then, the same on each process; `num_classes` and `num_samples` are those of this
            process. Default None: all processes. False: this process has all classes.
    Returns:
        (labels as positions in the picked classes of all processes [N], picked classes of this process).
    Raises:
        ValueError: a label does not exist or num_samples exceeds num_classes.
    Example:
        >>> new, picked = paddle.nn.functional.class_center_sample(paddle.to_tensor([7, 5]), 10, 2)
        >>> new.tolist(), picked.tolist()
        ([1, 0], [5, 7])

    See: An et al., Partial FC, 2020.
    """
    num_classes = number("class_center_sample", num_classes, "num_classes")
    if num_samples > num_classes:
        raise ValueError(
            f"class_center_sample: num_samples: got {num_samples}; there are only {num_classes} classes"
        )
    members = group_of_classes("class_center_sample", group)
    if members is None:
        counts = np.array([[num_classes, num_samples]])
        rank = 0
    else:
        counts = counts_of_all(members, num_classes, num_samples)
        rank = members.rank
    # Each process has the classes from one of these numbers to the next.
    starts = np.concatenate([[0], np.cumsum(counts[:, 0])])
    check_ids("class_center_sample", "label", label, int(starts[-1]))
    # The number of classes that occur decides lengths, so the host must know them.
    array = host_value(label, "class_center_sample")
    present = np.unique(array)
    # The process whose range of classes has each label.
    owners = np.searchsorted(starts, present, side="right") - 1
    # All classes that occur stay, even when they are more than asked for.
    picked_counts = np.maximum(counts[:, 1], np.bincount(owners, minlength=len(counts)))
    before = np.concatenate([[0], np.cumsum(picked_counts)])
    # Renumbered by rank among the classes that occur on the process that has them.
    positions = before[owners] + np.arange(present.size) - np.searchsorted(owners, owners)
    renumbered = positions[np.searchsorted(present, array)]
    own = (present[owners == rank] - starts[rank]).astype(array.dtype)
    # Other classes of this process fill up the sample.
    rest = np.setdiff1d(np.arange(num_classes, dtype=array.dtype), own)
    drawn = to_numpy(jax.random.permutation(next_key(), rest), "class_center_sample")
    return (
        wrap(jnp.asarray(renumbered.astype(array.dtype))),
        wrap(jnp.asarray(np.concatenate([own, drawn[: picked_counts[rank] - own.size]]))),
    )
