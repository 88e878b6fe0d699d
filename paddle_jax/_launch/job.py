"""The launcher: starts the processes, shows what the first one prints, and ends all of
them when one fails."""

import os
import signal
import sys
import time
from pathlib import Path

from paddle_jax._launch import arguments, rendezvous
from paddle_jax._launch.pod import Pod, alone

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_PAUSE = 0.1  # seconds between two looks at the log of the first process
_FIRST_START = 300.0  # seconds in which all machines must have come


def run(argv: list[str], alias: bool = False) -> int:
    """Runs the launcher; returns the exit status.

    Args:
        argv: its arguments.
        alias: whether `import paddle` in the program gives paddle_jax.
    """
    given = arguments.parsed(argv)
    given.alias = alias
    job = _Job(given)
    try:
        return job.run()
    except _Stopped as stopped:
        job.say("WARNING", f"got {signal.Signals(stopped.number).name}, and hands it on")
        if job.pod is not None:
            job.pod.end(stopped.number)
            job.show()
        return 128 + stopped.number
    except rendezvous.RendezvousError as error:
        job.say("ERROR", str(error))
        return 1


class _Stopped(BaseException):
    """A signal that ends the launcher."""

    def __init__(self, number):
        self.number = number


class _Job:
    """One call of the launcher."""

    def __init__(self, given):
        self.given = given
        self.pod = None
        self.shown = 0
        Path(given.log_dir).mkdir(parents=True, exist_ok=True)
        self.meeting = None
        self.log = Path(given.log_dir) / f"{given.job_id}.pod{max(given.rank, 0)}.log"
        for note in given.notes:
            self.say("WARNING", note)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)

    @staticmethod
    def _stop(number, frame):
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
        raise _Stopped(number)

    def say(self, level, text):
        """Writes a line about the launcher itself."""
        line = f"LAUNCH {level} {time.strftime('%Y-%m-%d %H:%M:%S')} {text}"
        with self.log.open("a") as log:
            log.write(line + "\n")
        if _LEVELS.index(level) >= (
            _LEVELS.index(self.given.log_level) if self.given.log_level in _LEVELS else 1
        ):
            print(line, file=sys.stderr, flush=True)

    def run(self):
        """Meets the other machines and runs the processes; returns the exit status."""
        self.meeting = self._meet()
        try:
            return self._run_processes()
        finally:
            self.meeting.close()

    def _run_processes(self):
        """Runs the processes, again if they fail and may be; returns the exit status."""
        if self.given.elastic_level >= 1 and self.given.most == 1:
            again = self.given.max_restart
        else:
            again = 0
        for restart in range(again + 1):
            code = self._once(restart)
            if code == 0 or restart == again:
                return code
            self.say(
                "WARNING",
                f"starts all processes again, {again - restart - 1} more times after this; "
                f"PADDLE_RESTART_COUNT is {restart + 1}",
            )
        return code

    def _meet(self):
        """The ranks and addresses of all machines; this one alone needs to ask nobody."""
        given = self.given
        if given.most == 1:
            return alone(given)
        host, _, port = given.master.rpartition(":")
        if given.least < given.most:
            patience = given.elastic_timeout
        else:
            patience = float("inf")
        place = rendezvous.Place(host, int(port), given.least, given.most, _FIRST_START, patience)
        described = rendezvous.description(given)
        meeting = rendezvous.meet(place, described, lambda line: self.say("INFO", line))
        self.log = Path(given.log_dir) / f"{given.job_id}.pod{meeting.rank}.log"
        self.say("INFO", f"is machine {meeting.rank} of {meeting.nodes}; processes: {meeting.endpoints}")
        return meeting

    def _once(self, restart):
        self.pod = pod = Pod(self.given, self.meeting, restart)
        if pod.removed and not restart:
            self.say(
                "WARNING",
                f"{', '.join(pod.removed)}: they describe another job; the processes do not get them",
            )
        self.shown = pod.starts[0]
        ids = ", ".join(str(process.pid) for process in pod.processes)
        self.say(
            "INFO",
            f"runs {len(pod.processes)} processes, with the ids {ids}; "
            f"logs: {self.given.log_dir}/workerlog.N",
        )
        while not pod.done():
            found = pod.wait(_PAUSE)
            self.show()
            if found is not None and found[1] != 0:
                return self._failed(*found)
        self.say("INFO", "all processes have ended well")
        return 0

    def _failed(self, i, code):
        """Ends the others, and says what is known."""
        self.pod.await_others()
        self.pod.end()
        self.show()
        rank = self.meeting.rank * self.given.nproc + i
        if code > 0:
            how = f"with exit status {code}"
        else:
            how = f"by signal {signal.Signals(-code).name}"
        self.say(
            "ERROR",
            f"rank {rank} (process {self.pod.processes[i].pid}) was the first to end {how}; "
            f"the other processes have been ended. The last lines of {self.pod.logs[i]}:",
        )
        print(self.pod.tail(i), file=sys.stderr, flush=True)
        if code > 0:
            return code
        return 128 - code

    def show(self):
        """Prints what the first process has written since the last look."""
        with self.pod.logs[0].open("rb") as log:
            log.seek(self.shown)
            data = log.read()
        self.shown += len(data)
        if data:
            os.write(1, data)
