"""Functions of two Tensors of which at least one is sparse."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax.sparse.base import SparseTensor
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.coordinates import coordinates, flat, joined
from paddle_jax.sparse.pattern import like, need_exact, need_sparse
from paddle_jax.sparse.unary import with_values
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather, gather_nd
from paddle_jax.tensor.joining import concat, stack
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd
from paddle_jax.tensor.search import searchsorted
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []


def _pair(name: str, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Refuses what is not a pair of sparse Tensors of one kind and shape."""
    need_sparse(name, x=x)
    if isinstance(y, numbers.Number):
        raise ArgumentError(f"{name}: y: got a number; give a sparse Tensor")
    need_sparse(name, y=y)
    if type(x) is not type(y):
        raise NotImplementedError(
            f"{name}: got {type(x).__name__} and {type(y).__name__}; give two of one kind"
        )
    if tuple(x.shape) != tuple(y.shape):
        raise ValueError(f"{name}: x has shape {list(x.shape)} and y {list(y.shape)}; they must be equal")
    return coordinates(x, name), coordinates(y, name)


def _together(name: str, x: SparseTensor, y: SparseTensor, sign: int) -> SparseTensor:
    """The sum of x and sign * y, at the coordinates of both."""
    places, others = _pair(name, x, y)
    second = y.values() if sign > 0 else -y.values()
    # The usual case: both come from one Tensor, and values are added as they stand.
    if np.array_equal(places, others):
        total = x.values() + second
        if isinstance(x, SparseCooTensor) and isinstance(y, SparseCooTensor):
            # Filling of either is filling of the sum.
            return SparseCooTensor(x.indices(), total, x.shape, x._filled or y._filled)
        return with_values(x, total)
    shape = x.shape[: len(places)]
    # A Tensor without axes has a single value without an axis.
    values = [v if v.ndim else v.reshape([1]) for v in (x.values(), second)]
    sums = joined(np.concatenate([places, others], 1), concat(values, 0), shape)
    return like(x, *sums, x.shape, joined=True)


def add(x: SparseTensor, y: SparseTensor, name: str | None = None) -> SparseTensor:
    """The sum of two sparse Tensors, at the coordinates of both.

    Args:
        x, y: two SparseCooTensors or two SparseCsrTensors of one shape.
    Returns:
        A sparse Tensor of the same kind.
    Raises:
        NotImplementedError: the Tensors are not sparse, or of two kinds.
        ValueError: y is a number, or the shapes differ.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.add(x, x).values().tolist()
        [4.0, 6.0]
    """
    return _together("add", x, y, 1)


def subtract(x: SparseTensor, y: SparseTensor, name: str | None = None) -> SparseTensor:
    """The difference of two sparse Tensors, at the coordinates of both.

    Args:
        x, y: two SparseCooTensors or two SparseCsrTensors of one shape.
    Returns:
        A sparse Tensor of the same kind.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.subtract(x, x).values().tolist()
        [0.0, 0.0]
    """
    return _together("subtract", x, y, -1)


def multiply(x: SparseTensor, y: SparseTensor | float, name: str | None = None) -> SparseTensor:
    """The product element by element of two sparse Tensors, at the coordinates of both, or of
    one and a number.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        y: another one of the same kind and shape, or a number.
    Returns:
        Sparse Tensor of the kind of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.multiply(x, x).values().tolist()
        [4.0, 9.0]
    """
    need_sparse("multiply", x=x)
    if isinstance(y, numbers.Number):
        if not np.isfinite(y):
            # Filling would become NaN.
            need_exact("multiply", x)
        return with_values(x, x.values() * y)
    places, others = _pair("multiply", x, y)
    if (
        np.array_equal(places, others)
        # with equal coordinates, values would have to be added up first
        and len(np.unique(flat(places, x.shape[: len(places)]))) == places.shape[1]
    ):
        return with_values(x, x.values() * y.values())
    shape = x.shape[: len(places)]
    (places, a), (others, b) = joined(places, x.values(), shape), joined(others, y.values(), shape)
    own = flat(places, shape)
    other = flat(others, shape)
    both = np.union1d(own, other)
    product = _scatter_to_union(a, own, both) * _scatter_to_union(b, other, both)
    return like(x, np.stack(np.unravel_index(both, tuple(shape))), product, x.shape, joined=True)


