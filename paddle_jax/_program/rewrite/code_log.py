"""Showing converted code: `paddle.jit.set_code_level` and `set_verbosity`."""

from __future__ import annotations

import sys
from typing import Any

from paddle_jax._core.base.errors import CheckError


class CodeLog:
    """What is shown.

    Attributes:
        on: bool, whether converted code is shown.
        stdout: bool, whether on standard output instead of standard error.
    """

    on = False
    stdout = False

    @classmethod
    def show(cls, function: Any, text: str) -> None:
        """Shows the converted code of a function."""
        # Off, as text of converted code is of use to those alone who look for a fault in it.
        if cls.on:
            print(
                f"converted {function.__module__}.{function.__qualname__}:\n{text}",
                file=sys.stdout if cls.stdout else sys.stderr,
            )


def set_code_level(level: int | None = 100, also_to_stdout: bool = False) -> None:
    """Shows the code that functions with control flow on Tensors are converted to, when that happens.

    Args:
        level: int. 0 shows nothing; any other number the converted code, which is made in one step here.
        also_to_stdout: bool, whether to write to standard output. Default: standard error.
    Example:
        >>> paddle.jit.set_code_level(0)
    """
    level = _checked("set_code_level", 0 if level is None else level, also_to_stdout)
    CodeLog.on = level > 0
    CodeLog.stdout = also_to_stdout


def set_verbosity(level: int | None = 0, also_to_stdout: bool = False) -> None:
    """Sets how much is logged about conversion. From 5 on the converted code is shown as by `set_code_level`;
    below nothing is.

    Args:
        level: int in 0..10.
        also_to_stdout: bool, whether to write to standard output. Default: standard error.
    Example:
        >>> paddle.jit.set_verbosity(0)
    """
    level = _checked("set_verbosity", 0 if level is None else level, also_to_stdout)
    CodeLog.on = level >= 5
    CodeLog.stdout = also_to_stdout


def _checked(name: str, level: Any, also_to_stdout: Any) -> int:
    if not isinstance(level, int):
        raise TypeError(f"{name}: level: got {type(level).__name__}; it must be int or None")
    if not isinstance(also_to_stdout, bool):
        raise CheckError(f"{name}: also_to_stdout: got {type(also_to_stdout).__name__}; it must be bool")
    return level


__all__ = ["set_code_level", "set_verbosity"]
