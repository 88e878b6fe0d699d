"""`fused_rms_norm_ext` under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.fused_rms_norm_ext import fused_rms_norm_ext

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fast_rms_norm(x: Tensor, scale: Tensor, epsilon: Any = 1e-5) -> Tensor:
    """Divides rows by their root mean square, multiplies them by a scale.

    Args:
        x: Tensor [..., n], floating.
        scale: Tensor [n].
        epsilon: added to the mean square.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: scale has another length.
    Example:
        >>> paddle.incubate.nn.functional.fast_rms_norm(paddle.to_tensor([[2.0, -2.0]]), paddle.ones([2]),
        ...                                             0.0).tolist()
        [[1.0, -1.0]]
    """
    return fused_rms_norm_ext(x, scale, epsilon)[0]
