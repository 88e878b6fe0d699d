"""Remembers, beside XLA's persistent cache, how often segments ran in earlier processes.

A program of 20 steps ends before compiling its step pays. If it runs again and again, that pays some time.
A step that an earlier process has compiled is loaded in a fifth of the time, so loading it pays sooner.

A segment has a small file with the number of its runs. Once it has been compiled, the file has the word
`compiled`, the number of runs in the last process, and what the runs took (run_times.py). The name of the
file says which kernels, shapes and connections the segment has. Others may share it, and the cache may have
dropped the program: it is a hint about time, never about results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from paddle_jax._core.process import compile_cache
from paddle_jax._core.runner.run_times import NOT_MEASURED, Times

_COMPILED = "compiled"
_MIN_RUNS = 8  # of a segment that is worth a file
_MAX_FILES = 64  # that a process writes at its end
_MAX_DIGITS = 10  # of a number in a file
_MICROSECOND = 1e-6  # the unit of times in a file


class EarlierRuns(NamedTuple):
    """What is known of a segment from earlier processes.

    Attributes:
        runs: int, runs that were not compiled, in all processes. With a program, runs in the last process.
        has_program: bool, whether one of them compiled it, so that the persistent cache has its program.
        times: Times of its runs. Without a program nothing is known of them.
    """

    runs: int = 0
    has_program: bool = False
    times: Times = NOT_MEASURED


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
    if not all(number.isdecimal() and len(number) < _MAX_DIGITS for number in numbers):
        return NO_RUNS
    if not numbers:
        return EarlierRuns(0, has_program)
    runs, *times = map(int, numbers)
    if not times:
        return EarlierRuns(runs, has_program)
    if not has_program or len(times) != len(Times._fields):
        return NO_RUNS
    return EarlierRuns(runs, True, Times(*(_MICROSECOND * number for number in times)))


def mark_compiled(name: str) -> None:
    """Notes that the persistent cache has the program of a segment."""
    if not earlier_runs(name).has_program:
        compile_cache.write_note(_file(name), _COMPILED)


def write_runs(runs: Iterable[tuple[str, EarlierRuns]]) -> None:
    """Notes what the next process is to know of segments by their names."""
    worth_it = [(known, name) for name, known in runs if known.runs >= _MIN_RUNS]
    for known, name in sorted(worth_it, reverse=True)[:_MAX_FILES]:
        compile_cache.write_note(_file(name), _text(known))


def _text(known: EarlierRuns) -> str:
    """The text of the file of a segment."""
    if not known.has_program:
        return str(known.runs)
    if known.times == NOT_MEASURED:
        return f"{_COMPILED} {known.runs}"
    times = " ".join(str(round(seconds / _MICROSECOND)) for seconds in known.times)
    return f"{_COMPILED} {known.runs} {times}"


def _file(name: str) -> str:
    return f"segment-{name}"
