"""paddle.fft and paddle.signal: laws that hold for any signal, and what Paddle refuses or gets wrong."""

import numpy as np
import pytest
import scipy.fft
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_jax as paddle

few = settings(max_examples=12, deadline=None, derandomize=True)
NORMS = ["backward", "forward", "ortho"]


def signal(n, seed, complex_=False):
    r = np.random.RandomState(seed)
    return r.randn(n) + 1j * r.randn(n) if complex_ else r.randn(n)


@few
@given(n=st.integers(1, 9), seed=st.integers(0, 99), complex_=st.booleans(), norm=st.sampled_from(NORMS))
def test_parseval_and_round_trip(n, seed, complex_, norm):
    x = signal(n, seed, complex_)
    spectrum = paddle.fft.fft(paddle.to_tensor(x), norm=norm)
    factor = {"backward": 1 / n, "forward": n, "ortho": 1}[norm]
    np.testing.assert_allclose((np.abs(spectrum.numpy()) ** 2).sum() * factor, (np.abs(x) ** 2).sum())
    np.testing.assert_allclose(paddle.fft.ifft(spectrum, norm=norm).numpy(), x, atol=1e-12)


@few
@given(n=st.integers(2, 9), seed=st.integers(0, 99), norm=st.sampled_from(NORMS))
def test_real_and_hermitian_transforms_are_inverse(n, seed, norm):
    x = paddle.to_tensor(signal(n, seed))
    for there, back in ((paddle.fft.rfft, paddle.fft.irfft), (paddle.fft.ihfft, paddle.fft.hfft)):
        np.testing.assert_allclose(back(there(x, norm=norm), n, norm=norm).numpy(), x.numpy(), atol=1e-12)


@few
@given(
    n_fft=st.integers(1, 9),
    parts=st.integers(1, 4),
    frames=st.integers(2, 6),
    seed=st.integers(0, 99),
    normalized=st.booleans(),
)
def test_istft_inverts_stft(n_fft, parts, frames, seed, normalized):
    hop = max(n_fft // parts, 1)
    n = hop * frames + n_fft
    x = signal(n, seed)
    window = paddle.to_tensor(np.random.RandomState(seed).uniform(0.5, 2, n_fft))
    spectrum = paddle.signal.stft(paddle.to_tensor(x), n_fft, hop, window=window, normalized=normalized)
    back = paddle.signal.istft(spectrum, n_fft, hop, window=window, normalized=normalized, length=n).numpy()
    np.testing.assert_allclose(back, x[: len(back)], atol=1e-10)
    assert len(back) > n - hop - n_fft % 2


def test_stft_of_complex_signals_and_windows_inverts():
    x, window = (paddle.to_tensor(signal(n, n, True)) for n in (16, 4))
    spectrum = paddle.signal.stft(x, 4, window=window)
    np.testing.assert_allclose(
        paddle.signal.istft(spectrum, 4, window=window, onesided=False, return_complex=True).numpy(),
        x.numpy(),
        atol=1e-12,
    )
    real = paddle.to_tensor(signal(16, 1))
    np.testing.assert_allclose(
        paddle.signal.stft(real, 4, window=window).numpy(),
        paddle.signal.stft(real.astype("complex128"), 4, window=window).numpy(),
        atol=1e-12,
    )


def test_stft_as_scipy():
    x = signal(20, 0)
    window = scipy.signal.get_window("hann", 6)
    ours = paddle.signal.stft(
        paddle.to_tensor(x), 6, 2, window=paddle.to_tensor(window), center=False
    ).numpy()
    _, _, theirs = scipy.signal.stft(x, window=window, nperseg=6, noverlap=4, boundary=None, padded=False)
    np.testing.assert_allclose(ours, theirs * window.sum(), atol=1e-12)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
@pytest.mark.parametrize("norm", NORMS)
def test_many_axes_as_scipy(name, norm):
    r = np.random.RandomState(0)
    x = r.randn(2, 3, 2, 3, 4)
    x = x if name in ("rfftn", "ihfftn") else x + 1j * r.randn(*x.shape)
    ours = getattr(paddle.fft, name)(paddle.to_tensor(x), norm=norm).numpy()
    np.testing.assert_allclose(ours, getattr(scipy.fft, name)(x, norm=norm), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "bool", "int8"])
def test_dtypes_that_the_cpu_build_of_paddle_lacks(dtype):
    x = paddle.to_tensor([1.0, 0.0, 1.0, 1.0]).astype(dtype)
    for name in ("fft", "rfft", "irfft", "hfft"):
        out = getattr(paddle.fft, name)(x)
        assert out.dtype == (paddle.float32 if name in ("irfft", "hfft") else paddle.complex64)
        np.testing.assert_allclose(out.numpy(), getattr(np.fft, name)([1.0, 0.0, 1.0, 1.0]), atol=1e-6)


def test_integers_take_the_default_dtype():
    paddle.set_default_dtype("float64")
    try:
        assert paddle.fft.fft(paddle.to_tensor([1, 2])).dtype == paddle.complex128
        assert paddle.signal.stft(paddle.to_tensor([1, 2, 3, 4]), 4).dtype == paddle.complex128
        assert paddle.fft.fftfreq(3).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    assert paddle.fft.fft(paddle.to_tensor([1, 2])).dtype == paddle.complex64


def test_what_crashes_paddle_is_refused():
    x = paddle.ones([2, 3])
    for bad in (
        lambda: paddle.fft.fftn(x, axes=[0, 0]),
        lambda: paddle.fft.fft2(x, axes=(1, -1)),
        lambda: paddle.fft.fftn(x, s=[]),
        lambda: paddle.fft.rfftn(paddle.ones([])),
        lambda: paddle.fft.irfftn(x, axes=[1, 1]),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            bad()


def test_shift_takes_negative_axes_in_lists():
    x = np.arange(12.0).reshape(3, 4)
    for axes in ([-1], (-2, 1), [-2, -1]):
        np.testing.assert_array_equal(
            paddle.fft.fftshift(paddle.to_tensor(x), axes).numpy(), np.fft.fftshift(x, axes)
        )
        np.testing.assert_array_equal(
            paddle.fft.ifftshift(paddle.to_tensor(x), axes).numpy(), np.fft.ifftshift(x, axes)
        )


def test_out_and_aliases():
    x, out = paddle.to_tensor([1.0, 2.0, 3.0]), paddle.zeros([3], "complex64")
    paddle.fft.fft(input=x, dim=0, out=out)
    np.testing.assert_allclose(out.numpy(), np.fft.fft([1.0, 2.0, 3.0]), rtol=1e-6)
    assert paddle.Tensor.stft is paddle.signal.stft and x.stft(2, 1).shape == [2, 4]


def test_frequencies_have_a_gradient():
    d = paddle.to_tensor(0.5, stop_gradient=False)
    paddle.fft.rfftfreq(4, d)[1].backward()
    assert d.grad.item() == -1.0  # d/dd 1 / (4 d)
