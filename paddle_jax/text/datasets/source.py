"""Where the file of a data set is, and how files in an archive are read."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.framework.addresses import local_copy
from paddle_jax.utils.download import get_path_from_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

HOME = "~/.cache/paddle/dataset"  # the folder the real Paddle uses


def located(
    owner: str,
    data_file: str | PathLike[str] | None,
    download: bool,
    url: str,
    md5: str,
    argument: str = "data_file",
) -> str:
    """The path of the file: the given one, or a downloaded one."""
    if data_file is not None:
        return str(local_copy(owner, data_file))
    if not download:
        raise AssertionError(
            f"{owner}: {argument}: got None, and download is False; give the path of the file"
        )
    folder = Path(HOME).expanduser() / owner.lower()
    folder.mkdir(parents=True, exist_ok=True)
    return get_path_from_url(url, str(folder), md5, decompress=False)


def check_mode(owner: str, mode: str) -> str:
    """Lower case of "train" or "test"."""
    if str(mode).lower() not in ("train", "test"):
        raise AssertionError(f"{owner}: mode: got {mode!r}; it must be 'train' or 'test'")
    return mode.lower()


def ranked(counts: dict[Any, int], more_than: int) -> dict[Any, int]:
    """Numbers of the words that occur more often than that, the most frequent first, equally frequent ones
    by their letters."""
    kept = [(word, count) for word, count in counts.items() if count > more_than]
    # Ties by bytes, the same on every machine.
    kept.sort(key=lambda pair: (-pair[1], pair[0] if isinstance(pair[0], bytes) else pair[0].encode()))
    numbers = {word: number for number, (word, _) in enumerate(kept)}
    numbers["<unk>"] = len(numbers)
    return numbers


def members(path: str | PathLike[str], wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of the files in a tar archive whose names `wanted` accepts."""
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and wanted(member.name):
                yield member.name, archive.extractfile(member).read()
