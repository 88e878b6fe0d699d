"""Runs the fuzzer over many seeds: `python -m tests.deferred.explore oracle 0 1000`, or `tiers`, or `all`
(what `test_fuzz.py` does), with `--wild`, `--short` and `--no-shrink`. The exit status says whether a
program differs."""

import argparse
import faulthandler
import importlib.util
import sys
import time
import traceback

import paddle_jax
from tests.deferred import differential, settings
from tests.deferred.programs import generate


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("against", choices=["oracle", "tiers", "all"])
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--wild", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="name every seed before it runs, to find one that hangs or crashes",
    )
    options = parser.parse_args()
    paddle = None
    if options.against != "tiers" and importlib.util.find_spec("paddle"):
        import paddle

        paddle.set_device("cpu")
    faulthandler.enable()
    began, bad = time.monotonic(), []
    for seed in range(options.first, options.end):
        if options.verbose:
            print(seed, flush=True)
        program = generate(seed, not options.wild, short=options.short)

        def differs(candidate, seed=seed):
            if options.against == "oracle":
                return differential.against_oracle(candidate, paddle_jax, paddle)
            if options.against == "all":
                return differential.all_ways(candidate, paddle_jax, paddle, settings.of(seed))
            return differential.between_tiers(candidate, paddle_jax, **settings.of(seed))

        try:
            found = differs(program)
            # a smaller program may crash the real Paddle
            if found and not options.no_shrink and not str(found).startswith("oracle"):
                program, found = differential.shrink(program, differs)
        except Exception:
            found = traceback.format_exc()
        if found:
            bad.append(seed)
            print(f"=== seed {seed}, {settings.of(seed)}: {found}\n{program.script()}", flush=True)
    print(
        f"{options.end - options.first} programs, {len(bad)} differ: {bad}, {time.monotonic() - began:.0f} s"
    )
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
