"""Who holds a LazyArray, as CPython's reference counts say.

A weak reference would not do: a finalizer may read a LazyArray of a garbage cycle, and weak references to it
are dead by then. Each count is compared with what the same expression says of an object that is held in a
known way, since versions of Python count their own temporary references differently.
"""

import itertools
import sys


def _counts() -> tuple[int, int]:
    """The counts of an object that only a list holds, and of one that only an attribute holds."""

    class Holder:
        __slots__ = ("array",)

    items = [Holder()]
    holder = Holder()
    holder.array = Holder()
    return sys.getrefcount(items[0]), sys.getrefcount(holder.array)


_IN_LIST, _IN_SLOT = _counts()


def is_unreferenced(leaves: list, i: int, holders: int = 0) -> bool:
    """Whether nobody but the segment holds leaf i and its array. holders: what of the segment holds the
    leaf beside the list."""
    return sys.getrefcount(leaves[i]) <= _IN_LIST + holders and sys.getrefcount(leaves[i].array) <= _IN_SLOT


def _pending(values: list, unreferenced: int) -> dict:
    count = sys.getrefcount
    return {v.position: v for v in values if count(v) > unreferenced and v.array is None}


def _unreferenced() -> int:
    """The count, in `_pending`, of a LazyArray that only the list holds."""

    class Result:
        array = pos = None

    values = [Result()]
    return next(count for count in itertools.count() if not _pending(values, count))


_UNREFERENCED = _unreferenced()


def referenced_results(values: list) -> dict:
    """The LazyArrays of a list that are referenced elsewhere and have no array, by position."""
    return _pending(values, _UNREFERENCED)
