"""Messages between two processes, for `send` and `recv`.

A compiled program for a pair of processes could send too, but two processes that send to each other in
another order would wait for ever. Here a message goes out over a connection of its own, and waits at the
receiver until a call takes it, so the order of calls does not matter. Messages of a pair and group are
numbered, and arrive in that order. A process accepts only connections that know the program's token, which is
in the shared store.
"""

from __future__ import annotations

import collections
import contextlib
import hmac
import json
import queue
import secrets
import socket
import struct
import threading
import time
from collections.abc import Hashable
from typing import Any

import numpy as np

from paddle_jax._core.base.dtype import convert
from paddle_jax._core.base.sockets import receive_exactly
from paddle_jax._core.process_group import failure_detector, startup_barrier
from paddle_jax._launch.ports import own_address

_HEADER_SIZE = struct.Struct("!I")
_CHUNK_BYTES = 1 << 20  # handed to the socket at once
_POLL_SECONDS = 0.5  # between two checks for a reason why a message does not arrive


class OutgoingMessage:
    """A message on its way.

    Attributes:
        header: dict of its number, group, sender, dtype and shape.
        data: memoryview of its bytes.
        done: Event, set once it is delivered or has failed.
        error: the exception of the connection, or None.
    """

    def __init__(self, header: dict[str, Any], data: memoryview) -> None:
        self.header = header
        self.data = data
        self.done = threading.Event()
        self.error: Exception | None = None


