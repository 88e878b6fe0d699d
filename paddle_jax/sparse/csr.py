"""A sparse matrix, or a stack of them, by rows: where each row begins, the columns, and the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.sparse.base import SparseTensor, whole
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.coordinates import coordinates, host_integers, joined, refuse_negative
from paddle_jax.sparse.text import shown
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import DeviceLike, DTypeLike, TensorLike


class SparseCsrTensor(SparseTensor):
    """A matrix, or a stack of matrices, of which only some elements are kept, row by row; all others are 0.

    Args:
        crows: int Tensor [rows + 1] (of each matrix one after another): where the elements of each row begin.
        cols: int Tensor [n]: the column of each element.
        values: Tensor [n].
        shape: ints, [rows, columns] or [matrices, rows, columns].
    """

    __slots__ = ()

    def __init__(self, crows: Tensor, cols: Tensor, values: Tensor, shape: Sequence[int]) -> None:
        super().__init__(values, shape)
        self._crows = crows
        self._cols = cols

    def components(self) -> tuple[tuple[Tensor, ...], tuple[Any, ...]]:
        """The Tensors that it is made of, and the other arguments that it is made with."""
        return (self._crows, self._cols, self._values), (tuple(self.shape),)

    def crows(self) -> Tensor:
        """Where the elements of each row begin."""
        return self._crows

    def cols(self) -> Tensor:
        """The column of each element."""
        return self._cols

    def is_sparse_coo(self) -> bool:
        """False."""
        return False

    def is_sparse_csr(self) -> bool:
        """True."""
        return True

    def sparse_dim(self) -> int:
        """The number of axes with coordinates: all."""
        return self.ndim

    def dense_dim(self) -> int:
        """The number of axes without coordinates: 0."""
        return 0

    def to_sparse_coo(self, sparse_dim: int) -> SparseCooTensor:
        """The same by coordinates.

        Args:
            sparse_dim: number of axes, those of this Tensor.
        """
        if sparse_dim != self.ndim:
            raise ValueError(
                f"to_sparse_coo: sparse_dim: got {sparse_dim}; "
                f"it must be {self.ndim} for a Tensor kept by rows"
            )
        return SparseCooTensor(
            to_tensor(coordinates(self)).astype(self._crows.dtype), self._values, self.shape, coalesced=True
        )

    def to_sparse_csr(self) -> SparseCsrTensor:
        """Itself."""
        return self

    def _host_coordinates(self, name: str) -> np.ndarray:
        """See `sparse.coordinates.coordinates`."""
        starts = host_integers(self._crows, name)
        columns = host_integers(self._cols, name)
        rows = self.shape[-2]
        # Each matrix of a stack has starts of its own.
        counts = np.diff(starts.reshape(-1, rows + 1), axis=1).reshape(-1)
        # Rows are numbered through the whole stack.
        row = np.repeat(np.arange(len(counts)), counts)
        if self.ndim == 2:
            return np.stack([row, columns])
        return np.stack([row // rows, row % rows, columns])

    def to_dense(self) -> Tensor:
        """All elements, zeros included, as a Tensor."""
        return self.to_sparse_coo(self.ndim).to_dense()

    def detach(self) -> SparseCsrTensor:
        """The same without gradients."""
        return SparseCsrTensor(self._crows, self._cols, self._values.detach(), self.shape)

    def __repr__(self) -> str:
        return shown(self, crows=self._crows, cols=self._cols, values=self._values)


def sparse_csr_tensor(
    crows: TensorLike,
    cols: TensorLike,
    values: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    place: DeviceLike | None = None,
    stop_gradient: bool = True,
) -> SparseCsrTensor:
    """Makes a sparse matrix, or a stack of them, from its rows.

    Args:
        crows: where the elements of each row begin, [rows + 1] (of each matrix one after another): Tensor,
            array or list of ints.
        cols: [n] columns.
        values: [n] elements.
        shape: [rows, columns] or [matrices, rows, columns]. Default: the smallest matrix that fits.
        dtype: dtype of the values. Default: theirs.
        place: device. Default: the current one.
        stop_gradient: bool, whether no gradient flows to the values. Default True.
    Returns:
        SparseCsrTensor.
    Raises:
        ValueError: the numbers of rows or of elements do not fit, or a column is negative.
    Example:
        >>> paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2]).to_dense().tolist()
        [[0.0, 2.0], [3.0, 0.0]]
    """
    crows, cols = (
        whole("sparse_csr_tensor", name, given) for name, given in (("crows", crows), ("cols", cols))
    )
    if not isinstance(values, Tensor):
        values = to_tensor(values, dtype=dtype, place=place)
    elif dtype is not None:
        values = values.astype(dtype)
    if crows.ndim != 1 or cols.ndim != 1 or cols.shape[0] != values.shape[0]:
        shapes = (
            f"crows, cols and values have the shapes {list(crows.shape)}, {list(cols.shape)} and "
            f"{list(values.shape)}"
        )
        raise ValueError(f"sparse_csr_tensor: {shapes}; they must be [rows + 1], [n] and [n]")
    refuse_negative("sparse_csr_tensor", "cols", cols)
    if shape is None:
        shape = [crows.shape[0] - 1, int(cols.numpy().max(initial=-1)) + 1]
    shape = list(shape)
    if len(shape) not in (2, 3):
        raise ValueError(f"sparse_csr_tensor: shape: got {shape}; it must have two or three axes")
    needed = (shape[-2] + 1) * (shape[0] if len(shape) == 3 else 1)
    if crows.shape[0] != needed:
        raise ValueError(
            f"sparse_csr_tensor: crows: got {crows.shape[0]} numbers; the shape {shape} needs {needed}"
        )
    if values.stop_gradient != stop_gradient:
        # A Tensor of its own, so that the flag of the caller's one stays.
        values = values.detach()
        values.stop_gradient = stop_gradient
    return SparseCsrTensor(crows, cols, values, shape)


def by_rows(places: np.ndarray, values: Tensor, shape: Sequence[int], kind: Any = "int64") -> SparseCsrTensor:
    """A SparseCsrTensor from sorted coordinates."""
    rows = shape[-2]
    batches = shape[0] if len(shape) == 3 else 1
    if len(shape) == 2:
        row = places[0]
    else:
        # Rows are numbered through the whole stack.
        row = places[0] * rows + places[1]
    # `bincount` alone would leave out empty rows at the end.
    counts = np.bincount(row, minlength=batches * rows).reshape(batches, rows)
    starts = np.concatenate([np.zeros((batches, 1), np.int64), np.cumsum(counts, 1)], 1).reshape(-1)
    return SparseCsrTensor(to_tensor(starts).astype(kind), to_tensor(places[-1]).astype(kind), values, shape)


def _coo_to_csr(self: SparseCooTensor) -> SparseCsrTensor:
    """The same by rows; equal coordinates are added up.

    Raises:
        ValueError: the Tensor has not two or three axes, all with coordinates.
    """
    if self.ndim not in (2, 3) or self.dense_dim():
        raise ValueError(
            f"to_sparse_csr: got shape {list(self.shape)}, {self.sparse_dim()} axes with "
            "coordinates; all of two or three need them"
        )
    return by_rows(*joined(coordinates(self), self._values, self.shape), self.shape, self._indices.dtype)


# attached here, since its result is a class of this module
_coo_to_csr.__name__ = "to_sparse_csr"
_coo_to_csr.__qualname__ = "SparseCooTensor.to_sparse_csr"
SparseCooTensor.to_sparse_csr = _coo_to_csr
