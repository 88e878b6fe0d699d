"""A loss that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def identity_loss(x: Tensor, reduction: Any = "none") -> Tensor:
    """Marks a computed value as the loss: its sum, its mean, or itself.

    Args:
        x: Tensor [...], floating.
        reduction: "sum" or 0, "mean" or 1, "none" or 2.
    Returns:
        Tensor [], or [...] with "none".
    Raises:
        TypeError: reduction is a text that is not one of these. ValueError: it is another number.
    Example:
        >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
        2.0
    """
    names = ["sum", "mean", "none"]
    if isinstance(reduction, str):
        if reduction.lower() not in names:
            raise TypeError(
                f"identity_loss: reduction: got {reduction!r}; allowed are 'sum', 'mean' and 'none'"
            )
        reduction = names.index(reduction.lower())
    if reduction not in (0, 1, 2):
        raise ValueError(
            f"identity_loss: reduction: got {reduction}; allowed are 0 for the sum, 1 for the "
            "mean and 2 for neither"
        )
    if reduction == 2:
        # Not x: a result has a node of its own.
        return x * 1
    if reduction == 0:
        return x.sum()
    return x.mean()
