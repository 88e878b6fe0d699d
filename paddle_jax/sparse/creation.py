"""Making sparse Tensors (`paddle.sparse.creation`), and the methods of dense Tensors that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor, host_value
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.coo import sparse_coo_tensor as sparse_coo_tensor
from paddle_jax.sparse.csr import by_rows
from paddle_jax.sparse.csr import sparse_csr_tensor as sparse_csr_tensor
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather_nd

if TYPE_CHECKING:
    from paddle_jax.sparse.csr import SparseCsrTensor

__all__ = ["sparse_coo_tensor", "sparse_csr_tensor"]


def _nonzero_values(name: str, x: Tensor, axes: int) -> tuple[np.ndarray, Tensor]:
    """The coordinates along the first axes where something is not 0, and the values there."""
    dense = host_value(
        x,
        name,
        f"use paddle_jax.bounded.to_sparse_coo(x, {axes}, nnz) with a bound on the "
        "number of elements, or call it outside",
    )
    if axes < dense.ndim:
        some = (dense != 0).any(tuple(range(axes, dense.ndim)))
    else:
        some = dense != 0
    places = np.stack(np.nonzero(some)).astype(np.int64)
    return places, gather_nd(x, to_tensor(places.T.copy()))


def to_sparse_coo(self: Tensor, sparse_dim: int) -> SparseCooTensor:
    """The elements that are not 0 by coordinates, with gradients.

    Args:
        sparse_dim: number of leading axes that get coordinates; what lies behind is kept whole.
    Returns:
        SparseCooTensor.
    Raises:
        ValueError: there are not so many axes.
    Example:
        >>> paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_coo(2).values().tolist()
        [2.0]
    """
    if not 0 < sparse_dim <= self.ndim:
        raise ValueError(
            f"to_sparse_coo: sparse_dim: got {sparse_dim}; a Tensor of {self.ndim} axes allows 1..{self.ndim}"
        )
    places, values = _nonzero_values("to_sparse_coo", self, sparse_dim)
    return SparseCooTensor(to_tensor(places), values, self.shape, coalesced=True)


def to_sparse_csr(self: Tensor) -> SparseCsrTensor:
    """The elements of a matrix, or of a stack of matrices, that are not 0 by rows, with gradients.

    Returns:
        SparseCsrTensor.
    Raises:
        ValueError: the Tensor has not two or three axes.
    Example:
        >>> paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_csr().cols().tolist()
        [1]
    """
    if self.ndim not in (2, 3):
        raise ValueError(f"to_sparse_csr: got a Tensor of {self.ndim} axes; it must have two or three")
    return by_rows(*_nonzero_values("to_sparse_csr", self, self.ndim), self.shape)


Tensor.to_sparse_coo = to_sparse_coo
Tensor.to_sparse_csr = to_sparse_csr
