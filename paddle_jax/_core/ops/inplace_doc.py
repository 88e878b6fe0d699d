"""Docstrings of in-place operations, from those of the operations that they are twins of."""

from __future__ import annotations

import inspect
import re


def inplace_doc(name: str, first: str, text: str | None, may_reshape: bool) -> str:
    """The docstring of the in-place twin of an operation.

    Args:
        name: the operation.
        first: its first parameter, which gets the result.
        text: its docstring, whose arguments are those of the twin.
        may_reshape: whether the result may have another shape.
    """
    error = "a leaf waits for a gradient."
    if not may_reshape:
        error = f"the result has another shape, or {error}"
    made = (
        f"In-place {name}: puts the result into its first argument and returns it. See `{name}`.\n\n"
        f"Returns:\n    The Tensor `{first}`.\n"
        f"Raises:\n    ValueError: {error}\n"
    )
    arguments = re.search(r"^Args:\n(?:[ ]+.*\n)+", inspect.cleandoc(text or "") + "\n", re.MULTILINE)
    if arguments is None:
        return made
    return made.replace("Returns:", f"{arguments[0]}Returns:", 1)
