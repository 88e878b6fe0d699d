"""Worker processes of DataLoader: order, random numbers, what their failures look like, and that nothing of
them stays behind.

What depends on the main module, on Ctrl-C and on the end of the interpreter is in test_worker_programs.py.

Unit tests of `_core.process.forkserver`.
"""

import contextlib
import gc
import os
import pickle
import random
import signal
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.io
from paddle_jax._core.process import forkserver
from paddle_jax.io.dataloader import exchange
from paddle_jax.io.dataloader.process import WorkerError

pytestmark = pytest.mark.skipif(not forkserver.available, reason="no worker processes on this system")


class Base(ours.io.Dataset):
    def __init__(self, count=6, action=None):
        self.count, self.action = count, action

    def __getitem__(self, idx):
        if self.action is not None and idx == 3:
            self.action()
        return np.full([2], idx, "float32"), idx

    def __len__(self):
        return self.count


class Pids(Base):
    def __getitem__(self, idx):
        return os.getpid()


class Drawn(Base):
    """Random numbers of every generator that data sets use."""

    def __getitem__(self, idx):
        return idx, random.random(), np.random.rand(), float(ours.rand([1]))


class Stream(ours.io.IterableDataset):
    def __iter__(self):
        info = ours.io.get_worker_info()
        return iter(range(info.id, 10, info.num_workers))


