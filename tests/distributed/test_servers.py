"""Parameter servers: tables against NumPy, workers and servers as threads of this process, and whole jobs."""

import contextlib
import gc
import json
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed.ps import messages
from paddle_jax.distributed.ps.client import Client, Connection
from paddle_jax.distributed.ps.disk_table import DiskTable
from paddle_jax.distributed.ps.eager import EagerTable
from paddle_jax.distributed.ps.first_values import first_values
from paddle_jax.distributed.ps.id_index import IdIndex
from paddle_jax.distributed.ps.server import TableServer
from paddle_jax.distributed.ps.table_spec import JobSpec, TableSpec
from paddle_jax.distributed.ps.tables import SparseTable, accessor_settings
from paddle_jax.distributed.ps.worker import Gradients, worker_for
from tests.distributed import pairs

TOKEN = "secret"
SGD = {"name": "sgd", "factor": 1.0, "decay": 0.0}
CONSTANT = {"kind": "constant", "value": 0.5}
SECONDS = 20  # that a job of threads may take


def table(number=0, kind="sparse", width=2, rule=SGD, first=CONSTANT, entry="", name="rows", parts=()):
    return TableSpec(
        number, name, kind, width, rule, first, entry, list(parts), "MemorySparseTable", accessor_settings()
    )


DENSE = table(1, "dense", 5, name="dense", first={}, parts=[["w", [5]]])


def job(mode="sync", workers=2, servers=2, tables=None, backups=0):
    tables = [table(), DENSE] if tables is None else tables
    return JobSpec(workers, servers, mode, 3, 1000, backups, tables)


class Job:
    """Servers as threads.

    Attributes:
        spec: JobSpec.
        endpoints: of the servers.
        servers: list of TableServers.
    """

    def __init__(self, spec):
        self.spec = spec
        self.endpoints = [f"127.0.0.1:{pairs.free_port()}" for _ in range(spec.servers)]
        self.servers = []
        self.threads = []
        for number in range(spec.servers):
            self.start(number)

    def start(self, number, own=None):
        """Starts a server, again where it has stopped."""
        server = TableServer(number, self.endpoints, self.spec.workers, TOKEN, own)
        self.servers[number : number + 1] = [server]
        thread = threading.Thread(target=server.run, daemon=True)
        self.threads.append(thread)
        thread.start()

    def worker(self, number, spec=None, token=TOKEN, queue_size=16, geo_steps=1):
        """A worker that is connected."""
        found = worker_for(Client(self.endpoints, number, spec or self.spec, token), queue_size, geo_steps)
        found.start(lambda one: np.arange(one.width, dtype=np.float32))
        return found

    def close(self):
        for server in self.servers:
            server.stop()


@contextlib.contextmanager
def running(spec):
    found = Job(spec)
    try:
        yield found
    finally:
        found.close()


def in_threads(functions):
    """Runs functions at once; raises what one of them raises."""
    errors = []

    def call(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(function,), daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "a worker hangs"
    if errors:
        raise errors[0]


# parts ------------------------------------------------------------------------------------------------------


def test_index_against_dict():
    draw = np.random.default_rng(0)
    index = IdIndex()
    known = {}
    for _ in range(20):
        ids = np.unique(draw.integers(-(1 << 62), 1 << 62, 700))
        ids = np.unique(np.concatenate([ids, draw.choice(list(known), 50) if known else ids[:1]]))
        for id, place in zip(ids.tolist(), index.add(ids).tolist(), strict=True):
            assert known.setdefault(id, place) == place
    assert sorted(known.values()) == list(range(len(known))) and index.count == len(known)
    assert index.find(np.array(list(known))).tolist() == list(known.values())
    assert index.find(np.array([1 << 63 - 1, 5])).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("rule", "mean", "std", "low", "high"),
    [
        ({"kind": "uniform", "low": -1.0, "high": 3.0}, 1, 4 / 12**0.5, -1, 3),
        ({"kind": "normal", "mean": 2.0, "std": 0.5}, 2, 0.5, -9, 9),
        ({"kind": "truncated_normal", "mean": 0.0, "std": 1.0, "a": -2.0, "b": 2.0}, 0, 0.8796, -2, 2),
    ],
)
def test_first_values(rule, mean, std, low, high):
    ids = np.arange(-5000, 15000) * 7919
    found = first_values(ids, 4, rule, 3, 1)
    assert abs(found.mean() - mean) < 4 * std / 80_000**0.5 * 2 and abs(found.std() - std) < 0.02
    assert low <= found.min() and found.max() <= high
    assert (first_values(ids[::-1], 4, rule, 3, 1)[::-1] == found).all()  # of the id alone
    assert (first_values(ids, 4, rule, 4, 1) != found).mean() > 0.99
    assert abs(np.corrcoef(found[1:, 0], found[:-1, 0])[0, 1]) < 0.03


