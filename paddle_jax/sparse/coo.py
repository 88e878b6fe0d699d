"""A sparse Tensor as coordinates and values. What is computed with it are operations on these two, so gradients flow to the values."""

import numpy as np

from paddle_jax._core.size import Size
from paddle_jax._core.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.joining import stack
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd


class SparseCooTensor:
    """A Tensor of which only the elements at given coordinates are kept; all others are 0.

    Args:
        indices: Tensor int64 [axes, n], one column for each element.
        values: Tensor [n].
        shape: ints, the whole shape.
    """

    def __init__(self, indices, values, shape):
        self._indices, self._values, self.shape = indices, values, Size(shape)

    dtype = property(lambda self: self._values.dtype, doc="The dtype of the values.")
    ndim = property(lambda self: len(self.shape), doc="The number of axes.")
    stop_gradient = property(lambda self: self._values.stop_gradient, doc="Whether no gradient flows to the values.")

    def indices(self):
        """The coordinates, int64 [axes, n]."""
        return self._indices

    def values(self):
        """The elements, [n]."""
        return self._values

    def nnz(self):
        """The number of elements that are kept."""
        return self._values.shape[0]

    def is_sparse(self):
        """True."""
        return True

    def is_sparse_coo(self):
        """True."""
        return True

    def is_sparse_csr(self):
        """False."""
        return False

    def coalesce(self):
        """The same with equal coordinates added up; see `paddle.sparse.coalesce`."""
        return coalesce(self)

    def to_dense(self):
        """All elements, zeros included, as a Tensor; equal coordinates are added up."""
        return scatter_nd(_columns(self._indices), self._values, list(self.shape))

    def numpy(self):
        """All elements as a NumPy array."""
        return self.to_dense().numpy()

    def __matmul__(self, other):
        return matmul(self, other)

    def __repr__(self):
        return (
            f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, place={self._values.place}, stop_gradient={self.stop_gradient}, \n"
            f"       indices={self._indices.tolist()}, \n       values={self._values.tolist()})"
        )


def _columns(indices):
    return indices.transpose([1, 0])


def sparse_coo_tensor(indices, values, shape=None, dtype=None, place=None, stop_gradient=True):
    """Makes a sparse Tensor.

    Args:
        indices: [axes, n] coordinates: Tensor, array or lists.
        values: [n] elements: Tensor, array or list.
        shape: ints. Default: just large enough.
        dtype: dtype of the values. Default: theirs.
        place: device. Default: the current one.
        stop_gradient: bool, whether no gradient flows to the values. Default True.
    Returns:
        SparseCooTensor.
    Raises:
        ValueError: the numbers of axes or of elements do not fit, or a coordinate is out of range.
    Example:
        >>> paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0]).to_dense().tolist()
        [[0.0, 2.0], [3.0, 0.0]]
    """
    indices = (indices if isinstance(indices, Tensor) else to_tensor(np.asarray(indices))).astype("int64")
    values = values.astype(dtype or values.dtype) if isinstance(values, Tensor) else to_tensor(values, dtype=dtype, place=place)
    if indices.ndim != 2 or values.ndim < 1 or indices.shape[1] != values.shape[0]:
        shapes = f"got shape {list(indices.shape)} for values of {list(values.shape)}"
        raise ValueError(f"sparse_coo_tensor: indices: {shapes}; they must be [axes, n] and [n]")
    largest = indices.numpy().max(axis=1, initial=-1) + 1
    shape = [*largest.tolist(), *values.shape[1:]] if shape is None else list(shape)
    if len(shape) != len(largest) + values.ndim - 1 or any(n > size for n, size in zip(largest, shape, strict=False)):
        raise ValueError(f"sparse_coo_tensor: shape: got {shape}; the coordinates need at least {largest.tolist()}")
    if values.stop_gradient != stop_gradient:
        values = values.detach()
        values.stop_gradient = stop_gradient
    return SparseCooTensor(indices, values, shape)


def coalesce(x, name=None):
    """Sorts the coordinates and adds up the elements of equal ones.

    Args:
        x: SparseCooTensor.
    Returns:
        SparseCooTensor.
    Example:
        >>> paddle.sparse.coalesce(paddle.sparse.sparse_coo_tensor([[0, 0]], [1.0, 2.0])).values().tolist()
        [3.0]
    """
    kept, place = np.unique(x.indices().numpy(), axis=1, return_inverse=True)
    values = scatter_nd(unsqueeze(to_tensor(place.reshape(-1)), 1), x.values(), [kept.shape[1], *x.values().shape[1:]])
    return SparseCooTensor(to_tensor(kept), values, x.shape)


def transpose(x, perm, name=None):
    """Puts the axes into another order.

    Args:
        x: SparseCooTensor.
        perm: list of ints, the old number of each new axis.
    Returns:
        SparseCooTensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0])
        >>> list(paddle.sparse.transpose(x, [1, 0]).shape)
        [3, 2]
    """
    rows = x.indices()
    return SparseCooTensor(stack([rows[i] for i in perm], 0), x.values(), [x.shape[i] for i in perm])


def matmul(x, y, name=None):
    """The product of a sparse matrix and a dense matrix or vector.

    Args:
        x: SparseCooTensor [m, k].
        y: Tensor [k, n] or [k].
    Returns:
        Tensor [m, n] or [m].
    Raises:
        ValueError: the shapes do not fit.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.matmul(x, paddle.ones([2, 1])).tolist()
        [[2.0], [3.0]]
    """
    if x.ndim != 2 or y.ndim not in (1, 2) or x.shape[1] != y.shape[0]:
        raise ValueError(f"matmul: y: got shape {list(y.shape)} for x of {list(x.shape)}; needed are [m, k] and [k, n] or [k]")
    values = x.values() if y.ndim == 1 else unsqueeze(x.values(), 1)
    return scatter_nd(unsqueeze(x.indices()[0], 1), values * gather(y, x.indices()[1]), [x.shape[0], *y.shape[1:]])
