"""A linear layer with simulated quantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn import functional as F
from paddle_jax.nn.quant.format import ConvertibleQuantedLayer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.quantization.config import SingleLayerConfig


class QuantedLinear(ConvertibleQuantedLayer):
    """A `Linear` whose weight and input are quantized; weight and bias are those of the given layer.

    Args:
        layer: Linear.
        q_config: SingleLayerConfig with the factories of the quanters, or None for none.
    """

    def __init__(self, layer: Layer, q_config: SingleLayerConfig) -> None:
        super().__init__()
        self.weight: Any = layer.weight
        self.bias: Any = layer.bias
        self.name: Any = layer.name
        if q_config.weight is None:
            self.weight_quanter = None
        else:
            self.weight_quanter: Any = q_config.weight._instance(layer)
        if q_config.activation is None:
            self.activation_quanter = None
        else:
            self.activation_quanter: Any = q_config.activation._instance(layer)

    def forward(self, input: Tensor) -> Tensor:
        if self.activation_quanter is None:
            x = input
        else:
            x = self.activation_quanter(input)
        if self.weight_quanter is None:
            weight = self.weight
        else:
            weight = self.weight_quanter(self.weight)
        return self._linear_forward(x, weight)

    def _linear_forward(self, input: Tensor, weight: Tensor) -> Tensor:
        return F.linear(input, weight, self.bias, name=self.name)

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]
