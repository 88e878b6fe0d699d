"""Where paddle_jax spends the host time of one workload of `steps.py`.

    FLAGS_deferred=off python benchmarks/profile_host.py mlp [--steps 500] [--sort cumulative] [--sample]
                                                             [--save mlp.prof]

Per step: how long Python is busy until the result is asked for, and how long it then waits. After that calls
and microseconds per step by function, from cProfile, which makes small functions look dearer than they are.
`--sample` looks every half millisecond instead where the program is, adds nothing to a call, and names lines:
the time of a line contains the compiled code it calls. One thread, as in `steps.py`, unless
NPROC says otherwise.
"""

import argparse
import collections
import cProfile
import os
import pstats
import signal
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parent.parent


def prepare(name):
    """The warmed-up workload in paddle_jax."""
    for variable, value in {"JAX_PLATFORMS": "cpu", "NPROC": "1", "OMP_NUM_THREADS": "1"}.items():
        os.environ.setdefault(variable, value)
    sys.path.insert(0, str(ROOT))
    import paddle_jax

    paddle_jax.install_as_paddle()
    import paddle_work

    work = paddle_work.WORKLOADS[name]()
    measure.warm_up(work, 1, seconds=5.0, least=5)
    return work


def split(work, steps):
    """Seconds per step in `step` and in `read`."""
    busy = waiting = 0.0
    for _ in range(steps):
        start = time.perf_counter()
        result = work.step()
        asked = time.perf_counter()
        work.read(result)
        busy, waiting = busy + asked - start, waiting + time.perf_counter() - asked
    return busy / steps, waiting / steps


def place(file, line, function):
    """A short name for a place in the code."""
    parts = Path(file).parts
    folder = (
        str(ROOT)
        if file.startswith(str(ROOT))
        else str(Path(*parts[: parts.index("site-packages") + 1]))
        if "site-packages" in parts
        else ""
    )
    return f"{file.removeprefix(folder).lstrip('/')}:{line} {function}" if parts[:1] != ("~",) else function


def by_function(work, steps, sort, save):
    """Rows (calls, own us, us with callees, place), all per step."""
    profile = cProfile.Profile()
    profile.enable()
    measure.run(work, steps)
    profile.disable()
    if save:
        profile.dump_stats(save)
    column = {"tottime": 2, "cumulative": 3, "calls": 1}[sort]
    stats = sorted(pstats.Stats(profile).stats.items(), key=lambda item: -item[1][column])
    return [
        (calls / steps, own / steps * 1e6, total / steps * 1e6, place(*where))
        for where, (_, calls, own, total, _) in stats
    ]


def by_line(work, steps):
    """Rows (share of the time, own us, us with callees, place) per step, by sampling."""
    own, total = collections.Counter(), collections.Counter()
    last = time.perf_counter()

    def look(_, frame):
        nonlocal last
        # Python is told of the alarm only when compiled code returns, so what passed since the last look
        # counts, not the number of looks.
        passed, last, seen = time.perf_counter() - last, time.perf_counter(), set()
        own[(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)] += passed
        while frame:
            seen.add((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname))
            frame = frame.f_back
        total.update(dict.fromkeys(seen, passed))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 5e-4, 5e-4)
    measure.run(work, steps)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    return [
        (spent / own.total(), spent / steps * 1e6, total[where] / steps * 1e6, place(*where))
        for where, spent in own.most_common()
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a workload of paddle_work.py")
    parser.add_argument("--steps", type=int, help="default: three seconds' worth")
    parser.add_argument("--lines", type=int, default=30)
    parser.add_argument("--sort", choices=("tottime", "cumulative", "calls"), default="tottime")
    parser.add_argument("--sample", action="store_true", help="sample lines instead of tracing calls")
    parser.add_argument("--save", help="file for the raw cProfile data (snakeviz, pstats)")
    args = parser.parse_args()
    work = prepare(args.name)
    steps = args.steps or max(3, int(3.0 / measure.run(work, 3)[0]))
    busy, waiting = (seconds / work.units * 1e6 for seconds in split(work, steps))
    print(
        f"{args.name}: {busy + waiting:.1f} us = {busy:.1f} before the result is read + {waiting:.1f} "
        f"reading it; {steps} steps of {work.units}"
    )
    rows = by_line(work, steps) if args.sample else by_function(work, steps, args.sort, args.save)
    print(f"{'share' if args.sample else 'calls':>9} {'own us':>10} {'with callees':>13}  place, per step")
    for count, own, total, where in rows[: args.lines]:
        print(f"{count:9.3f} {own:10.2f} {total:13.2f}  {where}")


if __name__ == "__main__":
    main()
