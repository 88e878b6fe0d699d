"""Checks and measures paddle_jax on a device of this machine, and writes docs/devices.md.

    python -m benchmarks.devices --device gpu          everything, about an hour
    python -m benchmarks.devices --device tpu --parts ops,kernels
    python -m benchmarks.devices --device gpu --go-on  a run that was interrupted

It needs a checkout, JAX with its package for the device, and nothing else: no pytest, no real Paddle. What
the device computes is compared with what paddle_jax computes on the CPU of the machine, and the tests compare
that with the real Paddle.

Parts: `ops` (the op table, forward and gradients), `kernels` (fused attention), `curves` (losses of ten
steps, undecorated), `curves_static` (the same through `to_static`), `times` (the workloads of steps.py). Each
part runs in processes of its own: one that ends or hangs costs one op. Results are kept in
benchmarks/results/devices/, one file for each kind of device, and the page has a section for each.
"""

import argparse
import collections
import datetime
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks import steps

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results/devices"
PAGE = ROOT / "docs/devices.md"
PARTS = ("ops", "kernels", "curves", "curves_static", "times")
TIMED = ("mlp", "lenet", "resnet18", "transformer", "lstm", "burgers", "beam", "adam1000", "heat")
PEERS = ("ours", "static", "hand")


class Child:
    """A process that prints one line of JSON for each result.

    Attributes:
        process: Popen.
        lines: Queue of its lines; None after the last.
        errors: the last lines of what it printed as errors.
        threads: list of the threads that read both.
    """

    def __init__(self, device, part, names, args):
        command = [sys.executable, "-m", "paddle_jax", "benchmarks/device_work.py", device, part, *names]
        command += ["--fake"] * args.fake + ["--all-cases"] * args.all_cases
        environment = dict(os.environ) | {"GLOG_minloglevel": "3", "FLAGS_compile_notice": "0"}
        environment.pop("JAX_PLATFORMS", None)
        if device == "cpu":
            environment["JAX_PLATFORMS"] = "cpu"
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines = queue.Queue()
        self.errors = collections.deque(maxlen=20)
        self.threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put(None)

    def results(self, limit):
        """Results as they come. Ends with the text of what went wrong, if something did."""
        while True:
            try:
                result = self.lines.get(timeout=limit)
            except queue.Empty:
                yield f"took more than {limit} s"
                return
            if result is None:
                status = self.process.wait()
                self.threads[1].join()
                if status:
                    last = [line.strip() for line in self.errors if line.strip()][-1:]
                    yield f"the process ended with status {status}: {' '.join(last)[:300]}"
                return
            yield result

    def stop(self):
        """Ends the process, if it runs, and closes its pipes."""
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()


def run_part(part, names, args, keep):
    """Runs a part. What ends the process is noted for the name that it was at, and the next one goes on."""
    waiting = list(names)
    while waiting:
        before = len(waiting)
        child = Child(args.device, part, waiting, args)
        try:
            for result in child.results(args.limit):
                if isinstance(result, str):
                    result = {"name": waiting[0], "error": result}
                waiting.remove(result["name"])
                keep({"part": part} | result)
        finally:
            child.stop()
        if len(waiting) == before:
            keep({"part": part, "name": waiting.pop(0), "error": "the process gave no result"})


def facts(args):
    """The chip and the versions; ends the program where there is no such device."""
    child = Child(args.device, "facts", [], args)
    found = list(child.results(args.limit))
    child.stop()
    for result in found:
        if isinstance(result, str):
            sys.exit(f"devices: {args.device}: {result}")
        return {"part": "facts"} | result | {"date": datetime.date.today().isoformat(), "fake": args.fake}


def times(names, args, keep):
    """Seconds for a step of the workloads of steps.py."""
    given = ["--device", args.device, "--rounds", "1", "--seconds", str(args.seconds), "--threads", "0"]
    given += ["--limit", str(args.limit)]
    runner = steps.Runner(steps.arguments(given))
    chosen = {name: peer for name, peer in steps.peers(runner.args).items() if name in PEERS}
    for name in names:
        found = runner.measure([name], chosen)[name]
        seconds = {peer: result["step"] for peer, result in found.items() if result}
        keep({"part": "times", "name": name, "seconds": seconds})


# the page ---------------------------------------------------------------------------------------------------

INTRO = """# Measured on devices

A command checks and measures this package on a device of the machine, and writes this page:

    python -m benchmarks.devices --device gpu        (or tpu)

It takes about an hour, and needs a checkout and JAX with its package for the device ([install](install.md)).
It is no option of pytest, since a machine with a device has neither the test tools nor the real Paddle. A
part that ends its process costs one op. An interrupted run goes on with `--go-on`.

- **Ops**: cases of the op table with gradients, against the same on the CPU of the machine, which the tests
  compare with the real Paddle. One case of each op, one of complex numbers, one of float64; with
  `--all-cases` all.
- **Kernels**: fused attention and its gradients, against the plain formula in float32; the largest difference
  relative to the largest number.
- **Curves**: losses of ten steps, undecorated and through `to_static`; the largest relative difference.
- **Times**: a step of the workloads of [performance.md](performance.md), undecorated, through `to_static`,
  and written by hand with `jax.jit` and optax.
"""
NOT_YET = """
No GPU or TPU has been measured yet. The figures of a CPU show what the command writes; its times are in
[performance.md](performance.md).
"""


