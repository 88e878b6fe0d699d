"""paddle.onnx.export: what onnxruntime computes from the file is what the network computes, at two sizes."""

import builtins
import math
import warnings

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.corpus.expression_tables import BOTH
from tests.jit.corpus.expressions import arrays, body, specs, split
from tests.jit.corpus.networks import NETWORKS, example

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
    *("digamma", "lgamma", "i0", "i1", "maxout", "gamma", "label_smooth", "dist(", "cross(", "copysign"),
    *("smooth_l1", "nextafter", "log_loss", "kron", "with_logits", "kl_div", "float16", 'p=float("inf")'),
    *("cumprod", "cummax", "cummin", "logcumsumexp", "kthvalue", "mode", "renorm", "diag_embed"),
    *("trace", "searchsorted", "bucketize", "as_complex", "fft", "temporal_shift", "histogram", "reduce_as"),
    *("signal", "bilinear"),
)


@pytest.mark.parametrize("inputs", ["f(-1,3)", "f(-1,3) f(-1,3)", "b(-1,3) b(-1,3)", "f(-1,3,4)"])
def test_operations(tmp_path, inputs):
    expressions = [e for e in split(BOTH[inputs]) if not any(word in e for word in LEFT_OUT)]
    model = body(ours, expressions)
    ours.onnx.export(model, str(tmp_path / "m"), input_spec=specs(ours, inputs))
    values = arrays(inputs, [4])
    results = model(*map(ours.to_tensor, values))
    want = [(expression, one.numpy()) for expression, part in results.items() for one in part]
    for g, (expression, w) in zip(run(tmp_path / "m.onnx", *values), want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype), expression
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5, err_msg=expression)


def boxes(P):
    return P.to_tensor([[0.0, 0.0, 3.0, 3.0], [1.0, 1.0, 4.5, 2.0], [0.5, 1.0, 5.0, 5.0]])


