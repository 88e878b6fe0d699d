"""What keeps a failure on one process from making the others wait for ever.

Every process has a thread that watches what the process waits for. The main thread is then inside C++ and
cannot be interrupted, so the thread prints what is wrong and ends the process. Processes tell each other
through the shared store: each writes its last collective about once a second (not with every call), that it
has ended, or why it failed. JAX alone would wait at exit for all others; here a process that failed does not.
"""

import atexit
import contextlib
import json
import os
import sys
import threading
import time
import traceback

from jax._src import distributed

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.process_group.straggler_report import Stragglers

STUCK = 87  # the exit status of a process that waited in vain
_LOOK = 1.0  # seconds after which a wait is looked at
_PACE = 0.25  # seconds between two looks
_NONE = (None, "", True, 0.0, [])  # what is known of a process that has told of no call
# seconds that process 0, which holds the store, lives on after it failed so that the others learn why
_LINGER = 3.0


class LostError(RuntimeError):
    """Another process has failed or gone; raised by calls that need it."""


class Wait:
    """Something that this process waits for. what: the call. where: the group in words. ranks: who takes
    part. limit: seconds."""

    __slots__ = ("limit", "number", "ranks", "since", "what", "where")

    def __init__(self, where, number, what, ranks, limit):
        self.where, self.number, self.what, self.ranks, self.limit, self.since = (
            where,
            number,
            what,
            ranks,
            limit,
            time.monotonic(),
        )


class _Watch:
    rank, size, status, stop = 0, 1, None, threading.Event()
    waits: dict = {}  # id: Wait
    # group in words: [number of the call, the call, whether it is over, seconds waited in all calls, ranks]
    last: dict = {}


def start(found):
    """Begins to watch; called once the processes are connected."""
    _Watch.rank, _Watch.size = found.rank, found.size
    threading.Thread(target=_run, name="paddle.distributed watch", daemon=True).start()
    previous = sys.excepthook

    def hook(kind, error, trace):
        previous(kind, error, trace)
        fail(f"{kind.__name__}: {error}")

    sys.excepthook, sys.exit = hook, _exit
    atexit.register(_at_exit)


@contextlib.contextmanager
def waiting(where, number, what, ranks, limit):
    """Watches what happens inside, which takes `limit` seconds at most."""
    wait = Wait(where, number, what, ranks, limit)
    last = _Watch.last[where] = [number, what, False, _Watch.last.get(where, _NONE)[3], list(ranks)]
    _Watch.waits[id(wait)] = wait
    try:
        yield wait
    finally:
        del _Watch.waits[id(wait)]
        last[2:4] = True, last[3] + time.monotonic() - wait.since
        Counters.collectives += 1
        Counters.collective_seconds += time.monotonic() - wait.since


# what processes tell each other -----------------------------------------------------------------------------


def told(key, rank):
    """What a process has written under a key; None when there is nothing, or nobody to ask."""
    client = distributed.global_state.client
    try:
        return client.key_value_try_get(f"paddle/{key}/{rank}") if client is not None else None
    except Exception:  # JAX raises the same class for a key that is absent and for a store that is gone
        return None


def tell(key, text):
    """Writes something for all processes to read."""
    client = distributed.global_state.client
    with contextlib.suppress(Exception):  # the store may be gone; then nobody can read it
        client.key_value_set(f"paddle/{key}/{_Watch.rank}", text, allow_overwrite=True)


def trouble(ranks):
    """Why some of these processes will never take part in anything again, in words; None when there is
    no reason known."""
    for rank in ranks:
        if rank != _Watch.rank:
            if (why := told("failed", rank)) is not None:
                return f"rank {rank} has failed ({why}); mend that, its log says where"
            if told("ended", rank) is not None:
                return f"rank {rank} has come to the end of its program; every rank must make the same calls"
    return None


def patient_trouble(ranks, seconds=2.0):
    """The same, for a process that has just lost a connection: it waits a moment for the
    other one to say why."""
    answer, limit = [], time.monotonic() + seconds

    def ask():
        while not answer and time.monotonic() < limit:
            found = trouble(ranks)
            if found is not None:
                answer.append(found)
            time.sleep(0.05)

    thread = threading.Thread(target=ask, daemon=True)  # a store that is gone may keep a call waiting
    thread.start()
    thread.join(seconds + 0.5)
    return answer[0] if answer else None


# the thread -------------------------------------------------------------------------------------------------


