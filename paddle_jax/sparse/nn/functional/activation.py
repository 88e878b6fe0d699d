"""Activations of sparse Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax.geometric.pooling import pooled
from paddle_jax.nn.functional import activation as dense
from paddle_jax.sparse.coordinates import coordinates, flat
from paddle_jax.sparse.csr import SparseCsrTensor
from paddle_jax.sparse.pattern import need_exact, need_sparse
from paddle_jax.sparse.unary import with_values
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd

if TYPE_CHECKING:
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def relu(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """max(x, 0) of the elements that are kept.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
    Returns:
        Sparse Tensor of the kind and the coordinates of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [-2.0, 3.0])
        >>> paddle.sparse.nn.functional.relu(x).values().tolist()
        [0.0, 3.0]
    """
    need_sparse("relu", x=x)
    return with_values(x, dense.relu(x.values()))


def relu6(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """min(max(x, 0), 6) of the elements that are kept.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
    Returns:
        Sparse Tensor of the kind and the coordinates of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [-2.0, 9.0])
        >>> paddle.sparse.nn.functional.relu6(x).values().tolist()
        [0.0, 6.0]
    """
    need_sparse("relu6", x=x)
    return with_values(x, dense.relu6(x.values()))


def leaky_relu(x: SparseTensor, negative_slope: float = 0.01, name: str | None = None) -> SparseTensor:
    """x where it is positive, negative_slope * x elsewhere, of the elements that are kept.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        negative_slope: number.
    Returns:
        Sparse Tensor of the kind and the coordinates of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [-2.0, 3.0])
        >>> paddle.sparse.nn.functional.leaky_relu(x, 0.5).values().tolist()
        [-1.0, 3.0]
    """
    need_sparse("leaky_relu", x=x)
    return with_values(x, dense.leaky_relu(x.values(), negative_slope))


def softmax(x: SparseTensor, axis: int = -1, name: str | None = None) -> SparseTensor:
    """The softmax of the elements that are kept in each row; the others stay 0.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        axis: the axis with coordinates along which they add up to 1; -1 for a SparseCsrTensor.
    Returns:
        Sparse Tensor of the kind and the coordinates of x.
    Raises:
        NotImplementedError: another axis of a SparseCsrTensor.
    Example:
        >>> x = paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 1, 0], [1.0, 1.0, 5.0], [2, 2])
        >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
        [0.5, 0.5, 1.0]
    """
    need_sparse("softmax", x=x)
    if isinstance(x, SparseCsrTensor) and axis != -1:
        raise NotImplementedError(f"softmax: axis: got {axis} for a SparseCsrTensor; use -1")
    need_exact("softmax", x)
    places = coordinates(x, "softmax")
    axis %= x.ndim
    # An axis of the dense part: each row of values is complete.
    if axis >= len(places):
        return with_values(x, dense.softmax(x.values(), axis - len(places) + 1))
    # Elements with the same coordinates on all other axes are a row.
    rest = [n for i, n in enumerate(x.shape[: len(places)]) if i != axis]
    if rest:
        rows = flat(np.delete(places, axis, 0), rest)
    else:
        rows = np.zeros(places.shape[1], np.int64)
    _, group = np.unique(rows, return_inverse=True)
    values = x.values()
    count = int(group.max(initial=-1)) + 1
    group = to_tensor(group.astype(np.int64))
    peaks = pooled(values.detach(), group, count, "max")  # a constant: the softmax does not change with it
    powers = (values - gather(peaks, group)).exp()
    return with_values(x, powers / gather(scatter_nd(unsqueeze(group, 1), powers, list(peaks.shape)), group))
