"""The processes that a launcher has started on this machine: a pod, in Paddle's words."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax._launch import variables
from paddle_jax._launch.rendezvous import Meeting

GRACE = 3.0  # seconds between asking a process to end and ending it
_MOMENT = 1.0  # seconds that the others have to say what they have seen of a failure
_TAIL = 20  # lines of the log of a process that failed
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def described(given: Any, meeting: Meeting) -> list[dict[str, str]]:
    """The variables that the launcher sets for each process of this machine."""
    size = len(meeting.endpoints)
    first = meeting.rank * given.nproc
    common = {
        "PADDLE_GLOBAL_SIZE": size,
        "PADDLE_TRAINERS_NUM": size,
        "PADDLE_LOCAL_SIZE": given.nproc,
        # From the root: the processes may change their folder.
        "PADDLE_NNODES": meeting.nodes,
        "PADDLE_LOG_DIR": Path(given.log_dir).resolve(),
        "PADDLE_RESTART_COUNT": meeting.generation,
        "PADDLE_JOB_ID": given.job_id,
        "POD_NAME": f"pod{meeting.rank}",
    }
    if given.run_mode == "rpc":  # the processes call each other, and compute alone
        common["PADDLE_MASTER_ENDPOINT"] = meeting.coordinator
    else:
        common["PADDLE_MASTER"] = meeting.coordinator
        common["PADDLE_TRAINER_ENDPOINTS"] = ",".join(meeting.endpoints)
    found = []
    # Accelerators are dealt out evenly; with fewer of them than processes, no process gets one.
    share = len(given.devices) // given.nproc
    for i in range(given.nproc):
        rank = first + i
        own = {
            "PADDLE_TRAINER_ID": rank,
            "PADDLE_GLOBAL_RANK": rank,
            "PADDLE_LOCAL_RANK": i,
            "PADDLE_RANK_IN_NODE": i,
            "PADDLE_CURRENT_ENDPOINT": meeting.endpoints[rank],
        }
        if given.run_mode == "rpc":
            own["PADDLE_WORKER_ENDPOINT"] = meeting.endpoints[rank]
        if share:
            own["FLAGS_selected_gpus"] = ",".join(map(str, given.devices[i * share : (i + 1) * share]))
        else:
            own["PADDLE_DISTRI_BACKEND"] = "gloo"
        found.append({name: str(value) for name, value in (common | own).items()})
    return found


def command(given: Any) -> list[Any]:
    """What each process runs."""
    rest = [given.training_script, *given.training_script_args]
    if not given.is_python:
        return rest
    # `import paddle` means the same in the processes as here
    alias = ["-m", "paddle_jax"] if given.alias else []
    return [sys.executable, "-u", *alias, *rest]


class Planned(NamedTuple):
    """A process to start.

    Attributes:
        log: name of the file that it writes to.
        variables: what the launcher sets for it.
        secrets: variables that no file shows.
    """

    log: str
    variables: dict[str, str]
    secrets: dict[str, str]


def planned(given: Any, meeting: Meeting) -> list[Planned]:
    """The processes of this machine in a job in which all do the same."""
    return [Planned(f"workerlog.{i}", own, {}) for i, own in enumerate(described(given, meeting))]


class Pod:
    """The running processes; each has a process group of its own, which ends as a whole.

    Attributes:
        given: arguments of the launcher.
        planned: list of Planned, what is started.
        ended: (number, exit status) of processes that have ended.
        codes: {number: exit status} of those that were noticed.
        removed: variables of another job that the processes do not get.
        logs: their log files.
        starts: where what they write now begins in these files.
        processes: the processes.
        began: {number: when it was started, in nanoseconds}.
    """

    def __init__(self, given: Any, planned: list[Planned]) -> None:
        self.given = given
        self.planned = planned
        self.ended = queue.SimpleQueue()
        self.codes = {}
        self.began: dict[int, int] = {}
        self.removed = []
        folder = Path(given.log_dir)
        folder.mkdir(parents=True, exist_ok=True)
        self.logs = [folder / one.log for one in planned]
        self.starts = [
            0 if given.log_overwrite == "True" or not log.exists() else log.stat().st_size
            for log in self.logs
        ]
        self.processes = []
        try:
            for i in range(len(planned)):
                self.processes.append(self._start(i))
        # Also after an interrupt no process may stay behind.
        except BaseException:
            self.end()
            raise

    def _start(self, i: Any) -> Any:
        own = self.planned[i].variables
        environment, self.removed = variables.inherited(own)
        text = "".join(f"{name}={value}\n" for name, value in sorted(own.items()))
        # One of an earlier start tells nothing about this one.
        self._follower_file(i).unlink(missing_ok=True)
        marker = {"PADDLE_JAX_FOLLOWER_FILE": str(self._follower_file(i).resolve())}
        # For the user: the variables of each process, without secrets.
        (Path(self.given.log_dir) / f"envlog.{i}").write_text(text)
        self.began[i] = time.time_ns()
        with self.logs[i].open("ab" if self.starts[i] else "wb") as log:
            # no other thread of the launcher holds locks
            process = subprocess.Popen(
                command(self.given),
                env=environment | self.planned[i].secrets | marker,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=_tied,
            )
        # A thread for each process waits, so that ends come in the order in which they happen.
        threading.Thread(target=lambda: self.ended.put((i, process.wait())), daemon=True).start()
        return process

    def restart(self, i: int, count: int) -> None:
        """Starts a process that has ended again; PADDLE_RESTART_COUNT says how often that happened."""
        self.planned[i].variables["PADDLE_RESTART_COUNT"] = str(count)
        # Messages about this start show its own lines alone.
        self.starts[i] = self.logs[i].stat().st_size
        self.codes.pop(i, None)
        self.processes[i] = self._start(i)

    def kill(self, i: int) -> None:
        """Ends a process, and what it has started, by force."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.processes[i].pid, signal.SIGKILL)

    def wait(self, seconds: Any) -> tuple[Any, Any] | None:
        """The next process that ends within so many seconds: (its number, its exit status), or None."""
        with contextlib.suppress(queue.Empty):
            i, code = self.ended.get(timeout=seconds)
            self.codes[i] = code
            return i, code
        return None

    def _follower_file(self, i: int) -> Path:
        """The file that a process makes which ends since another one has failed."""
        return Path(self.given.log_dir) / f".follower.{i}"

    def is_follower(self, i: int) -> bool:
        """Whether a process has ended since another one had failed."""
        return self._follower_file(i).exists()

    def first_failure(self, i: int, code: int) -> tuple[int, int]:
        """The process that failed first, and its exit status: not `i` where that one has followed another."""
        limit = time.monotonic() + _MOMENT
        while self.is_follower(i) and time.monotonic() < limit and not self.done():
            ended = self.wait(0.05)
            if ended is not None and ended[1] != 0 and not self.is_follower(ended[0]):
                return ended
        return i, code

    def done(self) -> bool:
        """Whether all processes have ended."""
        return len(self.codes) == len(self.processes)

    def send(self, number: Any) -> None:
        """Sends a signal to every process that runs, and to what it has started."""
        for process in self.processes:
            # A process that has ended has no group; its number may belong to another one by now.
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)

    def end(self, number: Any = signal.SIGTERM) -> None:
        """Ends all processes: by a signal, and those that do not end within the grace by force."""
        self.send(number)
        limit = time.monotonic() + GRACE
        while time.monotonic() < limit and any(process.poll() is None for process in self.processes):
            time.sleep(0.02)
        for process in self.processes:  # what a process has left running in its group as well
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for i in range(len(self.processes)):
            self._follower_file(i).unlink(missing_ok=True)

    def await_others(self) -> None:
        """Gives the processes that are left a moment to end by themselves."""
        limit = time.monotonic() + _MOMENT
        while time.monotonic() < limit and not self.done():
            self.wait(0.05)

    def tail(self, i: Any) -> str:
        """The last lines of the log of a process."""
        with self.logs[i].open("rb") as log:
            # Only the end of the file is read, as logs may be large.
            log.seek(max(self.starts[i], self.logs[i].stat().st_size - (1 << 16)))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-_TAIL:])


def _tied() -> None:
    """Runs in a new process: it ends when the launcher is killed."""
    if _LIBC is not None:
        _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGTERM)
