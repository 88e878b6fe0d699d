"""Initializers: distributions and exact values against the real Paddle."""

import math

import numpy as np
import pytest

from tests.nn.scripts import same

RANDOM = [
    "XavierUniform()",
    "XavierNormal()",
    "KaimingUniform()",
    "KaimingNormal()",
    "KaimingUniform(mode='fan_out')",
    "KaimingNormal(nonlinearity='leaky_relu', negative_slope=0.5)",
    "KaimingNormal(nonlinearity='tanh')",
    "KaimingNormal(fan_in=50)",
    "XavierNormal(fan_in=50)",
    "XavierNormal(fan_in=50, fan_out=70)",
    "XavierUniform(gain=2.0)",
    "KaimingNormal(negative_slope=0.5)",
    "TruncatedNormal()",
    "TruncatedNormal(1.0, 2.0)",
    "TruncatedNormal(1.0, 2.0, a=-1.0, b=1.5)",
    "Normal(1.0, 2.0)",
    "Uniform(-2, 3)",
    "XavierInitializer()",
    "XavierInitializer(uniform=False, gain=2.0)",
    "MSRAInitializer()",
    "MSRAInitializer(False, 50, 0, 0.5, 'leaky_relu', 'fan_in')",
]
LAYERS = [
    "Linear(200, 300)",
    "Bilinear(30, 40, 50)",
    "Conv1D(60, 80, 5)",
    "Conv2D(30, 40, (3, 5))",
    "Conv2D(30, 40, 3, groups=2)",
    "Conv3D(20, 30, 3)",
    "Conv1DTranspose(60, 80, 5)",
    "Conv2DTranspose(30, 40, (3, 5), groups=2)",
    "Conv3DTranspose(20, 30, 3)",
    "Embedding(200, 300)",
    "LSTM(100, 144)",
    "LSTM(100, 144, proj_size=50)",
    "GRU(100, 144)",
    "SimpleRNN(100, 144)",
    "HSigmoidLoss(100, 200)",
    "AdaptiveLogSoftmaxWithLoss(100, 900, [500], head_bias=True)",
    "SpectralNorm([4000, 3000])",
    "PReLU(10)",
    "BatchNorm2D(4)",
    "InstanceNorm2D(4)",
    "GroupNorm(2, 4)",
    "LayerNorm(4)",
    "MultiHeadAttention(120, 4, kdim=60)",
]


def assert_same_distribution(got, want):
    """Mean, spread, kurtosis and bounds agree as far as samples of this size can."""
    got, want, n = got.astype(np.float64).ravel(), want.astype(np.float64).ravel(), got.size
    assert got.shape == want.shape
    spread, error = want.std(), 6 / math.sqrt(n)
    assert abs(got.mean() - want.mean()) <= error * spread * 1.5
    assert abs(got.std() - spread) <= error * spread
    if spread:
        kurtosis = [((a - a.mean()) ** 4).mean() / a.var() ** 2 for a in (got, want)]
        assert abs(kurtosis[0] - kurtosis[1]) <= 20 * error
        if kurtosis[1] < 1.9 and n > 1000:  # uniform: the bounds are sharp
            assert abs(got).max() == pytest.approx(abs(want).max(), rel=0.05)


@pytest.mark.parametrize("shape", [[300, 400], [4000], [30, 40, 5], [40, 30, 3, 3]], ids=str)
@pytest.mark.parametrize("text", RANDOM)
def test_distributions(text, shape, oracle, paddle):
    made = [
        p.nn.Layer().create_parameter(shape, default_initializer=eval("I." + text, {"I": p.nn.initializer}))
        for p in (paddle, oracle)
    ]
    got, want = (parameter.numpy() for parameter in made)
    assert_same_distribution(got, want)
    if text.startswith("TruncatedNormal"):
        low, high = (-1.0, 1.5) if "a=" in text else (-2.0, 2.0)
        assert low <= got.min()
        assert got.max() <= high


