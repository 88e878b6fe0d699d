"""Dropout of elements or of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.drop import dropout
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class FusedDropout(Layer):
    """Sets each element, or slices along axes, to zero with probability p, in training.

    Args:
        p: float between 0 and 1.
        axis: int or list of ints: drop whole slices, drawn independently along these axes only.
        mode: "upscale_in_train" divides what is left by 1 - p; "downscale_in_infer" multiplies by 1 -
            p in evaluation.
    Raises:
        ValueError: p or mode is not allowed.
    Example:
        >>> layer = paddle.incubate.nn.FusedDropout(0.5).eval(); layer(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    def __init__(
        self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__()
        if not isinstance(p, int | float):
            raise TypeError(f"FusedDropout: p: got {type(p).__name__}; it must be a number")
        if not 0 <= p <= 1:
            raise ValueError(f"FusedDropout: p: got {p}; a probability lies between 0 and 1")
        if mode not in ("upscale_in_train", "downscale_in_infer"):
            raise ValueError(
                f"FusedDropout: mode: got {mode!r}; allowed are 'upscale_in_train' and 'downscale_in_infer'"
            )
        self.p = p
        self.mode = mode
        self.name = name
        if axis is None:
            self.axis = axis
        elif isinstance(axis, int):
            self.axis = [axis]
        else:
            self.axis: list[Any] | list[int] | None = list(axis)

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, axis=self.axis, training=self.training, mode=self.mode)

    def extra_repr(self) -> str:
        return show(self.name, p=self.p, axis=self.axis, mode=self.mode)
