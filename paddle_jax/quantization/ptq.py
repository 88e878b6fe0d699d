"""Quantization after training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.quantization.quantize import Quantization

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


class PTQ(Quantization):
    """Quantization after training: observers watch a few batches, then `convert` fixes the scales.

    Args:
        config: QuantConfig.
    Raises:
        AssertionError: `quantize` gets a model in training mode.
    Differs from Paddle: `paddle.quantization.observers` is there without an import of its own.
    Example:
        >>> observer = paddle.quantization.observers.AbsmaxObserver()
        >>> ptq = paddle.quantization.PTQ(paddle.quantization.QuantConfig(activation=observer,
        ...                                                               weight=observer))
        >>> ptq.quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 2)).eval())
        Sequential(
          (0): QuantedLinear(
            (weight_quanter): AbsmaxObserverLayer()
            (activation_quanter): AbsmaxObserverLayer()
          )
        )
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """Puts observers on weights and inputs.

        Args:
            model: Layer in evaluation mode.
            inplace: change it, instead of a copy.
        Returns:
            Layer; call it on data that are like those to come, then `convert` it.
        Raises:
            AssertionError: the model is in training mode.
        """
        if model.training:
            raise AssertionError("PTQ.quantize: model: got one in training mode; call model.eval() first")
        return self._prepared(model, inplace)
