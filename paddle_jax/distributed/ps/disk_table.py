"""Tables that are larger than memory: rows that were not used lately are in RocksDB."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax._core.base import launch_variables
from paddle_jax.distributed.ps.table_spec import TableSpec
from paddle_jax.distributed.ps.tables import Piece, SparseTable
from paddle_jax.distributed.rpc.token import private_folder

_HOT_ROWS = 1 << 20  # rows in memory, unless PADDLE_PS_HOT_ROWS says otherwise
_CHUNK = 1 << 14  # rows that are read or written at once


def _rocksdict() -> Any:
    """The library that keeps the rows.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module("rocksdict")
    except ImportError as error:
        raise ImportError("SSDSparseTable needs RocksDB: pip install 'paddle_jax[ps-ssd]'") from error


class DiskTable(SparseTable):
    """A sparse table with at most PADDLE_PS_HOT_ROWS rows in memory, about; each is in memory or on the disk.

    The files are in a folder of their own below PADDLE_PS_SSD_DIR, which goes with the process; the next one
    removes what a killed process has left. A snapshot for the journal has links to the files of RocksDB,
    which do not change once they are written.

    Attributes:
        limit: int, how many rows may be in memory.
        stored: int, how many are on the disk.
    """

    stored: int

    def __init__(self, spec: TableSpec, seed: int) -> None:
        # Before the base class, whose constructor calls `clear`.
        self.limit: int = launch_variables.integer("PADDLE_PS_HOT_ROWS", _HOT_ROWS)
        parent = os.environ.get("PADDLE_PS_SSD_DIR") or private_folder()
        # A process that was killed could not remove its files.
        _remove_abandoned(Path(parent))
        self._folder = tempfile.mkdtemp(prefix=f"{_prefix()}{os.getpid()}-", dir=parent)
        self._database: Any = None
        self._clock = 0
        self._used = np.zeros(0, np.int64)
        super().__init__(spec, seed)

    def clear(self) -> None:
        """Removes all rows."""
        self.close()
        self._open()
        self.stored = 0
        self.reset()

    def _open(self) -> None:
        library = _rocksdict()
        # Keys and values are bytes as they are.
        options = library.Options(raw_mode=True)
        options.create_if_missing(True)
        self._database = library.Rdict(str(self._rows), options)

    @property
    def _rows(self) -> Path:
        """The folder of RocksDB."""
        return Path(self._folder) / "rows"

    def close(self) -> None:
        """Removes the files."""
        if self._database is not None:
            self._database.close()
            _rocksdict().Rdict.destroy(str(self._rows))
            self._database = None

    def __del__(self) -> None:
        # At the end of the interpreter, modules may be gone already.
        with contextlib.suppress(Exception):
            self.close()
            Path(self._folder).rmdir()

    def __len__(self) -> int:
        return self.index.count + self.stored

    # snapshots ----------------------------------------------------------------------------------------------

    def save_stored(self, folder: Path) -> None:
        """Writes the rows on the disk into a new folder: links where it is on the same disk, else copies.

        Raises:
            OSError: the disk is full.
        """
        try:
            _rocksdict().Checkpoint(self._database).create_checkpoint(str(folder))
        except Exception as error:  # the library has no class of its own for it
            raise OSError(f"{folder}: RocksDB could not write a snapshot: {error}") from error

    def load_stored(self, folder: Path) -> None:
        """Takes the rows that `save_stored` has written in place of those on the disk."""
        self.close()
        shutil.copytree(folder, self._rows, copy_function=_link_or_copy, dirs_exist_ok=True)
        self._open()
        self.stored = sum(len(piece.ids) for piece in self._stored_pieces())

    # between memory and disk --------------------------------------------------------------------------------

    def prepare(self, ids: np.ndarray) -> None:
        """Takes the rows of ids into memory; others may have to go to the disk."""
        self._clock += 1
        indices = self.index.find(ids)
        present = indices[indices >= 0]
        self._used[present] = self._clock
        missing = ids[indices < 0]
        self._make_room_for(len(missing))
        if missing.size and self.stored:
            self._fetch(missing)

    def _add(self, ids: np.ndarray) -> np.ndarray:
        indices = super()._add(ids)
        if len(self._used) < len(self.rows):
            grown = np.zeros(len(self.rows), np.int64)
            grown[: len(self._used)] = self._used
            self._used = grown
        self._used[indices] = self._clock
        return indices

    def _fetch(self, ids: np.ndarray) -> None:
        """Moves the rows of ids that are on the disk into memory."""
        keys = _keys(ids)
        values = self._database[keys]
        there = [i for i, value in enumerate(values) if value is not None]
        if not there:
            return
        rows, statistics = self._parsed([values[i] for i in there])
        indices = self._add(ids[there])
        self.rows[indices] = rows
        self.statistics[indices] = statistics
        # A row is in one place only: what is in memory goes from the disk.
        batch = _rocksdict().WriteBatch(raw_mode=True)
        for i in there:
            batch.delete(keys[i])
        self._database.write(batch)
        self.stored -= len(there)

    def _make_room_for(self, count: int) -> None:
        """Moves the rows that were used least lately to the disk, if there are too many."""
        held = self.index.count
        if held + count <= self.limit:
            return
        order = np.argsort(self._used[:held], kind="stable")
        # Down to half of the limit, so that the next requests need not move rows again.
        goes = order[: max(held - self.limit // 2, 0)]
        goes = goes[self._used[goes] < self._clock]  # not those of this request
        if not goes.size:
            return
        stays = np.ones(held, bool)
        stays[goes] = False
        ids = self.index.ids()
        kept = ids[stays], self.rows[:held][stays], self.statistics[:held][stays]
        used = self._used[:held][stays]
        self._store(ids[goes], self.rows[goes], self.statistics[goes])
        self.reset()
        indices = self._add(kept[0])
        self.rows[indices] = kept[1]
        self.statistics[indices] = kept[2]
        self._used[indices] = used

    def _store(self, ids: np.ndarray, rows: np.ndarray, statistics: np.ndarray) -> None:
        """Writes rows that are not on the disk."""
        values = np.concatenate([rows, statistics], axis=1)
        for begin in range(0, len(ids), _CHUNK):
            batch = _rocksdict().WriteBatch(raw_mode=True)
            piece = slice(begin, begin + _CHUNK)
            for key, value in zip(_keys(ids[piece]), values[piece], strict=True):
                batch.put(key, value.tobytes())
            self._database.write(batch)
        self.stored += len(ids)

    def _parsed(self, values: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
        """Rows and statistics of what is on the disk."""
        whole = np.frombuffer(b"".join(values), np.float32).reshape(len(values), -1)
        width = self.rows.shape[1]
        return whole[:, :width], whole[:, width:]

    def _stored_pieces(self) -> Iterator[Piece]:
        """All that is on the disk, in pieces."""
        keys: list[bytes] = []
        values: list[bytes] = []
        for key, value in self._database.items():
            keys.append(key)
            values.append(value)
            if len(keys) == _CHUNK:
                yield self._piece(keys, values)
                keys = []
                values = []
        if keys:
            yield self._piece(keys, values)

    def _piece(self, keys: list[bytes], values: list[bytes]) -> Piece:
        rows, statistics = self._parsed(values)
        return Piece(np.frombuffer(b"".join(keys), np.int64), rows, statistics)

    # all rows -----------------------------------------------------------------------------------------------

    def put(self, ids: np.ndarray, rows: np.ndarray, statistics: np.ndarray) -> None:
        """Sets rows with their states and statistics."""
        # Pieces that fit into memory beside what is there.
        step = max(1, min(_CHUNK, self.limit // 2))
        for begin in range(0, max(len(ids), 1), step):
            piece = slice(begin, begin + step)
            self.prepare(np.ascontiguousarray(ids[piece], np.int64))
            super().put(ids[piece], rows[piece], statistics[piece])

    def pieces_to_save(self, mode: int) -> Iterator[Piece]:
        """What a save in a mode writes, in pieces."""
        yield self.to_save(mode)
        for piece in self._stored_pieces():
            # Arrays made of bytes cannot be changed.
            piece = piece._replace(statistics=piece.statistics.copy())
            chosen = self.chosen_to_save(piece, mode)
            if mode == 2:
                self._rewrite(piece)
            yield chosen

    def change_all(self, change: Callable[[np.ndarray], np.ndarray]) -> int:
        """Changes the statistics of all rows; removes those for which the function gives False."""
        removed = super().change_all(change)
        # The iterator of RocksDB goes over the rows as they were, whatever is written meanwhile.
        for piece in self._stored_pieces():
            statistics = piece.statistics.copy()
            keep = change(statistics)
            self._rewrite(piece._replace(statistics=statistics), keep)
            removed += int((~keep).sum())
        return removed

    def _rewrite(self, piece: Piece, keep: np.ndarray | None = None) -> None:
        """Writes rows that are on the disk again, but for those that are not kept."""
        keep = np.ones(len(piece.ids), bool) if keep is None else keep
        batch = _rocksdict().WriteBatch(raw_mode=True)
        for key in _keys(piece.ids[~keep]):
            batch.delete(key)
        self._database.write(batch)
        self.stored -= len(piece.ids)
        self._store(piece.ids[keep], piece.rows[keep], piece.statistics[keep])


def _prefix() -> str:
    """How the names of this machine's folders begin; those of others may be on the same disk."""
    return f"table-{socket.gethostname()}-"


def _remove_abandoned(parent: Path) -> None:
    """Removes the folders of processes of this machine that do not run any more."""
    for folder in parent.glob(f"{_prefix()}*"):
        pid = folder.name.removeprefix(_prefix()).partition("-")[0]
        if pid.isdigit() and not _runs(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(pid: int) -> bool:
    """Whether there is a process of a number."""
    try:
        # Signal 0 is sent to nobody: it only asks whether there is such a process.
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # of another user
    return True


def _link_or_copy(source: str, target: str) -> None:
    """A link to a file of rows, which do not change; a copy of others, and between disks."""
    if source.endswith(".sst"):
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)


def _keys(ids: np.ndarray) -> list[bytes]:
    return [int(id).to_bytes(8, "little", signed=True) for id in ids]
