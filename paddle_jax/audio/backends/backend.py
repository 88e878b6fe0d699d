"""What is known about a file of sound."""

from __future__ import annotations


class AudioInfo:
    """Facts about a file: `sample_rate`, `num_samples`, `num_channels`, `bits_per_sample`, `encoding`.

    Example:
        >>> paddle.audio.backends.backend.AudioInfo(8000, 10, 1, 16, "PCM_S").sample_rate
        8000
    """

    def __init__(
        self, sample_rate: int, num_samples: int, num_channels: int, bits_per_sample: int, encoding: str
    ) -> None:
        self.sample_rate = sample_rate
        self.num_samples = num_samples
        self.num_channels = num_channels
        self.bits_per_sample = bits_per_sample
        self.encoding = encoding