@pytest.mark.parametrize("text", LAYERS)
def test_defaults_of_layers(text, oracle, paddle):
    got, want = (eval("nn." + text, {"nn": p.nn}).state_dict() for p in (paddle, oracle))
    assert list(got) == list(want)
    for name in want:
        assert_same_distribution(got[name].numpy(), want[name].numpy())


def test_draws_differ_and_seeds_repeat(paddle):
    normal = paddle.nn.initializer.Normal()

    def draw():
        x = paddle.zeros([50])
        normal(x)
        return x.numpy()

    first, second = draw(), draw()
    assert not np.array_equal(first, second)
    paddle.seed(2026)
    np.testing.assert_array_equal(draw(), first)


@pytest.mark.parametrize("bounds", [(3.0, 3.1), (-9.0, -8.0), (6.0, 20.0), (0.0, 0.01)], ids=str)
def test_truncation_far_from_the_mean(paddle, bounds):
    from scipy.stats import truncnorm

    x = paddle.zeros([20000], dtype="float64")
    paddle.nn.initializer.TruncatedNormal(0.0, 1.0, *bounds)(x)
    exact = truncnorm(*bounds)
    assert bounds[0] <= float(x.min()) <= float(x.max()) <= bounds[1]
    assert abs(float(x.mean()) - exact.mean()) < 6 * exact.std() / math.sqrt(20000)


@pytest.mark.parametrize("shape", [[4, 4], [3, 5], [5, 3], [2, 3, 4], [6, 2, 2]], ids=str)
def test_orthogonal(paddle, shape):
    x = paddle.zeros(shape)
    paddle.nn.initializer.Orthogonal(2.0)(x)
    matrix = x.numpy().reshape(shape[0], -1)
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)


