"""Addresses such as `s3://bucket/file` in place of paths: fsspec reads and writes them.

Savers call `written`, through `replace_file` and `replace_files`. Loaders read one file by `read_bytes`, and
get the files of a model, an archive or a folder by `local_copy`.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# not the drive of a Windows path; `zip://a.txt::s3://bucket/a.zip` is a chain
_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(path: Any) -> bool:
    """Whether a path is an address, which a file system would take for folders."""
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def check_local(function: str, argument: str, path: Any) -> None:
    """Refuses an address where only a folder of this machine is written.

    Raises:
        ValueError: the path is an address.
    """
    if is_address(path):
        raise ValueError(
            f"{function}: {argument}: got {path!r}; it must be a local folder; copy what is in it with fsspec"
        )


def file_system(function: str, address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it.

    Raises:
        ValueError: no file system has this scheme.
        ImportError: fsspec, or the package of this file system, is not installed.
    """
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(
            f"{function}: path: got {address!r}, an address, which needs the package fsspec; "
            "install it with: pip install 'paddle_jax[remote]'"
        ) from error
    # Each part of a chain has a scheme, and only the last one an address.
    schemes = [part.split("://")[0] for part in address.split("::")]
    known = {*fsspec.available_protocols(), *fsspec.registry}
    for scheme in schemes:
        if scheme not in known:
            raise ValueError(
                # Most file systems of fsspec are packages of their own.
                f"{function}: path: got {address!r}; fsspec knows no file system {scheme}://; "
                "use file://, s3://, gs:// or another of fsspec.available_protocols()"
            )
    try:
        return fsspec.url_to_fs(address)
    except ImportError as error:
        raise ImportError(
            f"{function}: path: got {address!r}; its file system is not installed: {error}"
        ) from error


def read_bytes(function: str, address: str) -> bytes:
    """The content of a file.

    Raises:
        ValueError: there is no such file.
    """
    files, path = file_system(function, address)
    try:
        return files.cat_file(path)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise ValueError(
            f"{function}: path: {address!r} is no file; give the full address of a file, "
            "such as 's3://bucket/model.pdparams'"
        ) from error


@contextlib.contextmanager
def written(address: str) -> Iterator[io.BytesIO]:
    """A stream whose content becomes the file of an address when the block ends without an error."""
    files, path = file_system("save", address)
    # In memory, as object stores take a file as a whole.
    whole = io.BytesIO()
    # After an error in the block nothing has been written.
    yield whole
    try:
        files.pipe_file(path, whole.getvalue())
    except FileNotFoundError:  # a file system with folders
        # Object stores have no folders and need none.
        files.makedirs(files._parent(path), exist_ok=True)
        files.pipe_file(path, whole.getvalue())


def remove(path: str) -> None:
    """Deletes a file or what an address names, if it is there."""
    if not is_address(path):
        Path(path).unlink(missing_ok=True)
        return
    files, inner = file_system("save", path)
    with contextlib.suppress(FileNotFoundError):
        files.rm_file(inner)


def paddle_home() -> Path:
    """The folder of what is downloaded and kept."""
    return Path(os.environ.get("PADDLE_HOME", "~/.cache/paddle")).expanduser()


def local_copy(function: str, path: Any, prefix: bool = False) -> Any:
    """The path of a local copy of what an address names; other paths are given back.

    The copy stays in `~/.cache/paddle/addresses` (`PADDLE_HOME` changes the first part). It is made again
    when a size, time or checksum of the files has changed.

    Args:
        function: str, the caller, for messages.
        path: any path; only an address is copied.
        prefix: bool, the address is the prefix of a model's files. Default False: of a file or folder.
    Raises:
        ValueError: there is nothing at the address.
    """
    if not is_address(path):
        return path
    files, inner = file_system(function, path)
    if prefix:
        found = files.glob(f"{glob.escape(inner)}.*", detail=True)
    else:
        found = files.find(inner, detail=True)
    if not found:
        raise ValueError(f"{function}: path: there is no file at {path!r}; give the full address")
    home = paddle_home() / "addresses"
    # The name says which version it is: another size or time gives another folder.
    folder = home / hashlib.sha256(repr((path, sorted(map(str, found.items())))).encode()).hexdigest()[:24]
    name = inner.rstrip("/").rsplit("/", 1)[-1]
    # Made by an earlier call.
    if not folder.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        _fetch(files, inner.rstrip("/"), list(found), folder)
    return str(folder / name)


def _fetch(files: Any, inner: str, names: list[str], folder: Path) -> None:
    """Copies files into a new folder, below the last part of their address."""
    start = len(inner.rpartition("/")[0])
    # Renamed when it is complete, so that no other process takes half of a model.
    fresh = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        for name in names:
            target = (fresh / name[start:].lstrip("/")).resolve()
            # A server might name a file `../../x`.
            if not target.is_relative_to(fresh.resolve()):
                raise ValueError(f"path: {name!r} would be written outside of the folder of its copy")
            target.parent.mkdir(parents=True, exist_ok=True)
            files.get_file(name, str(target))
        try:
            fresh.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
