"""Data sets of images: files in their true formats, made here, read by both libraries; what is damaged,
hostile or missing."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest

import paddle_jax

Image = pytest.importorskip("PIL.Image")
scipy_io = pytest.importorskip("scipy.io")
VOC = "VOCdevkit/VOC2012/"


def archive(path, files, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def picture(r, height, width, kind="JPEG", mode="RGB"):
    pixels, stream = r.randint(0, 256, (height, width, 3)).astype("uint8"), io.BytesIO()
    Image.fromarray(pixels if mode == "RGB" else pixels[:, :, 0] % 21).save(stream, kind)
    return stream.getvalue()


def batch(r, count, key, python2=False):
    """A pickle of CIFAR. The published ones were written by Python 2: texts are byte strings, names those
    of an older NumPy."""
    content = {
        b"data": r.randint(0, 256, (count, 3072)).astype("uint8"),
        key: list(range(count)),
        b"filenames": [b"a.png"] * count,
    }
    if not python2:
        return pickle.dumps(content, protocol=2)
    pixels = content[b"data"]
    text = (
        b"(dp0\nS'data'\np1\ncnumpy.core.multiarray\n_reconstruct\np2\n(cnumpy\nndarray\np3\n(I0\ntp4\nS'b'\np5\ntp6\nRp7\n"
        b"(I1\n(I%d\nI3072\ntp8\ncnumpy\ndtype\np9\n(S'u1'\np10\nI0\nI1\ntp11\nRp12\n"
        b"(I3\nS'|'\np13\nNNNI-1\nI-1\nI0\ntp14\nbI00\n" % count
    )
    text += b"S" + repr(pixels.tobytes())[1:].encode() + b"\ntp15\nbs"
    return (
        text
        + b"S"
        + repr(key)[1:].encode()
        + b"\n(lp16\n"
        + b"".join(b"I%d\na" % i for i in range(count))
        + b"s."
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, r = tmp_path_factory.mktemp("files"), np.random.RandomState(0)
    images = r.randint(0, 256, (200, 28, 28)).astype("uint8")
    for name, head, content in (
        ("im.gz", (2051, 200, 28, 28), images.tobytes()),
        ("lb.gz", (2049, 200), bytes([*range(10)] * 20)),
        ("short.gz", (2051, 200, 28, 28), b"abc"),
        ("few.gz", (2049, 100), bytes(100)),
        ("small.gz", (2051, 200, 10, 12), images[:, :10, :12].tobytes()),
    ):
        with gzip.open(folder / name, "wb") as file:
            file.write(struct.pack(f">{len(head)}I", *head) + content)
    (folder / "im").write_bytes(gzip.decompress((folder / "im.gz").read_bytes()))
    top = "cifar-10-batches-py/"
    archive(
        folder / "c10.tar.gz",
        {
            f"{top}data_batch_2": batch(r, 3, b"labels"),
            f"{top}data_batch_1": batch(r, 2, b"labels"),
            f"{top}test_batch": batch(r, 2, b"labels"),
            f"{top}readme.html": b"x",
        },
    )
    archive(folder / "old.tar.gz", {f"{top}data_batch_1": batch(r, 2, b"labels", python2=True)})
    archive(
        folder / "c100.tar.gz",
        {
            "cifar-100-python/train": batch(r, 4, b"fine_labels"),
            "cifar-100-python/test": batch(r, 2, b"fine_labels"),
        },
    )
    archive(folder / "hostile.tar.gz", {f"{top}data_batch_1": b"cos\nsystem\n(S'echo'\ntR."})
    archive(folder / "fl.tgz", {f"jpg/image_{i:05d}.jpg": picture(r, 6, 5 + i) for i in range(1, 6)})
    archive(folder / "bad.tgz", {"../out.jpg": b"x"})
    scipy_io.savemat(folder / "lab.mat", {"labels": np.array([[7, 8, 9, 1, 2]], "uint8")})
    scipy_io.savemat(
        folder / "set.mat",
        {
            name: np.array([ids], "uint16")
            for name, ids in (("tstid", [1, 3, 5]), ("trnid", [2]), ("valid", [4]))
        },
    )
    archive(
        folder / "voc.tar",
        {
            **{
                f"{VOC}ImageSets/Segmentation/{name}.txt": text
                for name, text in (("trainval", b"a\nb\n"), ("train", b"a\n"), ("val", b"b\n"))
            },
            **{f"{VOC}JPEGImages/{n}.jpg": picture(r, 5, 6) for n in "ab"},
            **{f"{VOC}SegmentationClass/{n}.png": picture(r, 5, 6, "PNG", "L") for n in "ab"},
        },
        "w",
    )
    for kind in ("cat", "dog"):
        (folder / "pets" / kind / "sub").mkdir(parents=True)
        for name in ("1.jpg", "2.PNG", "sub/3.bmp"):
            Image.fromarray(r.randint(0, 256, (4, 5, 3)).astype("uint8")).save(folder / "pets" / kind / name)
        (folder / "pets" / kind / "x.txt").write_text(kind)
    (folder / "none").mkdir()
    return folder


def plain(value):
    if isinstance(value, tuple | list):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, Image.Image):
        return "Image", value.mode, np.asarray(value).tolist()
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.tolist()
    return type(value).__name__ if hasattr(value, "samples") else value


SETS = {
    "MNIST": "D.MNIST(d+'im.gz',d+'lb.gz'{})",
    "FashionMNIST": "D.FashionMNIST(d+'im.gz',d+'lb.gz'{})",
    "Cifar10": "D.Cifar10(d+'c10.tar.gz'{})",
    "Cifar100": "D.Cifar100(d+'c100.tar.gz'{})",
    "Flowers": "D.Flowers(d+'fl.tgz',d+'lab.mat',d+'set.mat'{})",
    "VOC2012": "D.VOC2012(d+'voc.tar'{})",
}
VARIANTS = [
    "",
    ",mode='test'",
    ",mode='TRAIN'",
    ",mode='valid'",
    ",mode='x'",
    ",backend='pil'",
    ",backend='cv2'",
    ",backend='tensor'",
    ",transform=lambda x: np.asarray(x)[:2]",
    ",transform=lambda x: np.asarray(x)[:2].astype('float64'),backend='cv2'",
]
FOLDERS = """D.DatasetFolder(d+'pets')[4]
D.DatasetFolder(d+'pets').classes, D.DatasetFolder(d+'pets').class_to_idx, D.DatasetFolder(d+'pets').targets
[(p[len(d):], n) for p, n in D.DatasetFolder(d+'pets').samples]
D.DatasetFolder(d+'pets',transform=lambda x: 1)[0], len(D.DatasetFolder(d+'pets'))
[n for p, n in D.DatasetFolder(d+'pets',extensions=('.txt',)).samples]
D.DatasetFolder(d+'pets',extensions='.txt')
D.DatasetFolder(d+'pets',loader=lambda p: p[len(d):])[1]
D.DatasetFolder(d+'none')
D.DatasetFolder(d+'nope')
D.ImageFolder(d+'pets')[0], len(D.ImageFolder(d+'pets'))
[p[len(d):] for p in D.ImageFolder(d+'pets').samples]
D.ImageFolder(d+'pets',transform=lambda x: 1)[0]
D.ImageFolder(d+'pets',extensions=['.TXT'],loader=lambda p: p[len(d):])[1]
D.ImageFolder(d+'none')
D.ImageFolder(d+'nope')
D.MNIST(download=False)
D.MNIST(d+'im.gz',download=False)
D.Cifar10(download=False)
D.Flowers(d+'fl.tgz',download=False)
D.VOC2012(download=False)
D.MNIST(d+'nope',d+'lb.gz')
D.MNIST(d+'small.gz',d+'lb.gz')[0]
D.MNIST(d+'im.gz',d+'lb.gz').images[3], D.MNIST(d+'im.gz',d+'lb.gz').labels[3]
len(D.Cifar10(d+'c100.tar.gz'))
D.Cifar10(d+'old.tar.gz')[1]
D.__all__
{n: getattr(D.FashionMNIST, n) for n in dir(D.FashionMNIST) if n.isupper()}
{n: getattr(D.MNIST, n) for n in dir(D.MNIST) if n.isupper()}""".splitlines()


def both(oracle, paddle, files, text):
    found = []
    for library in (oracle, paddle):
        try:
            found.append(plain(eval(text, {"D": library.vision.datasets, "d": f"{files}/", "np": np})))
        except Exception as error:
            found.append(error)
    want, got = found
    if isinstance(want, Exception):
        assert isinstance(got, next(c for c in type(want).__mro__ if c.__module__ == "builtins")), (
            f"{text}: {want!r}, we {got!r}"
        )
    else:
        assert got == want, text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETS)
def test_items(oracle, paddle, files, name):
    for variant in VARIANTS:
        made = SETS[name].format(variant)
        both(oracle, paddle, files, f"(lambda s: (len(s), s[0], s[len(s) - 1]))({made})")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", FOLDERS)
def test_folders_and_refusals(oracle, paddle, files, text):
    both(oracle, paddle, files, text)


def test_folders_by_a_function(paddle, files):
    D = paddle.vision.datasets
    assert len(D.DatasetFolder(f"{files}/pets", is_valid_file=lambda p: p.endswith("x.txt"))) == 2
    assert len(D.ImageFolder(f"{files}/pets", is_valid_file=lambda p: p.endswith(".bmp"))) == 2


def test_damaged_and_hostile_files(paddle, files):
    D = paddle.vision.datasets
    with pytest.raises(ValueError, match="only 3 bytes"):
        D.MNIST(f"{files}/short.gz", f"{files}/lb.gz")
    with pytest.raises(ValueError, match="200 images and 100 labels"):
        D.MNIST(f"{files}/im.gz", f"{files}/few.gz")
    with pytest.raises(ValueError, match="posix|os|system"):
        D.Cifar10(f"{files}/hostile.tar.gz")
    with pytest.raises(ValueError, match="outside"):
        D.Flowers(f"{files}/bad.tgz", f"{files}/lab.mat", f"{files}/set.mat")
    assert not (files / "out.jpg").exists() and not (files.parent / "out.jpg").exists()


def test_uncompressed_files(paddle, files):
    images = paddle.vision.datasets.MNIST(f"{files}/im", f"{files}/lb.gz").images
    assert all(
        (a == b).all()
        for a, b in zip(
            images, paddle.vision.datasets.MNIST(f"{files}/im.gz", f"{files}/lb.gz").images, strict=True
        )
    )


def test_loader_and_copies(paddle, files):
    T, digits = paddle.vision.transforms, paddle.vision.datasets.MNIST(f"{files}/im.gz", f"{files}/lb.gz")
    digits.transform = T.Compose([T.ToTensor(), T.Normalize([0.5], [0.5])])
    images, labels = next(iter(paddle.io.DataLoader(digits, batch_size=4)))
    assert images.shape == [4, 1, 28, 28] and labels.tolist() == [[0], [1], [2], [3]]
    voc = paddle.vision.datasets.VOC2012(f"{files}/voc.tar", backend="cv2")
    copy = pickle.loads(pickle.dumps(voc))
    assert (copy[1][0] == voc[1][0]).all() and len(copy) == 2


def test_files_are_looked_for_in_the_cache(paddle, files, tmp_path, monkeypatch):
    D, common = paddle.vision.datasets, __import__("paddle_jax.dataset.common", fromlist=["common"])
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    monkeypatch.setattr(paddle.utils.download.time, "sleep", lambda seconds: None)
    (tmp_path / "mnist").mkdir()
    for what, name in (("IMAGE", "im.gz"), ("LABEL", "lb.gz")):
        monkeypatch.setattr(D.MNIST, f"TRAIN_{what}_URL", f"http://127.0.0.1:9/{name}")
        content = (files / name).read_bytes()
        monkeypatch.setattr(D.MNIST, f"TRAIN_{what}_MD5", hashlib.md5(content).hexdigest())
        (tmp_path / "mnist" / name).write_bytes(content)
    assert len(D.MNIST()) == 200
    (tmp_path / "mnist" / "im.gz").write_bytes(b"damaged")
    with pytest.raises(RuntimeError, match=r"could not be downloaded.*put the file at .*mnist/im\.gz"):
        D.MNIST()
    assert common.md5file(tmp_path / "mnist" / "lb.gz") == D.MNIST.TRAIN_LABEL_MD5
    with pytest.raises(ValueError, match="download is False"):
        common._check_exists_and_download(str(tmp_path / "no"), "http://127.0.0.1:9/a", None, "x", False)


def test_addresses_are_the_oracles(oracle):
    import importlib

    for module in ("cifar", "flowers", "voc2012", "folder"):
        theirs, ours = (
            importlib.import_module(f"{library.__name__}.vision.datasets.{module}")
            for library in (oracle, paddle_jax)
        )
        names = [
            name
            for name, value in vars(theirs).items()
            if name.isupper() and isinstance(value, str | dict | tuple)
        ]
        assert names and {name: getattr(ours, name) for name in names} == {
            name: getattr(theirs, name) for name in names
        }
