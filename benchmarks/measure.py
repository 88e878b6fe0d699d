"""What a child process of `steps.py` does, whatever framework it holds: build a workload, run it, print one
JSON line per workload.

A framework's file (`paddle_work.py`, `torch_work.py`, `jax_work.py`) has a dictionary name -> function that
builds a `Work`, and ends with `measure.main(WORKLOADS, set_device)`. When results are read is decided here,
so it is the same for every framework.
"""

import argparse
import dataclasses
import json
import resource
import sys
import time
from collections.abc import Callable


@dataclasses.dataclass
class Work:
    """One workload, ready to run."""

    step: Callable  # does one step (or, for tiny operations, `units` of them) and returns something to read
    read: Callable = float  # waits for what `step` returned and gives it to Python
    units: int = 1  # the time of a step is divided by this
    parameters: int = 0  # numbers being trained: has to be the same for all frameworks


def run(work, count, every=1):
    """Does `count` steps, reading the result of every `every`-th; returns (seconds per step,
    last value read)."""
    start = time.perf_counter()
    for done in range(1, count + 1):
        result = work.step()
        if done % every == 0:
            value = work.read(result)
    return (time.perf_counter() - start) / count, value


def steady(work, every, seconds, loop=0.005):
    """Seconds per step: the fastest of many short runs. Short ones fit between what disturbs them."""
    once, _ = run(work, every, every)
    count = every * max(1, int(loop / (once * every)))
    stop, found = time.perf_counter() + seconds, []
    while time.perf_counter() < stop or len(found) < 3:
        found.append(run(work, count, every)[0])
    return min(found)


def warm_up(work, every, seconds, least):
    """Seconds of the first step and of all the steps until the work has settled: ten, or fewer
    where they are slow."""
    first, _ = run(work, every, every)
    total = first * every
    for done in range(1, 10):
        if done >= least and total > seconds:
            break
        once, _ = run(work, every, every)
        total += once * every
    return first * every, total


def megabytes():
    """Peak memory of this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024  # what the system counts in
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def measure(build, every, args):
    """Everything about one workload, as a dictionary."""
    before, start = megabytes(), time.perf_counter()
    work = build()
    built = time.perf_counter() - start
    first, ten = warm_up(work, every, seconds=3.0, least=10 if args.first else 3)
    result = {"build": built, "first": first, "ten": ten, "parameters": work.parameters}
    if not args.first:
        result["step"] = steady(work, every, args.seconds) / work.units
    value = run(work, every, every)[1]
    return result | {
        "value": value if isinstance(value, float) else None,
        "before_mb": before,
        "peak_mb": megabytes(),
    }


def main(workloads, set_device):
    """Command line of a child process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+", help="NAME, or NAME@N to read the result of every N-th step only")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long the steady state is measured")
    parser.add_argument("--first", action="store_true", help="the first ten steps only")
    args = parser.parse_args()
    set_device(args.device)
    for full_name in args.names:
        name, _, every = full_name.partition("@")
        result = measure(workloads[name], int(every or 1), args) if name in workloads else {"missing": True}
        print(json.dumps({"name": full_name} | result), flush=True)
