"""DataLoader.state_dict and load_state_dict: what is left of an epoch, its random numbers and the epochs
after it, in a loader that has read nothing.

Paddle has no such thing. What has to come is what the loader that was not stopped gives.
"""

import itertools
import json
import os
import random

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.io
from paddle_jax.io.dataloader.process import WorkerError
from tests import forked_python

COUNT = 11


class Drawn(ours.io.Dataset):
    """Random numbers of every generator; notes in a file which samples were read."""

    def __init__(self, log):
        self.log = log

    def __getitem__(self, idx):
        with self.log.open("a") as file:
            file.write(f"{idx}\n")
        return idx, random.random(), np.random.rand(), float(ours.rand([1]))

    def __len__(self):
        return COUNT


class Lazy(ours.io.Sampler):
    """Draws each index when it is wanted."""

    def __iter__(self):
        return (random.randrange(COUNT) for _ in range(COUNT))

    def __len__(self):
        return COUNT


class Own(ours.io.Sampler):
    """Has a generator of its own, and says where it is."""

    def __init__(self, seed):
        self.random, self.at = random.Random(seed), 0

    def __iter__(self):
        while self.at < COUNT:
            self.at += 1
            yield self.random.randrange(COUNT)
        self.at = 0

    def __len__(self):
        return COUNT

    def state_dict(self):
        return {"at": self.at, "random": repr(self.random.getstate())}

    def load_state_dict(self, state):
        self.at = state["at"]
        version, numbers, gauss = eval(state["random"])
        self.random.setstate((version, numbers, gauss))


def over(sampler, size=2):
    return {"batch_sampler": ours.io.BatchSampler(sampler=sampler, batch_size=size)}


# what a loader gets besides the data set; `seed` is that of the process
ORDERS = {
    "in order": lambda data, seed: {"batch_size": 2},
    "shuffled": lambda data, seed: {"batch_size": 2, "shuffle": True},
    "shuffled, last one dropped": lambda data, seed: {"batch_size": 3, "shuffle": True, "drop_last": True},
    "single samples": lambda data, seed: {"batch_size": None},
    "distributed": lambda data, seed: {
        "batch_sampler": ours.io.DistributedBatchSampler(data, 2, num_replicas=2, rank=1, shuffle=True)
    },
    "weighted": lambda data, seed: over(ours.io.WeightedRandomSampler(np.arange(1, COUNT + 1), COUNT)),
    "subset": lambda data, seed: over(ours.io.SubsetRandomSampler(np.arange(COUNT))),
    "lazy": lambda data, seed: over(Lazy()),
    "own state": lambda data, seed: over(Own(seed)),
}
WORKERS = [
    0,
    pytest.param(
        2, marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="no worker processes on this system")
    ),
]


def sow(seed):
    ours.seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def plain(batch):
    return (
        [np.asarray(field).tolist() for field in batch]
        if isinstance(batch, list)
        else np.asarray(batch).tolist()
    )


def read(loader):
    return [plain(batch) for batch in loader]  # list(loader) asks for the length, which a stream has not


def stopped_and_resumed(make, stop, epoch=1):
    """(what the first loader gives after batch `stop` of an epoch and in the next epoch, the same of one that
    goes on from there)"""
    sow(3)
    loader = make(3)
    for _ in range(epoch):
        read(loader)
    left = []
    for number, batch in enumerate(loader):
        if number >= stop:
            left.append(plain(batch))
        if number + 1 == stop:
            ours.rand([2])  # as the training may
            state = json.loads(json.dumps(loader.state_dict()))
    left = [left, read(loader)]
    sow(99)
    other = make(99)
    np.random.rand(7)
    other.set_state_dict(state)
    return left, [read(other) for _ in range(2)]


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("name", ORDERS)
def test_the_missing_batches_come(name, workers, tmp_path):
    logs = []

    def make(seed):
        logs.append(tmp_path / str(len(logs)))
        data = Drawn(logs[-1])
        return ours.io.DataLoader(data, num_workers=workers, **ORDERS[name](data, seed))

    left, resumed = stopped_and_resumed(make, 2)
    assert resumed == left and len(left[0]) > 0
    epochs = [np.ravel(batch[0]).size for epoch in left for batch in epoch]
    assert len(logs[1].read_text().split()) == sum(epochs)  # nothing that had been read


