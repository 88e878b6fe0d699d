"""XLA's persistent compile cache: the next process loads the programs that one has compiled.

JAX keeps the cache; this module chooses its directory and size. Entries are files named by their content, so
processes share them. JAX compiles a program again when another process writes its entry at the same time. An
entry is code that will run, so a directory that other users could write to is not used.
"""

from __future__ import annotations

import atexit
import contextlib
import functools as ft
import hashlib
import logging
import os
import platform
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jaxlib.version
from jax._src import compilation_cache, compiler, distributed

from paddle_jax._core.base import flags

LIMIT = 1 << 30  # bytes a cache directory may hold when a process ends
FLAG = "FLAGS_compile_cache"
flags.declare("compile_cache", "auto", apply=None)
_write_entry: Any = getattr(compiler, "_cache_write", None)  # JAX's own; another version may have none


def folder() -> Path:
    """The cache directory: per user, jaxlib, Python and kind of CPU, since compiled code for the CPU uses its
    instruction set."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kind = hashlib.sha256(processor().encode()).hexdigest()[:8]
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return root / "paddle_jax" / f"xla-{jaxlib.version.__version__}-{python}-{platform.machine()}-{kind}"


@ft.cache
def processor() -> str:
    """The features of the processor, or its name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def start() -> None:
    """Switches the cache on: FLAGS_compile_cache is "auto", "off", or a directory.

    Settings that the user made in JAX stay.
    """
    choice = os.environ.get(FLAG, "auto")
    if (
        choice == "off"
        or jax.config.jax_compilation_cache_dir is not None  # pyright: ignore[reportAttributeAccessIssue]
        or "JAX_ENABLE_COMPILATION_CACHE" in os.environ
    ):
        return
    try:
        path = folder() if choice == "auto" else Path(choice)
        _make(path)
        refusal = _refusal(path)
    except (OSError, RuntimeError):
        # no home directory, or one that cannot be written: everything works without
        return
    if refusal:
        logging.getLogger(__package__).warning(
            "%s: the compile cache %s is not used: %s", FLAG, path, refusal
        )
        return
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    if _write_entry is not None:
        compiler._cache_write = write_entry
    atexit.register(prune, path)


def write_entry(
    key: str, seconds: float, name: str, backend: Any, executable: Any, *callbacks: Sequence[Any]
) -> None:
    """Writes the entry of a compiled program, in any process of a job on CPUs.

    JAX writes in the first process alone. Its keys for CPUs differ by process, so the others would compile
    all their programs at each start, and the first one would wait for them.

    Args:
        key: that of the entry.
        seconds: that the compilation took.
        name: that of the program.
        backend: JAX's client.
        executable: what was compiled.
        callbacks: in JAX 0.10 a list of the functions of this process that the program calls, nothing in
            0.12. With some it cannot be kept.
    """
    is_later_process = distributed.global_state.process_id > 0
    if not (is_later_process and backend.platform == "cpu"):
        _write_entry(key, seconds, name, backend, executable, *callbacks)
    elif not any(callbacks):
        try:
            compilation_cache.put_executable_and_time(key, name, executable, backend, int(seconds))
        except Exception as error:  # a full disk, or a client that cannot save programs
            logging.getLogger(__package__).warning("the compile cache: no entry of %s: %s", name, error)


def directory() -> Path | None:
    """The cache directory in use, where it is one of this machine."""
    name = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if name is None or "://" in name:  # JAX takes addresses of stores, too
        return None
    return Path(name)


def read_note(name: str) -> str:
    """The text of a small file in the directory; empty where there is none, or none that can be read."""
    path = directory()
    if path is None:
        return ""
    try:
        return (path / name).read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def write_note(name: str, text: str) -> None:
    """Writes a small file into the directory. Other processes see the old text or the new one."""
    path = directory()
    if path is not None:
        with contextlib.suppress(OSError):  # a full disk, or a directory that is gone
            part = path / f"{name}.{os.getpid()}"
            part.write_text(text)
            part.replace(path / name)


def _make(path: Path) -> None:
    """Makes the directory, and the missing ones above it, for the user alone."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)


def _refusal(path: Path) -> str | None:
    """Why the entries of a directory cannot be trusted, or None."""
    info = path.stat()
    if not hasattr(os, "geteuid"):
        return None
    if info.st_uid != os.geteuid():
        return "it belongs to another user; name a directory of your own"
    if stat.S_IMODE(info.st_mode) & 0o022:
        return (
            "others may write it, and what they put there would run here; "
            "delete it, or empty it and chmod 700"
        )
    return None


def prune(path: Path, limit: int = LIMIT) -> None:
    """Deletes the least recently used files until the directory holds no more than `limit` bytes."""
    files = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(path):
            with contextlib.suppress(OSError):  # another process may be deleting, too
                info = entry.stat()
                files.append((max(info.st_atime, info.st_mtime), info.st_size, entry.path))
    excess = sum(size for _, size, _ in files) - limit
    for _, size, name in sorted(files):
        if excess <= 0:
            return
        with contextlib.suppress(OSError):
            Path(name).unlink()
            excess -= size
