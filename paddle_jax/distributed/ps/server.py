"""The process that serves tables."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

from paddle_jax.distributed.ps import files, messages
from paddle_jax.distributed.ps.journal import Journal
from paddle_jax.distributed.ps.server_state import NotReadyError, ServerState, StaleWorkerError
from paddle_jax.distributed.ps.settings import (
    SERVICE,
    grpc_of_servers,
    journal_folder,
    local_socket,
    worker_timeout,
)
from paddle_jax.distributed.ps.table_spec import JobSpec, job_of
from paddle_jax.distributed.ps.tables import DenseTable, SparseTable
from paddle_jax.distributed.rpc.channel import LAST_WORDS, serve

_SLICE = 5.0  # seconds for which a request waits before it is answered that it must be repeated
_LOOK = 0.5  # seconds between two looks at who is late
_SPARE_THREADS = 8
_UNFIT = (ValueError, KeyError, EOFError, zipfile.BadZipFile)  # what reading files that do not fit raises
WAITING = b"waiting"


class TableServer:
    """A parameter server.

    Attributes:
        state: ServerState.
        own: JobSpec of this process's program, or None where it has none.
    """

    def __init__(
        self, server: int, endpoints: list[str], workers: int, token: str, own: JobSpec | None
    ) -> None:
        self.own = own
        self._servers = len(endpoints)
        self._workers = workers
        self._endpoint = endpoints[server]
        self._lock = threading.Condition()
        self._stopping = threading.Lock()
        self._is_stopped = False
        self._beats: dict[int, float] = {}
        self._open_since = time.monotonic()
        self._open_round = -1
        self._late: dict[int, float] = {}
        folder = journal_folder()
        self.state: ServerState = ServerState(
            server, None if folder is None else Journal(folder / f"server.{server}")
        )
        self._load_from: str | None = None
        self._failure: ValueError | None = None
        if folder is not None:
            count = self.state.replay()
            if count:
                self._say(f"takes up {count} requests of its journal; step {self.state.applied}")
        methods = {
            "Hello": self._hello,
            "Change": self._change,
            "Pull": self._pull,
            "Wait": self._wait,
            "Gather": self._gather,
            "Beat": self._beat,
            "Save": self._save,
            "Load": self._load,
            "Stat": self._stat,
        }
        guarded = {name: self._translated(function) for name, function in methods.items()}
        local = local_socket(self._endpoint)
        # One that an earlier server has left would refuse the name.
        local.unlink(missing_ok=True)
        # Each worker may wait in two requests at once; the rest answers short ones.
        threads = 2 * workers + _SPARE_THREADS
        self._grpc_server, _ = serve(
            SERVICE,
            token,
            self._endpoint,
            guarded,
            caller="run_server",
            local=str(local),
            threads=threads,
            largest=messages.LARGEST,
        )
        self._local = local

    def _say(self, text: str) -> None:
        print(f"parameter server {self.state.server}: {text}", file=sys.stderr, flush=True)

    @staticmethod
    def _translated(function: Any) -> Any:
        """A method whose exceptions become statuses that workers understand."""
        codes = grpc_of_servers().StatusCode
        table = {
            ValueError: codes.INVALID_ARGUMENT,
            StaleWorkerError: codes.ABORTED,
            NotReadyError: codes.UNAVAILABLE,
            OSError: codes.UNAVAILABLE,
        }

        def call(request: bytes, context: Any) -> bytes:
            try:
                return function(request, context)
            except tuple(table) as error:
                code = next(code for kind, code in table.items() if isinstance(error, kind))
                context.abort(code, f"{type(error).__name__}: {error}")
                raise

        return call

    # who takes part -----------------------------------------------------------------------------------------

    def _hello(self, request: bytes, context: Any) -> bytes:
        """Compares what a worker is about with what the server is; makes the tables for the first one."""
        given = json.loads(request)
        job = job_of(given["job"])
        with self._lock:
            problem = self._problem(job, int(given["worker"]))
            if problem is not None:
                self._say(f"refuses worker {given['worker']}: {problem}")
                return json.dumps({"error": problem}).encode()
            if self.state.job is None:
                # Only worker 0 sends a seed.
                if job.seed < 0 and int(given["worker"]):
                    raise NotReadyError("worker 0 has not come yet; it says what rows begin with")
                self.state.set_job(job)
            self._load_first()
            if self._failure is not None:
                return json.dumps({"error": str(self._failure)}).encode()
            worker = int(given["worker"])
            self._beats[worker] = time.monotonic()
            answer = {
                "round": self.state.marks.get(worker, 0),
                "closed": self.state.closed,
                "is_set": self.state.is_set,
                "seed": self.state.job.seed,
            }
        return json.dumps(answer).encode()

    def _load_first(self) -> None:
        """Fills the tables from the folder of `load_when_known`. After an OSError the next request tries it
        again; files that do not fit end the server."""
        if self._load_from is None or self._failure is not None:
            return
        try:
            files.load(self.state, self._load_from)
        except _UNFIT as error:
            if isinstance(error, ValueError):
                self._failure = error
            else:
                self._failure = ValueError(f"load: {self._load_from}: a file of it cannot be used: {error!r}")
            self._lock.notify_all()
            return
        self._load_from = None
        self.state.take_snapshot()

    def _problem(self, job: JobSpec, worker: int) -> str | None:
        """Why a worker does not fit this server."""
        if (job.workers, job.servers) != (self._workers, self._servers):
            return (
                f"the server has {self._workers} workers and {self._servers} servers, worker {worker} has "
                f"{job.workers} and {job.servers}"
            )
        known = self.state.job or self.own
        if known is not None and known.digest() != job.digest():
            return (
                f"the server has {known.summary()} (digest {known.digest()}), worker {worker} has "
                f"{job.summary()} (digest {job.digest()}); all must run the same program"
            )
        return None

    # tables -------------------------------------------------------------------------------------------------

    def _change(self, request: bytes, context: Any) -> bytes:
        """Carries out a request that changes something."""
        found = messages.parsed(request)
        with self._lock:
            self._commit(found)
            self.state.change(request, found)
            self.state.snapshot_if_due()
            self._lock.notify_all()
        return b""

    def _commit(self, request: messages.Message) -> None:
        """Applies the steps before that of a request; those that leave somebody out name them."""
        if request.kind in (messages.PULL, messages.PUSH, messages.SHRINK, messages.DAY, messages.STOP):
            self.state.commit_before(request.round)

    def _pull(self, request: bytes, context: Any) -> bytes:
        """Rows of a table, or this server's part of a dense one."""
        found = messages.parsed(request)
        with self._lock:
            self.state.commit_before(found.round)
            table = self.state._table(found.table)
            if isinstance(table, DenseTable):
                if not table.is_set:
                    raise NotReadyError("worker 0 has not given the values yet")
                return table.values.tobytes()
            # A pull that counts is a change, and goes into the journal.
            if found.flags & messages.FLAG_TRAINING and table.counts_pulls:
                self.state.change(request, found)
            return table.pull(found.ids).tobytes()

    # rounds -------------------------------------------------------------------------------------------------

    def _wait(self, request: bytes, context: Any) -> bytes:
        """Waits until all workers have finished a step: {"closed", "members"}, or that the worker must ask
        again."""
        found = messages.parsed(request)
        limit = time.monotonic() + _SLICE
        with self._lock:
            while self.state.closed <= found.round:
                left = limit - time.monotonic()
                if left <= 0 or not context.is_active():
                    return json.dumps({"waits_for": self._late_names()}).encode()
                self._lock.wait(left)
            return json.dumps(self.state.answer(found.round)._asdict()).encode()

    def _late_names(self) -> list[str]:
        return [f"worker {worker} for {seconds:.0f} s" for worker, seconds in self._late.items()]

    def _gather(self, request: bytes, context: Any) -> bytes:
        """Waits until all workers have given something to an exchange: {"given", "closed"}."""
        found = messages.parsed(request)
        limit = time.monotonic() + _SLICE
        with self._lock:
            if found.round in self.state.barriers:  # a worker that has started again comes after the others
                texts = [""] * self.state.barriers[found.round]
                return json.dumps({"given": texts, "closed": self.state.closed}).encode()
            # A repeated request only waits.
            if found.worker not in self.state.gathered.get(found.round, {}):
                self.state.change(request, found)
                self._lock.notify_all()
            while not self.state.is_gathered(found.round):
                left = limit - time.monotonic()
                if left <= 0 or not context.is_active():
                    return WAITING
                self._lock.wait(left)
            given = self.state.gathered[found.round]
            closed = self.state.closed
        texts = [given[worker].decode() for worker in sorted(given)]
        return json.dumps({"given": texts, "closed": closed}).encode()

    def _beat(self, request: bytes, context: Any) -> bytes:
        """A sign of life; answers who is late."""
        found = messages.parsed(request)
        with self._lock:
            self._beats[found.worker] = time.monotonic()
            return json.dumps(self._late_names()).encode()

    # files --------------------------------------------------------------------------------------------------

    def _save(self, request: bytes, context: Any) -> bytes:
        given = json.loads(request)
        with self._lock:
            self.state.commit_before(given["round"])
            if self.state.job is None:
                raise NotReadyError("there are no tables")
            day = self._day_of(given) if given["mode"] == 3 else None
            # The answer to the first request was lost; the files are there.
            if day is not None and self.state.is_repeat(messages.parsed(day)):
                return b""
            files.save(self.state, given["folder"], given["mode"], given["tables"])
            if day is not None:
                self.state.change(day, messages.parsed(day))
        return b""

    @staticmethod
    def _day_of(given: dict[str, Any]) -> bytes:
        """The request that ends a day after a save in mode 3.

        Raises:
            ValueError: it has no sequence number.
        """
        if "sequence" not in given:
            raise ValueError("save: mode: got 3 without a sequence number; all processes need one version")
        return messages.message(
            messages.DAY, given["worker"], given["incarnation"], given["round"], sequence=given["sequence"]
        )

    def _load(self, request: bytes, context: Any) -> bytes:
        given = json.loads(request)
        with self._lock:
            self.state.commit_before(given["round"])
            if self.state.job is None:
                raise NotReadyError("there are no tables")
            files.load(self.state, given["folder"], given["tables"])
            self.state.take_snapshot()
        return b""

    def _stat(self, request: bytes, context: Any) -> bytes:
        """What the server has, as JSON."""
        with self._lock:
            state = self.state
            rows = {
                table.spec.name: len(table)
                for table in state.tables.values()
                if isinstance(table, SparseTable)
            }
            found = {"rows": rows, "applied": state.applied, "closed": state.closed, "dropped": state.dropped}
        return json.dumps(found).encode()

    def load_when_known(self, folder: str) -> None:
        """Fills the tables from what was saved, once they are known, unless a worker has begun before."""
        with self._lock:
            if not self.state.incarnations:  # workers begin after this has succeeded
                self._load_from = folder

    # life ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serves until all workers have ended.

        Raises:
            ValueError: what the tables are filled from does not fit.
        """
        self._say(f"serves at {self._endpoint}")
        every = set(range(self._workers))
        try:
            with self._lock:
                while not self.state.left >= every:
                    self._lock.wait(_LOOK)
                    if self._is_stopped:
                        return  # another thread has ended the server
                    self._name_late_workers()
                    if self._failure is not None:
                        raise self._failure
            self._say("all workers have ended")
        finally:
            self.stop()

    def _name_late_workers(self) -> None:
        """Finds the workers that the others wait for, and says so."""
        now = time.monotonic()
        # Marks of steps go to server 0.
        waits = self.state.waits_for() if self.state.server == 0 else []
        # A new step is open, or nobody waits: the time begins again.
        if self.state.closed != self._open_round or not waits:
            self._open_round = self.state.closed
            self._open_since = now
            self._late.clear()
            return
        waited = now - self._open_since
        limit = worker_timeout()
        if waited < limit:
            return
        for worker in waits:
            # Once, and again after each further time limit.
            if worker not in self._late or int(waited / limit) > int(self._late[worker] / limit):
                beat = self._beats.get(worker)
                seen = (
                    "it has not come" if beat is None else f"its last sign of life was {now - beat:.0f} s ago"
                )
                self._say(
                    f"step {self._open_round} has waited for worker {worker} for {waited:.0f} s; {seen}"
                )
                _report(worker, self.state.incarnations.get(worker, 0))
            self._late[worker] = waited

    def stop(self) -> None:
        """Ends the server."""
        with self._stopping:
            if self._is_stopped:
                return  # the socket may be that of the next process
            self._grpc_server.stop(LAST_WORDS / 5).wait()
            with self._lock:  # handlers that gRPC has cancelled may still run
                self.state.close()
            self._local.unlink(missing_ok=True)
            self._is_stopped = True


def _report(worker: int, incarnation: int) -> None:
    """Tells the launcher that a worker is late."""
    folder = os.environ.get("PADDLE_PS_EVENTS")
    if folder:
        (Path(folder) / f"late.{worker}.{incarnation}").touch()


__all__ = ["TableServer"]
