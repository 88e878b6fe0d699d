"""Dropout and the addition after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.incubate.nn.functional import fused_dropout_add
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class FusedDropoutAdd(Layer):
    """Computes dropout(x) + y.

    Args:
        p: float between 0 and 1, probability of zeroing an element of x in training.
        mode: "upscale_in_train" divides what is left by 1 - p; "downscale_in_infer" multiplies by 1 -
            p in evaluation.
    Raises:
        ValueError: p or mode is not allowed (when called).
    Example:
        >>> layer = paddle.incubate.nn.FusedDropoutAdd(0.5).eval()
        >>> layer(paddle.ones([2]), paddle.ones([2])).tolist()
        [2.0, 2.0]
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.mode = mode
        self.name = name

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return fused_dropout_add(x, y, p=self.p, training=self.training, mode=self.mode, name=self.name)

    def extra_repr(self) -> str:
        return show(self.name, p=self.p, mode=self.mode)
