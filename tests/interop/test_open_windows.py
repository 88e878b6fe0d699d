"""Fourier transforms, frames and windows of open lengths in StableHLO, against the real Paddle."""

import numpy as np
import pytest

import paddle_jax as ours
from tests.jit.corpus.networks import example

pytestmark = pytest.mark.own_process


def recovered(P, F, x):
    window = P.to_tensor(np.hanning(9)[:8].astype("float32"))
    return P.signal.istft(P.signal.stft(x, 8, 4, window=window), 8, 4, window=window)


# function, shape of its input, shapes that the file takes, a shape that it refuses
FUNCTIONS = {
    "rfft": (lambda P, F, x: P.as_real(P.fft.rfft(x)), [None, None], ([2, 8], [3, 7], [1, 1]), None),
    "irfft": (lambda P, F, x: P.fft.irfft(P.fft.rfft(x)), [None, None], ([2, 8], [3, 7], [1, 1]), None),
    "hfft": (lambda P, F, x: P.fft.hfft(P.fft.ihfft(x)), [None, None], ([2, 8], [3, 7]), None),
    "fftn": (lambda P, F, x: P.as_real(P.fft.fftn(x, norm="ortho")), [None, None], ([2, 8], [3, 7]), None),
    "stft": (lambda P, F, x: P.signal.stft(x, 40, 16).abs(), [None, None], ([1, 40], [2, 81]), [1, 20]),
    "istft": (recovered, [None, None], ([2, 32], [1, 20]), None),
    "fold": (
        lambda P, F, x: F.fold(F.unfold(x, 3, 2, 1), [x.shape[2], x.shape[3]], 3, 2, 1),
        [None, 2, None, None],
        ([1, 2, 4, 6], [2, 2, 7, 5], [1, 2, 1, 1]),
        None,
    ),
    "windows": (
        lambda P, F, x: F.fold(F.unfold(x, 2), [x.shape[2], x.shape[3]], 2),
        [None, 2, None, None],
        ([1, 2, 4, 8], [2, 2, 3, 2]),
        [1, 2, 1, 4],
    ),
    "adaptive_max_pool1d": (lambda P, F, x: F.adaptive_max_pool1d(x, 4), [2, 3, None], ([2, 3, 7],), None),
    "adaptive_max_pool2d": (
        lambda P, F, x: F.adaptive_max_pool2d(x, [3, 5], return_mask=True),
        [None, 2, None, None],
        ([1, 2, 4, 6], [2, 2, 8, 3], [1, 2, 1, 2]),
        None,
    ),
    "adaptive_max_pool3d": (
        lambda P, F, x: F.adaptive_max_pool3d(x, [2, None, 3]),
        [1, 2, None, None, 4],
        ([1, 2, 4, 3, 4],),
        None,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:save_stablehlo. the file is for lengths")
def test_functions(oracle, tmp_path, name):
    function, shape, sizes, refused = FUNCTIONS[name]
    ours.interop.save_stablehlo(
        lambda x: function(ours, ours.nn.functional, x),
        str(tmp_path / "m"),
        [ours.static.InputSpec(shape)],
        ["cpu"],
    )
    loaded = ours.interop.load_stablehlo(str(tmp_path / "m"))
    for size in sizes:
        x = example("float32", size)
        want = function(oracle, oracle.nn.functional, oracle.to_tensor(x))
        got = loaded(ours.to_tensor(x))
        if not isinstance(want, list | tuple):
            got, want = [got], [want]
        for one, other in zip(got, want, strict=True):
            assert one.shape == list(other.shape)
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-4)
    if refused:
        with pytest.raises(ValueError, match="lengths of"):
            loaded(ours.ones(refused))
