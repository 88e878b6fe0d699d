"""Functions of three Tensors with a sparse one among them."""

from paddle_jax.sparse.binary import add, matmul, multiply
from paddle_jax.sparse.pattern import need_sparse

__all__ = []


def addmm(input, x, y, beta=1.0, alpha=1.0, name=None):
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
