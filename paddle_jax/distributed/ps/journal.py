"""What a server keeps on disk: a snapshot of its state, and the requests that came after it.

The journal is not flushed to the disk at each request: what a killed process has written is kept by the
system. PADDLE_PS_FSYNC_SECONDS flushes it that often, for the loss of a machine.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

_RECORD = struct.Struct("<II")  # length, checksum
_LIMIT = 256 << 20  # bytes of a journal after which a snapshot is due, if the last one was not larger
_INTERVAL = 60.0  # seconds after which one is due
_QUIET = 60.0  # seconds between two warnings


class Journal:
    """The files of one server.

    Attributes:
        folder: Path.
        number: int, of the snapshot that the journal follows.
        size: int, bytes in the journal.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.number: int = max((int(file.suffix[1:]) for file in folder.glob("snapshot.*")), default=0)
        # of a snapshot that was not finished, or that a newer one has replaced
        for abandoned in set(folder.glob("tables.*")) - {self.tables}:
            shutil.rmtree(abandoned)
        self._file: io.FileIO | None = None
        self._is_closed = False
        self.size: int = 0
        snapshot = self._path("snapshot", self.number)
        self._snapshot_size = snapshot.stat().st_size if snapshot.exists() else 0
        self._taken = time.monotonic()
        self._flushed = time.monotonic()
        # The first failure is reported at once.
        self._warned = -_QUIET
        self._flush_every = float(os.environ.get("PADDLE_PS_FSYNC_SECONDS") or 0)

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}.{number}"

    @property
    def tables(self) -> Path:
        """The folder of the last snapshot for rows that tables have on the disk."""
        return self._path("tables", self.number)

    def snapshot(self) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """(plain values, arrays) of the last snapshot, or None."""
        path = self._path("snapshot", self.number)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return json.loads(str(arrays.pop("plain"))), arrays

    def records(self) -> Iterator[bytes]:
        """The requests after the snapshot. What was not written whole at the end is cut off."""
        path = self._path("journal", self.number)
        data = path.read_bytes() if path.exists() else b""
        end = 0
        while end + _RECORD.size <= len(data):
            length, checksum = _RECORD.unpack_from(data, end)
            record = data[end + _RECORD.size : end + _RECORD.size + length]
            if len(record) < length or zlib.crc32(record) != checksum:
                break
            yield record
            end += _RECORD.size + length
        if end < len(data):
            # Records to come must not stand behind a half one, where `records` would not find them.
            os.truncate(path, end)

    def append(self, record: bytes) -> None:
        """Writes a request.

        Raises:
            OSError: the disk is full, or the journal is closed; nothing was written then.
        """
        if self._is_closed:
            # a handler may come out of its lock after the server has stopped; the next server writes then
            raise OSError(f"the journal in {self.folder} is closed: its server has stopped")
        if self._file is None:
            # Without a buffer, so that a killed process loses nothing that it has written.
            self._file = self._path("journal", self.number).open("ab", buffering=0)
            self.size = self._file.tell()
        try:
            self._write(_RECORD.pack(len(record), zlib.crc32(record)))
            self._write(record)
        except OSError:
            # A full disk may have taken a part of the record.
            os.truncate(self._file.fileno(), self.size)
            self._file.seek(self.size)
            raise
        self.size += _RECORD.size + len(record)
        if self._flush_every and time.monotonic() - self._flushed > self._flush_every:
            os.fsync(self._file.fileno())
            self._flushed = time.monotonic()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            # A file without buffer may take a part only.
            view = view[self._file.write(view) :]

    def is_due(self) -> bool:
        """Whether a new snapshot should be taken."""
        # A large state is not written again for a few requests.
        limit = max(_LIMIT, self._snapshot_size)
        return self.size > limit or (self.size > 0 and time.monotonic() - self._taken > _INTERVAL)

    def take(
        self,
        plain: dict[str, Any],
        arrays: dict[str, np.ndarray],
        writers: Mapping[str, Callable[[Path], None]],
    ) -> None:
        """Writes a snapshot; the journal begins again. Where the disk is full the old one is kept.

        Args:
            plain: what can be written as JSON.
            arrays: arrays by name.
            writers: {name: function that writes a new folder of this name below `tables`}.
        """
        number = self.number + 1
        unfinished = self.folder / "unfinished"
        tables = self._path("tables", number)
        # Before the try: after a failure the next snapshot waits as long.
        self._taken = time.monotonic()
        try:
            if writers:
                tables.mkdir()
            for name, write in writers.items():
                write(tables / name)
            with unfinished.open("wb") as file:
                np.savez(file, plain=np.array(json.dumps(plain)), **arrays)
                file.flush()
                os.fsync(file.fileno())
            size = unfinished.stat().st_size
            unfinished.rename(self._path("snapshot", number))
            _flush_folder(self.folder)  # what it replaces goes after this
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            shutil.rmtree(tables, ignore_errors=True)
            if time.monotonic() - self._warned > _QUIET:
                self._warned = time.monotonic()
                print(
                    f"parameter server: {self.folder}: no snapshot could be written ({error}); the old one "
                    "and its journal are kept",
                    file=sys.stderr,
                    flush=True,
                )
            return
        self._close_file()
        for kind in ("snapshot", "journal"):
            self._path(kind, self.number).unlink(missing_ok=True)
        shutil.rmtree(self.tables, ignore_errors=True)
        self.number = number
        self.size = 0
        self._snapshot_size = size

    def close(self) -> None:
        """Closes the journal for good: later requests are refused."""
        self._is_closed = True
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _flush_folder(folder: Path) -> None:
    """Has the disk keep the names of the files in a folder."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
