"""Lists, tuples and named tuples of other items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def make_sequence(kind: Any, items: Sequence[Any]) -> Any:
    """A list, tuple or named tuple. The last one takes its fields one by one."""
    if hasattr(kind, "_fields"):
        return kind(*items)
    return kind(items)
