"""Writes docs/platforms.md: which ops compile for which platform, forward and with gradients.

    python tools/platform_table.py                 compiles all ops and writes the page
    python tools/platform_table.py NAME ...        only prints these ops
    python tools/platform_table.py --keep FILE     a run that was interrupted goes on from this file

The compilers for GPUs and TPUs must be installed (docs/aot.md). Each op is compiled with one of its cases,
one of complex numbers and one of float64, as far as it has them.
"""

import argparse
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("FLAGS_compile_cache", "off")
HOME = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HOME))

from paddle_jax._core.ops.op import OPS  # noqa: E402
from tests.aot import op_cases  # noqa: E402

PAGE = HOME / "docs/platforms.md"
TARGETS = {"cuda": "h100", "rocm": "rocm", "tpu": "v5e"}


def results_of(name):
    """{case: {platform: [forward, gradient]}} of an op."""
    found = {}
    for case, tensors, flows in op_cases.cases_of(name):
        found[case] = {
            platform: op_cases.check(name, case, tensors, flows, target)
            for platform, target in TARGETS.items()
        }
    return found


def all_results(names, keep):
    """{op: results}, with those of an interrupted run."""
    known = {}
    if keep is not None and keep.exists():
        known = dict(json.loads(line) for line in keep.read_text().splitlines())
    for name in names:
        if name in known:
            continue
        known[name] = results_of(name)
        if keep is not None:
            with keep.open("a") as file:
                file.write(json.dumps([name, known[name]]) + "\n")
        for case, platforms in known[name].items():
            for platform, verdicts in platforms.items():
                bad = [v for v in verdicts if v not in ("", op_cases.YES, op_cases.EAGER)]
                if bad:
                    print(f"{name}({case}) on {platform}: {bad}", flush=True)
    return known


def cells(verdicts):
    """What the page says of the cases of an op on a platform: [forward, gradient]."""
    said = []
    for place in range(2):
        found = [pair[place] for pair in verdicts if pair[place]]
        bad = [text for text in found if text not in (op_cases.YES, op_cases.EAGER)]
        if bad:
            said.append("**no**")
        elif op_cases.EAGER in found:
            said.append(op_cases.EAGER)
        else:
            said.append(op_cases.YES if found else "")
    return said


def page(results):
    """The text of docs/platforms.md."""
    rows = []
    problems = []
    for name, cases in sorted(results.items()):
        row = [name]
        for platform in TARGETS:
            row += cells([platforms[platform] for platforms in cases.values()])
        rows.append(row)
        for case, platforms in cases.items():
            for platform, verdicts in platforms.items():
                bad = [v for v in verdicts if v not in ("", op_cases.YES, op_cases.EAGER)]
                if bad:
                    text = bad[0].replace("|", "\\|")[:160]
                    problems.append(f"| `{name}({case})` | {platform} | {text} |".replace("||", "|"))
    counts = [
        f"{sum(row[k] not in ('**no**', '') for row in rows)} of {sum(row[k] != '' for row in rows)}"
        for k in range(1, 7)
    ]
    head = "| op | cuda | gradient | rocm | gradient | tpu | gradient |"
    rule = "| --- | --- | --- | --- | --- | --- | --- |"
    lines = [INTRO.format(done=len(rows), ops=len(OPS)), head.replace("op", ""), rule]
    lines += [f"| ops | {' | '.join(counts)} |", "", "## What does not compile", ""]
    lines += ["| case | platform | why |", "| --- | --- | --- |", *problems]
    lines += ["", "## The ops", "", head, rule, *[f"| {' | '.join(row)} |" for row in rows]]
    return "\n".join(lines) + "\n"


INTRO = """# Ops on each platform

The tables show which ops compile for each platform, forward and with gradients. The command needs no device:

    python tools/platform_table.py --keep FILE

It compiles the ops for an H100 (cuda) and a TPU v5e (tpu), and lowers them for ROCm, with the compilers of
[aot.md](aot.md). {done} of {ops} ops were compiled. Each has one case of the op table, one of complex numbers
and one of float64, as far as it has them. On a CPU the tests run all cases. *eager*: the op needs values on
the host, so it runs outside of compiled programs. On a TPU a few run on the host within compiled programs
([which](aot.md#what-a-platform-lacks)).
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only-page", action="store_true", help="write the page of what FILE has")
    options = parser.parse_args()
    start = time.perf_counter()
    names = [] if options.only_page else options.names or sorted(OPS)
    results = all_results(names, options.keep)
    if not options.names:
        PAGE.write_text(page(results))
    print(f"{len(results)} ops, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
