"""Layer normalisation of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.norm import layer_norm

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fast_ln(x: Tensor, scale: Tensor, bias: Tensor, epsilon: Any = 1e-5) -> Tensor:
    """Normalises rows to mean 0 and variance 1, multiplies them by a scale and adds a bias.

    Args:
        x: Tensor [..., n], floating.
        scale, bias: Tensors [n].
        epsilon: added to the variance.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: scale or bias has another length.
    Example:
        >>> y = paddle.incubate.nn.functional.fast_ln(paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2]),
        ...                                           paddle.zeros([2]))
        >>> [round(v, 3) for v in y[0].tolist()]
        [-1.0, 1.0]
    """
    return layer_norm(x, x.shape[-1], scale, bias, epsilon)
