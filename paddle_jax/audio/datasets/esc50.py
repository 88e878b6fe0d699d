"""Sounds of the surroundings (Piczak, ESC: Dataset for Environmental Sound Classification, 2015)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax.audio.datasets.dataset import AudioClassificationDataset, belongs, home

__all__ = []


class ESC50(AudioClassificationDataset):
    """2000 recordings of five seconds in 50 classes: animals, nature, people, the house, the town.

    The unpacked archive is looked for in the folder `ESC-50-master` of `paddle.dataset.common.DATA_HOME`, and
    downloaded if it is not there.

    Args:
        mode: "train" for all folds but one, another (such as "dev") for that one. Default "train".
        split: int from 1 to 5, the fold that is not for training. Default 1.
        feat_type: "raw", "melspectrogram", "mfcc", "logmelspectrogram" or "spectrogram". Default "raw".
        archive: dict with `url` and `md5` of another archive.
        **kwargs: arguments of the feature's layer.
    Raises:
        AssertionError: split is out of range.
        RuntimeError: the type of feature is unknown, or the recordings are neither there nor
            to be downloaded.
    """

    archive = {
        "url": "https://paddleaudio.bj.bcebos.com/datasets/ESC-50-master.zip",
        "md5": "7771e4b9d86d0945acce719c7a59305a",
    }
    label_list: list[str] = [
        "Dog",
        "Rooster",
        "Pig",
        "Cow",
        "Frog",
        "Cat",
        "Hen",
        "Insects (flying)",
        "Sheep",
        "Crow",
        "Rain",
        "Sea waves",
        "Crackling fire",
        "Crickets",
        "Chirping birds",
        "Water drops",
        "Wind",
        "Pouring water",
        "Toilet flush",
        "Thunderstorm",
        "Crying baby",
        "Sneezing",
        "Clapping",
        "Breathing",
        "Coughing",
        "Footsteps",
        "Laughing",
        "Brushing teeth",
        "Snoring",
        "Drinking, sipping",
        "Door knock",
        "Mouse click",
        "Keyboard typing",
        "Door, wood creaks",
        "Can opening",
        "Washing machine",
        "Vacuum cleaner",
        "Clock alarm",
        "Clock tick",
        "Glass breaking",
        "Helicopter",
        "Chainsaw",
        "Siren",
        "Car horn",
        "Engine",
        "Train",
        "Church bells",
        "Airplane",
        "Fireworks",
        "Hand saw",
    ]
    meta: str = str(Path("ESC-50-master", "meta", "esc50.csv"))
    audio_path: str = str(Path("ESC-50-master", "audio"))

    class meta_info(NamedTuple):  # noqa: N801  Paddle's name
        """A row of the table.

        Attributes:
            filename: name of the file.
            fold: "1" to "5", the part of the data set.
            target: number of the class.
            category: name of the class.
            esc10: whether it belongs to ESC-10.
            src_file: where the recording is from.
            take: which cut of it.
        """

        filename: str
        fold: str
        target: str
        category: str
        esc10: str
        src_file: str
        take: str

    def __init__(
        self,
        mode: str = "train",
        split: int = 1,
        feat_type: str = "raw",
        archive: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        if split not in range(1, 6):
            raise AssertionError(f"ESC50: split: got {split!r}; it must be one of 1..5")
        if archive is None:
            self.archive = type(self).archive
        else:
            self.archive: dict[str, str] = archive
        files, labels = self._get_data(mode, split)
        super().__init__(files, labels, feat_type, **kwargs)

    def _get_meta_info(self, folder: Any) -> list[Any]:
        with (folder / self.meta).open(newline="") as table:
            return [self.meta_info(*row) for row in list(csv.reader(table))[1:]]

    def _get_data(self, mode: str, split: int) -> tuple[list[str], list[int]]:
        folder = home(self.archive, self.audio_path, self.meta)
        chosen = [row for row in self._get_meta_info(folder) if belongs(mode, int(row.fold), split)]
        return (
            [str(folder / self.audio_path / row.filename) for row in chosen],
            [int(row.target) for row in chosen],
        )