@pytest.mark.parametrize("stop", [1, 5, 6])
def test_wherever_it_stops(stop, tmp_path):
    left, resumed = stopped_and_resumed(
        lambda seed: ours.io.DataLoader(Drawn(tmp_path / "log"), batch_size=2, shuffle=True), stop, epoch=0
    )
    assert resumed == left and len(left[0]) == 6 - stop


def test_between_epochs_and_before_the_first(tmp_path):
    for epochs in (0, 1):
        sow(3)
        loader = ours.io.DataLoader(Drawn(tmp_path / "log"), batch_size=2, shuffle=True)
        for _ in range(epochs):
            read(loader)
        state = loader.state_dict()
        expected = read(loader)
        other = ours.io.DataLoader(Drawn(tmp_path / "log"), batch_size=2, shuffle=True)
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert read(other) == expected and len(expected) == 6


def test_twice_and_in_the_same_loader(tmp_path):
    """A loader that was resumed is stopped and resumed again; one that broke off goes on itself."""
    sow(3)
    loader = ours.io.DataLoader(Drawn(tmp_path / "log"), shuffle=True)
    whole, states = [], []
    for batch in loader:
        whole.append(plain(batch))
        states.append(loader.state_dict())
    for step in (0, 4):
        loader.load_state_dict(states[step])
        rest = []
        for batch in itertools.islice(loader, 3):
            rest.append(plain(batch))
        assert rest == whole[step + 1 : step + 4]
        loader.load_state_dict(loader.state_dict())
        assert read(loader) == whole[step + 4 :]


def test_distributed_epochs_that_the_program_sets(tmp_path):
    """set_epoch before each loop, as programs do it, also in the one that goes on."""

    def make(epoch):
        sampler = ours.io.DistributedBatchSampler(
            Drawn(tmp_path / "log"), 2, num_replicas=2, rank=0, shuffle=True
        )
        sampler.set_epoch(epoch)
        return ours.io.DataLoader(Drawn(tmp_path / "log"), batch_sampler=sampler)

    loader = make(5)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    other = make(5)
    other.load_state_dict(state)
    assert [plain(batch)[0] for batch in other] == [plain(batch)[0] for batch in batches]
    assert other.batch_sampler.epoch == loader.batch_sampler.epoch == 6


def test_paddle_save_takes_it(tmp_path):
    loader = ours.io.DataLoader(Drawn(tmp_path / "log"), batch_size=2, shuffle=True)
    batches = iter(loader)
    next(batches)
    ours.save({"data": loader.state_dict()}, str(tmp_path / "state"))
    expected = [plain(batch) for batch in batches]
    other = ours.io.DataLoader(Drawn(tmp_path / "log"), batch_size=2, shuffle=True)
    other.load_state_dict(ours.load(str(tmp_path / "state"))["data"])
    assert read(other) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no worker processes on this system")
def test_the_number_of_workers_may_change(tmp_path):
    """Processes give the same random numbers, however many there are; a loop without workers has its own,
    and the same order."""

    def make(workers, **settings):
        return ours.io.DataLoader(
            Drawn(tmp_path / "log"), batch_size=2, shuffle=True, num_workers=workers, **settings
        )

    sow(3)
    loader = make(3)
    batches = iter(loader)
    next(batches)
    state, expected = loader.state_dict(), [plain(batch) for batch in batches]
    for workers, settings in ((1, {"prefetch_factor": 1}), (2, {"persistent_workers": True}), (0, {})):
        other = make(workers, **settings)
        other.load_state_dict(state)
        rest = read(other)
        assert (
            rest == expected if workers else [batch[0] for batch in rest] == [batch[0] for batch in expected]
        )
        if workers == 2:
            other.load_state_dict(state)
            assert read(other) == expected


