"""The tables of a server, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from paddle_jax.distributed.ps.first_values import chances, first_values
from paddle_jax.distributed.ps.id_index import IdIndex
from paddle_jax.distributed.ps.table_spec import TableSpec, piece_of
from paddle_jax.distributed.ps.update_rules import RULES

_FIRST_CAPACITY = 256
_BLOCK = 1 << 16  # elements that are updated at once: they fit into the cache
# columns of the statistics of a row
_COUNT = 0
_SHOW = 1
_CLICK = 2
_UNSEEN = 3
_CHANGE = 4  # the score of shows and clicks since the last save of a base
_STATISTICS = 5
_ENTRY_KEY = 0x454E5452  # of the random numbers that decide which ids are taken in
_ACCESSOR = {
    "show_click_decay_rate": 0.98,
    "delete_threshold": 0.8,
    "delete_after_unseen_days": 30.0,
    "base_threshold": 1.5,
    "nonclk_coeff": 0.1,
    "click_coeff": 1.0,
}


def accessor_settings(**changes: float) -> dict[str, float]:
    """The settings of statistics, Paddle's where they are not given."""
    return _ACCESSOR | changes


class Piece(NamedTuple):
    """Some rows of a table.

    Attributes:
        ids: int64 [n].
        rows: float32 [n, width + states].
        statistics: float32 [n, 5].
    """

    ids: np.ndarray
    rows: np.ndarray
    statistics: np.ndarray