def _model(name):
    """The rule of a name, as its optimizer's formula: function of (row, gradients of its updates)."""

    def sgd(row, gradients):
        return row - 0.1 * sum(gradients)

    def adagrad(row, gradients):
        total = 0.25
        for gradient in gradients:
            total = total + gradient**2
            row = row - 0.1 * gradient / (np.sqrt(total) + 1e-6)
        return row

    def adam(row, gradients):
        first = second = 0.0
        for step, gradient in enumerate(gradients, 1):
            first = 0.9 * first + 0.1 * gradient
            second = 0.99 * second + 0.01 * gradient**2
            row = row - 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        return row

    return {"sgd": sgd, "adagrad": adagrad, "adam": adam}[name]


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "sgd"},
        {"name": "adagrad", "epsilon": 1e-6, "initial": 0.25},
        {"name": "adam", "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8},
    ],
    ids=lambda rule: rule["name"],
)
def test_rules_against_formulas(rule):
    rows = SparseTable(table(rule=rule | {"factor": 0.5, "decay": 0.0}), 0)
    draw = np.random.default_rng(1)
    given = {id: [] for id in range(40)}
    for _ in range(30):
        ids = np.unique(draw.integers(0, 40, 12))
        gradients = draw.normal(size=(len(ids), 2)).astype(np.float32)
        rows.update(ids, gradients, 0.2)
        for id, gradient in zip(ids.tolist(), gradients, strict=True):
            given[id].append(gradient)
    found = rows.pull(np.arange(40))
    expected = [_model(rule["name"])(np.full(2, 0.5), gradients) for gradients in given.values()]
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def test_entries():
    ids = np.arange(2000)
    by_chance = SparseTable(table(entry="probability_entry:0.25"), 0)
    by_chance.update(ids, np.ones((2000, 2), np.float32), 1.0)
    taken = (by_chance.pull(ids) == -0.5).all(axis=1)
    assert abs(taken.mean() - 0.25) < 0.04 and (by_chance.pull(ids)[~taken] == 0).all()
    by_count = SparseTable(table(entry="count_filter_entry:3"), 0)
    for times, value in ((1, 0.0), (1, 0.0), (1, 0.5)):
        by_count.count(ids[:1], np.full(1, times, np.float32))
        assert by_count.pull(ids[:1])[0, 0] == value
        by_count.update(ids[:1], np.ones((1, 2), np.float32), 1.0)
    assert by_count.pull(ids[:2]).tolist() == [[-0.5, -0.5], [0.0, 0.0]]


def test_shrink_goes_by_shows_and_clicks():
    rows = SparseTable(table(entry="show_click_entry:show:click"), 0)
    ids = np.arange(4)
    rows.show(ids, np.array([10, 1, 1, 0], np.float32), np.array([0, 1, 0, 0], np.float32))
    rows.update(ids, np.ones((4, 2), np.float32), 1.0)
    rows.shrink(None)  # scores 0.98, 0.98, 0.098 and 0: at least 0.8 stay
    assert sorted(rows.index.ids().tolist()) == [0, 1]
    assert (rows.pull(ids) == [[-0.5] * 2] * 2 + [[0.5] * 2] * 2).all()
    for _ in range(31):
        rows.end_day()
    rows.update(ids[:1], np.ones((1, 2), np.float32), 0.0)
    rows.shrink(0.0)
    assert rows.index.ids().tolist() == [0]


