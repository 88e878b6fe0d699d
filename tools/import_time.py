"""Measures what `import paddle_jax` costs beyond `import jax`.

    python tools/import_time.py [--rounds 7]

Each import runs in a fresh interpreter; rounds are interleaved and the fastest of each counts, so a busy
moment harms neither. Memory is the resident set after the import.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = """
import time
start = time.perf_counter()
import {module}
seconds = time.perf_counter() - start
pages = open("/proc/self/statm").read().split()[1] if __import__("os").path.exists("/proc/self/statm") else 0
print(seconds, int(pages) * 4096 / 2**20)
"""


def measure(module, python=sys.executable):
    """(seconds, MiB) of one import in a fresh interpreter."""
    # an installed package has its modules compiled
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [python, "-c", CODE.format(module=module)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--oracle", help="Python interpreter with the real Paddle, to be measured too")
    args = parser.parse_args()
    jobs = {"jax": sys.executable, "paddle_jax": sys.executable} | (
        {"paddle": args.oracle} if args.oracle else {}
    )
    runs = {module: [] for module in jobs}
    for _ in range(args.rounds):
        for module, python in jobs.items():
            runs[module].append(measure(module, python))
    best = {module: (min(s for s, _ in found), min(m for _, m in found)) for module, found in runs.items()}
    print("| import | seconds | MiB |\n| --- | --- | --- |")
    for module, (seconds, memory) in best.items():
        print(f"| {module} | {seconds:.3f} | {memory:.0f} |")
    print(f"paddle_jax costs {best['paddle_jax'][0] - best['jax'][0]:+.3f} s beyond jax (budget +0.3 s)")


if __name__ == "__main__":
    main()
