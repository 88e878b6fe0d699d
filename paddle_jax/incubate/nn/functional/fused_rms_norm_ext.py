"""Root mean square normalisation that also gives the factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.fused_rms_norm import trailing
from paddle_jax.incubate.nn.functional.precision import widened
from paddle_jax.nn.functional.norm import rms_norm
from paddle_jax.tensor.ops import rsqrt

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fused_rms_norm_ext(
    x: Tensor, scale: Tensor, epsilon: Any = 1e-5, name: str | None = None
) -> tuple[Any, Any]:
    """Divides rows by their root mean square, multiplies them by a scale.

    Args:
        x: Tensor [..., n], floating.
        scale: Tensor [n].
        epsilon: added to the mean square.
    Returns:
        (Tensor of the shape of x, float32 Tensor [...]: the inverse of each root).
    Raises:
        ValueError: scale has another length.
    Example:
        >>> y, inverse = paddle.incubate.nn.functional.fused_rms_norm_ext(paddle.to_tensor([[2.0, -2.0]]),
        ...                                                               paddle.ones([2]), 0.0)
        >>> y.tolist(), inverse.tolist()
        ([[1.0, -1.0]], [0.5])
    """
    trailing("fused_rms_norm_ext", x, -1, scale=scale)
    wide = widened(x)
    return rms_norm(x, x.shape[-1], scale, float(epsilon)), rsqrt((wide * wide).mean(-1) + epsilon)
