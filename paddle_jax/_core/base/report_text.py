"""Parts of reports, as text and as HTML: sizes, tables, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any


def size_text(size: float) -> str:
    """Bytes, such as "1.5 MiB"."""
    if size < 1024:
        return f"{size:.0f} B"
    for unit in ("KiB", "MiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.2f} GiB"


def table_text(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The lines of a table."""
    cells = [tuple(heads), *[tuple(map(str, row)) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]


def table_html(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table."""
    lines = [_row_html("th", heads), *[_row_html("td", row) for row in rows]]
    return f"<table>{''.join(lines)}</table>"


def _row_html(tag: str, cells: Sequence[Any]) -> str:
    inside = "".join(f'<{tag} style="text-align: left">{escape(str(cell))}</{tag}>' for cell in cells)
    return f"<tr>{inside}</tr>"


def sentences_html(sentences: Sequence[str]) -> str:
    """Sentences, each a paragraph."""
    return "".join(f"<p>{escape(text)}</p>" for text in sentences)


def warnings_text(warnings: Sequence[str]) -> list[str]:
    """The lines of warnings."""
    return [f"Warning: {text}" for text in warnings]


def warnings_html(warnings: Sequence[str]) -> str:
    """Warnings, each a paragraph."""
    return "".join(f"<p><b>Warning:</b> {escape(text)}</p>" for text in warnings)


__all__ = ["sentences_html", "size_text", "table_html", "table_text", "warnings_html", "warnings_text"]