@pytest.mark.parametrize("entry", ["", "count_filter_entry:3", "show_click_entry:show:click"])
def test_a_table_on_the_disk_equals_one_in_memory(entry, tmp_path, monkeypatch):
    pytest.importorskip("rocksdict")
    monkeypatch.setenv("PADDLE_PS_HOT_ROWS", "60")
    monkeypatch.setenv("PADDLE_PS_SSD_DIR", str(tmp_path))
    adam = {"name": "adam", "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "factor": 1.0, "decay": 0.0}
    spec = table(rule=adam, entry=entry)
    on_disk = DiskTable(spec, 3)
    in_memory = SparseTable(spec, 3)
    draw = np.random.default_rng(0)
    for step in range(60):
        ids = np.unique(draw.integers(-300, 300, draw.integers(1, 50)))
        numbers = draw.normal(size=(len(ids), 2)).astype(np.float32)
        for one in (on_disk, in_memory):
            one.count(ids, np.ones(len(ids), np.float32))
            one.show(ids, np.abs(numbers[:, 0]), np.abs(numbers[:, 1]))
            one.update(ids, numbers, 0.1)
            if step % 20 == 19:
                one.end_day()
                one.shrink(0.5 if step > 30 else None)
        assert len(on_disk) == len(in_memory) and on_disk.index.count <= 110
    assert on_disk.stored > 100
    for mode in (2, 1, 0):
        pieces = list(on_disk.pieces_to_save(mode))
        expected = in_memory.to_save(mode)
        found = [np.concatenate(part) for part in zip(*pieces, strict=True)]
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine[np.argsort(found[0])], other[np.argsort(expected[0])])
    on_disk.clear()
    on_disk.put(*expected)
    ids = np.arange(-300, 300)
    np.testing.assert_array_equal(on_disk.pull(ids), in_memory.pull(ids))
    on_disk.close()


# modes ------------------------------------------------------------------------------------------------------


def gradients_of(step, worker):
    """What a worker has computed in a step: ids with their gradients, and a dense gradient."""
    draw = np.random.default_rng([step, worker])
    ids = np.unique(draw.integers(-30, 30, 12)) * 7
    dense = draw.normal(size=5).astype(np.float32)
    return ids, draw.normal(size=(len(ids), 2)).astype(np.float32), dense


def train(worker, steps, number, begin=0):
    for step in range(begin, steps):
        ids, values, dense = gradients_of(step, number)
        worker.pull(0, ids, np.ones(len(ids)))
        worker.finish_step(Gradients({0: (ids, values)}, {1: dense}, 0.1))


def expected_of(steps, workers, share):
    """The values after SGD, by NumPy: each gradient counts `share`."""
    rows = {}
    dense = np.arange(5.0)
    for step in range(steps):
        for worker in range(workers):
            ids, values, dense_gradient = gradients_of(step, worker)
            for id, value in zip(ids.tolist(), values, strict=True):
                rows[id] = rows.get(id, np.full(2, 0.5)) - 0.1 * share * value
            dense = dense - 0.1 * share * dense_gradient
    return rows, dense


