"""Readers of English sentences and their German translations, as Paddle 1 gave them; `paddle.text.WMT16` is
the class for new programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paddle_jax.dataset import common
from paddle_jax.text.datasets.translation import END as END_MARK  # noqa: F401
from paddle_jax.text.datasets.translation import START as START_MARK  # noqa: F401
from paddle_jax.text.datasets.translation import UNKNOWN as UNK_MARK  # noqa: F401
from paddle_jax.text.datasets.translation import numbered, turned
from paddle_jax.text.datasets.wmt16 import MD5 as DATA_MD5
from paddle_jax.text.datasets.wmt16 import TOTAL, counted, pairs_in
from paddle_jax.text.datasets.wmt16 import URL as DATA_URL

__all__ = []

TOTAL_EN_WORDS = TOTAL["en"]
TOTAL_DE_WORDS = TOTAL["de"]


def reader_creator(
    tar_file: str, file_name: str, src_dict_size: Sequence[int], trg_dict_size: Sequence[int], src_lang: str
) -> Callable[..., Any]:
    """A reader of pairs of sentences.

    Args:
        tar_file: str, the archive.
        file_name: str, the name of the file in it.
        src_dict_size, trg_dict_size: ints, how many words to number: "<s>", "<e>", "<unk>", and the most
            frequent ones of `wmt16/train`.
        src_lang: "en" or "de", the language of the source.
    Returns:
        A function without arguments; its iterator gives three lists of ints: the source between "<s>" and
        "<e>", the target after "<s>", and the target before "<e>".
    Raises:
        KeyError: there is no such file (when the reader is iterated).
    Differs from Paddle: the words are counted each time, and no dictionary is kept in a file.
    """

    def reader() -> Iterator[Any]:
        lines = list(pairs_in(tar_file, "wmt16/train", src_lang))
        words = [
            counted((pair[i] for pair in lines), size)
            for i, size in enumerate((src_dict_size, trg_dict_size))
        ]
        yield from numbered(
            lines if file_name == "wmt16/train" else pairs_in(tar_file, file_name, src_lang), *words
        )

    return reader


def train(src_dict_size: Any, trg_dict_size: Any, src_lang: str = "en") -> Callable[..., Any]:
    """The reader of the 29 000 pairs for training, with dictionaries of at most these sizes; `src_lang` is
    "en" or "de", else a ValueError."""
    return _reader("wmt16/train", src_dict_size, trg_dict_size, src_lang)


def test(src_dict_size: Any, trg_dict_size: Any, src_lang: str = "en") -> Callable[..., Any]:
    """The reader of the 1000 pairs for testing, with dictionaries of at most these sizes; `src_lang` is "en"
    or "de", else a ValueError."""
    return _reader("wmt16/test", src_dict_size, trg_dict_size, src_lang)


def validation(src_dict_size: Any, trg_dict_size: Any, src_lang: str = "en") -> Callable[..., Any]:
    """The reader of the 1014 pairs for validation, with dictionaries of at most these sizes; `src_lang` is
    "en" or "de", else a ValueError."""
    return _reader("wmt16/val", src_dict_size, trg_dict_size, src_lang)


def get_dict(lang: str, dict_size: int, reverse: bool = False) -> dict[int, str] | dict[str, int]:
    """The dictionary of a language, of at most that size.

    Args:
        lang: "en" or "de".
        dict_size: int, how many words to number.
        reverse: map numbers to words instead of words to numbers. Default False.
    Returns:
        a dict.
    Differs from Paddle: it need not have been built by a reader before.
    """
    lang = "en" if lang == "en" else "de"
    words = counted(
        (words for words, _ in pairs_in(_archive(), "wmt16/train", lang)), min(dict_size, TOTAL[lang])
    )
    if reverse:
        return turned(words)
    return words


def _reader(name: str, src_dict_size: int, trg_dict_size: int, lang: str) -> Callable[..., Any]:
    if lang not in TOTAL:
        raise ValueError(f"wmt16: src_lang: got {lang!r}; allowed are 'en' and 'de'")
    other = "de" if lang == "en" else "en"
    return reader_creator(
        _archive(), name, min(src_dict_size, TOTAL[lang]), min(trg_dict_size, TOTAL[other]), lang
    )


def _archive() -> str:
    return common.download(DATA_URL, "wmt16", DATA_MD5, "wmt16.tar.gz")
