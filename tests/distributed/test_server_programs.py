"""Programs with parameter servers: static ones against servers that are threads of this process, and whole
jobs by the launcher."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.ps.runtime import Runtime
from paddle_jax.distributed.ps.server import TableServer
from paddle_jax.distributed.ps.table_settings import with_settings
from paddle_jax.distributed.ps.table_spec import TableSpec
from tests.distributed import pairs
from tests.distributed.programs import servers as program

TOKEN = "secret"
SECONDS = 20  # that a server may take to end
LONGEST = 120  # seconds that a job may take

# static programs --------------------------------------------------------------------------------------------


@pytest.fixture
def one_worker(monkeypatch):
    """A worker of a job whose two servers are threads of this process; gives the servers."""
    monkeypatch.setenv("PADDLE_JOB_TOKEN", TOKEN)
    endpoints = [f"127.0.0.1:{pairs.free_port()}" for _ in range(2)]
    servers = [TableServer(number, endpoints, 1, TOKEN, None) for number in range(2)]
    threads = [threading.Thread(target=server.run, daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    role = fleet.UserDefinedRoleMaker(
        role=fleet.Role.WORKER, current_id=0, worker_num=1, server_endpoints=endpoints
    )
    paddle.enable_static()
    main = paddle.static.Program()
    startup = paddle.static.Program()
    try:
        with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
            fleet.init(role)
            yield servers
            fleet.stop_worker()
            for thread in threads:
                thread.join(SECONDS)
    finally:
        paddle.disable_static()
        fleet.init(is_collective=True)
        for server in servers:
            server.stop()


def begin(loss, a_sync=True, rate=0.1):
    """Adds the training of a loss, and connects; returns the Executor."""
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = a_sync
    with pytest.raises(RuntimeError, match="fleet.distributed_optimizer"):
        paddle.optimizer.SGD(rate).minimize(loss)
    fleet.distributed_optimizer(paddle.optimizer.SGD(rate), strategy).minimize(loss)
    exe = paddle.static.Executor()
    with pytest.raises(RuntimeError, match="startup program|call fleet.init_worker"):
        fleet.init_worker() if paddle.static.default_main_program().all_parameters() else exe.run()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    return exe


def constant(value, name=None, rate=1.0):
    initializer = paddle.nn.initializer.Constant(value)
    return paddle.ParamAttr(name=name, initializer=initializer, learning_rate=rate)


def rows_of(servers, ids):
    """Rows of the only sparse table, as the servers have them."""
    fleet.fleet.util.barrier()  # sends what is held back
    table = Current.servers.tables["table"]
    return Current.servers.worker.pull(table.number, np.array(ids), None)


def test_lookups_of_one_table(one_worker):
    """Two lookups, one of ids that the program computes, padding, a factor of the learning rate."""
    ids = paddle.static.data("ids", [None, 2], "int64")
    first = paddle.static.nn.embedding(
        ids, [50, 3], is_sparse=True, padding_idx=-1, param_attr=constant(1.0, "table", 0.5)
    )
    second = paddle.static.nn.sparse_embedding(ids * 2, [50, 3], param_attr=constant(1.0, "table", 0.5))
    scale = paddle.static.create_parameter(
        [1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0)
    )
    loss = ((first + second) * scale).sum()
    test = paddle.static.default_main_program().clone(for_test=True)
    exe = begin(loss, a_sync=False)
    fed = {"ids": np.array([[1, 2], [49, -7]])}
    (value,) = exe.run(feed=fed, fetch_list=[loss])
    assert value == 2 * 3 * (3 + 4)  # the padding gives zeros
    expected = {1: 0.9, 2: 0.8, 4: 0.9, 49: 1.0, 98: 0.9, -7: 0.9, -14: 0.9, 5: 1.0}
    np.testing.assert_allclose(rows_of(one_worker, list(expected))[:, 0], list(expected.values()), rtol=1e-6)
    held = paddle.static.global_scope().find_var(scale.name).get_tensor()
    np.testing.assert_allclose(np.array(held), [2 - 0.1 * 21], rtol=1e-5)
    (again,) = exe.run(test, feed=fed, fetch_list=[loss])
    (same,) = exe.run(test, feed=fed, fetch_list=[loss])
    assert again == same  # it does not train
    np.testing.assert_allclose(again, -0.1 * 3 * (0.9 + 0.8 + 0.9 + 0.8 + 0.9 + 0.9 + 0.9), rtol=1e-4)
    assert sum(len(server.state.tables[0]) for server in one_worker) == 6


def test_a_model_has_the_tables(one_worker, tmp_path):
    """A saved model looks up ids without servers, those that the program computes too."""
    ids = paddle.static.data("ids", [None, 2], "int64")
    rows = paddle.static.nn.embedding(
        ids + 1, [9, 3], is_sparse=True, padding_idx=5, param_attr=constant(1.0, "table")
    )
    result = rows.sum(-1)
    exe = begin(result.sum(), a_sync=False)
    exe.run(feed={"ids": np.array([[0, 1], [1, 4]])})
    fleet.save_inference_model(exe, str(tmp_path), ["ids"], [result])
    program, names, fetched = paddle.static.load_inference_model(str(tmp_path / "__model__"), exe)
    asked = np.array([[0, 1], [4, 7]])  # rows 1, 2, the padding, and a row that was never asked for
    (found,) = exe.run(program, {names[0]: asked}, fetched)
    np.testing.assert_allclose(found, [[2.7, 2.4], [0.0, 3.0]], rtol=1e-6)


def test_settings_of_a_table(one_worker):
    """Paddle's AdaGrad with a sum for each row, its own learning rate, bounds, and settings of statistics."""
    ids = paddle.static.data("ids", [None, 1], "int64")
    scale = paddle.static.data("scale", [None, 2], "float32")
    rows = paddle.static.nn.sparse_embedding(ids, [1, 2], param_attr=constant(1.0, "table"))
    strategy = fleet.DistributedStrategy()
    strategy.sparse_table_configs = {}  # as in Paddle, nothing
    strategy.sparse_table_configs = {"table": settings_of("SparseAdaGradSGDRule")}
    loss = (rows.sum(1) * scale).sum()
    with pytest.warns(UserWarning, match="embedx_threshold do nothing"):
        fleet.distributed_optimizer(paddle.optimizer.SGD(9.0), strategy).minimize(loss)
    fleet.init_worker()
    exe = paddle.static.Executor()
    sums = 0.0
    values = np.ones(2)
    for step in range(3):
        gradient = (step + 1.0) * np.array([1.0, 2.0])
        exe.run(feed={"ids": np.array([[5]]), "scale": gradient[None].astype("float32")})
        values = np.clip(values - 0.5 * gradient * np.sqrt(2.0 / (2.0 + sums)), -1.2, 1.2)
        sums += (gradient**2).mean()
        np.testing.assert_allclose(rows_of(one_worker, [5])[0], values, rtol=1e-5)
    assert values.min() == -1.2
    accessor = Current.servers.tables["table"].accessor
    assert accessor["nonclk_coeff"] == 0.2 and accessor["click_coeff"] == 1.0


