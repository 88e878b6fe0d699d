"""`paddle_jax.metrics`: what is counted, and who may ask.

Unit tests of `_core.process.metrics`.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

from paddle_jax import metrics
from paddle_jax._core.process.metrics import _Endpoint


def grown(before, after):
    """What has been added to each number, by its path."""
    if isinstance(after, dict):
        return {key: grown(before.get(key, {}), value) for key, value in after.items()}
    return after - before if isinstance(after, int | float) and isinstance(before, int | float) else after


@pytest.fixture
def counted():
    """A function that gives what has been counted since the test began."""
    before = metrics.snapshot()
    return lambda: grown(before, metrics.snapshot())


def net_and_step(paddle):
    net = paddle.nn.Linear(3, 1)
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def step(x):
        loss = net(x).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


@pytest.mark.parametrize("compiled", [False, True])
def test_steps(compiled, paddle, counted):
    step = net_and_step(paddle)
    run = paddle.jit.to_static(step) if compiled else step
    for _ in range(7):
        run(paddle.ones([2, 3]))
    assert counted()["steps"] == 7
    if compiled:
        assert counted()["compile"]["to_static"]["count"] == 1
        assert counted()["compile"]["to_static"]["seconds"] > 0


def test_steps_of_static_programs(paddle, counted):
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [2, 3])
            loss = paddle.static.nn.fc(x, 1).mean()
            forward = main.clone(for_test=True)
            paddle.optimizer.SGD(0.1).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        for program, runs in ((main, 3), (forward, 4)):
            for _ in range(runs):
                exe.run(program, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[loss])
    finally:
        paddle.disable_static()
    assert counted()["steps"] == 3
    assert counted()["compile"]["executor"]["count"] >= 2


def test_compiling_of_recurring_operations(paddle, counted):
    paddle.set_flags({"FLAGS_deferred_min_repeats": 2})
    for _ in range(4):
        (paddle.tanh(paddle.ones([5, 7])) * 2 + 1).sum().item()
    assert counted()["compile"]["segment"]["count"] == 1
    assert counted()["operations"]["compiled_segments"] == 2  # those that find a program
    first = metrics.snapshot()["operations"]["segments"]
    paddle.to_tensor(1.0).add(paddle.to_tensor(1.0))
    import paddle_jax

    paddle_jax.explain(reset=True)
    assert metrics.snapshot()["operations"]["segments"] >= first  # counters only go up


def test_waiting_for_data(paddle, counted):
    class Slow(paddle.io.Dataset):
        def __getitem__(self, index):
            time.sleep(0.02)  # planted
            return np.zeros(2, "float32")

        def __len__(self):
            return 6

    for _ in paddle.io.DataLoader(Slow(), batch_size=2):
        pass
    assert counted()["data"]["batches"] == 3
    assert counted()["data"]["wait_seconds"] >= 0.12


def test_a_file(tmp_path, paddle):
    metrics.write(tmp_path / "numbers.json")
    found = json.loads((tmp_path / "numbers.json").read_text())
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.json"]
    assert found.keys() == metrics.snapshot().keys()
    assert found["memory"]["process"] > 1e6


def scraped(port, address="127.0.0.1"):
    parser = pytest.importorskip("prometheus_client.parser")
    with urllib.request.urlopen(f"http://{address}:{port}/metrics", timeout=20) as reply:
        text = reply.read().decode()
    return {
        (s.name, *s.labels.values()): s.value
        for f in parser.text_string_to_metric_families(text)
        for s in f.samples
    }


def test_prometheus_reads_the_same_numbers(paddle):
    pytest.importorskip("prometheus_client")
    net_and_step(paddle)(paddle.ones([2, 3]))
    port = metrics.start()
    try:
        found, known = scraped(port), metrics.snapshot()
        assert _Endpoint.server.server_address[0] == "127.0.0.1"
        with pytest.raises(RuntimeError, match=str(port)):
            metrics.start()
    finally:
        metrics.stop()
    assert found["paddle_steps_total",] == known["steps"] > 0
    assert found["paddle_gpu_malloc_failed_total",] == known["malloc_failed"]
    assert found["paddle_data_wait_seconds_total",] == known["data"]["wait_seconds"]
    assert found["paddle_collective_wait_seconds_total",] == known["collectives"]["wait_seconds"]
    for tier in ("operation", "segment", "to_static", "executor", "optimizer"):
        assert found["paddle_compiles_total", tier] == known["compile"][tier]["count"]
        assert found["paddle_compile_seconds_total", tier] == known["compile"][tier]["seconds"]
    assert found["paddle_process_memory_bytes",] > 0
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ImportError, match=r"pip install 'paddle_jax\[metrics\]'"):
        metrics.start()
    assert metrics.snapshot()["steps"] >= 0


def test_the_flag(paddle):
    pytest.importorskip("prometheus_client")
    port = metrics.start()  # one that is free
    metrics.stop()
    paddle.set_flags({"FLAGS_metrics_port": port})
    try:
        assert ("paddle_steps_total",) in scraped(port)
    finally:
        paddle.set_flags({"FLAGS_metrics_port": 0})
    assert _Endpoint.server is None


CODE = """
import threading
import paddle_jax
from paddle_jax import io
from paddle_jax._core.process.metrics import _Endpoint
print(_Endpoint.server and _Endpoint.server.server_address[0], [t.name for t in threading.enumerate()])
for batch in io.DataLoader([1.0, 2.0], num_workers=1):  # its processes must not want the port, too
    batch.item()
"""


@pytest.mark.parametrize("flag", [None, "used", "taken"])
def test_the_environment(flag, paddle):
    pytest.importorskip("prometheus_client")
    port = metrics.start()
    if flag != "taken":
        metrics.stop()
    try:
        env = os.environ | ({} if flag is None else {"FLAGS_metrics_port": str(port)})
        done = subprocess.run(
            [sys.executable, "-c", CODE], env=env, capture_output=True, text=True, timeout=100, check=False
        )
    finally:
        metrics.stop()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("127.0.0.1" if flag == "used" else "None ['MainThread']")
    assert (f"FLAGS_metrics_port={port}: no metrics" in done.stderr) is (flag == "taken")
