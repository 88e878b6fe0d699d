"""Readers of digits give what the real Paddle's give."""

import gzip

import numpy as np
import pytest


def files(folder, images, labels):
    rng = np.random.default_rng(3)
    paths = str(folder / "images.gz"), str(folder / "labels.gz")
    pixels, digits = rng.integers(0, 256, images * 784, np.uint8), rng.integers(0, 10, labels, np.uint8)
    for path, head, data in zip(
        paths, ([2051, images, 28, 28], [2049, labels]), (pixels, digits), strict=True
    ):
        with gzip.open(path, "wb") as file:
            file.write(np.array(head, ">i4").tobytes() + data.tobytes())
    return paths


def test_samples(paddle, oracle, tmp_path):
    paths = files(tmp_path, 20, 20)
    actual, expected = (
        list(engine.dataset.mnist.reader_creator(*paths, 10)()) for engine in (paddle, oracle)
    )
    assert len(actual) == len(expected) == 20
    for (image, label), (image_, label_) in zip(actual, expected, strict=True):
        assert image.dtype == image_.dtype and type(label) is type(label_) and label == label_
        np.testing.assert_array_equal(image, image_)


def test_fewer_images_than_the_buffer(paddle, tmp_path):
    paths = files(tmp_path, 7, 7)
    assert len(list(paddle.dataset.mnist.reader_creator(*paths, 100)())) == 7


def test_files_that_do_not_belong_together(paddle, tmp_path):
    with pytest.raises(ValueError, match="7 images and 6 labels"):
        list(paddle.dataset.mnist.reader_creator(*files(tmp_path, 7, 6), 100)())
