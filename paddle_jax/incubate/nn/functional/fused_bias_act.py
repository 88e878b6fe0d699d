"""Bias and activation, with the conversions of 8-bit models before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.incubate.nn.functional.precision import quantized
from paddle_jax.nn.functional.activation import gelu, relu, silu, swiglu
from paddle_jax.tensor.joining import chunk
from paddle_jax.tensor.manipulation import cast

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _geglu(x: Tensor) -> Tensor:
    gate, up = chunk(x, 2, -1)
    return gelu(gate) * up


_ACTIVATIONS = {"gelu": gelu, "relu": relu, "silu": silu, "swish": silu, "geglu": _geglu, "swiglu": swiglu}
_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


def fused_bias_act(
    x: Tensor,
    bias: Tensor | None = None,
    dequant_scales: Tensor | None = None,
    shift: Sequence[Tensor] | None = None,
    smooth: Sequence[Tensor] | None = None,
    act_method: str = "gelu",
    compute_dtype: str = "default",
    quant_scale: Any = -1,
    quant_round_type: Any = 0,
    quant_max_bound: Any = 0,
    quant_min_bound: Any = 0,
) -> Tensor:
    """act(x + bias); "geglu" and "swiglu" cut the last axis in halves and multiply the activated first
    one by the second.

    Differs from Paddle: works on the CPU, and "silu" is an activation.

    Args:
        x: Tensor [..., n], floating; int32 with dequant_scales.
        bias: Tensor [n], or None.
        dequant_scales: Tensor [n]: x is multiplied by it first.
        shift, smooth: Tensors: the result is (act(...) + shift) * smooth.
        act_method: "gelu", "relu", "silu", "geglu" or "swiglu".
        compute_dtype: "fp16", "bf16" or "fp32", needed for an int32 x; "default" computes in the dtype of x.
        quant_scale, quant_round_type, quant_max_bound, quant_min_bound: as for `fused_rms_norm`.
    Returns:
        Tensor [..., n], or [..., n / 2] for "geglu" and "swiglu".
    Raises:
        ValueError: an option is out of range, or an int32 x comes without compute_dtype.
    Example:
        >>> paddle.incubate.nn.functional.fused_bias_act(paddle.to_tensor([[1.0, -1.0]]), paddle.ones([2]),
        ...                                              act_method="relu").tolist()
        [[2.0, 0.0]]
    """
    if act_method not in _ACTIVATIONS:
        raise ValueError(
            f"fused_bias_act: act_method: got {act_method!r}; allowed are {', '.join(_ACTIVATIONS)}"
        )
    if compute_dtype not in ("default", *_DTYPES):
        raise ValueError(
            f"fused_bias_act: compute_dtype: got {compute_dtype!r}; allowed are 'default', "
            "'fp16', 'bf16' and 'fp32'"
        )
    if x.dtype is dtypes.int32 and compute_dtype == "default":
        raise ValueError(
            "fused_bias_act: compute_dtype: got 'default' for an int32 x; it must be 'fp16', 'bf16' or 'fp32'"
        )
    dtype = _DTYPES.get(compute_dtype, x.dtype)
    if dequant_scales is None:
        y = cast(x, dtype)
    else:
        y = cast(cast(x, "float32") * dequant_scales, dtype)
    y = _ACTIVATIONS[act_method](y if bias is None else y + bias)
    if shift is not None:
        y = y + shift
    if smooth is not None:
        y = y * smooth
    return quantized("fused_bias_act", y, quant_scale, quant_round_type, quant_max_bound, quant_min_bound)
