"""Running the C++ compiler."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax

from paddle_jax.utils.cpp_extension.registered import (  # noqa: F401  Paddle's place of them
    _import_module_from_library,
    _jit_compile,
    load_op_meta_info_and_register_op,
    parse_op_info,
)
from paddle_jax.version import full_version

__all__ = []

IS_WINDOWS = sys.platform == "win32"
INCLUDE = Path(__file__).parent / "include"
_CPP = (".cc", ".cpp", ".cxx", ".c++")


def get_build_directory(verbose: Any = False) -> str:
    """The folder where `load` puts what it compiles: that of the variable PADDLE_EXTENSION_DIR, else
    `~/.cache/paddle_extension`. It is made.

    Args:
        verbose: print it. Default False.
    Returns:
        str.
    Example:
        >>> import os
        >>> os.path.isdir(paddle.utils.cpp_extension.get_build_directory())
        True
    """
    folder = Path(os.environ.get("PADDLE_EXTENSION_DIR") or "~/.cache/paddle_extension").expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    if verbose:
        print(f"Folder of extensions: {folder}")
    return str(folder)


def run_cmd(command: str, verbose: Any = False) -> int:
    """Runs a command of the shell.

    Args:
        command: str.
        verbose: show what it prints. Default False.
    Returns:
        0.
    Raises:
        RuntimeError: it failed.
    Example:
        >>> paddle.utils.cpp_extension.extension_utils.run_cmd("true")
        0
    """
    # the user's own command
    done = subprocess.run(command, shell=True, check=False, stdout=None if verbose else subprocess.DEVNULL)  # noqa: S602
    if done.returncode:
        raise RuntimeError(
            f"run_cmd: command: {command!r} ended with code {done.returncode}; run it in a shell to see why"
        )
    return 0


def find_cuda_home() -> str:
    """The folder of the CUDA toolkit: that of the variable CUDA_HOME or CUDA_PATH, else that of the program
    nvcc, else the usual one.

    Returns:
        str. It may not be there.
    Example:
        >>> isinstance(paddle.utils.cpp_extension.CUDA_HOME, str)
        True
    """
    nvcc = shutil.which("nvcc")
    return (
        os.environ.get("CUDA_HOME")
        or os.environ.get("CUDA_PATH")
        or (str(Path(nvcc).parents[1]) if nvcc else "/usr/local/cuda")
    )


def compiler() -> list[str]:
    """The command of the C++ compiler, a list of words."""
    chosen = os.environ.get("CXX")
    if chosen:
        words = shlex.split(chosen)
    else:
        words = [next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), "")]
    if not words or not shutil.which(words[0]):
        if chosen:
            missing = f"CXX={chosen!r} is no program"
        else:
            missing = "none of g++, clang++, c++ was found"
        raise RuntimeError(
            f"cpp_extension: there is no C++ compiler: {missing}; install one, or set CXX to its name"
        )
    return words


def checked(sources: Any) -> list[Path]:
    """Paths of C++ sources that exist."""
    if not isinstance(sources, list | tuple) or not sources:
        raise ValueError(f"cpp_extension: sources: got {sources!r}; give a list of paths of C++ files")
    for source in sources:
        if Path(source).suffix not in _CPP:
            raise ValueError(
                f"cpp_extension: sources: got {str(source)!r}; only C++ is compiled here: {', '.join(_CPP)}"
            )
        if not Path(source).is_file():
            raise FileNotFoundError(f"cpp_extension: sources: there is no file {str(source)!r}")
    return [Path(source).absolute() for source in sources]


def command_of(
    sources: Any, cflags: Any = (), ldflags: Any = (), includes: Any = (), libraries: Any = ()
) -> list[Any]:
    """The words that compile sources into a library, up to the name of the result."""
    folders = [INCLUDE, jax.ffi.include_dir(), *includes]
    return [
        *compiler(),
        "-std=c++17",
        "-O3",
        "-fPIC",
        "-shared",
        *cflags,
        *(f"-I{folder}" for folder in folders),
        *map(str, sources),
        str(INCLUDE / "exports.cc"),
        *(f"-L{folder}" for folder in libraries),
        *ldflags,
    ]


def stamp(command: Any, sources: Any) -> str:
    """A short text that changes with what is compiled and how."""
    state = hashlib.sha256("\0".join([*command, jax.__version__, full_version]).encode())
    near = {header for source in sources for header in source.parent.glob("*.h*")}
    for path in [*sources, *sorted(near), INCLUDE / "exports.cc", INCLUDE / "paddle/extension.h"]:
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def compile_library(command: Any, target: Any, verbose: Any = False) -> None:
    """Runs the compiler; the library appears at `target` when it is complete."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building") as folder:
        made = Path(folder) / "library.so"
        words = [*command, "-o", str(made)]
        if verbose:
            print(shlex.join(words))
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(
                f"cpp_extension: the compiler ended with code {done.returncode}; "
                f"it said:\n{(done.stderr or done.stdout)[-8000:]}"
            )
        if verbose and done.stderr:
            print(done.stderr)
        made.replace(target)
