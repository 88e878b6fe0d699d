"""The steps of a worker: what it pulls and pushes in sync, async and geo mode."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paddle_jax.distributed.ps import messages
from paddle_jax.distributed.ps.client import Client
from paddle_jax.distributed.ps.table_spec import DENSE, TableSpec
from paddle_jax.distributed.ps.tables import DenseTable, SparseTable


class Gradients(NamedTuple):
    """What a step has computed.

    Attributes:
        sparse: {table number: (ids int64 [n], each once; values float32 [n, width])}.
        dense: {table number: float32 [width]}.
        rate: learning rate.
        statistics: numbers of the tables whose values have two columns more, shows and clicks.
    """

    sparse: dict[int, tuple[np.ndarray, np.ndarray]]
    dense: dict[int, np.ndarray]
    rate: float
    statistics: frozenset[int] = frozenset()


class Worker:
    """A worker of a job with servers; see its subclasses for the modes.

    Attributes:
        client: Client.
        sparse: {number: TableSpec}.
        dense: {number: TableSpec}.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        tables = client.job.tables
        self.sparse: dict[int, TableSpec] = {table.number: table for table in tables if table.kind != DENSE}
        self.dense: dict[int, TableSpec] = {table.number: table for table in tables if table.kind == DENSE}

    def start(self, values: Callable[[TableSpec], np.ndarray]) -> None:
        """Introduces the worker. Worker 0 gives the values of dense tables, unless they are there.

        Args:
            values: function that gives the values of a dense table, float32 [width].
        """
        is_set = self.client.start()
        if self.client.worker == 0 and not is_set:
            for table in self.dense.values():
                self.client.assign_dense(table, values(table))

    def pull(self, number: int, ids: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """Rows, float32 [n, width].

        Args:
            number: of the table.
            ids: int64 [n], each one once.
            counts: how often each one occurs, in training; else None.
        """
        return self.client.pull(self.sparse[number], ids, counts)

    def dense_values(self) -> dict[int, np.ndarray]:
        """{number: values} of the dense tables."""
        return {number: self.client.pull_dense(table) for number, table in self.dense.items()}

    def finish_step(self, gradients: Gradients) -> None:
        """Sends what a step has computed, and goes on with the next one."""
        raise NotImplementedError

    def flush(self) -> None:
        """Sends what is held back."""

    def stop(self) -> None:
        """Sends what is held back, and says goodbye."""
        self.flush()
        self.client.stop()

    def _push(self, gradients: Gradients, round: int) -> None:
        """Sends the gradients of a step."""
        nothing = np.zeros(0, np.int64)
        for number, table in self.sparse.items():
            ids, values = gradients.sparse.get(number, (nothing, np.zeros((0, table.width), np.float32)))
            flags = messages.FLAG_STATISTICS if number in gradients.statistics and len(ids) else 0
            self.client.push(table, ids, values, gradients.rate, round, flags)
        for number, values in gradients.dense.items():
            self.client.push_dense(self.dense[number], values, gradients.rate, round)


class SyncWorker(Worker):
    """Each step waits for all workers: together they do what one process does with the whole batch."""

    def finish_step(self, gradients: Gradients) -> None:
        """Sends gradients, and waits until all workers have."""
        round = self.client.round
        self._push(gradients, round)
        self.client.mark(round)
        self.client.advance(self.client.wait_for_round(round))


class AsyncWorker(Worker):
    """A thread sends gradients while the next steps are computed.

    Args:
        client: Client.
        limit: how many steps may wait to be sent.
    """

    def __init__(self, client: Client, limit: int) -> None:
        super().__init__(client)
        self._queue: queue.Queue[tuple[Gradients, int] | None] = queue.Queue(limit)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._send, name="paddle.ps send", daemon=True)
        self._thread.start()

    def _send(self) -> None:
        while True:
            item = self._queue.get()
            try:
                if item is None:
                    return
                # After a failure the rest of the queue is only emptied, so that `flush` ends.
                if self._error is None:
                    gradients, round = item
                    self._push(gradients, round)
                    self.client.mark(round)
            except BaseException as error:
                self._error = error
            finally:
                self._queue.task_done()

    def finish_step(self, gradients: Gradients) -> None:
        """Gives gradients to the thread; waits where too many steps are not sent yet."""
        self._raise_error()
        self._queue.put((gradients, self.client.round))
        self.client.advance(self.client.round + 1)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise RuntimeError(f"worker {self.client.worker}: gradients were not sent") from self._error

    def flush(self) -> None:
        """Waits until everything is sent."""
        self._queue.join()
        self._raise_error()

    def stop(self) -> None:
        """Sends what is held back, and says goodbye."""
        self.flush()
        # None ends the thread.
        self._queue.put(None)
        self._thread.join()
        self.client.stop()


