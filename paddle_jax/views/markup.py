"""HTML of views: elements whose texts are escaped, one style for all, small charts.

A view has no scripts and loads nothing. Its style holds inside `.paddle-jax-view` alone. Colours follow
JupyterLab's or VS Code's theme where there is one, else the light or dark mode of the system.
"""

from __future__ import annotations

import html
import math
import pathlib
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

_NAME = "paddle-jax-view"
_MARGIN = 64  # pixels for the numbers beside a curve
_MAX_TEXT = 400  # characters of one text; names and attributes are rarely longer

_STYLE = pathlib.Path(__file__).with_name("style.css").read_text(encoding="utf-8")


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def shortened(text: str, length: int = _MAX_TEXT) -> str:
    """A text without its middle, where it is longer than `length` characters."""
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]} ... {text[-half:]}"


def escaped(value: Any) -> Markup:
    """A value as HTML: Markup as it is, everything else as escaped text."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(str(value)))


def joined(parts: Iterable[Any]) -> Markup:
    """Several values, one after the other."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """An element of HTML.

    Args:
        tag: its name.
        children: what it contains; texts are escaped.
        attributes: its attributes; `class_` is `class`. None and False leave one out, True gives a bare one.
    """
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        # `class_` and `fill_opacity` are Python's spellings of names that HTML has.
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(name)
        else:
            words.append(f'{name}="{html.escape(str(value))}"')
    return Markup(f"<{' '.join(words)}>{joined(children)}</{tag}>")


def view(*children: Any) -> Markup:
    """The whole of a view: its style and its contents."""
    return element("div", element("style", Markup(_STYLE)), *children, class_=_NAME)


def row(*children: Any) -> Markup:
    """Parts side by side, on several lines where there is no room."""
    return element("div", *children, class_="row")


def head(text: Any) -> Markup:
    """The name of what is shown."""
    return element("span", text, class_="head")


def soft(text: Any) -> Markup:
    """A remark."""
    return element("span", text, class_="soft")


def chip(text: Any) -> Markup:
    """A fact of a few words."""
    return element("span", text, class_="chip")


def warning(text: Any) -> Markup:
    """A fact that needs attention."""
    return element("span", text, class_="bad")


def fold(summary: Any, *children: Any, shown: bool = False, group: str | None = None) -> Markup:
    """Contents that a click on a line shows or hides; of those of a group one is shown at a time."""
    return element("details", element("summary", summary), *children, open=shown, name=group)


def code(text: str) -> Markup:
    """A text in the letters of code."""
    return element("pre", text)


def is_number(value: Any) -> bool:
    """Whether a cell is aligned as a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: float) -> str:
    """A number of at most five digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.5g}"


def table(names: Sequence[str], rows: Sequence[Sequence[Any]], most: int = 200) -> Markup:
    """A table; of many rows the first.

    Args:
        names: heads of the columns.
        rows: cells; numbers are aligned to the right.
        most: how many rows are shown.
    """
    shown = rows[:most]
    columns = [all(is_number(line[i]) for line in shown) and len(shown) > 0 for i in range(len(names))]
    lines = [joined(_cell("th", name, right) for name, right in zip(names, columns, strict=True))]
    lines += [joined(_cell("td", cell, is_number(cell)) for cell in line) for line in shown]
    body = element("div", element("table", *[element("tr", line) for line in lines]), class_="box")
    if len(rows) <= most:
        return body
    return joined([body, element("div", soft(f"{len(rows) - most} more rows"))])


def sorted_tables(
    title: str, names: Sequence[str], rows: Sequence[Sequence[Any]], by: Sequence[int], most: int = 20
) -> Markup:
    """A table in several orders, of which a click shows one; numbers begin with the greatest.

    Args:
        title: what the rows are.
        names: heads of the columns.
        rows: cells, as for `table`.
        by: the columns to sort by, the first of which is shown.
        most: how many rows each table has.
    """
    group = f"pv-{secrets.token_hex(4)}"  # of this view alone: a page may have several
    folds = []
    for position, column in enumerate(by):
        numbers = all(is_number(line[column]) for line in rows)
        ordered = sorted(rows, key=lambda line, column=column: line[column], reverse=numbers)
        words = f"{title} by {names[column]}"
        folds.append(fold(words, table(names, ordered, most), shown=position == 0, group=group))
    return joined(folds)


def _cell(tag: str, value: Any, right: bool) -> Markup:
    if is_number(value):
        value = number(value)
    elif isinstance(value, str) and not isinstance(value, Markup):
        value = shortened(value)
    return element(tag, value, class_="number" if right else None)


def meter(share: float) -> Markup:
    """A bar that is filled by a share, 0 to 1."""
    width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
    return element("span", element("i", style=width), class_="meter")


def svg(width: int, height: int, *children: Any, label: str) -> Markup:
    """A drawing of so many pixels; `label` says what it shows."""
    return element(
        "svg",
        element("title", label),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
    )


def bars(counts: Sequence[int], edges: Sequence[float], ends: tuple[float, float], label: str) -> Markup:
    """A histogram.

    Args:
        counts: values in each bin.
        edges: bounds of the bins, one more than counts.
        ends: the least and the greatest value, which stand below.
        label: what it shows.
    """
    width = 264
    height = 40
    step = width / max(len(counts), 1)
    most = max([*counts, 1])
    rects = []
    for index, count in enumerate(counts):
        tall = height * count / most
        # A bar that is not empty is at least one pixel high.
        if count:
            tall = max(tall, 1.0)
        tip = f"{count:,} from {number(float(edges[index]))} to {number(float(edges[index + 1]))}"
        rects.append(
            element(
                "rect",
                element("title", tip),
                x=f"{index * step + 0.5:.1f}",
                y=f"{height - tall:.1f}",
                width=f"{max(step - 1, 1):.1f}",
                height=f"{tall:.1f}",
                class_="bar",
            )
        )
    axis = element("line", x1=0, y1=height, x2=width, y2=height, class_="axis")
    words = [
        element("text", number(ends[0]), x=0, y=height + 12),
        element("text", number(ends[1]), x=width, y=height + 12, text_anchor="end"),
    ]
    return svg(width, height + 16, *rects, axis, *words, label=label)


def curves(
    series: Sequence[tuple[str, Sequence[float], Sequence[float]]], label: str, across: str = "step"
) -> Markup:
    """Lines of numbers; NaN and Inf leave gaps.

    Args:
        series: (name, positions, numbers) of each line.
        label: what the drawing shows.
        across: what the positions are.
    """
    points = [(x, y) for _, xs, ys in series for x, y in zip(xs, ys, strict=True) if math.isfinite(y)]
    if not points:
        return soft("no finite numbers to draw")
    left, right = _bounds([x for x, _ in points])
    low, high = _bounds([y for _, y in points])
    width = 420
    height = 120
    lines = []
    for index, (name, xs, ys) in enumerate(series):
        path = _path(xs, ys, (left, right, low, high), (width, height))
        kind = "curve" if index % 2 == 0 else "curve second"
        lines.append(element("path", element("title", name), d=path, class_=kind))
    axis = element("line", x1=0, y1=height, x2=width, y2=height, class_="axis")
    names = [(number(high), 10), (number(low), height - 2)]
    words = [element("text", text, x=_MARGIN - 6, y=y, text_anchor="end") for text, y in names]
    below = [
        element("text", f"{across} {number(left)}", x=0, y=height + 12),
        element("text", number(right), x=width, y=height + 12, text_anchor="end"),
    ]
    drawing = element("g", axis, *lines, *below, transform=f"translate({_MARGIN} 0)")
    return svg(width + _MARGIN, height + 16, *words, drawing, label=label)


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest, a little apart where they are equal."""
    low = min(values)
    high = max(values)
    if low == high:
        return low, low + (abs(low) or 1.0)
    return low, high


def _path(xs: Sequence[float], ys: Sequence[float], bounds: tuple[float, ...], size: tuple[int, int]) -> str:
    """The `d` of a path through points."""
    left, right, low, high = bounds
    words = []
    command = "M"
    for x, y in zip(xs, ys, strict=True):
        if not math.isfinite(y):
            # After a gap the line begins again.
            command = "M"
            continue
        across = size[0] * (x - left) / (right - left)
        down = 4 + (size[1] - 8) * (1 - (y - low) / (high - low))
        words.append(f"{command}{across:.1f} {down:.1f}")
        command = "L"
    return " ".join(words)


def place(line: str) -> Markup:
    """A line of code: folder, file and number; the whole path shows below the pointer."""
    parts = pathlib.PurePath(line).parts[-2:]
    return element("span", "/".join(parts), title=line, class_="place")


def counted(number_of: int, noun: str) -> str:
    """`1 layer`, `2 layers`."""
    if number_of == 1:
        return f"1 {noun}"
    return f"{number_of:,} {noun}s"
