"""Principal components of sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.sparse.binary import matmul
from paddle_jax.sparse.pattern import need_sparse
from paddle_jax.sparse.unary import transpose
from paddle_jax.tensor.creation import ones
from paddle_jax.tensor.decomposition import qr, svd
from paddle_jax.tensor.random import randn

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def pca_lowrank(
    x: SparseTensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The first q principal components of a sparse matrix by random projection; the matrix is only
    multiplied, never made dense.

    Args:
        x: SparseCooTensor or SparseCsrTensor [m, n], one sample per row; float32 or float64.
        q: int, how many. Default: min(6, m, n).
        center: subtract the mean of each column first. Default True.
        niter: int, number of power iterations; more are more exact. Default 2.
    Returns:
        (U [m, q], S [q], V [n, q]); the columns of V are the principal directions.
    Raises:
        NotImplementedError: x is no sparse Tensor.
        ValueError: x is no matrix, or q or niter is out of range.
    Differs from Paddle: it works on every device.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1, 2], [0, 1, 1]], [3.0, 1.0, -1.0], [3, 2])
        >>> [t.shape for t in paddle.sparse.pca_lowrank(x, q=1)]
        [paddle.Size([3, 1]), paddle.Size([1]), paddle.Size([2, 1])]
    See: Halko, Martinsson and Tropp, Finding structure with randomness, 2011, algorithms 4.4 and 5.1.
    """
    need_sparse("pca_lowrank", x=x)
    limit = min(x.shape) if x.ndim == 2 else 0
    if q is None:
        q = min(6, limit)
    if x.ndim != 2 or not 0 < q <= limit or niter < 0:
        raise ValueError(
            f"pca_lowrank: got shape {list(x.shape)}, q={q}, niter={niter}; "
            f"needed are a matrix, 1 <= q <= {limit} and niter >= 0"
        )
    turned = transpose(x, [1, 0])
    rows = x.shape[0]
    # The mean is taken off within the products: a centred matrix would be dense.
    if center:
        mean = matmul(turned, ones([rows, 1], x.dtype)) / rows
    else:
        mean = None

    def forward(y: Tensor) -> Tensor:
        if mean is None:
            return matmul(x, y)
        return matmul(x, y) - (mean.t() @ y)

    def backward(z: Tensor) -> Tensor:
        if mean is None:
            return matmul(turned, z)
        return matmul(turned, z) - mean @ z.sum(0, keepdim=True)

    # The range of the matrix, by its products with random vectors (Halko et al., 2011).
    basis = qr(forward(randn([x.shape[1], q], x.dtype)))[0]
    for _ in range(niter):
        # Orthogonal again after each product, as small components would be lost in large ones.
        basis = qr(forward(qr(backward(basis))[0]))[0]
    v, s, uh = svd(backward(basis))
    return basis @ uh.t(), s, v
