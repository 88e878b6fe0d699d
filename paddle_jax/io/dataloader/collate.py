"""How the samples of a batch become arrays, and arrays Tensors."""

import numbers
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.deferred.value import on_host, settled
from paddle_jax._core.place import put
from paddle_jax._core.tensor import Tensor, wrap


def default_collate_fn(batch):
    """Stacks samples field by field.

    Args:
        batch: list of samples of one structure. Arrays and Tensors are stacked along a new first axis, numbers become an ndarray, strings
            stay a list, dicts and sequences are taken apart and collated field by field.
    Returns:
        ndarray, Tensor, or a dict or list of them.
    Raises:
        TypeError: a sample holds something else.
        RuntimeError: samples have different numbers of fields.
    Example:
        >>> from paddle_jax.io.dataloader.collate import default_collate_fn
        >>> [field.tolist() for field in default_collate_fn([(1, 2.0), (3, 4.0)])]
        [[1, 3], [2.0, 4.0]]
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return np.stack(batch, axis=0)
    if isinstance(sample, Tensor):
        return _stacked(batch)
    if isinstance(sample, numbers.Number):
        return np.array(batch)
    if isinstance(sample, str | bytes):
        return batch
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([each[key] for each in batch]) for key in sample}
    if isinstance(sample, Sequence):
        if any(len(each) != len(sample) for each in batch):
            raise RuntimeError("default_collate_fn: batch: samples have different numbers of fields; pad them or pass a collate_fn.")
        return [default_collate_fn(fields) if not isinstance(fields[0], str | bytes) else fields for fields in zip(*batch, strict=True)]
    raise TypeError(
        f"default_collate_fn: batch: got {type(sample).__name__}; allowed are Tensor, ndarray, numbers, str, dict and list; pass a collate_fn."
    )


def _stacked(batch):
    """Tensors along a new axis, by NumPy if they are on the host: XLA would compile for each number of them."""
    arrays = [settled(each._raw) for each in batch]
    if all(type(a) is np.ndarray or (isinstance(a, jax.Array) and all(d.platform == "cpu" for d in a.devices())) for a in arrays):
        arrays = [np.asarray(a) for a in arrays]
        if all(a.dtype == arrays[0].dtype for a in arrays):
            return wrap(on_host(np.stack(arrays)))
    return wrap(jnp.stack([each._value for each in batch]))


def default_convert_fn(batch):
    """Passes one sample on as it is; tuples become lists.

    Args:
        batch: one sample of any structure.
    Returns:
        The sample.
    Example:
        >>> from paddle_jax.io.dataloader.collate import default_convert_fn
        >>> default_convert_fn((1, "a"))
        [1, 'a']
    """
    if isinstance(batch, Mapping):
        return {key: default_convert_fn(value) for key, value in batch.items()}
    if isinstance(batch, Sequence) and not isinstance(batch, str | bytes):
        return [default_convert_fn(value) for value in batch]
    return batch


def to_tensors(batch, place=None, copy=True):
    """Replaces the ndarrays of a batch by Tensors on `place`; tuples become lists. Arrays are copied if the data set may use its buffer again."""
    if isinstance(batch, np.ndarray):
        if batch.dtype.kind not in "biufcV":
            raise ValueError(f"DataLoader: a batch holds an ndarray of dtype {batch.dtype}; a Tensor cannot; return a list, or encode it as numbers.")
        return wrap(put(np.array(batch) if copy else batch, place))
    if isinstance(batch, Mapping):
        return {key: to_tensors(value, place, copy) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return [to_tensors(value, place, copy) for value in batch]
    return batch
