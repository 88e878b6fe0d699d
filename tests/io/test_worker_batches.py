"""How worker processes of DataLoader begin, and how what they read is laid out in memory."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.io
from paddle_jax.io.dataloader.process import ProcessWorker, WorkerError
from tests.io.test_workers import Base

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no worker processes on this system")


class Arrays(Base):
    """Samples of all kinds, most of them large."""

    def __getitem__(self, idx):
        grid = np.random.default_rng(idx).standard_normal((40, 60)).astype("float32")
        return {
            "plain": grid,
            "turned": grid.T,
            "flags": grid > 0,
            "mixed": grid.astype(("float32", "float64")[idx % 2]),
            "small": grid[0, :2],
            "tensor": ours.to_tensor(grid),
            "half": ours.to_tensor(grid).astype("bfloat16"),
            "none": np.zeros([0, 3]),
            "listed": [grid.astype("complex64"), ours.to_tensor(grid > 0)],
            "computed": ours.to_tensor(grid) * 2,
        }


@pytest.mark.parametrize("shared", [True, False])
def test_batches_are_laid_out_as_in_one_process(shared):
    plain = list(ours.io.DataLoader(Arrays(5), batch_size=2))
    batches = list(ours.io.DataLoader(Arrays(5), batch_size=2, num_workers=2, use_shared_memory=shared))
    assert len(batches) == len(plain) == 3
    for batch, expected in zip(batches, plain, strict=True):
        for name in expected:
            for ours_, wanted in zip(
                *([x[name]] if not isinstance(x[name], list) else x[name] for x in (batch, expected)),
                strict=True,
            ):
                assert (
                    isinstance(ours_, ours.Tensor)
                    and ours_.dtype == wanted.dtype
                    and ours_.shape == wanted.shape
                ), name
                np.testing.assert_array_equal(ours_.numpy(), wanted.numpy())
    batches[0]["plain"].add_(ours.ones([1]))
    np.testing.assert_array_equal(batches[0]["turned"].numpy(), plain[0]["turned"].numpy())


class Uneven(Base):
    def __getitem__(self, idx):
        return np.zeros([2000 + idx], "float32")


def test_samples_of_different_shapes_are_refused_in_workers_too():
    for workers in (0, 2):
        with pytest.raises(ValueError, match="0 has"):
            list(ours.io.DataLoader(Uneven(4), batch_size=2, num_workers=workers))


class Pictures(Base):
    """What most programs do with images; tells whether the worker has started JAX for it."""

    def __getitem__(self, idx):
        from PIL import Image

        from paddle_jax._core.process_group import startup_barrier

        T = ours.vision.transforms
        image = Image.fromarray(np.random.default_rng(idx).integers(0, 256, (24, 20, 3), "uint8"))
        steps = T.Compose(
            [T.Resize(18), T.CenterCrop(16), T.ToTensor(), T.Normalize([0.5, 0.4, 0.3], [0.2, 0.3, 0.4])]
        )
        return steps(image), int(startup_barrier.is_device_in_use())


def test_images_are_read_without_a_device():
    pytest.importorskip("PIL")
    plain = list(ours.io.DataLoader(Pictures(4), batch_size=2))
    for batch, expected in zip(
        ours.io.DataLoader(Pictures(4), batch_size=2, num_workers=2), plain, strict=True
    ):
        np.testing.assert_array_equal(batch[0].numpy(), expected[0].numpy())
        assert batch[1].tolist() == [0, 0]


class Moody:
    """A function that only the first worker can load."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return _once, (self.folder,)

    def __call__(self, number):
        pass


def _once(folder):
    (Path(folder) / "loaded").mkdir()
    return Moody(folder)


def test_a_later_worker_that_cannot_load_its_data(tmp_path, monkeypatch):
    give = ProcessWorker.give

    def later(worker, packed):
        limit = time.monotonic() + 60
        while worker.number and not (tmp_path / "loaded").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        give(worker, packed)

    monkeypatch.setattr(ProcessWorker, "give", later)
    with pytest.raises(
        WorkerError,
        match=r"worker 1 \(pid \d+\) cannot load what the first worker could: "
        r"FileExistsError",
    ):
        list(ours.io.DataLoader(Base(8), num_workers=2, worker_init_fn=Moody(str(tmp_path))))


class Imported(Base):
    def __getitem__(self, idx):
        return int("scipy.ndimage" in sys.modules), int("PIL.JpegImagePlugin" in sys.modules)


def test_workers_begin_with_what_is_likely_to_be_needed():
    pytest.importorskip("PIL")
    pytest.importorskip("scipy.ndimage")
    limit = time.monotonic() + 60
    while [field.item() for field in next(iter(ours.io.DataLoader(Imported(2), num_workers=1)))] != [1, 1]:
        assert time.monotonic() < limit
        time.sleep(0.1)
