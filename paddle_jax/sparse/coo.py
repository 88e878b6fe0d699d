"""A sparse Tensor as coordinates and values. What is computed with it are operations on these two, so
gradients flow to the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.sparse.base import SparseTensor, whole
from paddle_jax.sparse.coordinates import coordinates, host_integers, refuse_negative
from paddle_jax.sparse.text import shown
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import DeviceLike, DTypeLike, TensorLike


class SparseCooTensor(SparseTensor):
    """A Tensor of which only the elements at given coordinates are kept; all others are 0.

    Args:
        indices: Tensor int64 [axes, n], one column for each element.
        values: Tensor [n].
        shape: ints, the whole shape.
        filled: whether zeros that only fill up a bound may be among the elements (`paddle_jax.bounded`).
        coalesced: whether the coordinates are known to be sorted, each there once.
    """

    __slots__ = ("_coalesced", "_filled")

    def __init__(
        self,
        indices: Tensor,
        values: Tensor,
        shape: Sequence[int],
        filled: bool = False,
        coalesced: bool = False,
    ) -> None:
        super().__init__(values, shape)
        self._indices = indices
        self._filled = filled
        self._coalesced = coalesced

    def components(self) -> tuple[tuple[Tensor, ...], tuple[Any, ...]]:
        """The Tensors that it is made of, and the other arguments that it is made with."""
        return (self._indices, self._values), (tuple(self.shape), self._filled, self._coalesced)

    def indices(self) -> Tensor:
        """The coordinates, int64 [axes, n]."""
        return self._indices

    def is_sparse_coo(self) -> bool:
        """True."""
        return True

    def is_sparse_csr(self) -> bool:
        """False."""
        return False

    def is_coalesced(self) -> bool:
        """Whether the coordinates are known to be sorted, each there once: in results of `coalesce` and
        `to_sparse_coo`."""
        return self._coalesced

    def coalesce(self) -> SparseCooTensor:
        """The same with equal coordinates added up; see `paddle.sparse.coalesce`."""
        return coalesce(self)

    def to_dense(self) -> Tensor:
        """All elements, zeros included, as a Tensor; equal coordinates are added up."""
        if not self._values.ndim:  # a sum of everything, which Paddle keeps as one number
            return self._values.reshape([1])
        if self.dtype.np.kind == "b":
            # Bools are counted: equal coordinates cannot be added up as bools.
            return scatter_nd(_columns(self._indices), self._values.astype("int32"), list(self.shape)) > 0
        return scatter_nd(_columns(self._indices), self._values, list(self.shape))

    def sparse_dim(self) -> int:
        """The number of axes with coordinates."""
        return self._indices.shape[0]

    def dense_dim(self) -> int:
        """The number of axes without coordinates."""
        return self.ndim - self.sparse_dim()

    def to_sparse_coo(self, sparse_dim: int) -> SparseCooTensor:
        """Itself."""
        return self

    def _host_coordinates(self, name: str) -> np.ndarray:
        """See `sparse.coordinates.coordinates`."""
        places = host_integers(self._indices, name)
        # A sum of everything has one coordinate, without an axis for the elements.
        if places.ndim == 2:
            return places
        return places.reshape(-1, 1)

    def detach(self) -> SparseCooTensor:
        """The same without gradients."""
        return SparseCooTensor(
            self._indices, self._values.detach(), self.shape, self._filled, self._coalesced
        )

    def __repr__(self) -> str:
        return shown(self, indices=self._indices, values=self._values)


def _columns(indices: Tensor) -> Tensor:
    return indices.transpose([1, 0])


def sparse_coo_tensor(
    indices: TensorLike,
    values: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    place: DeviceLike | None = None,
    stop_gradient: bool = True,
) -> SparseCooTensor:
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
        TypeError: coordinates are no integers.
    Example:
        >>> paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0]).to_dense().tolist()
        [[0.0, 2.0], [3.0, 0.0]]
    """
    indices = whole("sparse_coo_tensor", "indices", indices)
    if not isinstance(values, Tensor):
        values = to_tensor(values, dtype=dtype, place=place)
    elif dtype is not None:
        values = values.astype(dtype)
    if indices.ndim != 2 or values.ndim < 1 or indices.shape[1] != values.shape[0]:
        shapes = f"got shape {list(indices.shape)} for values of {list(values.shape)}"
        raise ValueError(f"sparse_coo_tensor: indices: {shapes}; they must be [axes, n] and [n]")
    refuse_negative("sparse_coo_tensor", "indices", indices)
    # -1 for no elements, so that the length is 0.
    largest = indices.numpy().max(axis=1, initial=-1) + 1
    if shape is None:
        shape = [*largest.tolist(), *values.shape[1:]]
    else:
        shape = list(shape)
    if len(shape) != len(largest) + values.ndim - 1 or any(
        n > size for n, size in zip(largest, shape, strict=False)
    ):
        raise ValueError(
            f"sparse_coo_tensor: shape: got {shape}; the coordinates need at least {largest.tolist()}"
        )
    if values.stop_gradient != stop_gradient:
        # A Tensor of its own, so that the flag of the caller's one stays.
        values = values.detach()
        values.stop_gradient = stop_gradient
    return SparseCooTensor(indices, values, shape)


def coalesce(x: SparseCooTensor, name: str | None = None) -> SparseCooTensor:
    """Sorts the coordinates and adds up the elements of equal ones.

    Args:
        x: SparseCooTensor.
    Returns:
        SparseCooTensor.
    Example:
        >>> paddle.sparse.coalesce(paddle.sparse.sparse_coo_tensor([[0, 0]], [1.0, 2.0])).values().tolist()
        [3.0]
    """
    if not isinstance(x, SparseCooTensor):
        raise NotImplementedError(f"coalesce: x: got {type(x).__name__}; give a SparseCooTensor")
    kept, place = np.unique(
        coordinates(x, "coalesce").astype(x.indices().dtype.np), axis=1, return_inverse=True
    )
    if x.values().ndim:
        elements = x.values()
    else:
        elements = x.values().reshape([1])
    values = scatter_nd(
        unsqueeze(to_tensor(place.reshape(-1)), 1), elements, [kept.shape[1], *elements.shape[1:]]
    )
    return SparseCooTensor(to_tensor(kept), values, x.shape, coalesced=True)
