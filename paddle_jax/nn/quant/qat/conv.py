"""A convolution with simulated quantization."""

from paddle_jax.nn import functional as F
from paddle_jax.nn.quant.format import ConvertibleQuantedLayer


class QuantedConv2D(ConvertibleQuantedLayer):
    """A `Conv2D` whose weight and input are quantized; weight and bias are those of the given layer.

    Args:
        layer: Conv2D.
        q_config: SingleLayerConfig with the factories of the quanters, or None for none.
    """

    def __init__(self, layer, q_config):
        super().__init__()
        self._groups, self._stride, self._padding, self._padding_mode = (
            layer._groups,
            layer._stride,
            layer._padding,
            layer._padding_mode,
        )
        if self._padding_mode != "zeros":
            self._reversed_padding_repeated_twice = layer._reversed_padding_repeated_twice
        self._dilation, self._data_format = layer._dilation, layer._data_format
        self.weight, self.bias = layer.weight, layer.bias
        self.weight_quanter = None if q_config.weight is None else q_config.weight._instance(layer)
        self.activation_quanter = (
            None if q_config.activation is None else q_config.activation._instance(layer)
        )

    def forward(self, input):
        x = input if self.activation_quanter is None else self.activation_quanter(input)
        weight = self.weight if self.weight_quanter is None else self.weight_quanter(self.weight)
        return self._conv_forward(x, weight)

    def _conv_forward(self, inputs, weights):
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

    def weights_to_quanters(self):
        return [("weight", "weight_quanter")]

    def activation_quanters(self):
        return ["activation_quanter"]
