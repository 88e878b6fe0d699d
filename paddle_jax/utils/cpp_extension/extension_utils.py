"""Running the C++ compiler."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

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
_OWN_FILES = [INCLUDE / "exports.cc", INCLUDE / "paddle/extension.h"]
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


class Build(NamedTuple):
    """How a library is compiled from C++ sources.

    Attributes:
        compile: words of the compiler, with all options but those of the linker.
        sources: paths of the sources.
        link: words for the linker, behind the files.
        verbose: print the commands and what the compiler says.
    """

    compile: list[str]
    sources: list[Path]
    link: list[str]
    verbose: bool = False

    def stamp(self) -> str:
        """A short text that changes with what is compiled and how."""
        # Headers beside the sources may be included by them.
        near = {header for source in self.sources for header in source.parent.glob("*.h*")}
        words = [*self.compile, *map(str, self.sources), *self.link]
        return _stamp(words, [*self.sources, *sorted(near), *_OWN_FILES])

    def exports(self, folder: Path) -> Path:
        """Where the object is kept that all libraries in a folder with the same options share."""
        return folder / f"exports_{_stamp(self.compile, _OWN_FILES)}.o"


def build_of(
    sources: list[Path],
    cflags: Sequence[str] = (),
    ldflags: Sequence[str] = (),
    includes: Sequence[str] = (),
    libraries: Sequence[str] = (),
    verbose: bool = False,
) -> Build:
    """How sources become a library, with options for the compiler and the linker and with their folders."""
    folders = [INCLUDE, jax.ffi.include_dir(), *includes]
    options = ["-std=c++17", "-O3", "-fPIC", *cflags, *(f"-I{folder}" for folder in folders)]
    link = [*(f"-L{folder}" for folder in libraries), *ldflags]
    return Build([*compiler(), *options], sources, link, verbose)


def _stamp(words: Sequence[str], files: Sequence[Path]) -> str:
    state = hashlib.sha256("\0".join([*words, jax.__version__, full_version]).encode())
    for path in files:
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def compile_library(build: Build, target: Path, shared: Path | None = None) -> None:
    """Runs the compiler, for several files at a time; the library appears at `target` when it is complete.

    Args:
        build: Build.
        target: path of the library.
        shared: folder that keeps what later libraries need too. Default: nothing is kept.
    """
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building") as name:
        folder = Path(name)
        objects = {folder / f"{number}.o": source for number, source in enumerate(build.sources)}
        exports = build.exports(folder if shared is None else shared)
        new_exports = folder / "exports.o"
        needed = list(objects.items())
        # The table of exported functions is compiled once for all extensions of a folder.
        if not exports.exists():
            needed.append((new_exports, INCLUDE / "exports.cc"))
        commands = [[*build.compile, "-c", str(source), "-o", str(file)] for file, source in needed]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(lambda command: _run(command, build.verbose), commands))
        if new_exports.exists():
            # Another process may have put the same there.
            new_exports.replace(exports)
        library = folder / "library.so"
        link = [*build.compile, "-shared", *map(str, [*objects, exports]), *build.link, "-o", str(library)]
        _run(link, build.verbose)
        # In one step, so that another process never sees half a library.
        library.replace(target)


def _run(words: list[str], verbose: bool) -> None:
    """Runs a command of the compiler."""
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
