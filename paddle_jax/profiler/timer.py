"""Time per step and per batch read, and what comes of it: `Profiler.step_info`, and the summary when a
Profiler that only measures time stops."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

_SKIP = 10  # steps that the extremes and the summary leave out: the first ones compile


class TimeAverager:
    """A mean over the steps since the last reset, and the extremes of all steps after the first few.

    Attributes:
        total: float, seconds of all steps.
        least, most: float, the extremes after the first few steps.
        steps: int, how many there were.
        _sum, _count, _samples: seconds, steps and samples since the last reset.
    """

    steps: int
    total: Any

    def __init__(self) -> None:
        self.total, self.least, self.most, self.steps = 0.0, float("inf"), 0.0, 0
        self.reset()

    def reset(self) -> None:
        """Begins a new mean."""
        self._sum = 0.0
        self._count = 0
        self._samples = None

    def record(self, seconds: Any, num_samples: Any = None) -> None:
        """Takes in one step."""
        self._sum, self._count = self._sum + seconds, self._count + 1
        if num_samples is not None:
            self._samples = (self._samples or 0) + num_samples
        self.steps += 1
        self.total += seconds
        # The first steps compile and would be the extremes.
        if self.steps > _SKIP:
            if seconds < self.least:
                self.least: Any = seconds
            if seconds > self.most:
                self.most: Any = seconds

    def get_average(self) -> float:
        """Mean seconds per step since the last reset; 0.0 without one."""
        if self._count:
            return self._sum / self._count
        return 0.0

    def get_ips_average(self) -> float:
        """Mean samples (steps, where the number of samples is not known) per second since the last reset;
        0.0 without a step."""
        if self._sum:
            return (self._samples or self._count) / self._sum
        return 0.0


class Benchmark:
    """Measures the steps of one loop at a time.

    Attributes:
        running: bool, whether steps are measured.
        reader, batch: TimeAverager of reading, and of whole steps.
        ips: TimeAverager; nothing fills it.
        samples: int, those of the last step, or None.
        _last: float, when it ended, or None.
        _read: float, seconds of reading since then.
        _speeds: list of samples per second.
    """

    batch: TimeAverager
    ips: TimeAverager
    reader: TimeAverager

    def __init__(self) -> None:
        self.running: bool = False
        self._clear()

    def _clear(self) -> None:
        self.reader, self.batch, self.ips, self.samples = TimeAverager(), TimeAverager(), TimeAverager(), None
        self._last = None
        self._read = 0.0
        self._speeds = []

    def begin(self) -> None:
        """Starts: the first step ends at the next `step`."""
        self._clear()
        self.running, self._last = True, time.perf_counter()

    def read(self, seconds: Any) -> None:
        """A batch took so long to read."""
        self._read += seconds

    def step(self, num_samples: Any = None) -> None:
        """A step has ended, of so many samples."""
        if not self.running:
            return
        now = time.perf_counter()
        seconds = now - self._last
        self._last = now
        self.samples: Any = num_samples
        self.batch.record(seconds, num_samples)
        # Without a DataLoader nothing is read, and there is no mean of it.
        if self._read or self.reader.steps:
            self.reader.record(self._read)
            self._read = 0.0
        if self.batch.steps > _SKIP:
            # Not 0, for steps that take no time.
            self._speeds.append((num_samples or 1) / (seconds or 1e-12))

    def step_info(self, unit: Any = None) -> str:
        """One line about the steps since this was last asked; empty when there were none."""
        reader = self.reader.get_average()
        batch = self.batch.get_average()
        speed = self.batch.get_ips_average()
        text = f" reader_cost: {reader:.5f} s" if reader else ""
        if batch:
            # Without numbers of samples the speed counts steps.
            unit = "steps" if self.samples is None else unit or "samples"
            text += f" batch_cost: {batch:.5f} s ips: {speed:.3f} {unit}/s"
        self.reader.reset()
        self.batch.reset()
        return text

    def end(self) -> None:
        """Stops, and prints a summary when there were more than the first few steps."""
        if self.running and self._speeds:
            print("\n".join(self._summary()))
        self.running = False

    def _summary(self) -> Iterator[Any]:
        reading = self.reader.total > 0
        yield f"{'Perf Summary':=^100}"
        if reading:
            yield f"Reader Ratio: {100 * self.reader.total / self.batch.total:.3f}%"
        yield f"Time Unit: s, IPS Unit: {'steps' if self.samples is None else 'samples'}/s"
        yield _row("", "avg", "max", "min")
        for name, kept in (*([("reader_cost", self.reader)] if reading else []), ("batch_cost", self.batch)):
            yield _row(name, *[f"{x:.5f}" for x in (kept.total / kept.steps, kept.most, kept.least)])
        samples = self.samples or 1
        yield _row(
            "ips",
            *[
                f"{x:.5f}"
                for x in (samples * self.batch.steps / self.batch.total, max(self._speeds), min(self._speeds))
            ],
        )


def _row(*cells: Any) -> str:
    return "|" + "|".join(cell.center(17) for cell in cells) + "|"


_benchmark_ = Benchmark()


def benchmark() -> Benchmark:
    """The Benchmark that every Profiler uses.

    Example:
        >>> with paddle.profiler.Profiler(timer_only=True):
        ...     text = paddle.profiler.timer.benchmark().step_info(None)
    """
    return _benchmark_
