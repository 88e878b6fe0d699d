"""Reports which process makes the others wait.

In a collective all processes wait for the last one, so the slow process is the one that waits least. The
transfer itself takes the same time for all, and does not count in a difference. The first process of a group
compares the waiting times of all ranks over some time, and prints one line on stderr about a slow one. The
numbers travel with the status that processes publish anyway, about once a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from paddle_jax._core.base import launch_variables

_SILENT_WINDOWS = 10  # windows after which the same process is reported again
_MIN_CALLS = 3  # calls in a window from which on it is compared
Totals = dict[int, tuple[int, float]]  # calls and seconds waited of each rank


class SlowRank(NamedTuple):
    """A process that makes the others wait.

    Attributes:
        rank: int, its number.
        calls: int, collectives in the window.
        others_waited: float, seconds that the others waited (median).
        waited: float, seconds that it waited.
    """

    rank: int
    calls: int
    others_waited: float
    waited: float


class StragglerReport:
    """Compares the waiting times of the processes of each group.

    Attributes:
        window: int, seconds between two comparisons, 0 for none.
        percent: int, how much longer the others have to wait than the slow process, in percent of the window.
        since: float, time of the last comparison.
        before: {group: Totals at the last comparison}.
        reported: {group: (rank reported last, windows in which it is not reported again)}.
    """

    def __init__(self) -> None:
        self.window = launch_variables.integer("PADDLE_STRAGGLER_SECONDS", 60)
        self.percent = launch_variables.integer("PADDLE_STRAGGLER_PERCENT", 20)
        self.since = time.monotonic()
        self.before: dict[str, Totals] = {}
        self.reported: dict[str, tuple[int, int]] = {}

    def report_if_due(self, rank: int, states_of: Callable[[int], dict[str, Any]]) -> None:
        """Compares and reports, when the time has come.

        Args:
            rank: this process.
            states_of: function (rank) -> {group: [number of calls, last call, whether it is over, seconds
                waited, ranks]}.
        """
        seconds = time.monotonic() - self.since
        if not self.window or seconds < self.window:
            return
        after = _totals(rank, states_of)
        for group, totals in after.items():
            slow = slow_rank(self.before.get(group, {}), totals, seconds, self.percent / 100)
            text = self._message(group, slow, seconds)
            if text:
                print(f"paddle.distributed: {text}", file=sys.stderr, flush=True)
        self.since += seconds
        self.before = after

    def _message(self, group: str, slow: SlowRank | None, seconds: float) -> str | None:
        """The line about a slow process; None where there is none, or where it was reported lately."""
        if slow is None:
            return None
        last, silent_windows = self.reported.get(group, (None, 0))
        if last == slow.rank and silent_windows:
            self.reported[group] = (slow.rank, silent_windows - 1)
            return None
        self.reported[group] = (slow.rank, _SILENT_WINDOWS)
        return (
            f"rank {slow.rank} is slow: in the last {seconds:.0f} s the other ranks of {group} waited "
            f"{slow.others_waited:.1f} s (median) in {slow.calls} calls, rank {slow.rank} itself "
            f"{slow.waited:.1f} s; "
            "look at what else runs there, and at whether it has more work or slower data"
        )


def _totals(rank: int, states_of: Callable[[int], dict[str, Any]]) -> dict[str, Totals]:
    """The Totals of the groups whose first process this is."""
    states: dict[int, dict[str, Any]] = {}
    totals = {}
    for group, (_, _, _, _, ranks) in states_of(rank).items():
        if len(ranks) < 2 or ranks[0] != rank:
            continue
        totals[group] = {}
        for member in ranks:
            if member not in states:
                states[member] = states_of(member)
            if group in states[member]:
                calls, _, _, waited, _ = states[member][group]
                totals[group][member] = (calls, waited)
    return totals


def slow_rank(before: Totals, after: Totals, seconds: float, share: float) -> SlowRank | None:
    """The process that makes the others wait; None if there is none.

    Args:
        before: Totals at the begin of a window; a rank that is missing had waited 0 s.
        after: Totals at its end.
        seconds: length of the window.
        share: how much longer the others have to wait, as a share of `seconds`.
    """
    waited = {rank: after[rank][1] - before.get(rank, (0, 0.0))[1] for rank in after}
    calls = min((after[rank][0] - before.get(rank, (0, 0.0))[0] for rank in after), default=0)
    if len(waited) < 2 or calls < _MIN_CALLS:
        return None
    import statistics  # programs of one process do without it

    slow = min(waited, key=waited.__getitem__)
    others = statistics.median(value for rank, value in waited.items() if rank != slow)
    if others - waited[slow] <= share * seconds:
        return None
    return SlowRank(slow, calls, others, waited[slow])
