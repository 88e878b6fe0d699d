"""The launcher: starts the processes, shows what the first one prints, and ends all of
them when one fails."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax._launch import arguments, server_job
from paddle_jax._launch.etcd import Registry, RegistryError
from paddle_jax._launch.pod import Pod, planned
from paddle_jax._launch.ports import free_ports
from paddle_jax._launch.rendezvous import Event, Meeting, Membership, RendezvousError
from paddle_jax._launch.store import QUICK, place_of

RESTART_STATUS = 101  # exit status of a process that asks to be started again
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_PAUSE = 0.1  # seconds between two looks at the log of the first process
_REPORT = 2.0  # seconds for the report of a failure on another machine
_LEAVE = 5.0  # seconds for telling the other machines that this one ends


def run(argv: list[str], alias: bool = False) -> int:
    """Runs the launcher; returns the exit status.

    Args:
        argv: its arguments.
        alias: whether `import paddle` in the program gives paddle_jax.
    """
    given = arguments.parsed(argv)
    given.alias = alias
    if given.cluster == "ray":
        return _run_on_ray(given)
    kind = _ServerJob if given.run_mode == "ps" else _Job
    try:
        job = kind(given)
    except RegistryError as error:
        print(_line("ERROR", str(error)), file=sys.stderr, flush=True)
        return 1
    try:
        return job.run()
    except _Stopped as stopped:
        job.say("WARNING", f"got {signal.Signals(stopped.number).name}, and hands it on")
        job.stop(stopped.number)
        return 128 + stopped.number
    except (RendezvousError, RegistryError) as error:
        job.say("ERROR", str(error))
        return 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # it ends within seconds
        job.membership.close()


def _run_on_ray(given: Any) -> int:
    from paddle_jax._launch import ray_cluster  # lazy: import time, few jobs run there

    def say(level: str, text: str) -> None:
        if _is_shown(given, level):
            print(_line(level, text), file=sys.stderr, flush=True)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        return ray_cluster.run(given, say)
    except ray_cluster.ClusterError as error:
        say("ERROR", str(error))
        return 1
    except _Stopped as stopped:
        say("WARNING", "was interrupted; the processes on the cluster have been ended")
        return 128 + stopped.number


def _is_shown(given: Any, level: str) -> bool:
    shown = _LEVELS.index(given.log_level) if given.log_level in _LEVELS else 1
    return _LEVELS.index(level) >= shown


def _line(level: str, text: str) -> str:
    return f"LAUNCH {level} {time.strftime('%Y-%m-%d %H:%M:%S')} {text}"


def _stop(number: int, frame: Any) -> None:
    # A second signal must not interrupt the end of the processes.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise _Stopped(number)


class _Stopped(BaseException):
    """A signal that ends the launcher."""

    def __init__(self, number: int) -> None:
        self.number = number


class OneMachine:
    """The job of one machine: as Membership, without others.

    Attributes:
        given: as given.
        event: Event, the last one.
        _generation: int, how often the job has started again.
        _failures: int, how many failures count against max_restart.
        _reason: str, why the present generation was started.
        _began: float, the time of that.
    """

    def __init__(self, given: Any) -> None:
        self.given = given
        self.event = Event("none")
        self._generation = 0
        self._failures = 0
        self._reason = ""
        self._began = 0.0

    def join(self) -> Meeting:
        given = self.given
        self._began = time.monotonic()
        host = given.host or "127.0.0.1"
        coordinator, *ports = free_ports(given.nproc + 1)
        master = given.master or f"127.0.0.1:{coordinator}"
        endpoints = [f"{host}:{port}" for port in ports]
        return Meeting(given.rank, 1, endpoints, master, self._generation, self._reason)

    def report_failure(self, text: str, asks_for_restart: bool) -> Event:
        # A program that asks again and again right after its start would never end.
        if not asks_for_restart or time.monotonic() - self._began < QUICK:
            self._failures += 1
        if self.given.elastic_level < 1 or self._failures > self.given.max_restart:
            return Event("end", text)
        self._generation += 1
        self._reason = text
        return Event("restart", text)

    def finish(self) -> Event:
        return Event("finished")

    def leave(self) -> None:
        """Nobody has to know."""

    def pause(self) -> None:
        """There is no heartbeat."""

    def close(self) -> None:
        """There is no store."""


class _Outcome(NamedTuple):
    """How the processes of one generation have ended on this machine.

    Attributes:
        event: what has to happen now.
        status: exit status of the launcher if the job ends.
    """

    event: Event
    status: int


class _Job:
    """One call of the launcher.

    Attributes:
        given: its arguments.
        membership: Membership, or OneMachine.
        meeting: Meeting of the generation, or None.
        pod: Pod of the processes, or None.
        first: number of the process whose log is printed.
        shown: how much of this log has been printed.
        log: file of the launcher's own lines.
    """

    def __init__(self, given: Any) -> None:
        self.given = given
        self.pod: Pod | None = None
        self.shown = 0
        self.first = 0
        self.meeting: Meeting | None = None
        Path(given.log_dir).mkdir(parents=True, exist_ok=True)
        self.log = Path(given.log_dir) / f"{given.job_id}.pod{max(given.rank, 0)}.log"
        for note in given.notes:
            self.say("WARNING", note)
        self.membership = self._membership()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _stop)

    def _membership(self) -> Membership | OneMachine:
        given = self.given
        if given.most == 1:
            return OneMachine(given)
        host, _, port = given.master.rpartition(":")
        place = place_of(given, host, int(port))
        registry = None
        if given.uses_etcd:
            registry = Registry(given.master, given.job_id, given.elastic_ttl)
        return Membership(place, given, lambda line: self.say("INFO", line), registry)

    def say(self, level: str, text: str) -> None:
        """Writes a line about the launcher itself."""
        line = _line(level, text)
        with self.log.open("a") as log:
            log.write(line + "\n")
        if _is_shown(self.given, level):
            print(line, file=sys.stderr, flush=True)

    def run(self) -> int:
        """Runs the generations of the job; returns the exit status."""
        while True:
            self.meeting = self._meet()
            if self.meeting is None:
                self.say("INFO", "the other machines have finished the job")
                return 0
            outcome = self._run_processes(self.meeting)
            if outcome.event.kind != "restart":
                return outcome.status
            self.say("WARNING", f"starts all processes again: {outcome.event.reason}")

    def _meet(self) -> Meeting | None:
        meeting = self.membership.join()
        if meeting is not None and isinstance(self.membership, Membership):
            self.log = Path(self.given.log_dir) / f"{self.given.job_id}.pod{meeting.rank}.log"
            self.say("INFO", f"is machine {meeting.rank} of {meeting.nodes}; processes: {meeting.endpoints}")
        return meeting

    def _run_processes(self, meeting: Meeting) -> _Outcome:
        """Runs the processes of one generation until all have ended."""
        self.pod = pod = Pod(self.given, planned(self.given, meeting))
        if not meeting.generation:
            self._name_removed(pod)
        # What earlier starts wrote to this log was shown already.
        self.shown = pod.starts[0]
        ids = ", ".join(str(process.pid) for process in pod.processes)
        if meeting.generation:
            count = f" (PADDLE_RESTART_COUNT is {meeting.generation})"
        else:
            count = ""
        self.say(
            "INFO",
            f"runs {len(pod.processes)} processes{count}, with the ids {ids}; "
            f"logs: {self.given.log_dir}/workerlog.N",
        )
        while not pod.done():
            # A short wait, so that the log is shown as it grows.
            ended = pod.wait(_PAUSE)
            self.show()
            if ended is not None and ended[1] != 0:
                return self._failed(pod, *ended)
            if self.membership.event.kind != "none":
                return self._interrupted(pod, self.membership.event)
        self.say("INFO", "all processes have ended well")
        event = self.membership.finish()
        if event.kind == "end":
            self.say("ERROR", event.reason)
            return _Outcome(event, 1)
        return _Outcome(event, 0)

    def _name_removed(self, pod: Pod) -> None:
        """Names the variables of another job that the processes do not get."""
        if pod.removed:
            names = ", ".join(pod.removed)
            self.say("WARNING", f"{names}: they describe another job; the processes do not get them")

    def _end_others(self, pod: Pod) -> None:
        """Ends the processes that are left after a failure; they may say more before."""
        pod.await_others()
        pod.end()
        self.show()

    def _show_failure(self, pod: Pod, i: int, text: str) -> None:
        """Says which process has failed, and what it has written last."""
        self.say("ERROR", f"{text}; the other processes have been ended. The last lines of {pod.logs[i]}:")
        print(pod.tail(i), file=sys.stderr, flush=True)

    def _failed(self, pod: Pod, i: int, code: int) -> _Outcome:
        """A process has failed: says what is known, and ends the others."""
        i, code = pod.first_failure(i, code)
        elsewhere = self._failure_elsewhere(pod, i)
        if elsewhere is not None:
            return self._interrupted(pod, elsewhere)
        rank = self.meeting.rank * self.given.nproc + i
        text = f"rank {rank} (process {pod.processes[i].pid}) was the first to end {_how(code)}"
        event = self.membership.report_failure(text, code == RESTART_STATUS)
        self.membership.pause()
        self._end_others(pod)
        if code != RESTART_STATUS or event.kind == "end":
            self._show_failure(pod, i, text)
        if event.reason != text and event.kind == "end":
            self.say("ERROR", event.reason)
        return _Outcome(event, _status(code))

    def _failure_elsewhere(self, pod: Pod, i: int) -> Event | None:
        """What another machine has reported, where process `i` has only followed a failure there."""
        if self.meeting.nodes == 1 or not pod.is_follower(i):
            return None
        limit = time.monotonic() + _REPORT
        while time.monotonic() < limit:
            if self.membership.event.kind != "none":
                return self.membership.event
            time.sleep(0.02)
        return None

    def _interrupted(self, pod: Pod, event: Event) -> _Outcome:
        """Another machine has ended the generation."""
        self.membership.pause()
        if event.kind == "end":
            self._end_others(pod)
            self.say("ERROR", f"{event.reason}; the processes of this machine have been ended")
        else:
            pod.end()
            self.show()
        return _Outcome(event, 1)

    def stop(self, number: int) -> None:
        """Ends the processes by a signal that the launcher got."""
        self.membership.pause()
        leaving = threading.Thread(target=self.membership.leave, daemon=True)  # it may take a while
        leaving.start()
        if self.pod is not None:
            self.pod.end(number)
            self.show()
        leaving.join(_LEAVE)

    def show(self) -> None:
        """Prints what the first process has written since the last look."""
        with self.pod.logs[self.first].open("rb") as log:
            log.seek(self.shown)
            data = log.read()
        self.shown += len(data)
        if data:
            # As bytes: a character may be cut in two here.
            os.write(1, data)


def _how(code: int) -> str:
    """How a process has ended, for messages."""
    if code > 0:
        return f"with exit status {code}"
    return f"by signal {signal.Signals(-code).name}"


def _status(code: int) -> int:
    """The exit status of the launcher for that of a process, as a shell gives it."""
    return code if code > 0 else 128 - code


class _ServerJob(_Job):
    """A job with parameter servers. A process that fails is started again alone, with --elastic_level 1.

    Attributes:
        plan: Plan, what is started on this machine.
        restarts: {number of a process: how often it was started again}.
    """

    def run(self) -> int:
        """Runs servers and workers; returns the exit status."""
        self.plan = server_job.plan(self.given)
        self.first = min(self.plan.servers_here, len(self.plan.processes) - 1)  # worker 0, if it is here
        self.pod = pod = Pod(self.given, self.plan.processes)
        self.restarts = dict.fromkeys(range(len(pod.processes)), 0)
        self._name_removed(pod)
        self.shown = pod.starts[self.first]
        ids = ", ".join(f"{self._name(i)} {process.pid}" for i, process in enumerate(pod.processes))
        self.say("INFO", f"runs {ids}; logs: {self.given.log_dir}/serverlog.N and workerlog.N")
        while not pod.done():
            ended = pod.wait(_PAUSE)
            self.show()
            self._end_late_workers(pod)
            if ended is not None and ended[1] != 0 and not self._restart(pod, *ended):
                return self._end_all(pod, *ended)
            # Servers run until they are stopped; nobody needs them without workers.
            if self.plan.all_here and self._workers_have_ended(pod) and not pod.done():
                return self._end_servers(pod)
        self.say("INFO", "all processes have ended well")
        return 0

    def _name(self, i: int) -> str:
        """What messages call a process."""
        return self.plan.processes[i].log.replace("log.", " ")

    def _restart(self, pod: Pod, i: int, code: int) -> bool:
        """Starts a process again, if that is allowed."""
        count = self.restarts[i] + 1
        if self.given.elastic_level < 1 or count > self.given.max_restart:
            return False
        self.restarts[i] = count
        self.say(
            "WARNING",
            f"{self._name(i)} has ended {_how(code)}; it is started again alone, "
            f"{self.given.max_restart - count} more times after this; PADDLE_RESTART_COUNT is {count}",
        )
        pod.restart(i, count)
        self.say("INFO", f"runs {self._name(i)} {pod.processes[i].pid}")
        if i == self.first:
            self.shown = pod.starts[i]
        return True

    def _end_all(self, pod: Pod, i: int, code: int) -> int:
        """Ends the other processes of a job in which one has failed."""
        self._end_others(pod)
        text = f"{self._name(i)} (process {pod.processes[i].pid}) was the first to end {_how(code)}"
        self._show_failure(pod, i, text)
        return _status(code)

    def _end_late_workers(self, pod: Pod) -> None:
        """Names workers that the servers have waited for too long; ends those that may be started again."""
        for worker, incarnation in server_job.late_workers(self.plan):
            i = self.plan.place_of_worker(worker)
            if i is None or pod.processes[i].poll() is not None:
                continue
            # 0: no process of this number has come to the servers; else the time when the last one did
            if incarnation:
                is_this = incarnation >= pod.began[i]
            else:
                is_this = self.restarts[i] == 0
            ends = is_this and self.given.elastic_level >= 1
            what = "it is ended" if ends else "it is not ended"
            self.say(
                "WARNING", f"{self._name(i)} keeps the others waiting (PADDLE_PS_WORKER_TIMEOUT); {what}"
            )
            if ends:
                pod.kill(i)

    def _workers_have_ended(self, pod: Pod) -> bool:
        count = len(self.plan.processes)
        return all(pod.codes.get(i) == 0 for i in range(self.plan.servers_here, count))

    def _end_servers(self, pod: Pod) -> int:
        """Waits for the servers, once all workers have ended."""
        limit = time.monotonic() + server_job.GRACE
        while time.monotonic() < limit and not pod.done():
            ended = pod.wait(_PAUSE)
            if ended is not None and ended[1] != 0:
                return self._end_all(pod, *ended)
        self.show()
        if not pod.done():
            self.say("WARNING", "the workers have ended without fleet.stop_worker(); the servers are ended")
            pod.end()
        return 0
