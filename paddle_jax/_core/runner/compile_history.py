"""Remembers, beside XLA's persistent cache, how often segments ran in earlier processes.

A program of 20 steps ends before compiling its step pays. If it runs again and again, that pays some time.
A step that an earlier process has compiled is loaded in a fifth of the time, so loading it pays sooner.

A segment has a small file with the number of its runs. Once it has been compiled, the file has the word
`compiled` and the number of runs in the last process. The name of the file says which kernels, shapes and
connections the segment has. Others may share it, and the cache may have dropped the program: it is a hint
about time, never about results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from paddle_jax._core.process import compile_cache

_COMPILED = "compiled"
_MIN_RUNS = 8  # of a segment that is worth a file
_MAX_FILES = 64  # that a process writes at its end
_MAX_DIGITS = 10  # of a number in a file


class EarlierRuns(NamedTuple):
    """What is known of a segment from earlier processes.

    Attributes:
        runs: int, runs that were not compiled, in all processes. With a program, runs in the last process.
        has_program: bool, whether one of them compiled it, so that the persistent cache has its program.
    """

    runs: int = 0
    has_program: bool = False


NO_RUNS = EarlierRuns()


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


def earlier_runs(name: str) -> EarlierRuns:
    """The runs of a segment in earlier processes. A file of unknown content counts as none."""
    words = compile_cache.read_note(_file(name)).split()
    has_program = words[:1] == [_COMPILED]
    numbers = words[1:] if has_program else words
    if not numbers:
        return EarlierRuns(0, has_program)
    if len(numbers) > 1 or not numbers[0].isdecimal() or len(numbers[0]) >= _MAX_DIGITS:
        return NO_RUNS
    return EarlierRuns(int(numbers[0]), has_program)


def mark_compiled(name: str) -> None:
    """Notes that the persistent cache has the program of a segment."""
    if not earlier_runs(name).has_program:
        compile_cache.write_note(_file(name), _COMPILED)


def write_runs(runs: Iterable[tuple[str, EarlierRuns]]) -> None:
    """Notes what the next process is to know of segments by their names."""
    worth_it = [(known.runs, known.has_program, name) for name, known in runs if known.runs >= _MIN_RUNS]
    for count, has_program, name in sorted(worth_it, reverse=True)[:_MAX_FILES]:
        text = f"{_COMPILED} {count}" if has_program else str(count)
        compile_cache.write_note(_file(name), text)


def _file(name: str) -> str:
    return f"segment-{name}"
