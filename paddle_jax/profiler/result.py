"""A finished recording, and the files it is written to and read from."""

from __future__ import annotations

import bisect
import dataclasses
import gzip
import json
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.profiler.event_type import TracerEventType
from paddle_jax.profiler.recording import COMPILE, OP, PROGRAM, Event, merged
from paddle_jax.profiler.shares import shares
from paddle_jax.version import full_version

if TYPE_CHECKING:
    from paddle_jax.profiler.recording import Rows


_MARK = "paddle_jax profile"
_VERSION = 1
# events of Python code, which have a row of their own beside that of operations
_HOSTS = (
    TracerEventType.Dataloader,
    TracerEventType.ProfileStep,
    TracerEventType.Forward,
    TracerEventType.Backward,
    TracerEventType.Optimization,
    TracerEventType.PythonUserDefined,
)


class Node:
    """An event with those that ran inside it.

    Attributes:
        event: as given.
        name, type, start_ns, end_ns: those of the event.
        thread_id, process_id: int, where it ran.
        children_node: list of the Nodes inside it.
        runtime_node, device_node, mem_node: lists, empty as yet.
    """

    def __init__(self, event: Event, process: Any) -> None:
        self.name: str = event.name
        self.type: TracerEventType = event.type
        self.start_ns: int = event.start_ns
        self.end_ns: int = event.end_ns
        self.thread_id: int = event.thread
        self.process_id = process
        self.event = event
        self.children_node: list[Any] = []
        self.runtime_node: list[Any] = []
        self.device_node: list[Any] = []
        self.mem_node: list[Any] = []


class ProfilerResult:
    """What a Profiler has recorded.

    Attributes:
        events: list of Events in the order of their beginnings.
        span: (begin, end) in nanoseconds.
        epoch_ns: int, the time of day at the zero of these.
        cpu_seconds: float, processor time of the process.
        threads: dict of the names of threads.
        process: int, its identifier.
        device: list of (name, seconds, calls), what ran on accelerators.
        memory: (bytes in use at the end, at most), where asked for.
        _shares: dict, how compiled programs spend their time, once asked.
    """

    def __init__(
        self,
        events: Any,
        span: Any,
        epoch_ns: Any,
        cpu_seconds: Any,
        threads: Any,
        process: Any,
        memory: Any = (0, 0),
        device: Any = (),
    ) -> None:
        self.events = events
        self.span = span
        self.epoch_ns = epoch_ns
        self.cpu_seconds = cpu_seconds
        self.threads = threads
        self.process = process
        self.memory = memory
        self.device: list[Any] = list(device)
        self._shares = {}

    @classmethod
    def of(cls, rows: Rows, memory: Any = (0, 0), device: Any = ()) -> ProfilerResult:
        """That of the rows of a recording."""
        found = rows.events()
        return cls(
            found,
            (rows.start_ns, rows.end_ns),
            rows.epoch_ns,
            rows.cpu,
            rows.threads,
            os.getpid(),
            memory,
            device,
        )

    def find(self, name: str) -> list[Any]:
        """The events of a name."""
        return [event for event in self.events if event.name == name]

    def only(self, events: Any) -> ProfilerResult:
        """The same with these events only."""
        return ProfilerResult(
            events,
            self.span,
            self.epoch_ns,
            self.cpu_seconds,
            self.threads,
            self.process,
            self.memory,
            self.device,
        )

    def get_data(self) -> dict[Any, Any]:
        """{thread: its root Node}."""
        roots = {}
        for event in self.events:
            if event.thread not in roots:
                whole = Event("root node", TracerEventType.UserDefined, *self.span, event.thread)
                roots[event.thread] = [Node(whole, self.process)]
            stack = roots[event.thread]
            node = Node(event, self.process)
            # Events come by their beginnings: one that ends earlier cannot hold this one.
            while len(stack) > 1 and stack[-1].end_ns < event.end_ns:
                stack.pop()
            stack[-1].children_node.append(node)
            stack.append(node)
        return {thread: stack[0] for thread, stack in roots.items()}

    def get_extra_info(self) -> dict[str, Any]:
        """Names of threads and the use of the processors, as text."""
        elapsed = max(self.span[1] - self.span[0], 1) * 1e-9
        use = self.cpu_seconds / elapsed / (os.cpu_count() or 1)
        return {**{str(k): v for k, v in self.threads.items()}, "Process Cpu Utilization": f"{use:.6f}"}

    def shares(self, event: Event) -> list[Any]:
        """How the time of a compiled program divides, [(operation, line, share)]; estimated
        once per program."""
        key = id(event.program)
        if key not in self._shares:
            # Read from a file, which has the shares in place of the program.
            if isinstance(event.program, list):
                known = event.program
            else:
                known = shares(event.program)
            self._shares[key] = known
        return self._shares[key]

    def save(self, path: str, format: str) -> None:
        """Writes a chrome trace ("json") or what `load_profiler_result` reads ("pb")."""
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if format == "json":
            target.write_text(json.dumps(self._trace()), encoding="utf-8")
        else:
            # Without a time equal recordings are equal files.
            target.write_bytes(gzip.compress(json.dumps(self._record()).encode(), mtime=0))

    def _trace(self) -> dict[str, Any]:
        parts = [self._trace_event(event) for event in self.events]
        for thread, name in self.threads.items():
            parts.append(
                {
                    "name": "thread_name",
                    "pid": self.process,
                    # Two rows for each thread: Python and operations would hide each other.
                    "tid": _tid(thread, True),
                    "ph": "M",
                    "args": {"name": f"{name}(Python)"},
                }
            )
            parts.append(
                {
                    "name": "thread_name",
                    "pid": self.process,
                    "tid": _tid(thread, False),
                    "ph": "M",
                    "args": {"name": f"{name}(operations)"},
                }
            )
        parts.append(
            {
                "name": "process_name",
                "pid": self.process,
                "ph": "M",
                "args": {"name": f"Process {self.process}"},
            }
        )
        return {
            "displayTimeUnit": "ms",
            "schemaVersion": "1.0.2",
            "span_index": "0",
            "traceEvents": parts,
            "paddleVersion": full_version,
            "ExtraInfo": self.get_extra_info(),
        }

    def _trace_event(self, event: Event) -> dict[str, Any]:
        start = (event.start_ns - self.span[0]) / 1000
        args = {"start_time": f"{start:.3f} us", "end_time": f"{start + event.duration / 1000:.3f} us"}
        details = {
            "how": event.how,
            "where": event.where,
            "detail": event.detail,
            "input_shapes": [list(s) for s, _ in event.shapes],
            "input_dtypes": [d for _, d in event.shapes],
            "result_bytes": event.bytes,
        }
        # Empty details would only fill the page.
        args.update({key: value for key, value in details.items() if value})
        if event.how == PROGRAM:
            args["operations"] = event.count
        return {
            "name": f"{event.name}[{_duration(event.duration)}]",
            "pid": self.process,
            "tid": _tid(event.thread, event.type in _HOSTS),
            # Chrome traces count microseconds since 1970.
            "ts": (event.start_ns + self.epoch_ns) // 1000,
            "dur": event.duration / 1000,
            "ph": "X",
            "cat": event.type.name,
            "args": args,
        }

    def _record(self) -> dict[str, Any]:
        events = []
        for event in self.events:
            row = {f.name: getattr(event, f.name) for f in dataclasses.fields(event)}
            row["type"] = event.type.name
            # The shares in place of the program, which no file can hold.
            row["program"] = None if event.program is None else self.shares(event)
            events.append(row)
        return {
            "format": _MARK,
            "version": _VERSION,
            "events": events,
            "span": self.span,
            "epoch_ns": self.epoch_ns,
            "cpu_seconds": self.cpu_seconds,
            "threads": {str(k): v for k, v in self.threads.items()},
            "process": self.process,
            "memory": self.memory,
            "device": self.device,
        }


