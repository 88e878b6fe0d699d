"""How far long work is: tqdm in notebooks, rich in terminals."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from paddle_jax._core.base.notebook_shell import is_notebook


class ByteProgress:
    """Shows how many bytes are done, where somebody looks on.

    Nothing is shown where standard error is a file, or where the package is missing: tqdm in notebooks, rich
    in terminals. In a terminal the line goes away at the end.

    Args:
        label: str, what is done.
        total: int, or None where it is not known.
    """

    def __init__(self, label: str, total: int | None) -> None:
        self._label = label
        self._total = total
        self._bar: Any = None

    def __enter__(self) -> Self:
        try:
            self._bar = self._new_bar()
        except ImportError:
            return self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, count: int) -> None:
        """Says that `count` more bytes are done."""
        if self._bar is not None:
            self._bar.update(count)

    def _new_bar(self) -> Any:
        """A bar, or None where nobody looks."""
        if is_notebook():
            from tqdm.auto import tqdm

            return tqdm(desc=self._label, total=self._total, unit="B", unit_scale=True)
        if sys.stderr is not None and sys.stderr.isatty():
            return _TerminalBar(self._label, self._total)
        return None


class _TerminalBar:
    """A bar of rich with the two methods of tqdm's."""

    def __init__(self, label: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
        self._progress = Progress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._progress.add_task(label, total=total)
        self._progress.start()

    def update(self, count: int) -> None:
        """Says that `count` more bytes are done."""
        self._progress.advance(self._task, count)

    def close(self) -> None:
        """Takes the line away."""
        self._progress.stop()
