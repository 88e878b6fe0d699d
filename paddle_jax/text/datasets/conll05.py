"""Semantic roles of words in newspaper sentences (Carreras and Màrquez, CoNLL-2005)."""

from __future__ import annotations

import gzip
import tarfile
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.text.datasets.source import located

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

__all__ = []

_HOST = "http://paddlemodels.bj.bcebos.com/conll05st"
SOURCES = {
    "data_file": (f"{_HOST}/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc"),
    "word_dict_file": (f"{_HOST}%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"),
    "verb_dict_file": (f"{_HOST}%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"),
    "target_dict_file": (f"{_HOST}%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"),
    "emb_file": (f"{_HOST}%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7"),
}
_WORDS, _ROLES = (f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz" for kind in ("words", "props"))
_RARE = 0


class Conll05st(Dataset):
    """Sentences of the test set of CoNLL-2005, once for each of their verbs, with the role that each
    word has for it.

    A sample has nine arrays of the length of the sentence: its words; the second and the first word before
    the verb, the verb, and the first and the second word after it (each repeated); the verb in the dictionary
    of verbs (repeated); 1 for the verb and its two neighbours on each side, else 0; and the roles, "B-" where
    one begins, "I-" where it goes on, "O" for none. Words that are not in the dictionary have number 0.

    Args:
        data_file: path of `conll05st-tests.tar.gz`. Default None: download it, and so for the others.
        word_dict_file: path of a file with a word in each line.
        verb_dict_file: path of a file with a verb in each line.
        target_dict_file: path of a file with a role in each line.
        emb_file: path of a file with word vectors.
        download: download files that are None. Default True.
    Attributes:
        word_dict, predicate_dict, label_dict: dicts from words, verbs and labels to numbers.
        sentences, predicates, labels: lists of the examples.
    Raises:
        AssertionError: a file is None and download is False.
        FileNotFoundError: there is no such file.
        RuntimeError: the roles are written in another way.
    Example:
        >>> import gzip, io, tarfile
        >>> with tarfile.open("conll.tar.gz", "w:gz") as archive:
        ...     for kind, text in (("words", b"Dogs\\nbark\\n\\n"), ("props", b"- (A0*)\\nbark (V*)\\n\\n")):
        ...         text = gzip.compress(text)
        ...         member = tarfile.TarInfo(f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz")
        ...         member.size = len(text)
        ...         archive.addfile(member, io.BytesIO(text))
        >>> for name, text in (("words", "Dogs\\nbark\\n"), ("verbs", "bark\\n"), ("roles", "B-A0\\nB-V\\n")):
        ...     with open(name, "w") as file:
        ...         _ = file.write(text)
        >>> data = paddle.text.Conll05st("conll.tar.gz", "words", "verbs", "roles", "no vectors")
        >>> words, *_, roles = data[0]
        >>> len(data), words.tolist(), roles.tolist()
        (1, [0, 1], [0, 2])
    Differs from Paddle: roles are numbered in the order of the file; there the numbers change
        from run to run.
    """

    predicate_dict: dict[str, int]
    word_dict: dict[str, int]

    def __init__(
        self,
        data_file: str | PathLike[str] | None = None,
        word_dict_file: str | PathLike[str] | None = None,
        verb_dict_file: str | PathLike[str] | None = None,
        target_dict_file: str | PathLike[str] | None = None,
        emb_file: str | PathLike[str] | None = None,
        download: bool = True,
    ) -> None:
        given = dict(
            zip(SOURCES, (data_file, word_dict_file, verb_dict_file, target_dict_file, emb_file), strict=True)
        )
        for name, path in given.items():
            setattr(self, name, located("conll05st", path, download, *SOURCES[name], name))
        self.word_dict, self.predicate_dict = (
            numbered_lines(self.word_dict_file),
            numbered_lines(self.verb_dict_file),
        )
        self.label_dict: dict[str, int] = numbered_roles(self.target_dict_file)
        self.sentences: list[Any] = []
        self.predicates: list[Any] = []
        self.labels: list[Any] = []
        for words, predicate, labels in propositions(self.data_file, _WORDS, _ROLES):
            self.sentences.append(words)
            self.predicates.append(predicate)
            self.labels.append(labels)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        sample = self.sentences[idx], self.predicates[idx], self.labels[idx]
        return tuple(map(np.array, fields(*sample, self.word_dict, self.predicate_dict, self.label_dict)))

    def __len__(self) -> int:
        return len(self.sentences)

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The dictionaries of words, verbs and roles: each maps a text to a number."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """The path of the file with word vectors."""
        return self.emb_file


def numbered_lines(path: str | PathLike[str]) -> dict[str, int]:
    """The lines of a file, with their numbers."""
    return {line: number for number, line in enumerate(_lines(Path(path).read_bytes()))}


def propositions(
    path: str | PathLike[str], words_name: str, roles_name: str
) -> Iterator[tuple[list[str], str, list[str]]]:
    """(words, verb, labels) of each verb of each sentence in two files of an archive."""
    for words, columns in _sentences(path, words_name, roles_name):
        if columns:
            # The first column has the verbs, each further one the roles for one of them.
            verbs = [verb for verb in columns[0] if verb != "-"]
        else:
            verbs = []
        for verb, column in zip(verbs, columns[1:], strict=False):
            yield words, verb, _spelled(column)


def fields(
    words: list[str],
    predicate: str,
    labels: list[str],
    word_dict: dict[str, int],
    predicate_dict: dict[str, int],
    label_dict: dict[str, int],
) -> tuple[Any, ...]:
    """The nine lists of a sample, as the class says."""
    verb = labels.index("B-V")
    length = len(words)
    # Two on each side: the verb's neighbours exist at the ends of a sentence too.
    padded = ["bos", "bos", *words, "eos", "eos"]
    near = [[word_dict.get(padded[verb + i], _RARE)] * length for i in range(5)]
    mark = [int(abs(i - verb) <= 2) for i in range(len(labels))]
    numbers = [word_dict.get(word, _RARE) for word in words]
    return (
        numbers,
        *near,
        [predicate_dict.get(predicate)] * length,
        mark,
        [label_dict.get(label) for label in labels],
    )


def _lines(content: bytes) -> list[str]:
    return [line.strip().decode() for line in content.splitlines()]


def numbered_roles(path: str | PathLike[str]) -> dict[str, int]:
    """Numbers of "B-" and "I-" of each role, and of "O"."""
    names = list(
        dict.fromkeys(line[2:] for line in _lines(Path(path).read_bytes()) if line.startswith(("B-", "I-")))
    )
    # By first appearance: the same numbers in every process.
    labels = [start + name for name in names for start in ("B-", "I-")]
    return {label: number for number, label in enumerate([*labels, "O"])}


def _sentences(path: str | PathLike[str], *names: str) -> Iterator[Any]:
    """(words, columns of the file with roles) of each sentence; an empty line ends one."""
    with tarfile.open(path) as archive:
        words, roles = (_lines(gzip.decompress(archive.extractfile(name).read())) for name in names)
    rows = list(zip(words, map(str.split, roles), strict=False))
    ends = [i for i, (_, fields) in enumerate(rows) if not fields]
    for before, end in pairwise([-1, *ends]):
        block = rows[before + 1 : end]
        yield (
            [word for word, _ in block],
            [list(column) for column in zip_longest(*(fields for _, fields in block))],
        )


def _spelled(column: list[str]) -> list[str]:
    """A label for each word, from brackets: "(A0*", "*", "*)" is one role over three words, "(V*)"
    one over one word."""
    labels = []
    role = None
    inside = False
    for field in column:
        if "(" in field:
            role = field[1 : field.index("*")]
            # `(A0*)` opens and closes the role at one word.
            inside = ")" not in field
            labels.append("B-" + role)
        elif field in ("*", "*)"):
            labels.append("I-" + role if role is not None and (inside or field == "*)") else "O")
            inside = inside and field == "*"
        else:
            raise RuntimeError(
                f"Conll05st: data_file: got {field!r} among the roles; allowed are '*', '*)', "
                "'(ROLE*' and '(ROLE*)'"
            )
    return labels
