"""Keeps a failure on one process from making the others wait for ever.

Every process has a thread that monitors the calls that the process waits in. The main thread is then inside
C++ and cannot be interrupted, so the thread prints the reason and ends the process. Processes publish their
status in the shared store: each its last collective about once a second (not with every call), that it has
ended, or why it failed. JAX alone would wait at exit for all others; a process that failed does not here.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import sys
import threading
import time
import traceback
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from jax._src import distributed

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.errors import LostError, first_line
from paddle_jax._core.base.launch_variables import LaunchEnvironment
from paddle_jax._core.process_group.straggler_report import StragglerReport

TIMED_OUT = 87  # the exit status of a process that waited in vain
NO_REASON = "a process has gone without saying why; look at the last lines of the logs of the other ranks"
# words in JAX's messages about a broken connection
_BROKEN = ("Gloo", "gloo", "NCCL", "UNAVAILABLE", "ABORTED", "DEADLINE_EXCEEDED")
_PUBLISH_SECONDS = 1.0  # between two publications of the status, and before a call is checked
_POLL_SECONDS = 0.25
# seconds that process 0, which holds the store, lives on after it failed so that the others learn why
_LINGER_SECONDS = 3.0
# [number of the call, the call, whether it is over, seconds waited in all calls, ranks]
CallState = list
_ANSWER_SECONDS = 5.0  # how long the error of two different calls may be on its way
_NO_CALL = (None, "", True, 0.0, [])


class PendingCall:
    """A call that this process waits in.

    Attributes:
        group: str, the group in words.
        number: int, the number of the call in its group.
        what: str, the call in words.
        ranks: the processes that take part.
        timeout: float, seconds.
        since: float, time of its begin.
        different_since: float, when another process was first seen in a different call, or None.
    """

    __slots__ = ("different_since", "group", "number", "ranks", "since", "timeout", "what")

    def __init__(self, group: str, number: int, what: str, ranks: Sequence[int], timeout: float) -> None:
        self.group = group
        self.number = number
        self.what = what
        self.ranks = ranks
        self.timeout = timeout
        self.since = time.monotonic()
        self.different_since: float | None = None


class _State:
    """The state of the detector.

    Attributes:
        rank: int, this process.
        size: int, number of processes.
        exit_code: argument of the `sys.exit` that ends the program, or None.
        stop: Event that ends the thread.
        pending: {id: PendingCall}.
        last_calls: {group in words: CallState}.
        programs: int, how many programs on several processes have begun.
    """

    rank = 0
    size = 1
    exit_code: Any = None
    programs = 0
    stop = threading.Event()
    pending: dict[int, PendingCall] = {}  # noqa: RUF012  one for the process
    last_calls: dict[str, CallState] = {}  # noqa: RUF012


def start(environment: LaunchEnvironment) -> None:
    """Begins to monitor; called once the processes are connected."""
    _State.rank = environment.rank
    _State.size = environment.size
    threading.Thread(target=_monitor, name="paddle.distributed watch", daemon=True).start()
    previous_hook = sys.excepthook

    def fail_after_error(
        kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
    ) -> None:
        previous_hook(kind, error, trace)
        fail(f"{kind.__name__}: {error}")

    sys.excepthook = fail_after_error
    sys.exit = _exit
    atexit.register(_wait_for_others_at_exit)


@contextlib.contextmanager
def monitored_call(
    group: str, number: int, what: str, ranks: Sequence[int], timeout: float
) -> Iterator[PendingCall]:
    """A block that waits for other processes, for `timeout` seconds at most."""
    call = PendingCall(group, number, what, ranks, timeout)
    seconds_before = _State.last_calls.get(group, _NO_CALL)[3]
    state = _State.last_calls[group] = [number, what, False, seconds_before, list(ranks)]
    _State.pending[id(call)] = call
    try:
        yield call
    finally:
        del _State.pending[id(call)]
        seconds = time.monotonic() - call.since
        state[2:4] = True, seconds_before + seconds
        Counters.collectives += 1
        Counters.collective_seconds += seconds


@contextlib.contextmanager
def monitored_program(ranks: Sequence[int]) -> Iterator[None]:
    """A block that runs a program on devices of several processes, however long it takes.

    Only the end of another process ends it. A process that has ended runs no program any more, as each waits
    for the results of its programs.

    Raises:
        LostError: the connection to another process broke; the message says why that one has ended.
    """
    _State.programs += 1
    names = ", ".join(map(str, ranks))
    call = PendingCall("meshes", _State.programs, f"a program on devices of ranks {names}", ranks, math.inf)
    _State.pending[id(call)] = call
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if not is_broken_connection(error):
            raise
        # The thread would end the process, which gets an exception now.
        del _State.pending[id(call)]
        reason = await_failure(ranks) or NO_REASON
        raise LostError(f"{call.what}: the connection broke: {reason} ({first_line(error)[:200]})") from None
    finally:
        _State.pending.pop(id(call), None)


def is_broken_connection(error: Exception) -> bool:
    """Whether JAX says that a connection broke: it raises ValueError and RuntimeError for much else."""
    return any(word in str(error) for word in _BROKEN)


# the status in the store ------------------------------------------------------------------------------------


def status_of(rank: int, key: str) -> str | None:
    """The text that a process has published under a key; None without one, and without a store."""
    client = distributed.global_state.client
    try:
        if client is not None:
            return client.key_value_try_get(f"paddle/{key}/{rank}")
        return None
    except Exception:  # JAX raises the same class for a key that is absent and for a store that is gone
        return None


def publish(key: str, text: str) -> None:
    """Writes a text for all processes to read."""
    client: Any = distributed.global_state.client
    with contextlib.suppress(Exception):  # the store may be gone; then no process can read it
        client.key_value_set(f"paddle/{key}/{_State.rank}", text, allow_overwrite=True)


def failure_among(ranks: Sequence[int]) -> str | None:
    """The reason why one of these processes will never take part in a call again; None without one."""
    for rank in ranks:
        if rank == _State.rank:
            continue
        reason = status_of(rank, "failed")
        if reason is not None:
            return f"rank {rank} has failed ({reason}); mend that, its log says where"
        if status_of(rank, "ended") is not None:
            return f"rank {rank} has come to the end of its program; every rank must make the same calls"
    return None


def await_failure(ranks: Sequence[int], seconds: float = 2.0) -> str | None:
    """As `failure_among`, for a process that has just lost a connection.

    It waits a moment, since the other process may not have published its reason yet.
    """
    reasons: list[str] = []
    deadline = time.monotonic() + seconds

    def poll() -> None:
        while not reasons and time.monotonic() < deadline:
            reason = failure_among(ranks)
            if reason is not None:
                reasons.append(reason)
            time.sleep(0.05)

    thread = threading.Thread(target=poll, daemon=True)  # a store that is gone may keep a call waiting
    thread.start()
    thread.join(seconds + 0.5)
    if reasons:
        return reasons[0]
    return None


# the thread -------------------------------------------------------------------------------------------------


def _monitor() -> None:
    """The thread: publishes the status, and ends the process where a call waits in vain."""
    published = None
    last_time = 0.0
    stragglers = StragglerReport()
    while not _State.stop.wait(_POLL_SECONDS):
        now = time.monotonic()
        if now - last_time >= _PUBLISH_SECONDS:
            last_time = now
            state = json.dumps(_State.last_calls)
            if state != published:
                publish("state", state)
                published = state
            stragglers.report_if_due(_State.rank, _calls_of)
            _end_if_store_failed()
        for call in list(_State.pending.values()):
            reason = _reason_to_give_up(call, now - call.since)
            if reason is not None and id(call) in _State.pending:
                _give_up(call, reason)


def _end_if_store_failed() -> None:
    """Ends this process when process 0, which holds the store, has failed."""
    reason = status_of(0, "failed") if _State.rank else None
    if reason is not None:
        print(
            f"paddle.distributed: rank {_State.rank} ends, since rank 0, which holds the store, "
            f"has failed ({reason})",
            file=sys.stderr,
        )
        fail("rank 0 has failed", TIMED_OUT)


def _reason_to_give_up(call: PendingCall, seconds: float) -> str | None:
    """The reason why a call that has waited some seconds will not end; None without one."""
    if seconds <= _PUBLISH_SECONDS:
        return None
    reason = failure_among(call.ranks) or _lasting_difference(call)
    if reason is None and seconds > call.timeout:
        reason = _timeout_report(call)
    return reason


def _lasting_difference(call: PendingCall) -> str | None:
    """As `_different_call`, once the difference has lasted.

    The exchange sees it too, and raises an error that the program can catch: that answer is on its way.
    """
    reason = _different_call(call)
    if reason is None:
        call.different_since = None
        return None
    now = time.monotonic()
    if call.different_since is None:
        call.different_since = now
    if now - call.different_since > _ANSWER_SECONDS:
        return reason
    return None


def _different_call(call: PendingCall) -> str | None:
    """A sentence about another process of the group that makes another call of the same number."""
    for rank in call.ranks:
        if rank == _State.rank:
            continue
        number, what, *_ = _calls_of(rank).get(call.group, _NO_CALL)
        if number == call.number and what != call.what:
            return (
                f"rank {rank} calls {what}; every rank of a group must make the same calls in the same order"
            )
    return None


def _calls_of(rank: int) -> dict[str, CallState]:
    """The last call of a process in each group."""
    if rank == _State.rank:
        return _State.last_calls
    return json.loads(status_of(rank, "state") or "{}")


def doing(rank: int) -> str:
    """What a process does, by what it has published: the calls that it is in."""
    calls = [
        f"call #{number} of {group}, {what}"
        for group, (number, what, over, *_) in _calls_of(rank).items()
        if not over
    ]
    if calls:
        return f"is in {' and '.join(calls)}"
    return "is in no collective: it computes, or waits for a message"


def _timeout_report(call: PendingCall) -> str:
    """The last call of each process of the group, and advice."""
    lines = []
    for rank in call.ranks:
        number, what, over, *_ = _calls_of(rank).get(call.group, _NO_CALL)
        if number is not None:
            doing = f"{'has left' if over else 'is in'} call #{number}, {what}"
        elif rank == _State.rank:
            doing = "has made no call"
        else:
            doing = "has published no call (it publishes once a second)"
        lines.append(f"\n  rank {rank} {doing}")
    return (
        f"not all ranks came within {call.timeout:.0f} s:{''.join(lines)}\nprinting a distributed tensor, "
        "float() or `if` on one are calls in which all ranks must take part; "
        "a longer limit is PADDLE_PG_TIMEOUT (milliseconds) or new_group(timeout=)"
    )


def _give_up(call: PendingCall, reason: str) -> None:
    """Prints the reason and the stack of the main thread, and ends the process."""
    text = f"rank {_State.rank} waited in vain in call #{call.number} of {call.group}, {call.what}: {reason}"
    print(f"paddle.distributed: {text}", file=sys.stderr, flush=True)
    main_thread: Any = threading.main_thread().ident
    with contextlib.suppress(Exception):
        traceback.print_stack(sys._current_frames()[main_thread])
    fail(text, TIMED_OUT)


# the end ----------------------------------------------------------------------------------------------------


class _Exit(SystemExit):
    """The exception that `sys.exit` raises here.

    Python calls no hook for it, but reads its `code` when no code has caught it.
    """

    @property
    def code(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        _State.exit_code = self.args[0] if self.args else None
        return _State.exit_code


def _exit(status: Any = None, /) -> NoReturn:
    """Ends the program, like Python's own function."""
    raise _Exit(*(() if status is None else (status,)))