class Broken(Drawn):
    def __getitem__(self, idx):
        if idx == 7 and self.log.with_suffix(".bad").exists():
            raise KeyError("boom")
        return super().__getitem__(idx)


@pytest.mark.parametrize("workers", WORKERS)
def test_after_an_exception_the_batch_is_read_again(workers, tmp_path):
    bad = tmp_path / "log.bad"
    sow(3)
    expected = [
        plain(batch)
        for batch in ours.io.DataLoader(Broken(tmp_path / "log"), shuffle=True, num_workers=workers)
    ]
    sow(3)
    bad.touch()
    loader, seen = ours.io.DataLoader(Broken(tmp_path / "log"), shuffle=True, num_workers=workers), []
    with pytest.raises(KeyError, match="boom"):
        for batch in loader:
            seen.append(plain(batch))
    bad.unlink()
    loader.load_state_dict(loader.state_dict())
    assert seen + read(loader) == expected and len(seen) < COUNT


# streams ----------------------------------------------------------------------------------------------------


class Stream(ours.io.IterableDataset):
    """Each worker's own part, in an order that it draws as it goes."""

    def __init__(self, log, seed=0):
        self.log = log

    def numbers(self):
        info = ours.io.get_worker_info()
        return list(range(15)) if info is None else list(range(info.id, 15 - 4 * info.id, info.num_workers))

    def __iter__(self):
        pool = self.numbers()
        while pool:
            number = pool.pop(np.random.randint(min(len(pool), 3)))
            self.note(number)
            yield number, random.random()

    def note(self, number):
        with self.log.open("a") as file:
            file.write(f"{number}\n")


class Stated(Stream):
    """The same, with a place that it can go on from."""

    def __init__(self, log, seed=0):
        super().__init__(log)
        self.pool = None

    def __iter__(self):
        self.pool = self.numbers() if self.pool is None else self.pool
        while self.pool:
            number = self.pool.pop(np.random.randint(min(len(self.pool), 3)))
            self.note(number)
            yield number, random.random()
        self.pool = None

    def state_dict(self):
        return {"pool": None if self.pool is None else list(self.pool)}

    def load_state_dict(self, state):
        self.pool = state["pool"]


@pytest.mark.parametrize("workers", [*WORKERS, pytest.param(3, marks=WORKERS[1].marks)])
@pytest.mark.parametrize("kind", [Stream, Stated])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_streams(kind, workers, stop, tmp_path):
    logs = []

    def make(seed):
        logs.append(tmp_path / str(len(logs)))
        return ours.io.DataLoader(kind(logs[-1]), batch_size=2, num_workers=workers)

    left, resumed = stopped_and_resumed(make, stop)
    assert resumed == left and left[0]
    again = len(logs[1].read_text().split()) - sum(len(batch[0]) for epoch in left for batch in epoch)
    assert again == (0 if kind is Stated else 2 * stop)


def test_a_stream_that_is_shorter_now(tmp_path):
    class Short(Stream):
        def numbers(self):
            return [1, 2]

    loader = ours.io.DataLoader(Stream(tmp_path / "log"), batch_size=2)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    other = ours.io.DataLoader(Short(tmp_path / "log"), batch_size=2)
    other.load_state_dict(loader.state_dict())
    with pytest.raises(RuntimeError, match="ended 2 batches before"):
        read(other)


class Kept(Stream):
    """Cannot be sent to processes."""

    def __reduce__(self):
        raise TypeError("it stays here")


class KeptStated(Stated):
    def __reduce__(self):
        raise TypeError("it stays here")


