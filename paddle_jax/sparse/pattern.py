"""Checks of sparse Tensors, and new ones of the same kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.csr import SparseCsrTensor, by_rows
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.base import SparseTensor


def need_sparse(name: str, **arguments: Any) -> None:
    """Refuses what is no sparse Tensor."""
    for argument, value in arguments.items():
        if not isinstance(value, (SparseCooTensor, SparseCsrTensor)):
            raise NotImplementedError(f"{name}: {argument}: got {type(value).__name__}; give a sparse Tensor")


def need_exact(name: str, x: SparseTensor) -> None:
    """Refuses a sparse Tensor with zeros that fill up a bound, where they would count."""
    if isinstance(x, SparseCooTensor) and x._filled:
        raise ValueError(
            f"{name}: x: got a SparseCooTensor of paddle_jax.bounded, some of whose elements "
            "may be filling that would count as zeros; call its coalesce() first, outside of "
            "compiled functions"
        )


def like(
    x: SparseTensor, places: np.ndarray, values: Tensor, shape: Sequence[int], joined: bool = False
) -> SparseTensor:
    """A sparse Tensor of the kind of x, from coordinates (sorted ones for rows) and values.

    Filling of x counts as filling of the result, unless equal coordinates have been `joined`.
    """
    if isinstance(x, SparseCooTensor):
        kind = x.indices().dtype
    else:
        kind = x.crows().dtype
    if not values.ndim:
        values = values.reshape([1])
    if isinstance(x, SparseCooTensor):
        return SparseCooTensor(to_tensor(places).astype(kind), values, shape, filled=x._filled and not joined)
    return by_rows(places, values, shape, kind)
