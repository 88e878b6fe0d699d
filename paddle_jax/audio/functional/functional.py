"""Mel scale, filter banks, cosine transform, decibels.

The mel scale is Slaney's (Auditory Toolbox, 1998): linear below 1000 Hz with 200/3 Hz per mel, logarithmic
above with 27 mels per factor 6.4; or that of HTK: 2595 log10(1 + f / 700).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.math import maximum
from paddle_jax.tensor.ops import exp, log, log10
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike

# hertz per mel below the break; where the scale becomes logarithmic, in hertz
_WIDTH = 200.0 / 3
_BREAK = 1000.0
# Slaney's scale: 27 mels for each factor of 6.4.
_STEP = math.log(6.4) / 27.0


def hz_to_mel(freq: float | Tensor, htk: bool = False) -> float | Tensor:
    """Converts hertz to mels.

    Args:
        freq: float, or float Tensor [...].
        htk: HTK's scale instead of Slaney's. Default False.
    Returns:
        float or Tensor [...].
    Example:
        >>> paddle.audio.functional.hz_to_mel(400.0)
        6.0
    """
    if htk:
        if isinstance(freq, Tensor):
            return 2595.0 * log10(1.0 + freq / 700.0)
        return 2595.0 * math.log10(1.0 + freq / 700.0)
    if isinstance(freq, Tensor):
        # the unused branch stays finite for gradients
        high = _BREAK / _WIDTH + log(maximum(freq, to_tensor(_BREAK, freq.dtype)) / _BREAK) / _STEP
        return where(freq >= _BREAK, high, freq / _WIDTH)
    if freq >= _BREAK:
        return _BREAK / _WIDTH + math.log(freq / _BREAK) / _STEP
    return freq / _WIDTH


def mel_to_hz(mel: float | Tensor, htk: bool = False) -> float | Tensor:
    """Converts mels to hertz.

    Args:
        mel: float, or float Tensor [...].
        htk: HTK's scale instead of Slaney's. Default False.
    Returns:
        float or Tensor [...].
    Example:
        >>> round(paddle.audio.functional.mel_to_hz(6.0), 6)
        400.0
    """
    if htk:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    start = _BREAK / _WIDTH
    if isinstance(mel, Tensor):
        return where(mel >= start, _BREAK * exp(_STEP * (mel - start)), mel * _WIDTH)
    if mel >= start:
        return _BREAK * math.exp(_STEP * (mel - start))
    return mel * _WIDTH


def _mels(n_mels: int, f_min: float, f_max: float, htk: bool) -> np.ndarray:
    """Frequencies in hertz that are equally far apart in mels."""
    return np.array(
        [
            mel_to_hz(mel, htk)
            for mel in np.linspace(hz_to_mel(f_min, htk), hz_to_mel(f_max, htk), n_mels).tolist()
        ]
    )


def mel_frequencies(
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float = 11025.0,
    htk: bool = False,
    dtype: DTypeLike = "float32",
) -> Tensor:
    """Frequencies that are equally far apart on the mel scale.

    Args:
        n_mels: int, how many.
        f_min: float, hertz, the first.
        f_max: float, hertz, the last.
        htk: HTK's scale instead of Slaney's. Default False.
        dtype: dtype of the result.
    Returns:
        Tensor [n_mels].
    Example:
        >>> paddle.audio.functional.mel_frequencies(3, 0.0, 800.0).tolist()
        [0.0, 400.0, 800.0]
    """
    return _as_tensor(_mels(n_mels, f_min, f_max, htk), dtype)


def _as_tensor(values: Any, dtype: DTypeLike) -> Tensor:
    return to_tensor(np.asarray(values).astype(dtypes.convert(dtype).np))


def fft_frequencies(sr: int, n_fft: int, dtype: DTypeLike = "float32") -> Tensor:
    """The frequencies of the bins of a Fourier transform.

    Args:
        sr: int, samples per second.
        n_fft: int, length of the transform.
        dtype: dtype of the result.
    Returns:
        Tensor [n_fft // 2 + 1], hertz.
    Example:
        >>> paddle.audio.functional.fft_frequencies(8000, 4).tolist()
        [0.0, 2000.0, 4000.0]
    """
    return _as_tensor(np.linspace(0, sr / 2, 1 + n_fft // 2), dtype)


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: str | float = "slaney",
    dtype: DTypeLike = "float32",
) -> Tensor:
    """Triangular filters that take the bins of a Fourier transform to mel bands.

    Args:
        sr: int, samples per second.
        n_fft: int, length of the transform.
        n_mels: int, number of bands.
        f_min: float, hertz, where the first band begins.
        f_max: float, hertz, where the last band ends. Default None: sr / 2.
        htk: HTK's scale instead of Slaney's. Default False.
        norm: "slaney" gives the filters equal area, a number p divides each by its p-norm, None leaves
            their peaks at 1.
        dtype: dtype of the result.
    Returns:
        Tensor [n_mels, n_fft // 2 + 1].
    Example:
        >>> paddle.audio.functional.compute_fbank_matrix(8000, 16, n_mels=4).shape
        paddle.Size([4, 9])
    """
    edges = _mels(n_mels + 2, f_min, sr / 2 if f_max is None else f_max, htk)
    # [edges, bins]: how far each edge lies above each bin.
    away = edges[:, None] - np.linspace(0, sr / 2, 1 + n_fft // 2)[None]
    widths = np.diff(edges)[:, None]
    weights = np.maximum(0.0, np.minimum(-away[:-2] / widths[:-1], away[2:] / widths[1:])) + 0.0  # no -0.0
    if norm == "slaney":
        # Each triangle gets the area one, so that wide bands do not weigh more.
        weights *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    elif isinstance(norm, int | float):
        weights /= np.maximum(np.linalg.norm(weights, norm, axis=-1, keepdims=True), 1e-12)
    return _as_tensor(weights, dtype)


def power_to_db(spect: Tensor, ref_value: float = 1.0, amin: float = 1e-10, top_db: float = 80.0) -> Tensor:
    """Converts power to decibels: 10 log10(spect / ref_value).

    Args:
        spect: Tensor [...] of powers.
        ref_value: float, the power of 0 dB.
        amin: float, smaller powers are taken as this.
        top_db: float, values are at most this far below the largest; None for no limit.
    Returns:
        Tensor [...].
    Raises:
        Exception: ref_value or amin is not positive, or top_db is negative.
    Example:
        >>> paddle.audio.functional.power_to_db(paddle.to_tensor([1.0, 100.0])).tolist()
        [0.0, 20.0]
    """
    for name, value, fits in (("amin", amin, amin > 0), ("ref_value", ref_value, ref_value > 0)):
        if not fits:
            raise Exception(f"power_to_db: {name}: got {value}; it must be positive")
    decibels = 10.0 * log10(maximum(spect, to_tensor(amin, spect.dtype))) - 10.0 * math.log10(
        # The reference, too, may not be below the least power.
        max(ref_value, amin)
    )
    if top_db is None:
        return decibels
    if top_db < 0:
        raise Exception(f"power_to_db: top_db: got {top_db}; it may not be negative")
    # The lowest ones are those of silence, and mean nothing.
    return maximum(decibels, decibels.max() - float(top_db))


def create_dct(n_mfcc: int, n_mels: int, norm: str | float = "ortho", dtype: DTypeLike = "float32") -> Tensor:
    """The matrix of the discrete cosine transform of type 2.

    Args:
        n_mfcc: int, coefficients to compute.
        n_mels: int, length of what is transformed.
        norm: "ortho", or None for no normalisation.
        dtype: dtype of the result.
    Returns:
        Tensor [n_mels, n_mfcc].
    Raises:
        AssertionError: norm is something else.
    Example:
        >>> paddle.audio.functional.create_dct(1, 4, norm=None).tolist()
        [[2.0], [2.0], [2.0], [2.0]]
    """
    if norm not in (None, "ortho"):
        raise AssertionError(f"create_dct: norm: got {norm!r}; it must be 'ortho' or None")
    matrix = 2.0 * np.cos(math.pi / n_mels * (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc)[None])
    if norm == "ortho":
        # Columns of length one; the first would otherwise be longer.
        matrix *= math.sqrt(0.5 / n_mels)
        matrix[:, 0] *= math.sqrt(0.5)
    return _as_tensor(matrix, dtype)
