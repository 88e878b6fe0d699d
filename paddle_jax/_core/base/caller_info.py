"""Whether code is the user's, of this package, or of a library below it; names of modules decide."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import jax

OURS = ("paddle_jax", "paddle")  # under the alias the modules of this package have Paddle's names
ENGINE = (*OURS, "jax", "jaxlib")
LIBRARIES = (*ENGINE, "numpy", "flax", "optax", "scipy")
# packages whose exceptions do not name arguments of Paddle
ARRAYS = ("jax", "jaxlib", "numpy", "functools", "ml_dtypes", "opt_einsum")
PYTHONS = frozenset(sys.stdlib_module_names) - {"__main__"}
BELOW = frozenset((*LIBRARIES, *ARRAYS, "contextlib", "collections"))


def package_of(scope: str | dict[str, Any]) -> str:
    """The outermost package of a module, given by its name or its global variables."""
    if isinstance(scope, str):
        name = scope
    else:
        name = scope.get("__name__")
    return (name or "").partition(".")[0]


def is_ours(scope: str | dict[str, Any]) -> bool:
    """Whether a module belongs to this package."""
    return package_of(scope) in OURS


def is_users(scope: str | dict[str, Any]) -> bool:
    """Whether a module is the user's, or of a library that uses this package.

    It is then neither Python's own nor of a library that this package uses.
    """
    package = package_of(scope)
    return package not in LIBRARIES and package not in PYTHONS


def is_python_or_numpy(scope: str | dict[str, Any]) -> bool:
    """Whether a module is Python's own, or NumPy's."""
    package = package_of(scope)
    return package == "numpy" or package in PYTHONS


def origin(error: BaseException) -> str:
    """The name of the module whose code raised an exception; empty when no Python code did."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return ""
    return frame.tb_frame.f_globals.get("__name__") or ""


def is_unrelated_error(error: BaseException) -> bool:
    """Whether an exception has nothing to do with the operation during which it came.

    A signal handler or a tracing hook raised it, or Python for lack of memory.
    """
    # No Python code raised it, but it belongs to the operation.
    if isinstance(error, jax.errors.JaxRuntimeError):
        return False
    return (
        not isinstance(error, Exception)
        or type(error) is MemoryError
        or package_of(origin(error)) not in BELOW
    )


def caller(packages: tuple[str, ...] = ENGINE) -> types.FrameType | None:
    """The innermost frame outside some packages; None when there is none."""
    frame = sys._getframe(1)
    while frame is not None and package_of(frame.f_globals) in packages:
        frame = frame.f_back
    return frame


class CellNames:
    """How cells of notebooks are called.

    Attributes:
        of_file: function from the name of a file to that of the cell that it is, or None for other files;
            None outside IPython.
    """

    of_file: Callable[[str], str | None] | None = None


def user_line() -> str:
    """`file:line` of the innermost frame outside this package and JAX; in notebooks `In [9], line 2`."""
    frame = caller()
    if frame is None:
        return "?"
    return line_name(frame.f_code.co_filename, frame.f_lineno)


def line_name(file: str, line: int | None) -> str:
    """`file:line`; of a cell of a notebook `In [9], line 2`."""
    if CellNames.of_file is not None:
        cell = CellNames.of_file(file)
        if cell is not None:
            return f"{cell}, line {line}"
    return f"{file}:{line}"
