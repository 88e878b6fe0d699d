"""Operators of libraries by name: what is loaded as a library, and called without a module."""

from __future__ import annotations

import functools as ft
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

from paddle_jax._paths import Paths
from paddle_jax.utils.cpp_extension.calls import bare, functions
from paddle_jax.utils.cpp_extension.library import opened


@ft.cache
def _known() -> Any:
    """{name: (library, function)} of what has been loaded in this process."""
    return {}


def load_op_meta_info_and_register_op(lib_filename: str) -> list[Any]:
    """Opens a library of operators that was compiled here, so that they can be called by name with
    `paddle._C_ops._run_custom_op`.

    Args:
        lib_filename: str, path of the library.
    Returns:
        list of str, the names of the operators in it that are not known yet, without gradients.
    Raises:
        RuntimeError: there is no such library.
        ValueError: a name is taken by an operator of another library.
    Example:
        >>> paddle.utils.cpp_extension.load_op_meta_info_and_register_op("/nowhere/library.so")
        Traceback (most recent call last):
        ...
        RuntimeError: ...
    """
    path = Path(lib_filename).resolve()
    if not path.is_file():
        raise RuntimeError(
            "(PreconditionNotMet) load_op_meta_info_and_register_op: lib_filename: "
            f"there is no file {str(lib_filename)!r}; compile it with setup or load"
        )
    library = opened(path)
    known = _known()
    made = functions(library)
    taken = [name for name in made if name in known and known[name][0] is not library]
    if taken:
        raise ValueError(
            f"load_op_meta_info_and_register_op: {', '.join(taken)}: "
            "known from another library; give operators names of their own"
        )
    # A library that is loaded again adds nothing.
    new = [name for name in made if name not in known]
    known.update({name: (library, made[name]) for name in new})
    return new


def parse_op_info(op_name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """What an operator of a library is called with.

    Args:
        op_name: str, the name of an operator that is loaded.
    Returns:
        tuple of three lists of str: the inputs, the attributes, the outputs.
    Raises:
        ValueError: there is no operator of this name.
    Example:
        >>> paddle.utils.cpp_extension.parse_op_info("unheard_of")
        Traceback (most recent call last):
        ...
        ValueError: ...
    """
    operator = _known_operator(op_name, ValueError)[0].operators[op_name]
    return [*map(bare, operator.inputs)], [name for name, _ in operator.attributes], [*operator.outputs]


def _known_operator(name: Any, error: Any) -> Any:
    if name not in _known():
        raise error(
            f"the operator {name!r} is not known; load its library with load_op_meta_info_and_register_op"
        )
    return _known()[name]


def _run_custom_op(name: str, *args: Any) -> list[Any]:
    """Runs an operator of a library by its name.

    Args:
        name: str.
        *args: inputs, then attributes, in the order of their declaration.
    Returns:
        list of the outputs.
    Raises:
        RuntimeError: there is no operator of this name.
    Example:
        >>> paddle.base.libpaddle.eager._run_custom_op("unheard_of", paddle.ones([2]))
        Traceback (most recent call last):
        ...
        RuntimeError: ...
    """
    found = _known_operator(name, RuntimeError)[1](*args)
    if isinstance(found, list):
        return found
    return [found]


def _import_module_from_library(
    module_name: str, build_directory: str, verbose: bool = False
) -> types.ModuleType:
    """A module with a function for each operator of `<build_directory>/<module_name>.so`.

    Args:
        module_name: str, the name of the library and of the module.
        build_directory: str, the folder of the library.
        verbose: print what is opened. Default False.
    Returns:
        module.
    Raises:
        FileNotFoundError: there is no such library.
    """
    path = Path(build_directory) / f"{module_name}.so"
    if not path.exists():
        raise FileNotFoundError(
            f"_import_module_from_library: there is no library {str(path)!r}; compile it with setup"
        )
    if verbose:
        print(f"Library of operators: {path}")
    load_op_meta_info_and_register_op(path)
    module = types.ModuleType(module_name, f"Operators of the C++ extension {module_name}.")
    module.__file__ = str(path)
    vars(module).update(functions(opened(path.resolve())))
    return module


def _jit_compile(file_path: str, verbose: bool = False) -> None:
    """Runs the command `build` of a setup.py in a process of its own, in the folder of the file.

    Args:
        file_path: str, the path of the file.
        verbose: show what it prints. Default False.
    Raises:
        AssertionError: there is no such file.
        RuntimeError: it failed.
    """
    path = Path(file_path)
    if not path.exists():
        raise AssertionError(f"_jit_compile: there is no file {str(file_path)!r}; write a setup.py there")
    # The process has to know this package by the name that this one uses.
    alias = ["-m", "paddle_jax"] if Paths.root == "paddle" else []
    paths = [str(Path(__file__).parents[3]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, *alias, path.name, "build"],
        check=False,
        cwd=path.parent,
        capture_output=not verbose,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    if done.returncode:
        raise RuntimeError(
            f"_jit_compile: {str(file_path)!r} ended with code {done.returncode}; "
            f"it said:\n{(done.stderr or '')[-8000:]}"
        )
