"""Files of data sets: kept in a folder of the user's, downloaded when they are not there."""

from __future__ import annotations

import glob
import hashlib
import io
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from paddle_jax.framework.addresses import local_copy
from paddle_jax.framework.pickle_names import Budget
from paddle_jax.framework.pickle_reader import read
from paddle_jax.utils.download import _download_to, _md5check

__all__ = []

DATA_HOME = str(Path("~/.cache/paddle/dataset").expanduser())


def must_mkdirs(path: str) -> None:
    """Makes a folder, and those around it; it may be there already."""
    Path(path).mkdir(parents=True, exist_ok=True)


def md5file(fname: Any) -> str:
    """The MD5 of a file, as hexadecimal digits."""
    with Path(fname).open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def download(url: str, module_name: str, md5sum: str | None, save_name: str | None = None) -> str:
    """The local path of a data file; downloads it when it is not there yet.

    The file is looked for, and kept, in `DATA_HOME/module_name` (`~/.cache/paddle/dataset`, the folder the
    real Paddle uses) under the last part of the address. To work without a network, put the file there.

    Args:
        url: str, an http or https address.
        module_name: str, the folder.
        md5sum: str, the MD5 the file must have, or None to take any.
        save_name: str, another name for the file. Default None.
    Returns:
        str, the path of the file.
    Raises:
        RuntimeError: the file is neither there nor to be downloaded.
    """
    path = Path(DATA_HOME) / module_name / (save_name or url.split("/")[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    if not _md5check(path, md5sum):
        _download_to(url, path, md5sum)
    return str(path)


fetch = download


def split(
    reader: Callable[..., Any], line_count: int, suffix: str = "%05d.pickle", dumper: Any = pickle.dump
) -> None:
    """Writes the samples of a reader into files of `line_count` samples; the first takes one
    more, as in Paddle.

    Args:
        reader: a function without arguments that returns an iterator.
        line_count: int, how many samples a file takes.
        suffix: str, the path of a file, with a place for its number. Default "%05d.pickle".
        dumper: called with a list of samples and a text file. Default: pickle, for which the file is binary.
    Raises:
        TypeError: dumper cannot be called.
    Differs from Paddle: the default dumper works; there it writes bytes into a text file, which
        raises a TypeError.
    Example:
        >>> import json
        >>> from paddle_jax.dataset import common
        >>> common.split(lambda: iter(range(6)), 2, "part-%d.json", json.dump)
        >>> reader = common.cluster_files_reader("part-*.json", trainer_count=2, trainer_id=0,
        ...                                      loader=json.load)
        >>> list(reader())
        [0, 1, 2, 5]
    """
    if not callable(dumper):
        raise TypeError(f"split: dumper: got {dumper!r}; give a function of a list and a file")

    def write() -> None:
        with Path(suffix % number).open("wb" if dumper is pickle.dump else "w") as file:
            dumper(samples, file)

    samples = []
    number = 0
    for i, sample in enumerate(reader()):
        samples.append(sample)
        if i >= line_count and i % line_count == 0:
            write()
            samples = []
            number = number + 1
    if samples:
        write()


def _unpickled(file: Any) -> list[Any]:
    """What `split` wrote by default: numbers, texts, containers and arrays, read without running
    code from the file."""
    content = file.read()
    return read(io.BytesIO(content), Budget(len(content)))


def cluster_files_reader(
    files_pattern: str, trainer_count: int, trainer_id: int, loader: Any = _unpickled
) -> Callable[..., Any]:
    """A reader of the samples in those files that belong to one of several processes, as `split` writes them.

    Args:
        files_pattern: str, a pattern of paths; the files are taken by turns in the order of their names.
        trainer_count: int, how many processes there are.
        trainer_id: int, the number of this one.
        loader: called with a text file (`pickle.load` with a binary one), gives a list of samples. Default:
            reads pickles of numbers, texts, containers and arrays, and runs no code from them.
    Returns:
        A function without arguments that returns an iterator over samples.
    Raises:
        TypeError: loader cannot be called (when the reader is iterated).
    Differs from Paddle: the default loader works; there it reads bytes from a text file, which fails.
    """

    def reader() -> Iterator[Any]:
        if not callable(loader):
            raise TypeError(f"cluster_files_reader: loader: got {loader!r}; give a function of a file")
        files = sorted(glob.glob(files_pattern))  # noqa: PTH207 - a Path's own pattern must not be absolute
        # By turns, so that each process gets about as many files.
        for path in (path for number, path in enumerate(files) if number % trainer_count == trainer_id):
            with Path(path).open("rb" if loader in (_unpickled, pickle.load) else "r") as file:
                samples = loader(file)
            yield from samples

    return reader


def _check_exists_and_download(
    path: str | None, url: str, md5: str | None, module_name: str, download: bool = True
) -> str:
    """A file that the user has, or that is downloaded."""
    path = local_copy("dataset", path)
    if path and Path(path).exists():
        return path
    if not download:
        raise ValueError(
            f"dataset: {path} is not there and download is False; give the path of a file that is"
        )
    return fetch(url, module_name, md5)
