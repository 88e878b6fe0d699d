"""paddle.onnx.export: what onnxruntime computes from the file is what the network computes, at two sizes."""

import builtins
import warnings

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.control_flow_models import MODELS
from tests.jit.model_cases import BOTH
from tests.jit.networks import NETWORKS, example
from tests.jit.test_control_flow_files import inputs
from tests.jit.test_model_files import arrays, body, flat, specs, split

pytestmark = pytest.mark.own_process
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not available for this Python")
Spec = ours.static.InputSpec


def session(path):
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    return runtime.InferenceSession(str(path), options)


def run(path, *values):
    opened = session(path)
    return opened.run(None, dict(zip([i.name for i in opened.get_inputs()], values, strict=True)))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "resnet18" else n for n in NETWORKS]
)
def test_networks(tmp_path, name):
    make, dtype, shape, *sizes = NETWORKS[name]
    network = make(ours)
    network.eval()
    ours.onnx.export(network, str(tmp_path / "m"), input_spec=[Spec(shape, dtype, "x")])
    for size in sizes:
        x = example(dtype, size)
        want = network(ours.to_tensor(x))
        for got, w in zip(
            run(tmp_path / "m.onnx", x), want if isinstance(want, list | tuple) else [want], strict=True
        ):
            np.testing.assert_allclose(got, w.numpy(), rtol=1e-3, atol=1e-3)


CONTROL_FLOW = [
    "conditions",
    "early_return_in_forward_and_a_method",
    "while_on_a_value",
    "rows",
    "range_over_a_length_with_break",
    "writes_into_a_tensor",
]


@pytest.mark.parametrize("name", CONTROL_FLOW)
def test_control_flow(tmp_path, name):
    network = MODELS[name][0](ours)
    ours.onnx.export(network, str(tmp_path / "m"), input_spec=[Spec([None, 3], "float32", "x")])
    opened = session(tmp_path / "m.onnx")
    for (x,) in inputs(type(network).forward):
        want = network(ours.to_tensor(x))
        for got, w in zip(
            opened.run(None, {"x": x}), want if isinstance(want, tuple) else [want], strict=True
        ):
            np.testing.assert_allclose(got, w.numpy(), rtol=1e-4, atol=1e-4)


class Doubled(ours.nn.Layer):
    """A loop with an operation that ONNX does not have."""

    def forward(self, x):
        while x.sum() < 100:
            x = ours.lgamma(x) * 2
        return x


def test_no_form_inside_a_loop_leaves_no_file(tmp_path):
    with pytest.raises(NotImplementedError, match="lgamma"):
        ours.onnx.export(Doubled(), str(tmp_path / "m"), input_spec=[Spec([None, 3], "float32", "x")])
    assert list(tmp_path.iterdir()) == []


# what the conversion has no rule for
LEFT_OUT = (
    "digamma",
    "i0",
    "i1",
    "lgamma",
    "logit",
    "angle",
    "erfinv",
    "stanh",
    "trunc",
    "frac",
    "sgn(",
    "isfinite",
    "thresholded",
    "nan_to_num",
    "clip(x,-",
    "clip(x,min",
    "maxout",
    "fmax",
    "fmin",
    "atan2",
    "lerp",
    "dist(",
    "cross(",
    "heaviside",
    "copysign",
    "allclose",
    "isclose",
    "equal_all",
    "nextafter",
    "kron",
    "smooth_l1",
    "with_logits",
    "binary_cross_entropy",
    "bitwise",
    "unfold",
    "float16",
    "label_smooth",
    "quantile",
    "glu",
    "log2",
    "log10",
    "celu(x,2",
    "round",
    "kl_div",
    "x%",
    "full_like",
    "zeros_like",
    "ones_like",
    "gamma",
    "log_loss",
)


@pytest.mark.parametrize("inputs", ["f(-1,3)", "f(-1,3) f(-1,3)"])
def test_operations(tmp_path, inputs):
    expressions = [e for e in split(BOTH[inputs]) if not any(word in e for word in LEFT_OUT)]
    model = body(ours, expressions)
    ours.onnx.export(model, str(tmp_path / "m"), input_spec=specs(ours, inputs))
    values = arrays(inputs, [4])
    want, at = [w.numpy() for w in flat(model(*map(ours.to_tensor, values)))], 0
    got = run(tmp_path / "m.onnx", *values)
    assert len(got) == len(want)
    for expression, count in zip(expressions, model.counts, strict=True):
        for g, w in zip(got[at : at + count], want[at : at + count], strict=True):
            assert (g.shape, g.dtype) == (w.shape, w.dtype), expression
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5, err_msg=expression)
        at += count


def test_loaded_models(oracle, tmp_path):
    """A model of the real Paddle's, by way of jit.load."""
    model = oracle.nn.Sequential(
        oracle.nn.Conv2D(3, 4, 3), oracle.nn.ReLU(), oracle.nn.Flatten(), oracle.nn.Linear(144, 2)
    )
    model.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle.jit.save(
            model, str(tmp_path / "m"), input_spec=[oracle.static.InputSpec([None, 3, 8, 8], "float32", "x")]
        )
    ours.onnx.export(ours.jit.load(str(tmp_path / "m")), str(tmp_path / "m"))
    x = example("float32", [2, 3, 8, 8])
    np.testing.assert_allclose(run(tmp_path / "m.onnx", x)[0], model(oracle.to_tensor(x)).numpy(), atol=1e-5)


def test_errors(tmp_path, monkeypatch):
    path, spec = str(tmp_path / "x"), [Spec([None, 3])]
    with pytest.raises(ValueError, match="foo"):
        ours.onnx.export(ours.nn.Linear(3, 2), path, spec, foo=1)
    with pytest.raises(ValueError, match="input_spec"):
        ours.onnx.export(ours.nn.Linear(3, 2), path)
    with pytest.raises(NotImplementedError, match="digamma"):
        ours.onnx.export(lambda x: ours.digamma(x), path, spec)
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"paddle_jax\[onnx\]"):
        ours.onnx.export(ours.nn.Linear(3, 2), path, spec)
    assert not list(tmp_path.iterdir())
