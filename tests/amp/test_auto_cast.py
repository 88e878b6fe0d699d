"""Guards and `decorate`: state, nesting, gradients, tiers, models."""

import importlib
import threading

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax import nn
from tests.amp.oracle_gpu import pretended

DTYPES = ["float16", "bfloat16"]


def net_of(module):
    class Net(module.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc, self.ln, self.bn = (
                module.nn.Linear(4, 4),
                module.nn.LayerNorm(4),
                module.nn.BatchNorm1D(4),
            )
            self.gn, self.inn, self.emb = (
                module.nn.GroupNorm(2, 4),
                module.nn.InstanceNorm1D(4),
                module.nn.Embedding(3, 4),
            )
            self.conv, self.sbn, self.deep = (
                module.nn.Conv2D(1, 1, 3),
                module.nn.SyncBatchNorm(4),
                module.nn.Sequential(module.nn.Linear(4, 4)),
            )
            self.register_buffer("kept", module.ones([2]))
            self.register_buffer("counts", module.ones([2], "int64"))
            self.own = self.create_parameter([3])

    return Net()


def dtypes(layer):
    return {name: str(t.dtype).rpartition(".")[2].lower() for name, t in layer.state_dict().items()}


@pytest.mark.parametrize("dtype", DTYPES)
def test_state_inside_and_outside(dtype):
    assert not paddle.is_autocast_enabled() and paddle.get_autocast_dtype() == "float16"
    with paddle.amp.auto_cast(dtype=dtype):
        assert (
            paddle.is_autocast_enabled("cpu")
            and paddle.get_autocast_cpu_dtype() == paddle.get_autocast_gpu_dtype() == dtype
        )
        with paddle.amp.auto_cast(enable=False):
            assert not paddle.amp.is_autocast_enabled()
        with pytest.raises(KeyError), paddle.amp.amp_guard(level="O2", dtype="bfloat16"):
            raise KeyError
        assert paddle.amp.get_autocast_dtype() == dtype
        seen = []
        thread = threading.Thread(target=lambda: seen.append(paddle.is_autocast_enabled()))
        thread.start()
        thread.join()
        assert seen == [False]
    assert not paddle.is_autocast_enabled()


@pytest.mark.parametrize("deferred", ["sync", "off"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_flow_through_the_casts(dtype, deferred):
    paddle.set_flags({"FLAGS_deferred": deferred})
    try:
        w = np.random.default_rng(0).normal(size=(3, 3)).astype("float32")
        x, y = paddle.to_tensor(w), paddle.to_tensor(w, stop_gradient=False)
        for _ in range(3):
            with paddle.amp.auto_cast(dtype=dtype):
                out = paddle.matmul(x, y)
                loss = (out * out).sum()
            y.clear_grad()
            loss.backward()
            assert out.dtype.name.lower() == dtype and loss.dtype == y.grad.dtype == paddle.float32
            np.testing.assert_allclose(y.grad.numpy(), 2 * w.T @ (w @ w), rtol=0.1, atol=0.1)
            y.set_value(y)  # a cast is never older than the value
        y.set_value(y * 0)
        with paddle.amp.auto_cast(dtype=dtype):
            assert not paddle.matmul(x, y).any()
    finally:
        paddle.set_flags({"FLAGS_deferred": "sync"})


def test_decorates_functions():
    @paddle.amp.auto_cast(dtype="bfloat16")
    def product(x):
        return paddle.matmul(x, x)

    @paddle.autocast("cpu", enabled=False)
    def plain(x):
        return paddle.matmul(x, x)

    x = paddle.ones([2, 2])
    for _ in range(2):
        assert product(x).dtype == paddle.bfloat16 and plain(x).dtype == x.dtype == paddle.float32
    assert product.__name__ == "product"


def test_backward_and_creation_are_left_alone():
    x = paddle.ones([2, 2], "float16")
    with paddle.amp.auto_cast(level="O2", use_promote=False):
        assert paddle.zeros([2]).dtype == paddle.float32 and x.astype("float32").dtype == paddle.float32
        # in-place operations keep theirs
        assert (
            paddle.ones([2]).tanh_().dtype == paddle.ones([2]).add_(paddle.ones([2])).dtype == paddle.float32
        )
        assert paddle.arange(3).dtype == paddle.int64 and (x.astype("float64") * 2).dtype == paddle.float64


@pytest.mark.parametrize(
    "path",
    [
        "amp.auto_cast:amp_guard",
        "amp.auto_cast:amp_decorate",
        "amp.grad_scaler:AmpScaler",
        "amp.grad_scaler:OptimizerState",
        "amp.amp_lists:white_list",
        "amp.amp_lists:black_list",
        "amp.debugging:DebugMode",
        "static.amp:decorate",
    ],
)
def test_names_are_found_in_their_modules(path, oracle):
    module, name = path.split(":")
    for package in ("paddle", "paddle_jax"):
        assert hasattr(importlib.import_module(f"{package}.{module}"), name)


def test_lists_as_the_oracle(oracle):
    assert (
        paddle.amp.white_list() == oracle.amp.white_list()
        and paddle.amp.black_list() == oracle.amp.black_list()
    )


DECORATE = [
    {},
    {"level": "O2"},
    {"level": "O2", "dtype": "bfloat16"},
    {"level": "O2", "dtype": "bfloat16", "master_weight": False},
    {"level": "O2", "dtype": "bfloat16", "save_dtype": "float32"},
    {"level": "O2", "save_dtype": "float64"},
    {"level": "O1", "save_dtype": "float16"},
    {"level": "O3"},
    {"dtype": "float32", "level": "O2"},
    {"level": "O2", "save_dtype": "foo"},
    {"level": "O2", "excluded_layers": [3]},
    {"level": "O2", "excluded_layers": "Conv2D"},
    {"level": "O2", "excluded_layers": ["Conv2D", "Linear"]},
    {"level": "O2", "excluded_layers": ["deep"]},
]


@pytest.mark.parametrize("kwargs", DECORATE, ids=str)
def test_decorate_as_the_oracle(kwargs, oracle):
    def run(module):
        net = net_of(module)
        opt = module.optimizer.AdamW(parameters=net.parameters())

        def layer(name):
            return name if not isinstance(name, str) else getattr(net, name, None) or getattr(module.nn, name)

        more = dict(kwargs)
        if "excluded_layers" in more:
            given = more["excluded_layers"]
            more["excluded_layers"] = (
                [layer(name) for name in given] if isinstance(given, list) else layer(given)
            )
        ids = [id(p) for p in net.parameters()]
        try:
            got = module.amp.decorate(net, opt, **more)
        except Exception as error:
            return type(error)
        assert got[0] is net and got[1] is opt and ids == [id(p) for p in net.parameters()]
        return dtypes(net), str(net.fc.weight.dtype).rpartition(".")[2].lower(), opt._multi_precision

    with pretended(oracle):
        want = run(oracle)
    assert run(paddle) == want


def test_decorate_takes_and_gives_lists():
    net, opt = nn.Linear(2, 2), paddle.optimizer.SGD(parameters=[paddle.create_parameter([1], "float32")])
    assert paddle.amp.decorate(net) is net
    models, optimizers = paddle.amp.decorate([net], [opt], level="O2")
    assert models == [net] and optimizers == [opt]
    models, optimizers = paddle.amp.decorate([net], opt, level="O2")
    assert models == [net] and optimizers is opt
    for wrong in ((3,), (net, 3), ([net, 3],)):
        with pytest.raises(TypeError):
            paddle.amp.decorate(*wrong)


@pytest.mark.parametrize("dtype", DTYPES)
def test_master_gradients(dtype):
    net, opt = nn.Linear(2, 2), None
    net, opt = paddle.amp.decorate(
        net,
        paddle.optimizer.AdamW(0.1, parameters=net.parameters()),
        level="O2",
        dtype=dtype,
        master_grad=True,
    )
    for count in (1, 2):
        net(paddle.ones([2, 2], dtype)).sum().backward()
        assert net.weight.grad.dtype == paddle.float32 and net.weight.grad.numpy().ravel()[0] == 2 * count
    opt.step()
    opt.clear_grad()
    assert (
        net.weight.dtype.name.lower() == dtype
        and opt.state_dict()["master_weights"][net.weight.name].dtype == paddle.float32
    )
    other = nn.Linear(2, 2).to(dtype=dtype)
    other(paddle.ones([2, 2], dtype)).sum().backward()
    assert other.weight.grad.dtype == other.weight.dtype


def test_layers_train_at_level_o2():
    paddle.seed(0)
    net = nn.Sequential(
        nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.LayerNorm(144), nn.Linear(144, 3)
    )
    net, opt = paddle.amp.decorate(
        net, paddle.optimizer.AdamW(0.01, parameters=net.parameters()), level="O2", dtype="bfloat16"
    )
    x, y = paddle.randn([16, 1, 8, 8]), paddle.randint(0, 3, [16])
    losses = []
    for _ in range(12):
        with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
            loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_recomputation_and_transforms_take_the_guard_along():
    w = paddle.randn([3, 3])
    with paddle.amp.auto_cast(dtype="bfloat16"):
        out = paddle.func.vmap(lambda row: paddle.matmul(row, w))(paddle.randn([2, 3]))
        gradient = paddle.func.grad(lambda v: paddle.matmul(v, w).sum())(paddle.randn([3]))
    assert out.dtype == paddle.bfloat16 and gradient.dtype == paddle.float32


def test_the_arguments_of_the_innermost_guard():
    from paddle_jax.amp.auto_cast import amp_state

    assert amp_state() is None
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16", custom_white_list=["relu"]):
        assert amp_state() == {
            "enable": True,
            "custom_white_list": ["relu"],
            "custom_black_list": None,
            "level": "O1",
            "dtype": "bfloat16",
            "use_promote": True,
        }
        with paddle.amp.auto_cast(False):
            assert amp_state()["enable"] is False
        assert amp_state()["enable"] is True
    assert amp_state() is None
