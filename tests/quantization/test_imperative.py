"""paddle.quantization.ImperativeQuantAware against the real Paddle: what it makes of a model, training steps,
and a saved model."""

import inspect

import numpy as np
import pytest

import paddle_jax
from tests.nn.scripts import same

NET = """class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(),
                                  nn.Conv2DTranspose(2, 2, 2), nn.Flatten())
        self.add, self.cat = paddle.nn.quant.add(), paddle.nn.quant.concat()
        self.tail, self.last = nn.Linear(18, 3), nn.Linear(6, 2)
        self.last.skip_quant = True
        for p in self.parameters():
            p.set_value((np.random.RandomState(1).rand(*p.shape) + 0.1).astype('float32'))
    def forward(self, x):
        y = self.tail(self.body(x))
        return self.last(self.cat([self.add(y, y), y], axis=1))
"""
START = [NET, "x = paddle.to_tensor(np.random.RandomState(0).rand(2, 1, 4, 4).astype('float32'))"]
OPTIONS = [
    "",
    "weight_quantize_type='channel_wise_abs_max', activation_bits=6",
    "quantizable_layer_type=['Conv2D']",
    "onnx_format=True",
    "act_preprocess_layer=nn.Tanh, weight_preprocess_layer=nn.ReLU",
    "moving_rate=0.5",
    "quantizable_layer_type=[nn.Linear]",
]
REFUSED = [
    "weight_quantize_type='x'",
    "weight_quantize_type='moving_average_abs_max'",
    "activation_quantize_type='abs_max'",
    "weight_bits=17",
    "activation_bits=2.0",
    "quantizable_layer_type=['Foo']",
    "act_quantize_layer=int",
]


@pytest.mark.parametrize("options", OPTIONS)
def test_quantize(paddle, oracle, options):
    """The layers it makes, outputs and gradients while training and afterwards."""
    same(
        [
            *START,
            f"q = paddle.quantization.ImperativeQuantAware({options})",
            "net = Net()",
            "q.quantize(net) is net",
            "net",
            "[(k, v.shape) for k, v in net.state_dict().items()]",
            "net(x).numpy()",
            "loss = net(x * 2).mean()",
            "loss.backward()",
            (
                "[p.grad.numpy() for n, p in net.named_parameters() if p.grad is not None and not "
                "n.endswith('bias')]"
            ),
            "net.eval()(x).numpy()",
        ],
        oracle,
        paddle,
    )


@pytest.mark.parametrize("options", REFUSED)
def test_refused(paddle, oracle, options):
    for engine in (paddle, oracle):
        with pytest.raises((AssertionError, TypeError)):
            eval(
                f"ImperativeQuantAware({options})",
                {"ImperativeQuantAware": engine.quantization.ImperativeQuantAware},
            )
    with pytest.raises(AssertionError):
        paddle.quantization.ImperativeQuantAware().quantize(3)


def test_signature(paddle, oracle):
    ours, theirs = (
        inspect.signature(engine.quantization.ImperativeQuantAware) for engine in (paddle, oracle)
    )
    assert [(p.name, p.default) for p in ours.parameters.values()] == [
        (p.name, p.default) for p in theirs.parameters.values()
    ]


def test_saved(paddle, oracle, tmp_path):
    """A saved model gives what the model gives in evaluation, here and in the real Paddle; the model
    goes on training."""
    scope = {"paddle": paddle, "nn": paddle_jax.nn, "np": np}
    exec(NET, scope)
    net, q = scope["Net"](), paddle.quantization.ImperativeQuantAware()
    q.quantize(net)
    x = np.random.RandomState(0).rand(3, 1, 4, 4).astype("float32")
    net(paddle.to_tensor(x))
    q.save_quantized_model(net, str(tmp_path / "net"), [paddle.static.InputSpec([None, 1, 4, 4], "float32")])
    assert net.training and net.body[0].training
    wanted = net.eval()(paddle.to_tensor(x)).numpy()
    for engine in (paddle, oracle):
        np.testing.assert_allclose(
            engine.jit.load(str(tmp_path / "net"))(engine.to_tensor(x)).numpy(), wanted, 1e-4, 1e-4
        )
