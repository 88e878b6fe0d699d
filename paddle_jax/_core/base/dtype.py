"""Data types: the objects of paddle.float32 and others, conversion from every spelling, promotion rules."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from paddle_jax._core.base.errors import ArgumentError


class DType:
    """A data type of Paddle, e.g. `paddle.float32`.

    Prints as `paddle.float32`; `name` and `value` are those of Paddle's enumeration. Equal only to itself: as
    in Paddle, `paddle.float32 == "float32"` is False. `np` is the NumPy dtype that stores it.
    """

    __slots__ = ("_key", "_value", "np")

    def __init__(self, key: str, value: int, np_dtype: Any) -> None:
        self._key = key
        self._value = value
        self.np: Any = None if np_dtype is None else np.dtype(np_dtype)  # None: a type that no array has

    @property
    def name(self) -> str:
        return self._key.upper()

    @property
    def value(self) -> int:
        return self._value

    @property
    def is_floating(self) -> bool:
        return self._key.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> bool:
        return self._key.startswith("complex")

    @property
    def is_integer(self) -> bool:
        return self._key.startswith(("int", "uint"))

    def __str__(self) -> str:
        if self._value:
            return "paddle." + self._key
        return "DataType.UNDEFINED"

    def __repr__(self) -> str:
        return f"<DataType.{self.name}: {self._value}>"

    def __hash__(self) -> int:
        return self._value

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __reduce__(self) -> tuple[Any, ...]:
        return _member, (self.name,)

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: dict[Any, Any]) -> DType:
        return self


DType.__name__ = DType.__qualname__ = "dtype"
DType.__module__ = "paddle"

bool_ = DType("bool", 1, np.bool_)
uint8 = DType("uint8", 2, np.uint8)
int8 = DType("int8", 3, np.int8)
uint16 = DType("uint16", 4, np.uint16)
int16 = DType("int16", 5, np.int16)
uint32 = DType("uint32", 6, np.uint32)
int32 = DType("int32", 7, np.int32)
uint64 = DType("uint64", 8, np.uint64)
int64 = DType("int64", 9, np.int64)
float32 = DType("float32", 10, np.float32)
float64 = DType("float64", 11, np.float64)
complex64 = DType("complex64", 12, np.complex64)
complex128 = DType("complex128", 13, np.complex128)
undefined = DType("undefined", 0, None)
pstring = DType("pstring", 14, None)
float16 = DType("float16", 15, np.float16)
bfloat16 = DType("bfloat16", 16, ml_dtypes.bfloat16)
float8_e4m3fn = DType("float8_e4m3fn", 17, ml_dtypes.float8_e4m3fn)
float8_e5m2 = DType("float8_e5m2", 18, ml_dtypes.float8_e5m2)

ALL = (
    bool_,
    uint8,
    int8,
    uint16,
    int16,
    uint32,
    int32,
    uint64,
    int64,
    float32,
    float64,
    complex64,
    complex128,
    float16,
    bfloat16,
    float8_e4m3fn,
    float8_e5m2,
)
_MEMBERS = {d.name: d for d in (undefined, *ALL, pstring)} | {"ALL_DTYPE": undefined}
for _name, _dtype in _MEMBERS.items():
    setattr(DType, _name, _dtype)
setattr(DType, "__members__", _MEMBERS)  # noqa: B010  the form of Paddle's enumeration

_BY_NAME = {d._key: d for d in ALL} | {
    "float": float64,
    "double": float64,
    "half": float16,
    "int": int64,
    "complex": complex128,
    "bool_": bool_,
}
_BY_NAME["uint16"] = bfloat16  # Paddle stores bfloat16 as 16-bit words and takes their name for it
_SHORT = ("float", "double", "half", "int", "complex", int, float, complex)
_BY_NP = {d.np: d for d in ALL}
_BY_TYPE = {bool: bool_, int: int64, float: float64, complex: complex128}
FLOATING = (float16, bfloat16, float32, float64)


def convert(dtype: Any) -> DType:
    """Returns the DType for any spelling: DType, "float32", np.float32, np.dtype, float, another
    library's dtype object.

    Raises:
        ArgumentError: the spelling is not a dtype that Paddle knows (TypeError there in Python functions,
            ValueError in those from C++).
    """
    if type(dtype) is DType:
        return dtype
    known = _by_python_type_or_name(dtype) or _by_np_dtype(dtype)
    if known is None:
        raise ArgumentError(
            f"dtype: got {dtype!r}; allowed are paddle dtypes and their names such as "
            "'float32', 'int64', 'bool'"
        )
    return known


def _by_python_type_or_name(dtype: Any) -> DType | None:
    """The DType of a type such as `float` or of a name, with or without "paddle." in front."""
    if isinstance(dtype, type):
        return _BY_TYPE.get(dtype)
    if isinstance(dtype, str):
        return _BY_NAME.get(dtype.removeprefix("paddle."))
    return None


def _by_np_dtype(dtype: Any) -> DType | None:
    """The DType of what NumPy can make a dtype of."""
    try:
        if dtype is None:
            return None
        return _BY_NP.get(np.dtype(dtype))
    except TypeError:
        return None


def is_short(dtype: Any) -> bool:
    """Whether it is a short name or one of Python's types of numbers, such as `float`.

    Some functions of Paddle do not take these.
    """
    return isinstance(dtype, str | type) and dtype in _SHORT


def _member(name: str) -> DType:
    """The DType of an enumeration name; pickles of dtypes call it."""
    return _MEMBERS[name]


def of(value: Any) -> DType:
    """The DType of a jax or NumPy array."""
    return _BY_NP[value.dtype]


class _Default:
    dtype = float32


def get_default_dtype() -> str:
    """Returns the name of the floating dtype that creation functions use when none is given
    (`"float32"` at start).

    Returns:
        str.
    Example:
        >>> paddle.get_default_dtype()
        'float32'
    """
    return _Default.dtype._key


def set_default_dtype(d: Any) -> None:
    """Sets the floating dtype that creation functions use when none is given.

    Args:
        d: float16, bfloat16, float32 or float64, in any spelling.
    Raises:
        TypeError: d is not one of these.
    Example:
        >>> paddle.set_default_dtype("float64"); paddle.ones([1]).dtype
        <DataType.FLOAT64: 11>
        >>> paddle.set_default_dtype("float32")
    """
    dtype = None if is_short(d) else convert(d)
    if dtype is None or dtype not in FLOATING:
        raise TypeError(f"set_default_dtype: d: got {d}; allowed are float16, bfloat16, float32, float64")
    _Default.dtype = dtype


def default() -> DType:
    """The default floating DType."""
    return _Default.dtype


def default_complex() -> DType:
    """The complex DType that goes with the default floating dtype."""
    if _Default.dtype is float64:
        return complex128
    return complex64


def promote_np(a: np.dtype, b: np.dtype) -> np.dtype:
    """The common dtype of two array operands by Paddle's rules, as measured for all pairs of 12 dtypes.

    Equal dtypes stay. Two floats give the wider one (float16 with bfloat16: float32). Complex with anything
    gives complex128 when either side is double precision, else complex64. Everything else is an error: Paddle
    does not mix integers, or integers and floats, implicitly.
    """
    if a == b:
        return a
    x = _BY_NP[a]
    y = _BY_NP[b]
    if x.is_complex or y.is_complex:
        # An integer does not widen complex64, only double precision does.
        double = any(d in (float64, complex128) for d in (x, y))
        if double:
            return complex128.np
        return complex64.np
    if x in FLOATING and y in FLOATING:
        if float64 in (x, y):
            return float64.np
        return float32.np
    raise TypeError(
        f"type promotion: got {x._key} and {y._key}; only floats with floats, and complex with "
        "any, are promoted; cast one with astype"
    )


def mixed_np(a: Any, b: Any, wide: bool = False) -> np.dtype:
    """The common dtype of two arrays of which at least one is 0-d, in ops where Paddle counts a 0-d
    tensor as a number.

    The higher of the categories bool, integer, float, complex decides; within one, the array that is not 0-d
    (both 0-d, or `wide`: the wider).
    """
    x = a.dtype
    y = b.dtype
    if x == y:
        return x
    if _category(x) != _category(y):
        low, high = sorted((x, y), key=_category)
        # Complex numbers keep the precision of a wide real operand.
        if high.kind == "c":
            return promote_np(high, low)
        return high
    if not wide and a.ndim != b.ndim:
        if a.ndim:
            return x
        return y
    # Arrays of different integers are an error, but here one of both counts as a number.
    if x.kind in "iu":
        return np.promote_types(x, y)
    return promote_np(x, y)


def _category(dtype: np.dtype) -> int:
    """The rank of bool, integers, floats (also bfloat16, whose kind is V) and complex numbers."""
    return {"b": 0, "i": 1, "u": 1, "c": 3}.get(dtype.kind, 2)


def number_np(value: Any) -> np.dtype:
    """The dtype of a number that stands alone: a NumPy number keeps its own, others get Paddle's defaults."""
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool):
        return bool_.np
    if isinstance(value, int):
        return int64.np
    if isinstance(value, complex):
        return default_complex().np
    return default().np