class GeoWorker(Worker):
    """Trains copies of its own; every few steps workers exchange what they have changed.

    Args:
        client: Client.
        steps: after how many steps.
    """

    def __init__(self, client: Client, steps: int) -> None:
        super().__init__(client)
        self._steps = steps
        self._local: dict[int, Any] = {}
        self._old: dict[int, np.ndarray] = {}
        self._touched: dict[int, list[np.ndarray]] = {}
        self._since = 0

    def start(self, values: Callable[[TableSpec], np.ndarray]) -> None:
        """Introduces the worker, and takes over the values of dense tables."""
        for table in self.sparse.values():
            if table.entry.startswith(("count_filter", "show_click")):
                raise NotImplementedError(
                    f"sparse table {table.name!r}: entry: got {table.entry}; in geo mode workers have copies "
                    "and servers see no single pull; use sync or async mode"
                )
        super().start(values)
        for number, table in self.sparse.items():
            self._local[number] = SparseTable(table, self.client.job.seed)
            self._old[number] = np.zeros((0, table.width), np.float32)
            self._touched[number] = []
        for number, table in self.dense.items():
            self._local[number] = DenseTable(table, 0, 1)
            found = self.client.pull_dense(table)
            self._local[number].assign(found[None])
            self._old[number] = found.copy()

    def pull(self, number: int, ids: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """Rows of the copy; those that it lacks come from the servers."""
        local = self._local[number]
        missing = ids[local.index.find(ids) < 0]
        if missing.size:
            width = self.sparse[number].width
            rows = self.client.pull(self.sparse[number], missing, counts=None)
            indices = local._add(missing)
            local.rows[indices, :width] = rows
            # Rows are in the order of the copy's indices, which new ids continue.
            self._old[number] = np.concatenate([self._old[number], rows])
        return local.pull(ids)

    def dense_values(self) -> dict[int, np.ndarray]:
        """{number: values} of the copies."""
        return {number: self._local[number].values[0].copy() for number in self.dense}

    def finish_step(self, gradients: Gradients) -> None:
        """Updates the copies; exchanges what has changed if it is time."""
        for number, (ids, values) in gradients.sparse.items():
            self._local[number].update(ids, values, gradients.rate)
            self._touched[number].append(ids)
        for number, values in gradients.dense.items():
            self._local[number].update(values[None], gradients.rate)
        self._since += 1
        if self._since >= self._steps:
            self._exchange()
        self.client.mark(self.client.round)
        self.client.advance(self.client.round + 1)

    def _exchange(self) -> None:
        """Sends what has changed since the last exchange, and takes up what others have changed."""
        self._since = 0
        # Workers add what they changed, so each adds its share of the mean.
        share = np.float32(1 / self.client.job.workers)
        for number, table in self.sparse.items():
            if self._touched[number]:
                self._exchange_rows(number, table, share)
        for number, table in self.dense.items():
            local = self._local[number].values[0]
            difference = (local - self._old[number]) * share
            # What this worker has sent is no change by others.
            self._old[number] += difference
            self.client.push_dense(table, difference, 0.0, self.client.round, messages.FLAG_DELTA)
            found = self.client.pull_dense(table)
            local += found - self._old[number]
            self._old[number] = found.copy()

    def _exchange_rows(self, number: int, table: TableSpec, share: np.float32) -> None:
        ids = np.unique(np.concatenate(self._touched[number]))
        self._touched[number] = []
        local = self._local[number]
        old = self._old[number]
        indices = local.index.find(ids)
        difference = (local.rows[indices, : table.width] - old[indices]) * share
        self.client.push(table, ids, difference, 0.0, self.client.round, messages.FLAG_DELTA)
        found = self.client.pull(table, ids, counts=None)
        # What others have changed since then. Own changes of which only a share was sent stay.
        local.rows[indices, : table.width] += found - (old[indices] + difference)
        old[indices] = found

    def flush(self) -> None:
        """Exchanges what has changed."""
        if self._since:
            self._exchange()


def worker_for(client: Client, queue_size: int, geo_steps: int) -> Worker:
    """The Worker of a job's mode."""
    if client.job.mode == "sync":
        return SyncWorker(client)
    if client.job.mode == "geo":
        return GeoWorker(client, geo_steps)
    return AsyncWorker(client, queue_size)
