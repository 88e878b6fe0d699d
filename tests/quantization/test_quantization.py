"""paddle.quantization and paddle.nn.quant against the real Paddle: the same network with the same weights,
prepared, trained, converted, saved."""

import importlib

import numpy as np
import pytest

from tests.nn.scripts import same


@pytest.fixture
def oracle(oracle):
    """The real Paddle, with those of its modules that it does not import by itself."""
    for name in ("quantization.quanters", "quantization.observers", "nn.quant.format", "nn.quant.qat"):
        importlib.import_module(f"paddle.{name}")
    return oracle


NET = [
    "Q = paddle.quantization",
    "N = paddle.nn.quant",
    "FQ = Q.quanters.FakeQuanterWithAbsMaxObserver",
    "AO = Q.observers.AbsmaxObserver",
    "GW = Q.observers.GroupWiseWeightObserver",
    """class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(),
                                      nn.MaxPool2D(2, 2))
        self.conv = nn.Conv2D(4, 6, 3, stride=2, padding=1, padding_mode='reflect', groups=2)
        self.pool = nn.AvgPool2D(2)
        self.fc = nn.Linear(6, 5)
        self.stub = paddle.nn.quant.Stub()
    def forward(self, x):
        x = self.pool(self.conv(self.features(x)))
        return self.stub(self.fc(paddle.flatten(x, 1)))
""",
    """def made():
    net, rng = Net(), np.random.RandomState(0)
    for p in net.parameters():
        p.set_value(rng.randn(*p.shape).astype('float32') * 0.4 + (1.0 if 'norm' in p.name else 0.0))
    return net
""",
    "def state(net, *ends): return {k: v.numpy() for k, v in net.state_dict().items() "
    "if not ends or k.endswith(ends)}",
    "x = paddle.to_tensor(np.random.RandomState(1).randn(3, 1, 8, 8).astype('float32'))",
    "y = paddle.to_tensor(np.array([1, 0, 4]))",
]
SCRIPTS = {
    "qat": [
        *NET,
        "cfg = Q.QuantConfig(activation=FQ(moving_rate=0.9), weight=FQ(bit_length=4))",
        "str(cfg)",
        "qat = Q.QAT(cfg)",
        "str(qat)",
        "net = made(); m = qat.quantize(net)",
        "m",
        "m is net, repr(qat)",
        "list(state(m))",
        "[k for k, _ in m.named_parameters()]",
        "[(k, v.name) for k, v in m.state_dict().items() if 'quant' in k or '_observer' in k]",
        "m(x)",
        "state(m)",
        "opt = paddle.optimizer.SGD(0.05, parameters=m.parameters())",
        *[
            "loss = F.cross_entropy(m(x), y); loss.backward()",
            "[(k, p.grad.numpy()) for k, p in m.named_parameters() if p.grad is not None]",
            "opt.step(); opt.clear_grad()",
            "loss.item()",
        ]
        * 2,
        "state(m)",
        "e = m.eval()",
        "m(x * 3).numpy()",
        "m(x).stop_gradient",
        "state(m, '_state', '_accum')",
        "qat.quantize(m)",
        "made().eval() is not None and qat.quantize(made().eval())",
    ],
    "ptq": [
        *NET,
        "ptq = Q.PTQ(Q.QuantConfig(activation=AO(), weight=AO()))",
        "net = made()",
        "ptq.quantize(net)",
        "e = net.eval(); m = ptq.quantize(net)",
        "m",
        "m(x).numpy(), m(x * 2).numpy()",
        "list(state(m))",
        "m.fc.weight_quanter.scales().numpy(), m.fc.activation_quanter.scales().numpy()",
        "c = ptq.convert(m)",
        "c",
        "m.fc",
        "c(x)",
        "state(c)",
        "[(k, v.name, v.stop_gradient) for k, v in c.state_dict().items() if '_scales' in k]",
        "[k for k, _ in c.named_buffers()]",
        "r = ptq.convert(m, remain_weight=True)",
        "r",
        "r(x * 1.5)",
        "state(r)",
        "ptq.convert(c) is c",
        "c.fc.converted",
        "c.fc._convert()",
        "ptq.convert(m, inplace=True) is m",
        "m(x)",
        "ptq.quantize(net, inplace=True) is net",
    ],
    "weights by groups": [
        *NET,
        "net = nn.Sequential(nn.Linear(256, 3)).eval()",
        "net[0].weight.set_value(np.random.RandomState(0).randn(256, 3).astype('float32'))",
        "ptq = Q.PTQ(Q.QuantConfig(None, GW(quant_bits=4)))",
        "m = ptq.quantize(net)",
        "m",
        "z = m(paddle.ones([1, 256]))",
        "m[0].weight_quanter.scales().numpy()",
        "c = ptq.convert(m)",
        "state(c)",
        "c(paddle.ones([1, 256])).numpy()",
        "o = GW()._instance(net[0])",
        "o.bit_length(), o.quant_axis(), o.min_value(), o.group_size",
        "o.scales()",
        "o(paddle.ones([100, 2]))",
        "o(paddle.ones([128, 2, 1]))",
        "o(paddle.ones([128, 2])).shape",
        "o.scales(), o.zero_points(), o.max_value()",
    ],
    "configuration": [
        *NET,
        "a, b, d = AO(1), AO(2), AO(3)",
        (
            "inner = nn.Sequential(('fc', nn.Linear(3, 3)), ('act', "
            "nn.ReLU()), ('q', nn.Sequential(nn.Linear(3, 3))))"
        ),
        "s = nn.Sequential(('x', nn.Linear(2, 3)), ('y', inner))",
        *[
            line
            for setting in (
                "c = Q.QuantConfig(a, None)",
                "c = Q.QuantConfig(None, None)",
                "c = Q.QuantConfig(a, b); c.add_type_config(nn.Linear, activation=d)",
                (
                    "c = Q.QuantConfig(None, None); c.add_name_config(s.y.fc.full_name(), activation=b); "
                    "c.add_type_config([nn.Linear], activation=d)"
                ),
                (
                    "c = Q.QuantConfig(None, None); c.add_layer_config([s.y], b, d); "
                    "c.add_type_config(nn.ReLU, weight=a)"
                ),
                "c = Q.QuantConfig(a, None); c.add_name_config(['linear', 'fc'], activation=b)",
                "c = Q.QuantConfig(None, a)",
                "c = Q.QuantConfig(a, None); c.add_customized_leaf(nn.Sequential)",
                "c = Q.QuantConfig(b, None); c.add_layer_config(s.y.act, None, None)",
            )
            for line in (
                setting,
                "str(c).split(' object')[0].replace('paddle_jax', 'paddle')",
                "Q.QAT(c).quantize(s)",
                "c._specify(s)",
                "c.details()",
                "c.global_config is None",
            )
        ],
        "c.add_type_config(5, a)",
        "c.add_layer_config(5, a)",
        "c.add_name_config(5, a)",
        "c.add_qat_layer_mapping(5, 6)",
        "c.customized_leaves",
        "c.qat_layer_mappings",
        "Q.QAT(None).quantize(s)",
        "Q.config.DEFAULT_LEAVES, c.default_qat_layer_mapping",
        "c.add_qat_layer_mapping(nn.ReLU, N.stub.QuanterStub)",
        "len(c.qat_layer_mappings), len(c.default_qat_layer_mapping)",
        "str(Q.config.SingleLayerConfig(a, None))",
        "Q.QAT(Q.QuantConfig(a, a)).quantize(nn.Linear(2, 2))",
        (
            "Q.QAT(Q.QuantConfig(a, a)).quantize(nn.Sequential(nn.LSTM(2, 3), nn.MultiHeadAttention(4, 2), "
            "nn.Embedding(3, 2), nn.Dropout(0.3)))"
        ),
    ],
    "factories": [
        *NET,
        "FQ(), FQ(0.5, name='a'), AO(4), GW(), FQ().kwargs, FQ().args",
        "Q.BaseQuanter()",
        "Q.BaseObserver()",
        "N.format.ConvertibleQuantedLayer()",
        "Q.factory.ObserverFactory is Q.factory.QuanterFactory",
        "q = FQ(name='f', dtype='float64')._instance(None)",
        "[(k, v.name, str(v.dtype), v.shape) for k, v in q.state_dict().items()]",
        "q.bit_length(), q.quant_axis(), q.zero_points(), q.scales()",
        "o = AO()._instance(None)",
        "o.scales()",
        "o.cal_thresholds()",
        "o.state_dict()",
        "o(paddle.to_tensor([1.0, -3.0]))",
        "o.scales().numpy()",
        "o(paddle.to_tensor([5.0]))",
        "o.scales().numpy(), o._max.numpy()",
        "o.cal_min_max(paddle.to_tensor([9.0]))",
        "w = Q.wrapper.ObserveWrapper(AO()._instance(None), nn.ReLU(), False)",
        "w",
        "w(paddle.to_tensor([-1.0]))",
        "Q.wrapper.ObserveWrapper(None, nn.ReLU())(x)",
        "FQ()._instance(None)(paddle.to_tensor([1, 2]))",
    ],
    "quanter values": [
        *NET,
        "q = FQ()._instance(None)",
        *[
            f"q(paddle.to_tensor({v}))"
            for v in ("[1.0, -2.0, 0.3]", "0.7", "[0.0, 0.0]", "[float('nan'), 1.0]", "[1.0]")
        ],
        "q = FQ()._instance(None)",
        "q(paddle.to_tensor([float('inf'), 0.0, 1.0]))",
        "q = FQ(moving_rate=0.5, bit_length=9)._instance(None).eval()",
        *[
            line
            for s in ("255.0", "0.7331", "2.5", "0.0")
            for line in (
                f"q._scale.set_value(np.array([{s}], 'float32'))",
                (
                    f"q(paddle.to_tensor(np.r_[(np.arange(-260, 260) + 0.5) * {s} / 255, 0.49999997, "
                    "-300.0].astype('float32'))).numpy()"
                ),
            )
        ],
        "v = paddle.to_tensor([0.1, -9.0, 9.0]); v.stop_gradient = False",
        "q._scale.set_value(np.array([2.0], 'float32'))",
        "(q(v) * paddle.to_tensor([1.0, 2.0, 3.0])).sum().backward()",
        "v.grad.numpy()",
    ],
    "linear form": [
        *NET,
        "L, D = N.format.LinearQuanter, N.format.LinearDequanter",
        *[
            f"{c}({a})(paddle.to_tensor({v}))"
            for c in "LD"
            for v in ("[[1.0, -2.0], [0.3, 9.0]]", "[[0.0, -0.004], [127.0, 64.0]]")
            for a in (
                "2.0, 0.0",
                "[2.0], [0.0], -1, 4",
                "[2.0, 1.0], [0.0, 0.0], 0",
                "np.array([2.0, 1.0]), [3.0, 4.0], 1, 8",
                "2.0, 0.0, None, (4, 3)",
                "[2.0, 0.5], [0.0, 0.0], 1, (5, 2)",
                "0.0, 0.0",
            )
        ],
        "L([2.0, 1.0], [0.0, 0.0], 2)(x)",
        "L(1.0, 0.0, None, (2, 2))",
        "L(2.0, 0.0), D(2.0, 0.0)._qmax, L(2.0, 0.0, -1, 4)._qmin, L(2.0, 0.0)._group_size",
        "[(k, v.name, v.shape, v.stop_gradient) for k, v in L([2.0], [0.0]).state_dict().items()]",
        (
            "[L(s, 0.0)(paddle.to_tensor(((np.arange(-126, 126) + 0.5) * s / "
            "127).astype('float32'))).numpy() "
            "for s in (127.0, 0.7331, 2.5)]"
        ),
        *[
            f"N.format.fake_fp8_{k}quant(paddle.to_tensor([[1.0, 2.0], [3.3, -4.0]]), paddle.to_tensor([2.0, "
            f"1.0]), {a})"
            for k in ("", "de")
            for a in ("0", "1", "-1", "-1, 'e5m2'", "0, 'e3m4'")
        ],
    ],
    "layers": [
        *NET,
        "one, two = paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0, 5.0]])",
        *[f"N.{k}()(one, two), N.{k}()" for k in ("add", "subtract", "multiply", "divide")],
        "N.concat()([one, two], 1), N.reshape()(one, [2, 1])",
        (
            "N.transpose()(one, [1, 0]), N.flatten()(one, 0), N.matmul()(one, two, transpose_y=True), "
            "N.functional_layers.FloatFunctionalLayer()"
        ),
        "N.Stub(), N.Stub()(one), N.Stub(FQ())._observer",
        "cfg = Q.config.SingleLayerConfig",
        (
            "N.stub.QuanterStub(N.Stub(FQ()), cfg(AO(), None)), "
            "N.stub.QuanterStub(N.Stub(), cfg(None, None))(one)"
        ),
        "l = nn.Linear(2, 2); q = N.qat.QuantedLinear(l, cfg(AO(), None))",
        "q.weight is l.weight, q.bias is l.bias, q.name, q.converted",
        "q.weights_to_quanters(), q.activation_quanters(), q.weight_quanter",
        "q._convert()",
        "N.qat.QuantedLinear(nn.ReLU(), cfg(None, None))",
        (
            "c = N.qat.QuantedConv2D(nn.Conv2D(1, 2, 3, padding=1, padding_mode='reflect', stride=2), "
            "cfg(None, None))"
        ),
        (
            "c._padding, c._stride, c._groups, c._padding_mode, c._dilation, "
            "c._data_format, c._reversed_padding_repeated_twice"
        ),
        "c = nn.Conv2D(2, 2, 3, padding='same', groups=2, data_format='NHWC', bias_attr=False)",
        "N.qat.QuantedConv2D(c, cfg(None, None))(paddle.ones([1, 5, 5, 2])).shape",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def fixed(p, net, x):
    """The network trained with simulated quantization for one batch, converted; scales of the oracle's
    quanters need zero points to be converted."""
    layer = p.quantization.quanters.FakeQuanterWithAbsMaxObserver()._get_class()
    kept = layer.zero_points
    try:
        layer.zero_points = lambda self: p.zeros([1])
        quanter = p.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        qat = p.quantization.QAT(p.quantization.QuantConfig(quanter, quanter))
        model = qat.quantize(net)
        model(x)
        return qat.convert(model.eval())
    finally:
        layer.zero_points = kept


def test_trained_networks_are_converted(oracle, paddle):
    found = []
    for p in (oracle, paddle):
        rng = np.random.RandomState(0)
        net = p.nn.Sequential(p.nn.Linear(4, 6), p.nn.ReLU(), p.nn.Linear(6, 3))
        for parameter in net.parameters():
            parameter.set_value(rng.randn(*parameter.shape).astype("float32"))
        x = p.to_tensor(rng.randn(5, 4).astype("float32"))
        model = fixed(p, net, x)
        found.append((model(x).numpy(), {k: v.numpy() for k, v in model.state_dict().items()}))
    (want, states), (got, ours) = found
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert list(ours) == list(states)
    for name in states:
        np.testing.assert_allclose(ours[name], states[name], rtol=1e-6, err_msg=name)


def test_quanters_without_zero_points_are_converted(paddle):
    quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
    qat = paddle.quantization.QAT(paddle.quantization.QuantConfig(quanter, quanter))
    model = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 3)))
    x = paddle.rand([5, 4])
    model(x)
    model.eval()
    np.testing.assert_allclose(qat.convert(model)(x).numpy(), model(x).numpy(), atol=0.03)


