"""A recording as one HTML page, with a timeline and tables: needs nothing but a browser."""

from __future__ import annotations

import html
import pathlib
from typing import TYPE_CHECKING, Any

from paddle_jax.profiler.event_type import TracerEventType as Type
from paddle_jax.profiler.page_tables import tables
from paddle_jax.profiler.profiler_statistic import where_the_time_went
from paddle_jax.profiler.recording import COMPILE, FLUSH, INTERPRETED, NEW, OP, PROGRAM

if TYPE_CHECKING:
    from paddle_jax.profiler.recording import Event
    from paddle_jax.profiler.result import ProfilerResult


_COLOURS = {
    COMPILE: "#c0392b",
    NEW: "#e67e22",
    INTERPRETED: "#8e44ad",
    OP: "#2980b9",
    PROGRAM: "#27ae60",
    FLUSH: "#95a5a6",
    Type.Dataloader: "#d4ac0d",
    Type.ProfileStep: "#34495e",
    Type.Forward: "#76b7e2",
    Type.Backward: "#5dade2",
    Type.Optimization: "#48c9b0",
    Type.PythonUserDefined: "#f1948a",
}
_DARK = (COMPILE, INTERPRETED, OP, Type.ProfileStep)  # with white letters
_MOST = 20_000  # events on the page; of more the longest
_ROW = 18
_WIDTH = 1600
_PAGE = """<!doctype html><meta charset="utf-8"><title>Profile</title>
<style>body{{font:13px sans-serif;margin:1em}}rect:hover{{stroke:#000}}td{{padding:0 1em 0 0}}
i{{display:inline-block;width:1em;height:.8em}}
div{{overflow-x:auto}}text{{font:11px sans-serif;pointer-events:none}}.w{{fill:#fff}}
th{{text-align:left;padding:0 1em 0 0}}h2{{font-size:15px}}.out{{opacity:.12}}tr.out{{display:none}}</style>
<h1>Profile of process {process}</h1>
<p>{span:.3f} ms. Wider:
<a href="#" onclick="return zoom(2)">+</a> <a href="#" onclick="return zoom(.5)">-</a>
<input id="q" type="search" placeholder="search names and lines" oninput="search(this.value)"></p>
<table>{went}</table><p>{legend}</p>{note}
<div><svg id="t" width="{width}" height="{height}" viewBox="0 0 {width} {height}"
preserveAspectRatio="none">
{shapes}</svg></div>
{tables}<script>function zoom(f){{var t=document.getElementById("t");
t.setAttribute("width",t.getAttribute("width")*f);return false}}
function search(word){{document.querySelectorAll("rect,.s tbody tr").forEach(
e=>e.classList.toggle("out",!e.textContent.toLowerCase().includes(word.toLowerCase())))}}</script>
"""


def write(result: ProfilerResult, path: Any) -> None:
    """Writes the page."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(result), encoding="utf-8")


def page(result: ProfilerResult) -> str:
    """The page as text."""
    start, end = result.span
    # Outer events before inner ones: an event lies in those on the stack.
    events = sorted(
        sorted(result.events, key=lambda e: -e.duration)[:_MOST],
        key=lambda e: (e.thread, e.start_ns, -e.end_ns),
    )
    scale = _WIDTH / max(end - start, 1)
    shapes = []
    top = 0
    thread = None
    stack = []
    deepest = 0
    for event in events:
        if event.thread != thread:
            # Each thread begins below the deepest row of the one before.
            top = (deepest + 2) * _ROW if shapes else _ROW
            thread = event.thread
            stack = []
            shapes.append(
                f'<text x="0" y="{top - 4}">{html.escape(result.threads.get(thread, str(thread)))}</text>'
            )
        # Events that have ended are not around this one.
        while stack and stack[-1] <= event.start_ns:
            stack.pop()
        deepest = max(deepest, top // _ROW + len(stack))
        shapes.append(
            _shape(
                event,
                (event.start_ns - start) * scale,
                top + len(stack) * _ROW,
                # shorter ones could not be seen
                max(event.duration * scale, 0.3),
            )
        )
        stack.append(event.end_ns)
    went = "".join(
        f"<tr><td>{html.escape(name)}<td>{ns / 1e6:.3f} ms<td>{100 * ns / max(end - start, 1):.1f} %"
        for name, ns in where_the_time_went(result).items()
    )
    legend = " ".join(
        f'<i style="background:{colour}"></i> {getattr(key, "name", key)}' for key, colour in _COLOURS.items()
    )
    left = len(result.events) - len(events)
    if left > 0:
        note = f"<p>{left} of the shortest events are left out.</p>"
    else:
        note = ""
    return _PAGE.format(
        process=result.process,
        span=(end - start) / 1e6,
        went=went,
        legend=legend,
        note=note,
        width=_WIDTH,
        height=(deepest + 2) * _ROW,
        shapes="\n".join(shapes),
        tables=tables(result),
    )


def _shape(event: Event, x: float, y: int, width: float) -> str:
    colour = _COLOURS.get(event.how) or _COLOURS.get(event.type, "#bbb")
    tooltip = " ".join(
        part
        for part in (
            event.name,
            f"{event.duration / 1e6:.3f} ms",
            event.how or event.type.name,
            event.where,
            event.detail,
        )
        if part
    )
    # What has run in some way has the colour of that, whatever its type.
    if event.how in _DARK or not event.how and event.type in _DARK:
        letters = ' class="w"'
    else:
        letters = ""
    # Narrower ones have no room for letters.
    if width > 40:
        label = (
            f'<text{letters} x="{x + 2:.1f}" y="{y + 12}">{html.escape(event.name[: int(width // 7)])}</text>'
        )
    else:
        label = ""
    return (
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_ROW - 2}" '
        f'fill="{colour}"><title>{html.escape(tooltip)}</title></rect>{label}'
    )
