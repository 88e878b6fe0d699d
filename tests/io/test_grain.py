"""Pipelines of grain as the source of a DataLoader."""

import itertools
import json

import numpy as np
import pytest

import paddle_jax as paddle

grain = pytest.importorskip("grain")


def pipeline():
    numbers = grain.MapDataset.source(np.arange(20)).shuffle(seed=4).filter(lambda x: x % 5 != 0)
    return numbers.map(lambda x: {"x": np.float32(x), "y": x % 2}).to_iter_dataset()


def whole():
    sampler = grain.samplers.IndexSampler(num_records=9, num_epochs=1, shuffle=True, seed=0)
    return grain.DataLoader(data_source=np.arange(9), sampler=sampler, worker_count=0)


def test_samples_are_batched():
    expected = [sample["x"] for sample in pipeline()]
    batches = [batch for batch in paddle.io.DataLoader(pipeline(), batch_size=3)]  # noqa: C416
    assert [len(batch["x"]) for batch in batches] == [3, 3, 3, 3, 3, 1]
    assert [x for batch in batches for x in batch["x"].tolist()] == expected
    assert batches[0]["x"].dtype == paddle.float32 and batches[0]["y"].dtype == paddle.int64


def test_batches_of_grain():
    loader = paddle.io.DataLoader(pipeline().batch(4), batch_size=None)
    np.testing.assert_array_equal(
        [batch["x"].numpy() for batch in loader], [batch["x"] for batch in pipeline().batch(4)]
    )


@pytest.mark.parametrize("source", [pipeline, whole])
def test_goes_on_from_a_state(source):
    loader = paddle.io.DataLoader(source(), batch_size=2)
    first = iter(loader)
    for _ in range(2):
        next(first)
    state = json.loads(json.dumps(loader.state_dict()))
    rest = [str(batch) for batch in first]
    other = paddle.io.DataLoader(source(), batch_size=2)
    other.load_state_dict(state)
    assert len(rest) > 1 and [str(batch) for batch in other] == rest
    # the next epoch begins at the start
    assert sum(1 for _ in other) == len(rest) + 2


def test_random_access():
    source = grain.MapDataset.source(np.arange(6)).map(lambda x: x * x)
    loader = paddle.io.DataLoader(source, batch_size=4, shuffle=True)
    numbers = itertools.chain.from_iterable(batch.tolist() for batch in loader)
    assert sorted(numbers) == [0, 1, 4, 9, 16, 25]


def test_refusals():
    with pytest.raises(ValueError, match="num_workers: got 2 with a pipeline of grain"):
        paddle.io.DataLoader(pipeline(), num_workers=2)
    with pytest.raises(ValueError, match="shuffle"):
        paddle.io.DataLoader(pipeline(), shuffle=True)
