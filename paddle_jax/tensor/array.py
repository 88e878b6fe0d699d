"""Lists of Tensors, to which a loop adds one in each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor


def create_array(dtype: Any, initialized_list: Sequence[Tensor] | None = None) -> list[Tensor]:
    """A list of Tensors for `array_write`.

    Args:
        dtype: that of the Tensors; accepted.
        initialized_list: list or tuple of the first Tensors. Default: none.
    Returns:
        A new list.
    Raises:
        TypeError: initialized_list is no list, or holds something else than Tensors.
    Example:
        >>> paddle.tensor.create_array("float32")
        []
    """
    if initialized_list is None:
        return []
    if not isinstance(initialized_list, list | tuple):
        raise TypeError(
            f"create_array: initialized_list: got {type(initialized_list).__name__}; "
            "give a list or tuple of Tensors"
        )
    for one in initialized_list:
        if not isinstance(one, Tensor):
            raise TypeError(
                f"create_array: initialized_list: got {type(one).__name__} among the values; "
                "all must be Tensors"
            )
    return list(initialized_list)


def array_write(x: Tensor, i: Tensor, array: list[Tensor] | None = None) -> list[Tensor]:
    """Puts a Tensor into a list, or appends it.

    Args:
        x: Tensor.
        i: integer Tensor [1], the position; the length of the list appends.
        array: the list, which changes. Default: a new one.
    Returns:
        The list.
    Raises:
        AssertionError: x or i is no Tensor, i has another shape or is too large, or array is no list.
    Example:
        >>> len(paddle.tensor.array_write(paddle.ones([2]), paddle.zeros([1], "int64")))
        1
    """
    if not isinstance(x, Tensor):
        raise AssertionError(f"array_write: x: got {type(x).__name__}; it must be a Tensor")
    position = _position("array_write", i)
    if array is None:
        array = create_array(x.dtype)
    _check_list("array_write", array)
    if position > len(array):
        raise AssertionError(
            f"array_write: i: got {position} for a list of {len(array)}; it must not be above the length"
        )
    if position == len(array):
        array.append(x)
    else:
        array[position] = x
    return array


def array_read(array: list[Tensor], i: Tensor) -> Tensor:
    """The Tensor at a position of a list.

    Args:
        array: list of Tensors.
        i: integer Tensor [1], the position.
    Returns:
        The Tensor itself.
    Raises:
        AssertionError: array is no list, or i no Tensor of shape [1].
        IndexError: the list has no such position.
    Example:
        >>> paddle.tensor.array_read([paddle.ones([2])], paddle.zeros([1], "int64")).tolist()
        [1.0, 1.0]
    """
    _check_list("array_read", array)
    return array[_position("array_read", i)]


def array_length(array: list[Tensor]) -> int:
    """The number of Tensors in a list.

    Raises:
        AssertionError: array is no list.
    Example:
        >>> paddle.tensor.array_length([paddle.ones([2])])
        1
    """
    _check_list("array_length", array)
    return len(array)


def _check_list(name: str, array: Any) -> None:
    if not isinstance(array, list):
        raise AssertionError(f"{name}: array: got {type(array).__name__}; it must be a list")


def _position(name: str, i: Any) -> int:
    if not isinstance(i, Tensor):
        raise AssertionError(f"{name}: i: got {type(i).__name__}; it must be a Tensor")
    if list(i.shape) != [1]:
        raise AssertionError(f"{name}: i: got shape {list(i.shape)}; it must be [1]")
    if not i.is_integer():
        raise TypeError(f"{name}: i: got dtype {i.dtype}; it must be an integer")
    return i.item()


__all__ = ["array_length", "array_read", "array_write", "create_array"]
