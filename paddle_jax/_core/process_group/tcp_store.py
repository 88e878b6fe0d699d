"""`TCPStore`: keys and values that processes share by one of them, independent of any process group."""

from __future__ import annotations

import socket
import socketserver
import struct
import sys
import threading
import time
from typing import Any

from paddle_jax._core.base.sockets import receive_exactly

_LENGTH = struct.Struct("!q")
_PAUSE = 0.05  # seconds between attempts to reach a server that does not listen yet
_JOINED = "init/"  # counts the processes that have joined


def _read_field(connection: socket.socket) -> bytes:
    header = receive_exactly(connection, bytearray(_LENGTH.size), ConnectionError)
    (length,) = _LENGTH.unpack(header)
    return bytes(receive_exactly(connection, bytearray(length), ConnectionError))


def _send_fields(connection: socket.socket, *fields: bytes) -> None:
    connection.sendall(b"".join(_LENGTH.pack(len(field)) + field for field in fields))


class _Values:
    """Keys and values in the memory of the server.

    Attributes:
        changed: Condition that guards `held`.
        held: dict of bytes.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.held: dict[bytes, bytes] = {}

    def set(self, key: bytes, value: bytes) -> bytes:
        with self.changed:
            self.held[key] = value
            self.changed.notify_all()
        return b""

    def add(self, key: bytes, amount: bytes) -> bytes:
        with self.changed:
            self.held[key] = b"%d" % (int(self.held.get(key, b"0")) + int(amount))
            self.changed.notify_all()
            return self.held[key]

    def get(self, key: bytes, seconds: bytes) -> bytes:
        """The value of a key, once there is one.

        Raises:
            TimeoutError: there is none within `seconds`.
        """
        with self.changed:
            if not self.changed.wait_for(lambda: key in self.held, float(seconds)):
                raise TimeoutError
            return self.held[key]


class _Handler(socketserver.BaseRequestHandler):
    """Answers the requests of one process, one after the other."""

    def handle(self) -> None:
        values: _Values = self.server.values  # pyright: ignore[reportAttributeAccessIssue]
        calls = {b"set": values.set, b"add": values.add, b"get": values.get}
        while True:
            try:
                name, key, argument = (_read_field(self.request) for _ in range(3))
            except ConnectionError:
                return
            try:
                answer = calls[name](key, argument)
            except TimeoutError:
                _send_fields(self.request, b"timeout", b"")
            except ValueError as error:
                _send_fields(self.request, b"value", str(error).encode())
            else:
                _send_fields(self.request, b"", answer)


class _Server(socketserver.ThreadingTCPServer):
    """Holds the values, and answers each process in a thread.

    Attributes:
        values: _Values.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, port), _Handler)
        self.values = _Values()
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing about a process that has ended before its answer."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class TCPStore:
    """Keys and values that processes share. One process, the master, holds them as long as it runs.
    Making one returns when `world_size` processes have made one.

    Args:
        hostname: str, an address of the machine of the master.
        port: int, its port.
        is_master: bool, whether this process is the master.
        world_size: int, how many processes make one.
        timeout: int, seconds to wait for the other processes, and for a key.
    Attributes:
        _address: (host, port) of the master.
        _timeout: float, seconds.
        _server: the server of the master, else None.
        _connection: socket to the master.
        _guard: Lock, since a connection takes one request at a time.
    Raises:
        SystemError: the master or other processes are not there in time. OSError: the master cannot
            listen at its address.
    Differs from Paddle: a key without a value raises after `timeout`; Paddle ends the process.
    Example:
        >>> import socket
        >>> from paddle_jax.base.core import TCPStore
        >>> with socket.socket() as probe:
        ...     probe.bind(("127.0.0.1", 0))
        ...     port = probe.getsockname()[1]
        >>> store = TCPStore("127.0.0.1", port, True, 1)
        >>> store.set("name", "value")
        >>> store.get("name"), store.add("count", 2), store.add("count", 1)
        (b'value', 2, 3)
    """

    def __init__(
        self, hostname: str, port: int, is_master: bool, world_size: int, timeout: int = 900
    ) -> None:
        self._address = (hostname, int(port))
        self._timeout = float(timeout)
        self._server = _Server(hostname, int(port)) if is_master else None
        self._guard = threading.Lock()
        limit = time.monotonic() + self._timeout
        self._connection = self._connected(limit)
        try:
            self._await_all(int(world_size), limit)
        except BaseException:
            self.close()
            raise

    def _connected(self, limit: float) -> socket.socket:
        """A connection to the master, which may begin to listen later."""
        while True:
            try:
                connection = socket.create_connection(self._address, timeout=max(self._timeout, 1.0))
            except OSError as error:
                if time.monotonic() > limit:
                    host, port = self._address
                    raise SystemError(
                        f"TCPStore: no master answers at {host}:{port} within {self._timeout:g} s "
                        f"({error}); start it with is_master=True"
                    ) from None
                time.sleep(_PAUSE)
            else:
                # An answer may take as long as a key is waited for, which the master limits.
                connection.settimeout(None)
                return connection

    def _await_all(self, world_size: int, limit: float) -> None:
        joined = self.add(_JOINED, 1)
        while joined < world_size:
            if time.monotonic() > limit:
                raise SystemError(
                    f"TCPStore: {joined} of world_size {world_size} processes have come within "
                    f"{self._timeout:g} s; start the others, or pass a longer timeout"
                )
            time.sleep(_PAUSE)
            joined = self.add(_JOINED, 0)

    def _ask(self, name: bytes, key: str, argument: bytes) -> bytes:
        """The answer of the master to a request.

        Raises:
            SystemError: the key has no value in time, or the master has ended.
            ValueError: the value is no number.
        """
        if not isinstance(key, str):
            raise TypeError(f"TCPStore: key: got {type(key).__name__}; it must be a str")
        with self._guard:
            try:
                _send_fields(self._connection, name, key.encode(), argument)
                problem, answer = _read_field(self._connection), _read_field(self._connection)
            except OSError as error:
                host, port = self._address
                raise SystemError(
                    f"TCPStore: the connection to the master at {host}:{port} broke ({error}); keep the "
                    "master running until the others are done"
                ) from None
        if problem == b"timeout":
            raise SystemError(
                f"TCPStore: {key!r} has no value within {self._timeout:g} s; set it, or pass a longer timeout"
            )
        if problem:
            raise ValueError(f"TCPStore: {key!r} holds no number, and add() needs one ({answer.decode()})")
        return answer

    def set(self, key: str, value: str | bytes) -> None:
        """Gives a key a value.

        Raises:
            TypeError: value is neither str nor bytes.
        """
        if not isinstance(value, str | bytes):
            raise TypeError(f"TCPStore.set: value: got {type(value).__name__}; it must be a str or bytes")
        self._ask(b"set", key, value.encode() if isinstance(value, str) else value)

    def get(self, key: str) -> bytes:
        """The value of a key; it waits until there is one."""
        return self._ask(b"get", key, b"%f" % self._timeout)

    def wait(self, key: str) -> None:
        """Waits until a key has a value."""
        self.get(key)

    def add(self, key: str, amount: int) -> int:
        """Adds to the number that a key holds, which begins with 0, and returns the sum.

        Raises:
            TypeError: amount is no int. ValueError: the key holds no number.
        """
        if not isinstance(amount, int):
            raise TypeError(f"TCPStore.add: amount: got {type(amount).__name__}; it must be an int")
        return int(self._ask(b"add", key, b"%d" % amount))

    def close(self) -> None:
        """Ends the connection. The master stops to answer others."""
        self._connection.close()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


__all__ = ["TCPStore"]