def settings_of(rule, **more):
    """What `sparse_table_configs` has for a table."""
    fields = {
        "table_class": "MemorySparseTable",
        "accessor.embedx_threshold": 10,
        "accessor.ctr_accessor_param.nonclk_coeff": 0.2,
        "accessor.embed_sgd_param.name": rule,
        "accessor.embed_sgd_param.adagrad.learning_rate": 0.5,
        "accessor.embed_sgd_param.adagrad.initial_g2sum": 2.0,
        "accessor.embed_sgd_param.adagrad.weight_bounds": [-1.2, 1.2],
    }
    return {f"table_parameters.table.{name}": value for name, value in (fields | more).items()}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nonclk_coeff": 1}, "names begin with 'table_parameters.table.'"),
        (settings_of("SparseAdaGradSGDRule", table_class="Other"), "must be one of MemorySparseTable"),
        (settings_of("FTRL"), "must be one of SparseNaiveSGDRule"),
        (
            settings_of("StdAdaGradSGDRule", **{"accessor.embed_sgd_param.adagrad.speed": 1}),
            "adagrad.speed: got 1; there is no such field",
        ),
        (settings_of("SparseAdaGradSGDRule", width=3), "width: got 3; there is no such field"),
        (
            settings_of("SparseAdaGradSGDRule", **{"accessor.embedx_sgd_param.name": "SparseAdamSGDRule"}),
            "a row has one rule",
        ),
    ],
)
def test_refused_settings_of_a_table(given, words):
    spec = TableSpec(0, "table", "sparse", 2, {"name": "sgd"}, {}, "", [], "MemorySparseTable", {})
    with pytest.raises(ValueError, match=words):
        with_settings(spec, given)


