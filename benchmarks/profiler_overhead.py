"""What recording with paddle.profiler adds to a small training step.

    python benchmarks/profiler_overhead.py [--rounds 100] [--steps 30]

One process and one model (MLP 64-64-64-1, batch 32, Adam, the loss read at every step) per mode; rounds with
and without a recording take turns. All figures are medians; what is added is that of all pairs of
neighbouring rounds.
"""

import argparse
import contextlib
import io
import os
import statistics
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import paddle_jax as paddle
from paddle_jax import nn


def made(mode):
    """The function that does one step."""
    paddle.seed(0)
    paddle.set_flags({"FLAGS_deferred": "off" if mode == "off" else "sync"})
    net = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    opt = paddle.optimizer.Adam(parameters=net.parameters())
    x, y = paddle.randn([32, 64]), paddle.randn([32, 1])

    def step():
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if mode == "to_static" else step
    return lambda: float(run())


def timed(step, steps, after=lambda: None):
    """Seconds per step."""
    start = time.perf_counter()
    for _ in range(steps):
        step()
        after()
    return (time.perf_counter() - start) / steps


def main():
    """Prints a row per mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    print("| mode | not recording | recording | added |\n| --- | --- | --- | --- |")
    for mode in ("deferred", "off", "to_static"):
        step = made(mode)
        timed(step, 300)
        off, on = [], []
        for _ in range(args.rounds):
            off.append(timed(step, args.steps))
            prof = paddle.profiler.Profiler(on_trace_ready=lambda prof: None)
            prof.start()
            on.append(timed(step, args.steps, prof.step))
            with contextlib.redirect_stdout(io.StringIO()):
                prof.stop()
        added = 100 * (statistics.median(a / b for a, b in zip(on, off, strict=True)) - 1)
        print(
            f"| {mode} | {1e6 * statistics.median(off):.0f} us | {1e6 * statistics.median(on):.0f} us | "
            f"{added:.1f} % |"
        )


if __name__ == "__main__":
    main()
