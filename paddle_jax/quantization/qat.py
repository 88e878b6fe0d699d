"""Quantization-aware training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.quantization.quantize import Quantization

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


class QAT(Quantization):
    """Quantization-aware training: the network learns with rounded weights and inputs, gradients go straight
    through the rounding.

    Args:
        config: QuantConfig.
    Raises:
        AssertionError: `quantize` gets a model in evaluation mode.
    Differs from Paddle: `paddle.quantization.quanters` is there without an import of its own.
    Example:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        >>> qat = paddle.quantization.QAT(paddle.quantization.QuantConfig(activation=quanter, weight=quanter))
        >>> qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 2)))
        Sequential(
          (0): QuantedLinear(
            (weight_quanter): FakeQuanterWithAbsMaxObserverLayer()
            (activation_quanter): FakeQuanterWithAbsMaxObserverLayer()
          )
        )
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """Puts layers with simulated quantization in place of plain ones.

        Args:
            model: Layer in training mode.
            inplace: change it, instead of a copy.
        Returns:
            Layer.
        Raises:
            AssertionError: the model is in evaluation mode.
        """
        if not model.training:
            raise AssertionError("QAT.quantize: model: got one in evaluation mode; call model.train() first")
        return self._prepared(model, inplace)
