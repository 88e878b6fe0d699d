"""Files from the network, kept in a folder of the user's."""

from __future__ import annotations

import hashlib
import logging
import tarfile
import time
import urllib.parse
import zipfile
from collections.abc import Sequence
from logging import Logger
from pathlib import Path
from typing import Any

from paddle_jax.framework.atomic import replace_file
from paddle_jax.framework.progress import ByteProgress

__all__ = ["get_weights_path_from_url"]

logger: Logger = logging.getLogger(__name__)
WEIGHTS_HOME = str(Path("~/.cache/paddle/hapi/weights").expanduser())
DOWNLOAD_RETRY_LIMIT = 3
# bytes, seconds
_BLOCK = 1 << 20
_TIMEOUT = 30
_ARCHIVES = (".tar", ".zip", ".gz", ".tgz", ".bz2", ".xz")


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The local path of a weight file; downloads it when it is not there yet.

    The file is looked for, and kept, in `WEIGHTS_HOME` (`~/.cache/paddle/hapi/weights`, the folder the real
    Paddle uses) under the last part of the address. To work without a network, put the file there.

    Args:
        url: str, an http or https address.
        md5sum: str, the MD5 the file must have, or None to take any. A file with another sum is downloaded
            again and replaced only when the new one has the right sum.
    Returns:
        str, the path.
    Raises:
        AssertionError: `url` is not an address.
        ValueError: the address is that of an archive. Differs from Paddle: there archives are unpacked.
        RuntimeError: three attempts to download it failed, or gave a file with another sum.
    Example:
        >>> paddle.utils.download.get_weights_path_from_url("x")
        Traceback (most recent call last):
        AssertionError: get_weights_path_from_url: url: got 'x'; it must start with http:// or https://
    """
    _check_url("get_weights_path_from_url", url)
    if Path(urllib.parse.urlparse(url).path).name.endswith(_ARCHIVES):
        raise ValueError(
            f"get_weights_path_from_url: url: got {url!r}; it must end with the name of a file "
            "that is no archive"
        )
    return get_path_from_url(url, WEIGHTS_HOME, md5sum, decompress=False)


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """The local path of a file, or of what an archive held; downloads it when it is not there yet.

    Args:
        url: str, an http or https address.
        root_dir: str, the folder to keep it in, under the last part of the address.
        md5sum: str, the MD5 the file must have, or None to take any.
        check_exist: take a file that is there (and has the sum); False downloads it again.
        decompress: unpack tar and zip archives beside the file.
        method: accepted; it is always downloaded by Python itself.
    Returns:
        str, the path of the file; of an unpacked archive that of its only top folder or file, else of a
        folder named like the archive.
    Raises:
        AssertionError: `url` is not an address.
        ValueError: the address names no file, or an archive would write outside its folder.
        RuntimeError: three attempts to download it failed, or gave a file with another sum.
    Example:
        >>> try:
        ...     paddle.utils.download.get_path_from_url("data.tar", "/tmp")
        ... except AssertionError:
        ...     print("no address")
        no address
    """
    _check_url("get_path_from_url", url)
    path = Path(_map_path(url, root_dir))
    if not (check_exist and _md5check(path, md5sum)):
        _download_to(url, path, md5sum)
    # A file that is no archive needs no unpacking.
    if decompress and (tarfile.is_tarfile(path) or zipfile.is_zipfile(path)):
        return _decompress(path)
    return str(path)


def is_url(path: str) -> bool:
    """Whether a text begins like an http or https address.

    Example:
        >>> paddle.utils.download.is_url("https://example.org/x"), paddle.utils.download.is_url("x")
        (True, False)
    """
    return path.startswith(("http://", "https://"))


def _check_url(where: str, url: str) -> None:
    if not is_url(str(url)):
        raise AssertionError(f"{where}: url: got {url!r}; it must start with http:// or https://")
    if not Path(urllib.parse.urlparse(url).path).name:
        raise ValueError(
            f"{where}: url: got {url!r}; it must end with the name of a file, for weights of "
            "one that is no archive"
        )


def _map_path(url: str, root_dir: str) -> str:
    """Where the file of an address is kept."""
    return str(Path(root_dir) / Path(urllib.parse.urlparse(url).path).name)


def _md5check(fullname: Any, md5sum: str | None = None) -> bool:
    """Whether a file is there and has the sum."""
    return Path(fullname).is_file() and md5sum in (None, _md5(Path(fullname)))


def _get_unique_endpoints(trainer_endpoints: Sequence[str]) -> set[Any]:
    """The first "host:port" of each host, of those given."""
    first = {}
    for endpoint in trainer_endpoints:
        first.setdefault(endpoint.split(":")[0], endpoint)
    return set(first.values())


def _decompress(fname: Any) -> str:
    """Unpacks a tar or zip archive beside it; the path of what it held. Members that lead outside the
    folder are refused."""
    path = Path(fname)
    archive = None
    try:
        if tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                target, found = _target(path, archive.getnames())
                archive.extractall(target, filter="data")
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                target, found = _target(path, archive.namelist())
                archive.extractall(target)  # it drops what leads outside
        else:
            raise TypeError(f"_decompress: fname: {fname} is neither a tar nor a zip archive")
    except tarfile.FilterError as error:
        raise ValueError(
            f"_decompress: fname: {fname} holds a member that would be written outside its folder: {error}"
        ) from error
    return str(found)


def _target(path: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """(folder to unpack into, path of what will be there): beside the archive if it has one top member, else
    into a folder named like it."""
    # Archives from Windows have backslashes.
    tops = {name.replace("\\", "/").removeprefix("./").split("/")[0] for name in names} - {"", "."}
    if len(tops) == 1:
        return path.parent, path.parent / tops.pop()
    folder = path.parent / path.name.split(".")[0]
    return folder, folder


def _md5(path: Any) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _download_to(url: str, path: Any, md5sum: str | None) -> None:
    problem = None
    for attempt in range(DOWNLOAD_RETRY_LIMIT):
        # At once, then after one second, then after two.
        time.sleep(attempt)
        try:
            return _fetch(url, path, md5sum)
        except (OSError, ValueError) as error:
            problem = error
            if hasattr(error, "close"):  # an HTTP error is an open answer
                error.close()
    raise RuntimeError(
        f"get_path_from_url: url: {url} could not be downloaded in {DOWNLOAD_RETRY_LIMIT} "
        f"attempts ({problem}); put the file at {path} yourself"
        + (f", its MD5 must be {md5sum}" if md5sum else "")
    ) from problem


def _fetch(url: str, path: Any, md5sum: str | None) -> None:
    from urllib.request import urlopen  # it loads ssl, which nothing else needs

    digest = hashlib.md5(usedforsecurity=False)
    # It gets its name only when it is whole and has the right sum.
    with urlopen(url, timeout=_TIMEOUT) as answer, replace_file(path) as stream:
        length = answer.headers.get("Content-Length")
        expected = None if length is None else int(length)
        size = 0
        with ByteProgress(path.name, expected) as progress:
            while block := answer.read(_BLOCK):
                digest.update(block)
                stream.write(block)
                size += len(block)
                progress.advance(len(block))
        # A connection that breaks off looks like the end of the file.
        if expected is not None and size != expected:
            raise ValueError(f"got {size} of {expected} bytes")
        if md5sum not in (None, digest.hexdigest()):
            raise ValueError(f"its MD5 is {digest.hexdigest()}, not {md5sum}")