def page(folder):
    """The text of docs/devices.md, from all results that are kept in a folder."""
    files = sorted(folder.glob("*.jsonl"))
    kinds = [file.stem for file in files]
    text = INTRO
    if not set(kinds) - {"cpu"}:
        text += NOT_YET
    return text + "".join(
        section([json.loads(line) for line in file.read_text().splitlines()]) for file in files
    )


def section(results):
    """What the page says of one device."""
    by_part = collections.defaultdict(list)
    for result in results:
        by_part[result["part"]].append(result)
    (about,) = by_part["facts"]
    chips = f"{about['count']} x {about['chip']}"
    lines = [f"\n## {about['device']}: {chips}{' (a stand-in)' if about['fake'] else ''}", ""]
    lines += [
        f"{about['date']}, {about['runtime']}, jax {about['jax']}, jaxlib {about['jaxlib']}, "
        f"Python {about['python']}."
    ]
    for part, lines_of in (("ops", op_lines), ("kernels", kernel_lines)):
        if by_part[part]:
            lines += ["", *lines_of(by_part[part])]
    curves = by_part["curves"] + by_part["curves_static"]
    if curves:
        lines += ["", *curve_lines(curves)]
    if by_part["times"]:
        lines += ["", *time_lines(by_part["times"])]
    return "\n".join(lines) + "\n"


def table(*rows):
    """Lines of a Markdown table; the first row is its head."""
    rows = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    rows.insert(1, ["---"] * len(rows[0]))
    return [f"| {' | '.join(row)} |" for row in rows]


def op_lines(results):
    """How many ops agree, and what does not."""
    wrong = [(r["name"], case, verdict) for r in results for case, verdict in r.get("wrong", ())]
    wrong += [(r["name"], "", r["error"]) for r in results if "error" in r]
    bad = {name for name, _, _ in wrong}
    cases = sum(r.get("cases", 0) for r in results)
    lines = [f"{len(results) - len(bad)} of {len(results)} ops agree with the CPU ({cases} cases)."]
    if wrong:
        rows = [(f"`{name}({case})`", verdict[:160]) for name, case, verdict in wrong]
        lines += ["", *table(("case", "what differs"), *rows)]
    return lines


def kernel_lines(results):
    """Differences of the fused kernels."""
    rows = [(r["name"], r.get("dtype", ""), figure(r)) for r in results]
    return table(("attention", "dtype", "difference"), *rows)


def curve_lines(results):
    """Differences of losses."""
    found = collections.defaultdict(dict)
    for result in results:
        found[result["name"]][result["part"]] = figure(result)
    rows = [
        (steps.LABELS[name], *[parts.get(part, "") for part in PARTS[2:4]]) for name, parts in found.items()
    ]
    return table(("curve", "undecorated", "to_static"), *rows)


def time_lines(results):
    """Times of steps."""
    rows = []
    for result in results:
        cells = [result.get("seconds", {}).get(peer) for peer in PEERS]
        rows.append((steps.LABELS[result["name"]], *[steps.time_text(s) if s else "-" for s in cells]))
    return table(("step", "undecorated", "to_static", "by hand"), *rows)


def figure(result):
    """The difference of a result, or why there is none."""
    if "error" in result:
        return result["error"][:160]
    return f"{result['difference']:.1e}"


# the command ------------------------------------------------------------------------------------------------


def arguments(argv):
    """The options of the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", required=True, help="gpu, tpu, cpu, or another kind that JAX finds here")
    parser.add_argument("--parts", default=",".join(PARTS), help="comma-separated; default: all")
    parser.add_argument("--names", help="comma-separated ops, curves and workloads; default: all")
    parser.add_argument("--all-cases", action="store_true", help="every case of the op table")
    parser.add_argument("--limit", type=int, default=600, help="seconds that one op or workload may take")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each time is measured")
    parser.add_argument("--go-on", action="store_true", help="keep the results of an earlier run")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="file of the page")
    parser.add_argument("--fake", action="store_true", help="stand-ins on the CPU, to test this command")
    args = parser.parse_args(argv)
    args.parts = args.parts.split(",")
    if args.fake and (args.results == RESULTS or args.page == PAGE):
        parser.error("--fake: give --results and --page, too; stand-ins do not belong into the documentation")
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts: got {', '.join(sorted(unknown))}; allowed are {', '.join(PARTS)}")
    return args


def names_of(part, names, args, known):
    """What a part runs: all names, or those that the user wants, without what is known."""
    if args.names:
        names = [name for name in names if name in args.names.split(",")]
    return [name for name in names if (part, name) not in known]


def main(argv=None):
    args = arguments(argv)
    file = args.results / f"{args.device}.jsonl"
    about = facts(args)
    names = about.pop("names") | {"times": TIMED}
    earlier = []
    if args.go_on and file.exists():
        earlier = [json.loads(line) for line in file.read_text().splitlines()][1:]
    args.results.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(result) + "\n" for result in [about, *earlier]))

    def keep(result):
        with file.open("a") as lines:
            lines.write(json.dumps(result) + "\n")
        if result.get("wrong") or "error" in result:
            print(json.dumps(result), flush=True)

    known = {(result["part"], result["name"]) for result in earlier}
    for part in args.parts:
        left = names_of(part, names[part], args, known)
        print(f"{part}: {len(left)}", flush=True)
        if part != "times":
            run_part(part, left, args, keep)
        elif not args.fake:
            times(left, args, keep)
    args.page.write_text(page(args.results))


if __name__ == "__main__":
    main()