def is_gone(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    return True


def assert_gone(pids, seconds=10.0):
    limit = time.monotonic() + seconds
    while not all(map(is_gone, pids)):
        assert time.monotonic() < limit, [pid for pid in pids if not is_gone(pid)]
        time.sleep(0.02)


def read(loader):
    return [
        [np.asarray(field).tolist() for field in batch] if isinstance(batch, list) else batch.tolist()
        for batch in loader
    ]


# order and random numbers -----------------------------------------------------------------------------------


BATCHES, TRANSPORT = (
    [{}, {"batch_size": 2, "drop_last": True}, {"batch_size": None}],
    [{}, {"use_shared_memory": False}, {"prefetch_factor": 1}],
)


@pytest.mark.parametrize("transport", TRANSPORT)
@pytest.mark.parametrize("batches", BATCHES)
def test_order_is_that_of_one_process(batches, transport):
    alone = read(ours.io.DataLoader(Base(7), **batches))
    for workers in (1, 3):
        assert read(ours.io.DataLoader(Base(7), num_workers=workers, **batches, **transport)) == alone


def test_workers_are_processes_that_end():
    pids = set(sum(read(ours.io.DataLoader(Pids(8), num_workers=2)), []))
    assert len(pids) == 2 and os.getpid() not in pids
    assert_gone(pids)


def drawn(workers, seed, epochs=1, **settings):
    ours.seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    loader = ours.io.DataLoader(Drawn(8), batch_size=2, shuffle=True, num_workers=workers, **settings)
    return [read(loader) for _ in range(epochs)]


def test_random_numbers_do_not_hang_on_the_number_of_workers():
    found = [drawn(workers, 5, epochs=2) for workers in (1, 2, 3)]
    assert found[0] == found[1] == found[2]
    assert drawn(2, 5, epochs=2, persistent_workers=True) == found[0]
    flat = [number for epoch in found[0] for batch in epoch for field in batch[1:] for number in field]
    assert len(set(flat)) == len(flat) == 2 * 8 * 3
    assert drawn(2, 6)[0] != found[0][0]


def test_shuffled_order_is_that_of_one_process():
    orders = []
    for workers in (0, 2):
        np.random.seed(3)
        loader = ours.io.DataLoader(Base(9), shuffle=True, num_workers=workers)
        orders.append([read(loader), read(loader)])
    assert orders[0] == orders[1] and orders[0][0] != orders[0][1]


def plant(number):
    np.random.seed(77)


def test_seeds_that_the_user_sets_stay():
    """`worker_init_fn` seeds NumPy: batch by batch its numbers go on, the other generators'
    are the loader's."""
    found = drawn(1, 5, worker_init_fn=plant)[0]
    expected = np.random.RandomState(77).rand(8)
    np.testing.assert_array_equal([number for batch in found for number in batch[2]], expected)
    other = drawn(1, 5)[0]
    assert [batch[1] for batch in found] == [batch[1] for batch in other]


def test_worker_info_shards_a_stream():
    assert read(ours.io.DataLoader(Stream(), batch_size=2, num_workers=3)) == [
        [0, 3],
        [1, 4],
        [2, 5],
        [6, 9],
        [7],
        [8],
    ]
    loader = ours.io.DataLoader(Stream(), batch_size=4, num_workers=2, persistent_workers=True)
    assert read(loader) == read(loader) == [[0, 2, 4, 6], [1, 3, 5, 7], [8], [9]]


class Told(Base):
    def __getitem__(self, idx):
        info = ours.io.get_worker_info()
        with pytest.raises(RuntimeError):
            info.id = 5
        return info.id, info.num_workers, int(info.dataset is self), info.seed


def test_worker_info():
    rows = [[field[0] for field in batch] for batch in read(ours.io.DataLoader(Told(4), num_workers=2))]
    assert [row[:3] for row in rows] == [[0, 2, 1], [1, 2, 1], [0, 2, 1], [1, 2, 1]]
    assert rows[1][3] == rows[0][3] + 1
    assert ours.io.get_worker_info() is None


# epochs -----------------------------------------------------------------------------------------------------


def test_persistent_workers_stay_and_are_right_after_a_break():
    loader = ours.io.DataLoader(Pids(8), num_workers=2, persistent_workers=True)
    first = set(sum(read(loader), []))
    assert set(sum(read(loader), [])) == first
    loader = ours.io.DataLoader(Base(8), num_workers=2, persistent_workers=True)
    for _ in range(3):
        for batch in loader:
            if batch[1].item() == 2:
                break
        assert [batch[1].item() for batch in loader] == list(range(8))
    del loader
    gc.collect()
    assert_gone(first)


def test_two_epochs_at_once():
    for persistent in (False, True):
        loader = ours.io.DataLoader(Base(5), num_workers=2, persistent_workers=persistent)
        assert [(a[1].item(), b[1].item()) for a, b in zip(loader, loader(), strict=True)] == [
            (i, i) for i in range(5)
        ]


def test_an_abandoned_epoch_ends_its_workers():
    epoch = iter(ours.io.DataLoader(Pids(100), num_workers=3))
    pids = {next(epoch).item() for _ in range(6)}
    assert len(pids) == 3
    del epoch
    gc.collect()
    assert_gone(pids)


def test_batches_stay_when_the_workers_are_gone():
    kept = list(ours.io.DataLoader(TensorDataset(), batch_size=3, num_workers=2))
    gc.collect()
    np.testing.assert_array_equal(
        np.concatenate([batch[0].numpy() for batch in kept])[:, 0, 0], np.arange(6.0)
    )
    for batch in kept:
        batch[0][0] = -1.0
        batch[0].add_(batch[0])
    assert kept[0][0][0, 0, 0].item() == -2.0


class TensorDataset(Base):
    """Large enough for shared memory."""

    def __getitem__(self, idx):
        return np.full([64, 64], idx, "float32"), "text", np.zeros([0])


class Tensors(Base):
    def __getitem__(self, idx):
        return ours.to_tensor([idx, 1.0]) * 2


def test_workers_may_compute():
    assert read(ours.io.DataLoader(Tensors(3), num_workers=1)) == [[[0.0, 2.0]], [[2.0, 2.0]], [[4.0, 2.0]]]
    data = ours.io.TensorDataset([ours.to_tensor([[1.0], [2.0], [3.0]]), ours.to_tensor([4, 5, 6])])
    assert read(ours.io.DataLoader(data, batch_size=2, num_workers=2)) == [
        [[[1.0], [2.0]], [4, 5]],
        [[[3.0]], [6]],
    ]


class Surroundings(Base):
    def __getitem__(self, idx):
        return str(ours.ones([1]).dtype), os.environ["PADDLE_JAX_TEST_WORD"], str(Path.cwd())


def test_workers_have_the_surroundings_of_the_program(monkeypatch, tmp_path):
    """Also what was changed after the first workers were made."""
    assert len(list(ours.io.DataLoader(Base(1), num_workers=1))) == 1
    monkeypatch.setenv("PADDLE_JAX_TEST_WORD", "here")
    monkeypatch.chdir(tmp_path)
    ours.set_default_dtype("float64")
    try:
        assert [field[0] for field in next(iter(ours.io.DataLoader(Surroundings(1), num_workers=1)))] == [
            "paddle.float64",
            "here",
            str(tmp_path),
        ]
    finally:
        ours.set_default_dtype("float32")


def test_large_tasks_and_batches_do_not_wait_for_each_other():
    loader = ours.io.DataLoader(Base(200_000), batch_size=50_000, num_workers=2, use_shared_memory=False)
    assert sum(batch[1].shape[0] for batch in loader) == 200_000


# failures ---------------------------------------------------------------------------------------------------


def boom():
    raise KeyError("boom")


def leave():
    sys.exit(3)


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def hang():
    time.sleep(60)


@pytest.mark.parametrize("settings", [{}, {"use_shared_memory": False}, {"persistent_workers": True}])
def test_an_exception_arrives_with_its_traceback(settings):
    seen = []
    with pytest.raises(KeyError, match="boom") as caught:
        for batch in ours.io.DataLoader(Base(action=boom), num_workers=2, **settings):
            seen.append(batch[1].item())
    assert seen == [0, 1, 2]
    (note,) = caught.value.__notes__
    assert "worker 1 (pid" in note and "in boom" in note and 'raise KeyError("boom")' in note


class Ahead(ours.io.DataLoader):
    """Takes the next batch early, as for a GPU."""

    def _sends_ahead(self):
        time.sleep(0.02)  # for workers to come first
        return True


def test_batches_taken_early_are_those_of_one_process():
    alone = read(ours.io.DataLoader(Base(8), batch_size=2))
    loader = Ahead(Base(8), batch_size=2, num_workers=2, persistent_workers=True)
    assert read(loader) == read(loader) == alone
    streamed = read(Ahead(Stream(), batch_size=2, num_workers=3))
    assert streamed == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    assert next(iter(loader))[1].tolist() == [0, 1]
    other = Ahead(Base(8), batch_size=2, num_workers=2)
    other.load_state_dict(loader.state_dict())  # the batch that was taken early is read again
    assert read(other) == alone[1:]
    seen = []
    with pytest.raises(KeyError, match="boom"):
        for batch in Ahead(Base(action=boom), num_workers=2):
            seen.append(batch[1].item())
    assert seen == [0, 1, 2]


class Picky(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def picky():
    raise Picky("one", "two")


def unpicklable():
    error = ValueError("with a lock")
    error.lock = __import__("threading").Lock()
    raise error


def test_exceptions_that_cannot_travel():
    for action, name in ((picky, "Picky: one"), (unpicklable, "ValueError: with a lock")):
        with pytest.raises(RuntimeError, match=name):
            list(ours.io.DataLoader(Base(action=action), num_workers=2))


FAILURES = {
    killed: r"worker 1 \(pid \d+\) was killed by signal 9 \(SIGKILL\); usually the system was out of memory",
    crash: r"worker 1 \(pid \d+\) was killed by signal 11 \(SIGSEGV\)",
    leave: r"worker 1 \(pid \d+\) has exited with code 3",
}


@pytest.mark.parametrize("action", FAILURES)
def test_a_worker_that_ends(action):
    for kind in (SystemError, RuntimeError):  # Paddle's class, and what PyTorch's users expect
        start = time.monotonic()
        with pytest.raises(kind, match=FAILURES[action]):
            list(ours.io.DataLoader(Base(action=action), num_workers=2, timeout=30))
        assert time.monotonic() - start < 20


def test_a_worker_that_is_killed_while_it_waits():
    loader = iter(ours.io.DataLoader(Pids(1000), num_workers=2, prefetch_factor=1))
    pid = next(loader).item()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match=f"pid {pid}.*SIGKILL"):
        for _ in loader:
            pass


def test_a_worker_that_hangs():
    start = time.monotonic()
    with pytest.raises(
        WorkerError, match=r"worker 1 \(pid \d+\) gave no batch within timeout=0.5 s"
    ) as caught:
        list(ours.io.DataLoader(Base(action=hang), num_workers=2, timeout=0.5))
    assert time.monotonic() - start < 20
    assert_gone([int(str(caught.value).split("pid ")[1].split(")")[0])])


def no_database(number):
    raise OSError("no database")


def test_init_that_fails():
    with pytest.raises(OSError, match="database"):
        list(ours.io.DataLoader(Base(), num_workers=2, worker_init_fn=no_database))


def test_a_batch_that_cannot_travel():
    with pytest.raises(TypeError, match="pickle"):
        list(
            ours.io.DataLoader(Base(), num_workers=1, collate_fn=lambda batch: __import__("threading").Lock())
        )


def test_without_cloudpickle_lambdas_are_read_by_threads(monkeypatch):
    monkeypatch.setattr(exchange, "by_value", lambda: None)
    with pytest.warns(UserWarning, match="threads, not processes.*cloudpickle"):
        assert list(
            ours.io.DataLoader(Base(2), num_workers=2, collate_fn=lambda batch: {"n": len(batch)})
        ) == [{"n": 1}, {"n": 1}]
    # what a module has needs no cloudpickle
    assert len(read(ours.io.DataLoader(Base(2), num_workers=2))) == 2


def test_data_that_a_worker_cannot_load():
    data = Base(2)
    data.part = types.ModuleType("nowhere_to_be_found")
    data.part.__dict__["Part"] = type("Part", (), {"__module__": "nowhere_to_be_found"})
    sys.modules["nowhere_to_be_found"] = data.part
    data.part = data.part.Part()
    try:
        with pytest.warns(UserWarning, match="threads.*nowhere_to_be_found"):
            assert len(list(ours.io.DataLoader(data, num_workers=2))) == 2
    finally:
        del sys.modules["nowhere_to_be_found"]


def test_the_server_comes_back():
    assert len(read(ours.io.DataLoader(Base(2), num_workers=1))) == 2
    os.kill(forkserver._Server.process.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert len(read(ours.io.DataLoader(Base(2), num_workers=1))) == 2


def test_an_ended_server_that_is_not_reported_yet(monkeypatch):
    """A request notices that the server has ended, and starts another."""
    forkserver.start()
    server = forkserver._Server.process
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    real = server.poll
    answers = iter([None])
    monkeypatch.setattr(server, "poll", lambda: next(answers, real()))
    pid, sock = forkserver.fork("paddle_jax.io.dataloader.remote:work")
    sock.close()
    forkserver.end(pid)
    assert forkserver._Server.process is not server


def test_an_interrupt_while_workers_are_made(monkeypatch):
    """Neither answers nor batches of what was interrupted are taken for those of what comes next."""
    for name, module in (
        ("_receive", forkserver),
        ("receive", sys.modules["paddle_jax.io.dataloader.process"]),
    ):
        real = getattr(module, name)

        def interrupted(*args, real=real):
            real(*args)
            raise KeyboardInterrupt

        monkeypatch.setattr(module, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(ours.io.DataLoader(Base(4), num_workers=2))
        monkeypatch.undo()
        assert [batch[1].item() for batch in ours.io.DataLoader(Base(4), num_workers=2)] == [0, 1, 2, 3]


def test_large_arrays_are_not_copied_into_each_worker():
    """A worker's data set lies in memory that all map; writing to it stays in the worker."""
    packed = exchange.Packed({"x": np.arange(100_000.0), "text": "a"})
    ours_end, theirs = __import__("socket").socketpair()
    with ours_end, theirs:
        for _ in range(2):
            packed.send(ours_end)
            found = exchange.receive(theirs, private=True)
            np.testing.assert_array_equal(found["x"], np.arange(100_000.0))
            found["x"][:] = 0
    packed.close()
    assert pickle.loads(pickle.dumps(found))["text"] == "a"


def test_code_of_a_program_in_a_process_that_it_started(monkeypatch):
    """There the program's module is `__mp_main__`, which workers do not have."""
    module = types.ModuleType("__mp_main__")
    exec(
        "FACTOR = 3\ndef scaled(x): return FACTOR * x\nclass Data:\n    run = staticmethod(scaled)\n",
        vars(module),
    )
    monkeypatch.setitem(sys.modules, "__mp_main__", module)
    data = exchange.Packed(module.Data(), shared=False).bytes()
    back = exchange.Packed(module.Data(), shared=False, back=True).bytes()
    assert "__mp_main__" not in exchange.by_value().list_registry_pickle_by_value()
    monkeypatch.setitem(sys.modules, "__mp_main__", types.ModuleType("__mp_main__"))
    found = exchange.opened(data)
    assert found.run(2) == 6
    # What comes back has the class that the program knows.
    monkeypatch.setitem(sys.modules, "__main__", module)
    assert type(exchange.opened(back)) is module.Data
