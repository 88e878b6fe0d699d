"""Sentences about guards that do not hold, in the words of the user.

An example is `config.rate was 0.1 and is 0.2 (read at train.py:12)`.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from paddle_jax._core.execution.python_state import MISSING, SCALARS

if TYPE_CHECKING:
    from paddle_jax._program.guards.read_guards import ReadGuards

_MAX_LENGTH = 60  # characters of the text of a value, items of a container that is written out
_MAX_DEPTH = 6  # names in a path such as `config.model.rate`, and levels of a container that is written out


def value_change(guards: ReadGuards, owner: Any, key: Any, before: Any, now: Any, line: str) -> str:
    """A sentence about one value. line: `file:line` of the read."""
    return change_text(_name(guards, owner, key, _MAX_DEPTH), before, now) + _read_at(line)


def read_values(guards: ReadGuards) -> list[tuple[str, str, str]]:
    """(name, text of the value, `file:line` of the read) of all that was read by name."""
    return [
        (_name(guards, owner, key, _MAX_DEPTH), _text(value), line)
        for table in guards.tables
        for owner, key, value, line in zip(table.owners, table.keys, table.values, table.lines, strict=True)
    ]


def change_text(name: str, before: Any, now: Any) -> str:
    """The sentence that a named value has changed."""
    old = _text(before)
    new = _text(now)
    if old == new:
        return f"{name} is another {type(now).__name__}"
    return f"{name} was {old} and is {new}"


def content_change(
    guards: ReadGuards, container: Any, description: str, before: Any, now: Any, line: str
) -> str:
    """A sentence about the content of a container or an array. description: for one without a name."""
    path = _path(guards, container, _MAX_DEPTH)
    if path is None:
        name = description
    else:
        name = f"{path} ({description})"
    # Bytes of an array say nothing to a reader.
    if _has_plain_text(before) and _has_plain_text(now) and type(before) is not bytes:
        return change_text(name, before, now) + _read_at(line)
    return f"{name} has changed{_read_at(line)}"


def _text(value: Any) -> str:
    """The text of a value; no code of the user runs for it."""
    if value is MISSING:
        # No `repr` of the user's class: it may have effects, or be long.
        return "nothing"
    if _has_plain_text(value):
        text = repr(value)
        if len(text) <= _MAX_LENGTH:
            return text
    return f"an object of class {type(value).__name__}"


def _has_plain_text(value: Any, depth: int = _MAX_DEPTH) -> bool:
    """Whether the text of a value is short, and needs no code of the user."""
    if type(value) in (tuple, list, frozenset, dict):
        if type(value) is dict:
            parts = [part for pair in value.items() for part in pair]
        else:
            parts = value
        is_small = depth > 0 and len(value) <= _MAX_LENGTH
        return is_small and all(_has_plain_text(part, depth - 1) for part in parts)
    return type(value) in SCALARS


def _read_at(line: str) -> str:
    if line == "?":
        return ""
    return f" (read at {line})"


def _path(guards: ReadGuards, target: Any, depth: int, by_attributes: bool = True) -> str | None:
    """The path by which code reached an object, or None where it is unknown.

    Args:
        guards: the reads of the run.
        target: the object.
        depth: the most names in the path.
        by_attributes: whether a dict counts as the object whose attributes it holds.
    """
    if isinstance(target, types.ModuleType | type):
        return target.__name__
    if depth == 0:
        return None
    # An attribute is read in the `__dict__` of its object, whose name is the object's.
    is_dict = by_attributes and type(target) is dict
    for table in guards.tables:
        for owner, key, value in zip(table.owners, table.keys, table.values, strict=True):
            is_target = value is target or is_dict and _attributes_of(value) is target
            if is_target and owner is not target:
                return _name(guards, owner, key, depth)
    return None


def _name(guards: ReadGuards, owner: Any, key: Any, depth: int) -> str:
    """The name of the value under a key of an owner: `config.rate`, `rates[2]`."""
    # A variable: a cell, or the global variables of a module.
    is_variable = type(owner) is types.CellType or type(owner) is dict and "__builtins__" in owner
    if is_variable:
        return str(key)
    # The members of a class are read through a proxy, which does not know its class.
    if type(owner) is types.MappingProxyType:
        classes = [cls for cls, members in guards.class_dicts.items() if members is owner]
        if classes:
            return f"{classes[0].__name__}.{key}"
        return str(key)
    if type(owner) in (list, dict):
        path = _path(guards, owner, depth - 1, False)
        if path is not None:
            return f"{path}[{_text(key)}]"
    path = _path(guards, owner, depth - 1)
    if path is None:
        return str(key)
    return f"{path}.{key}"


def _attributes_of(value: Any) -> dict[Any, Any] | None:
    """The dict of an object, without code of the user."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
