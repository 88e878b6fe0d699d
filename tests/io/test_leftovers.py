"""Whatever becomes of an epoch: no process, thread, descriptor or mapping of shared memory stays, and it does
not take for ever.

Shared memory has no name here: what has neither a descriptor nor a mapping is gone.

Unit tests of `_core.process.forkserver`.
"""

import errno
import gc
import itertools
import mmap
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.io
from paddle_jax._core.process import forkserver
from paddle_jax.io.dataloader import exchange
from paddle_jax.io.dataloader.process import WorkerError
from tests.io.test_workers import is_gone

pytestmark = pytest.mark.skipif(
    not forkserver.available or sys.platform != "linux", reason="looks into /proc"
)
LIMIT = 60  # seconds


class Rows(ours.io.Dataset):
    """Samples that are worth a mapping; something happens at sample 5."""

    def __init__(self, action=None):
        self.action = action

    def __getitem__(self, idx):
        if self.action is not None and idx == 5:
            self.action()
        return np.full([64, 64], idx, "float32"), idx

    def __len__(self):
        return 12


class Stays(Rows):
    """Cannot be pickled."""

    def __init__(self, action=None):
        super().__init__(action)
        self.lock = threading.Lock()


def boom():
    raise KeyError("boom")


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    time.sleep(600)


def no_database(number):
    raise OSError("no database")


def held():
    """What the loader of this process holds: helper processes, threads, descriptors, and mappings of
    memory that is shared."""
    gc.collect()
    server = forkserver._Server.process.pid
    helpers = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    mappings = sum(
        "paddle_jax batch" in line or "/dev/shm/" in line
        for line in Path("/proc/self/maps").read_text().splitlines()
    )
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  counted with as little as possible open
    helpers = sum(not is_gone(pid) for pid in helpers)
    return {
        "helpers": helpers,
        "threads": threading.active_count(),
        "descriptors": descriptors,
        "mappings": mappings,
    }


