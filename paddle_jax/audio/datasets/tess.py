"""Words spoken in seven moods (Pichora-Fuller and Dupuis, Toronto emotional speech set, 2020)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_jax.audio.datasets.dataset import AudioClassificationDataset, belongs, home

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = []


class TESS(AudioClassificationDataset):
    """2800 recordings of two actresses: 200 words in seven moods.

    The unpacked archive is looked for in the folder `TESS_Toronto_emotional_speech_set` of
    `paddle.dataset.common.DATA_HOME`, and downloaded if it is not there.

    Args:
        mode: "train" for all folds but one, another (such as "dev") for that one. Default "train".
        n_folds: int, into how many folds the recordings are dealt out in turn. Default 5.
        split: int from 1 to n_folds, the fold that is not for training. Default 1.
        feat_type: "raw", "melspectrogram", "mfcc", "logmelspectrogram" or "spectrogram". Default "raw".
        archive: dict with `url` and `md5` of another archive.
        **kwargs: arguments of the feature's layer.
    Raises:
        AssertionError: n_folds or split is out of range.
        RuntimeError: the type of feature is unknown, or the recordings are neither there nor
            to be downloaded.
    Differs from Paddle: recordings are taken in the order of their names, not in that of the file system.
    """

    archive = {
        "url": "https://bj.bcebos.com/paddleaudio/datasets/TESS_Toronto_emotional_speech_set.zip",
        "md5": "1465311b24d1de704c4c63e4ccc470c7",
    }
    label_list: list[str] = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]
    audio_path = "TESS_Toronto_emotional_speech_set"

    class meta_info(NamedTuple):  # noqa: N801  Paddle's name
        """What the name of a file tells."""

        speaker: str
        word: str
        emotion: str

    def __init__(
        self,
        mode: str = "train",
        n_folds: int = 5,
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(n_folds, int) or n_folds < 1:
            raise AssertionError(f"TESS: n_folds: got {n_folds!r}; it must be a positive int")
        if split not in range(1, n_folds + 1):
            raise AssertionError(f"TESS: split: got {split!r}; it must be one of 1..{n_folds}")
        if archive is None:
            self.archive = type(self).archive
        else:
            self.archive: dict[str, str] = archive
        files, labels = self._get_data(mode, n_folds, split)
        super().__init__(files, labels, feat_type, **kwargs)

    def _get_meta_info(self, files: Sequence[str]) -> list[Any]:
        return [self.meta_info(*Path(file).stem.split("_")) for file in files]

    def _get_data(self, mode: str, n_folds: int, split: int) -> tuple[list[str], list[int]]:
        folder = home(self.archive, self.audio_path) / self.audio_path
        # Folds follow from places, so the order must not depend on the file system.
        files = sorted(
            str(Path(root) / name)
            for root, _, names in os.walk(folder)
            for name in names
            if name.endswith(".wav")
        )
        chosen = [i for i in range(len(files)) if belongs(mode, i % n_folds + 1, split)]
        facts = self._get_meta_info(files)
        return [files[i] for i in chosen], [self.label_list.index(facts[i].emotion) for i in chosen]
