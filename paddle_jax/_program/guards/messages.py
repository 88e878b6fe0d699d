"""What has changed of what a run had read, in the words that its user would use: `config.rate was 0.1 and is
0.2 (read at train.py:12)`."""

import types

from paddle_jax._core.execution.python_state import MISSING, SCALARS

_LONGEST = 60  # characters of a value
_DEEP = 6  # names before a name


def value_change(guards, owner, key, before, now, line):
    """A sentence about one value. line: `file:line` of the read."""
    return change_text(_named(guards, owner, key, _DEEP), before, now) + _place(line)


def change_text(name, before, now):
    """That something has changed."""
    old, new = _text(before), _text(now)
    return f"{name} is another {type(now).__name__}" if old == new else f"{name} was {old} and is {new}"


def content_change(guards, container, words, before, now, line):
    """A sentence about what a container or an array holds. words: what it is, where it has no name."""
    name = _path(guards, container, _DEEP)
    name = words if name is None else f"{name} ({words})"
    if _plain(before) and _plain(now) and type(before) is not bytes:
        return change_text(name, before, now) + _place(line)
    return f"{name} has changed{_place(line)}"


def _text(value):
    """A value in words; code of the user is not called for it."""
    if value is MISSING:
        return "nothing"
    text = repr(value) if _plain(value) else None
    return (
        text if text is not None and len(text) <= _LONGEST else f"an object of class {type(value).__name__}"
    )


def _plain(value, deep=_DEEP):
    """Whether the text of a value is made without code of the user, and does not become long."""
    if type(value) in (tuple, list, frozenset, dict):
        parts = [part for pair in value.items() for part in pair] if type(value) is dict else value
        return deep > 0 and len(value) <= _LONGEST and all(_plain(part, deep - 1) for part in parts)
    return type(value) in SCALARS


def _place(line):
    return "" if line == "?" else f" (read at {line})"


def _path(guards, target, deep, by_attributes=True):
    """How code came to an object, or to the one whose attributes it holds; None where that is not known.

    by_attributes: a dict counts as the attributes of what has it.
    """
    if isinstance(target, types.ModuleType | type):
        return target.__name__
    if deep == 0:
        return None
    for table in guards.tables:
        for owner, key, value in zip(table.owners, table.keys, table.values, strict=True):
            if value is target or by_attributes and type(target) is dict and _attributes_of(value) is target:
                if owner is not target:
                    return _named(guards, owner, key, deep)
    return None


def _named(guards, owner, key, deep):
    """The name of what stands at `key` of an owner: `config.rate`, `rates[2]`."""
    if type(owner) is types.CellType or type(owner) is dict and "__builtins__" in owner:
        return str(key)
    if type(owner) is types.MappingProxyType:
        return next(
            (f"{cls.__name__}.{key}" for cls, own in guards.class_dicts.items() if own is owner), str(key)
        )
    if type(owner) in (list, dict) and (path := _path(guards, owner, deep - 1, False)) is not None:
        return f"{path}[{_text(key)}]"
    path = _path(guards, owner, deep - 1)
    return str(key) if path is None else f"{path}.{key}"


def _attributes_of(value):
    """The dict of an object, without code of the user."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