def _scatter_to_union(values: Tensor, numbers_: np.ndarray, both: np.ndarray) -> Tensor:
    """Values at the places where `both` has their numbers, 0 elsewhere."""
    rows = to_tensor(np.searchsorted(both, numbers_).astype(np.int64))
    return scatter_nd(unsqueeze(rows, 1), values, [len(both), *values.shape[1:]])


def divide(x: SparseTensor, y: SparseTensor | float, name: str | None = None) -> SparseTensor:
    """The quotient element by element. Of two sparse Tensors it has every element, since 0 divided by 0 is
    NaN; by a number only those of x.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        y: another one of the same kind and shape, or a number.
    Returns:
        Sparse Tensor of the kind of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.divide(x, 2.0).values().tolist()
        [1.0, 1.5]
    """
    need_sparse("divide", x=x)
    if isinstance(y, numbers.Number):
        if y == 0 or np.isnan(y):
            # Filling would become NaN.
            need_exact("divide", x)
        return with_values(x, x.values() / y)
    places, _ = _pair("divide", x, y)
    shape = list(x.shape[: len(places)])
    # 0 / 0 is NaN, so every element is kept, as in Paddle.
    quotient = (x.to_dense() / y.to_dense()).reshape([int(np.prod(shape)), *x.shape[len(places) :]])
    return like(x, np.indices(shape).reshape(len(shape), -1), quotient, x.shape, joined=True)


def is_same_shape(x: Tensor, y: Tensor) -> bool:
    """Whether two Tensors, dense or sparse, have the same shape.

    Args:
        x, y: Tensors, dense or sparse.
    Returns:
        bool.
    Example:
        >>> paddle.sparse.is_same_shape(paddle.sparse.sparse_coo_tensor([[0], [1]], [2.0]),
        ...                             paddle.ones([1, 2]))
        True
    """
    return x.is_same_shape(y)


def mask_as(x: Tensor, mask: SparseTensor, name: str | None = None) -> SparseTensor:
    """The elements of a dense Tensor at the coordinates of a sparse one.

    Args:
        x: Tensor.
        mask: SparseCooTensor or SparseCsrTensor of the same shape; its values do not matter.
    Returns:
        A sparse Tensor of the kind of mask.
    Raises:
        ValueError: the shapes differ.
    Example:
        >>> mask = paddle.sparse.sparse_coo_tensor([[0], [1]], [1.0], [2, 2])
        >>> paddle.sparse.mask_as(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), mask).values().tolist()
        [2.0]
    """
    need_sparse("mask_as", mask=mask)
    need_exact("mask_as", mask)
    if list(x.shape) != list(mask.shape):
        raise ValueError(
            f"mask_as: x has shape {list(x.shape)} and mask {list(mask.shape)}; they must be equal"
        )
    return with_values(mask, gather_nd(x, to_tensor(coordinates(mask).T.copy())))


def matmul(x: SparseTensor, y: Tensor, name: str | None = None) -> Tensor:
    """The matrix product of a sparse Tensor with a dense or a sparse one.

    Args:
        x: SparseCooTensor or SparseCsrTensor [m, k], or a stack [n, m, k].
        y: Tensor [k, p], [k] or [n, k, p], or a sparse matrix [k, p] of the kind of x.
    Returns:
        Tensor; a sparse one of the kind of x for two sparse ones.
    Raises:
        NotImplementedError: x is dense.
        ValueError: the shapes do not fit.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.matmul(x, paddle.ones([2, 1])).tolist()
        [[2.0], [3.0]]
    """
    need_sparse("matmul", x=x)
    vector = y.ndim == 1
    if (
        x.ndim not in (2, 3)
        or (y.ndim != x.ndim and not vector)
        or x.shape[-1] != y.shape[-1 if vector else -2]
        or x.shape[:-2] != y.shape[:-2]
    ):
        raise ValueError(
            f"matmul: y: got shape {list(y.shape)} for x of {list(x.shape)}; "
            "needed are [..., m, k] and [..., k, p], or [k]"
        )
    if isinstance(y, SparseTensor):
        return _sparse_product(x, y)
    columns = _columns(x)
    if x.ndim == 2 or vector:
        # One matrix, or vector, for all rows.
        chosen = columns[-1:]
    else:
        # In a stack, the number of the matrix chooses as well.
        chosen = [columns[0], columns[-1]]
    terms = (x.values() if vector else unsqueeze(x.values(), 1)) * gather_nd(y, stack(chosen, 1))
    return scatter_nd(stack(columns[:-1], 1), terms, [*x.shape[:-1], *([] if vector else y.shape[-1:])])


