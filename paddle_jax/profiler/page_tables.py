"""The tables of the HTML page of a recording: slowest lines, compilations and their reasons, memory."""

from __future__ import annotations

import collections
import html
from typing import TYPE_CHECKING

from paddle_jax.profiler.recording import COMPILE
from paddle_jax.profiler.result import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddle_jax.profiler.result import ProfilerResult

_MOST = 50  # rows of a table


def tables(result: ProfilerResult) -> str:
    """All tables that have rows, as HTML."""
    return slowest_lines(result) + compilations(result) + memory(result)


def slowest_lines(result: ProfilerResult) -> str:
    """The lines of the user's code, those that take longest first; compiling is left out."""
    times: dict[str, float] = collections.defaultdict(float)
    calls: dict[str, int] = collections.Counter()
    # dicts as sets that keep the order
    names: dict[str, dict[str, None]] = collections.defaultdict(dict)
    hows: dict[str, dict[str, None]] = collections.defaultdict(dict)
    for name, where, how, nanoseconds, _, _ in operations(result):
        # A result without a known line is kept, so that the times add up.
        line = where or "?"
        times[line] += nanoseconds
        calls[line] += 1
        names[line][name] = None
        hows[line][how] = None
    order = sorted(times, key=lambda line: -times[line])
    rows = (
        # Four names are enough to know the line by.
        (line, f"{times[line] / 1e6:.3f}", calls[line], ", ".join([*names[line]][:4]), ", ".join(hows[line]))
        for line in order[:_MOST]
    )
    return _table("Slowest lines", ("line", "ms", "calls", "operations", "how"), rows)


def compilations(result: ProfilerResult) -> str:
    """What was compiled, and why, the longest first."""
    found = sorted((e for e in result.events if e.how == COMPILE), key=lambda event: -event.duration)
    rows = (
        (event.name, f"{event.duration / 1e6:.3f}", event.detail or "", event.where or "?")
        for event in found[:_MOST]
    )
    return _table("Compiled, and why", ("what", "ms", "why", "line"), rows)


def memory(result: ProfilerResult) -> str:
    """The bytes of results by operation, where `profile_memory` was on."""
    sizes: dict[str, int] = collections.Counter()
    for name, _, _, _, size, _ in operations(result):
        sizes[name] += size
    # Operations without a size would only fill the table.
    rows = [(name, size) for name, size in sorted(sizes.items(), key=lambda item: -item[1]) if size]
    if not rows:
        return ""
    now, most = result.memory
    note = f"<p>Live tensors hold {now} bytes at the end; {most} bytes at most at the end of a step.</p>\n"
    return _table("Memory", ("operation", "bytes of results"), rows[:_MOST]) + note


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of the page; nothing where there are no rows."""
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}" for cell in row) for row in rows)
    if not body:
        return ""
    head = "".join(f"<th>{name}" for name in heads)
    return f'<h2>{title}</h2>\n<table class="s"><thead><tr>{head}</thead><tbody>\n{body}\n</tbody></table>\n'
