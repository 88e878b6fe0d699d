"""Tables of text, and the operations of static programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = []


class Table:
    """A table with a frame of "+", "-" and "|".

    Args:
        table_heads: list of str, titles of the columns.
    Example:
        >>> from paddle_jax.hapi.static_flops import Table
        >>> table = Table(["name", "n"]); table.add_row(["a", 12]); table.print_table()
        +------+----+
        | name | n  |
        +------+----+
        |  a   | 12 |
        +------+----+
    """

    def __init__(self, table_heads: Sequence[Any]) -> None:
        self.table_heads = table_heads
        self.table_len: list[int] = [len(str(head)) for head in table_heads]
        self.data: list[Any] = []

    def add_row(self, row_str: Sequence[Any]) -> None:
        """Adds a row.

        Raises:
            ValueError: it has another number of cells than there are columns.
        """
        if len(row_str) != len(self.table_heads):
            raise ValueError(
                f"Table.add_row: row_str: got {len(row_str)} cells; "
                f"the table has {len(self.table_heads)} columns"
            )
        self.data.append([str(cell) for cell in row_str])
        self.table_len = [
            max(width, len(cell)) for width, cell in zip(self.table_len, self.data[-1], strict=True)
        ]

    def print_row(self, row: Sequence[Any]) -> None:
        """Prints cells, each in the middle of its column."""
        print(
            "".join(f"| {str(cell).center(width)} " for cell, width in zip(row, self.table_len, strict=True))
            + "|"
        )

    def print_shelf(self) -> None:
        """Prints a line of the frame."""
        print("".join("+" + "-" * (width + 2) for width in self.table_len) + "+")

    def print_table(self) -> None:
        """Prints all of it."""
        self.print_shelf()
        self.print_row(self.table_heads)
        self.print_shelf()
        for row in self.data:
            self.print_row(row)
        self.print_shelf()
