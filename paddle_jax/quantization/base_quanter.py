"""The base of quanters."""

from __future__ import annotations

import abc
from typing import Any

from paddle_jax.nn.layer.layers import Layer


class BaseQuanter(Layer, metaclass=abc.ABCMeta):
    """The base of layers that simulate quantization or watch values: a subclass defines the five methods.

    Example:
        >>> class Same(paddle.quantization.BaseQuanter):
        ...     def forward(self, x): return x
        ...     def scales(self): return paddle.ones([1])
        ...     def zero_points(self): return paddle.zeros([1])
        ...     def quant_axis(self): return -1
        ...     def bit_length(self): return 8
        >>> Same()
        Same()
    """

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def forward(self, input: Any) -> Any:
        """The input after simulated quantization, or as it is."""

    @abc.abstractmethod
    def scales(self) -> Any:
        """Tensor or array: the largest magnitudes that are represented."""

    @abc.abstractmethod
    def zero_points(self) -> Any:
        """Tensor or array: the integers that stand for 0; None where that is 0."""

    @abc.abstractmethod
    def quant_axis(self) -> Any:
        """int: the axis of the channels that have scales of their own, -1 for one scale."""

    @abc.abstractmethod
    def bit_length(self) -> Any:
        """int: the number of bits."""
