"""Readers of reviews of films, as Paddle 1 gave them; `paddle.text.Imdb` is the class for new programs."""

from __future__ import annotations

import collections
import re
import string
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax.dataset import common
from paddle_jax.text.datasets.imdb import MD5, URL
from paddle_jax.text.datasets.source import members, ranked

__all__ = []

_MARKS = string.punctuation.encode()


def tokenize(pattern: Any) -> Iterator[Any]:
    """The words, as bytes in lower case without punctuation, of each file in the archive whose name a
    compiled pattern matches."""
    for _, content in members(common.download(URL, "imdb", MD5), pattern.match):
        yield content.rstrip(b"\n\r").translate(None, _MARKS).lower().split()


def build_dict(pattern: Any, cutoff: Any) -> dict[Any, int]:
    """Numbers of the words that occur more than `cutoff` times in the files that a compiled pattern matches;
    the last one, "<unk>", is for others."""
    return ranked(collections.Counter(word for words in tokenize(pattern) for word in words), cutoff)


def reader_creator(pos_pattern: Any, neg_pattern: Any, word_idx: dict[str, Any]) -> Callable[..., Any]:
    """A reader of reviews, which are read at once.

    Args:
        pos_pattern, neg_pattern: compiled patterns of the names of good and of bad reviews.
        word_idx: dict of numbers, with "<unk>" for words that are not in it.
    Returns:
        A function without arguments; its iterator gives (list of ints, 0 for a good review or
        1 for a bad one).
    Raises:
        KeyError: there is no "<unk>".
    """
    rare = word_idx["<unk>"]
    # Read once; each pass over the reader gives them again.
    reviews = [
        ([word_idx.get(word, rare) for word in words], label)
        for label, pattern in enumerate((pos_pattern, neg_pattern))
        for words in tokenize(pattern)
    ]

    def reader() -> Iterator[Any]:
        yield from reviews

    return reader


def train(word_idx: Any) -> Callable[..., Any]:
    """The reader of the 25 000 reviews for training."""
    return _split_reader("train", word_idx)


def test(word_idx: Any) -> Callable[..., Any]:
    """The reader of the 25 000 reviews for testing."""
    return _split_reader("test", word_idx)


def word_dict() -> dict[Any, int]:
    """Numbers of the words that occur more than 150 times in both parts."""
    return build_dict(re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), 150)


def fetch() -> None:
    """Downloads the archive if it is not in `dataset.common.DATA_HOME`."""
    common.download(URL, "imdb", MD5)


def _split_reader(name: str, word_idx: dict[Any, Any]) -> Callable[..., Any]:
    return reader_creator(
        *(re.compile(rf"aclImdb/{name}/{kind}/.*\.txt$") for kind in ("pos", "neg")), word_idx
    )
