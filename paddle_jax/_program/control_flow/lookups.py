"""Items of lists, tuples and dicts by numbers made of unknown lengths, the operator `in`, and comparisons of
lists and tuples."""

import functools as ft
import operator
from typing import Any

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import lengths
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.host_values import is_number
from paddle_jax._program.control_flow.statements import and_, if_exp, or_


def item_at(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if not isinstance(key, lengths.Length):
        return container[key]
    if isinstance(container, list | tuple) and container:
        # All numbers: the item is an expression of a file, without a branch.
        if all(map(is_number, container)):
            return lengths.element(list(container), key)
        # Python's negative indices.
        place = lengths.select(key < 0, key + len(container), key)
        return _chosen(list(enumerate(container)), place)
    if isinstance(container, dict) and container and _has_plain_keys(container):
        return _chosen(list(container.items()), key)
    with swapped_attributes(local.ctx.frame, for_user=True):
        return container[key]


def get(container: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`container.get(key, default)`; NotImplemented where keys are no plain numbers."""
    if not isinstance(key, lengths.Length) or not _has_plain_keys(container):
        return NotImplemented
    return _chosen([*container.items(), (None, default)], key)


def count(container: list[Any] | tuple[Any, ...], value: Any) -> Any:
    """`container.count(value)`."""
    return sum(if_exp(one == value, lambda: 1, lambda: 0) for one in container)


def _has_plain_keys(container: Any) -> bool:
    return all(type(one) is int for one in container)


def _chosen(pairs: list, key: Any) -> Any:
    """The value beside a key, in pairs of keys and values; the last one where no key is equal."""
    (first, value), *rest = pairs
    # Out of range: the last item, since a program cannot raise IndexError.
    if not rest:
        return value
    return if_exp(key == first, lambda: value, lambda: _chosen(rest, key))


def contains(container: Any, value: Any) -> Any:
    """`value in container`."""
    if isinstance(container, list | tuple | range) and not isinstance(value, Tensor):
        if not isinstance(container, range) or lengths.is_length(value):
            # A range answers for a plain number at once, without a list of its numbers.
            items = list(container)
        else:
            items = []
        if lengths.is_length(value) or lengths.has_lengths(items):
            return _is_among(value, items)
    if not lengths.is_length(value):
        return value in container
    if isinstance(container, dict | set | frozenset) and _has_plain_keys(container):
        return _is_among(value, list(container))
    with swapped_attributes(local.ctx.frame, for_user=True):
        return value in container


def _is_among(value: Any, items: list[Any]) -> Any:
    answers = [one == value for one in items]
    return ft.reduce(lambda a, b: or_(lambda: a, lambda: b), answers, False)


def lacks(container: Any, value: Any) -> Any:
    """`value not in container`."""
    return lengths.logical_not(contains(container, value))


def ordered(name: str, left: Any, right: Any) -> Any:
    """A comparison of lists or tuples. name: that of the operator's function in the module `operator`."""
    compare = getattr(operator, name)
    # Tuples with Lengths are compared item by item.
    is_plain = type(left) is not type(right) or not isinstance(left, list | tuple)
    if is_plain or not lengths.has_lengths((left, right)):
        return compare(left, right)
    if name in ("eq", "ne"):
        return compare(lengths.OpenSize(left), list(right))
    # In the order of a dictionary: the first items that differ decide, and else the number of items.
    answer = compare(len(left), len(right))
    # From the last pair to the first, so that the first one is outermost.
    for one, other in list(zip(left, right, strict=False))[::-1]:
        # The strict operator decides between items: "lt" for "le".
        first = getattr(operator, name[0] + "t")(one, other)
        answer = _either(first, _both(one == other, answer))
    return answer


def _either(one: Any, other: Any) -> Any:
    return or_(lambda: one, lambda: other)


def _both(one: Any, other: Any) -> Any:
    return and_(lambda: one, lambda: other)


__all__ = ["contains", "count", "get", "item_at", "lacks", "ordered"]
