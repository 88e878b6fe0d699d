"""Draws the tables of docs/performance.md as three charts, docs/charts/*.svg.

    python tools/charts.py

Each bar is the time of paddle_jax divided by that of Paddle, on a logarithmic axis: to the left of the line
paddle_jax is faster. `tests/docs/test_charts.py` compares the files with the tables.
"""

import html
import math
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "docs" / "performance.md"
CHARTS = ROOT / "docs" / "charts"
NAMES = {  # file: (section of the page, title)
    "operations": ("One operation", "One operation, host time of a call"),
    "steps": ("One training step, eager, undecorated", "One training step, eager"),
    "programs": ("Programs of medium length", "Whole programs in a fresh process"),
}
LABELS, WIDTH, ROW, TOP = 370, 780, 22, 52  # pixels
LOW, HIGH = 1 / 4, 8
STYLE = """text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:15px}
.faint{fill:#6e7781;font-size:12px}.grid{stroke:#d0d7de}.one{stroke:#57606a;stroke-width:1.5}
.fast{fill:#2f81f7}.slow{fill:#d4762c}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#3d444d}.one{stroke:#9198a1}}"""


def rows_of(section: str) -> list[tuple[str, float]]:
    """(workload, ratio) of the first table of a section; a table may hold two side by side."""
    text = TABLES.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    # A table ends at an empty line.
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    lines = tables[0].splitlines()
    header = [cell.strip() for cell in lines[0].strip("|").split("|")]
    found = []
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        starts = [i for i, cell in enumerate(header) if cell in ("workload", "program")]
        for start in starts:
            ratio = header.index("ratio", start)
            names = cells[start].replace("`", "").split(", ")
            ratios = cells[ratio].split(", ")
            if len(names) != len(ratios):
                names = [cells[start].replace("`", "")]
            found += [(name, float(value)) for name, value in zip(names, ratios, strict=True)]
    return sorted(found, key=lambda row: row[1])


def position(ratio: float) -> float:
    """The place of a ratio on the axis."""
    share = math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return round(LABELS + share * (WIDTH - LABELS - 60), 1)


def chart(title: str, rows: list[tuple[str, float]]) -> str:
    """One chart as SVG."""
    height = TOP + ROW * len(rows) + 34
    bottom = TOP + ROW * len(rows) + 4
    mean = math.exp(sum(math.log(ratio) for _, ratio in rows) / len(rows))
    caption = f"time of paddle_jax / time of Paddle; geometric mean {mean:.2f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{html.escape(title)}: {caption}">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="0" y="18">{html.escape(title)}</text>',
        f'<text class="faint" x="0" y="38">{caption}</text>',
    ]
    for tick, words in ((0.25, "1/4"), (0.5, "1/2"), (1, "1"), (2, "2"), (4, "4"), (8, "8")):
        x = position(tick)
        kind = "one" if tick == 1 else "grid"
        parts.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{bottom}"/>')
        parts.append(f'<text class="faint" text-anchor="middle" x="{x}" y="{bottom + 18}">{words}</text>')
    for number, (name, ratio) in enumerate(rows):
        y = TOP + ROW * number
        left, right = sorted((position(ratio), position(1)))
        kind = "fast" if ratio <= 1 else "slow"
        parts.append(f'<text text-anchor="end" x="{LABELS - 10}" y="{y + 13}">{html.escape(name)}</text>')
        width = round(max(right - left, 1), 1)
        parts.append(
            f'<rect class="{kind}" x="{left}" y="{y + 1}" width="{width}" height="{ROW - 6}" rx="2">'
            f"<title>{html.escape(name)}: {ratio}</title></rect>"
        )
        parts.append(f'<text class="faint" x="{right + 5}" y="{y + 13}">{ratio:.2f}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def charts() -> dict[str, str]:
    """{name of a file: its content}"""
    return {f"{name}.svg": chart(title, rows_of(section)) for name, (section, title) in NAMES.items()}


def main() -> None:
    CHARTS.mkdir(exist_ok=True)
    for name, content in charts().items():
        (CHARTS / name).write_text(content, encoding="utf-8")
        print(f"docs/charts/{name}: {len(re.findall('<rect', content))} bars")


if __name__ == "__main__":
    main()
