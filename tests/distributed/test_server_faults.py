"""Parameter servers after faults: lost replies, files that cannot be read, workers that start again.

Unit tests of `_launch`.
"""

import errno
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from paddle_jax._launch import job as launch_job
from paddle_jax._launch import server_job
from paddle_jax.distributed.ps import files, journal
from paddle_jax.distributed.ps.client import Client
from paddle_jax.distributed.ps.disk_table import DiskTable
from paddle_jax.distributed.ps.journal import Journal
from paddle_jax.distributed.ps.server import TableServer
from tests.distributed import pairs
from tests.distributed.test_servers import TOKEN, in_threads, job, running, table, train

SPEC = job("async", 1, 1)


@pytest.fixture
def saved(tmp_path):
    """A folder with tables, and the values of the dense one."""
    with running(SPEC) as servers:
        worker = servers.worker(0)
        train(worker, 3, 0)
        worker.flush()
        worker.client.save(str(tmp_path), 0, None)
        values = worker.dense_values()[1]
        worker.stop()
    assert (values != np.arange(5)).any()
    return tmp_path, values


def test_a_load_that_failed_is_tried_again(saved, monkeypatch):
    folder, values = saved
    load = files.load
    tries = []

    def failing(*args):
        tries.append(args)
        if len(tries) < 3:
            raise OSError("the disk does not answer")
        load(*args)

    monkeypatch.setattr(files, "load", failing)
    with running(SPEC) as servers:
        servers.servers[0].load_when_known(str(folder))
        worker = servers.worker(0)
        np.testing.assert_array_equal(worker.dense_values()[1], values)
        worker.client.close()
    assert len(tries) == 3


@pytest.mark.parametrize("fault", ["missing", "broken"])
def test_files_that_do_not_fit_end_the_server(saved, fault):
    folder, _ = saved
    file = folder / "rows.part0.npz"
    if fault == "missing":
        file.unlink()
    else:
        file.write_bytes(b"PK\x03\x04 no archive")
    endpoint = f"127.0.0.1:{pairs.free_port()}"
    server = TableServer(0, [endpoint], 1, TOKEN, None)
    server.load_when_known(str(folder))
    client = Client([endpoint], 0, SPEC, TOKEN)

    def refused(function):
        with pytest.raises(ValueError, match="load: "):
            function()

    in_threads([lambda: refused(server.run), lambda: refused(client.start)])
    client.close()


def test_a_worker_that_starts_again_after_many_barriers(tmp_path, monkeypatch):
    monkeypatch.setenv("PADDLE_PS_JOURNAL", str(tmp_path))
    with running(job("async", 1, 1)) as servers:
        worker = servers.worker(0)
        assert worker.client.gather("of value") == ["of value"]
        for _ in range(80):
            worker.client.gather("")
        worker.client.close()
        servers.servers[0].state.take_snapshot()
        servers.servers[0].stop()
        servers.start(0)
        again = servers.worker(0)
        with pytest.raises(ValueError, match=r"exchange 0 .*the last 64 are kept.*end the job"):
            again.client.gather("of value")
        for _ in range(81):  # 80 that were, and a new one
            assert again.client.gather("") == [""]
        assert again.client.gather("more") == ["more"]
        again.client.close()


def losing_replies(client, method):
    """Every request of a method comes twice, as if the first reply was lost."""
    for connection in client._connections:
        call = connection._call

        def twice(name, request, seconds, call=call):
            if name == method:
                call(name, request, seconds)
            return call(name, request, seconds)

        connection._call = twice


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_changes_of_whole_tables_count_once(mode, tmp_path):
    with running(job(mode, 1, 2)) as servers:
        worker = servers.worker(0)
        for server in servers.servers:
            rows = server.state.tables[0]
            rows.show(np.arange(10), np.ones(10), np.zeros(10))
        losing_replies(worker.client, "Change")
        losing_replies(worker.client, "Save")
        for _ in range(2):
            worker.client.shrink(-1.0, np.zeros(0, np.int64))
            worker.client.save(str(tmp_path), 3, None)
        rate = rows.spec.accessor["show_click_decay_rate"]
        for server in servers.servers:
            statistics = server.state.tables[0].statistics[:10]
            np.testing.assert_allclose(statistics[:, 1], rate**2, rtol=1e-6)
            assert set(statistics[:, 3]) == {2.0}  # days since it was seen
        worker.client.close()


def test_a_slow_shrink_has_the_time_of_the_job(monkeypatch):
    with running(SPEC) as servers:
        worker = servers.worker(0)
        connection = worker.client._connections[0]
        given = []
        monkeypatch.setattr(connection, "_call", lambda *args: given.append(args) or b"")
        worker.client.shrink(0.0, np.zeros(0, np.int64))
        assert given[0][2] == connection.seconds == 300
        worker.client.close()


