"""Showing converted code: `paddle.jit.set_code_level` and `set_verbosity`."""

import sys

from paddle_jax._core.base.errors import CheckError


class CodeLog:
    """on: whether converted code is shown. stdout: on standard output instead of standard error."""

    on = stdout = False

    @classmethod
    def show(cls, function, text):
        """Shows the converted code of a function."""
        if cls.on:
            print(
                f"converted {function.__module__}.{function.__qualname__}:\n{text}",
                file=sys.stdout if cls.stdout else sys.stderr,
            )


def set_code_level(level=100, also_to_stdout=False):
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


def set_verbosity(level=0, also_to_stdout=False):
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


def _checked(name, level, also_to_stdout):
    if not isinstance(level, int):
        raise TypeError(f"{name}: level: got {type(level).__name__}; it must be int or None")
    if not isinstance(also_to_stdout, bool):
        raise CheckError(f"{name}: also_to_stdout: got {type(also_to_stdout).__name__}; it must be bool")
    return level


__all__ = ["set_code_level", "set_verbosity"]
