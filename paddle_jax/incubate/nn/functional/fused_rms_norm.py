"""Root mean square normalisation with what comes before and after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.precision import quantized
from paddle_jax.nn.functional.norm import rms_norm
from paddle_jax.tensor.creation import empty

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def trailing(op_name: str, x: Tensor, begin_norm_axis: Any, **sizes: Any) -> list[Any]:
    """The lengths of the axes from begin_norm_axis on, after a check that each given Tensor has
    as many elements."""
    if not -x.ndim <= begin_norm_axis < x.ndim:
        raise ValueError(
            f"{op_name}: begin_norm_axis: got {begin_norm_axis}; it must be in -{x.ndim}..{x.ndim - 1}"
        )
    shape = list(x.shape[begin_norm_axis:])
    count = math.prod(shape)
    for what, value in sizes.items():
        # A count below 0 has a length that is not known, in a static program.
        if value is not None and (value.ndim != 1 or count >= 0 and value.shape[0] != count):
            raise ValueError(
                f"{op_name}: {what}: got shape {list(value.shape)}; it must be [{count}], "
                "the elements that are normalised"
            )
    return shape


def fused_rms_norm(
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor | None,
    epsilon: Any,
    begin_norm_axis: Any = 1,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    quant_scale: Any = -1,
    quant_round_type: Any = 0,
    quant_max_bound: Any = 0,
    quant_min_bound: Any = 0,
) -> tuple[Any, Any]:
    """Divides by the root mean square over the axes from begin_norm_axis on; before that adds a residual,
    if there is one.

    Args:
        x: Tensor [...], floating.
        norm_weight: Tensor [elements that are normalised], the factor.
        norm_bias: Tensor of the same shape that is added to the result, or None.
        epsilon: added to the mean square.
        begin_norm_axis: the first axis that is normalised.
        bias: Tensor added to x; counts only with a residual.
        residual: Tensor with as many elements as x, added before the normalisation.
        quant_scale: above 0 the result is int8: quant_max_bound * quant_scale * result.
        quant_round_type: 0 rounds halves to even numbers, 1 away from zero.
        quant_max_bound, quant_min_bound: limits of the int8 result.
    Returns:
        (Tensor of the shape of x, x + bias + residual); the second has no elements without a residual.
    Raises:
        ValueError: shapes or the axis do not fit.
    Example:
        >>> x, w = paddle.to_tensor([[3.0, -3.0]]), paddle.ones([2])
        >>> paddle.incubate.nn.functional.fused_rms_norm(x, w, None, 0.0, 1)[0].tolist()
        [[1.0, -1.0]]

    See: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
    """
    shape = trailing("fused_rms_norm", x, begin_norm_axis, norm_weight=norm_weight, norm_bias=norm_bias)
    # Without a residual there is no sum to give.
    total = empty([0], dtype=x.dtype)
    if residual is not None:
        x = total = (x if bias is None else x + bias) + residual.reshape(x.shape)
    y = rms_norm(x, shape, norm_weight.reshape(shape), float(epsilon))
    if norm_bias is not None:
        y = y + norm_bias.reshape(shape)
    return (
        quantized("fused_rms_norm", y, quant_scale, quant_round_type, quant_max_bound, quant_min_bound),
        total,
    )
