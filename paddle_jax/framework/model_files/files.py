"""A model's two files on disk: `<prefix>.json` and `<prefix>.pdiparams`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.framework.model_files import parameters
from paddle_jax.framework.model_files.program import parse
from paddle_jax.framework.pickle_names import CorruptFileError

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.program import Program


class CorruptModelError(CorruptFileError, RuntimeError):
    """A model file that is damaged. Also a RuntimeError, which Paddle raises for a damaged program."""


@contextlib.contextmanager
def _naming(where: str, path: Any) -> Iterator[None]:
    try:
        yield
    except CorruptFileError as error:
        raise CorruptModelError(f"{where}: cannot read {path}: {error}.") from error


def read_program(where: str, path: Any) -> Any:
    """The Program in a `.json` file.

    Raises:
        CorruptModelError: it is damaged.
    """
    with _naming(where, path):
        program = parse(Path(path).read_bytes())
    program.file = str(path)
    return program


def read_parameters(where: str, path: Any, program: Program) -> dict[Any, Any]:
    """The arrays of a program's parameters by name; `path` may be missing for a program without.

    Raises:
        CorruptModelError: the file is damaged or belongs to another program.
        ValueError: it is missing.
    """
    # A program without parameters has no file.
    if not program.parameters:
        return {}
    if not Path(path).is_file():
        raise ValueError(
            f"{where}: {path} does not exist, which has the model's parameters; "
            "keep it beside the .json file."
        )
    with _naming(where, path):
        return parameters.decode(Path(path).read_bytes(), program.parameters)


def split_prefix(where: str, path: str) -> str:
    """The prefix of a model's files as a str.

    Raises:
        ValueError: it names no file.
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"{where}: path: got {type(path).__name__}; give directory/prefix of the model's files."
        )
    prefix = os.fspath(path)
    if prefix.endswith(os.sep) or not Path(prefix).name:
        raise ValueError(f"{where}: path: {prefix!r} has no file name; give directory/prefix.")
    return prefix