def test_shows_clicks_and_saving(one_worker, tmp_path):
    show = paddle.static.data("show", [None, 1], "float32")
    click = paddle.static.data("click", [None, 1], "float32")
    ids = paddle.static.data("ids", [None, 2], "int64")
    entry = paddle.distributed.ShowClickEntry("show", "click")
    rows = paddle.static.nn.sparse_embedding(ids, [1, 2], entry=entry, param_attr=constant(0.0, "table"))
    exe = begin((rows * (show + click).unsqueeze(1)).sum())
    fed = {
        "ids": np.array([[1, 2], [2, 3]]),
        "show": np.array([[1.0], [9.0]]),
        "click": np.array([[1.0], [0.0]]),
    }
    exe.run(feed={name: value.astype("int64" if name == "ids" else "float32") for name, value in fed.items()})
    with pytest.raises(KeyError, match="click"):
        exe.run(feed={"ids": fed["ids"], "show": fed["show"].astype("float32")})
    np.testing.assert_allclose(rows_of(one_worker, [1, 2, 3])[:, 0], [-0.2, -1.1, -0.9], rtol=1e-6)
    found = {}
    for server in one_worker:
        table = server.state.tables[0]
        found |= zip(table.index.ids().tolist(), table.statistics.tolist(), strict=False)
    assert {id: line[1:3] for id, line in found.items()} == {1: [1, 1], 2: [10, 1], 3: [9, 0]}
    fleet.save_persistables(exe, str(tmp_path), mode=1)  # scores 1.0, 1.9 and 0.9; the base threshold is 1.5
    kept = [np.load(file)["ids"].tolist() for file in sorted(tmp_path.glob("table.part*.npz"))]
    assert sum(kept, []) == [2]
    fleet.load_model(str(tmp_path))
    np.testing.assert_allclose(rows_of(one_worker, [1, 2, 3])[:, 0], [0.0, -1.1, 0.0], rtol=1e-6)
    fleet.shrink(5.0)
    assert not any(len(server.state.tables[0]) for server in one_worker)


@pytest.mark.parametrize(
    ("a_sync", "configs", "mode"),
    [
        (None, None, "async"),
        (True, None, "async"),
        (False, None, "sync"),
        (True, {"k_steps": 3}, "geo"),
        (False, {"backup_workers": 1}, "sync"),
    ],
)
def test_modes_of_a_strategy(a_sync, configs, mode):
    strategy = fleet.DistributedStrategy()
    if a_sync is not None:
        strategy.a_sync = a_sync
    if configs is not None:
        strategy.a_sync_configs = configs
    found = Runtime(["127.0.0.1:1"], 3, 0, False, strategy).job()
    assert (found.mode, found.backups) == (mode, (configs or {}).get("backup_workers", 0))


