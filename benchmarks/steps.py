"""Runs the workloads in paddle_jax, the real Paddle, PyTorch and hand-written JAX, and prints
what each costs.

    python benchmarks/steps.py [--only NAME,...] [--peers ours,off,oracle,torch,hand] [--rounds 3]
                               [--oracle PYTHON] [--torch PYTHON]

A peer is a framework in a child process of its own. Per workload the peers take turns for `rounds` rounds,
and of each the fastest round counts, so a busy moment of the machine harms none of them; ratios carry over to
other machines, times do not. One line of a Markdown table per workload.

Peers: ours (paddle_jax), off (paddle_jax with FLAGS_deferred=off), async (FLAGS_deferred=async), static
(paddle_jax, each step through to_static), oracle (the real Paddle), oracle_static (the same with its
to_static), torch (PyTorch, eager), hand (jax.jit and optax). A peer whose interpreter lacks the framework is
left out. `--list` prints the workloads; NAME may be a pattern, and NAME@N reads the loss
every N-th step only.

    --memory   also the peak memory of the processes
    --first    instead: time to build the model, of the first step and of the first ten, with an empty
               compile cache and in a second process
"""

import argparse
import dataclasses
import fnmatch
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

OPERATIONS = {
    "add": "add",
    "add_number": "add a number",
    "matmul": "matmul",
    "tanh": "tanh",
    "sum": "sum",
    "reshape": "reshape",
    "get": "x[3]",
    "slice": "x[1:5, 2]",
    "set": "x[3] = v",
}
INDEXING = {
    "get_step": "x[::2]",
    "get_new_axis": "x[:, None, 1]",
    "get_each": "x[i], another i each time",
    "get_array": "x[index]",
    "get_pairs": "x[index, index]",
    "get_mask": "x[mask]",
    "index_select": "index_select",
    "along_axis": "take_along_axis",
    "scatter": "scatter",
    "sort": "sort",
    "argsort": "argsort",
    "topk": "topk",
    "cumsum": "cumsum",
    "set_slice": "x[1:5, 2] = 0",
    "set_through": "x[3][1] = 0",
    "set_array": "x[index] = v",
    "set_mask": "x[mask] = 0",
}
OPERATIONS |= {name + "_grad": label + ", recording" for name, label in OPERATIONS.items()}
OPERATIONS |= {"item": "x[0, 0].item()", "chained_add": "add, each to the last one's result"}

STEPS = {
    "chain20": "20 operations on 8x8, forward and backward",
    "third": "third derivative of 4 operations on 8x8",
    "mlp": "MLP 64-64-64-1, batch 32",
    "mlp@10": "the same, loss read every 10th step",
    "lenet": "LeNet, batch 64",
    "resnet18": "ResNet-18 64x64, batch 8",
    "transformer": "Transformer encoder, 4 layers of 128, 8 x 64 tokens",
    "lstm": "LSTM, 2 layers of 64, 16 x 50 steps",
    "burgers": "Burgers PINN, 2000 points, 2nd derivative",
    "beam": "Euler beam PINN, 500 points, 4th derivative",
    "adam1000": "Adam, 1000 parameters of 32",
    "heat": "heat equation 64x64, 10 000 explicit steps",
}
LABELS = OPERATIONS | INDEXING | STEPS
RATIOS = [("ours", "oracle"), ("ours", "torch"), ("ours", "hand"), ("off", "ours")]


@dataclasses.dataclass
class Peer:
    """How to start one framework."""

    python: str
    arguments: list
    module: str  # has to be importable
    on_gpu: str = "True"  # has to hold for --device gpu
    flags: dict = dataclasses.field(default_factory=dict)
    compiles: bool = True  # has a compile cache

    def present(self, device):
        """Whether the framework is installed (and can use the device)."""
        code = (
            f"import importlib.util, sys\nif importlib.util.find_spec({self.module!r}) is None: sys.exit(3)\n"
        )
        if device == "gpu" and self.on_gpu != "True":
            code += f"import {self.module} as m\nif not ({self.on_gpu}): sys.exit(3)\n"
        return (
            subprocess.run(
                [self.python, "-c", code], cwd=HERE.parent, capture_output=True, check=False
            ).returncode
            == 0
        )


