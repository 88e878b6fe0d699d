"""Runs one benchmark script with two engines in turn, paddle_jax and the real Paddle, and prints what each case costs.

A benchmark says `import paddle`, has a dictionary of cases, and prints {case: seconds} as JSON when it is called with `--worker`. Here it is
started `rounds` times per engine, the engines taking turns, each time in a fresh process; of each case the fastest round counts, so
that a busy moment of the machine harms neither engine.
"""

import argparse
import json
import os
import subprocess
import sys
import time

ENGINES = {"paddle_jax": ["-m", "paddle_jax"], "paddle": ["-W", "ignore"]}


def per_call(call, finish, seconds=0.5, loop=0.005):
    """Seconds per call: the fastest of many short loops, `finish` waiting for all results of a loop. Short ones fit between what disturbs them."""
    call()
    finish()
    count = max(1, int(loop / one_loop(call, finish, 3)))
    stop, best = time.perf_counter() + seconds, []
    while time.perf_counter() < stop or len(best) < 5:
        best.append(one_loop(call, finish, count))
    return min(best)


def one_loop(call, finish, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    finish()
    return (time.perf_counter() - start) / count


def worker(cases):
    """Measures every case (name -> function that returns (call, finish)) and prints the result."""
    print(json.dumps({name: per_call(*prepare()) for name, prepare in cases.items()}))


def one_run(engine, python, script, limit):
    environment = {"JAX_PLATFORMS": "cpu", "GLOG_minloglevel": "3"} | os.environ
    command = [python, *ENGINES[engine], script, "--worker"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode:
        sys.exit(f"{engine} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main(script, description, unit=("us", 1e6)):
    """Command line of a benchmark: measures both engines and prints a Markdown table."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--oracle", default=sys.executable, help="Python interpreter that has the real Paddle (default: this one)")
    parser.add_argument("--limit", type=int, default=600, help="seconds one process may take")
    args = parser.parse_args()
    pythons = {"paddle_jax": sys.executable, "paddle": args.oracle}
    runs = {engine: [] for engine in ENGINES}
    for _ in range(args.rounds):
        for engine in ENGINES:
            runs[engine].append(one_run(engine, pythons[engine], script, args.limit))
    best = {engine: {case: min(run[case] for run in found) for case in found[0]} for engine, found in runs.items()}
    name, scale = unit
    print(f"| case | paddle_jax, {name} | Paddle, {name} | ratio |\n| --- | --- | --- | --- |")
    for case, ours in best["paddle_jax"].items():
        theirs = best["paddle"][case]
        print(f"| {case} | {ours * scale:.3g} | {theirs * scale:.3g} | {ours / theirs:.2f} |")
