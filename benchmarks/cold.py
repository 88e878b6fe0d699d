"""Whole short programs in a fresh process with an empty compile cache, against the real Paddle: process wall
time without the import.

    python -m benchmarks.cold [--repeat 3] [program ...]

Prints a line per program: seconds of both engines (the least of the repeats, which alternate), their ratio,
peak memory, and whether the time is within 0.5 s + 1.5 x the real Paddle's; and the geometric
mean of the ratios.
"""

import argparse
import math

from benchmarks.fresh import last_line

ALLOWED, SHARE = 0.5, 1.5

DRIVER = """
import importlib, json, resource, sys, time
import numpy as np
paddle = importlib.import_module(sys.argv[1])
start = time.perf_counter()
paddle.seed(0)
from benchmarks import cold_programs
value = getattr(cold_programs, sys.argv[2])(paddle)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([time.perf_counter() - start, memory, value]))
"""


def once(module, program):
    """(seconds, MiB, value) of one run."""
    return last_line(DRIVER, module, program)


def main():
    from benchmarks import cold_programs

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=cold_programs.PROGRAMS)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    ratios = []
    print(
        f"{'program':12} {'ours s':>8} {'Paddle s':>9} {'ratio':>6} {'MiB':>6} {'Paddle':>6}  within "
        f"{ALLOWED} s + {SHARE} x"
    )
    for program in given.programs:
        runs = [(once("paddle_jax", program), once("paddle", program)) for _ in range(given.repeat)]
        ours, theirs = (min((pair[k] for pair in runs), key=lambda r: r[0]) for k in (0, 1))
        ratios.append(ours[0] / theirs[0])
        fits = ours[0] <= ALLOWED + SHARE * theirs[0]
        figures = f"{ours[0]:8.3f} {theirs[0]:9.3f} {ratios[-1]:6.2f} {ours[1]:6.0f} {theirs[1]:6.0f}"
        print(f"{program:12} {figures}  {'yes' if fits else 'NO'}", flush=True)
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