def stays_whole(value: Any, like: np.dtype) -> bool:
    """Whether a float beside an integer Tensor of dtype `like` becomes an integer, in `pow` and `remainder`.

    Paddle's kernels of int32 and int64 cut the fraction; infinity and NaN have no integer.
    """
    if like.kind not in "iu" or not isinstance(value, float):
        return False
    return value.is_integer() or like.itemsize >= 4 and math.isfinite(value)


def keeps_dtype(scalars: bool | str, value: Any, like: np.dtype) -> bool:
    """Whether a number beside a Tensor of dtype `like` takes that dtype. scalars: as declared by `op`."""
    if scalars == "like":
        return not isinstance(value, complex | np.complexfloating)
    return scalars == "whole" and stays_whole(value, like)


# A union takes longer to build than to ask.
_TRUTH_VALUES = (bool, np.bool_)
NUMBER_TYPES = (bool, int, float, complex, np.number, np.bool_)


def scalar_np(value: Any, like: np.dtype) -> np.dtype:
    """The dtype in which an operation between a tensor of dtype `like` and a Python scalar runs."""
    dtype = _BY_NP[like]
    if isinstance(value, float):
        if dtype.is_floating or dtype.is_complex:
            return like
        return float32.np
    if isinstance(value, _TRUTH_VALUES):
        return like
    if isinstance(value, complex):
        if dtype.is_complex:
            return like
        if dtype is float64:
            return complex128.np
        return complex64.np
    if isinstance(value, int):
        # Bools cannot hold the number.
        if dtype is bool_:
            return int64.np
        return like
    return like
