"""Data sets, samplers and collation against the real Paddle."""

import itertools

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.io
from paddle_jax.io.dataloader.collate import default_collate_fn, default_convert_fn

oracle = pytest.importorskip("paddle")
collate_module = pytest.importorskip("paddle.io.dataloader.collate")


def make(module):
    """A map-style and an iterable data set of one library."""

    class Rows(module.io.Dataset):
        def __init__(self, count=5):
            self.count = count

        def __getitem__(self, idx):
            return np.full([2], idx, "float32"), idx

        def __len__(self):
            return self.count

    class Stream(module.io.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    return Rows, Stream


def plain(item):
    if isinstance(item, ours.Tensor | oracle.Tensor):
        return "Tensor", str(item.dtype), item.tolist(), item.stop_gradient
    if isinstance(item, np.ndarray):
        return "array", str(item.dtype), item.tolist()
    if isinstance(item, dict):
        return {key: plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return type(item).__name__, [plain(part) for part in item]
    return item


def outcome(call, module):
    """What a call gives, or the class of what it raises."""
    try:
        return plain(call(module, *make(module)))
    except Exception as error:
        return type(error)


ITEMS = {
    "dataset_get": lambda m, R, S: m.io.Dataset()[0],
    "dataset_len": lambda m, R, S: len(m.io.Dataset()),
    "iterable_get": lambda m, R, S: S()[0],
    "iterable_len": lambda m, R, S: len(S()),
    "iterable_iter": lambda m, R, S: iter(m.io.IterableDataset()),
    "tensor": lambda m, R, S: m.io.TensorDataset([m.to_tensor([1.0, 2.0]), m.to_tensor([3, 4])])[1],
    "tensor_len": lambda m, R, S: len(m.io.TensorDataset([m.to_tensor([1.0, 2.0])])),
    "tensor_mismatch": lambda m, R, S: m.io.TensorDataset([m.to_tensor([1.0, 2.0]), m.to_tensor([3])]),
    "tensor_empty": lambda m, R, S: len(m.io.TensorDataset([])),
    "compose": lambda m, R, S: m.io.ComposeDataset([R(), R()])[1],
    "compose_len": lambda m, R, S: len(m.io.ComposeDataset([R(4), R(4)])),
    "compose_mismatch": lambda m, R, S: m.io.ComposeDataset([R(4), R(5)]),
    "compose_iterable": lambda m, R, S: m.io.ComposeDataset([S()]),
    "compose_none": lambda m, R, S: m.io.ComposeDataset([]),
    "chain": lambda m, R, S: list(iter(m.io.ChainDataset([S(), S()]))),
    "chain_map": lambda m, R, S: m.io.ChainDataset([R()]),
    "chain_none": lambda m, R, S: m.io.ChainDataset([]),
    "concat": lambda m, R, S: [m.io.ConcatDataset([R(2), R(3)])[i] for i in range(-5, 5)],
    "concat_sizes": lambda m, R, S: m.io.ConcatDataset([R(2), R(3)]).cumulative_sizes,
    "concat_low": lambda m, R, S: m.io.ConcatDataset([R(2), R(3)])[-6],
    "concat_high": lambda m, R, S: m.io.ConcatDataset([R(2), R(3)])[7],
    "concat_iterable": lambda m, R, S: m.io.ConcatDataset([S()]),
    "concat_none": lambda m, R, S: m.io.ConcatDataset([]),
    "subset": lambda m, R, S: [len(m.io.Subset(R(), [3, 1])), m.io.Subset(R(), [3, 1])[0]],
    "subset_high": lambda m, R, S: m.io.Subset(R(), [3, 1])[2],
    "split_sum": lambda m, R, S: m.io.random_split(R(), [2, 2]),
    "split_fraction_sum": lambda m, R, S: m.io.random_split(R(), [0.3, 0.3]),
    "split_sizes": lambda m, R, S: [
        [len(p) for p in m.io.random_split(R(n), f)]
        for n, f in ((5, [2, 3]), (5, [0.5, 0.5]), (11, [0.3, 0.3, 0.2, 0.1, 0.1]))
    ],
    "split_covers": lambda m, R, S: sorted(
        itertools.chain(*[p.indices for p in m.io.random_split(R(9), [4, 5])])
    ),
    "sampler": lambda m, R, S: iter(m.io.Sampler(R())),
    "sequence": lambda m, R, S: [list(m.io.SequenceSampler(R())), len(m.io.SequenceSampler(R()))],
    "random": lambda m, R, S: [
        list(m.io.RandomSampler(R(20))),
        list(m.io.RandomSampler(R(20), num_samples=7)),
    ],
    "random_replacement": lambda m, R, S: [list(m.io.RandomSampler(R(20), True, n)) for n in (3, 30, None)],
    "random_generator": lambda m, R, S: [
        list(m.io.RandomSampler(R(), generator=g)) for g in (itertools.cycle([1, 2]), iter([3]))
    ],
    "random_len": lambda m, R, S: [
        len(m.io.RandomSampler(R(), num_samples=3)),
        m.io.RandomSampler(R()).num_samples,
    ],
    "random_many": lambda m, R, S: m.io.RandomSampler(R(), num_samples=10),
    "random_zero": lambda m, R, S: m.io.RandomSampler(R(), True, 0),
    "random_float": lambda m, R, S: m.io.RandomSampler(R(), True, 2.0),
    "random_flag": lambda m, R, S: m.io.RandomSampler(R(), replacement=1),
    "weighted": lambda m, R, S: [
        list(m.io.WeightedRandomSampler(np.arange(9.0), 20)),
        list(m.io.WeightedRandomSampler(np.arange(9.0), 8, False)),
    ],
    "weighted_negative": lambda m, R, S: list(m.io.WeightedRandomSampler([-0.1, 0.5], 3)),
    "weighted_few": lambda m, R, S: list(m.io.WeightedRandomSampler([0.0, 0.5], 2, False)),
    "weighted_none": lambda m, R, S: list(m.io.WeightedRandomSampler([0, 0], 2)),
    "weighted_zero": lambda m, R, S: m.io.WeightedRandomSampler([0.1], 0),
    "weighted_flag": lambda m, R, S: m.io.WeightedRandomSampler([0.1], 1, 1),
    "subset_random": lambda m, R, S: [
        sorted(m.io.SubsetRandomSampler([4, 2, 7])),
        len(m.io.SubsetRandomSampler([4])),
    ],
    "subset_random_none": lambda m, R, S: m.io.SubsetRandomSampler([]),
    "batch": lambda m, R, S: [list(m.io.BatchSampler(R(), batch_size=2, drop_last=d)) for d in (True, False)],
    "batch_len": lambda m, R, S: [
        len(m.io.BatchSampler(R(), batch_size=2, drop_last=d)) for d in (True, False)
    ],
    "batch_shuffle": lambda m, R, S: list(m.io.BatchSampler(R(), shuffle=True, batch_size=2)),
    "batch_sampler": lambda m, R, S: list(m.io.BatchSampler(sampler=[5, 6, 7], batch_size=2)),
    "batch_nothing": lambda m, R, S: m.io.BatchSampler(),
    "batch_both": lambda m, R, S: m.io.BatchSampler(R(), m.io.SequenceSampler(R())),
    "batch_iterable": lambda m, R, S: m.io.BatchSampler(S()),
    "batch_zero": lambda m, R, S: m.io.BatchSampler(R(), batch_size=0),
    "batch_float": lambda m, R, S: m.io.BatchSampler(R(), batch_size=2.0),
    "batch_flag": lambda m, R, S: m.io.BatchSampler(R(), shuffle=1),
    "batch_drop_flag": lambda m, R, S: m.io.BatchSampler(R(), drop_last=1),
    "batch_sampler_shuffle": lambda m, R, S: m.io.BatchSampler(sampler=[1], shuffle=True),
    "distributed": lambda m, R, S: [
        [list(b), len(b)]
        for n in (1, 4, 5, 13)
        for r in range(3)
        for s in (True, False)
        for d in (True, False)
        for b in [m.io.DistributedBatchSampler(R(n), 2, 3, r, shuffle=s, drop_last=d)]
    ],
    "distributed_epochs": lambda m, R, S: [
        [list(b), b.epoch, b.set_epoch(7), list(b), b.epoch]
        for b in [m.io.DistributedBatchSampler(R(7), 2, 2, 0, True)]
    ],
    "distributed_alone": lambda m, R, S: [
        list(m.io.DistributedBatchSampler(R(7), 2)),
        m.io.DistributedBatchSampler(R(7), 2).nranks,
    ],
    "distributed_batch": lambda m, R, S: m.io.DistributedBatchSampler(R(7), 0),
    "distributed_replicas": lambda m, R, S: m.io.DistributedBatchSampler(R(7), 2, 0, 0),
    "distributed_rank": lambda m, R, S: m.io.DistributedBatchSampler(R(7), 2, 2, -1),
    "distributed_rank_high": lambda m, R, S: list(m.io.DistributedBatchSampler(R(7), 2, 2, 2)),
    "distributed_flag": lambda m, R, S: m.io.DistributedBatchSampler(R(7), 2, 2, 0, shuffle=1),
    "distributed_iterable": lambda m, R, S: m.io.DistributedBatchSampler(S(), 2, 2, 0),
    "worker_info": lambda m, R, S: m.io.get_worker_info(),
    "names": lambda m, R, S: m.io.__all__,
}


@pytest.mark.parametrize("name", ITEMS)
def test_item(name):
    results = []
    for module in (oracle, ours):
        np.random.seed(7)
        results.append(outcome(ITEMS[name], module))
    assert results[1] == results[0]


BATCHES = {
    "arrays": lambda m: [np.ones(2), np.zeros(2)],
    "tensors": lambda m: [m.to_tensor([1.0]), m.to_tensor([2.0])],
    "ints": lambda m: [1, 2],
    "floats": lambda m: [1.5, 2.0],
    "mixed": lambda m: [1, 2.5],
    "numpy_scalars": lambda m: [np.float32(1), np.float32(2)],
    "bools": lambda m: [True, False],
    "complex": lambda m: [1 + 2j],
    "strings": lambda m: ["a", "b"],
    "bytes": lambda m: [b"a", b"b"],
    "dicts": lambda m: [{"a": 1, "b": np.ones(1)}, {"a": 2, "b": np.ones(1)}],
    "tuples": lambda m: [(1, 2.0), (3, 4.0)],
    "nested": lambda m: [[[1, 2], [3]], [[1, 2], [4]]],
    "none": lambda m: [None],
    "object": lambda m: [object()],
    "set": lambda m: [{1}],
    "numpy_bool": lambda m: [np.bool_(1)],
    "shapes": lambda m: [np.ones(2), np.ones(3)],
    "lengths": lambda m: [(1,), (1, 2)],
    "keys": lambda m: [{"a": 1}, {"b": 1}],
    "empty": lambda m: [],
    "text_field": lambda m: [[1, "x"], [2, "y"]],
}


@pytest.mark.parametrize("name", BATCHES)
def test_collate(name):
    def run(function, module):
        try:
            return plain(function(BATCHES[name](module)))
        except Exception as error:
            return type(error)

    assert run(default_collate_fn, ours) == run(collate_module.default_collate_fn, oracle)
    if name not in ("object", "none"):
        assert run(default_convert_fn, ours) == run(collate_module.default_convert_fn, oracle)


def test_seed_repeats_splits():
    def draw():
        ours.seed(5)
        sampler = ours.io.SubsetRandomSampler(list(range(50)))
        return ours.io.random_split(list(range(50)), [25, 25])[0].indices, list(sampler), list(sampler)

    first, second = draw(), draw()
    assert first == second
    assert first[1] != first[2]


def test_weighted_frequencies():
    np.random.seed(0)
    drawn = list(ours.io.WeightedRandomSampler([1.0, 3.0, 0.0], 4000))
    assert set(drawn) == {0, 1}
    assert abs(np.mean(drawn) - 0.75) < 0.03
