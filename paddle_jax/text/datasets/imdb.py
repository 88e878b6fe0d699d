"""Reviews of films (Maas et al., 2011)."""

from __future__ import annotations

import collections
import re
import string
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.text.datasets.source import check_mode, located, members, ranked

if TYPE_CHECKING:
    from os import PathLike

__all__ = []

URL = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz"
MD5 = "7c2ac02c03563afcf9b574c7e56c153a"
_MEMBER = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")


class Imdb(Dataset):
    """Reviews of films as numbers of words, with labels: 0 for good ones, 1 for bad ones.

    Words are lower case without punctuation. `word_idx` maps them, as bytes, to numbers; the last one,
    "<unk>", is for rare words.

    Args:
        data_file: path of `aclImdb_v1.tar.gz`. Default None: download it.
        mode: "train" or "test". Default "train".
        cutoff: int, words that occur at most so often in both parts together are rare. Default 150.
        download: download the file if `data_file` is None. Default True.
    Raises:
        AssertionError: the mode is unknown, or there is no file.
        FileNotFoundError: there is no such file.
    Example:
        >>> import io, tarfile
        >>> with tarfile.open("reviews.tar.gz", "w:gz") as archive:
        ...     for kind, text in (("pos", b"a good film"), ("neg", b"a bad film")):
        ...         member = tarfile.TarInfo(f"aclImdb/train/{kind}/0.txt")
        ...         member.size = len(text)
        ...         archive.addfile(member, io.BytesIO(text))
        >>> reviews = paddle.text.Imdb("reviews.tar.gz", cutoff=1)
        >>> len(reviews), [words.tolist() for words, _ in reviews]
        (2, [[0, 2, 1], [0, 2, 1]])
    """

    def __init__(
        self,
        data_file: str | PathLike[str] | None = None,
        mode: str = "train",
        cutoff: int = 150,
        download: bool = True,
    ) -> None:
        self.mode: str = check_mode("Imdb", mode)
        self.data_file: str = located("imdb", data_file, download, URL, MD5)
        counts = collections.Counter()
        texts = {"pos": [], "neg": []}
        for name, content in members(self.data_file, _MEMBER.match):
            # Without marks and in lower case, so that a word has one form.
            words = content.rstrip(b"\n\r").translate(None, string.punctuation.encode()).lower().split()
            # Words are counted in both parts, so that training and testing have the same numbers.
            counts.update(words)
            part, kind = _MEMBER.match(name).groups()
            if part == self.mode:
                texts[kind].append(words)
        self.word_idx: dict[Any, int] = ranked(counts, cutoff)
        rare = self.word_idx["<unk>"]
        self.docs: list[list[int]] = [
            [self.word_idx.get(word, rare) for word in words]
            for kind in ("pos", "neg")
            for words in texts[kind]
        ]
        self.labels: list[int] = [label for label, kind in enumerate(("pos", "neg")) for _ in texts[kind]]

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return np.array(self.docs[idx]), np.array([self.labels[idx]])

    def __len__(self) -> int:
        return len(self.docs)
