"""What data sets of sound share: files with labels, and features of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.audio.backends.init_backend import _load_file
from paddle_jax.audio.features import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram
from paddle_jax.dataset import common
from paddle_jax.io import Dataset
from paddle_jax.utils.download import get_path_from_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []

feat_funcs: dict[str, Any] = {
    "raw": None,
    "melspectrogram": MelSpectrogram,
    "mfcc": MFCC,
    "logmelspectrogram": LogMelSpectrogram,
    "spectrogram": Spectrogram,
}


class AudioClassificationDataset(Dataset):
    """Files of sound with labels. A sample is the sound, or a feature of it, and the label.

    Args:
        files: list of paths.
        labels: list of ints.
        feat_type: "raw", "melspectrogram", "mfcc", "logmelspectrogram" or "spectrogram". Default "raw".
        sample_rate: int, frames per second; that of the file last read replaces it.
        **kwargs: arguments of the feature's layer.
    Raises:
        RuntimeError: the type of feature is unknown.
    Example:
        >>> import os, tempfile
        >>> from paddle_jax.audio.datasets.dataset import AudioClassificationDataset
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "beep.wav")
        ...     paddle.audio.save(path, paddle.zeros([1, 400]), 8000)
        ...     feature, label = AudioClassificationDataset([path], [3], "spectrogram", n_fft=64)[0]
        >>> feature.shape, label
        (paddle.Size([33, 1]), 3)
    """

    def __init__(
        self,
        files: Sequence[str],
        labels: Sequence[int],
        feat_type: str = "raw",
        sample_rate: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if feat_type not in feat_funcs:
            raise RuntimeError(
                f"{type(self).__name__}: feat_type: got {feat_type!r}; "
                f"allowed are {', '.join(map(repr, feat_funcs))}"
            )
        self.files = files
        self.labels = labels
        self.feat_type = feat_type
        self.sample_rate = sample_rate
        self.feat_config = kwargs

    def __getitem__(self, idx: int) -> tuple[Tensor, int]:
        sound, self.sample_rate = _load_file(self.files[idx])
        if sound.ndim == 2:
            sound = sound.squeeze(0)
        layer = feat_funcs[self.feat_type]
        if layer is not None:
            # Only mel bands need to know hertz.
            rate = {} if layer is Spectrogram else {"sr": self.sample_rate}
            sound = layer(**rate, **self.feat_config)(sound.unsqueeze(0)).squeeze(0)
        return sound, self.labels[idx]

    def __len__(self) -> int:
        return len(self.files)


def home(archive: Any, *needed: str) -> Any:
    """The folder of data sets; the archive is downloaded and unpacked there unless what is
    needed is there."""
    folder = Path(common.DATA_HOME)
    if not all((folder / part).exists() for part in needed):
        folder.mkdir(parents=True, exist_ok=True)
        get_path_from_url(archive["url"], str(folder), archive["md5"], decompress=True)
    return folder


def belongs(mode: str, fold: int, split: int) -> bool:
    """Whether a fold belongs to a mode: all but one to "train", that one to any other."""
    return (fold != split) == (mode == "train")
