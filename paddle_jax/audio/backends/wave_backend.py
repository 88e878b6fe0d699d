"""WAV files with whole numbers, by Python's module `wave`."""

from __future__ import annotations

import os
import wave
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.audio.backends.backend import AudioInfo
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = ["info", "load", "save"]

# By bytes of a sample; WAV files have the lowest byte first.
_TYPES = {1: np.uint8, 2: np.dtype("<i2"), 4: np.dtype("<i4")}


def _opened(file: Any, mode: str) -> Any:
    return wave.open(os.fspath(file) if isinstance(file, os.PathLike) else file, mode)


def info(filepath: Any) -> AudioInfo:
    """Facts about a WAV file.

    Args:
        filepath: path, or a file open for reading bytes.
    Returns:
        AudioInfo with `sample_rate`, `num_samples`, `num_channels`, `bits_per_sample`, `encoding`.
    Raises:
        FileNotFoundError: there is no such file.
        EOFError, wave.Error: it is no WAV file.
    """
    with _opened(filepath, "rb") as file:
        return AudioInfo(
            file.getframerate(), file.getnframes(), file.getnchannels(), file.getsampwidth() * 8, "PCM_S"
        )


def load(
    filepath: Any,
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
) -> tuple[Tensor, int]:
    """Reads a WAV file of 8, 16 or 32 bits per sample.

    Args:
        filepath: path, or a file open for reading bytes.
        frame_offset: int, frames to leave out at the beginning. Default 0.
        num_frames: int, frames to read; -1 for all. Default -1.
        normalize: scale to -1..1; False gives the numbers of the file. Default True.
        channels_first: give [channels, frames] instead of [frames, channels]. Default True.
    Returns:
        (float32 Tensor, sample rate)
    Raises:
        FileNotFoundError: there is no such file.
        EOFError, wave.Error: it is no WAV file.
        ValueError: it has 24 bits per sample.
    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "beep.wav")
        ...     paddle.audio.save(path, paddle.to_tensor([[0.0, 0.5, -0.5]]), 8000)
        ...     sound, rate = paddle.audio.load(path)
        >>> sound.tolist(), rate
        ([[0.0, 0.5, -0.5]], 8000)
    """
    with _opened(filepath, "rb") as file:
        channels, width, rate, count = file.getparams()[:4]
        if width not in _TYPES:
            raise ValueError(
                f"audio.load: filepath: it has {width * 8} bits per sample; 8, 16 or 32 are supported"
            )
        # float64 holds every number of 32 bits.
        samples = np.frombuffer(file.readframes(count), _TYPES[width]).reshape(-1, channels).astype("float64")
    if width == 1:
        # Bytes have no sign in WAV files; 128 is silence.
        samples = samples - 128.0
    if normalize:
        samples = samples / 2.0 ** (8 * width - 1)
    if num_frames == -1:
        samples = samples[frame_offset:]
    else:
        samples = samples[frame_offset : frame_offset + num_frames]
    return to_tensor(np.ascontiguousarray(samples.T if channels_first else samples).astype("float32")), rate


def save(
    filepath: Any,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int = 16,
) -> None:
    """Writes a WAV file of 16 bits per sample.

    Args:
        filepath: path, or a file open for writing bytes.
        src: Tensor [channels, frames], floats in -1..1 (what is beyond is cut off) or int16 numbers.
        sample_rate: int, frames per second.
        channels_first: False: `src` is [frames, channels]. Default True.
        encoding: accepted; it is always signed whole numbers.
        bits_per_sample: int, 16 or None.
    Raises:
        AssertionError: `src` has another number of axes.
        ValueError: bits_per_sample is something else, or the dtype is not supported.
    """
    if src.ndim != 2:
        raise AssertionError(f"audio.save: src: got {src.ndim} axes; it must have two, [channels, frames]")
    if bits_per_sample not in (None, 16):
        raise ValueError(f"audio.save: bits_per_sample: got {bits_per_sample}; only 16 is supported")
    values = src.numpy().T if channels_first else src.numpy()
    if values.dtype.kind == "f":
        # 1.0 itself is one too large for 16 bits.
        values = np.clip(values.astype("float64") * 2.0**15, -(2**15), 2**15 - 1)
    elif values.dtype != np.int16:
        raise ValueError(f"audio.save: src: got {values.dtype}; it must be a floating-point dtype or int16")
    with _opened(filepath, "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(np.ascontiguousarray(values).astype("<i2").tobytes())
