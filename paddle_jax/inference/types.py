"""Enumerations of `paddle.inference`: dtypes, devices, precisions."""

import enum


class _Named(enum.Enum):
    def __str__(self):
        return f"{self._shown()}.{self.name}"

    def __repr__(self):
        return f"<{self._shown()}.{self.name}: {self.value}>"

    def __int__(self):
        return self.value

    __index__ = __int__

    @classmethod
    def _shown(cls):
        return cls.__name__

    def __eq__(self, other):
        return self is other or (isinstance(other, int) and other == self.value)

    __hash__ = enum.Enum.__hash__


class DataType(_Named):
    """The dtype of a Predictor's input or output.

    Example:
        >>> paddle.inference.DataType.INT64.value
        1
    """

    FLOAT32, INT64, INT32, UINT8, INT8, FLOAT16, BOOL, FLOAT64, BFLOAT16 = range(9)

    @classmethod
    def _shown(cls):
        return "PaddleDType"


class PlaceType(_Named):
    """The kind of device data is on.

    Example:
        >>> paddle.inference.PlaceType.CPU.value
        0
    """

    UNK, CPU, GPU, XPU, CUSTOM = -1, 0, 1, 2, 4

    @classmethod
    def _shown(cls):
        return "PaddlePlace"


class PrecisionType(_Named):
    """The precision a model is run with.

    Example:
        >>> paddle.inference.PrecisionType.Half.value
        2
    """

    Float32, Int8, Half, Bfloat16 = range(4)

    @classmethod
    def _shown(cls):
        return "Precision"


BYTES = {DataType.FLOAT32: 4, DataType.INT64: 8, DataType.INT32: 4, DataType.UINT8: 1, DataType.INT8: 1, DataType.FLOAT16: 2, DataType.BOOL: 1,
         DataType.FLOAT64: 8, DataType.BFLOAT16: 2}


def get_num_bytes_of_data_type(dtype):
    """How many bytes an element of a dtype takes.

    Args:
        dtype: DataType.
    Example:
        >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.FLOAT32)
        4
    """
    return BYTES[dtype]
