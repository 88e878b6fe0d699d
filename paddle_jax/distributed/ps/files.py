"""Tables as files: each server writes its part, and any number of servers reads them."""

import glob
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax.distributed.ps import messages
from paddle_jax.distributed.ps.server_state import ServerState
from paddle_jax.distributed.ps.tables import DenseTable, Piece

_TABLES = "ps_tables.json"


def _file_of(folder: Path, name: str, server: int) -> Path:
    # A slash would lead into another folder.
    return folder / f"{name.replace('/', '%2F')}.part{server}.npz"


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes arrays so that a reader finds all of them or the old ones."""
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays)
    # A rename is one step: there is never half a file of this name.
    unfinished.rename(path)


def _write_pieces(path: Path, pieces: Iterable[Piece]) -> None:
    """Writes rows: the first piece at a path, others beside it."""
    last = 0
    for number, piece in enumerate(pieces):
        last = number
        _write(path if number == 0 else _further(path, number), piece._asdict())
    for file in _all_further(path)[last:]:  # of an earlier save
        file.unlink()


def _further(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}.npz")


def _all_further(path: Path) -> list[Path]:
    """The files with more rows beside one, in their order."""
    files = path.parent.glob(f"{glob.escape(path.stem)}-*.npz")
    # By number: as text, 10 would come before 2.
    return sorted(files, key=lambda file: int(file.stem.rpartition("-")[2]))


def save(state: ServerState, folder: str, mode: int, tables: list[int] | None = None) -> None:
    """Writes this server's part of the tables.

    Args:
        state: ServerState.
        folder: str.
        mode: 0 or 3 all rows; 1 those with the base score since the last base; 2 those with the base score.
        tables: numbers of the tables. Default None: all.
    Raises:
        ValueError: there is no such mode.
    """
    if mode not in (0, 1, 2, 3):
        raise ValueError(
            f"save: mode: got {mode}; it must be 0 (all), 1 (changes), 2 (base) or 3 (all, new day)"
        )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for number, table in state.tables.items():
        if tables is not None and number not in tables:
            continue
        path = _file_of(target, table.spec.name, state.server)
        if isinstance(table, DenseTable):
            begin = np.array(table.begin)
            _write(path, {"begin": begin, "values": table.values[0], "states": table.states[0]})
        else:
            _write_pieces(path, table.pieces_to_save(mode))
    # It is the same on all servers, so one writes it.
    if state.server == 0:
        described = {"servers": state.job.servers, "tables": [tuple(table) for table in state.job.tables]}
        (target / _TABLES).write_text(json.dumps(described))


def load(state: ServerState, folder: str, tables: list[int] | None = None) -> None:
    """Reads this server's part of what any number of servers has saved.

    Raises:
        ValueError: there is nothing, or it does not fit. OSError: it cannot be read.
    """
    source = Path(folder)
    if not (source / _TABLES).exists():
        raise ValueError(f"load: {folder}: it has no {_TABLES}; fleet.save_persistables writes it")
    servers = json.loads((source / _TABLES).read_text())["servers"]
    for number, table in state.tables.items():
        if tables is not None and number not in tables:
            continue
        parts = [_file_of(source, table.spec.name, server) for server in range(servers)]
        missing = [path.name for path in parts if not path.exists()]
        if missing:
            raise ValueError(f"load: {folder}: table {table.spec.name!r}: {missing[0]} is missing")
        if isinstance(table, DenseTable):
            _load_dense(table, [_arrays(path) for path in parts])
        else:
            # Rows that the files do not have must not stay.
            table.clear()
            for path in [file for part in parts for file in (part, *_all_further(part))]:
                found = _arrays(path)
                # Another number of servers may have written the files, so ids belong elsewhere.
                where = messages.server_of(found["ids"], state.job.shards, state.job.servers)
                own = where == state.server
                table.put(found["ids"][own], found["rows"][own], found["statistics"][own])


def _arrays(path: Path) -> dict[str, Any]:
    # np.load leaves a file of its own open where it is no archive
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _load_dense(table: DenseTable, arrays: list[dict[str, Any]]) -> None:
    """Takes the values of a dense table out of all parts. States are taken where the parts are the same."""
    values = np.concatenate(
        [found["values"] for found in sorted(arrays, key=lambda found: int(found["begin"]))]
    )
    if len(values) != table.spec.width:
        raise ValueError(
            f"load: table {table.spec.name!r}: got {len(values)} values; it has {table.spec.width}"
        )
    length = table.values.shape[1]
    table.assign(values[None, table.begin : table.begin + length])
    _load_states(table, arrays)


def _load_states(table: DenseTable, arrays: list[dict[str, Any]]) -> None:
    """Puts the states of all parts together: columns as long as the values are cut for the new parts, single
    numbers are the same in all parts."""
    length = table.values.shape[1]
    parts = sorted(arrays, key=lambda found: int(found["begin"]))
    blocks = table.state_blocks
    rest = table.states.shape[1] - blocks * length
    for block in range(blocks):
        pieces = [
            part["states"][block * len(part["values"]) : (block + 1) * len(part["values"])] for part in parts
        ]
        whole = np.concatenate(pieces)
        target = slice(block * length, (block + 1) * length)
        table.states[0, target] = whole[table.begin : table.begin + length]
    if rest:
        table.states[0, -rest:] = parts[-1]["states"][-rest:]
