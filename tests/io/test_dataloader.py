"""DataLoader against the real Paddle (single process), and threads against the single process."""

import gc
import importlib
import threading
import time

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.io

oracle = pytest.importorskip("paddle")


def make(module):
    class Rows(module.io.Dataset):
        def __init__(self, count=5):
            self.count = count

        def __getitem__(self, idx):
            return np.full([2], idx, "float32"), idx

        def __len__(self):
            return self.count

    class Dicts(Rows):
        def __getitem__(self, idx):
            return {"x": np.full([1], idx, "float64"), "s": "text", "deep": (idx, [idx])}

    class Tensors(Rows):
        def __getitem__(self, idx):
            return module.to_tensor([float(idx)])

    class Stream(module.io.IterableDataset):
        def __iter__(self):
            return iter((np.full([2], i, "float32"), i) for i in range(5))

    return Rows, Dicts, Tensors, Stream


def plain(item):
    if isinstance(item, ours.Tensor | oracle.Tensor):
        return "Tensor", str(item.dtype), item.tolist(), item.stop_gradient
    if isinstance(item, dict):
        return {key: plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return type(item).__name__, [plain(part) for part in item]
    return item


def pick(batch):
    return [len(batch), np.array([sample[1] for sample in batch])]


LOADERS = {
    "batches": lambda m, R, D, T, S: m.io.DataLoader(R(), batch_size=2),
    "drop_last": lambda m, R, D, T, S: m.io.DataLoader(R(), batch_size=2, drop_last=True),
    "shuffle": lambda m, R, D, T, S: m.io.DataLoader(R(9), batch_size=2, shuffle=True),
    "no_batches": lambda m, R, D, T, S: m.io.DataLoader(R(3), batch_size=None),
    "batch_sampler": lambda m, R, D, T, S: m.io.DataLoader(
        R(), batch_sampler=m.io.BatchSampler(R(), batch_size=4)
    ),
    "batch_list": lambda m, R, D, T, S: m.io.DataLoader(R(), batch_sampler=[[0, 1], [3]]),
    "collate": lambda m, R, D, T, S: m.io.DataLoader(R(), batch_size=2, collate_fn=pick),
    "collate_nested": lambda m, R, D, T, S: m.io.DataLoader(
        R(), batch_size=2, collate_fn=lambda b: {"n": 3, "z": None, "t": (1, np.ones(1)), "s": ["a"]}
    ),
    "dicts": lambda m, R, D, T, S: m.io.DataLoader(D(), batch_size=2),
    "tensors": lambda m, R, D, T, S: m.io.DataLoader(T(), batch_size=2),
    "tensor_dataset": lambda m, R, D, T, S: m.io.DataLoader(
        m.io.TensorDataset([m.to_tensor([[1.0], [2.0], [3.0]]), m.to_tensor([4, 5, 6])]), batch_size=2
    ),
    "return_list": lambda m, R, D, T, S: m.io.DataLoader(R(), batch_size=2, return_list=False),
    "stream": lambda m, R, D, T, S: m.io.DataLoader(S(), batch_size=3),
    "stream_drop": lambda m, R, D, T, S: m.io.DataLoader(S(), batch_size=3, drop_last=True),
    "stream_no_batches": lambda m, R, D, T, S: m.io.DataLoader(S(), batch_size=None),
    "list": lambda m, R, D, T, S: m.io.DataLoader([1, 2, 3], batch_size=2),
    "subset": lambda m, R, D, T, S: m.io.DataLoader(m.io.Subset(R(), [4, 2]), batch_size=2),
}


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("name", LOADERS)
def test_batches(name, workers):
    def run(module):
        np.random.seed(3)
        loader = LOADERS[name](module, *make(module))
        if module is ours:
            loader.num_workers = 1 if name.startswith("stream") and workers else workers
        return [plain(batch) for batch in loader]

    assert run(ours) == run(oracle)


BAD = {
    "workers": lambda m, R, S: m.io.DataLoader(R(), num_workers=-1),
    "timeout": lambda m, R, S: m.io.DataLoader(R(), timeout=-1),
    "prefetch": lambda m, R, S: m.io.DataLoader(R(), prefetch_factor=0),
    "place": lambda m, R, S: m.io.DataLoader(R(), places=3),
    "no_dataset": lambda m, R, S: m.io.DataLoader(None),
    "batch_zero": lambda m, R, S: m.io.DataLoader(R(), batch_size=0),
    "batch_float": lambda m, R, S: m.io.DataLoader(R(), batch_size=2.0),
    "sampler_and_size": lambda m, R, S: m.io.DataLoader(
        R(), batch_sampler=m.io.BatchSampler(R()), batch_size=2
    ),
    "sampler_and_shuffle": lambda m, R, S: m.io.DataLoader(
        R(), batch_sampler=m.io.BatchSampler(R()), shuffle=True
    ),
    "sampler_and_drop": lambda m, R, S: m.io.DataLoader(
        R(), batch_sampler=m.io.BatchSampler(R()), drop_last=True
    ),
    "stream_shuffle": lambda m, R, S: m.io.DataLoader(S(), shuffle=True),
    "stream_sampler": lambda m, R, S: m.io.DataLoader(S(), batch_sampler=m.io.BatchSampler(R())),
    "stream_len": lambda m, R, S: len(m.io.DataLoader(S())),
    "single_drop": lambda m, R, S: m.io.DataLoader(R(), batch_size=None, drop_last=True),
    "exhausted": lambda m, R, S: [next(i) for i in [iter(m.io.DataLoader(R(1)))] for _ in range(2)],
    "length": lambda m, R, S: [len(m.io.DataLoader(R(), batch_size=b)) for b in (1, 2, None)],
    "attributes": lambda m, R, S: [
        [d.batch_size, d.drop_last, d.num_workers, d.return_list, d.batch_sampler.batch_size]
        for d in [m.io.DataLoader(R(), None)]
    ],
}


@pytest.mark.parametrize("name", BAD)
def test_errors(name):
    def run(module):
        rows, _, _, stream = make(module)
        try:
            result = BAD[name](module, rows, stream)
            return result if isinstance(result, list) else "accepted"
        except Exception as error:
            return type(error)

    assert run(ours) == run(oracle)


@pytest.mark.parametrize("workers", [0, 2])
def test_user_error_arrives(workers):
    class Broken(ours.io.Dataset):
        def __getitem__(self, idx):
            if idx == 3:
                raise KeyError("boom")
            return idx

        def __len__(self):
            return 6

    seen = []
    with pytest.raises(KeyError, match="boom"):
        for batch in ours.io.DataLoader(Broken(), num_workers=workers):
            seen += batch.tolist()
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("workers", [0, 2])
def test_stop_iteration_is_not_the_end(workers):
    class Broken(ours.io.Dataset):
        def __getitem__(self, idx):
            raise StopIteration

        def __len__(self):
            return 6

    with pytest.raises(RuntimeError):
        list(ours.io.DataLoader(Broken(), num_workers=workers))


class Threads:
    """Keeps a data set from being sent to processes: the workers are threads then, and the user is told."""

    def __reduce__(self):
        raise TypeError("it stays here")


def threaded(dataset, **settings):
    dataset.kept = Threads()
    loader = ours.io.DataLoader(dataset, **settings)
    with pytest.warns(UserWarning, match="threads, not processes"):
        batches = iter(loader)
        yield next(batches)
    yield from batches


def test_threads_overlap_and_keep_order():
    """Four workers are inside the data set at the same time, and batches come in order all the same."""
    barrier = threading.Barrier(4, timeout=20)

    class Slow(ours.io.Dataset):
        def __getitem__(self, idx):
            barrier.wait()
            time.sleep(0.02 * (3 - idx % 4))
            return idx

        def __len__(self):
            return 8

    assert [batch.item() for batch in threaded(Slow(), num_workers=4)] == list(range(8))


def test_worker_info_shards_a_stream():
    class Part(ours.io.IterableDataset):
        def __iter__(self):
            info = ours.io.get_worker_info()
            assert info.dataset is self
            with pytest.raises(RuntimeError):
                info.id = 5
            return iter(range(info.id, 10, info.num_workers))

    batches = [batch.tolist() for batch in ours.io.DataLoader(Part(), batch_size=2, num_workers=3)]
    # Worker 0 has four samples, the others three: the turn goes on without who is done.
    assert batches == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    assert ours.io.get_worker_info() is None


def test_whole_stream_per_worker():
    """Without sharding every worker reads the whole stream, as in Paddle."""
    stream = make(ours)[3]
    assert [b[1].tolist() for b in ours.io.DataLoader(stream(), batch_size=3, num_workers=2)] == [
        [0, 1, 2],
        [0, 1, 2],
        [3, 4],
        [3, 4],
    ]


@pytest.mark.parametrize("persistent, starts", [(False, [0, 1, 0, 1]), (True, [0, 1])])
def test_init_of_threads(persistent, starts):
    seen = []
    data = make(ours)[0]()
    data.kept = Threads()
    loader = ours.io.DataLoader(
        data, num_workers=2, worker_init_fn=seen.append, persistent_workers=persistent
    )
    with pytest.warns(UserWarning, match="threads"):
        list(loader)
    list(loader)
    assert sorted(seen) == sorted(starts)


def test_timeout_of_threads():
    release = threading.Event()

    class Stuck(ours.io.Dataset):
        def __getitem__(self, idx):
            release.wait(20)
            return idx

        def __len__(self):
            return 2

    with pytest.raises(RuntimeError, match="timeout"):
        list(threaded(Stuck(), num_workers=1, timeout=0.05))
    release.set()


def test_abandoned_epoch_ends_its_threads():
    before = threading.active_count()
    data = make(ours)[0](100)
    epoch = threaded(data, num_workers=4)
    next(epoch)
    del epoch
    gc.collect()
    for _ in range(200):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_reused_buffer():
    """A data set may give out the same array again and again."""
    buffer = np.zeros(1024, "float32")

    class Reuse(ours.io.Dataset):
        def __getitem__(self, idx):
            buffer[:] = idx
            return buffer

        def __len__(self):
            return 3

    assert [batch[0].item() for batch in ours.io.DataLoader(Reuse(), batch_size=None)] == [0.0, 1.0, 2.0]
    kept = list(ours.io.DataLoader(Reuse(), batch_size=None))
    assert [batch[0].item() for batch in kept] == [0.0, 1.0, 2.0]


def test_feed_names_and_places():
    class Variable:
        def __init__(self, name):
            self.name = name

    loader = ours.io.DataLoader(
        make(ours)[0](2),
        feed_list=[Variable("x"), Variable("y")],
        return_list=False,
        batch_size=2,
        places="cpu",
    )
    (feed,) = next(iter(loader))
    assert list(feed) == ["x", "y"] and feed["y"].tolist() == [0, 1] and str(feed["x"].place) == "Place(cpu)"


def test_two_epochs_at_once():
    loader = ours.io.DataLoader(make(ours)[0](3))
    assert [(a[1].item(), b[1].item()) for a, b in zip(loader, loader(), strict=True)] == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]
    assert len(iter(loader)) == 3


