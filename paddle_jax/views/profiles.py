"""The view of what a Profiler has recorded."""

from __future__ import annotations

import collections

from paddle_jax.profiler.profiler import Profiler
from paddle_jax.profiler.profiler_statistic import where_the_time_went
from paddle_jax.profiler.recording import COMPILE, Event
from paddle_jax.profiler.result import ProfilerResult, operations
from paddle_jax.views.markup import (
    Markup,
    chip,
    counted,
    element,
    fold,
    head,
    joined,
    meter,
    place,
    row,
    shortened,
    soft,
    sorted_tables,
    svg,
    table,
    view,
)

_MOST_EVENTS = 400  # in the timeline
_ROW = 15  # pixels of a row of the timeline
_WIDTH = 700
_LETTER = 6.2  # pixels of one letter
_MS = 1e6  # nanoseconds


def profiler_view(profiler: Profiler) -> Markup:
    """The view of a Profiler: that of its last recording."""
    if profiler.profiler_result is None:
        state = profiler.current_state.name
        return view(
            row(head("Profiler"), chip(f"step {profiler.step_num}"), chip(state)), soft("no recording yet")
        )
    return result_view(profiler.profiler_result)


def result_view(result: ProfilerResult) -> Markup:
    """The view of a recording: timeline, where the time went, operations and lines in several orders."""
    whole = max(result.span[1] - result.span[0], 1)
    facts = row(head("Profiler"), chip(f"{whole / _MS:.2f} ms"), chip(counted(len(result.events), "event")))
    went = [
        [name, round(ns / _MS, 3), meter(ns / whole), f"{100 * ns / whole:.1f} %"]
        for name, ns in where_the_time_went(result).items()
        if ns
    ]
    by_name: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0.0])
    by_line: dict[tuple[str, str, str], list[float]] = collections.defaultdict(lambda: [0, 0.0])
    for name, where, how, ns, _, _ in operations(result):
        # Each operation counts by its name, and once more by its line.
        for entry in (by_name[name], by_line[where or "", name, how or ""]):
            entry[0] += 1
            entry[1] += ns
    longest = max((ns for _, ns in by_name.values()), default=1)
    operator_rows = [
        [name, int(calls), round(ns / _MS, 3), round(ns / calls / _MS, 4), meter(ns / max(longest, 1))]
        for name, (calls, ns) in by_name.items()
    ]
    line_rows = [
        [place(key[0]), *key[1:], int(calls), round(ns / _MS, 3)] for key, (calls, ns) in by_line.items()
    ]
    return view(
        facts,
        fold("timeline", timeline(result), shown=True),
        table(("where the time went", "ms", "", "share"), went),
        sorted_tables("operations", ("name", "calls", "ms", "ms a call", ""), operator_rows, (2, 1, 3, 0)),
        sorted_tables("lines", ("line", "operation", "how", "calls", "ms"), line_rows, (4, 3)),
    )


def timeline(result: ProfilerResult) -> Markup:
    """The drawing of a recording: a row for each thread and depth, a bar for each event."""
    start, end = result.span
    longest = sorted(result.events, key=lambda event: -event.duration)[:_MOST_EVENTS]
    events = sorted(longest, key=lambda event: (event.thread, event.start_ns, -event.end_ns))
    scale = _WIDTH / max(end - start, 1)
    parts = []
    line = -1  # the row of the thread's name
    deepest = -1
    thread = None
    open_ends: list[int] = []  # of the events around the present one
    for event in events:
        if event.thread != thread:
            thread = event.thread
            line = deepest + 1
            open_ends = []
            name = result.threads.get(thread, str(thread))
            parts.append(element("text", name, x=0, y=line * _ROW + 10))
        # Events that have ended are not around this one.
        while open_ends and open_ends[-1] <= event.start_ns:
            open_ends.pop()
        depth = line + 1 + len(open_ends)
        deepest = max(deepest, depth)
        open_ends.append(event.end_ns)
        left = min(max((event.start_ns - start) * scale, 0.0), _WIDTH - 1.0)
        # Short events stay visible.
        wide = min(max(event.duration * scale, 0.5), _WIDTH - left)
        parts.append(_bar(event, left, depth * _ROW, wide))
    below = (deepest + 1) * _ROW
    parts.append(element("text", "0", x=0, y=below + 11))
    ms = f"{(end - start) / _MS:.2f} ms"
    parts.append(element("text", ms, x=_WIDTH, y=below + 11, text_anchor="end"))
    drawing = svg(_WIDTH, below + 14, *parts, label="events by thread and time")
    left_out = len(result.events) - len(events)
    return joined([drawing, soft(f"{left_out:,} shorter events are left out") if left_out else ""])


def _bar(event: Event, left: float, top: int, wide: float) -> Markup:
    """The bar of an event, with its name where there is room."""
    words = (event.name, event.how or "", f"{event.duration / _MS:.4f} ms", event.where)
    rect = element(
        "rect",
        element("title", shortened("; ".join(filter(None, words)), 300)),
        x=f"{left:.2f}",
        y=top,
        width=f"{wide:.2f}",
        height=_ROW - 2,
        class_="bar",
        fill_opacity="0.9" if event.how == COMPILE else "0.4",
    )
    letters = int((wide - 4) // _LETTER)
    # There is no room for a name.
    if letters < 3:
        return rect
    label = element(
        "text",
        event.name[:letters],
        x=f"{left + 3:.2f}",
        y=top + 10,
        style="fill:var(--pv-text);pointer-events:none",
    )
    return joined([rect, label])
