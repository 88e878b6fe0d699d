"""Milliseconds of collectives between two processes of this machine, in paddle_jax and the
real Paddle (gloo).

    python benchmarks/collectives.py                     # both engines, taking turns
    python benchmarks/collectives.py --rounds 5 --calls
    FLAGS_collective_check=0 python benchmarks/collectives.py

Tensors of 4 KB, 4 MB and 64 MB (what each process has); the median over the calls of a round, and of the
rounds the fastest. all_reduce of float32, float16 and bfloat16; all_gather, broadcast, scatter,
reduce_scatter and alltoall of float32. What the real Paddle does not do on CPUs is left out. --only
all_reduce: that alone. --calls: also what the parts of a call cost (paddle_jax).
FLAGS_collective_shared_memory=0: through XLA.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time

SIZES = {"4 KB": (1 << 10, 200), "4 MB": (1 << 20, 20), "64 MB": (1 << 24, 5)}  # elements, calls


def timed(call, count):
    """The median seconds of a call."""
    call()
    found = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def operations(p):
    """{name: function (tensor) that makes a call}, and the dtype for each."""
    d = p.distributed
    halves = {}

    def pieces(tensor):
        return halves.setdefault(tensor.shape[0], list(tensor.reshape([2, -1])))

    own = {
        "all_gather": lambda x: d.all_gather([], x),
        "broadcast": lambda x: d.broadcast(x, 0),
        "scatter": lambda x: d.scatter(pieces(x)[0], pieces(x), 0),
        "reduce_scatter": lambda x: d.reduce_scatter(p.empty([x.shape[0] // 2]), pieces(x)),
        "alltoall": lambda x: d.alltoall([], pieces(x)),
    }
    sums = {f"all_reduce {dtype}": (d.all_reduce, dtype) for dtype in ("float32", "float16", "bfloat16")}
    return sums | {name: (call, "float32") for name, call in own.items()}


def work(engine, calls, only):
    """One process; the first one prints {name: milliseconds}."""
    p = importlib.import_module(engine)
    p.distributed.init_parallel_env()
    found = {}
    for operation, (call, dtype) in operations(p).items():
        if not operation.startswith(only or ""):
            continue
        for name, (size, count) in SIZES.items():
            tensor = p.full(
                [size * 4 // (4 if dtype == "float32" else 2)], 1e-30 if dtype == "float32" else 0.0, dtype
            )
            try:
                found[f"{operation}, {name}"] = 1e3 * timed(
                    lambda call=call, tensor=tensor: call(tensor), count
                )
            except (RuntimeError, NotImplementedError, AttributeError, ValueError) as error:
                if engine == "paddle_jax":
                    raise
                if p.distributed.get_rank() == 0:
                    print(f"{operation}: {str(error).splitlines()[-1][:150]}", file=sys.stderr)
                break
    if calls and engine == "paddle_jax":
        wire, tensor = p.distributed.get_group().process_group, p.ones([1 << 10])._value
        found["barrier"] = 1e3 * timed(wire.barrier, 200)
        found["4 KB, not announced"] = 1e3 * timed(
            lambda: wire._run(("all_reduce", 0), tensor, "all_reduce"), 200
        )
        large = p.ones([1 << 24])._value
        found["64 MB, not announced"] = 1e3 * timed(
            lambda: wire._run(("all_reduce", 0), large, "all_reduce"), 5
        )
    if p.distributed.get_rank() == 0:
        print(json.dumps(found), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=["paddle_jax", "paddle"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.engine:
        importlib.import_module(args.engine).distributed.spawn(
            work, (args.engine, args.calls, args.only), nprocs=2, backend="gloo"
        )
        return
    best = {}
    for _ in range(args.rounds):
        for engine in ("paddle_jax", "paddle"):
            command = [
                sys.executable,
                "-W",
                "ignore",
                __file__,
                "--engine",
                engine,
                "--only",
                args.only,
                *["--calls"] * args.calls,
            ]
            out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
            for name, value in json.loads(
                next(line for line in out.splitlines() if line.startswith("{"))
            ).items():
                best[engine, name] = min(value, best.get((engine, name), value))
    print("| collective | ours | oracle | ours/oracle |\n| --- | --- | --- | --- |")
    for name in dict.fromkeys(name for _, name in best):
        ours, theirs = (best.get((engine, name)) for engine in ("paddle_jax", "paddle"))
        print(
            f"| {name} | {ours:.2f} ms | " + (f"{theirs:.2f} ms | {ours / theirs:.2f} |" if theirs else "| |")
        )


if __name__ == "__main__":
    main()
