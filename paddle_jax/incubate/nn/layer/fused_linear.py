"""A linear layer that computes product and bias in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional import fused_linear
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.parameter import Parameter


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
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: bool | None = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if transpose_weight:
            shape = [out_features, in_features]
        else:
            shape = [in_features, out_features]
        self.weight: Parameter = self.create_parameter(shape, attr=weight_attr)
        self.bias: Parameter = self.create_parameter([out_features], attr=bias_attr, is_bias=True)
        self.transpose_weight = transpose_weight
        self.name = name

    def forward(self, input: Any) -> Tensor:
        return fused_linear(input, self.weight, self.bias, self.transpose_weight, self.name)
