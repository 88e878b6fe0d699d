"""Image networks against the real Paddle: structure, names of parameters, outputs with the same
weights, initial values."""

import hashlib

import numpy as np
import pytest

from tests.nn.scripts import same

BIG = [
    ("vgg11", {"num_classes": 3}, 32),
    ("googlenet", {"num_classes": 5}, 224),
    ("inception_v3", {"num_classes": 7}, 128),
]
OUTPUTS = [  # name, arguments, height and width of the input
    ("AlexNet", {"num_classes": 0}, 67),
    ("vgg13", {"num_classes": 0, "with_pool": False, "batch_norm": True}, 32),
    ("mobilenet_v1", {"scale": 0.3, "num_classes": 4}, 48),
    ("mobilenet_v2", {"scale": 0.5, "num_classes": 4}, 48),
    ("mobilenet_v3_small", {"num_classes": 4}, 48),
    ("mobilenet_v3_large", {"scale": 0.35, "num_classes": 4}, 48),
    ("squeezenet1_0", {"num_classes": 4}, 48),
    ("squeezenet1_1", {"with_pool": False, "num_classes": 7}, 48),
    ("densenet121", {"num_classes": 7}, 32),
    ("shufflenet_v2_x0_25", {"num_classes": 4}, 48),
    ("shufflenet_v2_swish", {"num_classes": 4}, 48),
    ("googlenet", {"num_classes": 0}, 80),
    *(pytest.param(*row, marks=pytest.mark.slow) for row in BIG),
]
STRUCTURE = {
    # what each network looks like, sublayer by sublayer; parameters are zero, so that making them takes no
    # time
    "alexnet": [
        "M.AlexNet(0)",
        "M.AlexNet(-1).num_classes",
        "M.AlexNet(0, 1)",
        "M.alexnet(num_classes=0, foo=1)",
    ],
    "vgg": [
        "M.vgg11(num_classes=0)",
        "M.vgg13(batch_norm=True, num_classes=0)",
        "M.vgg16(num_classes=0)",
        "M.vgg19(num_classes=0, with_pool=False)",
        "M.VGG(nn.ReLU(), 2)",
        "M.vgg11(pretrained=True, num_classes=0)",
        "M.vgg16(pretrained=True, batch_norm=True, num_classes=0)",
        "V.make_layers([4, 'M', 8], True)",
    ],
    "mobilenet": [
        "M.MobileNetV1(num_classes=0)",
        "M.MobileNetV1(0.3, with_pool=False)",
        "M.MobileNetV2(num_classes=0)",
        "M.MobileNetV2(1.4, with_pool=False)",
        "M.MobileNetV3Small(0.5, num_classes=0)",
        "M.MobileNetV3Small(with_pool=False)",
        "M.MobileNetV3Large()",
        "M.MobileNetV3Large(0.35).last_channel",
        "M.mobilenet_v1(pretrained=True, scale=0.5)",
        "M.mobilenet_v2(pretrained=True, scale=0.5)",
        "M.mobilenet_v3_large(pretrained=True, scale=0.5)",
    ],
    "squeezenet": [
        "M.SqueezeNet('1.0', 3)",
        "M.SqueezeNet('1.1', num_classes=0)",
        "M.SqueezeNet('1.2')",
        "M.SqueezeNet(1.0)",
        "M.SqueezeNet()",
    ],
    "densenet": [
        "M.DenseNet(num_classes=0)",
        "M.DenseNet(161, 2, 0.2, 5)",
        "M.DenseNet(122)",
        "M.densenet169(num_classes=2)",
        "M.densenet201(num_classes=2)",
        "M.densenet264(num_classes=2)",
    ],
    "shufflenet": [
        "M.ShuffleNetV2(0.33, num_classes=0)",
        "M.ShuffleNetV2(2.0, act=None, with_pool=False)",
        "M.ShuffleNetV2(act='gelu')",
        "M.ShuffleNetV2(0.7)",
        "M.shufflenet_v2_x0_5(num_classes=2)",
        "M.shufflenet_v2_x1_0(act='swish', num_classes=2)",
        "M.shufflenet_v2_x1_5(num_classes=2)",
        "M.shufflenet_v2_swish(num_classes=2)",
    ],
    "inception": [
        "M.GoogLeNet(0)",
        "M.GoogLeNet(2, False)",
        "M.InceptionV3(0)",
        "M.InceptionV3(2, with_pool=False)",
    ],
    "helpers": [
        "U._make_divisible(35), U._make_divisible(10), U._make_divisible(3, 4), U._make_divisible(3, 8, 16)",
        (
            "U.IntermediateLayerGetter(M.LeNet(), {'features': 'a', 'fc': 'b'})(paddle.ones([2, 1, 28, "
            "28]))['b'].shape"
        ),
        "U.IntermediateLayerGetter(M.LeNet(), {'features': 'a'})",
        "U.IntermediateLayerGetter(M.LeNet(), {'feature': 'a'})",
        "O.ConvNormActivation(3, 4, 5, dilation=2)",
        "O.ConvNormActivation(3, 4, norm_layer=None, activation_layer=None)",
        "O.ConvNormActivation(3, 4, bias=True, padding=0, stride=2)[0].bias.shape",
        "O.ConvNormActivation(4, 4, 1, groups=2)",
        "O.ConvNormActivation(3, 4, (3, 5))",
        "O.ConvNormActivation(3, 4, (3, 5), padding=(1, 2))",
    ],
}
SETUP = [
    "M, U, O = paddle.vision.models, paddle.vision.models._utils, paddle.vision.ops",
    "V = __import__('sys').modules[paddle.vision.models.VGG.__module__]",
]


