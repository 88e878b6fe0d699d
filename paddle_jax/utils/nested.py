"""Lists, tuples and dicts inside each other: their leaves, and functions of each leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, list | tuple | dict)


def flatten(nest: dict[str, Any]) -> list[Any]:
    """The leaves of lists, tuples and dicts in each other, from the left; a dict's by sorted keys.

    Args:
        nest: any value.
    Returns:
        list.
    Example:
        >>> paddle.utils.flatten({"b": [1, 2], "a": (3, None)})
        [3, None, 1, 2]
    """
    # None and objects of other classes are leaves too; JAX alone would leave out None.
    return jax.tree.leaves(nest, is_leaf=_is_leaf)


def pack_sequence_as(structure: Any, flat_sequence: Any) -> dict[str, Any]:
    """Puts leaves into the places of another value's leaves.

    Args:
        structure: lists, tuples and dicts in each other.
        flat_sequence: as many values as it has leaves.
    Returns:
        The values in that structure.
    Raises:
        ValueError: the numbers differ.
    Example:
        >>> paddle.utils.pack_sequence_as({"a": [0, 0], "b": 0}, [1, 2, 3])
        {'a': [1, 2], 'b': 3}
    """
    return jax.tree.unflatten(jax.tree.structure(structure, is_leaf=_is_leaf), list(flat_sequence))


def map_structure(func: Callable[..., Any], *structure: Any) -> dict[str, Any]:
    """Calls a function for each leaf; with several structures, for the leaves at the same place.

    Args:
        func: callable with as many arguments as there are structures.
        structure: lists, tuples and dicts in each other, all alike.
    Returns:
        The results in the structure of the first.
    Raises:
        ValueError: the structures differ.
    Example:
        >>> paddle.utils.map_structure(lambda a, b: a + b, {"a": [1, 2]}, {"a": [3, 4]})
        {'a': [4, 6]}
    """
    return jax.tree.map(func, *structure, is_leaf=_is_leaf)
