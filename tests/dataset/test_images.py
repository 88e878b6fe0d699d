"""Images and readers of flowers give what the real Paddle's give: where opencv is not
installed, their refusals."""

import io
import pickle
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

pytestmark = pytest.mark.filterwarnings("ignore")  # of the real Paddle: readers are deprecated since 2.0
RNG = np.random.default_rng(5)
COLOURS, GREYS = RNG.integers(0, 256, (30, 41, 3), np.uint8), RNG.integers(0, 256, (37, 20), np.uint8)


def outcome(call):
    np.random.seed(3)
    try:
        return call()
    except Exception as error:
        return type(error)


def same(paddle, oracle, call):
    """The results, or the types of the errors, are the same; gives ours."""
    ours, theirs = (outcome(lambda engine=engine: call(engine.dataset.image)) for engine in (paddle, oracle))
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert ours is theirs
    return ours


@pytest.mark.parametrize("size", [1, 8, 19, 20, 50])
@pytest.mark.parametrize(
    "image, is_color", [(COLOURS, True), (GREYS, False), (COLOURS, False), (GREYS, True)]
)
def test_parts(paddle, oracle, image, is_color, size):
    for seed in range(3):

        def cut(module, seed=seed):
            np.random.seed(seed)
            return module.random_crop(image, size, is_color=is_color)

        same(paddle, oracle, cut)
    same(paddle, oracle, lambda module: module.center_crop(image, size, is_color=is_color))


@pytest.mark.parametrize(
    "image, is_color", [(COLOURS, True), (GREYS, False), (COLOURS, False), (GREYS, True)]
)
def test_axes(paddle, oracle, image, is_color):
    flipped = same(paddle, oracle, lambda module: module.left_right_flip(image, is_color))
    assert (flipped[:, 0] == image[:, -1]).all()
    same(paddle, oracle, lambda module: module.to_chw(image))
    same(paddle, oracle, lambda module: module.to_chw(image, (1, 0)))


def encoded(image, kind):
    stream = io.BytesIO()
    pytest.importorskip("PIL.Image").fromarray(image).save(stream, kind)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("is_color", [True, False])
def test_files(paddle, oracle, tmp_path, kind, is_color):
    content = encoded(COLOURS, kind)
    (tmp_path / "image").write_bytes(content)
    for call in (
        lambda m: m.load_image_bytes(content, is_color),
        lambda m: m.load_image(str(tmp_path / "image"), is_color),
        lambda m: m.load_image_bytes(b"no image", is_color),
        lambda m: m.load_image(str(tmp_path / "none"), is_color),
        lambda m: m.load_and_transform(str(tmp_path / "image"), 24, 20, True, is_color),
    ):
        same(paddle, oracle, call)


@pytest.mark.parametrize(
    "image, is_color, mean",
    [
        (COLOURS, True, None),
        (COLOURS, True, [1.5, 2, 3]),
        (COLOURS, True, np.ones([3, 20, 20])),
        (COLOURS, True, np.ones([20, 20])),
        (GREYS, False, None),
        (GREYS, False, np.arange(20.0)),
        (COLOURS.transpose(1, 0, 2), True, 3.0),
    ],
)
@pytest.mark.parametrize("is_train", [True, False])
def test_preparation(paddle, oracle, image, is_color, mean, is_train):
    same(paddle, oracle, lambda module: module.resize_short(image, 24))
    same(paddle, oracle, lambda module: module.simple_transform(image, 24, 20, is_train, is_color, mean))


def test_without_opencv(paddle, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    for call in (
        lambda m: m.load_image("x"),
        lambda m: m.load_image_bytes(b""),
        lambda m: m.resize_short(GREYS, 8),
    ):
        with pytest.raises(AssertionError, match="pip install opencv"):
            call(paddle.dataset.image)


@pytest.fixture
def flowers(tmp_path):
    """(archive, labels, sets) of twelve images; the archive holds them in another order than the sets."""
    with tarfile.open(tmp_path / "102flowers.tgz", "w:gz") as archive:
        for number in [3, 1, 2, *range(12, 3, -1)]:
            content = encoded(np.full((8, 9, 3), number * 20, np.uint8), "JPEG")
            member = tarfile.TarInfo(f"jpg/image_{number:05}.jpg")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    savemat(tmp_path / "imagelabels.mat", {"labels": np.arange(90, 102, dtype=np.uint8)[None]})
    sets = {
        "tstid": np.array([[1, 3, 5, 7, 9, 11]], np.uint16),
        "trnid": np.array([[2, 4]], np.uint16),
        "valid": np.array([[12, 6, 8]], np.uint16),
    }
    savemat(tmp_path / "setid.mat", sets)
    return [str(tmp_path / name) for name in ("102flowers.tgz", "imagelabels.mat", "setid.mat")]


def test_batches(paddle, oracle, flowers, tmp_path):
    """The second time, the folder of the first is there."""
    batches, labels = [], {f"jpg/image_{number:05}.jpg": number for number in (1, 2, 5, 7, 8)}
    for engine in (paddle, oracle):
        path = tmp_path / f"{engine.__name__}.tgz"
        path.write_bytes(Path(flowers[0]).read_bytes())
        lists = [engine.dataset.image.batch_images_from_tar(str(path), "train", labels, 2) for _ in range(2)]
        assert lists[0] == lists[1] and lists[0].startswith(f"{path}_batch/train_")
        names = Path(lists[0]).read_text().split()
        batches.append({Path(name).name: pickle.loads(Path(name).read_bytes()) for name in names})
    assert batches[0] == batches[1] and [batches[0][f"batch_{i}"]["label"] for i in range(3)] == [
        [1, 2],
        [8, 7],
        [5],
    ]


@pytest.mark.parametrize("part, count", [("train", 6), ("test", 2), ("valid", 3)])
def test_flowers(paddle, oracle, flowers, monkeypatch, part, count):
    for engine in (paddle, oracle):
        # there the name is taken when the module loads
        where = oracle.dataset.flowers if engine is oracle else paddle.dataset.common
        monkeypatch.setattr(
            where,
            "download",
            lambda url, *rest: next(path for path in flowers if path.endswith(url.split("/")[-1])),
        )

    def samples(engine, **settings):
        return list(getattr(engine.dataset.flowers, part)(lambda sample: sample, **settings)())

    ours, theirs = (samples(engine, use_xmap=False) for engine in (paddle, oracle))
    assert ours == theirs and len(ours) == count and all(type(label) is int for _, label in ours)
    assert sorted(samples(paddle)) == sorted(samples(oracle, buffered_size=2)) == sorted(ours)
    mappers = [
        getattr(engine.dataset.flowers, f"{'train' if part == 'train' else 'test'}_mapper")
        for engine in (paddle, oracle)
    ]
    actual, expected = (outcome(lambda mapper=mapper: mapper(ours[0])) for mapper in mappers)
    if isinstance(expected, tuple):
        np.testing.assert_array_equal(actual[0], expected[0])
        assert actual[1] == expected[1] and actual[0].dtype == expected[0].dtype
    else:
        assert actual is expected
    paddle.dataset.flowers.fetch()


def test_constants(paddle, oracle):
    theirs = {name: value for name, value in vars(oracle.dataset.flowers).items() if name.isupper()}
    assert len(theirs) == 9 and theirs == {name: getattr(paddle.dataset.flowers, name) for name in theirs}
