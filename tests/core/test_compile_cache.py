"""The compile cache on disk, and the bound on what a process keeps compiled."""

import os
import subprocess
import sys

import pytest

from paddle_jax._core import compile_cache

PROGRAM = "import paddle_jax as paddle; print(float((paddle.ones([3]) * 2 + 1).sum()))"


def run(tmp_path, **env):
    """Runs a program with a cache root of its own; returns the cached files."""
    names = {k: v for k, v in os.environ.items() if k not in (compile_cache.FLAG, "JAX_COMPILATION_CACHE_DIR")}
    names |= {"XDG_CACHE_HOME": str(tmp_path), **env}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=names, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "9.0"
    return {f.name for f in tmp_path.rglob("*-cache")}


@pytest.mark.slow
def test_a_second_process_finds_what_the_first_compiled(tmp_path):
    first = run(tmp_path)
    assert first
    assert run(tmp_path) == first


def test_switched_off(tmp_path):
    assert not run(tmp_path, FLAGS_compile_cache="off")


def test_a_folder_of_the_users_choice(tmp_path):
    chosen = tmp_path / "chosen"
    assert {f.name for f in chosen.rglob("*-cache")} <= run(tmp_path, FLAGS_compile_cache=str(chosen))
    assert any(chosen.iterdir())


def test_pruning_drops_the_oldest(tmp_path):
    for age, name in enumerate(["new", "old", "oldest"]):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    compile_cache.prune(tmp_path, limit=250)
    assert {f.name for f in tmp_path.iterdir()} == {"new", "old"}
    compile_cache.prune(tmp_path / "absent", limit=0)


def test_compiled_code_is_bounded(paddle, monkeypatch):
    """A program that meets new shapes again and again drops old code instead of growing without end, and stays right."""
    from paddle_jax._core.deferred import segment

    monkeypatch.setattr(segment, "_MAX_KNOWN", 20)
    before = paddle.explain().events[-1:]
    for n in range(1, 40):
        assert float((paddle.ones([n]) * 3).sum()) == 3 * n
    assert any("dropped" in event for event in paddle.explain().events)
    assert paddle.explain().events[-1:] != before
