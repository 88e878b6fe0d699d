"""The name that a misspelt name may mean: displays that hide frames say it, as Python's own display does."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LEAST_LIKENESS = 0.7  # of 1; `weigth` and `weight` have 0.83


def suggestion(error: BaseException) -> str:
    """`Did you mean: 'weight'?`, or "" where no name is near or the error is another one."""
    name = getattr(error, "name", None)
    if not isinstance(error, AttributeError | NameError) or not isinstance(name, str):
        return ""
    near = difflib.get_close_matches(name, _candidates(error, name), 1, _LEAST_LIKENESS)
    if not near or "did you mean" in str(error).lower():
        return ""
    return f"Did you mean: {near[0]!r}?"


def _candidates(error: AttributeError | NameError, name: str) -> list[str]:
    """The names that could stand in place of a misspelt one; private ones for a private one alone."""
    if isinstance(error, AttributeError):
        found = _attributes(error.obj)
    else:
        found = _variables(error)
    return [text for text in found if text.startswith("_") == name.startswith("_")]


def _attributes(value: object) -> Iterable[str]:
    """The attributes of a value."""
    try:
        return [name for name in dir(value) if isinstance(name, str)]
    except Exception:  # a user's `__dir__` may raise anything; the error itself must still show
        return []


def _variables(error: NameError) -> Iterable[str]:
    """The variables of the innermost frame of an error."""
    trace = error.__traceback__
    if trace is None:
        return []
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    return [*frame.f_locals, *frame.f_globals, *frame.f_builtins]
