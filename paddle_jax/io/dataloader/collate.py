"""How the samples of a batch become arrays, and arrays Tensors."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.lazy.transfer import materialize
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.place import put
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.io.dataloader.exchange import Rows
from paddle_jax.tensor.joining import stack

if TYPE_CHECKING:
    from paddle_jax._core.tensors.place import Place


_WORTH_IT = 1 << 12  # bytes of one sample from which stacking costs more than handing the parts on


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Stacks samples field by field.

    Args:
        batch: list of samples of one structure. Arrays and Tensors are stacked along a new first axis,
            numbers become an ndarray, strings stay a list, dicts and sequences are taken apart and
            collated field by field.
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
    return collated(batch, np.stack, _stacked)


def collated(
    batch: Sequence[Any],
    arrays: Callable[[Sequence[Any]], Any],
    tensors: Callable[[Sequence[Any]], Any],
    path: tuple[Any, ...] = (),
) -> Any:
    """Samples put together field by field.

    Args:
        batch: list of samples.
        arrays: joins a list of ndarrays.
        tensors: joins a list of Tensors.
        path: keys and positions of the field that the batch is.
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        _check_shapes(batch, path)
        return arrays(batch)
    if isinstance(sample, Tensor):
        _check_shapes(batch, path)
        # Gradients flow through the operation alone.
        if any(not isinstance(each, Tensor) or not each.stop_gradient for each in batch):
            return _stack(batch)
        return tensors(batch)
    if isinstance(sample, numbers.Number):
        return np.array(batch)
    if isinstance(sample, str | bytes):
        return batch
    if isinstance(sample, Mapping):
        return {key: collated([each[key] for each in batch], arrays, tensors, (*path, key)) for key in sample}
    if isinstance(sample, Sequence):
        if any(len(each) != len(sample) for each in batch):
            raise RuntimeError(
                "default_collate_fn: batch: samples have different numbers of fields; "
                "pad them or pass a collate_fn."
            )
        fields = zip(*batch, strict=True)
        return [
            field if isinstance(field[0], str | bytes) else collated(field, arrays, tensors, (*path, number))
            for number, field in enumerate(fields)
        ]
    raise TypeError(
        f"default_collate_fn: batch: got {type(sample).__name__}; allowed are Tensor, ndarray, numbers, str, "
        "dict and list; pass a collate_fn."
    )


def _check_shapes(batch: Sequence[Any], path: tuple[Any, ...]) -> None:
    """Refuses arrays of different shapes.

    Raises:
        ValueError: two samples differ; the text names the first that differs from sample 0.
    """
    first = batch[0].shape
    for index, each in enumerate(batch):
        shape = getattr(each, "shape", first)
        if shape != first:
            field = f"field {''.join(f'[{key!r}]' for key in path)} of " if path else ""
            raise ValueError(
                f"default_collate_fn: batch: {field}sample {index} of the batch has shape {list(shape)}, and "
                f"sample 0 has {list(first)}; pad them to one shape or pass a collate_fn"
            )


def _stacked(batch: Sequence[Tensor]) -> Tensor:
    """Tensors along a new axis, by NumPy if they are on the host: XLA would compile for
    each number of them."""
    arrays = _host_arrays(batch)
    if arrays is None:
        return _stack(batch)
    return wrap(from_numpy(np.stack(arrays)))


def _stack(batch: Sequence[Any]) -> Tensor:
    """Tensors along a new axis by the operation, which refuses what is no Tensor and keeps gradients."""
    return stack(list(batch))


def _host_arrays(tensors: Sequence[Tensor]) -> list[np.ndarray] | None:
    """The NumPy arrays of Tensors of one dtype that are all on the host, else None."""
    arrays = [materialize(held_value(each)) for each in tensors]
    if all(
        type(a) is np.ndarray or (isinstance(a, jax.Array) and all(d.platform == "cpu" for d in a.devices()))
        for a in arrays
    ):
        arrays = [np.asarray(a) for a in arrays]
        # What becomes of different dtypes is for the operation to say.
        if all(a.dtype == arrays[0].dtype for a in arrays):
            return arrays
    return None


def laid_out(batch: Sequence[Any]) -> Any:
    """`default_collate_fn` for a batch that is sent to another process at once: large arrays are not stacked
    here, but on the way."""
    return collated(batch, _as_rows, _tensors_as_rows)


def _as_rows(batch: Sequence[np.ndarray]) -> np.ndarray | Rows:
    first = batch[0]
    alike = all(type(a) is np.ndarray and a.dtype == first.dtype and a.shape == first.shape for a in batch)
    # Objects have no bytes of their own to send.
    if not alike or first.dtype.hasobject or first.nbytes < _WORTH_IT:
        return np.stack(batch)
    return Rows([np.ascontiguousarray(a) for a in batch])


def _tensors_as_rows(batch: Sequence[Tensor]) -> Any:
    arrays = _host_arrays(batch)
    if arrays is None:
        return _stacked(batch)
    return _as_rows(arrays)


def default_convert_fn(batch: Any) -> Any:
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


def to_tensors(batch: Any, place: Place | None = None, copy: bool = True) -> Any:
    """Replaces the ndarrays of a batch by Tensors on `place`; tuples become lists. Arrays are copied if the
    data set may use its buffer again. Tensors are others than those of the data set, and want no gradient,
    as in Paddle, but share their values."""
    if isinstance(batch, Tensor):
        return batch.detach()
    if isinstance(batch, np.ndarray):
        # V: NumPy counts bfloat16 and the small floats of ml_dtypes as that kind.
        if batch.dtype.kind not in "biufcV":
            raise ValueError(
                f"DataLoader: a batch holds an ndarray of dtype {batch.dtype}; a Tensor cannot; "
                "return a list, or encode it as numbers."
            )
        return wrap(put(np.array(batch) if copy else batch, place))
    if isinstance(batch, Mapping):
        return {key: to_tensors(value, place, copy) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return [to_tensors(value, place, copy) for value in batch]
    return batch
