"""The graph of a static Program as a drawing: operations below those that give their operands."""

from __future__ import annotations

from dataclasses import dataclass, field

from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.held_values import held_symbol
from paddle_jax._program.operation import type_text
from paddle_jax._program.program import Program
from paddle_jax.views.markup import Markup, element, shortened, soft, svg

_MOST = 150  # operations that are drawn
_LETTER = 6.2  # pixels of one letter
# Pixels of a box and of the gaps between boxes.
_TALL = 20
_GAP_DOWN = 22
_GAP_ACROSS = 14


@dataclass
class _Box:
    """An input or operation in the drawing.

    Attributes:
        text: str, its name.
        tip: str, what shows below the pointer.
        is_input: bool, whether data is fed there.
        sources: list of the boxes that give its operands.
        depth: int, its row.
        left: float, where it begins.
    """

    text: str
    tip: str
    is_input: bool
    sources: list[_Box] = field(default_factory=list)
    depth: int = 0
    left: float = 0.0

    @property
    def width(self) -> float:
        """Pixels across."""
        return len(self.text) * _LETTER + 14

    @property
    def top(self) -> float:
        """Where it begins, down."""
        return self.depth * (_TALL + _GAP_DOWN) + 2

    @property
    def middle(self) -> float:
        """Its middle, across."""
        return self.left + self.width / 2


def program_graph(program: Program) -> Markup:
    """The drawing of a Program: boxes for inputs and operations, lines for values between them.

    Parameters and constants have no box; the text below the pointer names all operands.
    """
    if len(program.ops) > _MOST:
        return soft(f"more than {_MOST} operations are not drawn")
    boxes = _boxes(program)
    rows: dict[int, list[_Box]] = {}
    for box in boxes:
        rows.setdefault(box.depth, []).append(box)
    for depth in sorted(rows):
        _arrange(rows[depth])
    width = max((box.left + box.width for box in boxes), default=0) + 2
    height = max((box.top for box in boxes), default=0) + _TALL + 2
    lines = [_line(source, box) for box in boxes for source in box.sources]
    parts = [*lines, *map(_drawn, boxes)]
    drawing = svg(round(width), round(height), *parts, label="operations and the values between them")
    # a wide graph scrolls instead of shrinking
    return element("div", element("div", drawing, style=f"min-width:{round(width)}px"), class_="box")


def _boxes(program: Program) -> list[_Box]:
    """The boxes of a Program in the order of its operations, each with its row."""
    made: dict[Symbol, _Box] = {}
    found = []
    for name, variable in program.data.items():
        box = _Box(shortened(name, 24), f"input {name} {list(variable.shape)}", is_input=True)
        made[held_symbol(variable)] = box
        found.append(box)
    for op in program.ops:
        operands = ", ".join(f"{symbol.name or 'value'}: {type_text(symbol)}" for symbol in op.inputs)
        results = ", ".join(map(type_text, op.outputs))
        tip = shortened(f"{op.name}({operands}) gives {results}; {op.where}", 600)
        box = _Box(shortened(op.name, 24), tip, is_input=False)
        # one line for an operand that is used twice
        box.sources = list({id(made[s]): made[s] for s in op.inputs if s in made}.values())
        box.depth = max((source.depth + 1 for source in box.sources), default=0)
        made.update(dict.fromkeys(op.outputs, box))
        found.append(box)
    return found


def _arrange(row: list[_Box]) -> None:
    """Places the boxes of a row below their sources, without overlaps."""

    def wanted(box: _Box) -> float:
        middles = [source.middle for source in box.sources]
        return sum(middles) / len(middles) - box.width / 2 if middles else 0.0

    end = 2.0
    for box in sorted(row, key=wanted):
        box.left = max(wanted(box), end)
        end = box.left + box.width + _GAP_ACROSS


def _line(source: _Box, box: _Box) -> Markup:
    """The line of a value from one box to another."""
    begin = source.top + _TALL
    half = (box.top - begin) / 2
    path = (
        f"M{source.middle:.1f} {begin:.1f} C{source.middle:.1f} {begin + half:.1f} "
        f"{box.middle:.1f} {box.top - half:.1f} {box.middle:.1f} {box.top:.1f}"
    )
    return element("path", d=path, class_="axis", fill="none")


def _drawn(box: _Box) -> Markup:
    """A box with its name."""
    rect = element(
        "rect",
        element("title", box.tip),
        x=f"{box.left:.1f}",
        y=f"{box.top:.1f}",
        width=f"{box.width:.1f}",
        height=_TALL,
        rx=_TALL // 2 if box.is_input else 4,
        class_="bar",
        fill_opacity="0.55" if box.is_input else "0.18",
    )
    label = element(
        "text",
        box.text,
        x=f"{box.middle:.1f}",
        y=f"{box.top + 13.5:.1f}",
        text_anchor="middle",
        style="fill:var(--pv-text);pointer-events:none",
    )
    return element("g", rect, label)
