"""LeNet and ResNet against the real Paddle: names, loaded weights, outputs, gradients, what is refused."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

from tests.nn.scripts import same

pytestmark = pytest.mark.own_process
SETUP = ["M = paddle.vision.models", "R = M.resnet"]
STRUCTURE = {
    "LeNet": [
        "M.LeNet()",
        "M.LeNet(0)",
        "M.LeNet(num_classes=3).num_classes",
        "M.LeNet(-1)(paddle.ones([2, 1, 28, 28])).shape",
        "M.LeNet(5, 6)",
        "M.LeNet()(paddle.ones([1, 3, 28, 28]))",
        "M.LeNet()(paddle.ones([1, 1, 32, 32]))",
        "M.LeNet()(inputs=paddle.ones([1, 1, 28, 28])).shape",
    ],
    "Block": [
        "R.BasicBlock.expansion, R.BottleneckBlock.expansion",
        "R.BasicBlock(8, 8, dilation=2)",
        "R.BasicBlock(8, 8, groups=2, base_width=32)",
        "R.BottleneckBlock(64, 32, groups=4, base_width=8)",
        "R.BottleneckBlock(8, 8, 1, None, 1, 64, 2)",
        "R.BasicBlock(8, 8, stride=2).stride",
        "R.BottleneckBlock(32, 8, norm_layer=nn.InstanceNorm2D)",
        "R.BasicBlock(4, 8, 2, nn.Conv2D(4, 8, 1, 2))(paddle.ones([1, 4, 4, 4])).shape",
        "R.BasicBlock(4, 8)(paddle.ones([1, 4, 4, 4]))",
        "R.BasicBlock(8, 8).full_name()",
        "R.BasicBlock(8, 8).downsample",
    ],
    "ResNet": [
        "M.ResNet(R.BasicBlock, 17)",
        "M.resnet18(depth=34)",
        "M.resnet18(foo=1)",
        "M.ResNet(R.BasicBlock, 18, num_classes=0, with_pool=False)",
        "N = M.ResNet(R.BasicBlock, 18, 64, 7)",
        "N",
        "N.groups, N.base_width, N.num_classes, N.with_pool, N.inplanes, N.dilation",
        "N.full_name()",
        "N(paddle.ones([1, 4, 32, 32]))",
        "N(x=paddle.ones([1, 3, 40, 48])).shape",
        "N.with_pool = False",
        "N(paddle.ones([1, 3, 64, 64]))",
        "[n for n, _ in N.named_sublayers()]",
        "M.resnext50_32x4d(width=32, groups=2)",
        "M.wide_resnet50_2(width=3, num_classes=2)",
    ],
}
NAMES = ["LeNet", "resnet18", "resnet34", "resnet50", "resnext50_32x4d", "wide_resnet50_2"]
DEEP = [
    "resnet101",
    "resnet152",
    "resnext50_64x4d",
    "resnext101_32x4d",
    "resnext101_64x4d",
    "resnext152_32x4d",
    "resnext152_64x4d",
    "wide_resnet101_2",
]


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure(oracle, paddle, name):
    same(SETUP + STRUCTURE[name], oracle, paddle)


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(name, marks=pytest.mark.slow) for name in DEEP)])
def test_parameters_have_the_names_shapes_and_order_of_the_oracle(oracle, paddle, name):
    script = [
        f"m = paddle.vision.models.{name}(num_classes=2)",
        "[(k, v.name, v.shape, v.dtype, v.stop_gradient) for k, v in m.state_dict().items()]",
        "[(k, v.name) for k, v in m.named_parameters()]",
        "[k for k, v in m.named_buffers()]",
    ]
    if name in DEEP:  # random numbers for so many parameters would take most of the time
        script.insert(0, "nn.initializer.set_global_initializer(nn.initializer.Constant(0.5))")
    try:
        same(script, oracle, paddle)
    finally:
        for library in (oracle, paddle):
            library.nn.initializer.set_global_initializer(None)


@pytest.mark.parametrize("name", ["LeNet", "resnet50"])
def test_initial_weights_have_the_distribution_of_the_oracle(oracle, paddle, name):
    theirs, ours = (
        dict(getattr(library.vision.models, name)().named_parameters()) for library in (oracle, paddle)
    )
    for key, want in theirs.items():
        want, got = want.numpy(), ours[key].numpy()
        if want.std() == 0 or want.size < 1000:
            assert got.std() == 0 if want.std() == 0 else 0.3 < got.std() / want.std() < 3, key
            continue
        assert got.std() == pytest.approx(want.std(), rel=0.1), key
        assert abs(got.mean() - want.mean()) < 6 * want.std() / np.sqrt(want.size), key
        assert np.abs(got).max() == pytest.approx(np.abs(want).max(), rel=0.35), key


def train(library, net, x, y):
    """Scores in evaluation mode, then scores, loss and gradients in training mode, and the
    buffers after it."""
    x, y = library.to_tensor(x), library.to_tensor(y)
    net.eval()
    scores = net(x)
    net.train()
    trained = net(x)
    loss = library.nn.functional.cross_entropy(trained, y)
    loss.backward()
    return (
        {"eval": scores, "train": trained, "loss": loss}
        | {f"{n}.grad": p.grad for n, p in net.named_parameters() if p.grad is not None}
        | {n: b for n, b in net.named_buffers()}
    )


@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("LeNet", (4, 1, 28, 28), "float32"),
        ("resnet18", (4, 3, 64, 64), "float64"),
        # many layers of batch norm are chaotic in float32
        pytest.param("resnext50_32x4d", (2, 3, 64, 64), "float64", marks=pytest.mark.slow),
        pytest.param("wide_resnet50_2", (2, 3, 64, 64), "float64", marks=pytest.mark.slow),
    ],
)
def test_oracle_weights_load_and_give_its_results(oracle, paddle, tmp_path, name, shape, dtype):
    random = np.random.default_rng(5)
    x, y = random.standard_normal(shape).astype(dtype), random.integers(0, 10, shape[:1])
    theirs, ours = (
        getattr(library.vision.models, name)(num_classes=10).to(dtype=dtype) for library in (oracle, paddle)
    )
    oracle.save(theirs.state_dict(), str(tmp_path / "net.pdparams"))
    assert ours.set_state_dict(paddle.load(str(tmp_path / "net.pdparams"))) == ([], [])
    want, got = train(oracle, theirs, x, y), train(paddle, ours, x, y)
    assert list(got) == list(want)
    rtol = 2e-3 if dtype == "float32" else 1e-8
    for key, value in want.items():
        value = value.numpy()
        np.testing.assert_allclose(
            got[key].numpy(), value, rtol=rtol, atol=rtol * np.abs(value).max() + 1e-7, err_msg=key
        )


def test_our_weights_load_in_the_oracle(oracle, paddle, tmp_path):
    net, path = paddle.vision.models.resnet18(num_classes=4), str(tmp_path / "net.pdparams")
    paddle.save(net.state_dict(), path)
    theirs = oracle.vision.models.resnet18(num_classes=4)
    assert theirs.set_state_dict(oracle.load(path)) == ([], [])
    net.eval(), theirs.eval()
    x = np.random.default_rng(0).standard_normal((2, 3, 32, 32), dtype=np.float32)
    np.testing.assert_allclose(
        net(paddle.to_tensor(x)).numpy(), theirs(oracle.to_tensor(x)).numpy(), rtol=1e-3, atol=1e-4
    )


def test_pretrained_loads_the_local_file(paddle, tmp_path, monkeypatch):
    import hashlib

    source = paddle.vision.models.resnet18()
    paddle.save(source.state_dict(), str(tmp_path / "resnet18.pdparams"))
    md5 = hashlib.md5((tmp_path / "resnet18.pdparams").read_bytes()).hexdigest()
    monkeypatch.setattr(paddle.utils.download, "WEIGHTS_HOME", str(tmp_path))
    monkeypatch.setitem(
        paddle.vision.models.resnet.model_urls, "resnet18", ("http://127.0.0.1:9/resnet18.pdparams", md5)
    )
    net = paddle.vision.models.resnet18(pretrained=True)
    for key, value in source.state_dict().items():
        assert (net.state_dict()[key].numpy() == value.numpy()).all(), key
    with pytest.warns(UserWarning, match=r"(?s)fc.weight receives a shape.*fc.bias receives a shape"):
        other = paddle.vision.models.resnet18(pretrained=True, num_classes=3)
    assert (other.conv1.weight.numpy() == source.conv1.weight.numpy()).all()


def test_pretrained_is_never_random(paddle, tmp_path, monkeypatch):
    monkeypatch.setattr(paddle.utils.download, "WEIGHTS_HOME", str(tmp_path))
    monkeypatch.setattr(paddle.utils.download.time, "sleep", lambda seconds: None)
    urls = paddle.vision.models.resnet.model_urls
    monkeypatch.setitem(urls, "resnet18", ("http://127.0.0.1:9/resnet18.pdparams", "0" * 32))
    with pytest.raises(RuntimeError, match=r"could not be downloaded.*put the file at .*resnet18\.pdparams"):
        paddle.vision.models.resnet18(pretrained=True)
    paddle.save({"other": paddle.ones([1])}, str(tmp_path / "resnet18.pdparams"))
    with pytest.raises(RuntimeError, match="MD5 must be 000"):
        paddle.vision.models.resnet18(pretrained=True)
    monkeypatch.setitem(urls, "resnet18", (urls["resnet18"][0], None))
    with warnings.catch_warnings(), pytest.raises(ValueError, match="no value for any parameter"):
        warnings.simplefilter("ignore")
        paddle.vision.models.resnet18(pretrained=True)


def test_addresses_of_weights_are_the_oracles(oracle, paddle):
    assert paddle.vision.models.resnet.model_urls == oracle.vision.models.resnet.model_urls


def test_imports_as_paddle():
    code = (
        "import paddle_jax; paddle_jax.install_as_paddle(); import paddle, paddle.vision.models as M; "
        "from paddle.vision import resnet18;from paddle.vision.models.resnet import BasicBlock;assert "
        "paddle.vision.models is M and M.resnet18 is resnet18 and issubclass(BasicBlock, "
        "paddle.nn.Layer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def stages(P):
    """A network made of the stages of ResNet: the last one keeps its size and has holes instead."""

    class Holes(P.vision.models.ResNet):
        def __init__(self):
            super().__init__(P.vision.models.resnet.BottleneckBlock, 50, num_classes=0, with_pool=False)
            self.inplanes = 8
            self.layer1 = self._make_layer(P.vision.models.resnet.BottleneckBlock, 4, 2)
            self.layer2 = self._make_layer(
                P.vision.models.resnet.BottleneckBlock, 8, 1, stride=2, dilate=True
            )
            self.layer3 = self.layer4 = None

        def forward(self, x):
            return self.layer2(self.layer1(x))

    return Holes()


def test_networks_of_the_stages_of_resnet(oracle, paddle):
    made = [stages(P) for P in (oracle, paddle)]
    states = [net.state_dict() for net in made]
    assert [(k, list(v.shape)) for k, v in states[0].items()] == [
        (k, list(v.shape)) for k, v in states[1].items()
    ]
    made[1].set_state_dict({name: value.numpy() for name, value in states[0].items()})
    x = np.random.default_rng(0).normal(size=[1, 8, 6, 6]).astype("float32")
    found = [net.eval()(P.to_tensor(x)).numpy() for P, net in zip((oracle, paddle), made, strict=True)]
    np.testing.assert_allclose(found[1], found[0], 1e-4, 1e-5)
    assert [net.dilation for net in made] == [2, 2]
