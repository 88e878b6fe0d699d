"""The view of what a Profiler has recorded."""

from __future__ import annotations

import collections

from paddle_jax.profiler.profiler import Profiler
from paddle_jax.profiler.profiler_statistic import where_the_time_went
from paddle_jax.profiler.result import ProfilerResult, operations
from paddle_jax.views.markup import Markup, chip, counted, fold, head, meter, place, row, soft, table, view

_MOST_ROWS = 20
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
    """The view of a recording: where the time went, the longest operations, the slowest lines."""
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
        for entry in (by_name[name], by_line[where or "", name, how or ""]):
            entry[0] += 1
            entry[1] += ns
    names = sorted(by_name.items(), key=lambda item: -item[1][1])[:_MOST_ROWS]
    lines = sorted(by_line.items(), key=lambda item: -item[1][1])[:_MOST_ROWS]
    operator_rows = [
        [name, int(calls), round(ns / _MS, 3), meter(ns / max(names[0][1][1], 1))]
        for name, (calls, ns) in names
    ]
    line_rows = [[place(key[0]), *key[1:], int(calls), round(ns / _MS, 3)] for key, (calls, ns) in lines]
    return view(
        facts,
        table(("where the time went", "ms", "", "share"), went),
        fold("operations", table(("operation", "calls", "ms", ""), operator_rows), shown=True),
        fold("slowest lines", table(("line", "operation", "how", "calls", "ms"), line_rows)),
    )
