"""Many random programs: `python -m tests.jit.mixed 0 500`."""

import argparse
import collections
import pathlib
import sys
import tempfile
import time

import paddle_jax
from tests.jit.mixed.compare import interrupted, run


def interrupts(first, end):
    """Interrupts at random moments."""
    hits, bad = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, end):
            problem, more = interrupted(seed, pathlib.Path(folder))
            hits += more
            if problem:
                bad.append(seed)
                print(f"=== {problem}", flush=True)
    print(f"{hits} interrupts, {len(bad)} wrong: {bad}")
    sys.exit(bool(bad))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--why", action="store_true", help="count why steps run eagerly")
    parser.add_argument(
        "--interrupt", action="store_true", help="raise at random moments instead of changing anything"
    )
    options = parser.parse_args()
    if options.interrupt:
        return interrupts(options.first, options.end)
    began, bad, eager, frozen, programs, why = time.monotonic(), [], 0, 0, 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.end):
            paddle_jax.explain(reset=True)
            problem, compiled, _ = run(seed, pathlib.Path(folder))
            fell = [e for e in paddle_jax.explain().events if "runs op by op" in e]
            why.update([event.partition("compiled: ")[2][:110] for event in fell[:1]])
            eager += bool(fell)
            frozen += not fell
            programs += len(compiled.step.program_cache)
            if problem:
                bad.append(seed)
                print(f"=== seed {seed} ({'eager' if fell else 'compiled'}): {problem}", flush=True)
    print(
        f"{frozen} compiled ({programs} programs), {eager} run eagerly, {len(bad)} wrong: "
        f"{bad}, {time.monotonic() - began:.0f} s"
    )
    if options.why:
        print(*[f"{count} {reason}" for reason, count in why.most_common()], sep="\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
