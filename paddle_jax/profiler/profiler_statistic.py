"""The tables of `Profiler.summary`."""

from __future__ import annotations

import collections
import enum
import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.profiler.event_type import TracerEventType as Type
from paddle_jax.profiler.recording import (
    COMPILE,
    FLUSH,
    INTERPRETED,
    NEW,
    OP,
    OWN,
    PHASES,
    PROGRAM,
    exclusive,
    length,
)
from paddle_jax.profiler.result import operations

if TYPE_CHECKING:
    from paddle_jax.profiler.recording import Event
    from paddle_jax.profiler.result import ProfilerResult


__all__ = []
_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


class SortedKeys(enum.Enum):
    """What the operations are sorted by, the greatest first (the smallest for CPUMin and GPUMin). The times
    of a GPU are in its own table; the keys named for it sort as those for the CPU do.

    Args:
        value: int, the number of a member.
    Example:
        >>> paddle.profiler.SortedKeys.CPUTotal.name
        'CPUTotal'
    """

    CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal, GPUAvg, GPUMax, GPUMin = range(8)


class Times:
    """Calls and times of one thing."""

    bytes: Any
    calls: int
    least: float
    most: float
    total: Any

    def __init__(self) -> None:
        self.calls, self.total, self.most, self.least, self.bytes = 0, 0.0, 0.0, float("inf"), 0

    def add(self, ns: Any, size: Any = 0) -> None:
        """Takes in one call."""
        self.calls, self.total, self.bytes = self.calls + 1, self.total + ns, self.bytes + size
        self.most, self.least = max(self.most, ns), min(self.least, ns)

    def text(self, whole: Any, unit: Any) -> str:
        """Total / mean / greatest / smallest / share of the whole."""
        times = (self.total, self.total / self.calls, self.most, self.least)
        return " / ".join(
            [f"{t / unit:.2f}" for t in times] + [f"{100 * self.total / whole if whole else 0:.2f}"]
        )


_ORDER = {
    "Total": lambda t: -t.total,
    "Avg": lambda t: -t.total / t.calls,
    "Max": lambda t: -t.most,
    "Min": lambda t: t.least,
}
_TIMES = "CPU Total / Avg / Max / Min / Ratio(%)"


def _table(
    title: str, columns: Sequence[str], rows: Sequence[Any], unit: str = "", notes: Sequence[str] = ()
) -> str:
    """A table as text; a row of one text is a line across all columns."""
    cells = [[str(cell) for cell in row] for row in rows]
    full = [row for row in cells if len(row) == len(columns)]
    widths = [max([len(name), *[len(row[i]) for row in full]]) for i, name in enumerate(columns)]
    bar = "  ".join("-" * w for w in widths)
    wide = sum(widths) + 2 * (len(widths) - 1)
    lines = [f"{title:-^{wide}}"] + ([f"Time unit: {unit}"] if unit else [])
    lines += [bar, "  ".join(f"{name:<{w}}" for name, w in zip(columns, widths, strict=True)), bar]
    for row in cells:
        lines.append(
            f"{row[0]:-^{wide}}"
            if len(row) != len(columns)
            else "  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True))
        )
    return "\n".join([*lines, bar, *(["Note:", *notes] if notes else []), "", ""])


def _short(where: str) -> str:
    """`folder/file.py:12` of a path and a line."""
    return str(pathlib.Path(*pathlib.Path(where).parts[-2:]))


def _spans(events: Sequence[Event]) -> list[tuple[Any, Any]]:
    return [(e.start_ns, e.end_ns) for e in events]


# the tables -------------------------------------------------------------------------------------------------


def where_the_time_went(result: ProfilerResult) -> Any:
    """{what: nanoseconds}, which add up to the length of the recording: an instant counts once, for the first
    of these that was going on."""
    by_how = collections.defaultdict(list)
    for event in result.events:
        by_how[event.how].append(event)
    loading = [e for e in result.events if e.type is Type.Dataloader]
    mine = [e for e in result.events if e.type is Type.PythonUserDefined]
    steps = [e for e in result.events if e.type in (Type.Forward, Type.Backward, Type.Optimization)]
    # An instant belongs to the first group that covers it: compiling within a layer counts as compiling.
    groups = [
        ("compiling", by_how[COMPILE]),
        ("operations in the interpreter", by_how[INTERPRETED]),
        ("operations compiled one by one", by_how[OP]),
        ("compiled programs", by_how[PROGRAM]),
        ("loading data", loading),
        ("tracing what is new", by_how[NEW]),
        (OWN, by_how[OWN]),
        ("preparing pending operations", by_how[FLUSH]),
        ("Python in layers, backward and optimizer", steps),
        ("Python in ranges", mine),
        ("other Python", []),
    ]
    found = exclusive([(name, _spans(events)) for name, events in groups])
    # Events may reach beyond the span of the recording; the rest is never negative.
    found["other Python"] = max(result.span[1] - result.span[0] - sum(found.values()), 0)
    return found


