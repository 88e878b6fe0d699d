"""Readers of the Penn Treebank, as Paddle 1 gave them; `paddle.text.Imikolov` is the class
for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax.dataset import common
from paddle_jax.text.datasets.imikolov import FILE, MD5, URL, counted, lines_in, pairs, pieces, words_of

__all__ = []


class DataType:
    """What a sample is: NGRAM, some neighbouring words; SEQ, a sentence and the same one word later."""

    NGRAM = 1
    SEQ = 2


def word_count(f: Any, word_freq: Any = None) -> dict[Any, Any]:
    """Counts the words of lines of bytes, and their ends "<s>" and "<e>"; adds to `word_freq` if it is given.

    Example:
        >>> dict(paddle.dataset.imikolov.word_count([b"the cat", b"the dog"]))
        {b'the': 2, b'cat': 1, '<s>': 2, '<e>': 2, b'dog': 1}
    """
    return counted(f, word_freq)


def build_dict(min_word_freq: Any = 50) -> dict[Any, int]:
    """Numbers of the words, as bytes, that occur more than `min_word_freq` times; the last one,
    "<unk>", is for others.

    Differs from Paddle: ends of sentences and words may be equally frequent; there they cannot be sorted.
    """
    training, testing = (FILE.format(part) for part in ("train", "valid"))
    lines = lines_in(_archive(), (training, testing))
    return words_of(lines[training], lines[testing], min_word_freq)


def reader_creator(filename: str, word_idx: dict[str, Any], n: int, data_type: Any) -> Callable[..., Any]:
    """A reader of a file in the archive, which is looked for when the reader is iterated.

    Args:
        filename: str, the name in the archive.
        word_idx: dict of numbers, with "<unk>" for words that are not in it, "<s>" and "<e>".
        n: int, the length of a piece (NGRAM), or the largest number of words with "<s>", if positive (SEQ).
        data_type: DataType.NGRAM or DataType.SEQ.
    Returns:
        A function without arguments; its iterator gives tuples of n ints, or (list of ints, list of ints).
    Raises:
        AssertionError: n is negative (NGRAM), or the type is unknown (when the reader is iterated).
        KeyError: there is no such file (when the reader is iterated).
    """

    def reader() -> Iterator[Any]:
        lines = lines_in(_archive(), [filename])[filename]
        if data_type not in (DataType.NGRAM, DataType.SEQ):
            raise AssertionError(
                f"imikolov: data_type: got {data_type!r}; it must be DataType.NGRAM or DataType.SEQ"
            )
        if data_type == DataType.NGRAM and n < 0:
            raise AssertionError(f"imikolov: n: got {n}; the length of pieces must not be negative")
        rows = pieces if data_type == DataType.NGRAM else pairs
        for line in lines:
            yield from rows(line, word_idx, n)

    return reader


def train(word_idx: Any, n: Any, data_type: Any = DataType.NGRAM) -> Callable[..., Any]:
    """The reader of the sentences for training."""
    return reader_creator(FILE.format("train"), word_idx, n, data_type)


def test(word_idx: Any, n: Any, data_type: Any = DataType.NGRAM) -> Callable[..., Any]:
    """The reader of the sentences for validation, as in Paddle."""
    return reader_creator(FILE.format("valid"), word_idx, n, data_type)


def fetch() -> None:
    """Downloads the archive if it is not in `dataset.common.DATA_HOME`."""
    _archive()


def _archive() -> str:
    return common.download(URL, "imikolov", MD5)