def compare(worker, rows, dense):
    ids = np.array(sorted(rows))
    found = worker.pull(0, ids, None)
    np.testing.assert_allclose(found, [rows[id] for id in ids.tolist()], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(worker.dense_values()[1], dense, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("mode", "share"), [("sync", 0.5), ("async", 1.0)])
def test_all_pushes_count_once(mode, share):
    with running(job(mode)) as servers:
        workers = [servers.worker(0), servers.worker(1)]
        in_threads([lambda i=i: train(workers[i], 12, i) for i in range(2)])
        for worker in workers:
            worker.flush()
        for worker in workers:
            compare(worker, *expected_of(12, 2, share))
        in_threads([worker.stop for worker in workers])
        for thread in servers.threads:
            thread.join(SECONDS)
            assert not thread.is_alive()


def test_geo_alone_equals_local_training():
    with running(job("geo", workers=1)) as servers:
        worker = servers.worker(0, geo_steps=4)
        train(worker, 10, 0)
        compare(worker, *expected_of(10, 1, 1.0))
        worker.flush()
        other = servers.worker(0)  # what the servers have
        compare(other, *expected_of(10, 1, 1.0))


def test_geo_workers_agree_after_an_exchange():
    with running(job("geo")) as servers:
        workers = [servers.worker(i, geo_steps=100) for i in range(2)]
        for i, worker in enumerate(workers):
            train(worker, 5, i)
        for worker in workers:
            worker.flush()
        compare(servers.worker(0), *expected_of(5, 2, 0.5))  # each worker gives half of its change
        both = expected_of(5, 2, 0.5)[1]
        of_first = np.arange(5) - expected_of(5, 1, 0.5)[1]
        of_second = np.arange(5) - both - of_first
        # the worker that came last has its own change whole, and what the servers got of the other
        np.testing.assert_allclose(
            workers[1].dense_values()[1], np.arange(5) - of_first - 2 * of_second, rtol=1e-5, atol=1e-6
        )


def test_a_round_does_not_wait_for_backup_workers():
    spec = job(workers=3, backups=1)
    with running(spec) as servers:
        workers = [servers.worker(i) for i in range(3)]
        in_threads([lambda i=i: train(workers[i], 3, i) for i in range(2)])
        compare(workers[0], *expected_of(3, 2, 0.5))
        train(workers[2], 1, 2)  # comes too late: it is dropped, and goes on with the open step
        assert workers[2].client.round == 3
        compare(workers[2], *expected_of(3, 2, 0.5))
        assert json.loads(workers[0].client.ask_all("Stat")[0])["dropped"] == {"2": 1}
        for worker in workers:
            worker.client.close()


def test_a_worker_without_data_does_not_hold_up_the_others():
    """Worker 0 has three batches, worker 1 five; both meet at a barrier and go on."""
    with running(job()) as servers:
        workers = [servers.worker(0), servers.worker(1)]

        def work(number, steps):
            train(workers[number], steps, number)
            assert workers[number].client.gather("x") == ["x", "x"]
            assert workers[number].client.round == 5
            train(workers[number], 7, number, 5)

        in_threads([lambda: work(0, 3), lambda: work(1, 5)])
        rows, dense = expected_of(7, 2, 0.5)
        for step in (3, 4):  # worker 1 alone
            for number, share in ((0, -0.5), (1, 0.5)):
                ids, values, gradient = gradients_of(step, number)
                dense = dense - 0.1 * share * gradient
                for id, value in zip(ids.tolist(), values, strict=True):
                    rows[id] = rows[id] - 0.1 * share * value
        compare(workers[0], rows, dense)
        in_threads([worker.stop for worker in workers])


def test_a_late_worker_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PADDLE_PS_WORKER_TIMEOUT", "1")
    monkeypatch.setenv("PADDLE_PS_EVENTS", str(tmp_path))
    with running(job()) as servers:
        workers = [servers.worker(0), servers.worker(1)]
        thread = threading.Thread(target=train, args=(workers[0], 1, 0), daemon=True)
        thread.start()
        limit = time.monotonic() + 10
        while not workers[0].client.late:  # its heartbeat hears of it
            assert time.monotonic() < limit
            time.sleep(0.05)
        assert "step 0 has waited for worker 1 for 1 s; its last sign of life was" in capsys.readouterr().err
        assert [file.name.split(".")[1] for file in tmp_path.iterdir()] == ["1"]
        train(workers[1], 1, 1)
        thread.join(SECONDS)
        for worker in workers:
            worker.client.close()


# files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["MemorySparseTable", "SSDSparseTable"])
def test_three_servers_load_what_two_saved(storage, tmp_path, monkeypatch):
    if storage == "SSDSparseTable":
        pytest.importorskip("rocksdict")
        monkeypatch.setenv("PADDLE_PS_HOT_ROWS", "10")
    rule = {"name": "adam", "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "factor": 1.0, "decay": 0.0}
    tables = [table(rule=rule)._replace(storage=storage), DENSE._replace(rule=rule)]
    values = {}
    for count, begin in ((2, 0), (3, 4), (1, 0)):
        with running(job("async", 1, count, tables)) as servers:
            worker = servers.worker(0)
            if begin:
                worker.client.ask_all("Load", folder=str(tmp_path), tables=None)
            train(worker, begin + 4 if count > 1 else 8, 0, begin)
            worker.flush()
            values[count] = worker.pull(0, np.arange(-30, 30) * 7, None), worker.dense_values()[1]
            if count == 2:
                worker.client.ask_all("Save", folder=str(tmp_path), mode=0, tables=None)
            worker.stop()
    for loaded, whole in zip(values[3], values[1], strict=True):
        np.testing.assert_array_equal(loaded, whole)  # states of Adam, too


@pytest.mark.parametrize("storage", ["MemorySparseTable", "SSDSparseTable"])
def test_a_server_takes_up_its_journal(storage, tmp_path, monkeypatch):
    monkeypatch.setenv("PADDLE_PS_JOURNAL", str(tmp_path))
    if storage == "SSDSparseTable":
        pytest.importorskip("rocksdict")
        monkeypatch.setenv("PADDLE_PS_HOT_ROWS", "5")
    tables = [table()._replace(storage=storage), DENSE]
    with running(job(tables=tables)) as servers:
        workers = [servers.worker(0), servers.worker(1)]
        in_threads([lambda i=i: train(workers[i], 4, i) for i in range(2)])
        ids, values, dense = gradients_of(4, 0)
        workers[0]._push(Gradients({0: (ids, values)}, {1: dense}, 0.1), 4)  # of a step that is open
        servers.servers[0].state.take_snapshot()
        if storage == "SSDSparseTable":
            assert servers.servers[0].state.tables[0].stored
        for number in range(2):  # one from its snapshot, one from its journal
            servers.servers[number].stop()
            servers.start(number)
        again = servers.worker(0)  # the worker was killed, too: what it has sent for the step does not count
        assert again.client.round == 4
        workers[0].client.close()
        in_threads([lambda: train(again, 8, 0, 4), lambda: train(workers[1], 8, 1, 4)])
        compare(again, *expected_of(8, 2, 0.5))
        for worker in (again, workers[1]):
            worker.client.close()


@pytest.mark.parametrize("seconds", [0.02, 0.2])
def test_servers_that_start_again_apply_each_push_once(tmp_path, monkeypatch, seconds):
    monkeypatch.setenv("PADDLE_PS_JOURNAL", str(tmp_path))
    with running(job("async")) as servers:
        workers = [servers.worker(0), servers.worker(1)]
        threads = [threading.Thread(target=train, args=(workers[i], 60, i), daemon=True) for i in range(2)]
        for thread in threads:
            thread.start()
        for number in (0, 1, 1, 0):
            time.sleep(seconds)
            servers.servers[number].stop()
            servers.start(number)
        for thread in threads:
            thread.join(SECONDS)
            assert not thread.is_alive()
        for worker in workers:
            worker.flush()
        compare(workers[0], *expected_of(60, 2, 1.0))
        in_threads([worker.stop for worker in workers])


# what does not fit ------------------------------------------------------------------------------------------


def test_refused(monkeypatch):
    monkeypatch.setenv("PADDLE_PS_TIMEOUT", "1")
    with running(job("async", 1, 1)) as servers:
        with pytest.raises(PermissionError, match="PADDLE_JOB_TOKEN"):
            servers.worker(0, token="wrong")
        worker = servers.worker(0)
        for spec, words in (
            (job("async", 2, 1), "1 workers and 1 servers, worker 0 has 2 and 1"),
            (job("async", 1, 1, [table(width=3), DENSE]), r"rows \(sparse, 2\).*rows \(sparse, 3\)"),
            (job("sync", 1, 1), "mode async.*mode sync"),
        ):
            with pytest.raises(ValueError, match=words):
                servers.worker(0, spec)
        connection = Connection(servers.endpoints[0], TOKEN)
        now = worker.client.incarnation
        good = messages.message(
            messages.PUSH, 0, now, 0, sequence=9, ids=np.arange(3), values=np.ones((3, 2), np.float32)
        )
        changed = bytearray(good)
        changed[-1] ^= 1
        for method, request, words in (
            ("Change", bytes(changed), "checksum"),
            ("Change", good[:-4], "bytes for 3 ids"),
            ("Change", b"GET / HTTP/1.1", "14 bytes"),
            ("Change", b"\x00" * 64, "version"),
            ("Change", messages.message(messages.PUSH, 0, now, 0, table=7), "table: got 7"),
            ("Change", messages.message(messages.PUSH, 9, now, 0), "worker: got 9"),
            (
                "Change",
                messages.message(messages.PUSH, 0, now, 0, ids=np.array([4, 7, 4]), values=np.ones((3, 2))),
                "once in a push",
            ),
            (
                "Change",
                messages.message(messages.PUSH, 0, now, 0, ids=np.zeros(1), values=np.ones((1, 9))),
                "rows of 9",
            ),
            (
                "Save",
                json.dumps({"round": 0, "folder": "x", "mode": 9, "tables": None}).encode(),
                "mode: got 9",
            ),
            (
                "Load",
                json.dumps({"round": 0, "folder": "/nowhere", "tables": None}).encode(),
                "ps_tables.json",
            ),
        ):
            with pytest.raises(ValueError, match=words):
                connection.ask(method, request)
        with pytest.raises(RuntimeError, match="another process with this number"):
            connection.ask("Change", messages.message(messages.PUSH, 0, now - 1, 0, sequence=9))
        assert (worker.pull(0, np.arange(3), None) == 0.5).all()
        for _ in range(2):  # a repeat is not applied
            connection.ask("Change", good)
        assert (worker.pull(0, np.arange(3), None) == 0.5).all()  # the rate was 0
        connection.close()
        worker.client.close()
    with pytest.raises(RuntimeError, match="no answer to Pull within"):
        Connection(servers.endpoints[0], TOKEN).ask("Pull", b"")


def test_a_port_that_another_server_has():
    """It ends at once, in place of waiting for workers that reach the other one."""
    spec = job("async", 1, 1)
    with running(spec) as servers:
        # The server has the port once a worker has reached it.
        servers.worker(0).client.close()
        with pytest.raises(RuntimeError, match=f"{servers.endpoints[0]}: the port is in use"):
            TableServer(0, servers.endpoints, 1, TOKEN, None).run()


# eager programs ---------------------------------------------------------------------------------------------


def test_rows_of_an_evaluation_go_and_gradients_stay():
    """Rows live as long as the results of a pass; `clear_grad` before `backward` loses nothing."""
    kept = []

    def pull(number, ids, counts):
        return np.tile(ids[:, None], (1, 2)).astype(np.float32)

    specs = {"rows": SimpleNamespace(number=0)}
    runtime = SimpleNamespace(connected=lambda name: SimpleNamespace(pull=pull), tables=specs)
    rows = EagerTable(runtime, "rows", [9, 2], None, None)
    for _ in range(3):
        result = rows(paddle.to_tensor([[4, 7, 4]]))
        kept.append(weakref.ref(result._node.edges[0][0]))
    assert result.tolist() == [[[4, 4], [7, 7], [4, 4]]]
    gc.collect()
    assert [ref() is None for ref in kept] == [True, True, False]
    (result * paddle.to_tensor([[1.0, 2.0]])).sum().backward()
    rows(paddle.to_tensor([7])).sum().backward()
    ids, gradients = rows.gradients()
    assert ids.tolist() == [4, 7] and gradients.tolist() == [[2, 4], [2, 3]]
    assert rows.gradients() is None