# the disk ---------------------------------------------------------------------------------------------------


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def test_a_snapshot_is_on_the_disk_before_the_old_one_goes(tmp_path, monkeypatch):
    kept = Journal(tmp_path)
    kept.take({}, {"x": np.zeros(3)}, {})
    kept.append(b"request")
    flushed = []
    fsync = os.fsync

    def watched(number):
        assert {"snapshot.1", "journal.1"} <= names_in(tmp_path)
        flushed.append(os.path.realpath(f"/proc/self/fd/{number}"))
        fsync(number)

    monkeypatch.setattr(os, "fsync", watched)
    kept.take({}, {"x": np.ones(3)}, {})
    assert flushed == [str(tmp_path / "unfinished"), str(tmp_path)]
    assert names_in(tmp_path) == {"snapshot.2"}


def test_a_full_disk_keeps_the_old_snapshot(tmp_path, monkeypatch, capsys):
    kept = Journal(tmp_path)
    kept.take({"step": 1}, {"x": np.zeros(3)}, {})
    kept.append(b"request")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        for _ in range(2):
            kept.take({"step": 2}, {"x": np.ones(3)}, {})
        assert capsys.readouterr().err.count("No space left on device") == 1  # a line a minute
        disk.setattr(journal, "_QUIET", 0)
        kept.take({"step": 2}, {"x": np.ones(3)}, {})
        assert "the old one and its journal are kept" in capsys.readouterr().err
    assert names_in(tmp_path) == {"snapshot.1", "journal.1"}
    kept.append(b"another")  # the server goes on
    again = Journal(tmp_path)
    assert again.snapshot()[0] == {"step": 1} and list(again.records()) == [b"request", b"another"]
    kept.take({"step": 2}, {"x": np.ones(3)}, {})
    assert names_in(tmp_path) == {"snapshot.2"}


def test_a_journal_grows_as_large_as_the_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "_LIMIT", 1000)
    kept = Journal(tmp_path)
    kept.append(bytes(2000))
    assert kept.is_due()
    kept.take({}, {"x": np.zeros(1000)}, {})  # 8000 bytes
    for one in (kept, Journal(tmp_path)):
        one.append(bytes(3000))
        assert not one.is_due()
    kept.close()
    one.append(bytes(4000))
    assert one.is_due()
    one.close()


def test_a_closed_journal_refuses_requests(tmp_path):
    kept = Journal(tmp_path)
    kept.append(b"first")
    kept.close()
    with pytest.raises(OSError, match="its server has stopped"):
        kept.append(b"second")
    assert list(Journal(tmp_path).records()) == [b"first"]


def test_folders_of_killed_processes_go(tmp_path, monkeypatch):
    pytest.importorskip("rocksdict")
    monkeypatch.setenv("PADDLE_PS_SSD_DIR", str(tmp_path))
    code = (
        "import os, signal\n"
        "from tests.distributed.test_servers import table\n"
        "from paddle_jax.distributed.ps.disk_table import DiskTable\n"
        "kept = DiskTable(table(), 0)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60)
    left = names_in(tmp_path)
    assert len(left) == 1
    (tmp_path / "table-elsewhere-1-a").mkdir()  # of another machine
    first = DiskTable(table(), 0)
    second = DiskTable(table(), 0)
    assert {first._folder, second._folder} <= {str(path) for path in tmp_path.iterdir()}
    assert not left & names_in(tmp_path) and len(names_in(tmp_path)) == 3
    for one in (first, second):
        one.close()


# the launcher -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "restarts", "incarnation", "ends"),
    [
        (1, 0, 200, True),
        (1, 1, 200, True),
        (1, 1, 50, False),  # the process before this one
        (1, 0, 0, True),  # it has never come
        (1, 1, 0, False),
        (-1, 0, 200, False),
    ],
)
def test_who_is_ended_for_being_late(level, restarts, incarnation, ends, tmp_path):
    (tmp_path / f"late.1.{incarnation}").touch()
    planned = [SimpleNamespace(log=f"{name}log.0") for name in ("server", "worker", "worker")]
    said = []
    killed = []
    pod = SimpleNamespace(
        processes=[SimpleNamespace(poll=lambda: None)] * 3, began={2: 100}, kill=killed.append
    )
    one = launch_job._ServerJob.__new__(launch_job._ServerJob)
    one.plan = server_job.Plan(planned, 1, 0, True, tmp_path)
    one.given = SimpleNamespace(elastic_level=level)
    one.restarts = {2: restarts}
    one.say = lambda kind, text: said.append(text)
    one._end_late_workers(pod)
    assert killed == ([2] if ends else [])
    assert len(said) == 1 and ("it is ended" in said[0]) == ends
