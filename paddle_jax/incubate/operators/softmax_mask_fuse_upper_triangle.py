"""Softmax of attention scores where later keys are hidden."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from paddle_jax.nn.functional.softmaxes import softmax
from paddle_jax.tensor.creation import full_like
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def softmax_mask_fuse_upper_triangle(x: Tensor) -> Tensor:
    """softmax along the last axis of what is on and below the diagonal; zeros above it.

    Args:
        x: Tensor [batch, heads, queries, keys], floating; as many queries as keys.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: x has another number of axes, or queries and keys differ.
    Example:
        >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2])).tolist()
        [[[[1.0, 0.0], [0.5, 0.5]]]]

    Differs from Paddle: works on the CPU.
    """
    if x.ndim != 4 or x.shape[2] != x.shape[3]:
        raise ValueError(
            f"softmax_mask_fuse_upper_triangle: x: got shape {list(x.shape)}; "
            "it must be [batch, heads, length, length]"
        )
    places = arange(x.shape[3])
    return softmax(where(places.unsqueeze(1) >= places, x, full_like(x, -math.inf)))
