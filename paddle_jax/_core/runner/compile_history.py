"""Remembers, beside XLA's persistent cache, how often segments ran in earlier processes.

A program of 20 steps ends before compiling its step pays. If it runs again and again, that pays some time.
A step that an earlier process has compiled is loaded in a fifth of the time, so loading it pays sooner.

A segment has a small file with the number of its runs, or the word `compiled`. Its name says which kernels,
shapes and connections the segment has. Others may share it, and the cache may have dropped the program: it is
a hint about time, never about results.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_jax._core.process import compile_cache

_COMPILED = "compiled"
_MIN_RUNS = 8  # of a segment that is worth a file
_MAX_FILES = 64  # that a process writes at its end


def has_directory() -> bool:
    """Whether there is a directory for these files. Without one, a name is not worth its time."""
    return compile_cache.directory() is not None


def name_of(ops: Sequence[tuple[Any, ...]], live: Sequence[int]) -> str:
    """A name of a segment that is the same in each process.

    Args:
        ops: the recorded operations.
        live: positions of the results that are needed.
    """
    digest = hashlib.sha256()
    for signature, *positions in ops:
        avals = [(aval.shape, aval.dtype.str) for aval in signature.operand_avals]
        digest.update(repr((signature.kernel.name, avals, positions)).encode())
    digest.update(repr(live).encode())
    return digest.hexdigest()[:32]


def runs_before(name: str) -> float:
    """How often a segment ran in earlier processes without being compiled; infinite if one compiled it."""
    path = _path(name)
    if path is None:
        return 0
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        return 0
    if text == _COMPILED:
        return math.inf
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def mark_compiled(name: str) -> None:
    """Notes that the persistent cache has the program of a segment."""
    _write(name, _COMPILED)


def write_runs(runs_by_name: Mapping[str, int]) -> None:
    """Notes how often segments have run by now, in this process and in earlier ones."""
    worth_it = [(runs, name) for name, runs in runs_by_name.items() if runs >= _MIN_RUNS]
    for runs, name in sorted(worth_it, reverse=True)[:_MAX_FILES]:
        _write(name, str(runs))


def _write(name: str, text: str) -> None:
    path = _path(name)
    if path is not None:
        with contextlib.suppress(OSError):  # a full disk, or a directory that is gone
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(text)
            part.replace(path)  # other processes see the old text or the new one


def _path(name: str) -> Path | None:
    directory = compile_cache.directory()
    if directory is None:
        return None
    return directory / f"segment-{name}"
