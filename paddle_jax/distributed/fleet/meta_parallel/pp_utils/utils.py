"""Numbers of dtypes and sizes of Tensors, for programs that describe messages between stages themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import CheckError

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []

# Paddle counts bool among them.
FLOAT_TYPE_DICT = {
    dtypes.float16: "float16",
    dtypes.float32: "float32",
    dtypes.float64: "float64",
    dtypes.bfloat16: "bfloat16",
    dtypes.bool_: "bool",
}
PADDLE_TO_NUMBER = {
    dtypes.float16: 0,
    dtypes.float32: 1,
    dtypes.float64: 2,
    dtypes.int32: 3,
    dtypes.int64: 4,
    dtypes.bfloat16: 5,
    dtypes.bool_: 6,
}
NUMBER_TO_DTYPE = {number: dtype.name.lower() for dtype, number in PADDLE_TO_NUMBER.items()}


def _entry(call: str, table: dict[Any, Any], key: Any) -> Any:
    if key not in table:
        raise CheckError(f"{call}: got {key}; it must be one of {', '.join(map(str, table))}")
    return table[key]


def is_float_tensor(tensor: Tensor) -> bool:
    """Whether a Tensor has a floating dtype, or bool.

    Args:
        tensor: Tensor.
    """
    return tensor.dtype in FLOAT_TYPE_DICT


def get_tensor_dtype(dtype: Any) -> str:
    """The name of a floating dtype, or of bool.

    Args:
        dtype: dtype.
    Raises:
        AssertionError: it is another one.
    """
    return _entry("get_tensor_dtype", FLOAT_TYPE_DICT, dtype)


def paddle_2_number(dtype: Any) -> int:
    """The number of a dtype in messages.

    Args:
        dtype: dtype.
    Raises:
        AssertionError: messages have none for it.
    """
    return _entry("paddle_2_number", PADDLE_TO_NUMBER, dtype)


def number_2_dtype(number: int) -> str:
    """The name of the dtype of a number in messages.

    Args:
        number: int.
    Raises:
        AssertionError: there is none.
    """
    return _entry("number_2_dtype", NUMBER_TO_DTYPE, number)


def get_tensor_bytes(tensor: Tensor) -> Tensor:
    """The bytes of the elements of a Tensor.

    Differs from Paddle: every dtype will do.

    Args:
        tensor: Tensor.
    Returns:
        Tensor of shape [].
    """
    return tensor.numel() * tensor.element_size()
