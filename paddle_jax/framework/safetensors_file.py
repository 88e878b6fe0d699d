"""State dicts in the safetensors format. Reading goes through the library's codec, since its NumPy front end
does not know bfloat16."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

from paddle_jax.framework.pickle_names import CorruptFileError, shortened

_NAMES = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
    "U16": np.uint16,
    "I16": np.int16,
    "U32": np.uint32,
    "I32": np.int32,
    "U64": np.uint64,
}
_NAMES |= {
    "I64": np.int64,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F32": np.float32,
    "F64": np.float64,
    "C64": np.complex64,
}
_NAMES |= {"F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2}


def encode(arrays: dict[str, Any], facts: dict[str, Any] | None = None) -> bytes:
    """The bytes of a file that holds the given dict of ndarrays, and a dict of texts about them.

    Raises:
        safetensors.SafetensorError: a dtype has no form in the format.
    """
    return safetensors.numpy.save(
        # The codec wants contiguous elements, and `ascontiguousarray` makes a 0-D array one of 1-D.
        {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()},
        facts,
    )


class DamagedError(CorruptFileError, safetensors.SafetensorError):
    """Bytes that are not of this format. Also a SafetensorError, which Paddle raises."""


def decode(data: Any) -> dict[str, Any]:
    """The dict of ndarrays in a file's bytes.

    Raises:
        DamagedError: the bytes are not of this format.
    """
    try:
        return {
            name: np.frombuffer(entry["data"], _NAMES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in safetensors.deserialize(data)
        }
    except (safetensors.SafetensorError, ValueError) as error:
        raise DamagedError(shortened(str(error))) from error
    except KeyError as error:
        raise DamagedError(f"it holds the dtype {error}, of which Tensors cannot be made") from error
