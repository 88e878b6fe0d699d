"""Softmax of masked attention scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.functional.softmaxes import softmax

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def softmax_mask_fuse(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """softmax(x + mask) along the last axis.

    Args:
        x: Tensor [batch, heads, queries, keys], floating.
        mask: Tensor [batch, 1, queries, keys], added to x; a constant, which has no gradient.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x, mask = paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([0.0, -1e9]).reshape([1, 1, 1, 2])
        >>> paddle.incubate.softmax_mask_fuse(x, mask).flatten().tolist()
        [1.0, 0.0]
    """
    if x.ndim == mask.ndim == 4:
        # -1 is a length that is not known, in a static program.
        alike = [x.shape[i] == mask.shape[i] or -1 in (x.shape[i], mask.shape[i]) for i in (0, 2, 3)]
    else:
        alike = [False]
    if not all(alike) or mask.shape[1] != 1:
        raise ValueError(
            f"softmax_mask_fuse: mask: got shape {list(mask.shape)} for x of shape "
            f"{list(x.shape)}; they must be [batch, 1, queries, keys] and [batch, "
            "heads, queries, keys]"
        )
    # As in the fused kernel, the mask gets no gradient.
    return softmax(x + mask.detach())
