"""The benchmark runner works from end to end, and every workload it names exists."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmarks are not part of the wheel")


def run(*command):
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.slow
def test_the_cost_of_recordings():
    done = run("benchmarks/profiler_overhead.py", "--rounds", "2", "--steps", "3")
    assert done.returncode == 0, done.stderr
    rows = [cells(line) for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == ["deferred", "off", "to_static"]
    assert all(row[1].endswith(" us") and row[3].endswith(" %") for row in rows)


@pytest.mark.slow
def test_one_workload_through_the_runner():
    done = run(
        "benchmarks/steps.py",
        "--only",
        "chain20",
        "--peers",
        "ours,off",
        "--rounds",
        "1",
        "--seconds",
        "0.01",
        "--memory",
    )
    assert done.returncode == 0, done.stderr
    lines = [cells(line) for line in done.stdout.splitlines() if line]
    assert lines[0] == ["workload", "ours", "off", "off/ours"]
    assert lines[2][0].startswith("20 operations")
    assert all(cell.endswith((" us", " ms")) for cell in lines[2][1:3])
    assert float(lines[2][3]) > 0
    assert lines[-1][0] == lines[2][0]
    assert "(" in lines[-1][1]


@pytest.mark.slow
def test_first_steps_and_profile():
    done = run("benchmarks/steps.py", "--only", "add", "--peers", "off", "--rounds", "1", "--first")
    assert done.returncode == 0, done.stderr
    assert len([cell for cell in cells(done.stdout.splitlines()[-1]) if cell.endswith("s")]) == 6
    done = run("benchmarks/profile_host.py", "add", "--steps", "2", "--sample")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("add: ")


@pytest.mark.slow
def test_fit():
    done = run("benchmarks/fit.py", "paddle_jax", "mlp", "--epochs", "1", "--batch-size", "1024")
    assert done.returncode == 0, done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "paddle_jax mlp fit",
        "paddle_jax mlp evaluate",
    ]


def test_paddle_has_every_workload_of_the_table():
    done = run(
        "-m",
        "paddle_jax",
        "-c",
        "import sys; sys.path.insert(0, 'benchmarks'); import paddle_work; print(*paddle_work.WORKLOADS)",
    )
    assert done.returncode == 0, done.stderr
    names = {name.partition("@")[0] for name in load("steps").LABELS}
    assert names == set(done.stdout.split())


def test_unknown_workload_is_refused():
    assert "no workload 'nothing'" in run("benchmarks/steps.py", "--only", "nothing").stderr


def test_the_loss_is_read_every_nth_step():
    measure = load("measure")
    read = []
    work = measure.Work(step=iter(range(100)).__next__, read=lambda value: read.append(value) or float(value))
    assert measure.run(work, 6, every=3)[1] == 5.0
    assert read == [2, 5]
