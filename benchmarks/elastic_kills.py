"""Random kills in an elastic job, and how long it takes to go on. Each launcher stands for a machine.

    python -m benchmarks.elastic_kills [--kills 100] [--machines 3] [--seed 0]

A machine is killed at a random moment (its launcher, by SIGKILL), and another one comes. The job has to run
again each time; it must end well at the end.
"""

import argparse
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
size, restart = os.environ["PADDLE_TRAINERS_NUM"], os.environ["PADDLE_RESTART_COUNT"]
(folder / f"runs.{restart}.{os.environ['PADDLE_TRAINER_ID']}").write_text(size)
while not (folder / "over").exists():
    time.sleep(0.02)
"""
LIMIT = 60.0  # seconds after which a job counts as hanging


def start(folder, master, number, machines):
    command = [sys.executable, "-m", "paddle_jax.distributed.launch", "--master", master]
    command += ["--nproc_per_node", "1", "--nnodes", f"1:{machines}", "--elastic_timeout", "2"]
    command += ["--elastic_ttl", "2", "--log_dir", str(folder / f"log{number}")]
    with (folder / f"launcher{number}").open("wb") as out:
        return subprocess.Popen(
            [*command, str(folder / "program.py"), str(folder)], stdout=out, stderr=subprocess.STDOUT
        )


def running(folder):
    """(restart count, number of processes) of the last generation that runs whole."""
    generations = {}
    for file in folder.glob("runs.*"):
        restart = int(file.name.split(".")[1])
        generations.setdefault(restart, []).append(int(file.read_text() or 0))
    whole = [(restart, sizes[0]) for restart, sizes in generations.items() if len(sizes) == sizes[0]]
    return max(whole, default=(-1, 0))


def wait_until(condition, what):
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > LIMIT:
            raise SystemExit(f"the job hangs: {what}")
        time.sleep(0.02)
    return time.monotonic() - started


def run(options, folder, master, machines):
    """Kills machines; returns how long the job took to run again after each one.

    Args:
        options: of the command line.
        folder: Path of the job.
        master: "host:port" of its store.
        machines: list that gets the launchers that run.
    """
    chance = random.Random(options.seed)  # noqa: S311
    machines.append(start(folder, master, 0, options.machines))  # keeps the store; it is not killed
    time.sleep(0.5)
    started = 1
    seconds = []
    for kill in range(options.kills):
        while len(machines) < options.machines:
            machines.append(start(folder, master, started, options.machines))
            started += 1
        wait_until(lambda: running(folder)[1] == options.machines, f"before kill {kill}")
        time.sleep(chance.uniform(0, 0.5))
        restart = running(folder)[0]
        victim = machines.pop(chance.randrange(1, len(machines)))
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        if chance.random() < 0.5:  # another machine comes before the loss is noticed, or after
            machines.append(start(folder, master, started, options.machines))
            started += 1
        seconds.append(wait_until(lambda: running(folder)[0] > restart, f"after kill {kill}"))  # noqa: B023
    (folder / "over").touch()
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    (folder / "program.py").write_text(PROGRAM)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{probe.getsockname()[1]}"
    machines = []
    try:
        seconds = run(options, folder, master, machines)
        codes = [machine.wait(LIMIT) for machine in machines]
    finally:
        for machine in machines:
            machine.kill()
    print(
        f"{options.kills} kills, exit statuses {codes}; seconds until the job ran again: "
        f"median {statistics.median(seconds):.1f}, most {max(seconds):.1f} (a machine counts as lost after 2)"
    )


if __name__ == "__main__":
    main()