def peers(args):
    """All peers by name."""
    program = ["-m", "paddle_jax", str(HERE / "paddle_work.py")]
    ours = {
        tier: Peer(args.ours, program, "paddle_jax", flags={"FLAGS_deferred": tier})
        for tier in ("sync", "off", "async")
    }
    return {
        "ours": ours["sync"],
        "off": ours["off"],
        "async": ours["async"],
        "static": Peer(args.ours, program, "paddle_jax", flags={"BENCHMARK_TO_STATIC": "1"}),
        "oracle": Peer(
            args.oracle,
            ["-W", "ignore", str(HERE / "paddle_work.py")],
            "paddle",
            "m.is_compiled_with_cuda()",
            compiles=False,
        ),
        "oracle_static": Peer(
            args.oracle,
            ["-W", "ignore", str(HERE / "paddle_work.py")],
            "paddle",
            "m.is_compiled_with_cuda()",
            flags={"BENCHMARK_TO_STATIC": "1"},
            compiles=False,
        ),
        "torch": Peer(
            args.torch, [str(HERE / "torch_work.py")], "torch", "m.cuda.is_available()", compiles=False
        ),
        "hand": Peer(args.ours, [str(HERE / "jax_work.py")], "optax"),
    }


def environment(peer, args, cache):
    """Same devices and threads for all; `cache` is the folder of JAX's compile cache."""
    found = dict(os.environ) | {"GLOG_minloglevel": "3"} | peer.flags
    if args.device == "cpu":
        found["JAX_PLATFORMS"] = "cpu"
    if args.threads:
        # NPROC is the size of XLA's thread pool.
        found |= dict.fromkeys(
            ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC"), str(args.threads)
        )
    found |= {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    found |= {"JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1", "JAX_ENABLE_COMPILATION_CACHE": "true"}
    return found


class Runner:
    """Starts child processes and remembers which of them failed."""

    def __init__(self, args):
        self.args, self.failures = args, []

    def child(self, name, peer, names, *options, cache):
        """Results of one process: workload -> what it measured. Empty where the framework has no such
        workload; absent where it failed."""
        command = [
            peer.python,
            *peer.arguments,
            *names,
            "--device",
            self.args.device,
            "--seconds",
            str(self.args.seconds),
            *options,
        ]
        started = {"env": environment(peer, self.args, cache), "cwd": HERE.parent, "timeout": self.args.limit}
        try:
            done = subprocess.run(command, **started, capture_output=True, text=True, check=False)
            output, errors = done.stdout, done.stderr if done.returncode else ""
        except subprocess.TimeoutExpired as expired:
            output, errors = (expired.stdout or b"").decode(), f"takes longer than {self.args.limit} s"
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if errors:
            self.failures.append(name)
            print(f"{name}: {' '.join(names)} failed:\n{errors[-2000:]}", file=sys.stderr)
        return {
            line["name"]: {key: value for key, value in line.items() if key not in ("name", "missing")}
            for line in lines
        }

    def measure(self, names, chosen):
        """Runs a group of workloads in all peers in turn; returns workload -> peer -> the best of each figure
        over the rounds."""
        found = {name: {} for name in names}
        # empty in the first round, so peak memory includes compiling
        with tempfile.TemporaryDirectory() as cache:
            for _ in range(self.args.rounds):
                for name, peer in chosen.items():
                    for work, result in self.child(name, peer, names, cache=f"{cache}/{name}").items():
                        found[work][name] = best(found[work].get(name), result)
        return found

    def first(self, work, name, peer):
        """First-step figures of one workload in one peer: (empty cache, second process)."""
        cold = warm = None
        for _ in range(self.args.rounds):
            with tempfile.TemporaryDirectory() as cache:
                cold = best(cold, self.child(name, peer, [work], "--first", cache=cache).get(work, {}))
                if peer.compiles:
                    warm = best(warm, self.child(name, peer, [work], "--first", cache=cache).get(work, {}))
        return cold, warm


def best(old, new):
    """The shorter of each time, the larger of each peak."""
    choose = {key: max if key == "peak_mb" else min for key in new if key != "value"}
    return new if not old else new | {key: choice(new[key], old[key]) for key, choice in choose.items()}


def check(work, results):
    """Complains about results that cannot be compared."""
    sizes = {name: result["parameters"] for name, result in results.items() if result}
    if len(set(sizes.values())) > 1:
        print(f"{work}: the numbers of parameters differ: {sizes}", file=sys.stderr)
    for name, result in results.items():
        if not math.isfinite((result or {}).get("value") or 0.0):
            print(f"{work}: {name} computes {result['value']}", file=sys.stderr)


def time_text(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            return f"{seconds / size:#.3g} {unit}".replace(". ", " ")


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def header(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def cell(results, name, text):
    """What `text` makes of a peer's result; '-' without such a workload, 'failed' if it did."""
    if name not in results:
        return "failed"
    return text(results[name]) if results[name] else "-"


def ratio(results, above, below):
    top, bottom = (results.get(name, {}).get("step") for name in (above, below))
    return f"{top / bottom:.2f}" if top and bottom else "-"


def compare(runner, groups, chosen):
    """The main table; returns all results."""
    ratios = [pair for pair in RATIOS if set(pair) <= set(chosen)]
    header("workload", *chosen, *("/".join(pair) for pair in ratios))
    everything = {}
    for names in groups:
        everything |= runner.measure(names, chosen)
        for work in names:
            results = everything[work]
            check(work, results)
            times = [cell(results, name, lambda result: time_text(result["step"])) for name in chosen]
            row(LABELS.get(work, work), *times, *(ratio(results, *pair) for pair in ratios))
    return everything


def memory(everything, chosen):
    """Peak memory of the processes, and how much of it was there before the workload."""
    print()
    header("peak memory (before the workload), MiB", *chosen)
    for work, results in everything.items():
        if work in STEPS:
            row(
                LABELS[work],
                *(
                    cell(results, name, lambda r: f"{r['peak_mb']:.0f} ({r['before_mb']:.0f})")
                    for name in chosen
                ),
            )


def first_steps(runner, names, chosen):
    """How a fresh process starts: one line per workload and peer."""
    figures = ("build", "first", "ten")
    header(
        "workload",
        "peer",
        "build",
        "first step",
        "first ten steps",
        "build, cached",
        "first step, cached",
        "first ten steps, cached",
    )
    for work in names:
        for name, peer in chosen.items():
            results = [result for result in runner.first(work, name, peer) if result is not None]
            cells = [
                time_text(result[figure]) if result else "failed" for result in results for figure in figures
            ]
            row(LABELS.get(work, work), name, *cells, *["-"] * (6 - len(cells)))


def selected(patterns):
    """Names of the workloads that match, in the order of the table."""
    if not patterns:
        return list(LABELS)
    found = []
    for pattern in patterns.split(","):
        names = fnmatch.filter(LABELS, pattern) or ([pattern] if pattern.partition("@")[0] in LABELS else [])
        if not names:
            sys.exit(f"--only: there is no workload {pattern!r}; --list prints them")
        found += [name for name in names if name not in found]
    return found


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="comma-separated names or patterns of workloads")
    parser.add_argument("--peers", default="ours,off,oracle,torch,hand")
    for name, what in (
        ("ours", "paddle_jax, and optax for the hand-written steps"),
        ("oracle", "the real Paddle"),
        ("torch", "PyTorch"),
    ):
        parser.add_argument(
            f"--{name}",
            default=sys.executable,
            metavar="PYTHON",
            help=f"interpreter that has {what} (default: this one)",
        )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        help="how long each process measures one workload; what is compiled meanwhile "
        "has to leave time for the compiled form",
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="threads for every peer; 0: what each takes by itself"
    )
    parser.add_argument("--device", choices=("cpu", "gpu", "tpu"), default="cpu")
    parser.add_argument("--limit", type=int, default=600, help="seconds one process may take")
    for name in ("first", "memory", "list"):
        parser.add_argument(f"--{name}", action="store_true")
    return parser.parse_args(argv)


def main(argv=None):
    args = arguments(argv)
    if args.list:
        return print("\n".join(f"{name:16} {label}" for name, label in LABELS.items()))
    known, names, runner = peers(args), selected(args.only), Runner(args)
    unknown = set(args.peers.split(",")) - set(known)
    if unknown:
        sys.exit(f"--peers: unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = {name: known[name] for name in args.peers.split(",") if known[name].present(args.device)}
    if len(chosen) < len(args.peers.split(",")):
        print(
            f"not installed for {args.device}: {', '.join(set(args.peers.split(',')) - set(chosen))}",
            file=sys.stderr,
        )
    if args.first:
        first_steps(runner, names, chosen)
    else:
        operations = [name for name in names if name in OPERATIONS]
        everything = compare(
            runner,
            ([operations] * bool(operations) + [[name] for name in names if name not in OPERATIONS]),
            chosen,
        )
        if args.memory:
            memory(everything, chosen)
    sys.exit(1 if runner.failures else 0)


if __name__ == "__main__":
    main()
