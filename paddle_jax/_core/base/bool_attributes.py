"""Attributes of Tensors that are True or False."""

from __future__ import annotations

from typing import Any


def check_bool(name: str, value: Any) -> bool:
    """The value that is assigned to such an attribute, if it is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"(InvalidType) Tensor.{name}: got {type(value).__name__}; assign a bool")
    return value


def attach_bool_property(kind: type, name: str, slot: Any, doc: str) -> None:
    """Gives a class a property that holds a bool; None counts as False.

    Python reads it in C. Code of this package that runs for each operation reads and writes the slot.
    """

    def assign(self: Any, value: Any) -> None:
        slot.__set__(self, value is not None and check_bool(name, value))

    setattr(kind, name, property(slot.__get__, assign, doc=doc))
