"""`VarDesc.VarType`: numbers of dtypes and kinds of variables in Paddle's older files and interfaces."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes


class VarType(enum.Enum):
    """A dtype or a kind of variable; the dtypes are accepted wherever a dtype is."""

    BOOL, INT16, INT32, INT64, FP16, FP32, FP64 = 0, 1, 2, 3, 4, 5, 6
    DENSE_TENSOR, SELECTED_ROWS, FEED_MINIBATCH, FETCH_LIST, STEP_SCOPES = 7, 8, 9, 10, 11
    DENSE_TENSOR_ARRAY, PLACE_LIST, READER, RAW = 13, 14, 15, 17
    LOD_TENSOR, LOD_TENSOR_ARRAY = 7, 13
    UINT8, INT8, BF16, COMPLEX64, COMPLEX128, STRING, STRINGS, VOCAB, SPARSE_COO = (
        20,
        21,
        22,
        23,
        24,
        25,
        26,
        27,
        30,
    )
    FP8_E4M3FN, FP8_E5M2, UINT16, UINT32, UINT64 = 32, 33, 36, 37, 38

    def __int__(self) -> int:
        return self.value

    __index__ = __int__

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype; NumPy and `dtype=` arguments read it.

        Raises:
            AttributeError: it is a kind of variable.
        """
        dtype = getattr(dtypes, _NAMES.get(self.name, self.name.lower()), None)
        if not isinstance(dtype, dtypes.DType):
            raise AttributeError(f"VarType.{self.name} is no dtype")
        return dtype.np

    def __str__(self) -> str:
        return f"paddle.{self.dtype.name}" if hasattr(self, "dtype") else f"VarType.{self.name}"


_NAMES = {
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
    "BF16": "bfloat16",
    "BOOL": "bool_",
    "STRING": "",
    "FP8_E4M3FN": "float8_e4m3fn",
    "FP8_E5M2": "float8_e5m2",
}
_BY_DTYPE = {dtypes.convert(member): member for member in VarType if hasattr(member, "dtype")}


def of(dtype: Any) -> VarType:
    """The VarType of a dtype in any spelling."""
    return _BY_DTYPE[dtypes.convert(dtype)]
