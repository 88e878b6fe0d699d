"""What the data sets of sentences in two languages share."""

import numpy as np

from paddle_jax.io import Dataset

START = "<s>"
END = "<e>"
UNKNOWN = "<unk>"
_RARE = 2  # the number of "<unk>"


class Pairs(Dataset):
    """Pairs of sentences as numbers of words: the source with both marks, the target after "<s>", and the
    target before "<e>"."""

    def _read(self, pairs, longest=None):
        """Takes (words of the source, words of the target), those of at most `longest` numbers."""
        self.src_ids = []
        self.trg_ids = []
        self.trg_ids_next = []
        for source, target, following in numbered(pairs, self.src_dict, self.trg_dict, longest):
            self.src_ids.append(source)
            self.trg_ids.append(target)
            self.trg_ids_next.append(following)

    def __getitem__(self, idx):
        return np.array(self.src_ids[idx]), np.array(self.trg_ids[idx]), np.array(self.trg_ids_next[idx])

    def __len__(self):
        return len(self.src_ids)


def numbered(pairs, src_dict, trg_dict, longest=None):
    """The three lists of numbers of each pair of sentences; those with more than `longest`
    numbers are left out."""
    start, end = (trg_dict[mark] for mark in (START, END))
    for words, others in pairs:
        source = _numbers(src_dict, [START, *words, END])
        target = _numbers(trg_dict, others)
        if longest is None or max(len(source), len(target)) <= longest:
            yield source, [start, *target], [*target, end]


def _numbers(words, sentence):
    return [words.get(word, _RARE) for word in sentence]


def columns(content):
    """The words of both sentences of each line; lines without exactly one tab are left out."""
    for line in content.splitlines():
        fields = line.decode().strip().split("\t")
        if len(fields) == 2:
            yield fields[0].split(), fields[1].split()


def chosen(owner, mode, allowed):
    """The mode in lower case."""
    if str(mode).lower() not in allowed:
        raise AssertionError(f"{owner}: mode: got {mode!r}; allowed are {', '.join(map(repr, allowed))}")
    return mode.lower()


def positive(owner, **sizes):
    """Refuses sizes of dictionaries that are not positive."""
    for name, size in sizes.items():
        if size <= 0:
            raise AssertionError(f"{owner}: {name}: got {size}; give a positive number of words")


def turned(words):
    """Numbers to words."""
    return {number: word for word, number in words.items()}
