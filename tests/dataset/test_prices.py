"""Readers of prices of houses give what the real Paddle's give."""

import numpy as np
import pytest

from paddle_jax._core.base.state import UciHousingCache

pytestmark = pytest.mark.filterwarnings("ignore")  # of the real Paddle: readers are deprecated since 2.0
KEPT = ("UCI_TRAIN_DATA", "UCI_TEST_DATA")


@pytest.fixture
def path(paddle, oracle, tmp_path, monkeypatch):
    """A file of 25 houses, which both engines take for the one they download; nothing is kept from before."""
    path = str(tmp_path / "housing.data")
    np.savetxt(path, np.random.default_rng(2).random((25, 14)))
    for engine in (paddle, oracle):
        monkeypatch.setattr(engine.dataset.common, "download", lambda *arguments: path)
    for name, part in zip(KEPT, ("train", "test"), strict=True):
        monkeypatch.setattr(oracle.dataset.uci_housing, name, None)
        monkeypatch.setattr(UciHousingCache, part, None)
    return path


def same(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_samples(paddle, oracle, path):
    for part in ("train", "test"):
        actual, expected = (
            list(getattr(engine.dataset.uci_housing, part)()()) for engine in (paddle, oracle)
        )
        assert len(actual) == len(expected) == (20 if part == "train" else 5)
        for ours, theirs in zip(actual, expected, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                same(a, b)
    ([actual], [expected]) = (engine.dataset.uci_housing.predict_reader() for engine in (paddle, oracle))
    same(actual, expected)
    assert paddle.dataset.uci_housing.feature_names == oracle.dataset.uci_housing.feature_names


@pytest.mark.parametrize(
    "settings", [{}, {"ratio": 0.5}, {"feature_num": 7}, {"feature_num": 35, "ratio": 0.3}]
)
def test_rows(paddle, oracle, path, settings):
    ours, theirs = (engine.dataset.uci_housing for engine in (paddle, oracle))
    assert [getattr(ours, name) for name in KEPT] == [None, None]
    for module in (ours, theirs):
        assert module.load_data(path, **settings) is None
    for name in KEPT:
        same(getattr(ours, name), getattr(theirs, name))


def test_the_first_file_is_kept(paddle, oracle, path, tmp_path):
    np.savetxt(tmp_path / "other", np.random.default_rng(3).random((5, 14)))
    for engine in (paddle, oracle):
        engine.dataset.uci_housing.load_data(str(tmp_path / "other"))
        assert len(list(engine.dataset.uci_housing.train()())) == 4


def test_parts_of_rows(paddle, oracle, path):
    for engine in (paddle, oracle):
        with pytest.raises(ValueError):
            engine.dataset.uci_housing.load_data(path, feature_num=13)
    assert not hasattr(paddle.dataset.uci_housing, "UCI_VALID_DATA")


def test_the_drawing(paddle, oracle, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    rng, drawings = np.random.default_rng(4), []
    ranges = rng.random(13) + 1, rng.random(13)
    for engine in (paddle, oracle):
        folder = tmp_path / engine.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)
        engine.dataset.uci_housing.feature_range(*ranges)
        drawings.append(np.asarray(image.open(folder / "image/ranges.png")))
    np.testing.assert_array_equal(*drawings)
    assert drawings[0].std() > 0
