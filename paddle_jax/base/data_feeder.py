"""Checks of arguments while a static program is built, and names of dtypes, as libraries take them from
`paddle.base.data_feeder`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._core.tensors.var_type import VarType
from paddle_jax.framework.mode import in_dynamic_mode

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


_SPELLINGS = (dtypes.DType, VarType, str, np.dtype)
_SCALARS = (
    bool,
    np.bool_,
    np.float16,
    np.float32,
    np.float64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.complex64,
    np.complex128,
)


def convert_dtype(dtype: DTypeLike) -> str:
    """The name of a dtype; "uint16" is that of bfloat16, whose bits NumPy holds so.

    Args:
        dtype: dtype of Paddle, name, NumPy dtype or scalar type.
    Raises:
        TypeError: it is none of these.
    Example:
        >>> paddle.base.data_feeder.convert_dtype(paddle.float32)
        'float32'
    """
    if (
        isinstance(dtype, _SPELLINGS)
        # "paddle.float32" is how a dtype shows, and no name of one.
        and not str(dtype).startswith("paddle.")
        or dtype in _SCALARS
        or isinstance(dtype, dtypes.DType | VarType)
    ):
        try:
            name = dtypes.convert(dtype)._key
            if name == "bfloat16":
                return "uint16"
            return name
        except TypeError:
            # What names no dtype gets the error below.
            pass
    raise TypeError(
        f"convert_dtype: dtype: got {dtype!r}; allowed are Paddle's dtypes, their names, "
        "NumPy's dtypes and scalar types"
    )


def check_type(
    input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = ""
) -> None:
    """Checks the type of an argument while a static program is built; in dynamic mode operations
    check it themselves.

    Args:
        input: the argument.
        input_name, op_name: str, for the message.
        expected_type: type or tuple of types; Tensor stands for Variable.
        extra_message: str, put at the end.
    Raises:
        TypeError: it is of another type.
    Example:
        >>> paddle.base.data_feeder.check_type(1, "x", int, "my_op")
    """
    if not in_dynamic_mode() and not isinstance(input, expected_type):
        raise TypeError(
            f"The type of '{input_name}' in {op_name} must be {expected_type}, but received "
            f"{type(input)}. {extra_message}"
        )


def check_dtype(
    input_dtype: Any, input_name: Any, expected_dtype: Any, op_name: Any, extra_message: str = ""
) -> None:
    """Checks a dtype while a static program is built.

    Args:
        input_dtype: the dtype.
        expected_dtype: str or list of str.
        input_name, op_name, extra_message: as for `check_type`.
    Raises:
        TypeError: it is another one.
    Example:
        >>> paddle.base.data_feeder.check_dtype("float32", "x", ["float32", "float64"], "my_op")
    """
    if isinstance(expected_dtype, str):
        allowed = [expected_dtype]
    else:
        allowed = expected_dtype
    if not in_dynamic_mode() and convert_dtype(input_dtype) not in allowed:
        found = convert_dtype(input_dtype)
        raise TypeError(
            f"The data type of '{input_name}' in {op_name} must be {expected_dtype}, "
            f"but received {found}. {extra_message}"
        )


def check_variable_and_dtype(
    input: Any, input_name: Any, expected_dtype: Any, op_name: Any, extra_message: str = ""
) -> None:
    """Checks that an argument is a Variable of some dtype while a static program is built. Arguments as for
    `check_type` and `check_dtype`.

    Raises:
        TypeError: it is no Variable, or of another dtype.
        AttributeError: it is nothing with a dtype, in dynamic mode.
    Example:
        >>> paddle.base.data_feeder.check_variable_and_dtype(paddle.ones([2]), "x", ["float32"], "my_op")
    """
    check_type(input, input_name, Tensor, op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)


def check_shape(
    shape: Any,
    op_name: str,
    expected_shape_type: Any = (list, tuple, Tensor),
    expected_element_type: Any = (int, Tensor),
    expected_tensor_dtype: Any = ("int32", "int64"),
) -> None:
    """Checks a shape while a static program is built; in dynamic mode operations check it themselves.

    Args:
        shape: list, tuple or Tensor.
        op_name: str, for the message.
        expected_shape_type, expected_element_type: types that the shape and its elements may have.
        expected_tensor_dtype: dtypes that Tensors among them may have.
    Raises:
        TypeError: something else is given.
    Example:
        >>> paddle.check_shape([2, 3], "reshape")
    """
    check_type(shape, "shape", expected_shape_type, op_name)
    if isinstance(shape, Tensor):
        check_dtype(shape.dtype, "shape", expected_tensor_dtype, op_name)
    elif expected_element_type is not None:
        for item in () if in_dynamic_mode() else shape:
            check_type(item, "element of shape", expected_element_type, op_name)
            if isinstance(item, Tensor):
                check_dtype(item.dtype, "element of shape", expected_tensor_dtype, op_name)


def convert_float_to_uint16(data: Any, data_format: str = "NCHW") -> Any:
    """The upper 16 bits of float32 numbers: bfloat16 without rounding.

    Args:
        data: array of floats.
        data_format: accepted; the order of the axes stays.
    Example:
        >>> paddle.base.data_feeder.convert_float_to_uint16(np.array([1.5])).tolist()
        [16320]
    """
    return (np.asarray(data, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def convert_uint16_to_float(data: Any) -> Any:
    """The float32 numbers whose bfloat16 bits an array of uint16 holds.

    Args:
        data: array of uint16.
    Example:
        >>> paddle.base.data_feeder.convert_uint16_to_float(np.array([16320], "uint16")).tolist()
        [1.5]
    """
    return np.asarray(data, np.uint16).view(ml_dtypes.bfloat16).astype(np.float32)
