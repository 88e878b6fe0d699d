"""Real API calls, compared with the real Paddle: values, dtypes, shapes, gradients, refusals.

The calls and their runner are in tests/data/conformance, or in the folder named by PADDLE_JAX_CONFORMANCE.
The real Paddle answers once; its answers are kept in the folder named by PADDLE_JAX_CONFORMANCE_CACHE, else
in pytest's cache, under a hash of the calls and the runner.

Judged are the calls of APIs that exist in paddle_jax. `floor.json` holds the least pass rate and the least
number of APIs; raise both as the package grows. What fails is written to failures.txt beside the answers.
"""

import collections
import hashlib
import importlib.util
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
WORKERS = 2


def data_folder(variable, name):
    """A folder of tests/data, or the one that a variable names."""
    return Path(os.environ.get(variable) or HERE.parent / "data" / name)


def content(file):
    """The bytes of a data file, which may be stored compressed."""
    packed = file.with_name(file.name + ".xz")
    return file.read_bytes() if file.is_file() else lzma.decompress(packed.read_bytes())


def cache_folder(folder, calls, config):
    """Where answers are kept; another set of calls or another runner has another folder."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py"))) + calls)
    base = os.environ.get("PADDLE_JAX_CONFORMANCE_CACHE")
    cache = (Path(base) if base else config.cache.mkdir("conformance")) / digest.hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def start(folder, module, sample, out):
    """One run of the calls in `sample` on `module`, in its own process; its messages go to a file
    beside the answers."""
    command = [sys.executable, folder / "run.py", "--module", module, "--sample", sample, "--out", out]
    # compiled as users have it, not as the other tests
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    with out.with_suffix(".log").open("w") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, cwd=out.parent, env=environment
        )


def finish(process, out):
    assert process.wait() == 0, out.with_suffix(".log").read_text()[-2000:]
    return out


def reference_answers(folder, calls, cache, scratch):
    """The real Paddle's answers, from the cache or by asking it now."""
    kept = cache / "reference.pkl"
    if not kept.exists():
        if importlib.util.find_spec("paddle") is None:
            pytest.skip(
                "the real Paddle is not installed and its answers are not in the cache: "
                "pip install 'paddle_jax[oracle]'"
            )
        sample, fresh = scratch / "calls.json", scratch / "reference.pkl"
        sample.write_bytes(calls)
        finish(start(folder, "paddle", sample, fresh), fresh)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_bytes(fresh.read_bytes())
        partial.replace(kept)
    return kept


def our_answers(folder, rows, scratch):
    """paddle_jax's answers by several processes. Calls of one API stay together, so that its
    kernels compile once."""
    shards = collections.defaultdict(list)
    for number, api in enumerate(sorted({row["api"] for row in rows})):
        shards[number % WORKERS] += [row for row in rows if row["api"] == api]
    running = []
    for number, shard in shards.items():
        sample, out = scratch / f"sample{number}.json", scratch / f"ours{number}.pkl"
        sample.write_text(json.dumps(shard))
        running.append((start(folder, "paddle_jax", sample, out), out))
    merged = scratch / "ours.pkl"  # an answer file is a plain sequence of records
    merged.write_bytes(b"".join(finish(process, out).read_bytes() for process, out in running))
    return merged


def _part(folder, name):
    """A module of the runner."""
    spec = importlib.util.spec_from_file_location(f"conformance_{name}", folder / f"{name}.py")
    part = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(part)
    return part


def existing_rows(folder, rows):
    """The calls whose API paddle_jax has, found as the runner finds it."""
    import paddle_jax

    runner = _part(folder, "run")
    there = {api: runner.lookup(paddle_jax, api) is not None for api in sorted({row["api"] for row in rows})}
    return [row for row in rows if there[row["api"]]]


def judge(folder, reference, ours, rows, scratch):
    """{id: (group, verdict, detail)} by the runner's own compare.py."""
    sample, verdicts = scratch / "existing.json", scratch / "verdicts.json"
    sample.write_text(json.dumps(rows))
    command = [sys.executable, folder / "compare.py", reference, ours, "--sample", sample, "--json", verdicts]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(verdicts.read_text())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pass_rate(tmp_path, request, record_property):
    folder = data_folder("PADDLE_JAX_CONFORMANCE", "conformance")
    calls = content(folder / "calls.json")
    cache = cache_folder(folder, calls, request.config)
    reference = reference_answers(folder, calls, cache, tmp_path)
    died = {
        key for key, answer in _part(folder, "store").load(reference).items() if answer["status"] == "crash"
    }
    rows = [row for row in existing_rows(folder, json.loads(calls)) if row["id"] not in died]
    verdicts = judge(folder, reference, our_answers(folder, rows, tmp_path), rows, tmp_path)

    call = {row["id"]: row["cfg"] for row in rows}
    failures = [
        f"[{group}/{verdict}] {call[key]} | {detail}"
        for key, (group, verdict, detail) in sorted(verdicts.items())
        if verdict != "pass"
    ]
    (cache / "failures.txt").write_text("\n".join(failures) + "\n")
    answered = [verdict == "pass" for group, verdict, _ in verdicts.values() if group != "refuse"]
    refused = [verdict == "pass" for group, verdict, _ in verdicts.values() if group == "refuse"]
    apis, rate = len({row["api"] for row in rows}), sum(answered) / len(answered)
    report = f"conformance: {apis} APIs, {sum(answered)} of {len(answered)} calls pass = {rate:.2%}, "
    report += f"{sum(refused)} of {len(refused)} bad calls refused"
    report += f"; {len(died)} calls that the real Paddle dies of on this CPU are left out" if died else ""
    record_property("summary", f"{report}; failures in {cache / 'failures.txt'}")

    floor = json.loads((HERE / "floor.json").read_text())
    assert rate >= floor["rate"], report + "\n" + "\n".join(failures[:40])
    assert apis >= floor["apis"], f"{report}: {floor['apis']} APIs were there before"
