"""paddle.quantization.ImperativePTQ against the real Paddle: thresholds, fused and converted models, and a
saved model."""

import warnings

import numpy as np
import pytest

import paddle_jax
from tests.quantization.test_imperative import NET

QUANTIZERS = [
    "KLQuantizer()",
    "KLQuantizer(4, 256)",
    "HistQuantizer(hist_percent=0.98)",
    "HistQuantizer(8, 64, 4)",
    "AbsmaxQuantizer(6)",
]
REFUSED = [
    "PTQConfig(KLQuantizer, AbsmaxQuantizer())",
    "PTQConfig(KLQuantizer(), KLQuantizer())",
    "AbsmaxQuantizer(17)",
    "AbsmaxQuantizer(2.0)",
    "ImperativePTQ(3)",
    "ImperativePTQ().quantize(3)",
]
NORMALISED = """class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2D(1, 2, 3, bias_attr=False), nn.BatchNorm2D(2)
        self.flat, self.tail, self.norm = nn.Flatten(), nn.Linear(8, 3), nn.BatchNorm1D(3)
        for p in [*self.parameters(), self.bn._mean, self.bn._variance, self.norm._mean]:
            p.set_value((np.random.RandomState(1).rand(*p.shape) + 0.1).astype('float32'))
    def forward(self, x):
        return self.norm(self.tail(self.flat(self.bn(self.conv(x)))))
"""


def net(paddle, text=NET):
    names = {"paddle": paddle, "nn": paddle.nn, "np": np}
    with paddle.utils.unique_name.guard():
        exec(text, names)
        return names["Net"]()


def batches(paddle):
    draws = np.random.RandomState(3)
    return [
        paddle.to_tensor((draws.randn(2, 1, 4, 4) * size).astype("float32")) for size in (1.0, 0.5, 3.0, 0.0)
    ]


def watched(paddle, act, weight="PerChannelAbsmaxQuantizer()"):
    quantization = paddle.quantization
    config = quantization.PTQConfig(eval(f"quantization.{act}"), eval(f"quantization.{weight}"))
    ptq = quantization.ImperativePTQ(config)
    model = net(paddle)
    model.eval()
    new = ptq.quantize(model)
    assert new is not model
    outputs = [new(x).numpy() for x in batches(paddle)]
    return ptq, new, outputs


@pytest.mark.parametrize("weight", ["PerChannelAbsmaxQuantizer()", "AbsmaxQuantizer()"])
@pytest.mark.parametrize("act", QUANTIZERS)
def test_thresholds_and_converted_models(paddle, oracle, act, weight, tmp_path):
    results = []
    for engine in (oracle, paddle):
        ptq, model, outputs = watched(engine, act, weight)
        if engine is paddle:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of files that only paddle_jax can load
                ptq.save_quantized_model(
                    model, str(tmp_path / "net"), [engine.static.InputSpec([2, 1, 4, 4], "float32")]
                )
        else:
            ptq._convert(model)  # what Paddle 3.3.1 does before it raises
        model.eval()
        scales = {name: value.numpy() for name, value in model.state_dict().items()}
        results.append((outputs, scales, model(batches(engine)[0]).numpy()))
    (want, want_scales, want_after), (got, scales, after) = results
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert list(scales) == list(want_scales)
    for name, scale in want_scales.items():
        np.testing.assert_allclose(scales[name], scale, rtol=1e-5, err_msg=name)
    np.testing.assert_allclose(after, want_after, rtol=1e-5, atol=1e-5)
    loaded = paddle.jit.load(str(tmp_path / "net"))
    np.testing.assert_allclose(loaded(batches(paddle)[0]).numpy(), after, rtol=1e-5, atol=1e-5)


def test_fused_normalisations(paddle, oracle):
    outputs = []
    for engine in (oracle, paddle):
        model = net(engine, NORMALISED)
        new = engine.quantization.ImperativePTQ().quantize(model, fuse=True, fuse_list=[["conv", "bn"]])
        model.eval()
        outputs.append(
            (
                new(batches(engine)[0]).numpy(),
                model(batches(engine)[0]).numpy(),
                [type(layer).__name__ for layer in new.sublayers()],
            )
        )
    (want, _, kinds), (got, plain, ours) = outputs
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got, plain, rtol=1e-5, atol=1e-5)
    assert ours == kinds


def test_a_linear_layer_takes_its_normalisation_in(paddle):
    """Paddle 3.3.1 multiplies the wrong axis of its weight."""
    model = net(paddle, NORMALISED)
    new = paddle.quantization.ImperativePTQ().quantize(model, fuse=True, fuse_list=[["tail", "norm"]])
    model.eval()
    np.testing.assert_allclose(new(batches(paddle)[0]).numpy(), model(batches(paddle)[0]).numpy(), rtol=1e-5)
    assert isinstance(new.norm, paddle.nn.Identity)


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(oracle, text):
    for engine in (oracle, paddle_jax):
        with pytest.raises(AssertionError):
            eval(text, dict(vars(engine.quantization)))