@pytest.fixture(autouse=True)
def nothing_left():
    def late(*_):
        raise AssertionError(f"not done after {LIMIT} s")

    assert len(list(ours.io.DataLoader(Rows(), num_workers=1))) == 12  # the server is there
    handlers = {
        number: signal.signal(number, handler)
        for number, handler in ((signal.SIGALRM, late), (signal.SIGINT, signal.default_int_handler))
    }
    before = held()
    signal.alarm(LIMIT)
    try:
        yield
        while any(count > before[kind] for kind, count in held().items()):
            time.sleep(0.05)
    except AssertionError as error:
        error.add_note(f"held before {before}, now {held()}")
        raise
    finally:
        signal.alarm(0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


SETTINGS = [{}, {"use_shared_memory": False}, {"persistent_workers": True}]


def loader(action=None, kind=Rows, **settings):
    return ours.io.DataLoader(kind(action), batch_size=2, num_workers=2, **settings)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("batches", [1, 4, None])
def test_read_or_broken_off(settings, batches):
    found = [
        batch[1].tolist() for number, batch in zip(range(batches or 99), loader(**settings), strict=False)
    ]
    assert found == [[i, i + 1] for i in range(0, 2 * (batches or 6), 2)]


FAILURES = {
    boom: (KeyError, "boom"),
    killed: (WorkerError, "SIGKILL"),
    hang: (WorkerError, "no batch within timeout=0.5 s"),
}


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("action", FAILURES)
def test_failures(action, settings):
    error, text = FAILURES[action]
    with pytest.raises(error, match=text):
        list(loader(action, timeout=0.5 if action is hang else 0, **settings))


def test_failures_at_the_start():
    with pytest.raises(OSError, match="no database"):
        list(loader(worker_init_fn=no_database))
    with pytest.raises(TypeError, match="pickle"):
        list(loader(collate_fn=lambda batch: threading.Lock()))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_ctrl_c_while_a_worker_hangs(settings):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        list(loader(hang, **settings))


@pytest.mark.parametrize("action", [None, boom])
def test_a_data_set_that_cannot_be_pickled(action):
    """Threads read it, after a warning that names what stood in the way."""
    with pytest.warns(UserWarning, match=r"threads, not processes.*cannot pickle '_thread.lock' object"):
        if action is None:
            assert [batch[1].tolist() for batch in loader(kind=Stays)] == [
                [i, i + 1] for i in range(0, 12, 2)
            ]
        else:
            with pytest.raises(KeyError, match="boom"):
                list(loader(action, kind=Stays))


def test_a_resumed_epoch():
    first = loader()
    next(batches := iter(first))
    other = loader()
    other.load_state_dict(first.state_dict())
    assert [batch[1].tolist() for batch in other] == [batch[1].tolist() for batch in batches]


# where there is no memory to share --------------------------------------------------------------------------


def refuse_memory(kind):
    """A worker_init_fn: the system has no such memory, or none of it is left."""
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refused(*args):
        raise error

    return lambda number: setattr(os, kind, refused)


@pytest.mark.parametrize("kind", ["memfd_create", "pwrite", "ftruncate"])
def test_memory_that_is_refused_in_a_worker(kind):
    """Batches come through the socket."""
    found = list(loader(worker_init_fn=refuse_memory(kind)))
    np.testing.assert_array_equal(
        np.concatenate([batch[0].numpy() for batch in found])[:, 3, 4], np.arange(12.0)
    )


class Large(Rows):
    """Has an array that is worth a mapping, too."""

    def __init__(self, action=None):
        super().__init__(action)
        self.table = np.arange(100_000.0)

    def __getitem__(self, idx):
        return self.table[idx : idx + 30_000].astype("float32"), idx


def test_memory_and_mappings_that_are_refused_in_the_program(monkeypatch):
    def refused(*args, **settings):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(mmap, "mmap", refused)
    found = [list(loader(kind=Large))]
    monkeypatch.undo()
    monkeypatch.setattr(exchange, "_filled", lambda parts, sizes: None)
    found.append(list(loader(kind=Large)))
    for batches in found:
        np.testing.assert_array_equal(
            np.concatenate([batch[0].numpy() for batch in batches])[:, -1], np.arange(12.0) + 29_999
        )


PROGRAM = """
import numpy as np, paddle, os, sys
from paddle.io import DataLoader, Dataset
class Data(Dataset):
    def __len__(self): return 16
    def __getitem__(self, i): return np.full([3, 224, 224], i, "float32")
print(os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize, os.access("/dev/shm", os.W_OK))
numbers = [int(batch[0, 0, 0, 0]) for batch in DataLoader(Data(), batch_size=4, num_workers=2)]
print(numbers, os.listdir("/dev/shm"))
"""


@pytest.mark.parametrize("readable", ["size=1m", "size=1m,ro"])
def test_a_small_or_unwritable_dev_shm(readable, tmp_path):
    """Batches of 2.4 MB do not need it."""
    if not shutil.which("unshare"):
        pytest.skip("no unshare")
    mount = [
        "unshare",
        "-rm",
        "sh",
        "-c",
        f'mount -t tmpfs -o {readable} none /dev/shm || exit 77; exec "$@"',
        "sh",
    ]
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [*mount, sys.executable, "-m", "paddle_jax", str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        cwd=tmp_path,
        check=False,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no mounts of one's own on this system")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{1 << 20} {'ro' not in readable}", "[0, 4, 8, 12] []"]


@pytest.mark.parametrize("settings", [{}, {"use_shared_memory": False}], ids=str)
def test_two_hundred_epochs(settings):
    """Persistent workers: the same processes, descriptors and mappings after each epoch, and memory that
    does not grow with the epochs. A compilation of an earlier test may end meanwhile, which is one step."""
    batches, seen, resident = loader(persistent_workers=True, **settings), [], []
    for epoch in range(200):
        assert len(list(batches)) == 6
        if epoch % 20 == 19:
            seen.append(held())
            resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE)
    assert all(now == seen[0] for now in seen), seen
    growth = [after - before for before, after in itertools.pairwise(resident)]
    assert statistics.median(growth) < 4 << 20 // len(growth), resident