def _device(result: ProfilerResult) -> str:
    use = result.get_extra_info()["Process Cpu Utilization"]
    rows = [("CPU(Process)", f"{100 * float(use):.2f}")]
    text = _table(
        "Device Summary",
        ("Device", "Utilization (%)"),
        rows,
        notes=("CPU(Process): processor time of this process, of that of all cores.",),
    )
    if result.device:
        # Not 0, as shares are divided by it.
        total = sum(seconds for _, seconds, _ in result.device) or 1
        rows = [
            (name[:80], calls, f"{1e3 * seconds:.3f}", f"{100 * seconds / total:.2f}")
            for name, seconds, calls in result.device[:30]
        ]
        text += "\n" + _table("Accelerator Summary", ("Kernel", "Calls", "ms", "Ratio (%)"), rows)
    return text


def _over(result: ProfilerResult, unit: str, scale: float) -> str:
    whole = result.span[1] - result.span[0]
    # By type and not by name: layers have many names.
    kinds = collections.defaultdict(list)
    for event in result.events:
        kinds[event.type.name].append(event)
    # Without steps the whole recording counts as one.
    total = length(_spans(kinds["ProfileStep"])) or whole
    rows = sorted(
        (
            (name, len(events), length(_spans(events)))
            for name, events in kinds.items()
            if name != "ProfileStep"
        ),
        key=lambda row: -row[2],
    )
    rows = [
        ("ProfileStep", len(kinds["ProfileStep"]), total),
        *[("  " + name, calls, time) for name, calls, time in rows],
    ]
    text = _table(
        "Overview Summary",
        ("Event Type", "Calls", "CPU Time", "Ratio (%)"),
        [
            (name, calls, f"{time / scale:.2f}", f"{100 * time / total:.2f}")
            for name, calls, time in rows
            if calls
        ],
        unit,
        (
            "Events of different types lie inside each other, so the ratios do not add up to "
            "100. Overlaps of one type count once.",
        ),
    )
    went = [
        (name, f"{time / scale:.2f}", f"{100 * time / whole:.2f}")
        for name, time in where_the_time_went(result).items()
    ]
    text += "\n" + _table(
        "Where The Time Went",
        ("What", "Time", "Ratio (%)"),
        went,
        unit,
        ("Each instant counts once; the ratios add up to 100.",),
    )
    return text + _compilations(result, unit, scale) + _flushes(result, unit, scale)


def _compilations(result: ProfilerResult, unit: str, scale: float) -> str:
    found = collections.defaultdict(Times)
    for event in result.events:
        if event.how == COMPILE:
            found[event.name, event.where].add(event.duration)
    if not found:
        return ""
    order = sorted(found.items(), key=lambda item: -item[1].total)[:20]
    rows = [(name, f"{times.total / scale:.2f}", _short(where)) for (name, where), times in order]
    return "\n" + _table("Compilation Summary", ("What", "Time", "Line"), rows, unit)


def _flushes(result: ProfilerResult, unit: str, scale: float) -> str:
    found = collections.defaultdict(Times)
    ops = collections.Counter()
    for event in result.events:
        if event.how == FLUSH:
            found[event.name, event.where].add(event.duration)
            ops[event.name, event.where] += event.count
    if not found:
        return ""
    order = sorted(found.items(), key=lambda item: -item[1].total)[:20]
    rows = [
        (key[0], times.calls, ops[key], f"{times.total / scale:.2f}", _short(key[1])) for key, times in order
    ]
    return "\n" + _table(
        "Why Pending Operations Ran", ("Why", "Calls", "Operations", "Time", "Line"), rows, unit
    )


def _model(result: ProfilerResult, unit: str, scale: float) -> str:
    steps = [e for e in result.events if e.type is Type.ProfileStep]
    whole = sum(e.duration for e in steps)
    if not whole:
        return ""
    found = []
    rest = whole
    for name in PHASES:
        events = [e for e in result.events if e.type is Type[name]]
        times = Times()
        for start, end in _outermost(events):
            times.add(end - start)
        if times.calls:
            # What is in no phase remains.
            rest -= times.total
            found.append(("  " + name, times.calls, times.text(whole, scale)))
    stepped = Times()
    for event in steps:
        stepped.add(event.duration)
    others = ("  Others", "-", f"{max(rest, 0) / scale:.2f} / - / - / - / {100 * max(rest, 0) / whole:.2f}")
    return _table(
        "Model Summary",
        ("Name", "Calls", _TIMES),
        [("ProfileStep", stepped.calls, stepped.text(whole, scale)), *found, others],
        unit,
    )


def _outermost(events: Sequence[Event]) -> Iterator[Any]:
    """The intervals of events that lie in no other of them."""
    end = {}
    # Outer events before inner ones that begin with them.
    for event in sorted(events, key=lambda e: (e.start_ns, -e.end_ns)):
        # Events of a thread are nested: one that ends earlier lies inside.
        if event.end_ns > end.get(event.thread, 0):
            end[event.thread] = event.end_ns
            yield event.start_ns, event.end_ns


