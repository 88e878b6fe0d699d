"""The names of JAX's scopes in which a traced program has its operations: "paddle.<operation>.<number>"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SCOPE = re.compile(r"paddle\.(\w+)\.(\d+)")


def origin(text: str, lines: Sequence[str]) -> tuple[str, str]:
    """(operation, line of the program) of a text that names a scope; "" where it is not known.

    Args:
        text: name of a scope, or metadata of an instruction.
        lines: lines of the program by the number of the operation.
    """
    match = _SCOPE.search(text)
    if match is None:
        return "", ""
    number = int(match[2])
    return match[1], lines[number] if number < len(lines) else ""