@pytest.mark.parametrize("size", [64, 128])
def test_groups_have_the_size_that_was_asked_for(paddle, size):
    weight = np.random.RandomState(0).randn(256, 3).astype("float32")
    ptq = paddle.quantization.PTQ(
        paddle.quantization.QuantConfig(
            None, paddle.quantization.observers.GroupWiseWeightObserver(group_size=size)
        )
    )
    net = paddle.nn.Sequential(paddle.nn.Linear(256, 3)).eval()
    net[0].weight.set_value(weight)
    model = ptq.quantize(net)
    model(paddle.ones([1, 256]))
    scales = np.abs(weight).reshape(-1, size, 3).max(1)
    np.testing.assert_array_equal(model[0].weight_quanter.scales().numpy(), scales)
    want = np.rint(weight / np.repeat(scales, size, 0) * 127) * np.repeat(scales, size, 0) / 127
    np.testing.assert_allclose(
        ptq.convert(model)(paddle.ones([1, 256])).numpy()[0], want.sum(0) + net[0].bias.numpy(), atol=1e-4
    )


def converted(p, kind):
    """(network, input): converted after training, or in training with simulated quantization."""
    rng = np.random.RandomState(0)
    net = p.nn.Sequential(p.nn.Conv2D(1, 2, 3), p.nn.ReLU(), p.nn.Flatten(), p.nn.Linear(72, 3))
    for parameter in net.parameters():
        parameter.set_value(rng.randn(*parameter.shape).astype("float32"))
    x = p.to_tensor(rng.rand(2, 1, 8, 8).astype("float32"))
    q = p.quantization
    if kind == "ptq":
        tool = q.PTQ(q.QuantConfig(q.observers.AbsmaxObserver(), q.observers.AbsmaxObserver()))
        model = tool.quantize(net.eval())
        model(x)
        return tool.convert(model), x
    model = q.QAT(q.QuantConfig(*[q.quanters.FakeQuanterWithAbsMaxObserver()] * 2)).quantize(net)
    model(x)
    return model.eval(), x


