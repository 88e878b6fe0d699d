"""Readers of small images and of prices give what the real Paddle's give."""

import io
import itertools
import pickle
import re
import tarfile

import numpy as np
import pytest


@pytest.fixture
def archive(tmp_path):
    rng, path = np.random.default_rng(1), str(tmp_path / "images.tar.gz")
    with tarfile.open(path, "w:gz") as tar:
        for name, key, count in (
            ("data_batch_1", b"labels", 3),
            ("data_batch_2", b"labels", 2),
            ("test_batch", b"fine_labels", 2),
        ):
            batch = pickle.dumps(
                {
                    b"data": rng.integers(0, 256, (count, 3072), np.uint8),
                    key: rng.integers(0, 10, count).tolist(),
                },
                protocol=2,
            )
            member = tarfile.TarInfo(f"cifar/{name}")
            member.size = len(batch)
            tar.addfile(member, io.BytesIO(batch))
    return path


@pytest.mark.parametrize("part", ["data_batch", "test_batch"])
def test_small_images(paddle, oracle, archive, part):
    actual, expected = (
        list(engine.dataset.cifar.reader_creator(archive, part)()) for engine in (paddle, oracle)
    )
    assert len(actual) == len(expected) > 1
    for (image, label), (image_, label_) in zip(actual, expected, strict=True):
        assert image.dtype == image_.dtype and type(label) is type(label_) and label == label_
        np.testing.assert_array_equal(image, image_)


def test_for_ever(paddle, archive):
    labels = [
        label
        for _, label in itertools.islice(
            paddle.dataset.cifar.reader_creator(archive, "data_batch", cycle=True)(), 12
        )
    ]
    assert labels[:5] == labels[5:10] and labels[:2] == labels[10:]


@pytest.mark.filterwarnings("ignore")  # of the real Paddle: readers are deprecated since 2.0
def test_reviews(paddle, oracle, tmp_path, monkeypatch):
    path, pattern = str(tmp_path / "reviews.tar.gz"), re.compile(r"aclImdb/train/.*\.txt$")
    with tarfile.open(path, "w:gz") as tar:
        for part, kind, number in itertools.product(("train", "test"), ("pos", "neg"), range(3)):
            text = f"A {kind} film -- good, THE film {part}! " * (number + 1) + "once" * number + "\r\n"
            member = tarfile.TarInfo(f"aclImdb/{part}/{kind}/{number}_7.txt")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    for engine in (paddle, oracle):
        monkeypatch.setattr(engine.dataset.common, "download", lambda *arguments: path)
    ours, theirs = paddle.dataset.imdb, oracle.dataset.imdb
    assert list(ours.tokenize(pattern)) == list(theirs.tokenize(pattern))
    words = ours.build_dict(pattern, 2)
    assert (
        list(words.items()) == list(theirs.build_dict(pattern, 2).items())
        and words["<unk>"] == len(words) - 1
    )
    for part in ("train", "test"):
        found = list(getattr(ours, part)(words)())
        assert found == list(getattr(theirs, part)(words)()) and [label for _, label in found] == [
            0,
            0,
            0,
            1,
            1,
            1,
        ]
    assert (ours.URL, ours.MD5) == (theirs.URL, theirs.MD5) and list(ours.word_dict()) == ["<unk>"]


def test_folders_are_made(paddle, tmp_path):
    for _ in range(2):
        paddle.dataset.common.must_mkdirs(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()


def test_without_a_network(paddle, tmp_path, monkeypatch):
    monkeypatch.setattr(paddle.dataset.common, "DATA_HOME", str(tmp_path))
    monkeypatch.setattr(
        paddle.dataset.common,
        "_download_to",
        lambda url, path, md5: (_ for _ in ()).throw(RuntimeError(f"cannot reach {url}")),
    )
    for reader in (paddle.dataset.mnist.train, paddle.dataset.cifar.test10, paddle.dataset.uci_housing.train):
        with pytest.raises(RuntimeError, match="cannot reach http"):
            reader()