# functions of x, and its shape with None for open lengths
MOVED = [
    (lambda P, F, x: P.roll(x, 3, 1), [None, None, None]),
    (lambda P, F, x: P.roll(x, [-1, 2], [1, 2]), [None, None, None]),
    (lambda P, F, x: P.roll(x, 2), [None, None]),
    (lambda P, F, x: P.roll(x, x.shape[1] // 2, 1), [None, None]),
    (lambda P, F, x: P.scatter(x, P.to_tensor([1, 0]), x[:2] * 2), [None, 4]),
    (lambda P, F, x: P.scatter(x, P.to_tensor([1, 1]), x[:2] * 2, overwrite=False), [None, 4]),
    (lambda P, F, x: P.scatter_nd_add(x, P.to_tensor([[1], [1]]), x[:2]), [None, 4]),
    (lambda P, F, x: P.index_add(x, P.to_tensor([0, 1]), 1, x[:, :2]), [None, 4]),
    (lambda P, F, x: P.index_add(x, P.to_tensor([0, 1]), 0, x[:2]), [None, 4]),
    (lambda P, F, x: P.index_put(x, (P.to_tensor([0, 1]), P.to_tensor([1, -1])), P.ones([2])), [None, 4]),
    (lambda P, F, x: P.index_put(x, (P.to_tensor([0, 0]),), P.ones([1]), accumulate=True), [None, 4]),
    (lambda P, F, x: P.put_along_axis(x, x.argmax(1, keepdim=True), 7.0, 1), [None, None]),
    (lambda P, F, x: P.put_along_axis(x, P.to_tensor([[1], [1]]), x[:, :1], 1, "add"), [2, None]),
    (lambda P, F, x: P.repeat_interleave(x, 3, 1), [None, None, None]),
    (lambda P, F, x: P.repeat_interleave(x, 2, -1), [None, None]),
    (lambda P, F, x: F.channel_shuffle(x, 2), [None, 4, None, None]),
    (lambda P, F, x: F.pixel_unshuffle(x, 2), [None, 4, None, None]),
    (lambda P, F, x: P.diag(x[0], padding_value=3.0), [None, None]),
    (lambda P, F, x: P.diag(x), [None, None]),
    (lambda P, F, x: F.layer_norm(x, [x.shape[-1]]), [None, None]),
    (lambda P, F, x: F.one_hot(x.argmax(1), x.shape[1]), [None, None]),
    (lambda P, F, x: P.addmm(x, x, x, beta=0.5, alpha=2.0), [4, 4]),
    (lambda P, F, x: P.baddbmm(x, x, x, beta=0.5, alpha=2.0), [None, 4, 4]),
    (lambda P, F, x: P.is_empty(x), [None, None]),
    (lambda P, F, x: P.stack([x, x * 2]).flatten(0, 1), [None, None]),
    (lambda P, F, x: P.stack([x, x * 2, x], axis=1).flatten(1, 2), [None, None, None]),
    (lambda P, F, x: F.adaptive_avg_pool2d(x, [3, 5]), [None, 4, None, None]),
    (lambda P, F, x: F.adaptive_avg_pool1d(x, 4), [2, 4, 6]),
    (lambda P, F, x: F.adaptive_max_pool2d(x, [3, 5]), [None, 4, None, None]),
    (lambda P, F, x: P.masked_select(x, x[:1] > 0), [None, None]),
    (lambda P, F, x: P.masked_select(x, x > 99), [None, None]),
    (lambda P, F, x: P.concat(P.unique((x * 2).astype("int64"), True, True, True)), [None, None]),
    (lambda P, F, x: P.unique((x * 2).astype("int32"), axis=1), [None, None]),
    (lambda P, F, x: P.concat(P.unique_consecutive((x > 0).astype("int64"), True, True)), [None, None]),
    (lambda P, F, x: P.unique_consecutive(x[:0], return_counts=True)[1], [None, None]),
    (lambda P, F, x: P.diagonal(x, -1, 2, 1), [None, None, None]),
    (lambda P, F, x: P.diagonal(x, 9), [None, None]),
    (lambda P, F, x: F.sequence_mask((x[:, 0] * 3).abs().astype("int32")), [None, None]),
    (lambda P, F, x: F.sequence_mask(x.argmax(1), x.shape[1], "float32"), [None, None]),
    (lambda P, F, x: F.affine_grid(x, [x.shape[0], 1, x.shape[0], 4]), [None, 2, 3]),
    (lambda P, F, x: F.affine_grid(x, [x.shape[0], 1, 2, 1, 3], False), [None, 3, 4]),
    (lambda P, F, x: F.scaled_dot_product_attention(x, x, x, is_causal=True), [None, None, 2, 4]),
    (lambda P, F, x: P.full_like(x, x.shape[1] / 2), [None, None]),
    (lambda P, F, x: P.cumprod(x, 1), [None, None, None]),
    (lambda P, F, x: P.cumprod((x * 2).astype("int64"), -1), [None, None]),
    (lambda P, F, x: P.logcumsumexp(x, 0), [None, None]),
    (lambda P, F, x: P.logcumsumexp(x * 99), [None, None]),
    (lambda P, F, x: P.cummax(x, 1)[0], [None, None, None]),
    (lambda P, F, x: P.cummin((x * 2).astype("int64"), -1, "int32")[1], [None, None]),
    (lambda P, F, x: P.median(x, 1), [None, None, None]),
    (lambda P, F, x: P.median(x, -1, True, "min")[1], [None, None]),
    (lambda P, F, x: P.median((x * 9).astype("int32"), 1, mode="min")[0], [None, None]),
    (lambda P, F, x: P.nanmedian((x * 9).astype("int64"), [0, 1]), [None, None]),
    (
        lambda P, F, x: P.nanmedian(P.where(x > 0.8, x, P.full_like(x, math.nan)), 1, mode="min")[1],
        [None, None],
    ),
    (lambda P, F, x: P.nanmedian(P.where(x > 0.5, P.full_like(x, math.nan), x), [0, 2]), [None, None, None]),
    (lambda P, F, x: F.unfold(x, 2, 1, 1), [None, None, None, None]),
    (lambda P, F, x: F.fold(x, [3, 4], 2, 1, 0), [None, 4, 6]),
    (lambda P, F, x: F.fold(x, [6, 5], [2, 1], [2, 3], [1, 0], [3, 1]), [None, 12, 6]),
    (lambda P, F, x: P.signal.frame(x, 2, 1), [None, None, None]),
    (lambda P, F, x: P.signal.frame(x, 2, 2, 0), [None, None]),
    (lambda P, F, x: F.unfold(x, [2, 1], [1, 2], [1, 0], [2, 1]), [None, 4, None, None]),
    (lambda P, F, x: F.max_pool2d(x, 3, 2, 1, return_mask=True)[1], [None, 4, None, None]),
    (
        lambda P, F, x: P.vision.ops.roi_align(x, boxes(P), P.to_tensor([2, 1], "int32"), 2),
        [2, 4, None, None],
    ),
    (lambda P, F, x: P.vision.ops.nms(P.concat([x[:, :2], x[:, :2] + x[:, 2:].exp()], 1), 0.2), [None, 4]),
]


@pytest.mark.parametrize("case", range(len(MOVED)))
def test_moved_elements(oracle, tmp_path, case):
    function, shape = MOVED[case]
    ours.onnx.export(
        lambda x: function(ours, ours.nn.functional, x), str(tmp_path / "m"), input_spec=[Spec(shape)]
    )
    for lengths in ([3, 6, 4, 4], [4, 2, 8, 6], [2, 4, 2, 2]):
        x = example("float32", [n or length for n, length in zip(shape, lengths, strict=False)])
        want = function(oracle, oracle.nn.functional, oracle.to_tensor(x)).numpy()
        (got,) = run(tmp_path / "m.onnx", x)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_layer_norm_of_an_empty_batch(tmp_path):
    def normalized(x):
        return ours.nn.functional.layer_norm(x, [4])

    ours.onnx.export(normalized, str(tmp_path / "m"), input_spec=[Spec([None, 4])])
    assert run(tmp_path / "m.onnx", np.zeros([0, 4], "float32"))[0].shape == (0, 4)
    (found,) = run(tmp_path / "m.onnx", np.array([[1.0, -1.0, 1.0, -1.0]], "float32"))
    np.testing.assert_allclose(found, [[1, -1, 1, -1]], rtol=1e-4)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (4, 3)])
