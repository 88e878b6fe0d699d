"""Jobs on a Ray cluster: a real one, of this machine alone."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.distributed import pairs
from tests.distributed.test_elastic import WAITING

pytest.importorskip("ray")
pytestmark = pytest.mark.slow
SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "PADDLE_ELASTIC_TTL": "3"}


def ray_command(*words):
    command = pathlib.Path(sys.executable).parent / "ray"
    return subprocess.run([command, *words], capture_output=True, text=True, timeout=120, check=True)


@pytest.fixture(scope="module")
def cluster():
    """The address of a Ray cluster."""
    port = pairs.free_port()
    words = ["--head", "--num-cpus", "4", "--include-dashboard=false", "--disable-usage-stats"]
    ray_command("start", *words, "--port", str(port))
    yield f"127.0.0.1:{port}"
    ray_command("stop", "--force")


def start(folder, cluster, *words, options=()):
    script = folder / "waiting.py"
    script.write_text(WAITING)
    command = [sys.executable, "-m", "paddle_jax.distributed.launch", "--cluster", "ray", "--nnodes", "2"]
    command += ["--nproc_per_node", "1", "--log_dir", str(folder), *options]
    with (folder / "out").open("wb") as out:
        return subprocess.Popen(
            [*command, str(script), str(folder / "over"), *words],
            env=pairs.environment(RAY_ADDRESS=cluster, **SETTINGS),
            stdout=out,
            stderr=subprocess.STDOUT,
        )


def await_text(folder, text, process, seconds=60):
    limit = time.monotonic() + seconds
    while text not in (found := "".join(log.read_text() for log in folder.glob("machine*/workerlog.0"))):
        assert process.poll() is None and time.monotonic() < limit, (folder / "out").read_text()
        time.sleep(0.1)
    return found


def shown_actor(folder, seconds=30):
    """The process id of an actor. Ray hands on what an actor prints a little later."""
    limit = time.monotonic() + seconds
    while (found := re.search(r"Machine pid=(\d+)", (folder / "out").read_text())) is None:
        assert time.monotonic() < limit, (folder / "out").read_text()
        time.sleep(0.1)
    return int(found[1])


def test_a_failure_is_the_exit_status(tmp_path, cluster):
    process = start(tmp_path, cluster, "1", "7", "1")
    assert process.wait(60) == 7, (tmp_path / "out").read_text()
    assert "rank 1" in (tmp_path / "out").read_text()


def test_ray_starts_a_lost_machine_again(tmp_path, cluster):
    process = start(tmp_path, cluster, options=("--elastic_level", "1"))
    await_text(tmp_path, "of 2, restart 0", process)
    os.kill(shown_actor(tmp_path), signal.SIGKILL)
    text = await_text(tmp_path, "of 2, restart 1", process)
    (tmp_path / "over").touch()
    assert process.wait(60) == 0, (tmp_path / "out").read_text()
    assert "rank 0 of 2, restart 1" in text or "rank 1 of 2, restart 1" in text


def test_there_is_no_cluster(tmp_path):
    process = start(tmp_path, f"127.0.0.1:{pairs.free_port()}")
    assert process.wait(60) == 1
    assert "no Ray cluster answers" in (tmp_path / "out").read_text()
