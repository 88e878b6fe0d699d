"""Readers of English sentences and their French translations, as Paddle 1 gave them; `paddle.text.WMT14` is
the class for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax.dataset import common
from paddle_jax.text.datasets.translation import END, START, numbered, turned  # noqa: F401
from paddle_jax.text.datasets.translation import UNKNOWN as UNK  # noqa: F401
from paddle_jax.text.datasets.wmt14 import LONGEST, dictionaries, pairs_in
from paddle_jax.text.datasets.wmt14 import MD5 as MD5_TRAIN
from paddle_jax.text.datasets.wmt14 import URL as URL_TRAIN

__all__ = []

URL_DEV_TEST = "http://www-lium.univ-lemans.fr/~schwenk/cslm_joint_paper/data/dev+test.tgz"
MD5_DEV_TEST = "7d7897317ddd8ba0ae5c5fa7248d3ff5"
URL_MODEL = "http://paddlemodels.bj.bcebos.com/wmt%2Fwmt14.tgz"
MD5_MODEL = "0cb4a5366189b6acba876491c8724fa3"
UNK_IDX = 2


def reader_creator(tar_file: str, file_name: str, dict_size: int) -> Callable[..., Any]:
    """A reader of pairs of sentences of at most 80 words.

    Args:
        tar_file: str, the archive.
        file_name: str, how the names of the wanted files in it end.
        dict_size: int, how many lines of each dictionary to take. Words beyond it have number 2, "<unk>".
    Returns:
        A function without arguments; its iterator gives three lists of ints: the source between "<s>" and
        "<e>", the target after "<s>", and the target before "<e>".
    Raises:
        AssertionError: the archive has not one dictionary of each language (when the reader is iterated).
    """

    def reader() -> Iterator[Any]:
        yield from numbered(pairs_in(tar_file, file_name), *dictionaries(tar_file, dict_size), LONGEST)

    return reader


def train(dict_size: Any) -> Callable[..., Any]:
    """The reader of the pairs for training."""
    return reader_creator(_archive(), "train/train", dict_size)


def test(dict_size: Any) -> Callable[..., Any]:
    """The reader of the pairs for testing."""
    return reader_creator(_archive(), "test/test", dict_size)


def gen(dict_size: Any) -> Callable[..., Any]:
    """The reader of the pairs for generation."""
    return reader_creator(_archive(), "gen/gen", dict_size)


def get_dict(dict_size: Any, reverse: bool = True) -> tuple[dict[int, str], ...] | tuple[dict[str, int], ...]:
    """The dictionaries of the source and of the target: numbers to words, or words to numbers with
    `reverse=False`."""
    words = dictionaries(_archive(), dict_size)
    if reverse:
        return tuple(map(turned, words))
    return words


def fetch() -> None:
    """Downloads the archive, and a trained model, if they are not in `dataset.common.DATA_HOME`."""
    _archive()
    common.download(URL_MODEL, "wmt14", MD5_MODEL)


def _archive() -> str:
    return common.download(URL_TRAIN, "wmt14", MD5_TRAIN)
