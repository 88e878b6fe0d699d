"""Numbers, lists and arrays of a user as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tensors.tensor import Tensor

__all__ = ["host_array", "plain"]


def host_array(data: Any, exact: bool = False) -> np.ndarray:
    """The data as a NumPy array; unless `exact`, floats and complex numbers of a list take the default dtype,
    and uint16 is read as bfloat16."""
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
        # Paddle's NumPy form of bfloat16 is uint16.
        if array.dtype == np.uint16 and not exact:
            array = array.view(dtypes.bfloat16.np)
    elif isinstance(data, bool | int | float | complex | list | tuple):
        try:
            array = np.array(plain(data))
        except ValueError:
            raise ValueError(
                "to_tensor: data: got lists of different lengths inside each other; "
                "those of one level must be equally long"
            ) from None
        # Tensors in a list keep the dtype that they have.
        if not exact and not (isinstance(data, list | tuple) and any(isinstance(d, Tensor) for d in data)):
            array = _default_dtype(array)
    elif hasattr(data, "__array__") or isinstance(data, bytes | memoryview):
        array = np.asarray(data)
    else:
        raise TypeError(
            f"to_tensor: data: got {type(data).__name__}; allowed are numbers, lists, tuples, "
            "numpy.ndarray and paddle.Tensor"
        )
    # Texts, objects and dates are no tensors.
    if array.dtype.kind in "OSUmM":
        error = TypeError if isinstance(data, str) else ArgumentError
        if array.dtype.kind == "O" and isinstance(data, list | tuple):
            kind = ""
        else:
            kind = "(InvalidArgument) "
        raise error(
            f"{kind}to_tensor: data: got elements of type {array.dtype}; allowed are numbers and bools"
        )
    # Numbers from files may have the other order of bytes.
    if array.dtype.isnative:
        return array
    # Files may hold the other order of bytes, which XLA does not take.
    return array.astype(array.dtype.newbyteorder("="))


def plain(data: Any) -> Any:
    """Lists of arrays for lists of Tensors."""
    if isinstance(data, list | tuple):
        return [plain(d) for d in data]
    if isinstance(data, Tensor):
        return np.asarray(data)
    return data


def _default_dtype(array: np.ndarray) -> np.ndarray:
    """Numbers of a list in the dtype that Paddle gives them."""
    wanted = {"f": dtypes.default().np, "c": dtypes.default_complex().np}.get(array.dtype.kind)
    # Whole numbers of a list are int64, also where NumPy makes int32 of them.
    if array.dtype == np.int32:
        wanted = np.dtype(np.int64)
    if wanted is None:
        return array
    return array.astype(wanted)