@pytest.mark.parametrize(
    ("configs", "error"), [({"backup_workers": 3}, ValueError), ({"use_ps_gpu": 1}, NotImplementedError)]
)
def test_strategies_that_do_not_fit(configs, error):
    strategy = fleet.DistributedStrategy()
    strategy.a_sync_configs = configs
    with pytest.raises(error, match=next(iter(configs))):
        Runtime(["127.0.0.1:1"], 3, 0, False, strategy)


def test_what_servers_do_not_have(one_worker, tmp_path):
    ids = paddle.static.data("ids", [None, 2], "int64")
    embedding = paddle.static.nn.sparse_embedding
    for error, words, given in (
        (ValueError, "table_class", {"table_class": "Table"}),
        (ValueError, "entry", {"entry": "count"}),
        (ValueError, "float32", {"dtype": "float64"}),
        (
            ValueError,
            "Assign",
            {"param_attr": paddle.ParamAttr(initializer=paddle.nn.initializer.Assign([1.0]))},
        ),
    ):
        with pytest.raises(error, match=words):
            embedding(ids, [9, 2], **given)
    loss = embedding(ids, [1 << 40, 2], param_attr=constant(0.0, "table")).sum()
    with pytest.raises(NotImplementedError, match="rows on parameter servers .table, "):
        paddle.static.save_inference_model(str(tmp_path / "x"), [ids], [loss], paddle.static.Executor())
    with pytest.raises(ValueError, match="width 3"):
        embedding(ids, [9, 3], param_attr=constant(0.0, "table"))
    for error, words, optimizer in (
        (ValueError, "Momentum", paddle.optimizer.Momentum()),
        (ValueError, "AdamW", paddle.optimizer.AdamW()),
        (ValueError, "L1Decay", paddle.optimizer.SGD(weight_decay=paddle.regularizer.L1Decay(0.1))),
        (
            NotImplementedError,
            "grad_clip",
            paddle.optimizer.SGD(grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)),
        ),
    ):
        with pytest.raises(error, match=words):
            fleet.distributed_optimizer(optimizer).minimize(loss)
    begin(loss)


# whole jobs -------------------------------------------------------------------------------------------------


def model_of(steps, workers):
    """The program of `programs/servers.py` with all batches in one, by NumPy."""
    rows = {}
    weight = np.full((program.WIDTH, 1), 0.25)
    bias = np.zeros(1)
    for step in range(steps):
        batches = [program.batch(step, worker) for worker in range(workers)]
        ids = np.concatenate([one["ids"] for one in batches])
        label = np.concatenate([one["label"] for one in batches])
        looked_up = np.array(
            [[rows.get(id, np.full(program.WIDTH, 0.5)) for id in line] for line in ids.tolist()]
        )
        hidden = looked_up.sum(1)
        error = 2 * (hidden @ weight + bias - label) / len(label)
        changes = {}
        for line, one in zip(ids.tolist(), error, strict=True):
            for id in line:
                changes[id] = changes.get(id, 0) + one[0] * weight[:, 0]
        weight = weight - 0.1 * hidden.T @ error
        bias = bias - 0.1 * error.sum(0)
        for id, change in changes.items():
            rows[id] = rows.get(id, np.full(program.WIDTH, 0.5)) - 0.1 * change
    return rows, weight, bias