@pytest.mark.filterwarnings("ignore:.*threads, not processes")
@pytest.mark.parametrize("kind", [Kept, KeptStated])
def test_threads(kind, tmp_path):
    """They share the data set, so its own state is of no use."""
    if kind is KeptStated:  # one pool for both
        with pytest.raises(RuntimeError, match="threads, which share one"):
            loader = ours.io.DataLoader(kind(tmp_path / "log"), num_workers=2)
            loader.load_state_dict({**loader.state_dict(), "running": {"streams": {0: {"pool": [1]}}}})
            read(loader)
        return
    loader = ours.io.DataLoader(kind(tmp_path / "log"), num_workers=2)
    batches = iter(loader)
    seen = [plain(next(batches))[0] for _ in range(4)]
    state, left = loader.state_dict(), [plain(batch)[0] for batch in batches]
    other = ours.io.DataLoader(kind(tmp_path / "log"), num_workers=2)
    other.load_state_dict(state)
    assert len([plain(batch)[0] for batch in other]) == len(left) and len(seen + left) == 13


# refusals ---------------------------------------------------------------------------------------------------


def test_what_is_no_state_of_it(tmp_path):
    data = Drawn(tmp_path / "log")
    state = ours.io.DataLoader(data, batch_size=2).state_dict()
    with pytest.raises(TypeError, match="got list"):
        ours.io.DataLoader(data).load_state_dict([])
    with pytest.raises(ValueError, match="not of a DataLoader"):
        ours.io.DataLoader(data).load_state_dict({"form": "other"})
    with pytest.raises(ValueError, match="batch_size=2, this one has batch_size=3"):
        ours.io.DataLoader(data, batch_size=3).load_state_dict(state)
    with pytest.raises(ValueError, match="samples=11, this one has samples=4"):
        ours.io.DataLoader([1, 2, 3, 4], batch_size=2).load_state_dict(state)
    stream = ours.io.DataLoader(Stream(tmp_path / "log"), num_workers=2).state_dict()
    with pytest.raises(ValueError, match="num_workers=2, this one has num_workers=0"):
        ours.io.DataLoader(Stream(tmp_path / "log")).load_state_dict(stream)
    loader = ours.io.DataLoader(data, batch_size=2)
    with pytest.raises(ValueError):
        loader.load_state_dict(stream)
    assert len(list(loader)) == 6


class Forgetful(Stated):
    def load_state_dict(self, state):
        raise LookupError("no such place")


@pytest.mark.parametrize("workers", WORKERS)
def test_a_data_set_that_does_not_find_its_place(workers, tmp_path):
    loader = ours.io.DataLoader(Stated(tmp_path / "log"), num_workers=workers)
    batches = iter(loader)
    next(batches)
    other = ours.io.DataLoader(Forgetful(tmp_path / "log"), num_workers=workers)
    other.load_state_dict(loader.state_dict())
    with pytest.raises(LookupError, match="no such place") as caught:
        read(other)
    assert not isinstance(caught.value, WorkerError)


# another process --------------------------------------------------------------------------------------------

PROGRAM = """
import sys, os, json, random
import numpy as np, paddle
from paddle.io import DataLoader, Dataset
class Data(Dataset):
    def __len__(self): return 20
    def __getitem__(self, i): return i, np.random.rand()
file, workers, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
paddle.seed(5), np.random.seed(5)
loader, first = DataLoader(Data(), batch_size=3, shuffle=True, num_workers=workers), 0
if os.path.exists(file):
    kept = paddle.load(file)
    loader.set_state_dict(kept["loader"])
    first = kept["epoch"]
for epoch in range(first, 2):
    for number, batch in enumerate(loader):
        print(epoch, [field.tolist() for field in batch], flush=True)
        paddle.save({"loader": loader.state_dict(), "epoch": epoch}, file)
        if number == stop:
            os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("workers", WORKERS)
def test_a_program_that_was_killed(workers, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)

    def lines(name, stop, code):
        command = [
            "-m",
            "paddle_jax",
            str(path),
            str(tmp_path / name),
            str(workers),
            str(stop),
        ]
        done = forked_python.run(command, 120, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stdout.splitlines()

    whole = lines("one", -1, 0)
    assert len(whole) == 14 and lines("two", 2, -9) + lines("two", -1, 0) == whole
