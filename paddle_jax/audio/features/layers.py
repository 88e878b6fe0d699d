"""Spectrograms and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.audio.functional.functional import compute_fbank_matrix, create_dct, power_to_db
from paddle_jax.audio.functional.window import get_window
from paddle_jax.nn import Layer
from paddle_jax.signal import stft
from paddle_jax.tensor.linalg import matmul
from paddle_jax.tensor.math import pow
from paddle_jax.tensor.ops import abs

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


class Spectrogram(Layer):
    """The absolute values of a short-time Fourier transform, to a power.

    Args:
        n_fft: int, samples per frame.
        hop_length: int, samples from one frame to the next. Default 512; None: a quarter of `n_fft`.
        win_length: int, length of the window. Default None: `n_fft`.
        window: str or tuple, see `paddle.audio.functional.get_window`.
        power: float, positive; 2 gives powers.
        center: let frames be centred on their time, by padding at both ends. Default True.
        pad_mode: how to pad: "reflect" or "constant".
        dtype: dtype of the window.
    Raises:
        AssertionError: the power is not positive.
    Example:
        >>> paddle.audio.features.Spectrogram(n_fft=64, hop_length=16)(paddle.ones([2, 160])).shape
        paddle.Size([2, 33, 11])
    """

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int = 512,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        if power <= 0:
            raise AssertionError(f"Spectrogram: power: got {power}; it must be positive")
        self.power = power
        if win_length is None:
            win_length = n_fft
        self.register_buffer("fft_window", get_window(window, win_length, fftbins=True, dtype=dtype))
        self._settings = {
            "n_fft": n_fft,
            "hop_length": hop_length,
            "win_length": win_length,
            "center": center,
            "pad_mode": pad_mode,
        }

    def forward(self, x: Tensor) -> Tensor:
        """Returns a Tensor [batch, n_fft // 2 + 1, frames] for one [batch, samples]."""
        return pow(abs(stft(x, window=self.fft_window, **self._settings)), self.power)


class MelSpectrogram(Layer):
    """A spectrogram by mel bands.

    Args:
        sr: int, samples per second.
        n_fft, hop_length, win_length, window, power, center, pad_mode, dtype: as for `Spectrogram`.
        n_mels, f_min, f_max, htk, norm: as for `paddle.audio.functional.compute_fbank_matrix`.
    Attributes:
        n_mels, f_min, f_max, htk, norm: as given.
        _spectrogram: Spectrogram, whose result goes through the mel filters.
    Example:
        >>> paddle.audio.features.MelSpectrogram(sr=8000, n_fft=64, hop_length=16,
        ...                                      n_mels=4)(paddle.ones([2, 160])).shape
        paddle.Size([2, 4, 11])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int = 512,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels = n_mels
        self.f_min = f_min
        self.f_max = f_max
        self.htk = htk
        self.norm = norm
        self.register_buffer(
            "fbank_matrix", compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Returns a Tensor [batch, n_mels, frames] for one [batch, samples]."""
        return matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """A mel spectrogram in decibels.

    Args:
        sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            dtype: as for `MelSpectrogram`.
        ref_value, amin, top_db: as for `paddle.audio.functional.power_to_db`.
    Example:
        >>> paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=64, n_mels=4)(paddle.ones([2, 160])).shape
        paddle.Size([2, 4, 11])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr,
            n_fft,
            hop_length,
            win_length,
            window,
            power,
            center,
            pad_mode,
            n_mels,
            f_min,
            f_max,
            htk,
            norm,
            dtype,
        )
        self.ref_value = ref_value
        self.amin = amin
        self.top_db = top_db

    def forward(self, x: Tensor) -> Tensor:
        """Returns a Tensor [batch, n_mels, frames] for one [batch, samples]."""
        return power_to_db(
            self._melspectrogram(x), ref_value=self.ref_value, amin=self.amin, top_db=self.top_db
        )


class MFCC(Layer):
    """Mel-frequency cepstral coefficients: the cosine transform of a mel spectrogram in decibels.

    Args:
        n_mfcc: int, coefficients to compute, at most `n_mels`.
        sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            ref_value, amin, top_db, dtype: as for `LogMelSpectrogram`.
    Raises:
        AssertionError: n_mfcc is larger than n_mels.
    Example:
        >>> paddle.audio.features.MFCC(sr=8000, n_mfcc=3, n_fft=64, n_mels=4)(paddle.ones([2, 160])).shape
        paddle.Size([2, 3, 11])
    """

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: str | tuple[str, float] = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: str | float = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        if n_mfcc > n_mels:
            raise AssertionError(f"MFCC: n_mfcc: got {n_mfcc}; it may not be larger than n_mels, {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr,
            n_fft,
            hop_length,
            win_length,
            window,
            power,
            center,
            pad_mode,
            n_mels,
            f_min,
            f_max,
            htk,
            norm,
            ref_value,
            amin,
            top_db,
            dtype,
        )
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """Returns a Tensor [batch, n_mfcc, frames] for one [batch, samples]."""
        return matmul(self.dct_matrix, self._log_melspectrogram(x), transpose_x=True)
