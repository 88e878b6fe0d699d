"""Which process the others wait for. In a collective everybody waits for the last one to come, so the process
that makes the others wait is the one that waits least itself; what a call takes on the wire is the same for
all, and does not count in a difference.

The first process of a group compares what all have told of their waiting over some time, and says in one line
on stderr which one is slow. The numbers travel with what processes tell each other anyway,
about once a second.
"""

import sys
import time

from paddle_jax._core.base import launch_variables

_AGAIN = 10  # windows after which the same process is named again
_LEAST = 3  # calls in a window from which on it is looked at


class Stragglers:
    """What a process remembers to compare. window: seconds between two comparisons, 0 for none. percent: of
    the window, how much longer the others have to wait than the slow one."""

    def __init__(self):
        self.window, self.percent = (
            launch_variables.integer("PADDLE_STRAGGLER_SECONDS", 60),
            launch_variables.integer("PADDLE_STRAGGLER_PERCENT", 20),
        )
        self.since, self.before, self.named = time.monotonic(), {}, {}

    def look(self, rank, states):
        """Compares, when the time has come. rank: this process. states: function (rank) -> {group in words:
        [calls, last call, over, seconds waited, ranks]}."""
        now = time.monotonic()
        if not self.window or now - self.since < self.window:
            return
        after, told = {}, {}
        for where, (_, _, _, _, ranks) in states(rank).items():
            if len(ranks) > 1 and ranks[0] == rank:
                for each in ranks:
                    told[each] = told.get(each) or states(each)
                after[where] = {
                    each: (told[each][where][0], told[each][where][3])
                    for each in ranks
                    if where in told[each]
                }
        for where, found in after.items():
            text = self._news(
                where,
                judged(self.before.get(where, {}), found, now - self.since, self.percent / 100),
                now - self.since,
            )
            if text:
                print(f"paddle.distributed: {text}", file=sys.stderr, flush=True)
        self.since, self.before = now, after

    def _news(self, where, found, seconds):
        slow, then = self.named.get(where, (None, 0))
        if found is None:
            return None
        if slow == found[0] and then:
            self.named[where] = (slow, then - 1)
            return None
        rank, calls, others, own = found
        self.named[where] = (rank, _AGAIN)
        return (
            f"rank {rank} is slow: in the last {seconds:.0f} s the other ranks of {where} waited "
            f"{others:.1f} s (median) in {calls} calls, rank {rank} itself {own:.1f} s; "
            "look at what else runs there, and at whether it has more work or slower data"
        )


def judged(before, after, seconds, share):
    """(rank, calls, seconds that the others waited, seconds that it waited) of a slow process; None
    if there is none.

    Args:
        before, after: {rank: (calls, seconds waited)} at the begin and at the end; who is missing
            before had waited 0 s.
        seconds: what lies between. share: of `seconds`, how much longer the others have to wait.
    """
    waited = {rank: after[rank][1] - before.get(rank, (0, 0.0))[1] for rank in after}
    calls = min((after[rank][0] - before.get(rank, (0, 0.0))[0] for rank in after), default=0)
    if len(waited) < 2 or calls < _LEAST:
        return None
    slow = min(waited, key=waited.__getitem__)
    import statistics  # it is not imported for programs of one process

    others = statistics.median(value for rank, value in waited.items() if rank != slow)
    return (slow, calls, others, waited[slow]) if others - waited[slow] > share * seconds else None
