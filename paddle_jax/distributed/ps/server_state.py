"""What a server knows, and how requests change it.

The state is a function of the requests in the journal: a server that starts again replays them. In sync mode
the pushes of a step wait until all workers have finished the step; then they are added up in the order of the
workers, so that results do not depend on who was first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from paddle_jax.distributed.ps import messages
from paddle_jax.distributed.ps.disk_table import DiskTable
from paddle_jax.distributed.ps.journal import Journal
from paddle_jax.distributed.ps.messages import Message
from paddle_jax.distributed.ps.table_spec import DENSE, JobSpec, job_of
from paddle_jax.distributed.ps.tables import DenseTable, SparseTable

_JOB = b"JOB:"  # begins the record of what the tables are
_GATHERED = 64  # exchanges between workers whose results are kept for one that starts again
# requests that count once, however often a worker sends them
_ONCE = (messages.PUSH, messages.PULL, messages.ASSIGN, messages.SHRINK, messages.DAY)
_WHOLE_TABLES = 1 << 32  # added to a worker's number for the sequence of its SHRINK and DAY


class StaleWorkerError(Exception):
    """A process whose number another one has taken over."""


class NotReadyError(Exception):
    """The tables are not known yet, or have no values."""


class Answer(NamedTuple):
    """How far the marks of workers are.

    Attributes:
        closed: int, the first step that is not finished.
        members: list of the workers whose pushes count in the last finished step.
    """

    closed: int
    members: list[int]


class ServerState:
    """The tables and rounds of one server.

    Attributes:
        server: int, number of this server.
        job: JobSpec, or None before the first worker has come.
        tables: {number: table}.
        pending: {round: {worker: list of Messages}}, the pushes of steps that are not finished.
        applied: int, the first step whose pushes are not in the tables.
        last: {stream: sequence number of its last message}; see `_stream`.
        incarnations: {worker: number of its last process}.
        marks: {worker: how many steps it has finished}.
        members: {round: workers whose pushes count}, for the last steps.
        closed: int, the first step that not all workers have finished.
        left: workers that have ended.
        gathered: {number: {worker: bytes}}, the last exchanges between workers.
        barriers: {number: how many workers took part}, earlier exchanges in which nothing was given.
        dropped: {worker: how many of its steps came too late}.
    """

    def __init__(self, server: int, journal: Journal | None = None) -> None:
        self.server = server
        self.job: JobSpec | None = None
        self.tables: dict[int, Any] = {}
        self.pending: dict[int, dict[int, list[Message]]] = {}
        self.applied: int = 0
        self.last: dict[int, int] = {}
        self.incarnations: dict[int, int] = {}
        self.marks: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        self.closed: int = 0
        self.left: set[int] = set()
        self.gathered: dict[int, dict[int, bytes]] = {}
        self.barriers: dict[int, int] = {}
        self.dropped: dict[int, int] = {}
        self._journal = journal
        self._changes = {
            messages.PUSH: self._push,
            messages.PULL: self._count,
            messages.ASSIGN: self._assign,
            messages.BEGIN: self._begin,
            messages.MARK: self._mark,
            messages.COMMIT: self._commit,
            messages.STOP: self._stop,
            messages.GATHER: self._gather,
            messages.SHRINK: self._shrink,
            messages.DAY: self._end_day,
        }

    # tables -------------------------------------------------------------------------------------------------

    def set_job(self, job: JobSpec) -> None:
        """Makes the tables."""
        self._record(_JOB + job.text().encode())
        self._make_tables(job)

    def _make_tables(self, job: JobSpec) -> None:
        self.job = job
        for spec in job.tables:
            if spec.kind == DENSE:
                self.tables[spec.number] = DenseTable(spec, self.server, job.servers)
            elif spec.storage == "SSDSparseTable":
                self.tables[spec.number] = DiskTable(spec, job.seed)
            else:
                self.tables[spec.number] = SparseTable(spec, job.seed)

    def _table(self, number: int) -> Any:
        if self.job is None:
            raise NotReadyError("the tables are not known yet; a worker makes them by fleet.init_worker()")
        if number not in self.tables:
            raise ValueError(f"parameter server: table: got {number}; there are {sorted(self.tables)}")
        return self.tables[number]

    @property
    def is_set(self) -> bool:
        """Whether the dense tables have values."""
        dense = [table for table in self.tables.values() if isinstance(table, DenseTable)]
        return all(table.is_set for table in dense)

    # requests -----------------------------------------------------------------------------------------------

    def change(self, data: bytes, request: Message) -> None:
        """Carries out a request that changes something, once; writes it down before.

        Raises:
            StaleWorkerError: another process has taken over the worker's number. ValueError: it does not fit
                the tables. NotReadyError: there are none yet. OSError: it could not be written down.
        """
        self._check(request)
        if self.is_repeat(request):
            return
        self._record(data)
        self._changes[request.kind](request)

    def is_repeat(self, request: Message) -> bool:
        """Whether a request that counts once has been carried out before."""
        return request.kind in _ONCE and request.sequence <= self.last.get(_stream(request), -1)

    def _check(self, request: Message) -> None:
        if request.incarnation < self.incarnations.get(request.worker, 0):
            raise StaleWorkerError(
                f"worker {request.worker}: another process with this number has come later; this one must end"
            )
        if self.job is not None and not 0 <= request.worker < self.job.workers:
            raise ValueError(f"worker: got {request.worker}; there are {self.job.workers}")
        if request.kind == messages.GATHER:
            self._check_exchange(request.round)
        # Other requests name no table.
        if request.kind not in (messages.PUSH, messages.PULL, messages.ASSIGN):
            return
        table = self._table(request.table)
        if isinstance(table, DenseTable):
            length = table.values.shape[1]
            if request.values is None or request.values.shape != (1, length):
                raise ValueError(f"table {table.spec.name!r}: this server has {length} values of it")
        elif request.kind == messages.PUSH:
            self._check_rows(table, request)

    def _check_exchange(self, number: int) -> None:
        """Refuses an exchange whose result is not kept: nobody else will come to it.

        Raises:
            ValueError: it is one.
        """
        if number <= max(self.gathered, default=-1) - _GATHERED:
            raise ValueError(
                f"parameter server: got exchange {number} between workers again; the values of the last "
                f"{_GATHERED} are kept, so this worker cannot go on; end the job, and start it from saved "
                "tables (fleet.init_server(folder))"
            )

    @staticmethod
    def _check_rows(table: SparseTable, request: Message) -> None:
        extra = 2 if request.flags & messages.FLAG_STATISTICS else 0
        got = 0 if request.values is None else request.values.shape[1]
        if len(request.ids) and got != table.spec.width + extra:
            raise ValueError(f"table {table.spec.name!r}: got rows of {got}; it has {table.spec.width}")
        ordered = np.sort(request.ids)
        # NumPy's `+=` by index would count only one of several.
        if (ordered[1:] == ordered[:-1]).any():
            raise ValueError(f"table {table.spec.name!r}: ids: each one may come once in a push")

    def replay(self) -> int:
        """Takes up what the journal has; returns how many requests it had."""
        found = self._journal.snapshot()
        if found is not None:
            self._restore(*found)
        count = 0
        for record in self._journal.records():
            count += 1
            if record.startswith(_JOB):
                self._make_tables(job_of(record[len(_JOB) :].decode()))
            else:
                request = messages.parsed(record)
                # It was checked before it was written.
                self._changes[request.kind](request)
        return count + (found is not None)

    def _record(self, data: bytes) -> None:
        if self._journal is not None:
            self._journal.append(data)

    def snapshot_if_due(self) -> None:
        """Takes a snapshot if the journal has grown."""
        if self._journal is not None and self._journal.is_due():
            self.take_snapshot()

    def take_snapshot(self) -> None:
        """Writes the whole state."""
        if self._journal is not None and self.job is not None:
            on_disk = {
                str(number): table.save_stored
                for number, table in self.tables.items()
                if isinstance(table, DiskTable)
            }
            self._journal.take(*self._state(), on_disk)

    def close(self) -> None:
        """Closes the journal, and removes tables on the disk."""
        if self._journal is not None:
            self._journal.close()
        for table in self.tables.values():
            if isinstance(table, DiskTable):
                table.close()

    # pushes -------------------------------------------------------------------------------------------------

    def _push(self, request: Message) -> None:
        self.last[_stream(request)] = request.sequence
        if self.job.mode != "sync":
            self._apply([request])
        # In sync mode pushes wait until the step is closed; one that comes later is dropped.
        elif request.round >= self.applied:
            workers = self.pending.setdefault(request.round, {})
            workers.setdefault(request.worker, []).append(request)

    def _apply(self, pushes: list[Message], count: int = 1) -> None:
        """Applies pushes for one table: their sum, divided by a number."""
        table = self.tables[pushes[0].table]
        rate = pushes[0].rate
        if isinstance(table, DenseTable):
            total: Any = pushes[0].values
            for push in pushes[1:]:
                total = total + push.values
            total = total / np.float32(count) if count > 1 else total
            if pushes[0].flags & messages.FLAG_DELTA:
                table.add(total)
            else:
                table.update(total, rate)
            return
        rows = [push for push in pushes if len(push.ids)]
        if rows:
            self._apply_rows(table, rows, count, rate)

    @staticmethod
    def _apply_rows(table: SparseTable, pushes: list[Message], count: int, rate: float) -> None:
        ids = pushes[0].ids
        values: Any = pushes[0].values
        if len(pushes) > 1:
            ids, values = merged([push.ids for push in pushes], [push.values for push in pushes])
        width = table.spec.width
        if pushes[0].flags & messages.FLAG_STATISTICS:
            table.show(ids, values[:, width], values[:, width + 1])
            values = values[:, :width]
        if pushes[0].flags & messages.FLAG_DELTA:
            table.add(ids, values)
            return
        if count > 1:
            values = values / np.float32(count)
        table.update(ids, values, rate)

    def _count(self, request: Message) -> None:
        """Counts the ids of a pull in training."""
        self.last[_stream(request)] = request.sequence
        if len(request.ids):
            self._table(request.table).count(request.ids, request.values[:, 0])

    def _assign(self, request: Message) -> None:
        self.last[_stream(request)] = request.sequence
        self._table(request.table).assign(request.values)

    # rounds -------------------------------------------------------------------------------------------------

    def commit_before(self, round: int) -> None:
        """Applies the steps before one, which all workers have finished, in sync mode."""
        if self.job is None or self.job.mode != "sync" or round <= self.applied:
            return
        data = messages.message(messages.COMMIT, 0, 0, round)
        self._record(data)
        self._commit(messages.parsed(data))

    def _commit(self, request: Message) -> None:
        """Applies steps. Ids are the workers whose pushes count; none: all."""
        chosen = set(request.ids.tolist())
        while self.applied < request.round:
            workers = self.pending.pop(self.applied, {})
            # those that count are known for the last one alone; a worker commits each step that has left
            # somebody out before it goes on
            if chosen and self.applied == request.round - 1:
                workers = {worker: pushes for worker, pushes in workers.items() if worker in chosen}
            self._apply_round(workers)
            self.applied += 1

    def _apply_round(self, workers: dict[int, list[Message]]) -> None:
        by_table: dict[int, list[Message]] = {}
        # In a fixed order, so that sums are the same to the last bit in each run.
        for worker in sorted(workers):
            for push in workers[worker]:
                by_table.setdefault(push.table, []).append(push)
        for number in sorted(by_table):
            self._apply(by_table[number], len(workers))

    def _begin(self, request: Message) -> None:
        """A process begins to work at a step: what an earlier one has sent for this step is forgotten."""
        worker = request.worker
        self.incarnations[worker] = request.incarnation
        self.left.discard(worker)
        if self.job is not None and self.job.mode == "sync":
            for round in [round for round in self.pending if round >= request.round]:
                self.pending[round].pop(worker, None)
            # The worker sends the pushes of this step once more, with the same numbers.
            self.last[worker] = min(self.last.get(worker, -1), messages.sequence_of(request.round, 0) - 1)

    def _mark(self, request: Message) -> None:
        """A worker has finished a step: its number + 1 is what it has finished."""
        worker = request.worker
        # The step was closed without this worker, whose pushes were left out.
        if request.round < self.closed and self.marks.get(worker, 0) <= request.round:
            self.dropped[worker] = self.dropped.get(worker, 0) + 1
        self.marks[worker] = max(self.marks.get(worker, 0), request.round + 1)
        self._close()

    def _stop(self, request: Message) -> None:
        self.left.add(request.worker)
        self._close()

    def _close(self) -> None:
        """Closes the steps that enough workers have finished."""
        if self.job is None:
            return
        # One mark may close several steps, where other workers are ahead.
        while True:
            finished = [worker for worker, mark in self.marks.items() if mark > self.closed]
            working = self._working()
            missing = [worker for worker in working if worker not in finished]
            # One worker at least must have finished, whatever the number of backups.
            if not finished or len(missing) > min(self.job.backups, len(working) - 1):
                return
            self.members[self.closed] = sorted(finished)
            # A worker that starts again asks for the last steps alone.
            self.members.pop(self.closed - _GATHERED, None)
            self.closed += 1

    def answer(self, round: int) -> Answer:
        """How far all workers are, for one that has finished a step."""
        return Answer(self.closed, self.members.get(round, []))

    def waits_for(self) -> list[int]:
        """The workers that the open step waits for, once one of the others has finished it."""
        if self.job is None or all(mark <= self.closed for mark in self.marks.values()):
            return []
        return [worker for worker in self._working() if self.marks.get(worker, 0) <= self.closed]

    def _working(self) -> list[int]:
        """The workers that steps wait for: not those that have ended, or wait for the others at a barrier."""
        absent = set(self.left)
        for number in self.gathered:
            if not self.is_gathered(number):
                absent.update(self.gathered[number])
        return [worker for worker in range(self.job.workers) if worker not in absent]

    def is_gathered(self, number: int) -> bool:
        """Whether all workers have given something to an exchange."""
        # Workers that have ended give nothing more.
        return set(self.gathered.get(number, {})) | self.left >= set(range(self.job.workers))

    # exchanges between workers ------------------------------------------------------------------------------

    def _gather(self, request: Message) -> None:
        """Takes what a worker gives to an exchange; its number is the round, the bytes are in `values`."""
        given = self.gathered.setdefault(request.round, {})
        # A worker that comes again has given already.
        given.setdefault(request.worker, request.values.tobytes() if request.values is not None else b"")
        old = self.gathered.pop(request.round - _GATHERED, None)
        if old is not None and not any(old.values()):
            # An exchange of nothing is a barrier: who comes late may pass it.
            self.barriers[request.round - _GATHERED] = len(old)
        self._close()

    def _shrink(self, request: Message) -> None:
        self.last[_stream(request)] = request.sequence
        # The message has NaN for None.
        threshold = None if np.isnan(request.rate) else request.rate
        for table in self._chosen(request):
            table.shrink(threshold)

    def _end_day(self, request: Message) -> None:
        self.last[_stream(request)] = request.sequence
        for table in self._chosen(request):
            table.end_day()

    def _chosen(self, request: Message) -> Iterable[SparseTable]:
        """The sparse tables that a request names; all where it names none."""
        chosen = request.ids.tolist() or list(self.tables)
        return [self.tables[number] for number in chosen if isinstance(self.tables.get(number), SparseTable)]

    # snapshots ----------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Plain values and arrays of all that is known."""
        plain: dict[str, Any] = {
            "job": self.job.text(),
            "applied": self.applied,
            "closed": self.closed,
            "left": sorted(self.left),
        }
        for name in ("last", "incarnations", "marks", "members", "dropped", "barriers"):
            plain[name] = list(getattr(self, name).items())
        arrays: dict[str, np.ndarray] = {}
        for number, table in self.tables.items():
            if isinstance(table, DenseTable):
                arrays |= {f"{number}.values": table.values, f"{number}.states": table.states}
                plain[f"set {number}"] = table.is_set
            else:
                ids, rows, statistics = table.to_save(0)
                arrays |= {f"{number}.ids": ids, f"{number}.rows": rows, f"{number}.statistics": statistics}
        waiting = [
            push for round in sorted(self.pending) for each in self.pending[round].values() for push in each
        ]
        # With one id, since values are rows that belong to ids.
        gathered = [
            messages.message(messages.GATHER, worker, 0, number, ids=np.zeros(1), values=_as_row(given))
            for number, workers in self.gathered.items()
            for worker, given in workers.items()
        ]
        for i, data in enumerate([*map(_as_bytes, waiting), *gathered]):
            arrays[f"message {i}"] = np.frombuffer(data, np.uint8)
        return plain, arrays

    def _restore(self, plain: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._make_tables(job_of(plain["job"]))
        for number, table in self.tables.items():
            if isinstance(table, DenseTable):
                table.assign(arrays[f"{number}.values"])
                table.states[:] = arrays[f"{number}.states"]
                # After `assign`, which would say that there are values.
                table.is_set = plain[f"set {number}"]
            else:
                if isinstance(table, DiskTable):
                    table.load_stored(self._journal.tables / str(number))
                table.put(*[arrays[f"{number}.{part}"] for part in ("ids", "rows", "statistics")])
        self.applied = plain["applied"]
        self.closed = plain["closed"]
        count = sum(name.startswith("message ") for name in arrays)
        # These requests change the numbers below, which therefore come after them.
        for i in range(count):
            request = messages.parsed(arrays[f"message {i}"].tobytes())
            self._changes[request.kind](request)
        self.left = set(plain["left"])
        for name in ("last", "incarnations", "marks", "members", "dropped"):
            setattr(self, name, dict(plain[name]))
        # An older snapshot has none.
        self.barriers = dict(plain.get("barriers", []))


def _stream(request: Message) -> int:
    """Which sequence numbers belong together: those of a worker's pushes, of its changes of whole tables, and
    of its pulls that count, which may overtake the pushes of earlier steps."""
    if request.kind in (messages.SHRINK, messages.DAY):
        return _WHOLE_TABLES + request.worker
    # below zero, where no number of a worker is
    return ~request.worker if request.kind == messages.PULL else request.worker


def _as_bytes(push: Message) -> bytes:
    return messages.message(
        push.kind,
        push.worker,
        push.incarnation,
        push.round,
        table=push.table,
        sequence=push.sequence,
        flags=push.flags,
        rate=push.rate,
        ids=push.ids,
        values=push.values,
    )


def _as_row(data: bytes) -> np.ndarray | None:
    return np.frombuffer(data, np.float32)[None] if data else None


def merged(ids: list[np.ndarray], values: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Ids, each once, and the sums of their rows.

    Args:
        ids: list of int64 [n], each one once in an array.
        values: list of float32 [n, width].
    """
    every = np.concatenate(ids)
    unique, inverse = np.unique(every, return_inverse=True)
    total = np.zeros((len(unique), values[0].shape[1]), np.float32)
    begin = 0
    for rows in values:  # no id occurs twice in one of them
        total[inverse[begin : begin + len(rows)]] += rows
        begin += len(rows)
    return unique, total
