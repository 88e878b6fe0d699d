"""The Penn Treebank as Mikolov prepared it (2010)."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.text.datasets.source import check_mode, located, members, ranked

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

__all__ = []

URL = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz"
MD5 = "30177ea32e27c525793142b6bf2c8e2d"
FILE = "./simple-examples/data/ptb.{}.txt"


def counted(lines: Iterable[Any], counts: Any = None) -> Any:
    """How often the words of lines of bytes occur, and the ends of the lines; added to
    `counts` if it is given."""
    if counts is None:
        counts = collections.defaultdict(int)
    for line in lines:
        # Each line has both ends, which makes them frequent words with numbers.
        for word in (*line.strip().split(), "<s>", "<e>"):
            counts[word] += 1
    return counts


def lines_in(path: Any, names: Iterable[str]) -> dict[str, list[Any]]:
    """{name: lines of bytes} of files in the archive."""
    return {name: content.splitlines() for name, content in members(path, set(names).__contains__)}


def words_of(training: Any, testing: Any, more_than: int) -> dict[Any, int]:
    """Numbers of the words that occur more often than that in the lines of both files, and of "<unk>"."""
    return ranked(counted(testing, counted(training)), more_than)


def pieces(line: Any, words: dict[Any, int], size: int) -> list[tuple[int, ...]]:
    """The numbers of each `size` neighbours among the words of a line and its ends."""
    numbers = [words.get(word, words["<unk>"]) for word in ("<s>", *line.strip().split(), "<e>")]
    return [tuple(numbers[i : i + size]) for i in range(len(numbers) - size + 1)]


def pairs(line: Any, words: dict[Any, int], longest: int) -> list[tuple[list[int], list[int]]]:
    """The numbers of the words of a line after its start and before its end; nothing if they are more than
    `longest`, where that is positive."""
    start, *numbers, end = (words.get(word, words["<unk>"]) for word in ("<s>", *line.strip().split(), "<e>"))
    if longest <= 0 or len(numbers) < longest:
        return [([start, *numbers], [*numbers, end])]
    return []


class Imikolov(Dataset):
    """Sentences as numbers of words: pieces of a fixed length, or pairs of a sentence and the
    same one word later.

    `word_idx` maps words, as bytes, to numbers, besides "<s>" and "<e>" for the ends of sentences and
    "<unk>" for rare words.

    Args:
        data_file: path of `simple-examples.tgz`. Default None: download it.
        data_type: "NGRAM" or "SEQ". Default "NGRAM".
        window_size: int, length of the pieces; for "SEQ" the largest number of words with "<s>", if
            positive. Default -1.
        mode: "train" or "test". Default "train".
        min_word_freq: int, words that occur at most so often are rare. Default 50.
        download: download the file if `data_file` is None. Default True.
    Attributes:
        window_size, min_word_freq: as given.
        data_type: str, "NGRAM" or "SEQ".
        mode: str, "train" or "test".
        data_file: str, the archive.
        word_idx: dict from words to numbers.
        data: list of tuples of numbers.
    Raises:
        AssertionError: the mode or the data type is unknown, "NGRAM" has no window size, or there is no file.
        FileNotFoundError: there is no such file.
    Example:
        >>> import io, tarfile
        >>> with tarfile.open("texts.tgz", "w:gz") as archive:
        ...     for part in ("train", "valid", "test"):
        ...         member = tarfile.TarInfo(f"./simple-examples/data/ptb.{part}.txt")
        ...         member.size = len(b"the the cat cat cat\\n")
        ...         archive.addfile(member, io.BytesIO(b"the the cat cat cat\\n"))
        >>> pieces = paddle.text.Imikolov("texts.tgz", window_size=2, min_word_freq=1)
        >>> [tuple(int(word) for word in piece) for piece in pieces]
        [(3, 1), (1, 1), (1, 0), (0, 0), (0, 0), (0, 2)]
    """

    def __init__(
        self,
        data_file: str | PathLike[str] | None = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        if data_type.upper() not in ("NGRAM", "SEQ"):
            raise AssertionError(f"Imikolov: data_type: got {data_type!r}; it must be 'NGRAM' or 'SEQ'")
        self.data_type: str = data_type.upper()
        self.window_size = window_size
        self.min_word_freq = min_word_freq
        self.mode: str = check_mode("Imikolov", mode)
        self.data_file: str = located("imikolov", data_file, download, URL, MD5)
        lines = lines_in(self.data_file, map(FILE.format, ("train", "valid", "test")))
        if self.data_type == "NGRAM" and window_size < 0:
            raise AssertionError(f"Imikolov: window_size: got {window_size}; it must be positive for 'NGRAM'")
        self.word_idx: dict[Any, int] = words_of(
            lines[FILE.format("train")], lines[FILE.format("valid")], min_word_freq
        )
        rows = pieces if self.data_type == "NGRAM" else pairs
        self.data: list[tuple[int, ...] | tuple[list[int], list[int]]] = [
            row for line in lines[FILE.format(self.mode)] for row in rows(line, self.word_idx, window_size)
        ]

    def word_count(self, f: Iterable[Any], word_freq: Any = None) -> Any:
        """Counts the words of lines of bytes, and their ends; adds to `word_freq` if it is given."""
        return counted(f, word_freq)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(field) for field in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
