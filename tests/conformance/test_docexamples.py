"""The examples in the documentation of the real Paddle: do they run here, and print the same?

The text is Paddle's: it is taken from the installed package into a temporary folder when the test runs. The
programs that do it are in tests/data/docexamples, or in the folder named by PADDLE_JAX_DOCEXAMPLES;
`stable.json` there says which outputs of which example are the same in every run (found by running the real
Paddle twice with different seeds). Judged are the packages that exist here; `floor.json` holds the least
numbers. An example that asks for a name that is absent here counts as missing, everything else must run. What
fails is written to failures.txt.
"""

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paddle_jax
from tests import recorded
from tests.conformance.test_conformance import content, data_folder
from tests.cpu import no_avx512

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 2
CHUNK = 350  # examples for a process that imports paddle_jax; each runs in a fork of it
SLOW = ("paddle.vision", "paddle.distributed")  # large networks; what several machines do
# the real Paddle says no without AVX-512, where XLA computes in bfloat16 nevertheless
ABOUT_THE_CPU = ("paddle.amp.is_bfloat16_supported#0",)
ABSENT = re.compile(r"has no attribute|cannot import name|No module named|is not defined")


def python(lab, script, *arguments, **environment):
    """Runs one of the programs with the laboratory folder that they share."""
    more = {
        "CHECK_LAB": str(lab),
        "CHECK_PYTHON": sys.executable,
        "CHECK_PATH": str(ROOT),
        "CHECK_NO_CACHE": "1",
        **environment,
    }
    command = [sys.executable, "-W", "ignore", str(script), *arguments]
    done = subprocess.run(
        command, cwd=lab, env=os.environ | more, capture_output=True, text=True, timeout=1500, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def exists(namespace):
    owner = paddle_jax
    for part in namespace.split(".")[1:]:
        owner = getattr(owner, part, None)
    return owner is not None


def records(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def chosen(blocks, stable):
    """The examples that are judged where their names exist."""
    left_out = ABOUT_THE_CPU if no_avx512() else ()
    return [
        block
        for block in blocks
        if block["id"] in stable and block["id"] not in left_out and not block["ns"].startswith(SLOW)
    ]


def write_blocks(home, blocks):
    """Leaves examples where the programs look for them."""
    (home / "blocks.jsonl").write_text("".join(json.dumps(block) + "\n" for block in blocks))


def reference_answers(folder, lab, home):
    """{id: what the real Paddle prints}, from the record or by asking it now.

    `paddle.jsonl` holds the same afterwards: the programs run what the real Paddle ran.
    """
    answers = home / "paddle.jsonl"

    def ask():
        python(lab, folder / "run.py", "--label", "paddle", "--jobs", str(WORKERS))
        return {r["id"]: {"status": r["status"], "outs": r["outs"]} for r in records(answers)}

    key = recorded.key_of([home / "blocks.jsonl", *sorted(folder.glob("*.py"))])
    found = recorded.texts("docexamples", key, ask)
    answers.write_text("".join(json.dumps({"id": name, **answer}) + "\n" for name, answer in found.items()))
    return found


def judged(folder, blocks, stable, theirs, ours):
    """[(id, verdict, detail)]: the verdict is "same", "runs" (nothing to compare), "differs",
    "missing" or "fails"."""
    spec = importlib.util.spec_from_file_location("docexamples_run", folder / "run.py")
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    for block in blocks:
        got, want, outputs = ours.get(block["id"]), theirs[block["id"]], stable[block["id"]]
        if got is None or want["status"] != "ok":
            yield block["id"], "runs" if got is None else "unknown", "the real Paddle did not run it"
        elif got["status"] != "ok":
            yield (
                block["id"],
                "missing" if ABSENT.search(got["err"]) else "fails",
                f"{got['kind']}: {got['err']}",
            )
        else:
            wrong = [at for at in outputs if not runner.same(want["outs"][at], got["outs"][at])]
            yield block["id"], "differs" if wrong else "same" if outputs else "runs", f"outputs {wrong}"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="not installed: paddle")
def test_run_and_print_the_same(tmp_path, request, record_property, monkeypatch):
    folder, home = data_folder("PADDLE_JAX_DOCEXAMPLES", "docexamples"), tmp_path / "docexamples"
    stable = json.loads(content(ROOT / "tests" / "data" / "docexamples" / "stable.json"))
    monkeypatch.setenv("CHECK_LAB", str(tmp_path))
    monkeypatch.syspath_prepend(str(folder))
    python(tmp_path, folder / "extract.py")
    blocks = chosen(records(home / "blocks.jsonl"), stable)
    write_blocks(home, blocks)
    theirs = reference_answers(folder, tmp_path, home)
    blocks = [block for block in blocks if exists(block["ns"])]
    write_blocks(home, blocks)
    options = ["--fresh", "--jobs", str(WORKERS), "--chunk", str(CHUNK)]
    python(tmp_path, folder / "run.py", *options, CHECK_CANDIDATE="paddle_jax")

    ours = {r["id"]: r for r in records(home / "paddle_jax.jsonl")}
    found = list(judged(folder, blocks, stable, theirs, ours))
    count = {
        verdict: sum(v == verdict for _, v, _ in found)
        for verdict in ("same", "runs", "differs", "missing", "fails")
    }
    bad = [
        f"{verdict}: {name} | {detail}"
        for name, verdict, detail in found
        if verdict in ("differs", "missing", "fails")
    ]
    failures = request.config.cache.mkdir("docexamples") / "failures.txt"
    failures.write_text("\n".join(bad) + "\n")
    ran = count["same"] + count["runs"] + count["differs"]
    runs, matches = ran / (ran + count["fails"]), count["same"] / (count["same"] + count["differs"])
    report = (
        f"documented examples: {ran} run = {runs:.2%} of those whose names exist "
        f"({count['missing']} need others), "
    )
    report += f"{count['same']} print the same = {matches:.2%}"
    record_property("summary", f"{report}; failures in {failures}")

    floor = json.loads((Path(__file__).parent / "floor.json").read_text())["docexamples"]
    assert ran >= floor["run"] and runs >= floor["runs"] and matches >= floor["matches"], (
        report + "\n" + "\n".join(bad[:60])
    )