def _operators(
    result: ProfilerResult, sorted_by: SortedKeys, op_detail: bool, unit: str, scale: float
) -> str:
    found = collections.defaultdict(Times)
    inner = collections.defaultdict(Times)
    lines = collections.defaultdict(Times)
    for name, where, how, ns, size, _ in operations(result):
        found[name].add(ns, size)
        inner[name, how].add(ns)
        lines[where, name, how].add(ns)
    if not found:
        return ""
    whole = sum(times.total for times in found.values())
    # Without CPU or GPU in front: the times of the host stand for both.
    key = _ORDER[sorted_by.name[3:]]
    rows = []
    for name, times in sorted(found.items(), key=lambda item: key(item[1]))[:100]:
        rows.append((name, times.calls, times.text(whole, scale)))
        # The way in which it ran may change from call to call.
        if op_detail:
            rows += [
                (f"  {how}", t.calls, t.text(times.total, scale))
                for (n, how), t in inner.items()
                if n == name
            ]
    text = _table(
        "Operator Summary",
        ("Name", "Calls", _TIMES),
        rows,
        unit,
        (f"Operations of a {PROGRAM} have an estimated share of its time.",),
    )
    slow = sorted(lines.items(), key=lambda item: -item[1].total)[:20]
    rows = [
        (
            _short(where),
            name,
            times.calls,
            f"{times.total / scale:.2f}",
            f"{100 * times.total / whole:.2f}",
            how,
        )
        for (where, name, how), times in slow
    ]
    return (
        text
        + "\n"
        + _table("Slowest Lines", ("Line", "Operation", "Calls", "Time", "Ratio (%)", "How"), rows, unit)
    )


def _users(result: ProfilerResult, unit: str, scale: float) -> str:
    found = collections.defaultdict(Times)
    whole = result.span[1] - result.span[0]
    for event in result.events:
        if event.type is Type.PythonUserDefined:
            found[event.name].add(event.duration)
    rows = [
        (name, times.calls, times.text(whole, scale))
        for name, times in sorted(found.items(), key=lambda item: -item[1].total)
    ]
    if rows:
        return _table("UserDefined Summary", ("Name", "Calls", _TIMES), rows, unit)
    return ""


def _memory(result: ProfilerResult) -> str:
    found = collections.defaultdict(Times)
    for name, _, _, _, size, _ in operations(result):
        if size:
            found[name].add(0, size)
    rows = [
        (name, times.calls, times.bytes)
        for name, times in sorted(found.items(), key=lambda item: -item[1].bytes)[:50]
    ]
    now, most = result.memory
    if rows:
        text = _table("Memory Summary", ("Name", "Calls", "Bytes of results"), rows)
    else:
        text = ""
    return (
        f"{text}Memory of live tensors at the end: {now} bytes; the most at the end of a step: {most} bytes\n"
    )


# the views that _build_table knows
_VIEWS = {"DeviceView", "OverView", "ModelView", "OperatorView", "UDFView", "MemoryView"}
# those of them that no thread has for itself
_OF_PROCESS = {"DeviceView", "MemoryView"}


def _build_table(
    result: ProfilerResult,
    sorted_by: Any = SortedKeys.CPUTotal,
    op_detail: bool = True,
    thread_sep: bool = False,
    time_unit: str = "ms",
    views: set[str] | None = None,
    memory: bool = False,
) -> str:
    """The tables as text. views: names of SummaryView, or None for all."""
    if thread_sep:
        asked = _VIEWS if views is None else views
        shared = asked & _OF_PROCESS
        parts = [_build_table(result, sorted_by, op_detail, False, time_unit, shared, memory)]
        own = asked - _OF_PROCESS
        if own:
            parts += [
                f"Thread {thread} ({result.threads.get(thread, '')})\n"
                + _build_table(part, sorted_by, op_detail, False, time_unit, own)
                for thread, part in _by_thread(result).items()
            ]
        return "\n".join(part for part in parts if part)
    # Unknown units count as nanoseconds.
    scale = _UNITS.get(time_unit, 1)
    tables = [
        ("DeviceView", lambda: _device(result)),
        ("OverView", lambda: _over(result, time_unit, scale)),
        ("ModelView", lambda: _model(result, time_unit, scale)),
        ("OperatorView", lambda: _operators(result, sorted_by, op_detail, time_unit, scale)),
        ("UDFView", lambda: _users(result, time_unit, scale)),
        ("MemoryView", lambda: _memory(result) if memory else ""),
    ]
    # Views are computed only where they are asked for.
    return "\n".join(text for name, make in tables if (views is None or name in views) and (text := make()))


def _by_thread(result: Any) -> dict[Any, Any]:
    """{thread: the result with its events only}."""
    parts = collections.defaultdict(list)
    for event in result.events:
        parts[event.thread].append(event)
    return {thread: result.only(events) for thread, events in parts.items()}
