"""The compile cache on disk, and the bound on what a process keeps compiled.

Unit tests of `_core.process.compile_cache`.
"""

import os
import stat
import subprocess
import sys
import types

import jax
import pytest

from paddle_jax._core.process import compile_cache

PROGRAM = "import paddle_jax as paddle; print(float((paddle.ones([3]) * 2 + 1).sum()))"


def run(tmp_path, said="", program=PROGRAM, **env):
    """Runs a program with a cache root of its own, which says something in one line on stderr or nothing;
    returns the cached files."""
    names = {
        k: v for k, v in os.environ.items() if k not in (compile_cache.FLAG, "JAX_COMPILATION_CACHE_DIR")
    }
    names |= {"XDG_CACHE_HOME": str(tmp_path), "FLAGS_interpreter": "0", **env}
    done = subprocess.run(
        [sys.executable, "-c", program], env=names, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "9.0"
    assert done.stderr.count("\n") == (1 if said else 0) and said in done.stderr, done.stderr
    return {f.name for f in tmp_path.rglob("*-cache")}


@pytest.mark.slow
def test_a_second_process_finds_what_the_first_compiled(tmp_path):
    first = run(tmp_path)
    assert first
    assert run(tmp_path) == first


def test_a_later_process_of_a_job_writes_its_entries(tmp_path):
    """JAX writes those of the first process alone, and keys for CPUs differ by process."""
    later = "from jax._src import distributed; distributed.global_state.process_id = 1; "
    assert run(tmp_path, program=later + PROGRAM)


@pytest.mark.parametrize(
    ("process", "platform", "callbacks", "writer"),
    [
        (0, "cpu", ([],), "JAX"),
        (1, "gpu", ([],), "JAX"),
        (1, "cpu", ([],), "here"),
        (1, "cpu", ([print],), None),
        (0, "cpu", (), "JAX"),  # JAX 0.12 passes no list of functions
        (1, "cpu", (), "here"),
    ],
)
def test_who_writes_an_entry(monkeypatch, process, platform, callbacks, writer):
    writers = []
    monkeypatch.setattr(compile_cache.distributed.global_state, "process_id", process)
    monkeypatch.setattr(compile_cache, "_write_entry", lambda *entry: writers.append("JAX"))
    monkeypatch.setattr(
        compile_cache.compilation_cache, "put_executable_and_time", lambda *entry: writers.append("here")
    )
    backend = types.SimpleNamespace(platform=platform)
    compile_cache.write_entry("key", 1.5, "name", backend, None, *callbacks)
    assert writers == ([writer] if writer else [])


def test_switched_off(tmp_path):
    assert not run(tmp_path, FLAGS_compile_cache="off")


def test_a_folder_of_the_users_choice(tmp_path):
    chosen = tmp_path / "chosen"
    assert {f.name for f in chosen.rglob("*-cache")} <= run(tmp_path, FLAGS_compile_cache=str(chosen))
    assert any(chosen.iterdir())


def test_the_directory_is_the_users_alone(tmp_path):
    """Also where the umask lets a group write."""
    before = os.umask(0o002)
    try:
        assert run(tmp_path / "root")
    finally:
        os.umask(before)
    made = [p for p in (tmp_path / "root").rglob("*") if p.is_dir()]
    assert made and all(stat.S_IMODE(p.stat().st_mode) == 0o700 for p in made)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_directory_that_others_may_write_is_refused(tmp_path, mode):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    chosen.chmod(mode)
    assert not run(
        tmp_path, said=f"{chosen} is not used: others may write it", FLAGS_compile_cache=str(chosen)
    )
    assert stat.S_IMODE(chosen.stat().st_mode) == mode


def test_a_directory_that_others_may_read_is_used(tmp_path):
    chosen = tmp_path / "chosen"
    chosen.mkdir(mode=0o755)
    assert run(tmp_path, FLAGS_compile_cache=str(chosen))


def test_a_directory_of_another_owner_is_refused(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    monkeypatch.setenv(compile_cache.FLAG, str(tmp_path))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    before = jax.config.jax_compilation_cache_dir
    compile_cache.start()
    assert jax.config.jax_compilation_cache_dir == before
    assert [r.getMessage() for r in caplog.records if "belongs to another user" in r.getMessage()]


def test_pruning_drops_the_oldest(tmp_path):
    for age, name in enumerate(["new", "old", "oldest"]):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    compile_cache.prune(tmp_path, limit=250)
    assert {f.name for f in tmp_path.iterdir()} == {"new", "old"}
    compile_cache.prune(tmp_path / "absent", limit=0)
