"""Coordinates of sparse Tensors on the host.

The values stay Tensors with gradients.
"""

import numpy as np

from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd

_INSTEAD = (
    "make sparse Tensors outside of it, or bound their elements with the functions of paddle_jax.bounded"
)


def coordinates(x, name="sparse coordinates"):
    """The coordinates of the elements of a sparse Tensor: int64 [axes, n], on the host."""
    return x._host_coordinates(name)


def host_integers(tensor, name):
    """A Tensor of coordinates as an int64 array; an error of `name` while a program is traced."""
    return host_value(tensor, name, _INSTEAD).astype(np.int64)


def flat(places, shape):
    """One number for each coordinate."""
    if places.shape[1]:
        return np.ravel_multi_index(tuple(places), tuple(shape))
    return np.zeros(0, np.int64)


def joined(places, values, shape):
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
                if np.array_equal(group, np.arange(len(group)))
                else gather(values, to_tensor(np.argsort(group)))
            ),
        )
    return kept, scatter_nd(
        unsqueeze(to_tensor(group.astype(np.int64)), 1), values, [len(numbers), *values.shape[1:]]
    )
