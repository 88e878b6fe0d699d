"""Segments and messages of graphs against the real Paddle, both in this process, in turn.

    python -W ignore benchmarks/graphs.py [--edges 10000,100000,1000000] [--features 16] [--only segment]

A graph with ten edges per node, ends in random places; segments of ten rows on average. The time of a call
with its result read, forward alone and with the gradient of what is summed: the fastest of the rounds, after
the deferred tier has settled. `compiled` is the same through `to_static`.
"""

import argparse
import functools as ft
import importlib
import time

import numpy as np


def jobs(paddle, edges, features):
    """name -> (function, the Tensors to give it and to differentiate by)."""
    rng, nodes, G = np.random.default_rng(0), edges // 10, paddle.geometric
    ends = [rng.integers(0, nodes, edges) for _ in range(2)]
    source, target, segment = (paddle.to_tensor(v.astype("int64")) for v in (*ends, np.sort(ends[0])))
    x, y = (
        paddle.to_tensor(rng.standard_normal((n, features)).astype("float32"), stop_gradient=False)
        for n in (nodes, edges)
    )
    found = {}
    for how in ("sum", "mean", "max", "min"):
        found[f"segment_{how}"] = (lambda v, how=how: getattr(G, f"segment_{how}")(v, segment), [y])
        found[f"send_u_recv {how}"] = (lambda v, how=how: G.send_u_recv(v, source, target, how), [x])
    for what, how in (("add", "sum"), ("mul", "sum"), ("mul", "mean"), ("add", "max")):
        found[f"send_ue_recv {what} {how}"] = (
            lambda v, w, what=what, how=how: G.send_ue_recv(v, w, source, target, what, how),
            [x, y],
        )
    for what in ("add", "mul"):
        found[f"send_uv {what}"] = (lambda v, w, what=what: G.send_uv(v, w, source, target, what), [x, x * 2])
    return found


def forward(paddle, call, given):
    with paddle.no_grad():
        return call(*given).numpy()


def backward(paddle, call, given):
    return [g.numpy() for g in paddle.grad(call(*given), given)][-1]


def once(job):
    start = time.perf_counter()
    job()
    return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", default="10000,100000,1000000")
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a row is measured")
    args = parser.parse_args()
    ours, theirs = (importlib.import_module(name) for name in ("paddle_jax", "paddle"))
    ours.set_flags({"FLAGS_interpreter": False})  # the steady state: compiled code, as after some dozen calls
    print(
        "| call | edges | forward: ours, ms | oracle | ratio | compiled | with gradient: "
        "ours, ms | oracle | ratio | compiled |"
    )
    print("| --- " * 10 + "|")
    for edges in map(int, args.edges.split(",")):
        mine, others = (jobs(engine, edges, args.features) for engine in (ours, theirs))
        for name in [name for name in mine if args.only in name]:
            row = []
            for run in (forward, backward):
                (call, v), (other, w) = mine[name], others[name]
                compiled = ours.jit.to_static(call)
                turns = [
                    ft.partial(run, *each)
                    for each in ((ours, call, v), (theirs, other, w), (ours, compiled, v))
                ]
                got, want, _ = (turn() for turn in turns)
                np.testing.assert_allclose(got, want, 1e-3, 1e-3)
                for _ in range(4):
                    turns[0]()
                stop, times = time.perf_counter() + args.seconds, []
                while time.perf_counter() < stop or len(times) < 5:
                    times.append([once(turn) for turn in turns])
                a, b, c = np.min(times, 0)
                row += [f"{a:.3g} | {b:.3g} | {a / b:.2f} | {c / b:.2f}"]
            print(f"| {name} | {edges} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
