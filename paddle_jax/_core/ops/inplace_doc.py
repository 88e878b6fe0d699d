"""Docstrings of in-place operations, from those of the operations that they are twins of."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"\w+:\n(?:[ ]+.*\n)+")
_OUT = re.compile(r"^    out: .*\n(?:     +.*\n)*", re.MULTILINE)
_SIGNS = re.compile(r"[][(){},]")


def inplace_doc(name: str, first: str, text: str | None, may_reshape: bool, takes_out: bool) -> str:
    """The docstring of the in-place twin of an operation.

    Args:
        name: the operation.
        first: its first parameter, which gets the result.
        text: its docstring, whose arguments and example are those of the twin.
        may_reshape: whether the result may have another shape.
        takes_out: whether it takes `out`, which it leaves as it is.
    """
    error = "a leaf waits for a gradient."
    if not may_reshape:
        error = f"the result has another shape, or {error}"
    text = inspect.cleandoc(text or "") + "\n"
    return (
        f"In-place {name}: puts the result into its first argument and returns it. See `{name}`.\n\n"
        f"{_arguments(text, takes_out)}"
        f"Returns:\n    The Tensor `{first}`.\n"
        f"Raises:\n    ValueError: {error}\n"
        f"{_example(name, text)}"
    )


def _section(title: str, text: str) -> str:
    """A section of a docstring, "" where there is none."""
    start = text.find(f"\n{title}:\n")
    if start < 0:
        return ""
    found = _SECTION.match(text, start + 1)
    return "" if found is None else found[0]


def _arguments(text: str, takes_out: bool) -> str:
    """The arguments of an operation without `out`, which most twins do not have."""
    arguments = _section("Args", text)
    if "\n    out: " in arguments:
        return _OUT.sub("    out: accepted.\n" if takes_out else "", arguments)
    return arguments


def _example(name: str, text: str) -> str:
    """The example of an operation with calls of its twin: `paddle.abs(x)` becomes `x.abs_()`."""
    example = _section("Example", text).replace(f".{name}(", f".{name}_(")
    call = f"paddle.{name}_("
    while call in example:
        before, _, after = example.partition(call)
        end = _end_of_argument(after)
        rest = after[end:].removeprefix(", ")
        example = f"{before}{after[:end]}.{name}_({rest}"
    return example


def _end_of_argument(text: str) -> int:
    """Where the first argument of a call ends: before a comma or the bracket that closes the call."""
    depth = 0
    for found in _SIGNS.finditer(text):
        sign = found[0]
        if depth == 0 and sign in ",)":
            return found.start()
        if sign != ",":
            depth += 1 if sign in "([{" else -1
    return len(text)
