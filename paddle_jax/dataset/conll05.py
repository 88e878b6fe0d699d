"""Readers of semantic roles, as Paddle 1 gave them; `paddle.text.Conll05st` is the class for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax.dataset import common
from paddle_jax.text.datasets.conll05 import SOURCES, fields, numbered_lines, numbered_roles, propositions

__all__ = []

(
    (DATA_URL, DATA_MD5),
    (WORDDICT_URL, WORDDICT_MD5),
    (VERBDICT_URL, VERBDICT_MD5),
    (TRGDICT_URL, TRGDICT_MD5),
    (EMB_URL, EMB_MD5),
) = SOURCES.values()
UNK_IDX = 0


def load_dict(filename: str) -> dict[str, int]:
    """The lines of a file, with their numbers."""
    return numbered_lines(filename)


def load_label_dict(filename: str) -> dict[str, int]:
    """Numbers of "B-" and "I-" of each role in the lines of a file, and of "O".

    Differs from Paddle: roles are numbered in the order of the file; there the numbers change
        from run to run.
    """
    return numbered_roles(filename)


def corpus_reader(data_path: str, words_name: str, props_name: str) -> Callable[..., Any]:
    """A reader of the sentences of an archive, each once for each of its verbs.

    Args:
        data_path: str, the archive.
        words_name, props_name: str, the names of the compressed files in it with the words and
            with their roles.
    Returns:
        A function without arguments; its iterator gives (list of words, verb, list of labels: "B-" where a
        role begins, "I-" where it goes on, "O" for none).
    Raises:
        RuntimeError: the roles are written in another way (when the reader is iterated).
    """
    return lambda: propositions(data_path, words_name, props_name)


def reader_creator(
    corpus_reader: Callable[..., Any],
    word_dict: dict[str, Any] | None = None,
    predicate_dict: dict[str, Any] | None = None,
    label_dict: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """A reader of what a reader of sentences gives, as numbers.

    Args:
        corpus_reader: a function as `corpus_reader` returns.
        word_dict, predicate_dict, label_dict: dicts of numbers of words (0 for others), verbs and labels
            (None for others).
    Returns:
        A function without arguments; its iterator gives nine lists of the length of the sentence: its words;
        the second and the first word before the verb, the verb, and the first and the second word after it
        (each repeated); the verb (repeated); 1 for the verb and its two neighbours on each side,
        else 0; the labels.
    Raises:
        ValueError: no word has the label "B-V" (when the reader is iterated).
    Example:
        >>> sentences = lambda: [(["cats", "sleep"], "sleep", ["B-A0", "B-V"])]
        >>> words, labels = {"cats": 1, "sleep": 2, "bos": 3, "eos": 4}, {"B-A0": 0, "B-V": 1}
        >>> next(iter(paddle.dataset.conll05.reader_creator(sentences, words, {"sleep": 5}, labels)()))
        ([1, 2], [3, 3], [1, 1], [2, 2], [4, 4], [4, 4], [5, 5], [1, 1], [0, 1])
    """

    def reader() -> Iterator[Any]:
        for words, predicate, labels in corpus_reader():
            yield fields(words, predicate, labels, word_dict, predicate_dict, label_dict)

    return reader


def get_dict() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The dictionaries of words, verbs and labels; their files are downloaded when they are not in
    `dataset.common.DATA_HOME`."""
    words, verbs, roles = (_file(name) for name in ("word_dict_file", "verb_dict_file", "target_dict_file"))
    return load_dict(words), load_dict(verbs), load_label_dict(roles)


def get_embedding() -> str:
    """The path of the file with word vectors, which is downloaded when it is not in
    `dataset.common.DATA_HOME`."""
    return _file("emb_file")


def _file(name: str) -> str:
    url, md5 = SOURCES[name]
    return common.download(url, "conll05st", md5)
