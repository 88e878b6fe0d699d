"""What the data sets of sentences in two languages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.io import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

START = "<s>"
END = "<e>"
UNKNOWN = "<unk>"
_RARE = 2  # the number of "<unk>"


class Pairs(Dataset):
    """Pairs of sentences as numbers of words: the source with both marks, the target after "<s>", and the
    target before "<e>"."""

    def _read(self, pairs: Iterable[tuple[list[str], list[str]]], longest: int | None = None) -> None:
        """Takes (words of the source, words of the target), those of at most `longest` numbers."""
        self.src_ids: list[Any] = []
        self.trg_ids: list[Any] = []
        self.trg_ids_next: list[Any] = []
        for source, target, following in numbered(pairs, self.src_dict, self.trg_dict, longest):
            self.src_ids.append(source)
            self.trg_ids.append(target)
            self.trg_ids_next.append(following)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return np.array(self.src_ids[idx]), np.array(self.trg_ids[idx]), np.array(self.trg_ids_next[idx])

    def __len__(self) -> int:
        return len(self.src_ids)


def numbered(
    pairs: Iterable[tuple[list[str], list[str]]],
    src_dict: dict[str, int],
    trg_dict: dict[str, int],
    longest: int | None = None,
) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """The three lists of numbers of each pair of sentences; those with more than `longest`
    numbers are left out."""
    start, end = (trg_dict[mark] for mark in (START, END))
    for words, others in pairs:
        source = _numbers(src_dict, [START, *words, END])
        target = _numbers(trg_dict, others)
        if longest is None or max(len(source), len(target)) <= longest:
            # What a decoder reads, and what it should say next at each place.
            yield source, [start, *target], [*target, end]


def _numbers(words: dict[str, int], sentence: Iterable[str]) -> list[int]:
    return [words.get(word, _RARE) for word in sentence]


def columns(content: bytes) -> Iterator[tuple[list[str], list[str]]]:
    """The words of both sentences of each line; lines without exactly one tab are left out."""
    for line in content.splitlines():
        fields = line.decode().strip().split("\t")
        if len(fields) == 2:
            yield fields[0].split(), fields[1].split()


def chosen(owner: str, mode: str, allowed: Sequence[str]) -> str:
    """The mode in lower case."""
    if str(mode).lower() not in allowed:
        raise AssertionError(f"{owner}: mode: got {mode!r}; allowed are {', '.join(map(repr, allowed))}")
    return mode.lower()


def positive(owner: str, **sizes: int) -> None:
    """Refuses sizes of dictionaries that are not positive."""
    for name, size in sizes.items():
        if size <= 0:
            raise AssertionError(f"{owner}: {name}: got {size}; give a positive number of words")


def turned(words: dict[str, int]) -> dict[int, str]:
    """Numbers to words."""
    return {number: word for word, number in words.items()}