class SparseTable:
    """Rows by id. A row is there once it was updated, or pulled in training.

    Attributes:
        spec: TableSpec.
        index: IdIndex.
        rows: float32 [capacity, width + states], doubled when full.
        statistics: float32 [capacity, 5]: pulls, shows, clicks, days unseen, score since the last base.
    """

    def __init__(self, spec: TableSpec, seed: int) -> None:
        self.spec = spec
        self._seed = seed
        self._rule = RULES[spec.rule["name"]]
        self._state = self._rule.first_state(spec.rule, spec.width)
        kind, *values = spec.entry.split(":")
        self._least = int(values[0]) if kind == "count_filter_entry" else 0
        self._chance = float(values[0]) if kind == "probability_entry" else 1.0
        self.clear()

    def clear(self) -> None:
        """Removes all rows."""
        self.reset()

    def prepare(self, ids: np.ndarray) -> None:
        """Called before rows are used: a table that has them elsewhere takes them into memory."""

    def reset(self) -> None:
        """Removes the rows in memory."""
        self.index: IdIndex = IdIndex()
        self.rows = np.zeros((_FIRST_CAPACITY, self.spec.width + len(self._state)), np.float32)
        self.statistics = np.zeros((_FIRST_CAPACITY, _STATISTICS), np.float32)

    @property
    def counts_pulls(self) -> bool:
        """Whether pulls in training change the table."""
        return self._least > 0

    def __len__(self) -> int:
        return self.index.count

    def _add(self, ids: np.ndarray) -> np.ndarray:
        """Places of ids, each one once; new ones get their first values."""
        before = self.index.count
        indices = self.index.add(ids)
        after = self.index.count
        if after == before:
            return indices
        capacity = len(self.rows)
        while capacity < after:
            capacity *= 2
        if capacity > len(self.rows):
            self.rows: np.ndarray = _grown(self.rows, capacity)
            self.statistics: np.ndarray = _grown(self.statistics, capacity)
        new = np.flatnonzero(indices >= before)
        width = self.spec.width
        self.rows[indices[new], :width] = self._first(ids[new])
        self.rows[indices[new], width:] = self._state
        self.statistics[indices[new]] = 0
        return indices

    def _first(self, ids: np.ndarray) -> np.ndarray:
        return first_values(ids, self.spec.width, self.spec.first, self._seed, self.spec.number)

    def _is_admitted(self, ids: np.ndarray) -> np.ndarray:
        """Which ids an entry by chance takes in."""
        return chances(ids, 1, _ENTRY_KEY ^ self._seed)[:, 0] < self._chance

    def count(self, ids: np.ndarray, times: np.ndarray) -> None:
        """Counts pulls in training.

        Args:
            ids: int64 [n], each one once.
            times: float32 [n], how often each one occurs.
        """
        self.prepare(ids)
        indices = self._add(ids)
        self.statistics[indices, _COUNT] += times

    def pull(self, ids: np.ndarray) -> np.ndarray:
        """The rows of ids, float32 [n, width]. Ids that are not taken in have zeros."""
        self.prepare(ids)
        indices = self.index.find(ids)
        # Missing ones take row 0 here, and are overwritten below.
        found = self.rows[np.maximum(indices, 0), : self.spec.width]
        missing = indices < 0
        if missing.any():
            found[missing] = 0 if self.counts_pulls else self._first(ids[missing])
        if self.counts_pulls:
            found[~missing & (self.statistics[np.maximum(indices, 0), _COUNT] < self._least)] = 0
        if self._chance < 1:
            # By the id and the seed alone: an id is always taken in, or never.
            found[~self._is_admitted(ids)] = 0
        return found

    def update(self, ids: np.ndarray, gradients: np.ndarray, rate: float) -> None:
        """Updates rows by gradients.

        Args:
            ids: int64 [n], each one once.
            gradients: float32 [n, width].
            rate: the learning rate.
        """
        self.prepare(ids)
        ids, gradients = self._trained(ids, gradients)
        indices = self._add(ids)
        rule = self.spec.rule
        # A rule of the strategy has a rate of its own; the schedule of the optimizer does not reach it.
        scaled_rate = np.float32(rule.get("rate", rate) * rule["factor"])
        block = max(1, _BLOCK // self.rows.shape[1])
        for begin in range(0, len(indices), block):
            self._update_block(indices[begin : begin + block], gradients[begin : begin + block], scaled_rate)
        self.statistics[indices, _UNSEEN] = 0

    def _update_block(self, indices: np.ndarray, gradients: np.ndarray, rate: np.float32) -> None:
        """Updates rows by their indices."""
        width = self.spec.width
        settings = self.spec.rule
        # A copy: fancy indexing gives no view, so it is written back below.
        rows = self.rows[indices]
        values = rows[:, :width]
        if settings["decay"]:
            gradients = gradients + np.float32(settings["decay"]) * values
        self._rule.update(settings, values, rows[:, width:], gradients, rate)
        if "bounds" in settings:
            np.clip(values, *settings["bounds"], out=values)
        self.rows[indices] = rows

    def add(self, ids: np.ndarray, differences: np.ndarray) -> None:
        """Adds differences to rows."""
        self.prepare(ids)
        ids, differences = self._trained(ids, differences)
        indices = self._add(ids)
        self.rows[indices, : self.spec.width] += differences
        self.statistics[indices, _UNSEEN] = 0

    def _trained(self, ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those ids, with their values, that are trained already."""
        keep = None
        if self._chance < 1:
            keep = self._is_admitted(ids)
        elif self.counts_pulls:
            indices = self.index.find(ids)
            keep = (indices >= 0) & (self.statistics[np.maximum(indices, 0), _COUNT] >= self._least)
        if keep is None or keep.all():
            return ids, values
        return ids[keep], values[keep]

    def show(self, ids: np.ndarray, shows: np.ndarray, clicks: np.ndarray) -> None:
        """Counts shows and clicks of ids, each one once."""
        self.prepare(ids)
        indices = self._add(ids)
        self.statistics[indices, _SHOW] += shows
        self.statistics[indices, _CLICK] += clicks
        self.statistics[indices, _CHANGE] += self._score(shows, clicks)
        self.statistics[indices, _UNSEEN] = 0

    def _score(self, shows: Any, clicks: Any) -> Any:
        settings = self.spec.accessor
        return (shows - clicks) * settings["nonclk_coeff"] + clicks * settings["click_coeff"]

    def shrink(self, threshold: float | None) -> int:
        """Lets shows and clicks fade, and removes rows with a small score or that were not seen for long;
        returns how many.

        Args:
            threshold: score below which a row goes. Default None: that of the table's settings.
        """
        settings = self.spec.accessor
        least = settings["delete_threshold"] if threshold is None else threshold
        # Rows that nobody counted shows for have no score to go by, unless the caller asks.
        goes_by_score = self.spec.entry.startswith("show_click_entry") or threshold is not None

        def fade(statistics: np.ndarray) -> np.ndarray:
            statistics[:, _SHOW : _CLICK + 1] *= np.float32(settings["show_click_decay_rate"])
            keep = statistics[:, _UNSEEN] <= settings["delete_after_unseen_days"]
            if goes_by_score:
                keep &= self._score(statistics[:, _SHOW], statistics[:, _CLICK]) >= least
            return keep

        return self.change_all(fade)

    def end_day(self) -> None:
        """Makes every row one day more unseen."""

        def add_day(statistics: np.ndarray) -> np.ndarray:
            statistics[:, _UNSEEN] += 1
            return np.ones(len(statistics), bool)

        self.change_all(add_day)

    def change_all(self, change: Callable[[np.ndarray], np.ndarray]) -> int:
        """Changes the statistics of all rows, and removes rows; returns how many.

        Args:
            change: function of statistics [n, 5] that changes them in place, and says which rows stay.
        """
        count = self.index.count
        statistics = self.statistics[:count]
        keep = change(statistics)
        if keep.all():
            return 0
        ids = self.index.ids()[keep]
        rows = self.rows[:count][keep]
        statistics = statistics[keep]
        # The index cannot remove ids, so the rows that stay are put into a new one.
        self.reset()
        indices = self._add(ids)
        self.rows[indices] = rows
        self.statistics[indices] = statistics
        return count - len(ids)

    def to_save(self, mode: int) -> Piece:
        """What a save in a mode writes of the rows in memory; see `chosen_to_save`."""
        count = self.index.count
        every = Piece(self.index.ids(), self.rows[:count], self.statistics[:count])
        return self.chosen_to_save(every, mode)

    def chosen_to_save(self, piece: Piece, mode: int) -> Piece:
        """Of some rows those that a save writes: in modes 0 and 3 all; 1 what has scored the base threshold
        since the last base; 2 what has over its life, whose score since the last base begins again then."""
        if mode not in (1, 2):
            return piece
        statistics = piece.statistics
        score = self._score(statistics[:, _SHOW], statistics[:, _CLICK])
        # Mode 1 looks at what has happened since the last base.
        score = statistics[:, _CHANGE] if mode == 1 else score
        keep = score >= self.spec.accessor["base_threshold"]
        # Later saves of changes start from this base.
        if mode == 2:
            statistics[keep, _CHANGE] = 0
        return Piece(piece.ids[keep], piece.rows[keep], statistics[keep])

    def pieces_to_save(self, mode: int) -> Iterator[Piece]:
        """What a save in a mode writes, in pieces."""
        yield self.to_save(mode)

    def put(self, ids: np.ndarray, rows: np.ndarray, statistics: np.ndarray) -> None:
        """Sets rows with their states and statistics.

        Raises:
            ValueError: they have another width.
        """
        if rows.shape[1:] != self.rows.shape[1:] or statistics.shape[1:] != self.statistics.shape[1:]:
            raise ValueError(
                f"table {self.spec.name!r}: got rows of {rows.shape[1]} columns; it has "
                f"{self.rows.shape[1]} (width {self.spec.width} and the states of {self.spec.rule['name']})"
            )
        if len(ids):
            indices = self._add(np.ascontiguousarray(ids, np.int64))
            self.rows[indices] = rows
            self.statistics[indices] = statistics


def _grown(array: np.ndarray, capacity: int) -> np.ndarray:
    found = np.zeros((capacity, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found


class DenseTable:
    """A server's part of the values of Parameters, as one row.

    Attributes:
        spec: TableSpec.
        begin: int, where the part begins.
        values: float32 [1, length].
        states: float32 [1, columns], of the update rule: blocks as long as the values, then single numbers.
        state_blocks: int, how many blocks.
        is_set: bool, whether worker 0 has given the values.
    """

    begin: int
    values: np.ndarray

    def __init__(self, spec: TableSpec, server: int, servers: int) -> None:
        self.spec = spec
        self._rule = RULES[spec.rule["name"]]
        self.begin, end = piece_of(spec.width, server, servers)
        self.values = np.zeros((1, end - self.begin), np.float32)
        self.states: np.ndarray = self._rule.first_state(spec.rule, end - self.begin)[None].copy()
        # How many columns of the state are as long as the values: those that grow with the width.
        first = self._rule.first_state
        self.state_blocks: int = len(first(spec.rule, 2)) - len(first(spec.rule, 1))
        self.is_set: bool = end == self.begin  # more servers than values

    def assign(self, values: np.ndarray) -> None:
        """Sets the values; float32 [1, length]."""
        self.values[:] = values
        self.is_set = True

    def update(self, gradients: np.ndarray, rate: float) -> None:
        """Updates the values by gradients, float32 [1, length]."""
        settings = self.spec.rule
        if settings["decay"]:
            gradients = gradients + np.float32(settings["decay"]) * self.values
        scaled_rate = np.float32(rate * settings["factor"])
        self._rule.update(settings, self.values, self.states, gradients, scaled_rate)

    def add(self, differences: np.ndarray) -> None:
        """Adds differences to the values."""
        self.values += differences
