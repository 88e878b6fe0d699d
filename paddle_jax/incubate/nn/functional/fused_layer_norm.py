"""Layer normalisation with what comes before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.fused_rms_norm import trailing
from paddle_jax.incubate.nn.functional.precision import quantized, widened
from paddle_jax.tensor.manipulation import cast
from paddle_jax.tensor.ops import rsqrt

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fused_layer_norm(
    x: Tensor,
    norm_weight: Tensor | None,
    norm_bias: Tensor | None,
    epsilon: Any,
    residual_alpha: Any = 1.0,
    begin_norm_axis: Any = 1,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    quant_scale: Any = -1,
    quant_round_type: Any = 0,
    quant_max_bound: Any = 0,
    quant_min_bound: Any = 0,
) -> tuple[Any, Any, Any, Any]:
    """Normalises the axes from begin_norm_axis on to mean 0 and variance 1; before that adds a residual,
    if there is one.

    Differs from Paddle: without a residual the second result is x (not set there); with neither weight nor
        bias and no residual it normalises.

    Args:
        x: Tensor [...], floating.
        norm_weight, norm_bias: Tensors [elements that are normalised]: factor and offset of the result, or
            None. With a residual and without both nothing is normalised: only the sum is computed.
        epsilon: added to the variance.
        residual_alpha: factor of the residual.
        begin_norm_axis: the first axis that is normalised.
        bias: Tensor added to x; counts only with a residual.
        residual: Tensor of the shape of x, added before the normalisation.
        quant_scale, quant_round_type, quant_max_bound, quant_min_bound: as for `fused_rms_norm`.
    Returns:
        (Tensor of the shape of x, x + bias + residual_alpha * residual, means, 1 / sqrt(variances +
        epsilon)); the last two are float32 Tensors [rows].
    Raises:
        ValueError: shapes or the axis do not fit.
    Example:
        >>> y, total, mean, inverse = paddle.incubate.nn.functional.fused_layer_norm(
        ...     paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2]), None, 0.0)
        >>> y.tolist(), mean.tolist(), inverse.tolist()
        ([[-1.0, 1.0]], [2.0], [1.0])

    See: Ba et al., Layer Normalization, 2016.
    """
    shape = trailing("fused_layer_norm", x, begin_norm_axis, norm_weight=norm_weight, norm_bias=norm_bias)
    if residual is not None:
        if residual.shape != x.shape:
            raise ValueError(
                f"fused_layer_norm: residual: got shape {list(residual.shape)}; "
                f"it must be that of x, {list(x.shape)}"
            )
        x = (x if bias is None else x + bias) + residual * residual_alpha
    wide = widened(x)
    axes = list(range(x.ndim - len(shape), x.ndim))
    mean = wide.mean(axes, keepdim=True)
    inverse = rsqrt((wide - mean).square().mean(axes, keepdim=True) + epsilon)
    y = wide
    if residual is None or norm_weight is not None or norm_bias is not None:
        y = (wide - mean) * inverse
        if norm_weight is not None:
            y = y * cast(norm_weight.reshape(shape), y.dtype)
        if norm_bias is not None:
            y = y + cast(norm_bias.reshape(shape), y.dtype)
    y = quantized(
        "fused_layer_norm", cast(y, x.dtype), quant_scale, quant_round_type, quant_max_bound, quant_min_bound
    )
    return y, x, cast(mean.flatten(), "float32"), cast(inverse.flatten(), "float32")