@pytest.fixture
def zeros(oracle, paddle):
    """Both libraries make parameters of zeros."""
    for library in (oracle, paddle):
        library.nn.initializer.set_global_initializer(library.nn.initializer.Constant(0.0))
    yield
    for library in (oracle, paddle):
        library.nn.initializer.set_global_initializer(None)


@pytest.mark.own_process
@pytest.mark.parametrize("name", STRUCTURE)
def test_structure(oracle, paddle, zeros, name):
    same(SETUP + STRUCTURE[name], oracle, paddle)


@pytest.mark.parametrize(("name", "arguments", "size"), OUTPUTS)
def test_outputs_with_the_oracles_weights(oracle, paddle, name, arguments, size):
    with oracle.utils.unique_name.guard(), paddle.utils.unique_name.guard():
        theirs, ours = (getattr(library.vision.models, name)(**arguments) for library in (oracle, paddle))
    weights = theirs.state_dict()
    described = [
        [(key, p.name, list(p.shape), str(p.dtype)) for key, p in net.state_dict().items()]
        for net in (theirs, ours)
    ]
    assert described[0] == described[1]
    ours.set_state_dict({key: value.numpy() for key, value in weights.items()})
    theirs.eval(), ours.eval()
    x = np.random.default_rng(3).standard_normal((2, 3, size, size), dtype=np.float32)
    want, got = theirs(oracle.to_tensor(x)), ours(paddle.to_tensor(x))
    for w, g in zip(*([out] if not isinstance(out, tuple) else out for out in (want, got)), strict=True):
        w = w.numpy()
        # a last ReLU may leave next to nothing of large sums, whose rounding differs between processors
        size_of_sums = max(np.abs(w).max(), 0.1)
        np.testing.assert_allclose(g.numpy(), w, rtol=1e-4, atol=1e-4 * size_of_sums)


@pytest.mark.parametrize(
    "name",
    [
        "mobilenet_v1",
        "mobilenet_v2",
        "mobilenet_v3_small",
        "squeezenet1_1",
        "densenet121",
        "shufflenet_v2_x0_25",
        "googlenet",
        "inception_v3",
        pytest.param("alexnet", marks=pytest.mark.slow),
    ],
)
def test_initial_weights_have_the_distribution_of_the_oracle(oracle, paddle, name):
    oracle.seed(7), paddle.seed(7)
    theirs, ours = (
        dict(getattr(library.vision.models, name)().named_parameters()) for library in (oracle, paddle)
    )
    for key, want in theirs.items():
        want, got = want.numpy(), ours[key].numpy()
        if want.std() == 0:
            assert got.std() == 0 and got.flat[0] == want.flat[0], key
            continue
        wide = 0.1 if want.size > 1000 else 0.3 if want.size >= 100 else 0.7
        assert got.std() == pytest.approx(want.std(), rel=wide), key
        if want.size > 4000:  # 0.80 for a normal, 0.87 for an even distribution
            assert np.abs(got).mean() / got.std() == pytest.approx(
                np.abs(want).mean() / want.std(), abs=0.04
            ), key


def test_a_network_trains(paddle):
    paddle.seed(1)
    net = paddle.vision.models.mobilenet_v3_small(scale=0.35, num_classes=2)
    x, y = paddle.randn([8, 3, 32, 32]), paddle.to_tensor([0, 1] * 4)
    optimizer = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    losses = []
    for _ in range(8):
        loss = paddle.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_addresses_of_weights_are_the_oracles(oracle, paddle):
    import importlib

    for name in (
        "alexnet",
        "vgg",
        "mobilenetv1",
        "mobilenetv2",
        "mobilenetv3",
        "squeezenet",
        "densenet",
        "shufflenetv2",
        "googlenet",
        "inceptionv3",
    ):
        want, got = (
            importlib.import_module(f"{library.__name__}.vision.models.{name}").model_urls
            for library in (oracle, paddle)
        )
        assert got == want


def test_pretrained_loads_the_local_file(paddle, tmp_path, monkeypatch):
    import importlib

    urls = importlib.import_module("paddle_jax.vision.models.mobilenetv3").model_urls
    source = paddle.vision.models.mobilenet_v3_small()
    file = tmp_path / "mobilenet_v3_small_x1.0.pdparams"
    paddle.save(source.state_dict(), str(file))
    monkeypatch.setattr(paddle.utils.download, "WEIGHTS_HOME", str(tmp_path))
    monkeypatch.setattr(paddle.utils.download.time, "sleep", lambda seconds: None)
    address = "http://127.0.0.1:9/" + file.name
    monkeypatch.setitem(
        urls, "mobilenet_v3_small_x1.0", (address, hashlib.md5(file.read_bytes()).hexdigest())
    )
    net = paddle.vision.models.mobilenet_v3_small(pretrained=True)
    for key, value in source.state_dict().items():
        assert (net.state_dict()[key].numpy() == value.numpy()).all(), key
    file.unlink()
    with pytest.raises(RuntimeError, match="could not be downloaded"):
        paddle.vision.models.mobilenet_v3_small(pretrained=True)