@contextlib.contextmanager
def launched(tmp_path, arguments, *flags, servers=2, workers=2, program="servers.py", **more):
    """A program that the launcher runs; its processes end with the launcher."""
    command = [sys.executable, "-m", "paddle_jax.distributed.launch"]
    command += [
        "--server_num",
        str(servers),
        "--trainer_num",
        str(workers),
        "--log_dir",
        str(tmp_path / "log"),
    ]
    command += [*flags, str(pairs.PROGRAMS / program), *arguments]
    process = subprocess.Popen(
        command,
        env=pairs.environment(**more),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def output_of(process):
    """What a program has printed when it ended well."""
    out, _ = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, out
    return out


def saved(folder):
    """Rows by id, and the values of the layer, as the program has saved them."""
    rows = {}
    for file in folder.glob("table.part*.npz"):
        with np.load(file) as part:
            rows |= zip(part["ids"].tolist(), part["rows"], strict=True)
    with np.load(folder / "dense_1.part0.npz") as first, np.load(folder / "dense_1.part1.npz") as second:
        return rows, np.concatenate([first["values"], second["values"]])


@pytest.mark.slow
def test_killed_servers_and_workers_lose_nothing(tmp_path):
    """A static program in sync mode equals one process with both batches, though one process of each kind is
    killed."""
    steps = 30
    options = {"a_sync": False, "steps": steps, "folder": str(tmp_path / "saved"), "pause": 0.1}
    log = tmp_path / "log" / "workerlog.0"
    with launched(tmp_path, [json.dumps(options)], "--elastic_level", "1") as process:
        limit = time.monotonic() + LONGEST
        for name, step in (("server 1", 3), ("worker 1", 8), ("server 0", 14)):
            while not log.exists() or f"\n{step} " not in log.read_text():
                assert process.poll() is None and time.monotonic() < limit
                time.sleep(0.05)
            text = (tmp_path / "log" / "default.pod0.log").read_text()
            ids = dict(one.rsplit(" ", 1) for one in text.split(" runs ")[1].split(";")[0].split(", "))
            os.kill(int(ids[name]), signal.SIGKILL)
        out = output_of(process)
    assert out.count("it is started again alone") == 3
    for number in range(2):
        assert (tmp_path / "log" / f"serverlog.{number}").read_text().endswith("devices used: False\n")
    rows, dense = saved(tmp_path / "saved")
    expected, weight, bias = model_of(steps, 2)
    assert rows.keys() == expected.keys()
    np.testing.assert_allclose([rows[id] for id in expected], list(expected.values()), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dense, np.concatenate([weight.ravel(), bias]), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_an_eager_program_equals_one_process(tmp_path):
    with launched(tmp_path, ["6"], program="eager_servers.py") as process:
        out = output_of(process)
    found = json.loads(next(line for line in out.splitlines() if line.startswith("RESULT"))[7:])
    rows, weight, bias = model_of(6, 2)
    for number, row in found["rows"].items():
        np.testing.assert_allclose(row, rows.get(int(number), [0.5] * program.WIDTH), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["weight"], weight, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["bias"], bias, rtol=1e-4, atol=1e-5)
    assert found["total"] == 3


@pytest.mark.slow
def test_data_sets_of_a_job(tmp_path):
    """All examples of all files are trained with once, though workers shuffle them among each other; worker 1
    has one file, worker 0 two, so their numbers of batches differ."""
    number = 0
    for name, count in (("a", 20), ("b", 7), ("c", 4)):
        lines = [f"2 {10 * i} {10 * i + 1} 1 {i + 1}" for i in range(number, number + count)]
        (tmp_path / name).write_text("\n".join(lines))
        number += count
    with launched(tmp_path, [str(tmp_path), "async"], program="slots_on_servers.py") as process:
        output_of(process)
    found = [
        json.loads(next(line for line in file.read_text().splitlines() if line.startswith("RESULT"))[7:])
        for file in sorted((tmp_path / "log").glob("workerlog.*"))
    ]
    assert [one["files"] for one in found] == [2, 1]
    assert [one["before"] for one in found] == [one["after"] for one in found] == [31, 31]
    assert sum(one["own"] for one in found) == 31 and 0 < found[0]["own"] < 27
    assert found[0]["sum"] == found[1]["sum"] == [2.0, 31.0] and found[0]["acc"] == 0.5
    rows = {}
    for file in tmp_path.glob("table.part*.npz"):
        with np.load(file) as part:
            rows |= zip(part["ids"].tolist(), part["rows"][:, 0].tolist(), strict=True)
    assert rows == {10 * i + j: -(i + 1.0) for i in range(31) for j in range(2)}
