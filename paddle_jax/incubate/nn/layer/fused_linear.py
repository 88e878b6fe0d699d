"""A linear layer that computes product and bias in one."""

from paddle_jax.incubate.nn.functional import fused_linear
from paddle_jax.nn.layer.layers import Layer


class FusedLinear(Layer):
    """Computes x @ weight + bias.

    Args:
        in_features: int, the last length of the input.
        out_features: int, the last length of the output.
        weight_attr: ParamAttr of `weight`, which has shape [in_features, out_features].
        bias_attr: ParamAttr of `bias`, shape [out_features]; False for none.
        transpose_weight: keep `weight` as [out_features, in_features].
    Example:
        >>> paddle.incubate.nn.FusedLinear(3, 4)(paddle.ones([2, 3])).shape
        paddle.Size([2, 4])
    """

    def __init__(
        self, in_features, out_features, weight_attr=None, bias_attr=None, transpose_weight=False, name=None
    ):
        super().__init__()
        if transpose_weight:
            shape = [out_features, in_features]
        else:
            shape = [in_features, out_features]
        self.weight = self.create_parameter(shape, attr=weight_attr)
        self.bias = self.create_parameter([out_features], attr=bias_attr, is_bias=True)
        self.transpose_weight = transpose_weight
        self.name = name

    def forward(self, input):
        return fused_linear(input, self.weight, self.bias, self.transpose_weight, self.name)
