"""Enumerations of `paddle.inference`: dtypes, devices, precisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


class _Member:
    """A named number, as Paddle's enumerations have them: `__members__` has all of a class by name."""

    __members__: dict[Any, Any]

    _shown = ""
    __members__ = {}

    def __new__(cls, value: Any) -> Any:
        found = next((m for m in cls.__members__.values() if m.value == value), None)
        if found is None:
            raise ValueError(
                f"{cls.__name__}: {value!r} is no value of it; there are {', '.join(cls.__members__)}"
            )
        return found

    @classmethod
    def _fill(cls, shown: str, names: dict[str, Any]) -> None:
        cls._shown = shown
        cls.__members__ = {}
        for name, value in names.items():
            # Not `cls(value)`, which finds a member.
            made = object.__new__(cls)
            made._name = name
            made._value = value
            cls.__members__[name] = made
            setattr(cls, name, made)

    @property
    def name(self) -> Any:
        """The name."""
        return self._name

    @property
    def value(self) -> Any:
        """The number."""
        return self._value

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is int and other == self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __str__(self) -> str:
        return f"{self._shown}.{self._name}"

    def __repr__(self) -> str:
        return f"<{self}: {self._value}>"

    def __reduce__(self) -> Any:
        return type(self), (self._value,)


class DataType(_Member):
    """The dtype of a Predictor's input or output.

    Args:
        value: int, the number of a member.
    Attributes:
        FLOAT32, INT64, INT32, UINT8, INT8, FLOAT16, BOOL, FLOAT64, BFLOAT16: the members.
    Example:
        >>> paddle.inference.DataType.INT64.value
        1
    """

    FLOAT32: DataType
    INT64: DataType
    INT32: DataType
    UINT8: DataType
    INT8: DataType
    FLOAT16: DataType
    BOOL: DataType
    FLOAT64: DataType
    BFLOAT16: DataType


class PlaceType(_Member):
    """The kind of device data is on.

    Args:
        value: int, the number of a member.
    Example:
        >>> paddle.inference.PlaceType.CPU.value
        0
    """


class PrecisionType(_Member):
    """The precision a model is run with.

    Args:
        value: int, the number of a member.
    Example:
        >>> paddle.inference.PrecisionType.Half.value
        2
    """

    Float32: PrecisionType


DataType._fill(
    "PaddleDType",
    {
        name: i
        for i, name in enumerate(
            ("FLOAT32", "INT64", "INT32", "UINT8", "INT8", "FLOAT16", "BOOL", "FLOAT64", "BFLOAT16")
        )
    },
)
PlaceType._fill("PaddlePlace", {"UNK": -1, "CPU": 0, "GPU": 1, "XPU": 2, "CUSTOM": 4})
PrecisionType._fill("Precision", {"Float32": 0, "Int8": 1, "Half": 2, "Bfloat16": 3})

BYTES = {
    DataType.FLOAT32: 4,
    DataType.INT64: 8,
    DataType.INT32: 4,
    DataType.UINT8: 1,
    DataType.INT8: 1,
    DataType.FLOAT16: 2,
    DataType.BOOL: 1,
    DataType.FLOAT64: 8,
    DataType.BFLOAT16: 2,
}


def get_num_bytes_of_data_type(dtype: DTypeLike) -> int:
    """How many bytes an element of a dtype takes.

    Args:
        dtype: DataType.
    Returns:
        int.
    Example:
        >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.FLOAT32)
        4
    """
    return BYTES[dtype]
