"""Files that are either written whole or not touched.

A saver writes to `.name.<12 hex digits>.tmp` beside the file, holds a lock on that as long as it lives, and
renames it in the end. What a killed saver has left is therefore a temporary file that nobody locks; the next
save of that name deletes it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddle_jax.framework.addresses import is_address, written

try:
    import fcntl
except ImportError:  # Windows: what killed savers leave stays
    fcntl = None


@contextlib.contextmanager
def replace_file(path: Any) -> Iterator[Any]:
    """Opens a temporary file beside `path` for writing and puts it in place of `path` when the block ends
    without an error.

    The directory is created when it is missing; a link is followed; what is not a regular file (a device, a
    pipe) is written to directly. An address such as `s3://bucket/file` gets its file in one piece.
    """
    if is_address(path):
        with written(path) as stream:
            yield stream
        return
    target = _target(path)
    # Such as /dev/stdout, which cannot be replaced by a file.
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    with contextlib.ExitStack() as stack:
        stream = _opened(target, stack)
        yield stream
        # On the disk before it gets its name: a crash leaves the old file or the new one.
        _flush_to_disk(stream)
        _put(stream, target)


def replace_files(contents: dict[str, Any]) -> None:
    """Writes several files {path: bytes} that belong together: all go to temporary names first, then they
    are put in place."""
    with contextlib.ExitStack() as stack:
        # All are written before the first is renamed: a full disk leaves the old model whole.
        pairs = []
        for path, data in contents.items():
            if is_address(path):
                stack.enter_context(written(path)).write(data)
                continue
            target = _target(path)
            pairs.append((_opened(target, stack), target))
            pairs[-1][0].write(data)
            _flush_to_disk(pairs[-1][0])
        for stream, target in pairs:
            _put(stream, target)


def _target(path: Any) -> Path:
    # Through links: the file behind a link is replaced, not the link.
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise IsADirectoryError(f"save: path: {path} is a directory; give the name of a file.")
    return target


def _opened(target: Any, stack: Any) -> Any:
    """A locked temporary file for `target`, which is closed and deleted with the stack unless it
    has been renamed."""
    _clean(target)
    while True:
        # A name of at most 255 bytes, which is what file systems allow.
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
        stream = temporary.open("xb")
        stack.callback(temporary.unlink, missing_ok=True)
        stack.callback(stream.close)
        # Links 0: another saver has deleted it before it was locked.
        if _lock(stream) and os.fstat(stream.fileno()).st_nlink:
            return stream
        # Another saver took it for left over, between its creation and the lock.


def _lock(stream: Any) -> bool:
    """Locks an open file; False when somebody else has it. Where the file system knows no locks nobody has
    one, and nothing is cleaned up."""
    try:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # NFS without locks, for instance.
        pass
    return True


def _clean(target: Any) -> None:
    """Deletes what killed savers of `target` have left."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(f".{target.name[:200]}.") + r"[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            # Only names of this form are deleted, and no links.
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), Path(entry.path).open("r+b") as left:
                    fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError while its owner lives
                    Path(entry.path).unlink()


def _flush_to_disk(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _put(stream: Any, target: Any) -> None:
    temporary = Path(stream.name)
    if target.exists():
        # A new file has the permissions of its predecessor.
        temporary.chmod(target.stat().st_mode & 0o777)
    if fcntl is None:
        stream.close()  # Windows renames no open file
    temporary.replace(target)
