"""What a process knows about the segments of earlier processes.

Unit tests of `_core.runner`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from paddle_jax._core.runner import background_compiler, compile_history
from paddle_jax._core.runner.compile_history import EarlierRuns
from paddle_jax._core.runner.run_times import Times

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
import numpy as np
import paddle_jax as paddle
from paddle_jax._core.runner import background_compiler, compiled_segment

weight = paddle.ones([64, 64])
for _ in range(int(sys.argv[1])):
    h = paddle.ones([64, 64])
    for _ in range(8):
        h = paddle.tanh(h @ weight)
    h.numpy()
background_compiler._worker.submit(int).wait()
names = [name for name, _ in compiled_segment._Cache.histories.values()]
thresholds = [t for t in compiled_segment._Cache.thresholds.values() if t < 1e5]
print(json.dumps([names, thresholds, paddle.explain().compiles, paddle.explain().hits]))
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The cache directory of this process."""
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)


def run(folder, steps, **settings):
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "FLAGS_compile_cache": str(folder),
        "FLAGS_deferred_background": "1",
        "PYTHONHASHSEED": "random",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(steps)],
        capture_output=True,
        text=True,
        env=environment | settings,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(background_compiler.processors() < 2, reason="needs a second processor")
def test_runs_of_earlier_processes_count(tmp_path):
    tmp_path.chmod(0o700)
    (name,), (first,), compiled, _ = run(tmp_path, 20)
    file = tmp_path / f"segment-{name}"
    assert compiled == 0 and file.read_text() == "20"
    (same_name,), (second,), compiled, _ = run(tmp_path, 30)
    assert same_name == name and second == first - 20 and compiled == 0
    assert file.read_text() == "50"
    # at the same step in each run
    (alone,) = run(tmp_path, 20, FLAGS_deferred_background="0")[1]
    assert alone == first and file.read_text() == "50"
    file.write_text(str(int(first)))
    assert run(tmp_path, 20)[1:3] == [[2], 1]
    # the number of runs, and the times of those that were measured
    assert re.fullmatch(r"compiled 20 [1-9]\d* [1-9]\d* \d+ 0", file.read_text())
    # by the estimate 20 runs do not pay for loading the program, ten times those before the first compilation
    # do
    file.write_text("compiled 20")
    (loaded,) = run(tmp_path, 9)[1]
    assert 2 < loaded < first and file.read_text().startswith("compiled 9 ")
    file.write_text(f"compiled {int(10 * first)}")
    assert run(tmp_path, 20)[1:3] == [[1], 1]
    measured = file.read_text().split()
    assert measured[:2] == ["compiled", "20"] and int(measured[-1]) > 0

    # 1000 runs save 0.05 s of 0.05, 2000 runs save 0.1 s
    file.write_text("compiled 1000 100 150 100 50000")
    assert run(tmp_path, 9)[1:] == [[1001], 0, 0]
    file.write_text("compiled 2000 100 150 100 50000")
    assert run(tmp_path, 9)[1:3] == [[1], 1]
    # A run in NumPy takes longer than loading, so the first run waits for the program.
    file.write_text("compiled 2000 90000 150000 100 50000")
    assert run(tmp_path, 9)[1:] == [[1], 1, 9]


SCRIPT = """
import sys
import paddle

weight = paddle.ones([32, 32])
for _ in range(40):
    h = weight
    for _ in range(6):
        h = paddle.tanh(h @ weight)
    h.numpy()
print("result", float(h[0, 0]), sys.argv[1:])
"""


def run_warm(tmp_path, *arguments, cache="cache"):
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "FLAGS_compile_cache": cache if cache == "off" else str(tmp_path / cache),
        "FLAGS_deferred_background": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "paddle_jax", "warm", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(background_compiler.processors() < 2, reason="needs a second processor")
def test_the_command_fills_the_cache(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run_warm(tmp_path, "script.py", "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "result 1.0 ['--epochs', '2']\n"
    assert "1 programs in" in done.stderr
    files = list((tmp_path / "cache").iterdir())
    (history,) = [file for file in files if file.name.startswith("segment-")]
    assert history.read_text().startswith("compiled 40 ")
    assert len(files) > 1  # and JAX's entry


@pytest.mark.parametrize(
    "arguments, cache, message",
    [
        ([], "cache", "got []; give the path of a script"),
        (["nowhere.py"], "cache", "got ['nowhere.py']; give the path of a script"),
        (["script.py"], "off", "there is no cache to fill; set FLAGS_compile_cache"),
    ],
)
def test_wrong_usage_of_the_command(tmp_path, arguments, cache, message):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run_warm(tmp_path, *arguments, cache=cache)
    assert done.returncode == 2 and message in done.stderr and not done.stdout


@pytest.mark.parametrize(
    "text, runs, has_program",
    [
        ("7", 7, False),
        ("compiled", 0, True),
        ("compiled 300", 300, True),
        ("compiled -3", 0, False),
        ("compiled 3 4", 0, False),
        ("compiled 300 1 2 3 4", 300, True),
        ("compiled 300 1 2 3 4 5", 0, False),
        ("compiled 300 1 2 3 -4", 0, False),
        ("300 1 2 3 4", 0, False),
        ("7 compiled", 0, False),
        ("", 0, False),
        ("-3", 0, False),
        ("1e9", 0, False),
        ("9" * 40, 0, False),
        ("\udcff", 0, False),
    ],
)
def test_files_of_others_do_no_harm(cache, text, runs, has_program):
    (cache / "segment-abc").write_bytes(text.encode(errors="surrogateescape"))
    assert compile_history.earlier_runs("abc")[:2] == (runs, has_program)


def test_times_keep_their_units(cache):
    times = Times(0.25, 0.5, 0.125, 1.5)
    compile_history.write_runs([("abc", EarlierRuns(300, True, times))])
    assert compile_history.earlier_runs("abc") == (300, True, pytest.approx(times))
    assert (cache / "segment-abc").read_text() == "compiled 300 250000 500000 125000 1500000"


def test_a_compiled_program_keeps_the_number_of_its_runs(cache):
    compile_history.write_runs([("abc", EarlierRuns(300, True))])
    compile_history.mark_compiled("abc")
    assert compile_history.earlier_runs("abc")[:2] == (300, True)


def test_only_frequent_segments_have_files(cache):
    compile_history.write_runs([(f"s{n}", EarlierRuns(n)) for n in range(1000)])
    files = sorted(cache.iterdir())
    assert len(files) == 64 and all(int(file.read_text()) >= 936 for file in files)
    compile_history.write_runs([("rare", EarlierRuns(7))])
    assert not (cache / "segment-rare").exists()


def test_without_a_directory_nothing_is_written(cache):
    jax.config.update("jax_compilation_cache_dir", str(cache / "gone"))
    compile_history.mark_compiled("abc")
    jax.config.update("jax_compilation_cache_dir", None)
    compile_history.mark_compiled("abc")
    assert not list(cache.iterdir()) and compile_history.earlier_runs("abc")[:2] == (0, False)