def test_running_values_of_few_elements(tmp_path, shape):
    x = example("float32", shape)
    x[1:3, 1:] = math.nan

    def running(x):
        extremes = ours.cummax(x, 0)[0], ours.cummin(x, 1)[0]
        return ours.cumprod(x, 0), *extremes, ours.median(x, 0), ours.median(x, 0, mode="min")[1]

    ours.onnx.export(running, str(tmp_path / "m"), input_spec=[Spec([None, None])])
    middle = np.median(x, 0) if len(x) else np.full(shape[1], math.nan, "float32")
    extremes = np.maximum.accumulate(x, 0), np.minimum.accumulate(x, 1)
    places = np.zeros(shape[1])
    if len(x):  # of the first NaN, or of the lower of the two in the middle
        is_nan = np.isnan(x)
        lower = np.argsort(x, 0)[(len(x) - 1) // 2]
        places = np.where(is_nan.any(0), is_nan.argmax(0), lower)
    wanted = np.cumprod(x, 0), *extremes, middle, places
    for got, want in zip(run(tmp_path / "m.onnx", x), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_random_numbers(tmp_path):
    """Drawn again in each run, of the shape and in the range that was asked for."""

    def drawn(x):
        n = x.shape[0]
        numbers = ours.normal(3.0, 0.5, [n, 2]), ours.uniform([n], min=-2.0, max=1.0)
        return *numbers, ours.randint(2, 5, [n], "int32"), ours.bernoulli(ours.full_like(x, 0.25))

    ours.onnx.export(drawn, str(tmp_path / "m"), input_spec=[Spec([None, 1])])
    x = np.zeros([4000, 1], "float32")
    model = session(tmp_path / "m.onnx")
    feed = {model.get_inputs()[0].name: x}
    normal, uniform, whole, bits = first = model.run(None, feed)
    assert [one.shape for one in first] == [(4000, 2), (4000,), (4000,), (4000, 1)]
    np.testing.assert_allclose([normal.mean(), normal.std()], [3, 0.5], atol=0.05)
    np.testing.assert_allclose([uniform.min(), uniform.mean(), uniform.max()], [-2, -0.5, 1], atol=0.1)
    assert (whole.dtype, np.unique(whole).tolist()) == (np.int32, [2, 3, 4])
    assert np.unique(bits).tolist() == [0, 1]
    np.testing.assert_allclose(bits.mean(), 0.25, atol=0.05)
    for one, other in zip(first, model.run(None, feed), strict=True):
        assert (one != other).any()


@pytest.mark.parametrize("shape", [[1, 1, 1, 28], [1, 1, None, None]])
def test_nearest_elements(oracle, tmp_path, shape):
    """The runtime's own rounding picks another element of 28 for the length 2."""

    def shrunk(P, x):
        return P.nn.functional.interpolate(x, size=[1, x.shape[3] // 14], mode="nearest")

    ours.onnx.export(lambda x: shrunk(ours, x), str(tmp_path / "m"), input_spec=[Spec(shape)])
    for width in (28, 60) if None in shape else (28,):
        x = np.arange(width, dtype="float32").reshape(1, 1, 1, width)
        want = shrunk(oracle, oracle.to_tensor(x)).numpy()
        np.testing.assert_array_equal(run(tmp_path / "m.onnx", x)[0], want)


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
