"""Kills servers and workers of a job with parameter servers at random moments, and compares the last values
with those of a run in which nothing is killed.

    python benchmarks/server_kills.py [--kills 50] [--steps 300] [--servers 2] [--workers 4]

The job is `tests/distributed/programs/servers.py` in sync mode. Each kill is SIGKILL, or now and then
SIGSTOP, which the servers find by PADDLE_PS_WORKER_TIMEOUT; a server that was stopped goes on after 3 s.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PROGRAM = Path(__file__).resolve().parents[1] / "tests" / "distributed" / "programs" / "servers.py"


def start(folder, given, *flags):
    """Starts the job."""
    options = {"a_sync": False, "steps": given.steps, "pause": 0.05, "folder": str(folder / "saved")}
    command = [sys.executable, "-m", "paddle_jax.distributed.launch", "--server_num", str(given.servers)]
    command += ["--trainer_num", str(given.workers), "--log_dir", str(folder / "log"), *flags]
    command += ["--log_level", "ERROR", str(PROGRAM), json.dumps(options)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def running(folder):
    """{name: process id} of the processes, the last ones of each name."""
    log = folder / "log" / "default.pod0.log"
    text = log.read_text() if log.exists() else ""
    found = {}
    for line in text.splitlines():
        if " runs " in line:
            found |= dict(re.findall(r"((?:server|worker) \d+) (\d+)", line))
    return {name: int(number) for name, number in found.items()}


def values(folder):
    """The tables that the job has saved, by name and part."""
    found = {}
    for file in sorted((folder / "saved").glob("*.npz")):
        with np.load(file) as part:
            order = np.argsort(part["ids"]) if "ids" in part else slice(None)
            names = [name for name in ("ids", "rows", "values") if name in part]
            found |= {f"{file.name} {name}": part[name][order] for name in names}
    return found


def kill_some(process, folder, given, kills, draw):
    """Kills processes until the job ends, at most so many; returns which."""
    done = []
    while process.poll() is None:
        time.sleep(draw.uniform(0.5, 4.0))
        every = running(folder)
        if not every or len(done) >= kills or process.poll() is not None:
            continue
        name = draw.choice(sorted(every))
        how = signal.SIGSTOP if draw.random() < 0.15 else signal.SIGKILL
        try:
            os.kill(every[name], how)
        except ProcessLookupError:
            continue
        done.append(f"{name} {how.name}")
        if how == signal.SIGSTOP and name.startswith("server"):
            time.sleep(3)
            os.kill(every[name], signal.SIGCONT)
    return done


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("kills", 50), ("steps", 300), ("servers", 2), ("workers", 4), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    os.environ.setdefault("PADDLE_PS_WORKER_TIMEOUT", "15")
    with tempfile.TemporaryDirectory() as root:
        quiet = Path(root) / "quiet"
        begin = time.monotonic()
        if start(quiet, given).wait():
            sys.exit("the run without kills has failed")
        print(f"without kills: {time.monotonic() - begin:.0f} s", flush=True)
        expected = values(quiet)
        kills = []
        while len(kills) < given.kills:
            folder = Path(root) / f"after {len(kills)}"
            begin = time.monotonic()
            process = start(folder, given, "--elastic_level", "1", "--max_restart", "1000")
            some = kill_some(process, folder, given, given.kills - len(kills), draw)
            kills += some
            found = values(folder)
            same = found.keys() == expected.keys()
            same = same and all(np.array_equal(found[name], expected[name]) for name in expected)
            print(
                f"{len(some)} kills, {time.monotonic() - begin:.0f} s, exit status {process.returncode}, "
                f"last values {'the same' if same else 'DIFFERENT'}: {', '.join(some)}",
                flush=True,
            )
            if process.returncode or not same:
                sys.exit(1)
    print(f"{len(kills)} kills: the same values")


if __name__ == "__main__":
    main()