def test_shuffle_without_batches():
    with pytest.warns(UserWarning, match="shuffle"):
        loader = ours.io.DataLoader(list(range(9)), batch_size=None, shuffle=True)
    assert list(loader) == list(range(9))


def test_text_arrays_are_refused():
    with pytest.raises(ValueError, match="dtype"):
        list(ours.io.DataLoader([np.array("a")]))


def test_what_iterates(paddle, oracle):
    """The class that PaddleNLP asks for, with the attributes that it reads."""
    for module in (paddle, oracle):
        data = module.io.TensorDataset([module.arange(4)])
        loader = module.io.DataLoader(data, batch_size=2)
        found = iter(loader)
        iterators = importlib.import_module(f"{module.__name__}.io.dataloader.dataloader_iter")
        assert isinstance(found, iterators._DataLoaderIterBase) and not isinstance(
            loader, iterators._DataLoaderIterBase
        )
        assert found._dataset is data and found._batch_sampler.batch_size == 2
        assert len(list(found)) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 2},
        {"batch_size": None},
        {"batch_size": 2, "collate_fn": lambda batch: batch},
        {"batch_size": 2, "collate_fn": lambda batch: (batch[0], [batch[1]])},
    ],
)
def test_tensors_of_the_data_set_are_not_handed_out_themselves(options, paddle, oracle):
    found = []
    for engine in (oracle, paddle):
        kept = engine.ones([2])
        kept.stop_gradient = False

        class Kept(engine.io.Dataset):
            def __getitem__(self, index, kept=kept):
                return kept

            def __len__(self):
                return 2

        batch = next(iter(engine.io.DataLoader(Kept(), **options)))
        first = batch[0] if isinstance(batch, list) else batch
        found.append((type(batch).__name__, first.stop_gradient, first is kept, first.tolist()))
        first.stop_gradient = False
        assert kept.grad is None and not kept.stop_gradient
    assert found[0] == found[1]
    assert found[0][1:3] == (True, False)
