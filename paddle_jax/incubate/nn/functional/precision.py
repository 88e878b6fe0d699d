"""Half precision widened before sums, and results as int8 for 8-bit models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.tensor.manipulation import cast
from paddle_jax.tensor.math import clip
from paddle_jax.tensor.ops import floor, round, sign

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def widened(x: Tensor) -> Tensor:
    """x in float32 if it has half precision, else x."""
    if x.dtype in (dtypes.float16, dtypes.bfloat16):
        return cast(x, "float32")
    return x


def quantized(op_name: str, x: Tensor, scale: Any, round_type: Any, most: Any, least: Any) -> Tensor:
    """x as it is when scale is not above 0; else most * scale * x, rounded and cut to [least, most], as int8.

    Args:
        round_type: 0 rounds halves to even numbers, 1 away from zero.
    """
    if scale <= 0:
        return x
    if round_type not in (0, 1):
        raise ValueError(f"{op_name}: quant_round_type: got {round_type}; it must be 0 or 1")
    y = cast(x, "float32") * (most * scale)
    if round_type == 0:
        y = round(y)
    else:
        # Halves away from 0, as C rounds.
        y = sign(y) * floor(y.abs() + 0.5)
    return cast(clip(y, least, most), "int8")
