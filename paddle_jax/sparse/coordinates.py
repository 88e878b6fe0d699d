"""Coordinates of sparse Tensors on the host.

The values stay Tensors with gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor

_INSTEAD = (
    "make sparse Tensors outside of it, or bound their elements with the functions of paddle_jax.bounded"
)


def coordinates(x: Any, name: str = "sparse coordinates") -> np.ndarray:
    """The coordinates of the elements of a sparse Tensor: int64 [axes, n], on the host."""
    return x._host_coordinates(name)


def host_integers(tensor: Tensor, name: str) -> np.ndarray:
    """A Tensor of coordinates as an int64 array; an error of `name` while a program is traced."""
    return host_value(tensor, name, _INSTEAD).astype(np.int64)


def refuse_negative(name: str, argument: str, numbers: Tensor) -> None:
    """Raises ValueError for a negative coordinate. NumPy would count it from the end."""
    known = concrete(numbers)
    if known is None:
        return  # while a program is traced
    least = np.asarray(known).min(initial=0)
    if least < 0:
        raise ValueError(f"{name}: {argument}: got {least}; coordinates must not be negative")


def flat(places: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """One number for each coordinate."""
    if places.shape[1]:
        # NumPy's types say one number; of arrays it is an array.
        return np.ravel_multi_index(tuple(places), tuple(shape))  # pyright: ignore[reportReturnType]
    return np.zeros(0, np.int64)


def joined(places: np.ndarray, values: Tensor, shape: Sequence[int]) -> tuple[np.ndarray, Tensor]:
    """(sorted coordinates without repetition, the sums of the values of each)."""
    if not values.ndim:
        values = values.reshape([1])
    numbers, group = np.unique(flat(places, shape), return_inverse=True)
    if len(numbers):
        kept = np.stack(np.unravel_index(numbers, tuple(shape)))
    else:
        kept = places[:, :0]
    if len(numbers) == places.shape[1]:
        return (
            kept,
            (
                values
                # sorted already: the values stay as they are
                if np.array_equal(group, np.arange(len(group)))
                else gather(values, to_tensor(np.argsort(group)))
            ),
        )
    return kept, scatter_nd(
        unsqueeze(to_tensor(group.astype(np.int64)), 1), values, [len(numbers), *values.shape[1:]]
    )