@pytest.mark.parametrize("kind", ["ptq", "qat"])
def test_is_saved_for_any_batch_size(paddle, tmp_path, kind):
    model, x = converted(paddle, kind)
    paddle.jit.save(model, str(tmp_path / "m"), [paddle.static.InputSpec([None, 1, 8, 8], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded(x).numpy(), model(x).numpy(), atol=1e-5)
    assert loaded(paddle.concat([x, x, x])).shape == [6, 3]


@pytest.mark.own_process
@pytest.mark.parametrize("kind", ["ptq", "qat"])
def test_files_of_the_oracle_are_read(oracle, paddle, tmp_path, kind):
    model, x = converted(oracle, kind)
    oracle.jit.save(model, str(tmp_path / "m"), [oracle.static.InputSpec([2, 1, 8, 8], "float32")])
    np.testing.assert_allclose(
        paddle.jit.load(str(tmp_path / "m"))(paddle.to_tensor(x.numpy())).numpy(),
        model(x).numpy(),
        rtol=1e-5,
        atol=1e-4,
    )


@pytest.mark.own_process
def test_the_oracle_reads_a_trained_network(oracle, paddle, tmp_path):
    model, x = converted(paddle, "qat")
    paddle.jit.save(model, str(tmp_path / "m"), [paddle.static.InputSpec([None, 1, 8, 8], "float32")])
    np.testing.assert_allclose(
        oracle.jit.load(str(tmp_path / "m"))(oracle.to_tensor(x.numpy())).numpy(),
        model(x).numpy(),
        rtol=1e-4,
        atol=1e-4,
    )


def test_trains_compiled_as_eagerly(paddle):
    losses = []
    for compiled in (False, True):
        rng = np.random.RandomState(0)
        net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 3))
        for parameter in net.parameters():
            parameter.set_value(rng.randn(*parameter.shape).astype("float32"))
        quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        model = paddle.quantization.QAT(paddle.quantization.QuantConfig(quanter, quanter)).quantize(net)
        optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
        x, y = paddle.to_tensor(rng.randn(16, 4).astype("float32")), paddle.to_tensor(rng.randint(0, 3, 16))

        def step(model=model, optimizer=optimizer, x=x, y=y):
            loss = paddle.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        run = paddle.jit.to_static(step) if compiled else step
        losses.append([run().item() for _ in range(30)])
        assert model[0].weight_quanter._state.item() == pytest.approx(
            sum(0.9**i for i in range(31)), rel=1e-5
        )
    np.testing.assert_allclose(*losses, rtol=1e-5)
    assert losses[0][-1] < losses[0][0]


DECLARED = """
@p.quantization.quanter("Half")
class HalfLayer(p.quantization.BaseQuanter):
    def __init__(self, layer, bits=8):
        super().__init__()
        self.bits = bits
    def forward(self, x): return x / 2
    def scales(self): return p.ones([1])
    def zero_points(self): return p.zeros([1])
    def quant_axis(self): return -1
    def bit_length(self): return self.bits
config = p.quantization.QuantConfig(Half(bits=4), None)
made = p.quantization.QAT(config).quantize(p.nn.Sequential(p.nn.ReLU()))
"""


def test_a_declared_quanter(paddle):
    names = {"p": paddle, "__name__": __name__, "__all__": []}
    exec(DECLARED, names)
    assert names["__all__"] == ["Half"] and repr(names["Half"](bits=4)) == "Half(bits=4)"
    assert (
        repr(names["made"]) == "Sequential(\n  (0): ObserveWrapper(\n    (_observer): "
        "HalfLayer()\n    (_observed): ReLU()\n  )\n)"
    )
    assert names["made"](paddle.to_tensor([3.0])).tolist() == [1.5]
    with pytest.raises(TypeError):
        paddle.quantization.quanter(5)(paddle.quantization.BaseQuanter)
