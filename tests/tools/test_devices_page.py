"""The command that checks a device and writes docs/devices.md, with stand-ins for GPUs."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are not part of the wheel"
)


def run(*options):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.devices", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def devices(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import devices

    return devices


@pytest.mark.slow
def test_a_run_with_stand_ins(tmp_path):
    page = tmp_path / "page.md"
    options = ["--device", "gpu", "--fake", "--results", tmp_path, "--page", page]
    done = run(*options, "--names", "abs,eig,causal,mlp")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "gpu.jsonl").read_text().splitlines()]
    assert [(line["part"], line["name"]) for line in lines] == [
        ("facts", "facts"),
        ("ops", "abs"),
        ("ops", "eig"),
        ("kernels", "causal"),
        ("curves", "mlp"),
        ("curves_static", "mlp"),
    ]
    assert "2 of 2 ops agree with the CPU (6 cases)." in page.read_text()
    # what is known is not run again
    again = run(*options, "--names", "abs,eig", "--parts", "ops", "--go-on")
    assert again.stdout == "ops: 0\n"
    assert "2 of 2 ops agree" in page.read_text()


def test_a_device_that_is_not_there():
    done = run("--device", "tpu")
    assert done.returncode == 1
    assert "JAX finds cpu here" in done.stderr
    assert done.stderr.count("\n") == 1


def test_refused_options():
    assert "--results and --page" in run("--device", "gpu", "--fake").stderr
    assert "allowed are ops, kernels" in run("--device", "cpu", "--parts", "all").stderr


def test_an_op_that_ends_the_process_costs_that_op(devices, monkeypatch):
    class Child:
        def __init__(self, device, part, names, args):
            self.names = list(names)

        def results(self, limit):
            for name in self.names:
                if name == "bad":
                    yield "the process ended with status -11: "
                    return
                yield {"name": name, "cases": 1, "wrong": []}

        def stop(self):
            pass

    monkeypatch.setattr(devices, "Child", Child)
    found = []
    args = argparse.Namespace(device="gpu", limit=1)
    devices.run_part("ops", ["first", "bad", "last"], args, found.append)
    assert [result["name"] for result in found] == ["first", "bad", "last"]
    assert devices.op_lines(found)[0] == "2 of 3 ops agree with the CPU (2 cases)."
    assert "| `bad()` | the process ended with status -11:" in "\n".join(devices.op_lines(found))


def test_a_child_that_hangs_is_ended(devices, monkeypatch):
    program = 'import time; print(\'{"name": "a"}\', flush=True); time.sleep(60)'
    real = subprocess.Popen
    monkeypatch.setattr(
        devices.subprocess, "Popen", lambda command, **how: real([sys.executable, "-c", program], **how)
    )
    child = devices.Child("cpu", "ops", ["a", "b"], argparse.Namespace(fake=False, all_cases=False))
    assert list(child.results(2)) == [{"name": "a"}, "took more than 2 s"]
    child.stop()
    assert child.process.poll() is not None
