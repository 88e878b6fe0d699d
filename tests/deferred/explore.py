"""Runs the fuzzer over many seeds by hand: `python -m tests.deferred.explore oracle 0 1000`, or `tiers 0 1000`, with `--wild` and `--no-shrink`."""

import argparse
import faulthandler
import time
import traceback

import paddle_jax
from tests.deferred import differential, settings
from tests.deferred.programs import generate


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("against", choices=["oracle", "tiers"])
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--wild", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="name every seed before it runs, to find one that hangs or crashes")
    options = parser.parse_args()
    if options.against == "oracle":
        import paddle

        paddle.set_device("cpu")
    faulthandler.enable()
    began, bad = time.monotonic(), []
    for seed in range(options.first, options.end):
        if options.verbose:
            print(seed, flush=True)
        program = generate(seed, safe=not options.wild)

        def differs(candidate, seed=seed):
            if options.against == "oracle":
                return differential.against_oracle(candidate, paddle_jax, paddle)
            return differential.between_tiers(candidate, paddle_jax, **settings.of(seed))

        try:
            found = differs(program)
            if found and not options.no_shrink:
                program, found = differential.shrink(program, differs)
        except Exception:
            found = traceback.format_exc()
        if found:
            bad.append(seed)
            print(f"=== seed {seed}: {found}\n{program.text()}", flush=True)
    print(f"{options.end - options.first} programs, {len(bad)} differ: {bad}, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