def fail(reason: str, status: int = 1) -> NoReturn:
    """Publishes why this process ends, and ends it.

    The interpreter's ordinary end would wait for all processes.
    """
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    threading.Timer(_LINGER_SECONDS + 1, os._exit, [status]).start()  # whatever the store does
    others = [rank for rank in range(_State.size) if rank != _State.rank]
    if any(status_of(rank, "failed") is not None for rank in others):
        _mark_follower()
    publish("failed", reason.splitlines()[0][:500] if reason else "no reason given")
    deadline = time.monotonic() + _LINGER_SECONDS
    while (
        _State.rank == 0
        and time.monotonic() < deadline
        and not all(status_of(rank, "failed") is not None for rank in others)
    ):
        time.sleep(0.05)
    os._exit(status)


def _mark_follower() -> None:
    """Tells the launcher that this process ends since another one has failed, which is the one to name."""
    file = os.environ.get("PADDLE_JAX_FOLLOWER_FILE")
    if file:
        with contextlib.suppress(OSError):
            Path(file).touch()


def _wait_for_others_at_exit() -> None:
    """Waits until all other processes have ended too.

    Process 0 holds the store, and JAX ends processes that lose it.
    """
    if distributed.global_state.client is None:
        return
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    if _State.exit_code not in (None, 0):
        if isinstance(_State.exit_code, int):
            status = _State.exit_code
        else:
            status = 1
        fail(f"sys.exit({_State.exit_code!r})", status)
    publish("ended", "yes")
    pause = 0.005
    while True:
        others = [rank for rank in range(_State.size) if rank != _State.rank]
        running = [rank for rank in others if status_of(rank, "ended") is None]
        if not running:
            _State.stop.set()
            return
        for rank in running:
            reason = status_of(rank, "failed")
            if reason is not None:
                print(
                    f"paddle.distributed: rank {_State.rank} had come to its end; "
                    f"rank {rank} has failed ({reason})",
                    file=sys.stderr,
                )
                fail(f"rank {rank} has failed", 1)
        time.sleep(pause)
        pause = min(2 * pause, 0.2)
