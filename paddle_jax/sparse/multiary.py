"""Functions of three Tensors with a sparse one among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.sparse.binary import add, matmul, multiply
from paddle_jax.sparse.pattern import need_sparse

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def addmm(
    input: Tensor,
    x: SparseTensor,
    y: SparseTensor,
    beta: float = 1.0,
    alpha: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """beta * input + alpha * (x @ y).

    Args:
        input: Tensor [m, n], or a sparse one of the kind of x if y is sparse.
        x: SparseCooTensor or SparseCsrTensor [m, k].
        y: Tensor [k, n], or a sparse one of the kind of x.
        beta, alpha: numbers.
    Returns:
        Tensor [m, n], sparse if y is.
    Differs from Paddle: it works on the CPU, too.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.addmm(paddle.ones([2, 1]), x, paddle.ones([2, 1]), 2.0, 10.0).tolist()
        [[22.0], [32.0]]
    """
    need_sparse("addmm", x=x)
    product = matmul(x, y)
    if product.is_sparse():
        return add(multiply(input, beta), multiply(product, alpha))
    return input * beta + product * alpha
