"""What one `Executor.run` costs beside the computation: paddle_jax and the real Paddle in turns, in
processes of their own.

    python benchmarks/static_executor.py [--oracle PYTHON] [--rounds 5] [--runs 300]

Programs: a small one whose computation is next to nothing, for inference and for training steps with 10 and
100 parameters; a convolutional net for scale. "Compiled function alone" is that of the same run, called by
hand with the same arrays: what is above it is the Executor's own. The fastest round of each counts.
"""

import argparse
import json
import subprocess
import sys
import time


def small(m, layers):
    """A chain of tiny layers: its computation costs next to nothing."""
    x, y = m.static.data("x", [None, 4]), m.static.data("y", [None, 4])
    out = x
    for _ in range(layers):
        out = m.nn.functional.tanh(m.nn.Linear(4, 4)(out))
    return out, ((out - y) ** 2).mean(), {"x": [8, 4], "y": [8, 4]}


def convolutions(m):
    """A small convolutional net."""
    x, y = m.static.data("x", [None, 1, 28, 28]), m.static.data("y", [None, 10])
    net = m.nn.Sequential(
        m.nn.Conv2D(1, 8, 5),
        m.nn.ReLU(),
        m.nn.MaxPool2D(2),
        m.nn.Conv2D(8, 16, 5),
        m.nn.ReLU(),
        m.nn.MaxPool2D(2),
        m.nn.Flatten(),
        m.nn.Linear(256, 10),
    )
    out = net(x)
    return out, ((out - y) ** 2).mean(), {"x": [32, 1, 28, 28], "y": [32, 10]}


WORK = {
    "inference, 10 parameters": (lambda m: small(m, 5), None),
    "SGD step, 10 parameters": (lambda m: small(m, 5), lambda m: m.optimizer.SGD(0.01)),
    "Adam step, 10 parameters": (lambda m: small(m, 5), lambda m: m.optimizer.Adam(0.01)),
    "Adam step, 100 parameters": (lambda m: small(m, 50), lambda m: m.optimizer.Adam(0.01)),
    "convolutional net, Adam step": (convolutions, lambda m: m.optimizer.Adam(0.01)),
}


def best(call, runs):
    """Microseconds per call."""
    start = time.perf_counter()
    for _ in range(runs):
        call()
    return (time.perf_counter() - start) / runs * 1e6


class Timed:
    """A workload that is built and warm."""

    def __init__(self, m, name):
        import numpy as np

        build, optimizer = WORK[name]
        main, startup = m.static.Program(), m.static.Program()
        with m.static.program_guard(main, startup):
            out, loss, shapes = build(m)
            if optimizer is not None:
                optimizer(m).minimize(loss)
        self.exe, self.main = m.static.Executor(), main
        self.exe.run(startup)
        r = np.random.RandomState(0)
        self.feed = {k: r.randn(*s).astype("float32") for k, s in shapes.items()}
        self.fetch = [loss if optimizer is not None else out]
        self.keep = m
        for _ in range(3):
            self.once(True)

    def once(self, as_numpy):
        """One run."""
        return self.exe.run(self.main, feed=self.feed, fetch_list=self.fetch, return_numpy=as_numpy)

    def by_hand(self, runs):
        """The compiled function alone, its first result read; for paddle_jax only."""
        import numpy as np

        entry = next(iter(self.main.entries.values()))
        values = self.keep.static.global_scope().values

        def call():
            written = [values[n] for n in entry.written]
            out, new = entry.compiled(
                written,
                [values[n] for n in entry.read],
                [self.feed[n] for n, _ in entry.data],
                entry.constants,
                None,
                None,
            )
            values.update(zip(entry.written, new, strict=True))
            return np.asarray(out[0])

        return best(call, runs)


def child(engine, runs):
    """Builds all workloads, then times one round per line read."""
    m = __import__(engine)
    m.enable_static()
    work = {name: Timed(m, name) for name in WORK}
    print("ready", flush=True)
    for _ in sys.stdin:
        found = {}
        for name, one in work.items():
            found[name] = {
                "numpy": best(lambda one=one: one.once(True), runs),
                "arrays": best(lambda one=one: one.once(False), runs),
            }
            if engine == "paddle_jax":
                found[name]["jit"] = one.by_hand(runs)
        print(json.dumps(found), flush=True)


def started_children(engines, runs):
    """{engine: process} of the engines that are installed, once each has built its workloads."""
    started = {}
    for engine, python in engines.items():
        command = [python, __file__, "--child", engine, "--runs", str(runs)]
        started[engine] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    for engine, process in list(started.items()):
        line = process.stdout.readline()
        while line and line.strip() != "ready":
            line = process.stdout.readline()
        if not line:
            print(f"{engine} is not installed there", file=sys.stderr)
            del started[engine]
    return started


def least_times(started, rounds):
    """{(workload, engine, kind): least time} of engines that run in turns."""
    least = {}
    for _ in range(rounds):
        for engine, process in started.items():
            process.stdin.write("\n")
            process.stdin.flush()
            for name, times in json.loads(process.stdout.readline()).items():
                for kind, value in times.items():
                    key = name, engine, kind
                    least[key] = min(value, least.get(key, value))
    return least


def main():
    """Runs the engines in turns and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--oracle", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--child")
    given = parser.parse_args()
    if given.child:
        child(given.child, given.runs)
        return
    started = started_children({"paddle_jax": sys.executable, "paddle": given.oracle}, given.runs)
    least = least_times(started, given.rounds)
    for process in started.values():
        process.stdin.close()
        process.wait()
    columns = [
        ("paddle_jax", "jit"),
        ("paddle_jax", "arrays"),
        ("paddle_jax", "numpy"),
        ("paddle", "arrays"),
        ("paddle", "numpy"),
    ]
    print(
        "| us per run | compiled function alone | Executor, arrays | Executor, NumPy | Paddle, "
        "arrays | Paddle, NumPy |"
    )
    print("| --- " * 6 + "|")
    for name in WORK:
        print(
            f"| {name} | "
            + " | ".join(f"{least[name, e, k]:.0f}" if (name, e, k) in least else "" for e, k in columns)
            + " |"
        )


if __name__ == "__main__":
    main()
