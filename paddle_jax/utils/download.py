"""Weight files from the network, kept in a folder of the user's."""

import hashlib
import time
import urllib.parse
from pathlib import Path

from paddle_jax.framework.atomic import replace_file

__all__ = ["get_weights_path_from_url"]

WEIGHTS_HOME = str(Path("~/.cache/paddle/hapi/weights").expanduser())
_TRIES, _BLOCK, _TIMEOUT = 3, 1 << 20, 30  # attempts, bytes, seconds
_ARCHIVES = (".tar", ".zip", ".gz", ".tgz", ".bz2", ".xz")


def get_weights_path_from_url(url, md5sum=None):
    """The local path of a weight file; downloads it when it is not there yet.

    The file is looked for, and kept, in `WEIGHTS_HOME` (`~/.cache/paddle/hapi/weights`, the folder the real Paddle uses) under the last part
    of the address. To work without a network, put the file there.

    Args:
        url: str, an http or https address.
        md5sum: str, the MD5 the file must have, or None to take any. A file with another sum is downloaded again and replaced only when the
            new one has the right sum.
    Returns:
        str, the path.
    Raises:
        AssertionError: `url` is not an address.
        ValueError: the address is that of an archive. Differs from Paddle: there archives are unpacked.
        RuntimeError: three attempts to download it failed, or gave a file with another sum.
    Example:
        >>> paddle.utils.download.get_weights_path_from_url("weights.pdparams")
        Traceback (most recent call last):
        AssertionError: get_weights_path_from_url: url: got 'weights.pdparams'; it must start with http:// or https://
    """
    if not str(url).startswith(("http://", "https://")):
        raise AssertionError(f"get_weights_path_from_url: url: got {url!r}; it must start with http:// or https://")
    name = Path(urllib.parse.urlparse(url).path).name
    if not name or name.endswith(_ARCHIVES):
        raise ValueError(f"get_weights_path_from_url: url: got {url!r}; it must end with the name of a file that is no archive")
    path = Path(WEIGHTS_HOME) / name
    if not (path.is_file() and md5sum in (None, _md5(path))):
        _download(url, path, md5sum)
    return str(path)


def _md5(path):
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _download(url, path, md5sum):
    problem = None
    for attempt in range(_TRIES):
        time.sleep(attempt)
        try:
            return _fetch(url, path, md5sum)
        except (OSError, ValueError) as error:
            problem = error
            if hasattr(error, "close"):  # an HTTP error is an open answer
                error.close()
    raise RuntimeError(f"get_weights_path_from_url: url: {url} could not be downloaded in {_TRIES} attempts ({problem}); "
                       f"put the file at {path} yourself" + (f", its MD5 must be {md5sum}" if md5sum else "")) from problem


def _fetch(url, path, md5sum):
    from urllib.request import urlopen  # it loads ssl, which nothing else needs

    digest = hashlib.md5(usedforsecurity=False)
    with urlopen(url, timeout=_TIMEOUT) as answer, replace_file(path) as stream:
        expected, size = answer.headers.get("Content-Length"), 0
        while block := answer.read(_BLOCK):
            digest.update(block)
            stream.write(block)
            size += len(block)
        if expected is not None and size != int(expected):
            raise ValueError(f"got {size} of {expected} bytes")
        if md5sum not in (None, digest.hexdigest()):
            raise ValueError(f"its MD5 is {digest.hexdigest()}, not {md5sum}")