def _columns(x: Any) -> list[Tensor]:
    """The coordinates, axis by axis, as Tensors: inside compiled functions they need not be known."""
    if x.is_sparse_coo():
        return [x.indices()[i] for i in range(x.ndim)]
    if x.ndim == 2:
        rows = (
            # element i is in the last row that begins at or before it
            searchsorted(x.crows(), arange(x.nnz(), dtype=x.crows().dtype), right=True).astype(x.cols().dtype)
            - 1
        )
        return [rows, x.cols()]
    # The rows of a stack are unpacked on the host.
    return [to_tensor(p) for p in coordinates(x)]


def _sparse_product(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    """The product of two sparse matrices: each element of x meets those of y in the row of its column."""
    if type(x) is not type(y) or x.ndim != 2:
        raise NotImplementedError(
            f"matmul: got {type(x).__name__} and {type(y).__name__}; give two matrices of one kind"
        )
    left = coordinates(x)
    right = coordinates(y)
    # The elements of y by rows, so that those of a row stand together.
    order = np.argsort(right[0], kind="stable")
    starts = np.searchsorted(right[0][order], np.arange(y.shape[0] + 1))
    counts = np.diff(starts)[left[1]]
    # For each element of x the elements of y in its row, one after the other.
    first = np.repeat(np.arange(left.shape[1]), counts)
    second = order[starts[left[1]][first] + np.arange(len(first)) - (np.cumsum(counts) - counts)[first]]
    terms = gather(x.values(), to_tensor(first)) * gather(y.values(), to_tensor(second))
    shape = [x.shape[0], y.shape[1]]
    sums = joined(np.stack([left[0][first], right[1][second]]), terms, shape)
    return like(x, *sums, shape, joined=True)


def mv(x: SparseTensor, vec: Tensor, name: str | None = None) -> Tensor:
    """The product of a sparse matrix and a dense vector.

    Args:
        x: SparseCooTensor or SparseCsrTensor [m, k].
        vec: Tensor [k].
    Returns:
        Tensor [m].
    Raises:
        ValueError: the shapes do not fit.
    Differs from Paddle: it works on the CPU, too.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
        >>> paddle.sparse.mv(x, paddle.to_tensor([1.0, 10.0])).tolist()
        [20.0, 3.0]
    """
    need_sparse("mv", x=x)
    if vec.ndim != 1:
        raise ValueError(f"mv: vec: got shape {list(vec.shape)}; it must have one axis")
    return matmul(x, vec)


def masked_matmul(x: Tensor, y: Tensor, mask: SparseTensor, name: str | None = None) -> SparseTensor:
    """The elements of the matrix product of two dense matrices at the coordinates of a sparse one; the others
    are not computed.

    Args:
        x: Tensor [m, k].
        y: Tensor [k, n].
        mask: SparseCooTensor or SparseCsrTensor [m, n]; its values do not matter.
    Returns:
        A sparse Tensor of the kind of mask.
    Raises:
        ValueError: the shapes do not fit.
    Differs from Paddle: it works on the CPU, too.
    Example:
        >>> mask = paddle.sparse.sparse_csr_tensor([0, 1, 1], [1], [1.0], [2, 2])
        >>> paddle.sparse.masked_matmul(paddle.ones([2, 3]), paddle.ones([3, 2]), mask).values().tolist()
        [3.0]
    """
    need_sparse("masked_matmul", mask=mask)
    need_exact("masked_matmul", mask)
    if x.ndim != 2 or y.ndim != 2 or list(mask.shape) != [x.shape[0], y.shape[1]] or x.shape[1] != y.shape[0]:
        raise ValueError(
            f"masked_matmul: shapes {list(x.shape)}, {list(y.shape)} and {list(mask.shape)} do "
            "not fit [m, k], [k, n] and [m, n]"
        )
    rows, cols = (to_tensor(p) for p in coordinates(mask))
    # Only the wanted elements are computed, each from its row and column.
    return with_values(mask, (gather(x, rows) * gather(y.t(), cols)).sum(-1))


def _matmul_operator(self: SparseTensor, other: Tensor) -> Tensor:
    return matmul(self, other)


_matmul_operator.__name__ = "__matmul__"
_matmul_operator.__qualname__ = "SparseTensor.__matmul__"
SparseTensor.__matmul__ = _matmul_operator
