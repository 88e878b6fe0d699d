"""English sentences and their French translations (Bojar et al., WMT 2014)."""

import tarfile

from paddle_jax.text.datasets.source import located
from paddle_jax.text.datasets.translation import Pairs, chosen, columns, positive, turned

__all__ = []

URL, MD5 = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz", "0791583d57d5beb693b9414c5b36798c"
_LONGEST = 80


class WMT14(Pairs):
    """English sentences and their French translations, of at most 80 words, as numbers.

    A sample has three arrays: the source between "<s>" and "<e>", the target after "<s>", and the target before "<e>".

    Args:
        data_file: path of `wmt14.tgz`. Default None: download it.
        mode: "train", "test" or "gen". Default "train".
        dict_size: int, how many lines of each dictionary to take. Words beyond it have number 2, "<unk>".
        download: download the file if `data_file` is None. Default True.
    Raises:
        AssertionError: the mode is unknown, dict_size is not positive, the archive has not one dictionary of each language, or there is no file.
        FileNotFoundError: there is no such file.
    """

    def __init__(self, data_file=None, mode="train", dict_size=-1, download=True):
        self.mode = chosen("WMT14", mode, ("train", "test", "gen"))
        self.data_file = located("wmt14", data_file, download, URL, MD5)
        positive("WMT14", dict_size=dict_size)
        self.dict_size = dict_size
        with tarfile.open(self.data_file) as archive:
            names = [member.name for member in archive if member.isfile()]
            self.src_dict, self.trg_dict = (self._words(archive, names, f"{side}.dict") for side in ("src", "trg"))
            parts = [name for name in names if name.endswith(f"{self.mode}/{self.mode}")]
            self._read((pair for name in parts for pair in columns(archive.extractfile(name).read())), _LONGEST)

    def _words(self, archive, names, end):
        found = [name for name in names if name.endswith(end)]
        if len(found) != 1:
            raise AssertionError(f"WMT14: data_file: got {len(found)} files {end} in {self.data_file}; there must be one")
        lines = archive.extractfile(found[0]).read().splitlines()
        return {word.strip().decode(): number for number, word in enumerate(lines[: self.dict_size])}

    def get_dict(self, reverse=False):
        """The dictionaries of the source and of the target.

        Args:
            reverse: map numbers to words instead of words to numbers. Default False.
        Returns:
            two dicts.
        """
        return (turned(self.src_dict), turned(self.trg_dict)) if reverse else (self.src_dict, self.trg_dict)
