"""A convolution with simulated quantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn import functional as F
from paddle_jax.nn.quant.format import ConvertibleQuantedLayer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.quantization.config import SingleLayerConfig


class QuantedConv2D(ConvertibleQuantedLayer):
    """A `Conv2D` whose weight and input are quantized; weight and bias are those of the given layer.

    Args:
        layer: Conv2D.
        q_config: SingleLayerConfig with the factories of the quanters, or None for none.
    Attributes:
        _groups, _stride, _padding, _padding_mode, _dilation, _data_format: those of the layer that this one
            replaces.
        _reversed_padding_repeated_twice: list of ints or None, that of the layer.
        weight, bias: Parameter of the layer.
        weight_quanter, activation_quanter: Layer that rounds the weights, or the input; None for none.
    """

    def __init__(self, layer: Layer, q_config: SingleLayerConfig) -> None:
        super().__init__()
        self._groups = layer._groups
        self._stride = layer._stride
        self._padding = layer._padding
        self._padding_mode = layer._padding_mode
        if self._padding_mode != "zeros":
            self._reversed_padding_repeated_twice = layer._reversed_padding_repeated_twice
        self._dilation = layer._dilation
        self._data_format = layer._data_format
        self.weight: Any = layer.weight
        self.bias: Any = layer.bias
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
        return self._conv_forward(x, weight)

    def _conv_forward(self, inputs: Tensor, weights: Tensor) -> Tensor:
        padding = self._padding
        if self._padding_mode != "zeros":
            inputs = F.pad(
                inputs,
                self._reversed_padding_repeated_twice,
                mode=self._padding_mode,
                data_format=self._data_format,
            )
            padding = 0
        return F.conv2d(
            inputs,
            weights,
            bias=self.bias,
            padding=padding,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]
