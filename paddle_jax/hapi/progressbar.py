"""The progress of a loop as text: a bar that is drawn over, or one line per report."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, TextIO

import numpy as np

from paddle_jax._core.base.notebook_shell import is_notebook

_UNITS = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (0.0, 1e6, "us"))  # from so many seconds on, factor, unit


def _value(value: Any) -> str:
    """One number of a report."""
    if isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind == "f"
    ):
        value = float(np.reshape(value, ()))
        if abs(value) <= 1e-3:
            return f"{value:.4e}"
        return f"{value:.4f}"
    return str(value)


def _values(values: Any) -> str:
    """ " - name: number number" for each."""
    parts = []
    for name, value in values.items() if isinstance(values, dict) else values:
        parts.append(
            f" - {name}:"
            + "".join(f" {_value(each)}" for each in (value if isinstance(value, list) else [value]))
        )
    return "".join(parts)


def _pace(seconds: float, name: str) -> str:
    factor, unit = next(
        (factor, unit) for limit, factor, unit in _UNITS if seconds >= limit or seconds == 0.0
    )
    return f" - {seconds * factor:.0f}{unit}/{name}"


def _clock(seconds: float) -> str:
    """What is left: "9s", "2:28", "1:02:05"."""
    seconds = int(seconds)
    if seconds <= 60:
        return f"{seconds}s"
    hours = seconds // 3600
    minutes = seconds % 3600 // 60
    rest = seconds % 60
    if seconds > 3600:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}"


class ProgressBar:
    """Shows how far a loop is.

    Args:
        num: int, steps in all, or None when it is not known.
        width: int, characters of the bar; at most the terminal's less 50.
        verbose: 0 shows nothing, 1 a bar that is drawn over, 2 and 3 one line per report.
        start: begin to measure time now. Default True.
        file: stream to write to. Default None: what is standard output when something is shown.
        name: str, what a step is called.
    Attributes:
        _verbose, file, name: as given.
        _num: int or None, the number of steps.
        _width: int, the columns of the bar.
        _shown: int, the columns of the last line.
        _last: float, when a line was printed last.
        _start: float, when the pass began.
        _cell_bar: bar of tqdm in a notebook, or None.
    Raises:
        TypeError: `num` is not positive.
    Example:
        >>> from paddle_jax.hapi.progressbar import ProgressBar
        >>> ProgressBar(num=10, verbose=2).update(5, [("loss", 0.25)])  # doctest: +ELLIPSIS
        step  5/10 - loss: 0.2500 - ...s/step
    """

    def __init__(
        self,
        num: int | None = None,
        width: int = 30,
        verbose: int = 1,
        start: bool = True,
        file: TextIO | None = None,
        name: str = "step",
    ) -> None:
        if num is not None and int(num) <= 0:
            raise TypeError(f"ProgressBar: num: got {num!r}; it must be None or a positive int")
        self._num = None if num is None else int(num)
        room = self._get_max_width()
        self._width = width if width <= room else room
        self._verbose = verbose
        self.file = file
        self.name = name
        self._shown = 0  # characters in the line that is drawn over
        self._last = 0.0
        self._cell_bar = None
        if start:
            self._start = time.time()

    def _get_max_width(self) -> int:
        if sys.stdout.isatty():
            # Room for the numbers behind the bar.
            return min(shutil.get_terminal_size((100, 24)).columns - 50, 120)
        return 50

    def start(self) -> None:
        """Begins to measure time."""
        self._start = time.time()

    def update(self, current_num: int, values: Any = {}) -> None:  # noqa: B006  Paddle's default; it is not changed
        """Shows that so many steps are done.

        Args:
            current_num: int.
            values: dict, or list of (name, value): numbers, or lists of numbers, to show.
        """
        if self._verbose == 0:
            return
        spent = time.time() - self._start
        pace = spent / current_num if current_num else 0.0
        if self._verbose == 1 and self.file is None and is_notebook():
            self._show_in_cell(current_num, values, pace)
        elif self._verbose == 1:
            self._draw(current_num, values, pace)
        else:
            self._emit(f"{self._count(current_num)}{_values(values)}{_pace(pace, self.name)}\n")

    def _count(self, done: int) -> str:
        if self._num is None:
            return f"{self.name} {done:3d}"
        return f"{self.name} {done:{len(str(self._num))}d}/{self._num}"

    def _show_in_cell(self, done: int, values: Any, pace: float) -> None:
        """Shows a bar of tqdm in a notebook, where backspaces do not draw over; without tqdm as elsewhere."""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._draw(done, values, pace)
            return
        if self._cell_bar is None:
            self._cell_bar = tqdm(total=self._num, unit=self.name)
        self._cell_bar.set_postfix_str(_values(values).removeprefix(" - "), refresh=False)
        self._cell_bar.n = done
        self._cell_bar.refresh()
        if self._num is None or done >= self._num:
            self._cell_bar.close()
            self._cell_bar = None

    def _draw(self, done: int, values: Any, pace: float) -> None:
        back = "\b" * self._shown + "\r"
        line = self._count(done)
        if self._num is not None:
            line += f" [{self._bar(done)}]"
        line += _values(values)
        if self._num is not None and done < self._num:
            line += f" - ETA: {_clock(pace * (self._num - done))}"
        line += _pace(pace, self.name)
        ended = ""
        # A shorter line must cover all of the one before it.
        shown = len(line)
        pad = " " * max(self._shown - shown, 0)
        if self._num is None or done >= self._num:
            ended = "\n"
        self._shown = shown
        self._emit(back + line + pad + ended)

    def _bar(self, done: int) -> str:
        full = int(self._width * (done / self._num))
        if full <= 0:
            return "." * self._width
        return "=" * (full - 1) + (">" if done < self._num else "=") + "." * (self._width - full)

    def _emit(self, text: str) -> None:
        stream = self.file or sys.stdout
        stream.write(text)
        stream.flush()
