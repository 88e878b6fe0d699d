"""English sentences and their French translations (Bojar et al., WMT 2014)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.text.datasets.source import located, members
from paddle_jax.text.datasets.translation import Pairs, chosen, columns, positive, turned

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

__all__ = []

URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz"
MD5 = "0791583d57d5beb693b9414c5b36798c"
# Pairs with a longer sentence are left out, as in Paddle.
LONGEST = 80


def dictionaries(path: str | PathLike[str], size: int) -> tuple[dict[str, int], ...]:
    """Numbers of the words of the source and of the target: the first `size` lines of two
    files in the archive."""
    files = list(members(path, lambda name: name.endswith(("src.dict", "trg.dict"))))
    return tuple(
        _words(path, [content for name, content in files if name.endswith(end)], end, size)
        for end in ("src.dict", "trg.dict")
    )


def _words(path: str | PathLike[str], contents: list[bytes], end: str, size: int) -> dict[str, int]:
    if len(contents) != 1:
        raise AssertionError(
            f"WMT14: data_file: got {len(contents)} files {end} in {path}; there must be one"
        )
    return {
        word.strip().decode(): number for number, word in enumerate(contents[0].splitlines()[: max(size, 0)])
    }


def pairs_in(path: str | PathLike[str], end: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words of both sentences of each line of the files whose names end so."""
    for _, content in members(path, lambda name: name.endswith(end)):
        yield from columns(content)


class WMT14(Pairs):
    """English sentences and their French translations, of at most 80 words, as numbers.

    A sample has three arrays: the source between "<s>" and "<e>", the target after "<s>", and the
    target before "<e>".

    Args:
        data_file: path of `wmt14.tgz`. Default None: download it.
        mode: "train", "test" or "gen". Default "train".
        dict_size: int, how many lines of each dictionary to take. Words beyond it have number 2, "<unk>".
        download: download the file if `data_file` is None. Default True.
    Raises:
        AssertionError: the mode is unknown, dict_size is not positive, the archive has not one dictionary of
            each language, or there is no file.
        FileNotFoundError: there is no such file.
    Example:
        >>> import io, tarfile
        >>> with tarfile.open("wmt14.tgz", "w:gz") as archive:
        ...     for name, text in (("wmt14/src.dict", b"<s>\\n<e>\\n<unk>\\na\\ncat\\n"),
        ...                        ("wmt14/trg.dict", b"<s>\\n<e>\\n<unk>\\nun\\nchat\\n"),
        ...                        ("wmt14/train/train", b"a cat\\tun chat\\n")):
        ...         member = tarfile.TarInfo(name)
        ...         member.size = len(text)
        ...         archive.addfile(member, io.BytesIO(text))
        >>> pairs = paddle.text.WMT14("wmt14.tgz", dict_size=5)
        >>> [field.tolist() for field in pairs[0]]
        [[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]]
    """

    src_dict: dict[str, int]
    trg_dict: dict[str, int]

    def __init__(
        self,
        data_file: str | PathLike[str] | None = None,
        mode: str = "train",
        dict_size: int = -1,
        download: bool = True,
    ) -> None:
        self.mode: str = chosen("WMT14", mode, ("train", "test", "gen"))
        self.data_file: str = located("wmt14", data_file, download, URL, MD5)
        positive("WMT14", dict_size=dict_size)
        self.dict_size = dict_size
        self.src_dict, self.trg_dict = dictionaries(self.data_file, dict_size)
        self._read(pairs_in(self.data_file, f"{self.mode}/{self.mode}"), LONGEST)

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The dictionaries of the source and of the target.

        Args:
            reverse: map numbers to words instead of words to numbers. Default False.
        Returns:
            two dicts.
        """
        if reverse:
            return (turned(self.src_dict), turned(self.trg_dict))
        return (self.src_dict, self.trg_dict)
