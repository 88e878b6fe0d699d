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
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise IsADirectoryError(f"save: path: {path} is a directory; give the name of a file.")
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
