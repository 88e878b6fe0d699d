"""Dropout and the addition after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.drop import dropout

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fused_dropout_add(
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    p: Any = 0.5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """dropout(x) + y.

    Args:
        x, y: Tensors of one shape.
        p: probability of zeroing an element of x.
        training: False drops nothing.
        mode: "upscale_in_train" or "downscale_in_infer", as for `paddle.nn.functional.dropout`.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: p or mode is out of range.
        TypeError: p is no number.
    Example:
        >>> x = paddle.ones([2])
        >>> paddle.incubate.nn.functional.fused_dropout_add(x, x, 0.5, training=False).tolist()
        [2.0, 2.0]
    """
    return dropout(x, p, training=training, mode=mode) + y
