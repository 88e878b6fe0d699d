"""Losses over alignments of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.size import index_range
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.functional.reduce_loss import check_reduction, reduced
from paddle_jax.tensor.axes import check_index, guarded, may_be_outside

if TYPE_CHECKING:
    from paddle_jax._annotations import Reduction


@op("labels lengths", method=False, register=False, nondiff=True)
def _used(labels: jax.Array, lengths: jax.Array) -> jax.Array:
    """The labels within their lengths, and 0 in place of the padding."""
    return jnp.where(index_range(labels.shape[1]) < lengths[:, None], labels, 0)


def _check_sequences(
    op_name: str, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, frames: Any, classes: Any
) -> None:
    """Refuses lengths beyond the arrays, and labels that are no classes."""
    # The check of the shapes comes later, with a message of its own.
    if labels.ndim != 2 or not labels.shape[:1] == input_lengths.shape == label_lengths.shape:
        return  # the op says so itself
    check_index(op_name, input_lengths, frames + 1, ValueError, low=0, name="input_lengths")
    check_index(op_name, label_lengths, labels.shape[1] + 1, ValueError, low=0, name="label_lengths")
    # Padding may hold any number, so it is replaced before the check.
    if may_be_outside(labels, classes):
        check_index(op_name, _used(labels, label_lengths), classes, ValueError, low=0, name="labels")


def _check_ctc(
    log_probs: Tensor | None = None,
    labels: Tensor | None = None,
    input_lengths: Tensor | None = None,
    label_lengths: Tensor | None = None,
    *_: Any,
    **__: Any,
) -> None:
    operands = (log_probs, labels, input_lengths, label_lengths)
    # The op itself refuses what has the wrong form.
    if all(isinstance(value, Tensor) for value in operands) and log_probs.ndim == 3:
        frames, _batch, classes = log_probs.shape
        _check_sequences("ctc_loss", labels, input_lengths, label_lengths, frames, classes)


def _check_rnnt(
    input: Tensor | None = None,
    label: Tensor | None = None,
    input_lengths: Tensor | None = None,
    label_lengths: Tensor | None = None,
    *_: Any,
    **__: Any,
) -> None:
    operands = (input, label, input_lengths, label_lengths)
    if all(isinstance(value, Tensor) for value in operands) and input.ndim == 4:
        _batch, frames, _labels, classes = input.shape
        _check_sequences("rnnt_loss", label, input_lengths, label_lengths, frames, classes)


@guarded(_check_ctc)
@known_as(code="sequence_losses:ctc")
@op(
    "log_probs labels input_lengths label_lengths",
    method=False,
    cases=[
        "f(5,2,4), const([[1,2],[3,1]],'int32'), const([5,4]), const([2,1])",
        "f(5,2,4), const([[1,2],[3,1]],'int32'), const([5,4]), const([2,1]), reduction='none'",
        "f(5,2,4), const([[1,2],[3,1]],'int32'), const([5,4]), const([2,1]), reduction='sum'",
        (
            "f(5,2,4), const([[1,1],[3,1]],'int32'), const([5,4]), const([2,1]), reduction='none', "
            "norm_by_times=True"
        ),
        "f(2,2,4), const([[1,1],[3,1]],'int32'), const([2,2]), const([2,1]), reduction='none'",
        "f(5,2,4), const([[1,2],[3,1]],'int32'), const([5,4]), const([2,1]), blank=3, reduction='none'",
        "f(5,2,4), const([[1,2],[3,1]],'int32'), const([5,4]), const([2,1]), blank=5",
        "d(6,1,5), const([[1,2,2]],'int32'), const([6]), const([3])",
    ],
)
def ctc_loss(
    log_probs: jax.Array,
    labels: jax.Array,
    input_lengths: jax.Array,
    label_lengths: jax.Array,
    blank: int = 0,
    reduction: Reduction = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> jax.Array:
    """Connectionist temporal classification: -log of the probability of all alignments of the labels.

    Args:
        log_probs: Tensor [T, N, C]: scores; the log softmax over C is taken here.
        labels: int Tensor [N, L], padded at the end.
        input_lengths, label_lengths: int Tensors [N].
        blank: int, the class that stands for nothing.
        reduction: "mean" (each loss divided by its label length, then averaged), "sum" or "none".
        norm_by_times: divide the gradient (not the loss) by the input length.
        zero_infinity: accepted; sequences that are too short for their labels always count 0, as in Paddle.
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: blank or a label is not a class, a length is out of range, reduction is something else, or
            the shapes do not go together.
    Example:
        >>> scores = paddle.zeros([1, 1, 2]); one = paddle.to_tensor([1])
        >>> round(paddle.nn.functional.ctc_loss(scores, paddle.to_tensor([[1]], dtype="int32"), one,
        ...                                     one).item(), 4)
        0.6931

    See: Graves et al., Connectionist Temporal Classification, 2006.
    """
    import optax

    check_reduction("ctc_loss", reduction)
    if log_probs.ndim != 3 or 0 in log_probs.shape or not jnp.issubdtype(log_probs.dtype, jnp.floating):
        raise ValueError(
            f"ctc_loss: log_probs: got {log_probs.dtype}{list(log_probs.shape)}; "
            "it must be floating [T, N, classes], and not empty"
        )
    if not 0 <= blank < log_probs.shape[2]:
        raise ValueError(f"ctc_loss: blank: got {blank}; it must be one of the {log_probs.shape[2]} classes")
    batch = log_probs.shape[1:2]
    if labels.ndim != 2 or not labels.shape[:1] == input_lengths.shape == label_lengths.shape == batch:
        names = {"labels": labels, "input_lengths": input_lengths, "label_lengths": label_lengths}
        shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in names.items())
        raise ValueError(
            f"ctc_loss: got {shapes} for scores of shape {list(log_probs.shape)}; "
            f"they must be [N, L], [N] and [N] with N = {batch[0]}"
        )
    frames = log_probs.shape[0]
    count = labels.shape[1]
    # optax wants marks of padding, Paddle has lengths.
    beyond = (index_range(frames) >= input_lengths[:, None]).astype(log_probs.dtype)
    unused = (index_range(count) >= label_lengths[:, None]).astype(log_probs.dtype)
    # A blank must stand between equal neighbours, so each pair takes one frame more.
    repeats = jnp.sum((labels[:, 1:] == labels[:, :-1]) & (unused[:, 1:] == 0), 1)
    loss = optax.ctc_loss(jnp.swapaxes(log_probs, 0, 1), beyond, labels, unused, blank_id=blank)
    # No alignment is possible: Paddle's loss is 0 there.
    loss = jnp.where(label_lengths + repeats > input_lengths, 0, loss).astype(log_probs.dtype)
    if norm_by_times:
        # Without frames the loss is 0.
        part = loss / jnp.maximum(input_lengths, 1)
        # As in Paddle the gradient alone is divided by the frames, the value stays. The difference comes
        # first: it is exactly 0.
        loss = (lax.stop_gradient(loss) + (part - lax.stop_gradient(part))).astype(log_probs.dtype)
    if reduction == "mean":
        return jnp.mean(loss / jnp.maximum(label_lengths, 1)).astype(log_probs.dtype)
    return reduced("ctc_loss", loss, reduction)


@guarded(_check_rnnt)
@known_as(code="sequence_losses:rnnt")
@op(
    "input label input_lengths label_lengths",
    method=False,
    cases=[
        (
            "f(2,4,3,5), const([[1,2],[1,2]],'int32'), const([4,4],'int32'), const([2,2],'int32'), "
            "reduction='none'"
        ),
        (
            "f(2,4,3,5), const([[1,2],[1,2]],'int32'), const([4,3],'int32'), const([2,1],'int32'), "
            "fastemit_lambda=0.0"
        ),
        (
            "f(2,4,3,5), const([[1,4],[1,3]],'int32'), const([4,4],'int32'), "
            "const([2,2],'int32'), reduction='sum', "
            "blank=2, fastemit_lambda=0.0"
        ),
        "f(2,4,3,5), const([[1,2],[1,2]],'int32'), const([4,4],'int32'), const([2,2],'int32'), reduction='x'",
    ],
)
def rnnt_loss(
    input: jax.Array,
    label: jax.Array,
    input_lengths: jax.Array,
    label_lengths: jax.Array,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> jax.Array:
    """Transducer loss: -log of the probability of all ways through the grid of frames and labels.

    Args:
        input: Tensor [N, T, U + 1, C]: logarithms of probabilities.
        label: int Tensor [N, U].
        input_lengths, label_lengths: int Tensors [N].
        blank: int, the class that moves on in time.
        fastemit_lambda: the gradient of emitting labels is multiplied by 1 + this.
        reduction: "mean" over the batch, "sum" or "none".
    Returns:
        Tensor: 0-D, or [N] for "none".
    Raises:
        ValueError: blank or a label is not a class, or a length is out of range.
        AssertionError: reduction is something else.
    Example:
        >>> x = paddle.log(paddle.full([1, 1, 2, 2], 0.5)); one = paddle.to_tensor([1], dtype="int32")
        >>> round(paddle.nn.functional.rnnt_loss(x, paddle.to_tensor([[1]], dtype="int32"), one, one).item(),
        ...       4)
        1.3863

    See: Graves, Sequence Transduction with Recurrent Neural Networks, 2012; Yu et al., FastEmit, 2020.
    """
    if reduction not in ("none", "mean", "sum"):
        raise AssertionError(f"rnnt_loss: reduction: got {reduction!r}; allowed are 'none', 'mean' and 'sum'")
    if input.ndim != 4 or 0 in input.shape:
        raise ValueError(
            f"rnnt_loss: input: got shape {list(input.shape)}; it must be [N, T, U + 1, "
            "classes], and not empty"
        )
    lengths = {"input_lengths": input_lengths, "label_lengths": label_lengths}
    for name, value in {"label": label, **lengths}.items():
        if name in lengths:
            wanted = (input.shape[0],)
        else:
            wanted = (input.shape[0], input.shape[2] - 1)
        if value.shape != wanted or value.dtype.kind not in "iu":
            raise ValueError(
                f"rnnt_loss: {name}: got {value.dtype}{list(value.shape)}; "
                f"it must have integers of shape {list(wanted)}"
            )
    if not 0 <= blank < input.shape[3]:
        raise ValueError(f"rnnt_loss: blank: got {blank}; it must be one of the {input.shape[3]} classes")
    # The two moves on the grid: to the next frame, and to the next label.
    stay = input[..., blank]
    emit = jnp.take_along_axis(
        input[:, :, :-1], jnp.broadcast_to(label[:, None, :, None], (*input.shape[:2], label.shape[1], 1)), 3
    )[..., 0]
    # FastEmit (Yu and others, 2021): the gradient of emissions counts more, the value stays.
    emit = emit * (1 + fastemit_lambda) - lax.stop_gradient(emit * fastemit_lambda)
    loss = jax.vmap(_grid)(stay, emit, input_lengths, label_lengths)
    return reduced("rnnt_loss", loss, reduction)


def _grid(stay: jax.Array, emit: jax.Array, frames: Any, count: Any) -> jax.Array:
    """-log probability of one sample: stay [T, U + 1] moves on in time, emit [T, U] along the labels."""
    # The ways along the labels of one frame are a running product: sums of logs.
    climbs = jnp.concatenate([jnp.zeros((emit.shape[0], 1), emit.dtype), jnp.cumsum(emit, 1)], 1)

    def step(row: Any, now: Any) -> tuple[jax.Array, jax.Array]:
        climb, before = now
        # alpha[t, u] as one cumulative sum in place of a loop over u.
        row = climb + lax.cumlogsumexp(row + before - climb)
        return row, row

    first = climbs[0]
    _, rest = lax.scan(step, first, (climbs[1:], stay[:-1]))
    rows = jnp.concatenate([first[None], rest])
    # The last step leaves the grid by a blank.
    return -(rows[frames - 1, count] + stay[frames - 1, count])
