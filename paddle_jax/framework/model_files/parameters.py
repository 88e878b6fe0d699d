"""Parameter files of models (`.pdiparams`): tensor records one after the other, in the order of the sorted
names, which the file does not hold."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from paddle_jax.framework.pickle_names import CorruptFileError
from paddle_jax.framework.tensor_record import read_record, write_record


def encode(arrays: dict[str, Any]) -> bytes:
    """The bytes of a file that holds a dict of arrays."""
    stream = io.BytesIO()
    for name in sorted(arrays):
        write_record(np.asarray(arrays[name]), stream)
    return stream.getvalue()


def decode(data: Any, parameters: dict[str, Any]) -> dict[Any, Any]:
    """The arrays of a file's bytes by name.

    Args:
        data: bytes.
        parameters: {name: (number, shape, dtype, trainable)} of the program they belong to.
    Raises:
        CorruptFileError: the file is damaged, or belongs to another program.
    """
    stream = io.BytesIO(data)
    found = {}
    # In the order of the names, which the writer uses as well.
    for name in sorted(parameters):
        _, shape, dtype, _ = parameters[name]
        array = read_record(stream)
        if list(array.shape) != shape or array.dtype.name != dtype:
            got = f"{array.dtype} {list(array.shape)}"
            raise CorruptFileError(
                f"parameter {name} is {got}, but {dtype} {shape} in the program: a file of another model"
            )
        found[name] = array
    # Fewer records than the file has: another model.
    if stream.read(1):
        raise CorruptFileError("bytes follow the last parameter: a file of another model")
    return found
