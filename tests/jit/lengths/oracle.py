"""A process with the real Paddle, started again where it ends."""

import contextlib
import os
import pathlib
import pickle
import select
import subprocess
import sys

_ROOT = pathlib.Path(__file__).parents[3]
_SECONDS = 120  # for one job


class Oracle:
    """The process. `ended`: how often it has ended on a job."""

    def __init__(self):
        self.process = None
        self.ended = 0

    def _start(self):
        env = {**os.environ, "GLOG_minloglevel": "3", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.jit.lengths.reader"],
            cwd=_ROOT,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, **job):
        """The answer to a job, see `reader.py`."""
        if self.process is None:
            self._start()
        try:
            pickle.dump(job, self.process.stdin)
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], _SECONDS)[0]:
                raise EOFError("no answer in time")
            return pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            self.ended += 1
            self.close()
            why = str(error) if "time" in str(error) else "Paddle's process ends"
            return {"error": why, "results": []}

    def close(self):
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None
