"""What stages give each other: nests of Tensors, and numbers of dtypes and sizes for programs that describe
messages themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable


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


def map_nest(function: Callable[[Tensor], Any], value: Any) -> Any:
    """A nest of tuples, lists and dicts with a function of each Tensor in its place."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, tuple | list):
        return make_sequence(type(value), [map_nest(function, one) for one in value])
    if isinstance(value, dict):
        return {name: map_nest(function, one) for name, one in value.items()}
    return value


def detached_nest(value: Any) -> Any:
    """A nest whose Tensors begin a graph of their own, and want gradients as before."""
    return map_nest(_detached, value)


def _detached(tensor: Tensor) -> Tensor:
    leaf = tensor.detach()
    leaf.stop_gradient = tensor.stop_gradient
    return leaf


def dict_to_tuple_helper(output_tensor: Any) -> Any:
    """The Tensors of a dict as a tuple, each with its name as attribute `key`; others as they are.

    Args:
        output_tensor: dict of Tensors or of lists of Tensors (`key` is then "name number"), or anything else.
    Returns:
        tuple, or what was given.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> named = {"a": paddle.ones([1]), "b": [paddle.ones([2])]}
        >>> [one.key for one in parallel.dict_to_tuple_helper(named)]
        ['a', 'b 0']
    """
    if not isinstance(output_tensor, dict):
        return output_tensor
    found = []
    for name, value in output_tensor.items():
        if isinstance(value, tuple | list):
            for number, tensor in enumerate(value):
                tensor.key = f"{name} {number}"
                found.append(tensor)
        else:
            value.key = name
            found.append(value)
    return tuple(found)


def tuple_to_dict_helper(input_tensor: Any) -> tuple[Any, bool]:
    """The dict that `dict_to_tuple_helper` has made a tuple of; the attributes `key` go.

    Args:
        input_tensor: tuple of Tensors with `key`, or anything else.
    Returns:
        the dict and True, or what was given and False.
    """
    if not isinstance(input_tensor, tuple) or not hasattr(input_tensor[0], "key"):
        return input_tensor, False
    found: dict[str, Any] = {}
    for tensor in input_tensor:
        # "name number" is an entry of a list.
        name, _, number = tensor.key.partition(" ")
        if number:
            found.setdefault(name, []).append(tensor)
        else:
            found[name] = tensor
        del tensor.key
    return found, True


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
