"""Files that are either written whole or not touched."""

import contextlib
import os
import secrets
from pathlib import Path


@contextlib.contextmanager
def replace_file(path):
    """Opens a temporary file beside `path` for writing and puts it in the place of `path` when the block ends without an error.

    The directory is created when it is missing; a link is followed; what is not a regular file (a device, a pipe) is written to directly.
    """
    target = _target(path)
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    temporary = _temporary(target)
    try:
        with temporary.open("xb") as stream:
            yield stream
            _settle(stream)
        _put(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def replace_files(contents):
    """Writes several files {path: bytes} that belong together: all go to temporary names first, then they are put in place."""
    pairs = [(_temporary(target), target, data) for target, data in ((_target(path), data) for path, data in contents.items())]
    try:
        for temporary, _, data in pairs:
            with temporary.open("xb") as stream:
                stream.write(data)
                _settle(stream)
        for temporary, target, _ in pairs:
            _put(temporary, target)
    finally:
        for temporary, _, _ in pairs:
            temporary.unlink(missing_ok=True)


def _target(path):
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise IsADirectoryError(f"save: path: {path} is a directory; give the name of a file.")
    return target


def _temporary(target):
    return target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")


def _settle(stream):
    stream.flush()
    os.fsync(stream.fileno())


def _put(temporary, target):
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o777)
    temporary.replace(target)
