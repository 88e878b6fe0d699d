"""English descriptions of pictures and their German translations (Elliott et al., Multi30K, 2016)."""

from __future__ import annotations

import collections
import itertools
import tarfile
from typing import TYPE_CHECKING, Any

from paddle_jax.text.datasets.source import located
from paddle_jax.text.datasets.translation import END, START, UNKNOWN, Pairs, chosen, columns, positive, turned

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

__all__ = []

URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz"
MD5 = "0c38be43600334966403524a40dcd81e"
# Words that the training text has in each language.
TOTAL = {"en": 11250, "de": 19220}
_LANGUAGES = ("en", "de")


def pairs_in(path: str | PathLike[str], name: str, lang: str) -> Iterable[tuple[list[str], list[str]]]:
    """(words of the source, words of the target) of each line of a file in the archive."""
    with tarfile.open(path) as archive:
        pairs = columns(archive.extractfile(name).read())
    if lang == "en":
        return pairs
    return ((words, others) for others, words in pairs)


def counted(sentences: Iterable[list[str]], size: int) -> dict[str, int]:
    """Numbers of the marks and of the most frequent words."""
    counts = collections.Counter(itertools.chain.from_iterable(sentences))
    frequent = sorted(counts, key=counts.__getitem__, reverse=True)
    # Three numbers are those of the marks.
    kept = frequent if size < 3 else frequent[: size - 3]
    return {word: number for number, word in enumerate([START, END, UNKNOWN, *kept])}


class WMT16(Pairs):
    """English sentences and their German translations, or the other way round, as numbers of words.

    A sample has three arrays: the source between "<s>" and "<e>", the target after "<s>", and the
    target before "<e>".

    Args:
        data_file: path of `wmt16.tar.gz`. Default None: download it.
        mode: "train", "test" or "val". Default "train".
        src_dict_size, trg_dict_size: ints, how many words to number: "<s>", "<e>", "<unk>", and the most
            frequent ones of the part for training.
        lang: "en" or "de", the language of the source. Default "en".
        download: download the file if `data_file` is None. Default True.
    Attributes:
        lang: as given.
        mode: str, "train", "test" or "val".
        data_file: str, the archive.
        src_dict_size, trg_dict_size: int, the words of each dict.
        src_dict, trg_dict: dicts from words to numbers.
    Raises:
        AssertionError: the mode is unknown, a size is not positive, or there is no file.
        FileNotFoundError: there is no such file.
    Example:
        >>> import io, tarfile
        >>> with tarfile.open("wmt16.tgz", "w:gz") as archive:
        ...     member = tarfile.TarInfo("wmt16/train")
        ...     member.size = len(b"a a cat\\teine eine Katze\\n")
        ...     archive.addfile(member, io.BytesIO(b"a a cat\\teine eine Katze\\n"))
        >>> pairs = paddle.text.WMT16("wmt16.tgz", src_dict_size=5, trg_dict_size=5)
        >>> [field.tolist() for field in pairs[0]]
        [[0, 3, 3, 4, 1], [0, 3, 3, 4], [3, 3, 4, 1]]
    Differs from Paddle: words of the target are counted in the target's sentences (there in the source's, so
    that nearly all are unknown), `get_dict` respects `reverse`, and no dictionary is kept in a file.
    """

    src_dict: dict[str, int]
    src_dict_size: int
    trg_dict: dict[str, int]
    trg_dict_size: int

    def __init__(
        self,
        data_file: str | PathLike[str] | None = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        self.mode: str = chosen("WMT16", mode, ("train", "test", "val"))
        self.data_file: str = located("wmt16", data_file, download, URL, MD5)
        self.lang = lang
        positive("WMT16", src_dict_size=src_dict_size, trg_dict_size=trg_dict_size)
        source, target = _LANGUAGES if lang == "en" else _LANGUAGES[::-1]
        self.src_dict_size, self.trg_dict_size = (
            min(src_dict_size, TOTAL[source]),
            min(trg_dict_size, TOTAL[target]),
        )
        lines = list(pairs_in(self.data_file, "wmt16/train", lang))
        self.src_dict, self.trg_dict = (
            counted((pair[i] for pair in lines), size)
            for i, size in enumerate((src_dict_size, trg_dict_size))
        )
        # The text for training has been read for the dictionaries already.
        self._read(lines if self.mode == "train" else pairs_in(self.data_file, f"wmt16/{self.mode}", lang))

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """The dictionary of a language.

        Args:
            lang: "en" or "de".
            reverse: map numbers to words instead of words to numbers. Default False.
        Returns:
            a dict.
        """
        words = self.src_dict if lang == self.lang else self.trg_dict
        if reverse:
            return turned(words)
        return words
