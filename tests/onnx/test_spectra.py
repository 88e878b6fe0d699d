"""Fourier transforms, complex numbers and frames in ONNX files, for known and for open lengths."""

import json

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.corpus.networks import example
from tests.onnx.test_export import run

pytestmark = pytest.mark.own_process
pytest.importorskip("onnxruntime", reason="onnxruntime is not available for this Python")
Spec = ours.static.InputSpec


def doubled_spectrum(P, x):
    y = P.fft.fft(x)
    if x.sum() > 0:
        y = y * 2
    return y.abs()


def louder(P, x):
    y = P.fft.fft(x)
    while y.abs().sum() < 1000:
        y = y * 2
    return y.abs()


def written(P, x):
    y = P.fft.fft(x)
    y[0] = 2.0
    y[:, 1] = x[:, 1].astype("complex64")
    return P.as_real(y)


def recovered(P, x):
    window = P.to_tensor(np.hanning(9)[:8].astype("float32"))
    return P.signal.istft(P.signal.stft(x, 8, 2, window=window), 8, 2, window=window, length=x.shape[-1])


# functions of x, its shape with None for open lengths, and lengths of their own
FUNCTIONS = [
    (lambda P, x: P.fft.rfft(x).abs(), [None, None], None),
    (lambda P, x: P.as_real(P.fft.rfft(x, n=6, axis=0, norm="ortho")), [None, None], None),
    (lambda P, x: P.as_real(P.fft.ifft(P.fft.fft(x), norm="forward")), [3, 8], None),
    (lambda P, x: P.fft.irfft(P.fft.rfft(x)), [None, None], None),
    (lambda P, x: P.fft.irfft(P.fft.rfft(x), n=x.shape[1]), [None, None], None),
    (lambda P, x: P.fft.irfft(P.fft.rfft(x), n=7, norm="ortho"), [3, 8], None),
    (lambda P, x: P.fft.hfft(P.fft.ihfft(x)), [None, None], None),
    (lambda P, x: P.fft.irfft2(P.fft.rfft2(x), norm="forward"), [None, None], None),
    (lambda P, x: P.fft.ifftn(P.fft.fftn(x) * 2).real(), [None, None], None),
    (lambda P, x: P.fft.fftshift(P.fft.fft(x)).angle(), [None, None], None),
    (lambda P, x: P.as_real((P.complex(x, x * 2) * (1 + 2j) + 2) / P.complex(x + 9, x)), [None, None], None),
    (lambda P, x: P.as_real(P.complex(x, -x).conj() @ P.exp(P.complex(x, x)).T), [None, None], None),
    (lambda P, x: P.as_complex(P.stack([x, x + 1], -1)).mean(1).imag(), [None, None], None),
    (lambda P, x: P.as_real(P.concat([P.fft.fft(x)] * 2)[1:].T.flip(0).unsqueeze(1)), [None, None], None),
    (doubled_spectrum, [None, None], None),
    (louder, [None, None], None),
    (written, [None, 4], ([2, 4],)),
    (lambda P, x: P.signal.stft(x, 8, 4).abs(), [None, None], ([2, 32], [1, 19])),
    (lambda P, x: P.signal.stft(x, 8, 3, 6, center=False, onesided=False).imag(), [2, 32], ([2, 32],)),
    (recovered, [None, None], ([2, 32], [1, 18])),
    (lambda P, x: P.signal.stft(x, 256, 64).abs(), [None, None], ([1, 300],)),
    (lambda P, x: P.signal.overlap_add(x, 2, 0), [None, None, None], ([3, 4, 2], [1, 2, 1])),
    (lambda P, x: P.signal.overlap_add(x, 3), [None, 4, None], ([2, 4, 3], [1, 4, 1], [0, 4, 2])),
]