def _tid(thread: int, python: bool) -> str:
    return f"{thread}({'Python' if python else 'operations'})"


def _duration(ns: int) -> str:
    if ns >= 1e6:
        return f"{ns / 1e6:.3f} ms"
    return f"{ns / 1e3:.3f} us"


def read(path: Any) -> ProfilerResult:
    """The ProfilerResult in a file."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"load_profiler_result: filename: got {type(path).__name__}; it must be a text")
    try:
        data = json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))
        if data["format"] != _MARK or data["version"] != _VERSION:
            # Caught below, like any other form of file.
            raise KeyError("format")
        events = [_event(row) for row in data["events"]]
        threads = {int(k): v for k, v in data["threads"].items()}
        return ProfilerResult(
            events,
            tuple(data["span"]),
            data["epoch_ns"],
            data["cpu_seconds"],
            threads,
            data["process"],
            tuple(data["memory"]),
            data["device"],
        )
    except (KeyError, TypeError, EOFError, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(
            f"load_profiler_result: {path} was not written by Profiler.export(format='pb') of "
            "paddle_jax; write it again"
        ) from error


def _event(row: dict[str, Any]) -> Event:
    # JSON has lists in place of tuples.
    row = dict(row, type=TracerEventType[row["type"]], shapes=tuple((tuple(s), d) for s, d in row["shapes"]))
    if row["program"] is not None:
        row["program"] = [tuple(each) for each in row["program"]]
    return Event(**row)


def operations(result: ProfilerResult) -> Iterator[Any]:
    """(name, line, how, nanoseconds, bytes, shapes) of all operations, compiling left out; those in compiled
    programs by their estimated shares."""
    compiling = merged([(e.start_ns, e.end_ns) for e in result.events if e.how == COMPILE])
    for event in result.events:
        if event.how == PROGRAM:
            for name, where, share in result.shares(event):
                yield name, where, PROGRAM, _running(event, compiling) * share, 0, ()
        elif event.type is TracerEventType.Operator:
            yield (
                event.name,
                event.where,
                event.how or OP,
                _running(event, compiling),
                event.bytes,
                event.shapes,
            )


def _running(event: Event, compiling: Sequence[Any]) -> int:
    """The time of an event in which nothing was compiled."""
    time = event.duration
    # The last compilation that begins before the event may reach into it.
    for start, end in compiling[max(bisect.bisect(compiling, (event.start_ns,)) - 1, 0) :]:
        if start >= event.end_ns:
            break
        time -= max(min(end, event.end_ns) - max(start, event.start_ns), 0)
    return time