class Channel:
    """The messages of this process.

    Attributes:
        rank: int, this process.
        outgoing: {rank: queue of OutgoingMessages to it}.
        counts: Counter of messages by (group, rank, "out" or "in").
        arrived: {(group, rank, number): array} of messages that no call has taken yet.
        closed: set of the ranks whose connection has ended.
        news: Condition, notified when a message arrives or a connection ends.
        store: client of the key-value store that all processes share.
        listener: the listening socket.
    """

    def __init__(self, rank: int, coordinator: str) -> None:
        self.rank = rank
        self.outgoing: dict[int, queue.SimpleQueue[OutgoingMessage]] = {}
        self.counts: collections.Counter = collections.Counter()
        self.arrived: dict[tuple[Any, ...], np.ndarray] = {}
        self.closed: set[int] = set()
        self.news = threading.Condition()
        self.store = startup_barrier.store()
        self.listener = socket.create_server((own_address(coordinator), 0))
        host, port = self.listener.getsockname()[:2]
        if rank == 0:
            self.store.key_value_set("paddle/token", secrets.token_hex(16), allow_overwrite=True)
        self.store.key_value_set(f"paddle/address/{rank}", f"{host}:{port}", allow_overwrite=True)
        threading.Thread(target=self._accept, name="paddle.distributed accept", daemon=True).start()

    # sending ------------------------------------------------------------------------------------------------

    def send(self, group: Hashable, rank: int, array: Any, timeout: float) -> OutgoingMessage:
        """Puts a NumPy array on its way to a process; `wait_until_delivered` takes the result."""
        array = np.ascontiguousarray(array)
        self.counts[group, rank, "out"] += 1
        header = {
            "group": group,
            "from": self.rank,
            "number": self.counts[group, rank, "out"],
            "dtype": array.dtype.name,
            "shape": list(array.shape),
        }
        message = OutgoingMessage(header, memoryview(array.reshape(-1).view(np.uint8)))
        if rank not in self.outgoing:
            self.outgoing[rank] = queue.SimpleQueue()
            threading.Thread(
                target=self._deliver, args=(rank, timeout), name="paddle.distributed send", daemon=True
            ).start()
        self.outgoing[rank].put(message)
        return message

    def wait_until_delivered(
        self, message: OutgoingMessage, what: str, where: str, rank: int, timeout: float
    ) -> None:
        """Waits until a message is delivered.

        Args:
            message: the message.
            what: the call in words.
            where: the group in words.
            rank: the receiver.
            timeout: seconds.
        Raises:
            RuntimeError: it could not be delivered.
        """
        start = time.monotonic()
        while not message.done.wait(_POLL_SECONDS):
            reason = failure_detector.failure_among([rank])
            if reason is None and time.monotonic() - start > timeout:
                reason = f"rank {rank} has not taken it within {timeout:.0f} s"
            if reason is not None:
                raise failure_detector.LostError(f"{what} to rank {rank} in {where}: {reason}")
        if message.error is not None:
            reason = failure_detector.await_failure([rank]) or f"the connection broke: {message.error}"
            raise failure_detector.LostError(f"{what} to rank {rank} in {where}: {reason}")

    def _deliver(self, rank: int, timeout: float) -> None:
        """The thread that sends to one process. After an error all further messages fail."""
        connection = None
        connection_error = None
        while True:
            message = self.outgoing[rank].get()
            try:
                if connection_error is None:
                    connection = connection or self._connect(rank, timeout)
                    _write(connection, message.header, message.data)
            except Exception as error:
                connection_error = error
            message.error = connection_error
            message.done.set()

    def _connect(self, rank: int, timeout: float) -> socket.socket:
        address = self.store.blocking_key_value_get(f"paddle/address/{rank}", int(1000 * timeout))
        host, _, port = address.rpartition(":")
        connection = socket.create_connection((host, int(port)), timeout=timeout)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _write(connection, {"token": self._token(), "from": self.rank}, b"")
        return connection

    def _token(self) -> str:
        return self.store.blocking_key_value_get("paddle/token", 60_000)

    # receiving ----------------------------------------------------------------------------------------------

    def take_number(self, group: Hashable, rank: int) -> int:
        """The number of the next message from a process: the first call gets the first message."""
        self.counts[group, rank, "in"] += 1
        return self.counts[group, rank, "in"]

    def receive(
        self, group: Hashable, rank: int, number: int, what: str, where: str, timeout: float
    ) -> np.ndarray:
        """A message as a NumPy array; waits for it.

        Args:
            group: the group of the message.
            rank: the sender.
            number: from `take_number`.
            what: the call in words.
            where: the group in words.
            timeout: seconds.
        Raises:
            RuntimeError: it will not arrive.
        """
        start = time.monotonic()
        key = (group, rank, number)
        while True:
            with self.news:
                if key in self.arrived or self.news.wait_for(lambda: key in self.arrived, _POLL_SECONDS):
                    return self.arrived.pop(key)
            reason = self._reason_to_give_up(rank, time.monotonic() - start, timeout)
            if reason is not None:
                raise failure_detector.LostError(f"{what} from rank {rank} in {where}: {reason}")

    def _reason_to_give_up(self, rank: int, seconds: float, timeout: float) -> str | None:
        """The reason why a message will not arrive that a call has waited for; None without one."""
        reason = failure_detector.failure_among([rank])
        if reason is not None:
            return reason
        if rank in self.closed:
            return (
                failure_detector.await_failure([rank])
                or "its connection is closed: the process has gone; look at the last lines of its log"
            )
        if seconds > timeout:
            return (
                f"no message came within {timeout:.0f} s; does rank {rank} call send for this rank, "
                "in the same group?"
            )
        return None

    def has_arrived(self, group: Hashable, rank: int, number: int) -> bool:
        """Whether a message has arrived."""
        return (group, rank, number) in self.arrived

    def _accept(self) -> None:
        """The thread that accepts connections."""
        while True:
            with contextlib.suppress(OSError):
                connection, _ = self.listener.accept()
                threading.Thread(
                    target=self._read, args=(connection,), name="paddle.distributed receive", daemon=True
                ).start()

    def _read(self, connection: socket.socket) -> None:
        """The thread that reads the messages of one process."""
        rank = None
        with contextlib.suppress(EOFError, OSError, ValueError, KeyError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            hello = _read_header(connection)
            if not hmac.compare_digest(str(hello["token"]), self._token()):
                return
            rank = int(hello["from"])
            while True:
                header = _read_header(connection)
                array = np.empty(header["shape"], convert(header["dtype"]).np)
                receive_exactly(connection, array.reshape(-1).view(np.uint8), EOFError)
                with self.news:
                    self.arrived[header["group"], rank, header["number"]] = array
                    self.news.notify_all()
        if rank is not None:
            with self.news:
                self.closed.add(rank)
                self.news.notify_all()


def _write(connection: socket.socket, header: dict[str, Any], data: memoryview | bytes) -> None:
    text = json.dumps(header).encode()
    connection.sendall(_HEADER_SIZE.pack(len(text)) + text)
    for start in range(0, len(data), _CHUNK_BYTES):
        connection.sendall(data[start : start + _CHUNK_BYTES])


def _read_header(connection: socket.socket) -> dict[str, Any]:
    (size,) = _HEADER_SIZE.unpack(receive_exactly(connection, bytearray(_HEADER_SIZE.size), EOFError))
    return json.loads(receive_exactly(connection, bytearray(min(size, 1 << 16)), EOFError).decode())
