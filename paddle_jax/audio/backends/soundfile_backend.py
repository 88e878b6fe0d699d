"""Files of sound of many formats, by the package soundfile (libsndfile)."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.audio.backends.backend import AudioInfo
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = ["info", "load", "save"]

_BITS = {
    "PCM_S8": 8,
    "PCM_U8": 8,
    "PCM_16": 16,
    "PCM_24": 24,
    "PCM_32": 32,
    "FLOAT": 32,
    "DOUBLE": 64,
    "ULAW": 8,
    "ALAW": 8,
}
_KINDS = {
    "PCM_S8": "PCM_S",
    "PCM_16": "PCM_S",
    "PCM_24": "PCM_S",
    "PCM_32": "PCM_S",
    "PCM_U8": "PCM_U",
    "FLOAT": "PCM_F",
    "DOUBLE": "PCM_F",
}
# The library reads into no smaller integers than int16, and has none of 24 bits.
_WHOLE = {"PCM_S8": "int16", "PCM_U8": "int16", "PCM_16": "int16", "PCM_24": "int32", "PCM_32": "int32"}


def _soundfile() -> Any:
    try:
        return importlib.import_module("soundfile")
    except (ImportError, OSError) as error:  # OSError: libsndfile is not there
        raise ModuleNotFoundError(
            "audio: soundfile is not installed: pip install 'paddle_jax[audio]'"
        ) from error


def _named(file: Any) -> Any:
    if isinstance(file, os.PathLike):
        return os.fspath(file)
    return file


def info(filepath: Any) -> AudioInfo:
    """Facts about a file.

    Args:
        filepath: path, or a file open for reading bytes.
    Returns:
        AudioInfo with `sample_rate`, `num_samples`, `num_channels`, `bits_per_sample` (0 where the format has
        none), `encoding`.
    Raises:
        ModuleNotFoundError: the package soundfile is not installed.
        RuntimeError: it is no file of sound that libsndfile knows.
    """
    facts = _soundfile().info(_named(filepath))
    kind = facts.subtype
    return AudioInfo(
        facts.samplerate, facts.frames, facts.channels, _BITS.get(kind, 0), _KINDS.get(kind, kind)
    )


def load(
    filepath: Any,
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
) -> tuple[Tensor, int]:
    """Reads a file.

    Args:
        filepath: path, or a file open for reading bytes.
        frame_offset: int, frames to leave out at the beginning. Default 0.
        num_frames: int, frames to read; -1 for all. Default -1.
        normalize: give float32 in -1..1; False gives the whole numbers of files that have them, as int16 or
            int32. Default True.
        channels_first: give [channels, frames] instead of [frames, channels]. Default True.
    Returns:
        (Tensor, sample rate)
    Raises:
        ModuleNotFoundError: the package soundfile is not installed.
        RuntimeError: it is no file of sound that libsndfile knows.
    """
    with _soundfile().SoundFile(_named(filepath)) as file:
        if normalize:
            kind = "float32"
        else:
            kind = _WHOLE.get(file.subtype, "float32")
        # Beyond the end there is nothing to read, which is no error.
        file.seek(min(frame_offset, file.frames))
        samples = file.read(num_frames, dtype=kind, always_2d=True)
        return to_tensor(np.ascontiguousarray(samples.T if channels_first else samples)), file.samplerate


def save(
    filepath: Any,
    src: Tensor,
    sample_rate: int,
    channels_first: bool = True,
    encoding: str | None = None,
    bits_per_sample: int | None = None,
    format: str | None = None,
) -> None:
    """Writes a file; its format follows from the end of its name.

    Args:
        filepath: path, or a file open for writing bytes (then `format` is needed).
        src: Tensor [channels, frames], floats in -1..1 or whole numbers.
        sample_rate: int, frames per second.
        channels_first: False: `src` is [frames, channels]. Default True.
        encoding: "PCM_S", "PCM_U", "PCM_F", "ULAW" or "ALAW". Default: that of the format.
        bits_per_sample: int, 8, 16, 24, 32 or 64. Default: that of the format, 16 where there is a choice.
        format: str such as "wav" or "flac". Default: from the name.
    Raises:
        ModuleNotFoundError: the package soundfile is not installed.
        AssertionError: `src` has another number of axes.
        ValueError: the format has no such encoding.
    """
    if src.ndim != 2:
        raise AssertionError(f"audio.save: src: got {src.ndim} axes; it must have two, [channels, frames]")
    values = src.numpy().T if channels_first else src.numpy()
    _soundfile().write(
        _named(filepath), values, sample_rate, subtype=_subtype(encoding, bits_per_sample), format=format
    )


def _subtype(encoding: str | None, bits: int | None) -> str | None:
    """What libsndfile calls an encoding."""
    if encoding in (None, "PCM_S"):
        # Without any wish libsndfile chooses by the ending.
        if encoding is None and bits is None:
            return None
        return {None: "PCM_16", 8: "PCM_S8"}.get(bits, f"PCM_{bits}")
    if encoding == "PCM_F":
        if bits == 64:
            return "DOUBLE"
        return "FLOAT"
    if encoding == "PCM_U":
        return "PCM_U8"
    return encoding
