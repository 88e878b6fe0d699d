"""The launcher: starts the processes, shows what the first one prints, and ends all of
them when one fails."""

import os
import signal
import sys
import time
from pathlib import Path

from paddle_jax.distributed.launch import arguments
from paddle_jax.distributed.launch.pod import Pod

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_PAUSE = 0.1  # seconds between two looks at the log of the first process


def run(argv) -> int:
    """Runs the launcher with some arguments; returns the exit status."""
    job = _Job(arguments.parsed(argv))
    try:
        return job.run()
    except _Stopped as stopped:
        job.say("WARNING", f"got {signal.Signals(stopped.number).name}, and hands it on")
        if job.pod is not None:
            job.pod.end(stopped.number)
            job.show()
        return 128 + stopped.number


class _Stopped(BaseException):
    """A signal that ends the launcher."""

    def __init__(self, number):
        self.number = number


class _Job:
    """One call of the launcher."""

    def __init__(self, given):
        self.given, self.pod, self.shown = given, None, 0
        Path(given.log_dir).mkdir(parents=True, exist_ok=True)
        self.log = Path(given.log_dir) / f"{given.job_id}.pod{given.rank}.log"
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
        """Runs the processes, again if they fail and may be; returns the exit status."""
        again = self.given.max_restart if self.given.elastic_level >= 1 and self.given.nnodes == 1 else 0
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

    def _once(self, restart):
        self.pod = pod = Pod(self.given, restart)
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
        self.pod.settle()
        self.pod.end()
        self.show()
        rank = self.given.rank * self.given.nproc + i
        how = f"with exit status {code}" if code > 0 else f"by signal {signal.Signals(-code).name}"
        self.say(
            "ERROR",
            f"rank {rank} (process {self.pod.processes[i].pid}) was the first to end {how}; "
            f"the other processes have been ended. The last lines of {self.pod.logs[i]}:",
        )
        print(self.pod.tail(i), file=sys.stderr, flush=True)
        return code if code > 0 else 128 - code

    def show(self):
        """Prints what the first process has written since the last look."""
        with self.pod.logs[0].open("rb") as log:
            log.seek(self.shown)
            data = log.read()
        self.shown += len(data)
        if data:
            os.write(1, data)
