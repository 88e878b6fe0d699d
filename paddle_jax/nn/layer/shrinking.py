"""Activations that bring small values to zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.helpers import alias, linked, show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class Hardshrink(Layer):
    """Computes x where |x| > threshold, 0 elsewhere.

    Args:
        threshold: float; `lambd` is accepted as a name.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Hardshrink()(x) == paddle.nn.functional.hardshrink(x)).all())
        True
    """

    @alias(lambd="threshold")
    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    lambd: property = linked("_threshold", "The threshold, under its other name.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.hardshrink(x, self._threshold)

    def extra_repr(self) -> str:
        return show(self._name, threshold=self._threshold)


class Softshrink(Layer):
    """Computes x moved towards 0 by threshold, 0 where |x| <= threshold.

    Args:
        threshold: float; `lambd` is accepted as a name.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Softshrink()(x) == paddle.nn.functional.softshrink(x)).all())
        True
    """

    @alias(lambd="threshold")
    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    lambd: property = linked("_threshold", "The threshold, under its other name.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.softshrink(x, self._threshold)

    def extra_repr(self) -> str:
        return show(self._name, threshold=self._threshold)


class ThresholdedReLU(Layer):
    """Computes x where x > threshold, value elsewhere.

    Args:
        threshold: float.
        value: float.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.ThresholdedReLU()(x) == paddle.nn.functional.thresholded_relu(x)).all())
        True
    """

    def __init__(self, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._value = value
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.thresholded_relu(x, self._threshold, self._value)

    def extra_repr(self) -> str:
        return show(self._name, threshold=self._threshold, value=self._value)
