"""What a recording notes: one tuple per event, appended while the program runs, made into Events when
it is looked at."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

from paddle_jax.profiler.event_type import TracerEventType

# how something ran; the order of precedence where the time of several overlaps
COMPILE = "compile"
NEW = "new operation"
INTERPRETED = "interpreted"
OP = "compiled op"
PROGRAM = "compiled program"
FLUSH = "flush"
OWN = "the Profiler itself"
PHASES = ("Dataloader", "Forward", "Backward", "Optimization")


@dataclasses.dataclass(slots=True)
class Event:
    """One event on the host: its name, TracerEventType, begin and end in nanoseconds, thread, and what
    else is known of it.

    Attributes:
        name: str.
        type: TracerEventType.
        start_ns, end_ns: int, begin and end in nanoseconds.
        thread: int, the thread's identifier.
        how: str, one of the names above, or None.
        where: str, `file:line` of the user's code.
        detail: str, a further text about it.
        shapes: tuple of the shapes of the operands.
        count: int, the operations of a compiled program.
        program: what `shares.py` splits the time of a compiled program by.
        bytes: int, those of the results.
    """

    name: str
    type: TracerEventType
    start_ns: int
    end_ns: int
    thread: int
    how: str | None = None
    where: str = ""
    detail: str = ""
    shapes: tuple[Any, ...] = ()
    count: int = 1
    program: object = None
    bytes: int = 0

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end_ns - self.start_ns


class Rows:
    """What has been noted so far. `add` is the append of a list: it takes one step, whichever
    thread calls it.

    Attributes:
        shapes, memory: bool, whether these are recorded.
        rows: list of tuples of a function and its arguments, which give an Event.
        memory_rows: list of the same for memory.
        add: function that appends to rows.
        threads: dict of the names of threads.
        start_ns, end_ns: int, begin and end in nanoseconds.
        epoch_ns: int, the time of day at the zero of these.
        cpu: float, processor seconds.
    """

    cpu: float
    end_ns: int
    start_ns: int

    def __init__(self, shapes: bool = False, memory: bool = False) -> None:
        self.shapes = shapes
        self.memory = memory
        self.rows: list[Any] = []
        self.memory_rows: list[Any] = []
        self.threads: dict[int | None, str] = {}
        self.add: Callable[..., Any] = self.rows.append
        self.start_ns = time.perf_counter_ns()
        # perf_counter begins anywhere; this leads to the time of day.
        self.epoch_ns: int = time.time_ns() - self.start_ns
        self.cpu = time.process_time()
        self.end_ns = self.start_ns

    def begin(self) -> int:
        """Begins to count, once everything is in place; gives the time."""
        # Putting the probes in took time that is not the program's.
        self.start_ns, self.cpu = time.perf_counter_ns(), time.process_time()
        return self.start_ns

    def close(self) -> None:
        """Says that nothing more comes."""
        self.end_ns, self.cpu = time.perf_counter_ns(), time.process_time() - self.cpu
        # Names of the threads, as far as they still run.
        self.threads = {t.ident: t.name for t in threading.enumerate()}

    def events(self) -> list[Any]:
        """The Events, in the order of their beginnings."""
        found = [event for row in self.rows if (event := row[0](*row[1:])) is not None]
        # Outer events come before inner ones that begin with them.
        return sorted(found, key=lambda e: (e.start_ns, -e.end_ns))


class Recording:
    """rows: those of the recording that is on, or None. Ranges of the user's and of the probes go there."""

    rows = None


def profiler_event(start: Any, end: Any, thread: Any) -> Event:
    """What the Profiler itself did, apart from noting."""
    return Event("measuring memory", TracerEventType.OperatorInner, start, end, thread, OWN)


def range_of(name: str, kind: Any, start: Any, end: Any, thread: Any) -> Event:
    """A range that the user or a phase of training has marked."""
    return Event(str(name), kind, start, end, thread)


def merged(spans: Any) -> list[Any]:
    """Intervals (start, end) without overlap, in order."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def length(spans: Any) -> int:
    """The time covered by intervals, overlaps counted once."""
    return sum(end - start for start, end in merged(spans))


def exclusive(groups: Any) -> Any:
    """{name: time} of groups [(name, intervals)], where an instant belongs to the first
    group that covers it."""
    found = collections.OrderedDict()
    covered = []
    for name, spans in groups:
        both = merged([*covered, *spans])
        # What the group adds to the groups before it.
        found[name] = length(both) - length(covered)
        covered = both
    return found
