"""Measures what the runs of a segment take, for later processes that find its program in the cache.

Loading a program pays where its runs save more than that. An estimate of the saving is off by a factor of
five: NumPy is as fast as compiled code for some segments, and five times slower for others. So processes
measure it and keep it beside the program (compile_history.py). The least time counts, which other programs on
the machine change little.
"""

from __future__ import annotations

import time
from typing import NamedTuple

_MOST_RUNS = 64  # that are measured of a segment in each tier


class Times(NamedTuple):
    """Seconds, the least of several runs. Zero means that nothing was measured.

    Attributes:
        interpreted: float, of a run in NumPy.
        interpreted_period: float, from the start of such a run to that of the next.
        compiled_period: float, the same for runs of the compiled program.
        load: float, to load the program from the cache.
    """

    interpreted: float = 0.0
    interpreted_period: float = 0.0
    compiled_period: float = 0.0
    load: float = 0.0

    @property
    def saved(self) -> float | None:
        """Seconds that a compiled run saves; None where a time is missing.

        A compiled run may end after the call that starts it. So periods are compared, which also have what
        the program does between the runs. Where several segments take turns, all of them make periods
        shorter, but none of them saves more than its own runs in NumPy take.
        """
        if not all(self):
            return None
        return min(self.interpreted, self.interpreted_period - self.compiled_period)

    def least(self, other: Times) -> Times:
        """The lesser one of each time that two have, or the only one."""
        pairs = zip(self, other, strict=True)
        return Times(*(min(pair) or max(pair) for pair in pairs))


NOT_MEASURED = Times()


class RunTimes:
    """Measures the runs of a segment in this process.

    Attributes:
        interpreted, load: float, as of Times.
        _periods: list of the shortest periods, by whether the runs are compiled.
        _counts: list of the numbers of runs that were measured, in the same way.
        _start: float, start of the last run; 0 before the first one.
        _was_compiled: bool, whether the last run was compiled.
    """

    __slots__ = ("_counts", "_periods", "_start", "_was_compiled", "interpreted", "load")

    def __init__(self) -> None:
        self.interpreted: float = 0.0
        self.load: float = 0.0
        self._periods: list[float] = [0.0, 0.0]
        self._counts: list[int] = [0, 0]
        self._start: float = 0.0
        self._was_compiled: bool = False

    def start_run(self, is_compiled: bool) -> None:
        """A run starts.

        Args:
            is_compiled: whether it is that of the compiled program.
        """
        if self._counts[is_compiled] == _MOST_RUNS:
            return
        self._counts[is_compiled] += 1
        before = self._start
        self._start = time.perf_counter()
        if before and is_compiled is self._was_compiled:
            self._periods[is_compiled] = _lesser(self._periods[is_compiled], self._start - before)
        self._was_compiled = is_compiled

    def end_interpreted(self) -> None:
        """The run in NumPy that started last ends."""
        if self._counts[False] < _MOST_RUNS:
            self.interpreted = _lesser(self.interpreted, time.perf_counter() - self._start)

    def times(self) -> Times:
        """What was measured by now."""
        interpreted_period, compiled_period = self._periods
        return Times(self.interpreted, interpreted_period, compiled_period, self.load)


def _lesser(least: float, seconds: float) -> float:
    """The lesser one; zero is none."""
    return min(least, seconds) if least else seconds
