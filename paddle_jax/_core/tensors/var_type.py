"""`VarDesc.VarType`: numbers of dtypes and kinds of variables in Paddle's older files and interfaces."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes


class VarType(enum.Enum):
    """A dtype or a kind of variable; the dtypes are accepted wherever a dtype is."""

    BOOL = 0
    INT16 = 1
    INT32 = 2
    INT64 = 3
    FP16 = 4
    FP32 = 5
    FP64 = 6
    DENSE_TENSOR = 7
    SELECTED_ROWS = 8
    FEED_MINIBATCH = 9
    FETCH_LIST = 10
    STEP_SCOPES = 11
    DENSE_TENSOR_ARRAY = 13
    PLACE_LIST = 14
    READER = 15
    RAW = 17
    LOD_TENSOR = 7
    LOD_TENSOR_ARRAY = 13
    UINT8 = 20
    INT8 = 21
    BF16 = 22
    COMPLEX64 = 23
    COMPLEX128 = 24
    STRING = 25
    STRINGS = 26
    VOCAB = 27
    SPARSE_COO = 30
    FP8_E4M3FN = 32
    FP8_E5M2 = 33
    UINT16 = 36
    UINT32 = 37
    UINT64 = 38

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
        if hasattr(self, "dtype"):
            return f"paddle.{self.dtype.name}"
        return f"VarType.{self.name}"


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
