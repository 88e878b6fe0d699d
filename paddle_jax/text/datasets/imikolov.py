"""The Penn Treebank as Mikolov prepared it (2010)."""

import collections

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.text.datasets.source import check_mode, located, members, ranked

__all__ = []

URL, MD5 = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz", "30177ea32e27c525793142b6bf2c8e2d"
_FILE = "./simple-examples/data/ptb.{}.txt"


class Imikolov(Dataset):
    """Sentences as numbers of words: pieces of a fixed length, or pairs of a sentence and the same one word later.

    `word_idx` maps words, as bytes, to numbers, besides "<s>" and "<e>" for the ends of sentences and "<unk>" for rare words.

    Args:
        data_file: path of `simple-examples.tgz`. Default None: download it.
        data_type: "NGRAM" or "SEQ". Default "NGRAM".
        window_size: int, length of the pieces; for "SEQ" the largest number of words with "<s>", if positive. Default -1.
        mode: "train" or "test". Default "train".
        min_word_freq: int, words that occur at most so often are rare. Default 50.
        download: download the file if `data_file` is None. Default True.
    Raises:
        AssertionError: the mode or the data type is unknown, "NGRAM" has no window size, or there is no file.
        FileNotFoundError: there is no such file.
    """

    def __init__(self, data_file=None, data_type="NGRAM", window_size=-1, mode="train", min_word_freq=50, download=True):
        if data_type.upper() not in ("NGRAM", "SEQ"):
            raise AssertionError(f"Imikolov: data_type: got {data_type!r}; it must be 'NGRAM' or 'SEQ'")
        self.data_type, self.window_size, self.min_word_freq = data_type.upper(), window_size, min_word_freq
        self.mode = check_mode("Imikolov", mode)
        self.data_file = located("imikolov", data_file, download, URL, MD5)
        names = {part: _FILE.format(part) for part in ("train", "valid", "test")}
        lines = {name: content.splitlines() for name, content in members(self.data_file, set(names.values()).__contains__)}
        if self.data_type == "NGRAM" and window_size < 0:
            raise AssertionError(f"Imikolov: window_size: got {window_size}; it must be positive for 'NGRAM'")
        self.word_idx = ranked(self.word_count(lines[names["valid"]], self.word_count(lines[names["train"]])), min_word_freq)
        self.data = [row for line in lines[names[self.mode]] for row in self._rows(line)]

    def word_count(self, f, word_freq=None):
        """Counts the words of lines of bytes, and their ends; adds to `word_freq` if it is given."""
        counts = collections.defaultdict(int) if word_freq is None else word_freq
        for line in f:
            for word in (*line.strip().split(), "<s>", "<e>"):
                if word != b"<unk>":
                    counts[word] += 1
        return counts

    def _rows(self, line):
        rare = self.word_idx["<unk>"]
        start, end = self.word_idx.get("<s>", rare), self.word_idx.get("<e>", rare)
        numbers = [self.word_idx.get(word, rare) for word in line.strip().split()]
        if self.data_type == "SEQ":
            pair = ([start, *numbers], [*numbers, end])
            return [pair] if self.window_size <= 0 or len(pair[0]) <= self.window_size else []
        numbers = [start, *numbers, end]
        return [tuple(numbers[i : i + self.window_size]) for i in range(len(numbers) - self.window_size + 1)]

    def __getitem__(self, idx):
        return tuple(np.array(field) for field in self.data[idx])

    def __len__(self):
        return len(self.data)
