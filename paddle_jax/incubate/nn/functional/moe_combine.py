"""Sums of what experts computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.manipulation import reshape

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def moe_combine(x: Tensor, combine_weights: Tensor, scatter_index: Tensor, name: str | None = None) -> Tensor:
    """For each token the weighted sum of k rows of x.

    Args:
        x: Tensor [rows, n], what the experts computed.
        combine_weights: Tensor [tokens, k].
        scatter_index: int Tensor [tokens, k]: the rows.
    Returns:
        Tensor [tokens, n].
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x, weights = paddle.to_tensor([[1.0], [10.0]]), paddle.to_tensor([[0.5, 0.5], [1.0, 0.0]])
        >>> paddle.incubate.nn.functional.moe_combine(
        ...     x, weights, paddle.to_tensor([[0, 1], [1, 0]], dtype="int32")).tolist()
        [[5.5], [10.0]]
    """
    if x.ndim != 2 or combine_weights.ndim != 2 or list(combine_weights.shape) != list(scatter_index.shape):
        raise ValueError(
            f"moe_combine: got shapes {list(x.shape)}, {list(combine_weights.shape)} and "
            f"{list(scatter_index.shape)}; they must be [rows, n], [tokens, k] and [tokens, k]"
        )
    rows = reshape(gather(x, reshape(scatter_index, [-1])), [*scatter_index.shape, x.shape[1]])
    return (rows * combine_weights.unsqueeze(-1)).sum(1)
