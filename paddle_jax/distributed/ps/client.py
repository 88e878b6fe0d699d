"""The connections of a worker to its servers."""

from __future__ import annotations

import concurrent.futures
import ipaddress
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax.distributed.ps import messages
from paddle_jax.distributed.ps.messages import Message
from paddle_jax.distributed.ps.settings import SERVICE, grpc_of_servers, local_socket, patience
from paddle_jax.distributed.ps.table_spec import JobSpec, TableSpec, piece_of
from paddle_jax.distributed.rpc.channel import OPTIONS

# The pauses of gRPC grow to two minutes, too long for a server that starts again.
_OPTIONS = [*OPTIONS, ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000)]
_ANSWER = 30.0  # seconds that one request may take
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # seconds between tries
_NOTICE = 10.0  # seconds between two lines that say which server does not answer
# bytes of rows in a message; larger requests go in pieces
_PIECE_BYTES = 8 << 20
# seconds between two signs of life
_BEAT = 1.0
# in place of a server's number, where a change concerns whole tables
_ALL_SERVERS = -1
_REMEMBERED = 1024  # steps whose messages may still be under way


class Connection:
    """A worker's connection to one server; it tries again until PADDLE_PS_TIMEOUT.

    Attributes:
        endpoint: "host:port".
        seconds: for how long it tries.
    """

    def __init__(self, endpoint: str, token: str) -> None:
        self.endpoint = endpoint
        self.seconds: float = patience()
        self._metadata = (("token", token),)
        self._targets = [endpoint]
        if _is_loopback(endpoint.rpartition(":")[0]):
            # A Unix socket is faster than TCP between processes of one machine.
            self._targets.insert(0, f"unix:{local_socket(endpoint)}")
        self._channel: Any = None
        self._stubs: dict[str, Any] = {}
        self._lock = threading.Lock()  # the thread that sends gradients uses it, too

    def _stub(self, method: str) -> Any:
        with self._lock:
            if self._channel is None:
                self._channel = grpc_of_servers().insecure_channel(self._targets[0], options=_OPTIONS)
                self._stubs = {}
            if method not in self._stubs:
                self._stubs[method] = self._channel.unary_unary(f"/{SERVICE}/{method}")
            return self._stubs[method]

    def _call(self, method: str, request: bytes, seconds: float) -> bytes:
        """One try."""
        while True:
            # Asked for at each try: `close` drops the stubs of a failed connection.
            stub = self._stub(method)
            try:
                return stub(request, timeout=seconds, metadata=self._metadata)
            except ValueError:
                # another thread has closed the connection after a failure
                if stub is self._stubs.get(method) and self._channel is not None:
                    raise

    def ask(self, method: str, request: bytes, seconds: float = _ANSWER) -> bytes:
        """The answer to a request.

        Raises:
            PermissionError: the server has another token. ValueError: it refuses the request. RuntimeError:
                another process has this worker's number; or no answer came in time.
        """
        grpc = grpc_of_servers()
        started = time.monotonic()
        noticed = started
        tries = 0
        while True:
            try:
                return self._call(method, request, seconds)
            except grpc.RpcError as error:
                again = self._again_after(error)
                waited = time.monotonic() - started
                if waited > self.seconds:
                    raise RuntimeError(
                        f"parameter server {self.endpoint}: no answer to {method} within {waited:.0f} s "
                        f"(PADDLE_PS_TIMEOUT): {error.details()}; start it again, or end the job"
                    ) from None
            if time.monotonic() - noticed > _NOTICE:
                noticed = time.monotonic()
                print(
                    f"worker: waits for parameter server {self.endpoint}: {again}",
                    file=sys.stderr,
                    flush=True,
                )
            time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            tries += 1

    def _again_after(self, error: Any) -> str:
        """Why a request is repeated; raises what is no reason for it."""
        codes = grpc_of_servers().StatusCode
        code = error.code()
        details = error.details() or ""
        if code == codes.UNAUTHENTICATED:
            raise PermissionError(
                f"parameter server {self.endpoint}: {details}; all processes need the same PADDLE_JOB_TOKEN"
            ) from None
        if code == codes.INVALID_ARGUMENT:
            raise ValueError(f"parameter server {self.endpoint}: {details}") from None
        # These three are what a server that starts again looks like.
        if code not in (codes.UNAVAILABLE, codes.DEADLINE_EXCEEDED, codes.CANCELLED):
            raise RuntimeError(f"parameter server {self.endpoint}: {details}") from None
        if "Error:" not in details:  # no server has answered: perhaps it can be reached otherwise
            self.close()
            with self._lock:
                self._targets.append(self._targets.pop(0))
        return details

    def close(self) -> None:
        """Closes the connection; the next request opens it again."""
        with self._lock:
            channel = self._channel
            self._channel = None
        if channel is not None:
            channel.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
    # A name that nobody knows is no address of this machine.
    except OSError:
        return False


