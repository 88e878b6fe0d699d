"""The record of a run: a file of entries, each a line of JSON followed by its arrays in NumPy's format."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np


class _Record(contextlib.AbstractContextManager):
    mode = "rb"

    def __init__(self, path: Any) -> None:
        self._file = Path(path).open(self.mode)  # noqa: SIM115  closed by `__exit__`

    def __exit__(self, *exception: Any) -> None:
        self._file.close()


class Writer(_Record):
    """Writes entries one after the other."""

    mode = "wb"

    def put(self, entry: dict[str, Any], arrays: Any = ()) -> None:
        """Adds an entry, a dict that JSON takes, and its arrays."""
        self._file.write(json.dumps({**entry, "arrays": len(arrays)}).encode() + b"\n")
        for array in arrays:
            np.lib.format.write_array(self._file, np.asarray(array), allow_pickle=False)
        self._file.flush()  # the program may end in a crash


class Reader(_Record):
    """Reads the entries of a Writer in their order."""

    def get(self) -> tuple[Any, list[Any]] | tuple[None, list[Any]]:
        """The next (entry, arrays); (None, []) at the end, also at an entry that was cut short."""
        try:
            entry = json.loads(self._file.readline())
            return entry, [
                np.lib.format.read_array(self._file, allow_pickle=False) for _ in range(entry["arrays"])
            ]
        except ValueError:
            return None, []