@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_functions(oracle, tmp_path, case):
    function, shape, sizes = FUNCTIONS[case]
    ours.onnx.export(lambda x: function(ours, x), str(tmp_path / "m"), input_spec=[Spec(shape)])
    for lengths in sizes or ([3, 8], [2, 7], [1, 2]):
        if None not in shape and lengths != shape:
            continue
        x = example("float32", lengths)
        want = function(oracle, oracle.to_tensor(x)).numpy()
        (got,) = run(tmp_path / "m.onnx", x)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_double_precision_in_later_versions(tmp_path):
    def spectrum(x):
        return ours.fft.rfft(x).abs(), x.mean(1), x.max(0)

    x = np.arange(12.0).reshape(2, 6) ** 2
    wanted = np.abs(np.fft.rfft(x)), x.mean(1), x.max(0)
    for version in (18, 20):
        ours.onnx.export(spectrum, str(tmp_path / "m"), [Spec([None, None], "float64")], version)
        for got, want in zip(run(tmp_path / "m.onnx", x), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


def test_complex_results_are_refused(tmp_path):
    with pytest.raises(NotImplementedError, match="as_real"):
        ours.onnx.export(ours.fft.fft, str(tmp_path / "m"), [Spec([None])])


REFUSED = [
    (lambda x: ours.nn.functional.unfold(x.unsqueeze(0), 3), [1, 2, 4]),
    (lambda x: ours.signal.frame(x, 4, 2), [1, 1, 3]),
    (lambda x: ours.signal.overlap_add(x, 4), [1, 3, 2]),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_windows_without_room_are_refused(tmp_path, case):
    """As the functions refuse them."""
    function, lengths = REFUSED[case]
    ours.onnx.export(function, str(tmp_path / "m"), [Spec([None, None, None])])
    x = np.ones(lengths, "float32")
    with pytest.raises(ValueError, match="\\w"):
        function(ours.to_tensor(x))
    with pytest.raises(Exception, match="out of data bounds"):
        run(tmp_path / "m.onnx", x)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_dropout(tmp_path, mode, training):
    """An operation of a file, which may be for training."""

    def dropped(x):
        return ours.nn.functional.dropout(x, 0.25, mode=mode)

    ours.jit.save(ours.jit.to_static(dropped, [Spec([None])]), str(tmp_path / "m"))
    if training:
        path = tmp_path / "m.json"
        document = path.read_text()
        assert '"is_test"' in document
        path.write_text(json.dumps(_in_training(json.loads(document))))
    ours.onnx.export(ours.jit.load(str(tmp_path / "m")), str(tmp_path / "m"))
    x = np.ones(4000, "float32")
    (got,) = run(tmp_path / "m.onnx", x)
    largest = {(True, "upscale_in_train"): 1 / 0.75, (False, "downscale_in_infer"): 0.75}
    np.testing.assert_allclose(got.max(), largest.get((training, mode), 1), rtol=1e-6)
    np.testing.assert_allclose((got > 0).mean(), 0.75 if training else 1, atol=0.05)


def _in_training(value):
    """A document with `is_test` turned off."""
    if isinstance(value, list):
        return [_in_training(one) for one in value]
    if not isinstance(value, dict):
        return value
    value = {key: _in_training(one) for key, one in value.items()}
    if value.get("N") == "is_test":
        value["AT"]["D"] = False
    return value


@pytest.mark.parametrize("size", [(1, 12, 6), (0, 12, 6)])
def test_fold_in_double_precision(oracle, tmp_path, size):
    def image(P, x):
        return P.nn.functional.fold(x, [6, 5], [2, 1], [2, 3], [1, 0], [3, 1])

    ours.onnx.export(lambda x: image(ours, x), str(tmp_path / "m"), [Spec([None, 12, 6], "float64")])
    x = example("float32", size).astype("float64")
    np.testing.assert_allclose(run(tmp_path / "m.onnx", x)[0], image(oracle, oracle.to_tensor(x)).numpy())


def test_running_extremes_of_short_floats(tmp_path):
    def extremes(x):
        return [one.astype("float32") for one in ours.cummax(x.astype("bfloat16"), 0)]

    ours.onnx.export(extremes, str(tmp_path / "m"), [Spec([None])])
    got = run(tmp_path / "m.onnx", np.array([1, 0.5, np.nan, 3], "float32"))
    np.testing.assert_array_equal(got, [[1, 1, np.nan, np.nan], [0, 0, 2, 2]])
