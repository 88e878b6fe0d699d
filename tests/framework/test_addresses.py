"""Addresses in place of paths, with fsspec's file systems in memory and on the disk."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_safetensors

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.framework import addresses
from paddle_jax.io import Dataset

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(params=["memory", "file"])
def root(request, tmp_path, monkeypatch):
    """The address of an empty folder; copies go to a folder of this test."""
    monkeypatch.setenv("PADDLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    if request.param == "file":
        yield f"file://{tmp_path}/remote"
        return
    files = fsspec.filesystem("memory")
    files.makedirs("/remote")
    yield "memory://remote"
    files.rm("/remote", recursive=True)


def content(address):
    with fsspec.open(address) as stream:
        return stream.read()


def test_tensors(root):
    values = np.arange(6, dtype="float32").reshape(2, 3)
    state = {"w": paddle.to_tensor(values)}
    paddle.save(state, f"{root}/deep/w.pdparams")
    np.testing.assert_array_equal(paddle.load(f"{root}/deep/w.pdparams")["w"].numpy(), values)
    paddle.save(state, f"{root}/w.safetensors", safetensors=True)
    np.testing.assert_array_equal(load_safetensors(content(f"{root}/w.safetensors"))["w"], values)
    paddle.save(state["w"], f"{root}/w.bin", use_binary_format=True)
    np.testing.assert_array_equal(paddle.load(f"{root}/w.bin").numpy(), values)
    paddle.async_save(state, f"{root}/later.pdparams")
    paddle.clear_async_save_task_queue()
    assert content(f"{root}/later.pdparams") == content(f"{root}/deep/w.pdparams")


def test_a_failed_save_keeps_the_file(root):
    paddle.save([1], f"{root}/x")
    with pytest.raises(Exception, match="pickle"):
        paddle.save([lambda: 1], f"{root}/x")
    assert paddle.load(f"{root}/x") == [1]


def test_models(root):
    net = nn.Linear(3, 2)
    x = paddle.ones([4, 3])
    spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
    for bias in (0.0, 1.0):  # the second is another file at the same address
        net.bias.set_value(paddle.full([2], bias))
        paddle.jit.save(net, f"{root}/net", input_spec=spec)
        np.testing.assert_allclose(paddle.jit.load(f"{root}/net")(x).numpy(), net(x).numpy(), rtol=1e-6)
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.Adam(parameters=net.parameters()), nn.MSELoss())
    model.save(f"{root}/fit")
    other = paddle.Model(nn.Linear(3, 2))
    other.load(f"{root}/fit")
    np.testing.assert_array_equal(other.network.bias.numpy(), [1, 1])


def test_static_programs(root):
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2], "float32")
            doubled = x * 2
        executor = paddle.static.Executor()
        paddle.static.save_inference_model(f"{root}/double", [x], [doubled], executor, program=main)
        program, _, fetches = paddle.static.load_inference_model(f"{root}/double", executor)
        (result,) = executor.run(program, {"x": np.ones(2, "float32")}, fetches)
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(result, [2, 2])


def test_hub(root):
    with fsspec.open(f"{root}/repository/hubconf.py", "w", auto_mkdir=True) as stream:
        stream.write("from parts import WIDTH\ndef tiny(more=0):\n    return WIDTH + more\n")
    with fsspec.open(f"{root}/repository/parts.py", "w") as stream:
        stream.write("WIDTH = 3\n")
    try:
        assert paddle.hub.load(f"{root}/repository", "tiny", source="local", more=1) == 4
    finally:
        sys.modules.pop("parts", None)
    paddle.save({"w": paddle.ones([2])}, f"{root}/w.pdparams")
    assert paddle.hub.load_state_dict_from_url(f"{root}/w.pdparams")["w"].tolist() == [1, 1]


def test_data_sets(root):
    for kind in ("cat", "dog"):
        with fsspec.open(f"{root}/pets/{kind}/a.txt", "w", auto_mkdir=True) as stream:
            stream.write(kind)
    pets = paddle.vision.datasets.DatasetFolder(f"{root}/pets", lambda path: Path(path).read_text(), [".txt"])
    assert [pets[i] for i in range(2)] == [("cat", 0), ("dog", 1)]
    images = np.arange(2 * 28 * 28, dtype=np.uint32).astype(np.uint8)
    headers = {"images": np.array([2051, 2, 28, 28], ">i4"), "labels": np.array([2049, 2], ">i4")}
    bodies = {"images": images.tobytes(), "labels": bytes([7, 3])}
    for name, header in headers.items():
        with fsspec.open(f"{root}/{name}.gz", "wb") as stream:
            stream.write(gzip.compress(header.tobytes() + bodies[name]))
    digits = paddle.vision.datasets.MNIST(f"{root}/images.gz", f"{root}/labels.gz", backend="cv2")
    assert isinstance(digits, Dataset) and [int(digits[i][1][0]) for i in range(2)] == [7, 3]
    np.testing.assert_array_equal(np.ravel(digits[1][0]), images[28 * 28 :])


@pytest.mark.parametrize("address", ["s9://bucket/w", "s9://w", "zip://a::s9://w", "memory2://x"])
def test_unknown_schemes(tmp_path, monkeypatch, address):
    monkeypatch.chdir(tmp_path)
    calls = [
        lambda: paddle.save([1], address),
        lambda: paddle.async_save([1], address),
        lambda: paddle.load(address),
        lambda: paddle.jit.save(nn.Linear(1, 1), address, input_spec=[paddle.static.InputSpec([1])]),
        lambda: paddle.jit.load(address),
        lambda: paddle.Model(nn.Linear(1, 1)).save(address),
        lambda: paddle.Model(nn.Linear(1, 1)).load(address),
        lambda: paddle.hub.list(address, source="local"),
        lambda: paddle.vision.datasets.ImageFolder(address),
        lambda: paddle.text.UCIHousing(address),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="fsspec knows no file system"):
            call()
    assert not list(tmp_path.iterdir())


def test_folders_that_must_be_local(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="save_state_dict: path: .* must be a local folder"):
        paddle.distributed.save_state_dict({"w": paddle.ones([2])}, "memory://x")
    with pytest.raises(ValueError, match="dir_name: .* must be a local folder"):
        paddle.profiler.export_chrome_tracing("memory://x")
    assert not list(tmp_path.iterdir())


def test_missing_files(root):
    for call in (paddle.load, paddle.jit.load, paddle.vision.datasets.ImageFolder):
        with pytest.raises(ValueError, match=r"is no file|there is no file"):
            call(f"{root}/nothing")


def test_missing_packages(monkeypatch):
    class Missing(fsspec.AbstractFileSystem):
        def __init__(self, *args, **kwargs):
            raise ImportError("Install zorkfs to access Zork")

    fsspec.register_implementation("zork", Missing, clobber=True)
    with pytest.raises(ImportError, match="Install zorkfs"):
        paddle.load("zork://x/y")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"pip install 'paddle_jax\[remote\]'"):
        paddle.load("s3://x/y")


@pytest.mark.parametrize(
    "path, expected",
    [("C://x", False), ("a::b", False), ("x/s3://y", False), ("s3:/x", False), ("gs://x", True)],
)
def test_what_is_an_address(path, expected):
    assert addresses.is_address(path) is expected


def test_names_that_lead_outside(tmp_path):
    class Bad:
        def get_file(self, name, target):
            raise AssertionError("it must not be called")

    with pytest.raises(ValueError, match="would be written outside"):
        addresses._fetch(Bad(), "bucket/x", ["bucket/x/../../../y"], tmp_path / "copy")
    assert not list(tmp_path.iterdir())