def _run():
    shown, then, stragglers = None, 0.0, Stragglers()
    while not _Watch.stop.wait(_PACE):
        now = time.monotonic()
        if now - then >= _LOOK:
            state = json.dumps(_Watch.last)
            if state != shown:
                tell("state", state)
                shown = state
            then = now
            stragglers.look(_Watch.rank, lambda rank: _Watch.last if rank == _Watch.rank else _states(rank))
            if _Watch.rank and (why := told("failed", 0)) is not None:
                print(
                    f"paddle.distributed: rank {_Watch.rank} ends, since rank 0, which holds the store, "
                    f"has failed ({why})",
                    file=sys.stderr,
                )
                fail("rank 0 has failed", STUCK)
        for wait in list(_Watch.waits.values()):
            if now - wait.since > _LOOK:
                why = (
                    trouble(wait.ranks)
                    or _apart(wait)
                    or (_table(wait) if now - wait.since > wait.limit else None)
                )
                if why is not None and id(wait) in _Watch.waits:
                    _give_up(wait, why)


def _apart(wait):
    """What another process of the group does in place of this call, once both have said so."""
    for rank in wait.ranks:
        number, what, *_ = _states(rank).get(wait.where, _NONE)
        if rank != _Watch.rank and number == wait.number and what != wait.what:
            return (
                f"rank {rank} calls {what}; every rank of a group must make the same calls in the same order"
            )
    return None


def _states(rank):
    return json.loads(told("state", rank) or "{}")


def _table(wait):
    lines = []
    for rank in wait.ranks:
        number, what, over, *_ = (_Watch.last if rank == _Watch.rank else _states(rank)).get(
            wait.where, _NONE
        )
        nothing = (
            "has made no call" if rank == _Watch.rank else "has told of no call (it tells once a second)"
        )
        doing = nothing if number is None else f"{'has left' if over else 'is in'} call #{number}, {what}"
        lines.append(f"\n  rank {rank} {doing}")
    return (
        f"not all ranks came within {wait.limit:.0f} s:{''.join(lines)}\nprinting a distributed tensor, "
        "float() or `if` on one are calls in which all ranks must take part; "
        "a longer limit is PADDLE_PG_TIMEOUT (milliseconds) or new_group(timeout=)"
    )


def _give_up(wait, why):
    text = f"rank {_Watch.rank} waited in vain in call #{wait.number} of {wait.where}, {wait.what}: {why}"
    print(f"paddle.distributed: {text}", file=sys.stderr, flush=True)
    with contextlib.suppress(Exception):
        traceback.print_stack(sys._current_frames()[threading.main_thread().ident])
    fail(text, STUCK)


# the end ----------------------------------------------------------------------------------------------------


class _Exit(SystemExit):
    """What `sys.exit` raises here. No hook is called for it, but the interpreter asks for its `code` when
    nobody has caught it."""

    @property
    def code(self):
        _Watch.status = self.args[0] if self.args else None
        return _Watch.status


def _exit(status=None, /):
    """Ends the program, like Python's own function."""
    raise _Exit(*(() if status is None else (status,)))


def fail(why, status=1):
    """Tells the others why this process ends, and ends it: the interpreter's own way out would wait
    for all processes."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    threading.Timer(_LINGER + 1, os._exit, [status]).start()  # whatever the store does
    tell("failed", why.splitlines()[0][:500] if why else "no reason given")
    limit = time.monotonic() + _LINGER
    while (
        _Watch.rank == 0
        and time.monotonic() < limit
        and not all(told("failed", rank) is not None for rank in range(1, _Watch.size))
    ):
        time.sleep(0.05)
    os._exit(status)


def _at_exit():
    """Waits until all other processes have ended too: process 0 holds the store, and JAX ends
    those that lose it."""
    if distributed.global_state.client is None:
        return
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    if _Watch.status not in (None, 0):
        fail(f"sys.exit({_Watch.status!r})", _Watch.status if isinstance(_Watch.status, int) else 1)
    tell("ended", "yes")
    pause = 0.005
    while True:
        open_ranks = [
            rank for rank in range(_Watch.size) if rank != _Watch.rank and told("ended", rank) is None
        ]
        if not open_ranks:
            _Watch.stop.set()
            return
        for rank in open_ranks:
            if (why := told("failed", rank)) is not None:
                print(
                    f"paddle.distributed: rank {_Watch.rank} had come to its end; "
                    f"rank {rank} has failed ({why})",
                    file=sys.stderr,
                )
                fail(f"rank {rank} has failed", 1)
        time.sleep(pause)
        pause = min(2 * pause, 0.2)
