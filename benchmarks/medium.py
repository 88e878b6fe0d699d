"""Whole programs of 20 to 300 steps in a fresh process with an empty compile cache, against the real Paddle:
seconds without the import, and the slowest step after the first.

    python -m benchmarks.medium [--repeat 3] [--filled] [program ...]

Prints a line per program, then the geometric mean of the ratios. Both engines take turns; the fastest run
counts. `--filled`: `python -m paddle_jax warm` has filled our cache.
"""

import argparse
import math
import tempfile

from benchmarks.fresh import last_line
from benchmarks.medium_programs import STEPS

LEAST = 0.3  # seconds that a step may take in any case
SHARE = 3  # of Paddle's slowest step

DRIVER = """
import importlib, json, resource, sys, time
import numpy as np
paddle = importlib.import_module(sys.argv[1])
start = time.perf_counter()
paddle.seed(0)
from benchmarks import medium_programs
step = getattr(medium_programs, sys.argv[2])(paddle)
seconds, value = [], 0.0
for i in range(int(sys.argv[3])):
    before = time.perf_counter()
    value = step(i) or value
    seconds.append(time.perf_counter() - before)
whole = time.perf_counter() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
slowest = max(range(1, len(seconds)), key=seconds.__getitem__)
print(json.dumps([whole, seconds[0], seconds[slowest], slowest, min(seconds), memory, value]))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=list(STEPS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--filled", action="store_true")
    parser.add_argument("--ours-alone", action="store_true", help="without the real Paddle")
    given = parser.parse_args()
    ratios = []
    print(
        f"{'program':12} {'ours s':>8} {'Paddle s':>9} {'ratio':>6} {'first':>6} {'slowest':>8} {'at':>4} "
        f"{'Paddle':>7} {'best ms':>8} {'Paddle':>8} {'MiB':>5} {'Paddle':>6}  within"
    )
    with tempfile.TemporaryDirectory() as cache:
        for program in given.programs:
            ratios.append(measure(program, given, cache if given.filled else "off"))
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


def measure(program, given, cache):
    """Prints the line of a program; gives the ratio."""
    arguments = (program, str(STEPS[program]))
    if given.filled:
        # as the command `warm` does it
        last_line(DRIVER, "paddle_jax", *arguments, cache=cache, FLAGS_deferred_min_repeats="2")
    runs = []
    for _ in range(given.repeat):
        ours = last_line(DRIVER, "paddle_jax", *arguments, cache=cache)
        runs.append((ours, ours if given.ours_alone else last_line(DRIVER, "paddle", *arguments)))
    ours, peer = (min((pair[k] for pair in runs), key=lambda run: run[0]) for k in (0, 1))
    within = "yes" if ours[2] <= max(SHARE * peer[2], LEAST) else "NO"
    print(
        f"{program:12} {ours[0]:8.3f} {peer[0]:9.3f} {ours[0] / peer[0]:6.2f} {ours[1]:6.2f} {ours[2]:8.3f} "
        f"{ours[3]:4} {peer[2]:7.3f} {1000 * ours[4]:8.2f} {1000 * peer[4]:8.2f} {ours[5]:5.0f} "
        f"{peer[5]:6.0f}  {within}  {ours[6]:.5g} {peer[6]:.5g}",
        flush=True,
    )
    return ours[0] / peer[0]


if __name__ == "__main__":
    main()
