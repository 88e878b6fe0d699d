"""Which elements of a sparse Tensor are kept: work with coordinates on the host, while values stay
Tensors with gradients."""

import numpy as np

from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.csr import SparseCsrTensor
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.manipulation import unsqueeze
from paddle_jax.tensor.scattering import scatter_nd


def need_sparse(name, **arguments):
    """Refuses what is no sparse Tensor."""
    for argument, value in arguments.items():
        if not isinstance(value, (SparseCooTensor, SparseCsrTensor)):
            raise NotImplementedError(f"{name}: {argument}: got {type(value).__name__}; give a sparse Tensor")


_INSTEAD = (
    "make sparse Tensors outside of it, or bound their elements with the functions of paddle_jax.bounded"
)


def need_exact(name, x):
    """Refuses a sparse Tensor with zeros that fill up a bound, where they would count."""
    if isinstance(x, SparseCooTensor) and x._filled:
        raise ValueError(
            f"{name}: x: got a SparseCooTensor of paddle_jax.bounded, some of whose elements "
            "may be filling that would count as zeros; call its coalesce() first, outside of "
            "compiled functions"
        )


def coordinates(x, name="sparse coordinates"):
    """The coordinates of the elements that are kept, int64 [axes, n], on the host."""
    if isinstance(x, SparseCooTensor):
        places = host_value(x.indices(), name, _INSTEAD).astype(np.int64)
        return places if places.ndim == 2 else places.reshape(-1, 1)
    starts, cols = (host_value(t, name, _INSTEAD).astype(np.int64) for t in (x.crows(), x.cols()))
    rows = x.shape[-2]
    counts = np.diff(starts.reshape(-1, rows + 1), axis=1).reshape(-1)
    row = np.repeat(np.arange(len(counts)), counts)
    return np.stack([row, cols] if x.ndim == 2 else [row // rows, row % rows, cols])


def flat(places, shape):
    """One number for each coordinate."""
    return np.ravel_multi_index(tuple(places), tuple(shape)) if places.shape[1] else np.zeros(0, np.int64)


def joined(places, values, shape):
    """(sorted coordinates without repetition, the sums of the values of each)."""
    values = values if values.ndim else values.reshape([1])
    numbers, group = np.unique(flat(places, shape), return_inverse=True)
    kept = np.stack(np.unravel_index(numbers, tuple(shape))) if len(numbers) else places[:, :0]
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


def like(x, places, values, shape):
    """A sparse Tensor of the kind of x, from coordinates (sorted ones for rows) and values."""
    kind = x.indices().dtype if isinstance(x, SparseCooTensor) else x.crows().dtype
    values = values if values.ndim else values.reshape([1])
    if isinstance(x, SparseCooTensor):
        return SparseCooTensor(to_tensor(places).astype(kind), values, shape)
    return by_rows(places, values, shape, kind)


def by_rows(places, values, shape, kind="int64"):
    """A SparseCsrTensor from sorted coordinates."""
    rows = shape[-2]
    batches = shape[0] if len(shape) == 3 else 1
    row = places[0] if len(shape) == 2 else places[0] * rows + places[1]
    counts = np.bincount(row, minlength=batches * rows).reshape(batches, rows)
    starts = np.concatenate([np.zeros((batches, 1), np.int64), np.cumsum(counts, 1)], 1).reshape(-1)
    return SparseCsrTensor(to_tensor(starts).astype(kind), to_tensor(places[-1]).astype(kind), values, shape)
