"""Matrix products with bias and activation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.functional.activation import gelu, relu
from paddle_jax.tensor.linalg import matmul

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fused_matmul_bias(
    x: Tensor,
    y: Tensor,
    bias: Tensor | None = None,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of x and y, plus a bias.

    Args:
        x: Tensor [..., m, k], or [..., k, m] with transpose_x.
        y: Tensor [..., k, n], or [..., n, k] with transpose_y.
        bias: Tensor [n], or None.
    Returns:
        Tensor [..., m, n].
    Raises:
        ValueError: the sizes do not fit.
    Example:
        >>> x, bias = paddle.ones([1, 2]), paddle.ones([3])
        >>> paddle.incubate.nn.functional.fused_matmul_bias(x, paddle.ones([2, 3]), bias).tolist()
        [[3.0, 3.0, 3.0]]
    """
    out = matmul(x, y, transpose_x, transpose_y)
    if bias is None:
        return out
    return out + bias


def fused_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    transpose_weight: bool = False,
    name: str | None = None,
) -> Tensor:
    """x @ weight + bias.

    Args:
        x: Tensor [..., in].
        weight: Tensor [in, out], or [out, in] with transpose_weight.
        bias: Tensor [out], or None.
    Returns:
        Tensor [..., out].
    Raises:
        ValueError: the sizes do not fit.
    Example:
        >>> paddle.incubate.nn.functional.fused_linear(paddle.ones([1, 2]), paddle.ones([2, 3]),
        ...                                            paddle.ones([3])).tolist()
        [[3.0, 3.0, 3.0]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(
    x: Tensor,
    y: Tensor,
    bias: Tensor,
    trans_x: bool = False,
    trans_y: bool = False,
    activation: str | None = None,
) -> Tensor:
    """The matrix product of x and y, plus a bias, then an activation.

    Differs from Paddle: works on the CPU.

    Args:
        x: Tensor [..., m, k], or [..., k, m] with trans_x.
        y: Tensor [k, n], or [n, k] with trans_y.
        bias: Tensor [n].
        activation: "relu", "gelu" (the approximation by tanh), or None or "none".
    Returns:
        Tensor [..., m, n].
    Raises:
        ValueError: the sizes do not fit, or there is no such activation.
    Example:
        >>> x, w, b = paddle.ones([1, 2]), paddle.ones([2, 2]), paddle.to_tensor([1.0, -4.0])
        >>> paddle.incubate.nn.functional.fused_linear_activation(x, w, b, activation="relu").tolist()
        [[3.0, 0.0]]
    """
    if activation not in (None, "none", "relu", "gelu"):
        raise ValueError(
            f"fused_linear_activation: activation: got {activation!r}; allowed are 'relu', "
            "'gelu', 'none' and None"
        )
    out = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    if activation == "relu":
        return relu(out)
    if activation == "gelu":
        # as the fused kernel, which approximates it by tanh
        return gelu(out, True)
    return out
