"""Samples in files for several processes."""

import json
import pickle

import numpy as np
import pytest


@pytest.mark.parametrize("samples, count", [(11, 4), (8, 4), (9, 4), (3, 4), (0, 2), (5, 1), (4, 3)])
def test_files_of_samples(paddle, oracle, tmp_path, samples, count):
    files, parts = [], []
    for engine in (paddle, oracle):
        folder = tmp_path / engine.__name__
        folder.mkdir()
        engine.dataset.common.split(lambda: iter(range(samples)), count, str(folder / "%03d.json"), json.dump)
        files.append({path.name: path.read_text() for path in folder.iterdir()})
        read = engine.dataset.common.cluster_files_reader
        parts.append([list(read(str(folder / "*.json"), 2, i, json.load)()) for i in range(3)])
    assert files[0] == files[1] and parts[0] == parts[1]
    assert sorted(parts[0][0] + parts[0][1]) == list(range(samples)) and parts[0][2] == []


@pytest.mark.parametrize("loader", [{}, {"loader": pickle.load}])
def test_pickles(paddle, tmp_path, loader):
    """What the real Paddle's default cannot write."""
    samples = [(np.full(3, i, "float32"), i, f"{i}") for i in range(5)]
    paddle.dataset.common.split(lambda: iter(samples), 2, str(tmp_path / "%05d.pickle"))
    assert len(list(tmp_path.iterdir())) == 2
    found = list(paddle.dataset.common.cluster_files_reader(str(tmp_path / "*.pickle"), 1, 0, **loader)())
    assert [(a.tolist(), a.dtype, *rest) for a, *rest in found] == [
        (a.tolist(), a.dtype, *rest) for a, *rest in samples
    ]


class Runs:
    def __reduce__(self):
        return print, ("run",)


def test_no_code_is_run_from_files(paddle, tmp_path, capsys):
    (tmp_path / "a.pickle").write_bytes(pickle.dumps([Runs()]))
    with pytest.raises(pickle.UnpicklingError):
        list(paddle.dataset.common.cluster_files_reader(str(tmp_path / "*.pickle"), 1, 0)())
    assert capsys.readouterr().out == ""


def test_what_cannot_be_called(paddle, oracle, tmp_path):
    for engine in (paddle, oracle):
        with pytest.raises(TypeError):
            engine.dataset.common.split(lambda: iter([1]), 1, str(tmp_path / "%d"), dumper=3)
        with pytest.raises(TypeError):
            list(engine.dataset.common.cluster_files_reader(str(tmp_path / "*"), 1, 0, loader=3)())
    assert list(tmp_path.iterdir()) == []
