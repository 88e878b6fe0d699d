"""Sockets between the processes of a group on one machine, which exchange messages of a few KB over them.

XLA's exchange of such a message goes through its runtime, the network interface and pools of threads, all of
which have to wake up: about a millisecond. A message that is written to a socket of the same machine arrives
as soon as the other process is scheduled. Processes send a fixed number of bytes, and unpickle nothing. A
process takes part only if it knows the token of the group.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import select
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

from paddle_jax._core.base.sockets import receive_exactly
from paddle_jax._core.process_group import group_flags

_MAX_PROCESSES = 16  # each has a socket to each of the others
_CONNECT_SECONDS = 30.0  # for a connection, once all processes have published their addresses
_TOKEN_BYTES = 16


class SocketMesh:
    """The sockets of a process to the others of its group.

    Attributes:
        index: int, the index of this process in the group.
        size: int, the number of processes.
        available: bool, whether there are sockets; None before the first `open`.
    """

    def __init__(self, index: int, size: int, exchange: Callable[[bytes], Sequence[bytes]]) -> None:
        """Opens nothing yet. exchange: function from the bytes of this process to those of all."""
        self.index = index
        self.size = size
        self._exchange_bytes = exchange
        self.available: bool | None = None
        self._sockets: dict[int, socket.socket] = {}  # by index

    def open(self) -> bool:
        """Connects at the first call; returns whether all processes are connected, which all know then."""
        if self.available is None:
            with contextlib.ExitStack() as stack:
                self.available = self._connect_all(stack)
            if not self.available:
                self.close()
        return self.available

    def _connect_all(self, stack: contextlib.ExitStack) -> bool:
        listener, address = self._listen(stack)
        addresses = self._exchange_bytes(address)
        # When all could connect, all connections wait at the listeners already: no process waits for one that
        # never comes.
        if not self._do_all(all(addresses) and self._connect_to_lower(addresses)):
            return False
        return self._do_all(listener is not None and self._accept_higher(listener, address[:_TOKEN_BYTES]))

    def _do_all(self, success: bool) -> bool:
        """Whether all processes succeeded."""
        return all(answer == b"yes" for answer in self._exchange_bytes(b"yes" if success else b"no"))

    def _listen(self, stack: contextlib.ExitStack) -> tuple[socket.socket | None, bytes]:
        """A listening socket, and token and path for the others; (None, b"") where there is none."""
        usable = self.size <= _MAX_PROCESSES and hasattr(socket, "AF_UNIX")
        if usable and group_flags.uses_shared_memory():
            with contextlib.suppress(OSError):
                folder = tempfile.mkdtemp(prefix="paddle-")  # no other user's process can look into it
                stack.callback(shutil.rmtree, folder, ignore_errors=True)
                listener = stack.enter_context(socket.socket(socket.AF_UNIX))
                listener.bind(os.path.join(folder, "line"))  # noqa: PTH118
                listener.listen(self.size)
                token = secrets.token_hex(_TOKEN_BYTES // 2).encode()
                return listener, token + os.fsencode(listener.getsockname())
        return None, b""

    def _connect_to_lower(self, addresses: Sequence[bytes]) -> bool:
        """Connects to the processes with lower indices."""
        try:
            for index in range(self.index):
                self._sockets[index] = self._connect(addresses[index])
        except OSError:  # another machine, or another root of its files
            return False
        return True

    def _connect(self, address: bytes) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(os.fsdecode(address[_TOKEN_BYTES:]))
            sock.sendall(address[:_TOKEN_BYTES] + bytes([self.index]))
        except OSError:
            sock.close()
            raise
        return sock

    def _accept_higher(self, listener: socket.socket, token: bytes) -> bool:
        """Accepts the connections of the processes with higher indices."""
        deadline = time.monotonic() + _CONNECT_SECONDS
        while len(self._sockets) < self.size - 1:
            if not select.select([listener], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return False
            sock, _ = listener.accept()
            try:
                sock.settimeout(_CONNECT_SECONDS)
                hello = receive_exactly(sock, bytearray(_TOKEN_BYTES + 1), ConnectionResetError)
                sock.settimeout(None)
            except OSError:
                hello = b""
            is_member = hmac.compare_digest(bytes(hello[:_TOKEN_BYTES]), token)
            if is_member and self.index < hello[_TOKEN_BYTES] < self.size:
                self._sockets[hello[_TOKEN_BYTES]] = sock
            else:
                sock.close()
        return True

    def exchange(self, message: np.ndarray) -> np.ndarray:
        """The messages of all processes, [size, bytes].

        Args:
            message: NumPy array of bytes. It is as long on all processes, and no longer than what a socket
                takes before the other side reads.
        Raises:
            ConnectionError: a process has gone.
        """
        rows = np.empty((self.size, message.size), np.uint8)
        rows[self.index] = message
        for sock in self._sockets.values():
            sock.sendall(message)  # pyright: ignore[reportArgumentType]
        for index, sock in self._sockets.items():
            receive_exactly(sock, rows[index], ConnectionResetError)
        return rows

    def close(self) -> None:
        """Closes all sockets."""
        for sock in self._sockets.values():
            sock.close()
        self._sockets = {}
