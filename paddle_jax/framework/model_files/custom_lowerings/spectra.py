"""Fourier transforms that cut or pad, and transforms of frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.framework.model_files.builder_helpers import same_length
from paddle_jax.framework.model_files.decompositions import is_empty
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.tensor import fourier


def _resized(x: Any, axes: Any, lengths: Any) -> Any:
    """x cut or filled with zeros to lengths."""
    for axis, length in zip(axes, lengths, strict=True):
        axis %= x.ndim
        given = x.shape[axis]
        is_open = is_length(given) or is_length(length)
        if is_open or given < length:
            # Unknown whether it is shorter: so many zeros are appended that the cut below decides.
            missing = length
            if not is_open:
                missing = length - given
            shape = list(x.shape)
            shape[axis] = missing
            x = P.concat([x, P.zeros(shape, x.dtype)], axis)
        if is_open or given > length:
            x = x[(*[slice(None)] * axis, slice(0, length))]
    return x


def has_lengths_of(a: Any, x: Any, real_result: Any) -> bool:
    """Whether a transform neither cuts nor pads x."""
    if a.lengths is None:
        return True
    if real_result:
        # The spectrum of a real result of n numbers has n // 2 + 1.
        wanted = [*a.lengths[:-1], a.lengths[-1] // 2 + 1]
    else:
        wanted = a.lengths
    return all(same_length(x.shape[axis], length) for axis, length in zip(a.axes, wanted, strict=True))


def resized_transform(name: str, real_result: bool = False) -> Callable[..., Any]:
    """Parts of a transform with lengths: cut or pad first. real_result: the last length is that of the
    result."""

    def decompose(a: Any, x: Any) -> Any:
        if is_empty(x):
            return None
        is_open = real_result and is_length(a.lengths[-1])
        if has_lengths_of(a, x, real_result):
            return _real_of_half(a, x) if is_open else None
        lengths = list(a.lengths)
        if real_result:
            wanted = [*lengths[:-1], lengths[-1] // 2 + 1]
        else:
            wanted = lengths
        resized = _resized(x, a.axes, wanted)
        if is_open:
            return _real_of_half(a, resized)
        sizes = None
        # The last length of a real result is not known from its half.
        if real_result:
            sizes = tuple(lengths)
        return getattr(fourier, name)(resized, sizes, a.axes, a.forward, a.norm)

    return decompose


def _real_of_half(a: Any, x: Any) -> Any:
    """The real result from half of the terms, where its length is open: Paddle's operation takes a number."""
    if not x.dtype.is_complex:
        x = P.complex(x, P.zeros_like(x))
    *others, last = [axis % x.ndim for axis in a.axes]
    if others:
        x = fourier.c2c(x, None, tuple(others), a.forward, a.norm)
    # The terms of the other half are the conjugate ones, backwards.
    n = a.lengths[-1]
    before = [slice(None)] * last
    back = x[(*before, slice(1, n - n // 2))]
    x = P.concat([x, P.flip(P.conj(back), [last])], last)
    # Of no numbers there is one term all the same.
    return P.real(fourier.c2c(x, None, (last,), a.forward, a.norm))[(*before, slice(0, n))]


def _centred(window: Any, length: Any, size: Any, dtype: Any) -> Any:
    """A window of a length in the middle of `size` numbers."""
    # In the middle, one more behind for an odd rest.
    before = (size - length) // 2
    if window is None:
        return P.to_tensor(np.pad(np.ones(length), (before, size - length - before)), dtype)
    window = P.cast(window, dtype)
    after = size - length - before
    if not before and not after:
        return window
    return P.concat([P.zeros([before], dtype), window, P.zeros([after], dtype)])


def _stft(a: Any, x: Any, window: Any) -> Any:
    if numpy_dtype(x).name in ("float16", "bfloat16"):
        x = P.cast(x, "float32")
    if a.pad_mode is not None:
        half = a.n_fft // 2
        flat = P.reshape(x, [1, -1, x.shape[-1]])
        if x.dtype.is_complex:
            flat = P.complex(_padded(P.real(flat), half, a.pad_mode), _padded(P.imag(flat), half, a.pad_mode))
        else:
            flat = _padded(flat, half, a.pad_mode)
        x = P.reshape(flat, [*x.shape[:-1], flat.shape[-1]])
    frames = P.moveaxis(P.frame(x, a.n_fft, a.hop_length), -1, -2)
    if window is not None or a.win_length < a.n_fft:
        frames = frames * _centred(window, a.win_length, a.n_fft, frames.dtype)
    if a.onesided:
        found = P.rfft(frames, norm=a.norm)
    else:
        found = P.fft(frames, norm=a.norm)
    return P.moveaxis(found, -1, -2)


def _padded(x: Any, half: Any, mode: Any) -> Any:
    return P.pad(x, [half, half], mode, data_format="NCL")


def _istft(a: Any, x: Any, window: Any) -> Any:
    if not x.dtype.is_complex:
        x = P.complex(x, P.zeros_like(x))
    x = P.moveaxis(x, -1, -2)
    if a.real:
        frames = P.irfft(x[..., : a.n_fft // 2 + 1], a.n_fft, norm=a.norm)
    else:
        frames = P.ifft(x, norm=a.norm)
    dtype = frames.dtype
    if window is not None and (window.dtype.is_complex or numpy_dtype(window).itemsize > dtype.np.itemsize):
        dtype = window.dtype
        frames = P.cast(frames, dtype)
    window = _centred(window, a.win_length, a.n_fft, dtype)
    square = P.unsqueeze(window * window, 1)
    count = x.shape[-2]
    total = P.overlap_add(P.expand(square, [a.n_fft, count]), a.hop_length)
    done = P.overlap_add(P.moveaxis(frames * window, -1, -2), a.hop_length)
    # Overlapping windows are divided out.
    return done[..., a.start : a.stop] / total[a.start : a.stop]


stft: Lowering = Lowering(decompose=_stft)
istft: Lowering = Lowering(decompose=_istft)
