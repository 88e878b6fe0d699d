"""Tells from CPython's reference counts whether a LazyArray is referenced elsewhere.

A weak reference would not do: a finalizer may read a LazyArray of a garbage cycle, and weak references to it
are dead by then. Each count is compared with the count of an object that is held in a known way, measured by
the same expression. Versions of Python count their own temporary references differently.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any


def _measure_counts() -> tuple[int, int]:
    """The counts of an object that only a list holds, and of one that only an attribute holds."""

    class Holder:
        __slots__ = ("array",)
        array: Any

    items = [Holder()]
    holder = Holder()
    holder.array = Holder()
    # The call holds a reference, too, as it does where counts are compared.
    return sys.getrefcount(items[0]), sys.getrefcount(holder.array)


_IN_LIST, _IN_SLOT = _measure_counts()


def is_unreferenced(leaves: Sequence[Any], index: int, holders: int = 0) -> bool:
    """Whether nobody but the segment holds a leaf and its array.

    Args:
        leaves: the leaves of the segment.
        index: number of the leaf.
        holders: number of references that the segment has to it beside the list.
    """
    return (
        sys.getrefcount(leaves[index]) <= _IN_LIST + holders
        and sys.getrefcount(leaves[index].array) <= _IN_SLOT
    )


def _pending(values: Sequence[Any], unreferenced: int) -> dict[int, Any]:
    count = sys.getrefcount
    return {v.position: v for v in values if count(v) > unreferenced and v.array is None}


def _measure_unreferenced() -> int:
    """The count, in `_pending`, of a LazyArray that only the list holds."""

    class Result:
        array = None
        position = None

    values = [Result()]
    return next(count for count in itertools.count() if not _pending(values, count))


_UNREFERENCED = _measure_unreferenced()


def referenced_results(values: Sequence[Any]) -> dict[int, Any]:
    """The LazyArrays of a list that are referenced elsewhere and have no array, by position."""
    return _pending(values, _UNREFERENCED)
