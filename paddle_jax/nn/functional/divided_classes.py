"""Classes that are divided among processes: each process has the centres of some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.process_group import collectives
from paddle_jax._core.process_group.registry import Groups
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.nn.functional.reduce_loss import check_reduction

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class _Sum(PyLayer):
    """The sum over the processes of a group. Each of them goes on with it, so its gradient is that of each
    part."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Any) -> Tensor:
        return wrap(
            group.process_group.all_reduce(x._value, collectives.SUM, "margin_cross_entropy: all_reduce")
        )

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> Tensor:
        return cotangent


def group_of_classes(op_name: str, group: Any) -> Any:
    """The group that classes are divided among, or None where this process has all of them.

    Args:
        op_name: the operation, for messages.
        group: as the user gave it: None for all processes, False for this process alone, or a Group.
    Raises:
        ValueError: `group` is something else, or a Group without this process.
    """
    # False asks for no division, also where groups exist.
    if group is False:
        return None
    if group is None:
        # Number 0 is the group of all processes, if there is one.
        group = Groups.known.get(0)
        if group is None or not group.is_member():
            return None
        return group
    if not hasattr(group, "is_member"):
        raise ValueError(f"{op_name}: group: got {group!r}; use None, False or a Group of new_group")
    if group.rank < 0:
        raise ValueError(
            f"{op_name}: group: got a Group of the ranks {group.ranks}, without this process; "
            "call it on members alone"
        )
    if not group.is_member():
        return None
    return group


def counts_of_all(group: Any, *numbers: int) -> np.ndarray:
    """The numbers of each process of a group, a row for each."""
    own = np.asarray(numbers, np.int64)
    return np.asarray(group.process_group.all_gather(own, "numbers of classes: all_gather"))


def divided_cross_entropy(scores: Tensor, is_label: Tensor, group: Any) -> tuple[Tensor, Tensor]:
    """The cross entropy of scores of which each process has the columns of its classes.

    Args:
        scores: Tensor [N, classes of this process].
        is_label: bool Tensor of that shape, whether the class is that of the row.
        group: Group.
    Returns:
        (losses [N, 1], the columns of this process of the softmax, without a gradient).
    """
    dtype = scores.dtype
    # Sums over many classes lose most of their digits in half precision.
    if numpy_dtype(scores).itemsize < 4:
        scores = scores.astype("float32")
    # The largest score cancels in the loss, so it needs no gradient.
    own_largest = scores.detach().max(axis=1, keepdim=True)
    # All processes shift by one number, so that their exponentials fit together.
    largest = wrap(
        group.process_group.all_reduce(
            own_largest._value, collectives.MAX, "margin_cross_entropy: largest: all_reduce"
        )
    )
    shifted = scores - largest
    exponents = shifted.exp()
    # Sums over the classes of all processes.
    total = _Sum.apply(exponents.sum(axis=1, keepdim=True), group)
    of_label = _Sum.apply((shifted * is_label.astype(shifted.dtype)).sum(axis=1, keepdim=True), group)
    loss = total.log() - of_label
    return loss.astype(dtype), (exponents / total).detach().astype(dtype)


def reduced_losses(op_name: str, losses: Tensor, reduction: str | None) -> Tensor:
    """Sums or averages losses, or leaves them."""
    if reduction is None:
        return losses
    check_reduction(op_name, reduction)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.mean()