CREATE = (
    "make = lambda shape, init, dtype='float32': nn.Layer().create_parameter(shape, dtype=dtype, "
    "default_initializer=init)"
)
SCRIPTS = {
    "exact values": [
        "I = nn.initializer",
        CREATE,
        "make([2], I.Assign([1, 2]))",
        "make([2], I.Assign((1.0, 2)))",
        "make([3], I.Assign(np.array([1.0, 2])))",
        "make([2], I.Assign(paddle.ones([2], 'int32')))",
        "make([2, 2], I.Assign([[1, 2], [3, 4]]), 'float64')",
        "I.Assign(5)",
        "make([2], I.Constant(3), 'int32')",
        "make([2], I.Constant(3), 'bool')",
        "make([2], I.Constant(0.5), 'bfloat16').astype('float32')",
        "I.Constant(None)",
        "I.Normal(None)",
        "make([2, 2, 4, 4], I.Bilinear())",
        "make([1, 1, 3, 3], I.Bilinear())",
        "make([2, 2, 4, 5], I.Bilinear())",
        "make([2, 2], I.Bilinear())",
        "make([3, 2, 3], I.Dirac())",
        "make([4, 2, 2, 3], I.Dirac(2))",
        "make([2, 2, 3, 3, 3], I.Dirac())",
        "make([2, 4, 3], I.Dirac())",
        "make([2, 2], I.Dirac())",
        "make([3, 2, 2], I.Dirac(2))",
        "I.Dirac(0)",
        "I.Dirac('a')",
        "I.Dirac(2.0)",
        "make([5], I.Orthogonal())",
        "make([10, 10], I.KaimingNormal(nonlinearity='foo'))",
        "make([10, 10], I.KaimingNormal(mode='foo'))",
        "make([10, 10], I.Normal(std=0))",
        "make([10, 10], I.Uniform(2, 1))",
        "make([200], I.Normal(), 'int32')",
        "make([200], I.Uniform(), 'int32')",
        *[f"make([200], I.Normal(), '{dtype}').dtype" for dtype in ("float16", "float64", "complex64")],
    ],
    "older classes": [
        "I = nn.initializer",
        "isinstance(I.XavierNormal(), I.XavierInitializer)",
        "isinstance(I.KaimingUniform(), I.MSRAInitializer)",
        "isinstance(I.MSRAInitializer(), I.KaimingUniform)",
        "I.XavierInitializer(uniform=None)",
        "I.MSRAInitializer(seed=None)",
        "class Own(I.MSRAInitializer):\n  def __init__(self):\n    super().__init__(uniform=False, seed=0)",
        "Own()(paddle.zeros([3, 3]))",
    ],
    "gains": [
        f"nn.initializer.calculate_gain({args})"
        for args in (
            "'tanh'",
            "'relu'",
            "'leaky_relu'",
            "'leaky_relu', 0.2",
            "'selu'",
            "'sigmoid'",
            "'linear'",
            "'conv2d'",
            "'conv1d'",
            "'conv3d'",
            "'conv1d_transpose'",
            "'conv_transpose2d'",
            "'gelu'",
            "'leaky_relu', 'a'",
            "'relu', 3",
            "'conv_3d'",
        )
    ],
    "in place": [
        "I, l = nn.initializer, nn.Linear(3, 4)",
        "w = l.weight",
        "I.Constant(2.0)(w)",
        "l.weight is w, w",
        "x = paddle.ones([2, 3])",
        "I.Constant(7.0)(x)",
        "x",
        "I.Assign(np.ones((3, 4)))(w)",
        "w",
        "I.Constant(1.0)(np.ones(2))",
        "I.Constant(1.0)(5)",
        "w.stop_gradient",
    ],
    "global": [
        "I = nn.initializer",
        "I.set_global_initializer(I.Constant(4.0), I.Constant(5.0))",
        "nn.Linear(1, 2).state_dict()",
        "nn.Conv2D(1, 1, 1).state_dict()",
        "nn.LSTMCell(1, 1).state_dict()",
        "nn.BatchNorm1D(1).state_dict()",
        "nn.Embedding(1, 1).state_dict()",
        (
            "nn.Linear(1, 1, weight_attr=I.Constant(9.0), "
            "bias_attr=paddle.ParamAttr(initializer=I.Constant(8.0))).state_dict()"
        ),
        "paddle.create_parameter([1], 'float32', default_initializer=I.Constant(1.0))",
        "I.set_global_initializer(I.Constant(6.0))",
        "nn.Linear(1, 1).state_dict()",
        "I.set_global_initializer(None)",
        "nn.Linear(1, 1).bias",
    ],
    "attributes": [
        "pa = paddle.ParamAttr",
        "vars(pa())",
        "pa(name='')",
        "vars(pa(name='x', learning_rate=0.5, trainable=False, need_clip=False))",
        "pa._to_attr(False)",
        "vars(pa._to_attr(None))",
        "vars(pa._to_attr(True))",
        "vars(pa._to_attr('ab'))",
        "pa._to_attr(5)",
        "pa._to_attr([None, False])[1]",
        "vars(pa._to_attr(nn.initializer.Constant(1.0)))",
        "pa(name='x')._to_kwargs()",
        "nn.Linear(2, 3, 5)",
        "nn.Linear(2, 3, bias_attr=True).bias",
        "nn.Linear('a', 3)",
        "nn.Linear(2.5, 3)",
        "nn.Linear(0, 3)",
        "nn.Linear(-1, 3)",
        "nn.Linear(2)",
        "nn.Linear(2, 3, False).weight",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    try:
        same(script, oracle, paddle)
    finally:
        for p in (oracle, paddle):
            p.nn.initializer.set_global_initializer(None)


def test_initializers_of_ones_own(paddle):
    class Ramp(paddle.nn.initializer.Initializer):
        def forward(self, param, block=None):
            param.set_value(np.arange(param.size, dtype="float32").reshape(param.shape))

    assert paddle.nn.Linear(2, 2, weight_attr=Ramp()).weight.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_refuses_what_is_no_initializer(paddle):
    with pytest.raises(TypeError):
        paddle.nn.initializer.set_global_initializer(5)
    with pytest.raises(ValueError):
        paddle.nn.initializer.TruncatedNormal(a=3.0, b=1.0)


def test_lazy_parameters(paddle):
    lazy_guard = paddle.nn.initializer.lazy_init.LazyGuard
    with lazy_guard():
        net = paddle.nn.Sequential(paddle.nn.Embedding(5, 4, padding_idx=1), paddle.nn.LSTM(4, 3))
    weight = net[0].weight
    assert repr(weight) == "Parameter containing:\nTensor(Not initialized)"
    assert (weight.shape, str(weight.dtype)) == ([5, 4], "paddle.float32")
    for parameter in net.parameters():
        parameter.initialize()
    assert weight[1].tolist() == [0.0] * 4
    assert float(weight[0].abs().max()) > 0
    assert net(paddle.to_tensor([[1, 2]]))[0].shape == [1, 2, 3]
    with pytest.raises(AssertionError):
        weight.initialize()


UNMADE = {
    "layer": "linear: weight",
    "jit.to_static(layer)": "to_static",
    "add": "add: x",
    "matmul": "matmul: y",
    "index": "take_index: x",
    "clone": "clone: x",
    "batch norm": "batch_norm_train: mean",
    "save": "reading the value",
    "backward": "backward",
}


def unmade_calls(paddle, tmp_path):
    with paddle.LazyGuard():
        layer, norm = paddle.nn.Linear(3, 4), paddle.nn.BatchNorm2D(3)
    w, x = layer.weight, paddle.ones([2, 3])
    return layer, {
        "layer": lambda: layer(x),
        "jit.to_static(layer)": lambda: paddle.jit.to_static(layer)(x),
        "add": lambda: w + 1,
        "matmul": lambda: paddle.matmul(x, w),
        "index": lambda: w[0, 0],
        "clone": w.clone,
        "batch norm": lambda: norm(paddle.ones([1, 3, 2, 2])),
        "save": lambda: paddle.save(layer.state_dict(), str(tmp_path / "p")),
        "backward": w.backward,
    }


@pytest.mark.parametrize("name", UNMADE)
def test_parameters_that_are_not_initialized(name, oracle, paddle, tmp_path):
    if name not in ("save", "jit.to_static(layer)"):  # those belong into processes of their own
        with pytest.raises(RuntimeError):
            unmade_calls(oracle, tmp_path)[1][name]()
    layer, calls = unmade_calls(paddle, tmp_path)
    parameter = "batch_norm" if name == "batch norm" else layer.weight.name
    with pytest.raises(
        RuntimeError,
        match=rf"^\(PreconditionNotMet\) {UNMADE[name]}: .*{parameter}.* is not "
        r"initialized: .*initialize\(\)",
    ):
        calls[name]()


def test_what_can_be_asked_before_there_are_values(oracle, paddle):
    for engine in (oracle, paddle):
        with engine.LazyGuard():
            layer = engine.nn.Linear(3, 4)
        w = layer.weight
        assert (
            not w._is_initialized()
            and list(w.shape) == [3, 4]
            and list(layer.state_dict()) == ["weight", "bias"]
        )
        assert (
            repr(w.detach()) == "Tensor(Not initialized)"
            and repr(w) == "Parameter containing:\nTensor(Not initialized)"
        )
        for parameter in layer.parameters():
            parameter.initialize()
        assert w._is_initialized() and layer(engine.ones([2, 3])).shape == [2, 4]
    with paddle.LazyGuard():
        w = paddle.nn.Linear(3, 4).weight
    for read in (w.numpy, w.tolist, lambda: np.asarray(w)):  # the real Paddle gives an empty array
        with pytest.raises(RuntimeError, match="is not initialized"):
            read()


def test_given_the_block_of_a_parameter(oracle, paddle):
    """As PaddleSeg calls them."""
    for module in (oracle, paddle):
        weight = module.nn.Linear(2, 3).weight
        module.nn.initializer.Constant(2.0)(weight, weight.block)
        assert (weight.numpy() == 2).all() and weight.block is weight.block
        with pytest.raises(AttributeError):
            weight.block = None
