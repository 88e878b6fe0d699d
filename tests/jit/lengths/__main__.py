"""Many random programs on lengths: `python -m tests.jit.lengths --programs 2000 --seed 0`."""

import argparse
import importlib.util
import sys
import tempfile
import time

from tests.jit.lengths.compare import Counts, run
from tests.jit.lengths.oracle import Oracle
from tests.jit.lengths.programs import KINDS
from tests.jit.lengths.ways import WAYS


def arguments():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--way", choices=WAYS, default="file")
    parser.add_argument(
        "--kind",
        choices=KINDS,
        default="numbers",
        help="tensors: sizes are Tensors; loops, whiles: cuts at counters",
    )
    parser.add_argument("--alone", action="store_true", help="Paddle saves each program itself, too")
    parser.add_argument("--here", action="store_true", help="without the real Paddle")
    parser.add_argument("--quiet", action="store_true", help="only the counts")
    return parser.parse_args()


def told(found):
    """A program that is not right, as text."""
    problems = [*found.wrong[:3], *found.errors[:3]]
    what = f"refused: {found.refused}" if found.refused is not None else "\n    ".join(problems)
    what = what or "its file has operations that Paddle lacks"
    own = "" if found.paddle is None else f"\n    Paddle's own file: {found.paddle}"
    return f"=== seed {found.program.seed}: {what}{own}\n{found.program.body}"


def main():
    options = arguments()
    has_oracle = not options.here and importlib.util.find_spec("paddle") is not None
    oracle = Oracle() if has_oracle else None
    counts, seed, began = Counts(), options.seed, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        while counts.programs < options.programs:
            found = run(seed, folder, options.way, options.kind, oracle, options.alone)
            seed += 1
            if found is None:
                continue
            counts.add(found)
            is_bad = found.refused or found.wrong or found.errors or found.own and found.paddle == "right"
            if is_bad and not options.quiet:
                print(told(found), flush=True)
    print(counts.report())
    print(f"seeds {options.seed} to {seed - 1}, {time.monotonic() - began:.0f} s")
    if oracle is not None:
        oracle.close()
    sys.exit(bool(counts.wrong))


if __name__ == "__main__":
    main()
