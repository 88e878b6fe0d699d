"""Files of data sets: kept in a folder of the user's, downloaded when they are not there."""

import hashlib
from pathlib import Path

from paddle_jax.utils.download import _download_to, _md5check

__all__ = []

DATA_HOME = str(Path("~/.cache/paddle/dataset").expanduser())


def must_mkdirs(path):
    """Makes a folder, and those around it; it may be there already."""
    Path(path).mkdir(parents=True, exist_ok=True)


def md5file(fname):
    """The MD5 of a file, as hexadecimal digits."""
    with Path(fname).open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def download(url, module_name, md5sum, save_name=None):
    """The local path of a data file; downloads it when it is not there yet.

    The file is looked for, and kept, in `DATA_HOME/module_name` (`~/.cache/paddle/dataset`, the folder the real Paddle uses) under the last part of
    the address. To work without a network, put the file there.

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


def _check_exists_and_download(path, url, md5, module_name, download=True):
    """A file that the user has, or that is downloaded."""
    if path and Path(path).exists():
        return path
    if not download:
        raise ValueError(f"dataset: {path} is not there and download is False; give the path of a file that is")
    return fetch(url, module_name, md5)