class Client:
    """A worker among its servers.

    Attributes:
        worker: int, number of this worker.
        job: JobSpec.
        round: int, the step that the worker is in.
        incarnation: int, when this process began.
        late: list of texts, the workers that the servers wait for.
    """

    def __init__(self, endpoints: Sequence[str], worker: int, job: JobSpec, token: str) -> None:
        self.worker = worker
        self.job: JobSpec = job
        self.round: Any = 0
        # It grows with each start, so servers refuse what an earlier process of this worker sends.
        self.incarnation: int = time.time_ns()
        self.late: list[str] = []
        self._pieces: dict[tuple[int, int, int], int] = {}
        self._endpoints = list(endpoints)
        self._token = token
        self._connections = [Connection(endpoint, token) for endpoint in endpoints]
        self._pool = concurrent.futures.ThreadPoolExecutor(len(endpoints), "paddle.ps")
        self._gathers = 0
        self._ended = threading.Event()
        self._beats: threading.Thread | None = None

    # requests to all servers --------------------------------------------------------------------------------

    def each(self, function: Callable[[int, Connection], Any]) -> list[Any]:
        """What a function gives for (number, connection) of each server; all run at once."""
        # No thread for a single server.
        if len(self._connections) == 1:
            return [function(0, self._connections[0])]
        return list(self._pool.map(function, range(len(self._connections)), self._connections))

    def _message(self, kind: int, round: int | None = None, **fields: Any) -> bytes:
        round = self.round if round is None else round
        return messages.message(kind, self.worker, self.incarnation, round, **fields)

    def _sequence(self, server: int, kind: int, round: int) -> int:
        """The next sequence number of a kind for a server: a process that starts again with a step gives the
        same ones."""
        key = (server, kind, round)
        piece = self._pieces.get(key, 0)
        self._pieces[key] = piece + 1
        return messages.sequence_of(round, piece)

    # beginning and end --------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Introduces the worker to all servers; waits for them. Returns whether the dense tables have values.

        Raises:
            ValueError: a server has other tables or numbers.
        """
        # Rows begin alike on all servers: the seed of worker 0 counts.
        seed = self.job.seed if self.worker == 0 else -1
        body = {"worker": self.worker, "job": self.job._replace(seed=seed).text()}
        request = json.dumps(body).encode()
        answers = [json.loads(found) for found in self.each(lambda _, server: server.ask("Hello", request))]
        for endpoint, answer in zip(self._endpoints, answers, strict=True):
            if "error" in answer:
                raise ValueError(f"parameter server {endpoint}: {answer['error']}")
        self.job = self.job._replace(seed=answers[0]["seed"])
        self.round = answers[0]["round"]
        begin = self._message(messages.BEGIN)
        self.each(lambda _, server: server.ask("Change", begin))
        # An earlier process of this worker has finished a step for which others still work.
        if self.round > answers[0]["closed"]:
            self.wait_for_round(self.round - 1)
        self._beats = threading.Thread(target=self._beat, name="paddle.ps beat", daemon=True)
        self._beats.start()
        return all(answer["is_set"] for answer in answers)

    def _beat(self) -> None:
        """Gives a sign of life once a second, until the end."""
        # A connection of its own, so that no long request holds the sign of life up.
        connection = Connection(self._endpoints[0], self._token)
        # No second try: the next sign comes anyway.
        connection.seconds = 0.0
        said: list[str] = []
        while not self._ended.wait(_BEAT):
            try:
                self.late = json.loads(connection.ask("Beat", self._message(messages.MARK), _BEAT * 5))
            except (RuntimeError, ValueError, OSError):
                continue  # requests of the worker itself say what is wrong
            if self.late and self.late != said:
                said = self.late
                print(
                    f"worker {self.worker}: the servers wait for {', '.join(said)}",
                    file=sys.stderr,
                    flush=True,
                )
        connection.close()

    def stop(self) -> None:
        """Says goodbye to all servers, and closes the connections."""
        request = self._message(messages.STOP)
        self.each(lambda _, server: server.ask("Change", request))
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._ended.set()
        if self._beats is not None:
            self._beats.join()
        for connection in self._connections:
            connection.close()
        self._pool.shutdown()

    # tables -------------------------------------------------------------------------------------------------

    def pull(self, table: TableSpec, ids: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """The rows of ids, float32 [n, width].

        Args:
            table: TableSpec.
            ids: int64 [n], each one once.
            counts: how often each one occurs, in training; else None.
        """
        found = np.empty((len(ids), table.width), np.float32)
        parts = self._parts(ids)
        rows = max(1, _PIECE_BYTES // (4 * table.width))
        # Only such a table changes by pulls, and needs numbers against counting twice.
        counted = counts is not None and table.entry.startswith("count_filter_entry")
        flags = messages.FLAG_TRAINING if counts is not None else 0

        def pull_part(number: int, server: Connection) -> None:
            indices = parts[number]
            for begin in range(0, len(indices), rows):
                piece = indices[begin : begin + rows]
                # Messages hold float32 alone.
                values = counts[piece, None].astype(np.float32) if counted else None
                sequence = self._sequence(number, messages.PULL, self.round) if counted else 0
                request = self._message(
                    messages.PULL,
                    table=table.number,
                    sequence=sequence,
                    flags=flags,
                    ids=ids[piece],
                    values=values,
                )
                answer = server.ask("Pull", request)
                found[piece] = np.frombuffer(answer, np.float32).reshape(-1, table.width)

        self.each(pull_part)
        return found

    def _parts(self, ids: np.ndarray) -> list[np.ndarray]:
        """The positions of the ids of each server."""
        servers = len(self._connections)
        if servers == 1:
            return [np.arange(len(ids))]
        where = messages.server_of(ids, self.job.shards, servers)
        return [np.flatnonzero(where == server) for server in range(servers)]

    def push(
        self, table: TableSpec, ids: np.ndarray, values: np.ndarray, rate: float, round: int, flags: int = 0
    ) -> None:
        """Sends gradients or differences of rows. Each server gets a message, if an empty one: it carries the
        learning rate, and says that the worker takes part.

        Args:
            table: TableSpec.
            ids: int64 [n], each one once.
            values: float32 [n, width], two columns more with FLAG_STATISTICS.
            rate: learning rate.
            round: the step.
            flags: of `messages`.
        """
        parts = self._parts(ids)
        # 8 bytes for the id, 4 for each value
        rows = max(1, _PIECE_BYTES // (8 + 4 * values.shape[1]))

        def push_part(number: int, server: Connection) -> None:
            indices = parts[number]
            # One round at least: a server without rows of this step gets an empty push.
            for begin in range(0, max(len(indices), 1), rows):
                piece = indices[begin : begin + rows]
                fields = {"ids": ids[piece], "values": values[piece], "rate": rate, "flags": flags}
                self._push_one(number, server, table, round, fields)

        self.each(push_part)

    def _push_one(
        self, number: int, server: Connection, table: TableSpec, round: int, fields: dict[str, Any]
    ) -> None:
        """Sends one message of a push to the server of a number."""
        sequence = self._sequence(number, messages.PUSH, round)
        request = self._message(messages.PUSH, round, table=table.number, sequence=sequence, **fields)
        server.ask("Change", request)

    def pull_dense(self, table: TableSpec) -> np.ndarray:
        """The values of a dense table, float32 [width]."""
        request = self._message(messages.PULL, table=table.number)
        answers = self.each(lambda _, server: server.ask("Pull", request))
        return np.concatenate([np.frombuffer(answer, np.float32) for answer in answers])

    def push_dense(
        self, table: TableSpec, values: np.ndarray, rate: float, round: int, flags: int = 0
    ) -> None:
        """Sends gradients or differences of a dense table, float32 [width]."""

        def push_part(number: int, server: Connection) -> None:
            begin, end = piece_of(table.width, number, len(self._connections))
            piece = values[None, begin:end]
            if begin == end:
                return  # more servers than values
            fields = {"ids": np.zeros(1, np.int64), "values": piece, "rate": rate, "flags": flags}
            self._push_one(number, server, table, round, fields)

        self.each(push_part)

    def assign_dense(self, table: TableSpec, values: np.ndarray) -> None:
        """Sets the values of a dense table, float32 [width]."""

        def assign_part(number: int, server: Connection) -> None:
            begin, end = piece_of(table.width, number, len(self._connections))
            if begin == end:
                return
            request = self._message(
                messages.ASSIGN,
                table=table.number,
                sequence=self._sequence(number, messages.PUSH, self.round),
                ids=np.zeros(1, np.int64),
                values=values[None, begin:end],
            )
            server.ask("Change", request)

        self.each(assign_part)

    # rounds -------------------------------------------------------------------------------------------------

    def mark(self, round: int) -> None:
        """Says that this worker has finished a step."""
        # Server 0 counts the steps for all.
        self._connections[0].ask("Change", self._message(messages.MARK, round))

    def wait_for_round(self, round: int) -> int:
        """Waits until all workers have finished a step; returns the step to go on with."""
        request = self._message(messages.MARK, round)
        # After some seconds the server answers without a result, and is asked again.
        while True:
            answer = json.loads(self._connections[0].ask("Wait", request))
            if "closed" in answer:
                break
        # Some workers may be left out of a step: all servers must leave out the same ones.
        if self.job.backups:
            self._commit(round, answer["members"])
        # A worker that was left out goes on where the others are.
        return answer["closed"] if self.worker not in answer["members"] else round + 1

    def _commit(self, round: int, members: list[int]) -> None:
        """Tells all servers whose pushes count in a step."""
        request = self._message(messages.COMMIT, round + 1, ids=np.array(members, np.int64))
        self.each(lambda _, server: server.ask("Change", request))

    def advance(self, round: int) -> None:
        """Goes on with a step."""
        self.round = round
        # A copy: the thread that sends gradients may add keys meanwhile.
        old = [key for key in list(self._pieces) if key[2] < round - _REMEMBERED]
        for key in old:
            del self._pieces[key]

    # the rest -----------------------------------------------------------------------------------------------

    def gather(self, text: str) -> list[str]:
        """What all workers have given to this exchange, in their order; without spaces at the end."""
        number = self._gathers
        self._gathers += 1
        data = text.encode()
        # Messages hold float32, so bytes come in fours.
        data += b" " * (-len(data) % 4)
        values = np.frombuffer(data, np.float32)[None] if data else None
        request = self._message(messages.GATHER, number, ids=np.zeros(1, np.int64), values=values)
        while True:
            answer = self._connections[0].ask("Gather", request)
            if answer != b"waiting":
                break
        found = json.loads(answer)
        if self.job.mode == "sync" and found["closed"] > self.round:
            self.advance(found["closed"])  # the others had more data
        return [given.rstrip(" ") for given in found["given"]]

    def ask_all(self, method: str, **fields: Any) -> list[bytes]:
        """Sends a request in JSON to all servers."""
        request = json.dumps({"round": self.round} | fields).encode()
        # What concerns whole tables takes longer than other requests.
        seconds = max(connection.seconds for connection in self._connections)
        return self.each(lambda _, server: server.ask(method, request, seconds))

    def save(self, folder: str, mode: int, tables: list[int] | None) -> None:
        """Has all servers write their part of the tables; mode 3 ends a day, once."""
        fields: dict[str, Any] = {"folder": folder, "mode": mode, "tables": tables}
        if mode == 3:
            # A day ends once, also where the request is sent again.
            fields["worker"] = self.worker
            fields["incarnation"] = self.incarnation
            fields["sequence"] = self._whole_sequence()
        self.ask_all("Save", **fields)

    def shrink(self, rate: float, ids: np.ndarray) -> None:
        """Lets the scores of sparse tables fade on all servers, once.

        Args:
            rate: rows below this score go; NaN: the table's own limit.
            ids: int64, numbers of the tables; none: all.
        """
        request = self._message(messages.SHRINK, rate=rate, ids=ids, sequence=self._whole_sequence())
        self.each(lambda _, server: server.ask("Change", request, server.seconds))

    def _whole_sequence(self) -> int:
        """The next sequence number of changes of whole tables, the same for all servers."""
        return self._sequence(_ALL_SERVERS, messages.SHRINK, self.round)


__all__ = ["Client", "Connection", "Message"]
