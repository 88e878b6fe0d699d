"""What a table is: its name, size, rule and beginning, as workers and servers agree on it."""

import hashlib
import json
from typing import Any, NamedTuple

SPARSE = "sparse"
DENSE = "dense"
MODES = ("sync", "async", "geo")


class TableSpec(NamedTuple):
    """A table.

    Attributes:
        number: int.
        name: str, of the Parameter; of a dense table "dense" and a number.
        kind: "sparse" or "dense".
        width: int, length of a row; of a dense table the length of all its Parameters together.
        rule: dict, "name" of an update rule and its settings, "factor" of the learning rate, "decay" (L2). A
            sparse table may have "rate", in place of the optimizer's, and "bounds" of its values.
        first: dict, how rows begin, see `first_values`; empty for a dense table.
        entry: str, which ids are taken in, "" for all; as "count_filter_entry:10".
        parts: list of [name, shape] of the Parameters of a dense table, one after the other.
        storage: "MemorySparseTable" or "SSDSparseTable".
        accessor: dict, settings of statistics, see `SparseTable`.
    """

    number: int
    name: str
    kind: str
    width: int
    rule: dict[str, Any]
    first: dict[str, Any]
    entry: str
    parts: list[Any]
    storage: str
    accessor: dict[str, Any]


class JobSpec(NamedTuple):
    """What workers and servers must have in common.

    Attributes:
        workers: int, how many there are.
        servers: int.
        mode: "sync", "async" or "geo".
        seed: int, of the first values.
        shards: int, parts that ids are cut into.
        backups: int, how many workers a round does not wait for.
        tables: list of TableSpecs.
    """

    workers: int
    servers: int
    mode: str
    seed: int
    shards: int
    backups: int
    tables: list[TableSpec]

    def digest(self) -> str:
        """A short text that differs where the tables differ."""
        # the seed is that of worker 0, servers take it over
        text = json.dumps([self.mode, self.shards, self.backups, [tuple(table) for table in self.tables]])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def text(self) -> str:
        """All of it as JSON."""
        return json.dumps(self._replace(tables=[tuple(table) for table in self.tables]))

    def summary(self) -> str:
        """The tables in a few words."""
        tables = ", ".join(f"{table.name} ({table.kind}, {table.width})" for table in self.tables)
        return f"mode {self.mode}, tables {tables or 'none'}"


def job_of(text: str) -> JobSpec:
    """The JobSpec of a text that `JobSpec.text` gave.

    Raises:
        ValueError: it is none.
    """
    try:
        *fields, tables = json.loads(text)
        job = JobSpec(*fields, [TableSpec(*table) for table in tables])
    except (TypeError, ValueError) as error:
        raise ValueError(f"parameter server: the description of the job is not understood: {error}") from None
    if job.mode not in MODES or any(table.kind not in (SPARSE, DENSE) for table in job.tables):
        raise ValueError(f"parameter server: got {job.summary()}; the mode must be one of {MODES}")
    # A width from outside must not make a server ask for any amount of memory.
    if not all(isinstance(table.width, int) and 0 < table.width < 1 << 40 for table in job.tables):
        raise ValueError(f"parameter server: got {job.summary()}; widths must be positive")
    return job


def piece_of(width: int, server: int, servers: int) -> tuple[int, int]:
    """Begin and end of the part of a dense table that a server has."""
    # Parts differ by one value at most.
    return width * server // servers, width * (server + 1) // servers
