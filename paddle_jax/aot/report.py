"""What is known of a program that was compiled for a chip that is not there."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.report_text import (
    sentences_html,
    size_text,
    table_html,
    table_text,
    warnings_html,
    warnings_text,
)
from paddle_jax.aot.target import Target


class Report:
    """A program compiled for a target; printed it is a table.

    Sizes come from XLA. Operations and bytes are counted in the program, and `seconds` is an estimate.

    Attributes:
        name: str, the function's name.
        target: Target.
        compiles: bool, whether XLA makes a program of it.
        error: str, why not; else "".
        devices: int, the devices that the program runs on.
        arguments: int, bytes on each device that it gets: parameters, states, data.
        results: int, bytes on each device that it gives.
        shared: int, bytes of results in the memory of arguments.
        temporaries: int, bytes on each device that it needs meanwhile.
        code: int, bytes of the program itself.
        products: dict from a kind of product ("bf16", "f32", "tf32", "bf16x3", ...) to operations on each
            device.
        other_operations: float, operations on each device that are no products.
        bytes: int, bytes that each device reads from its memory and writes to it.
        collectives: list of Collective.
        without_implementation: list of (operation, primitive, line) that the platform lacks.
        wide: list of (dtype, operation, line, instructions, bytes) of 64-bit instructions inside.
        warnings: list of str.
        compile_seconds: float, time that XLA took.
        text: str, the compiled program (HLO); empty where jaxlib cannot read it. Then `bytes`, `collectives`
            and `wide` are empty, and a warning says so.
    """

    def __init__(self, name: str, target: Target) -> None:
        self.name = name
        self.target = target
        self.compiles = False
        self.error = ""
        self.devices = 1
        self.arguments = 0
        self.results = 0
        self.shared = 0
        self.temporaries = 0
        self.code = 0
        self.products: dict[str, float] = {}
        self.other_operations: float = 0.0
        self.bytes = 0
        self.collectives: list[Any] = []
        self.without_implementation: list[tuple[str, str, str]] = []
        self.wide: list[tuple[str, str, str, int, int]] = []
        self.warnings: list[str] = []
        self.compile_seconds: float = 0.0
        self.text = ""

    @property
    def peak(self) -> int:
        """Bytes that a device needs at most."""
        # Results that take the place of donated arguments need no memory of their own.
        return self.arguments + self.results - self.shared + self.temporaries + self.code

    @property
    def fits(self) -> bool | None:
        """Whether the chip has that much memory; None where that is not known."""
        if not self.target.chip.memory:
            return None
        return self.peak <= self.target.chip.memory

    @property
    def flops(self) -> float:
        """Floating-point operations on each device."""
        return sum(self.products.values()) + self.other_operations

    @property
    def moved(self) -> int:
        """Bytes that each device receives from others."""
        return sum(each.nbytes for each in self.collectives)

    @property
    def wide_instructions(self) -> int:
        """How many 64-bit instructions there are beyond inputs and outputs."""
        return sum(row[3] for row in self.wide)

    def seconds_by_part(self) -> dict[str, float]:
        """Seconds at the rates of the data sheet: "products", "memory", "network". {} for a CPU."""
        chip = self.target.chip
        if not chip.bandwidth:
            return {}
        products = sum(count / _rate(chip.rates, kind) for kind, count in self.products.items())
        return {
            "products": products,
            "memory": self.bytes / chip.bandwidth,
            "network": self.moved / chip.network,
        }

    @property
    def seconds(self) -> float | None:
        """Estimated seconds of a run, at the peaks of the data sheet: products and memory overlap, the
        network does not. A real run takes longer. None for a CPU, and where the program cannot be read."""
        parts = self.seconds_by_part()
        if not parts or not self.text:
            return None
        return max(parts["products"], parts["memory"]) + parts["network"]

    def seconds_of_precision(self) -> float:
        """Estimated seconds that a run would save with precision "high" in place of "highest"."""
        rates = self.target.chip.rates
        faster = _rate(rates, "bf16x3") if self.target.platform == "tpu" else rates.get("tf32", 0.0)
        parts = self.seconds_by_part()
        if not parts or not faster or "f32" not in self.products:
            return 0.0
        products = parts["products"] + self.products["f32"] * (1 / faster - 1 / rates["f32"])
        # Where memory is the limit faster products save nothing.
        return max(parts["products"], parts["memory"]) - max(products, parts["memory"])

    def _lines(self) -> list[str]:
        """The sentences before the tables."""
        chip = self.target.chip
        where = f"{self.devices} x {chip.title}" if self.devices > 1 else chip.title
        if not self.compiles:
            return [f"{self.name} does not compile for {where}: {self.error}"]
        each = " on each device" if self.devices > 1 else ""
        lines = [
            f"{self.name} compiles for {where} ({self.compile_seconds:.1f} s to compile).",
            f"Memory{each}: {size_text(self.peak)} at most: {size_text(self.arguments)} arguments, "
            f"{size_text(self.results - self.shared)} new results, {size_text(self.temporaries)} between, "
            f"{size_text(self.code)} code" + self._share_of_memory(),
            f"Work{each}: {count_text(self.flops)} operations ({self._products_text()})" + self._bytes_text(),
        ]
        if not self.text:
            return lines
        parts = self.seconds_by_part()
        if parts and self.seconds is not None:
            listed = ", ".join(f"{name} {time_text(value)}" for name, value in parts.items())
            lines.append(f"Estimate at the peaks of the data sheet: {time_text(self.seconds)} ({listed})")
        lines.append(f"64-bit instructions beyond inputs and outputs: {self.wide_instructions}")
        return lines

    def _bytes_text(self) -> str:
        if not self.text:
            return ""
        return f", {size_text(self.bytes)} read and written, {size_text(self.moved)} received"

    def _share_of_memory(self) -> str:
        memory = self.target.chip.memory
        if not memory:
            return ""
        return f"; {100 * self.peak / memory:.1f} % of {size_text(memory)}"

    def _products_text(self) -> str:
        listed = [f"{count_text(count)} {kind}" for kind, count in sorted(self.products.items())]
        return f"products: {', '.join(listed)}" if listed else "no products"

    def tables(self) -> list[tuple[str, Sequence[str], list[Sequence[Any]]]]:
        """(title, heads, rows) of each table that is not empty."""
        found: list[tuple[str, Sequence[str], list[Sequence[Any]]]] = [
            (
                "Operations without an implementation",
                ("Operation", "Primitive", "Line"),
                list(self.without_implementation),
            ),
            (
                "Communication",
                ("Kind", "Devices", "Times", "Received", "Operation", "Line"),
                [each.cells() for each in self.collectives[:20]],
            ),
            (
                "64-bit instructions",
                ("Dtype", "Operation", "Line", "Instructions", "Results"),
                [(*row[:4], size_text(row[4])) for row in self.wide[:20]],
            ),
        ]
        return [table for table in found if table[2]]

    def __repr__(self) -> str:
        lines = self._lines()
        for title, heads, rows in self.tables():
            lines += ["", title, *table_text(heads, rows)]
        return "\n".join([*lines, *warnings_text(self.warnings)])

    __str__ = __repr__

    def __rich__(self) -> Any:
        """What rich prints in its place."""
        from rich.console import Group  # rich calls this
        from rich.table import Table

        parts: list[Any] = ["\n".join(self._lines())]
        for title, heads, rows in self.tables():
            table = Table(*heads, title=title, title_justify="left")
            for row in rows:
                table.add_row(*map(str, row))
            parts.append(table)
        return Group(*parts, *warnings_text(self.warnings))

    def _repr_html_(self) -> str:
        """What notebooks show."""
        parts = [sentences_html(self._lines())]
        for title, heads, rows in self.tables():
            parts += [sentences_html([title]), table_html(heads, rows)]
        return "".join([*parts, warnings_html(self.warnings)])

    def show(self) -> None:
        """Prints the report, with the lines of rich where it is installed."""
        if importlib.util.find_spec("rich") is None:
            print(self)
            return
        from rich.console import Console

        stream = io.StringIO()
        Console(file=stream, width=120).print(self)
        print(stream.getvalue(), end="")


def _rate(rates: dict[str, float], kind: str) -> float:
    """Operations per second for a kind of product."""
    if kind == "bf16x3":
        return rates["bf16"] / 3
    return rates.get(kind) or rates["f32"]


def count_text(count: float) -> str:
    """A number of operations, such as "1.50 G"."""
    for unit in ("", " k", " M", " G", " T"):
        if count < 1000:
            return f"{count:.3g}{unit}"
        count /= 1000
    return f"{count:.3g} P"


def time_text(seconds: float) -> str:
    """Seconds, such as "1.50 ms"."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} us"
