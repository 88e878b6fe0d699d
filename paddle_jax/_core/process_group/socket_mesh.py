"""Sockets between the processes of a group on one machine, over which they exchange packets of a few KB.

XLA's exchange of a packet goes through its runtime, the network interface and pools of threads, all of which
have to be woken up: about a millisecond. A packet written to a socket of the same machine is there as soon as
the other process is scheduled. What is sent are bytes of a fixed number, nothing is unpickled, and a process
takes part only if it knows the group's token.
"""

import contextlib
import hmac
import os
import secrets
import select
import shutil
import socket
import tempfile
import time

import numpy as np

from paddle_jax._core.base.sockets import receive_exactly
from paddle_jax._core.process_group import group_flags

_MOST = 16  # processes: each has a line to each of the others
_SECONDS = 30.0  # in which a line must be there, once all processes have said where they are
_TOKEN = 16  # bytes


class Lines:
    """The lines of a process to the others of its group.

    exchange: function (bytes) that gives the bytes of all of them, in the order of their places.
    """

    def __init__(self, place, size, exchange):
        self.place, self.size, self._exchanged = place, size, exchange
        self.able = None  # whether there are lines; None before anybody has asked
        self._lines = {}  # place: socket

    def open(self) -> bool:
        """Makes the lines at the first call, and says whether all processes have them; they
        find out together."""
        if self.able is None:
            with contextlib.ExitStack() as stack:
                self.able = self._opened(stack)
            if not self.able:
                self.close()
        return self.able

    def _opened(self, stack):
        listener, said = None, b""
        if self.size <= _MOST and hasattr(socket, "AF_UNIX") and group_flags.uses_shared_memory():
            with contextlib.suppress(OSError):
                folder = tempfile.mkdtemp(prefix="paddle-")  # nobody else's processes may look into it
                stack.callback(shutil.rmtree, folder, ignore_errors=True)
                listener = stack.enter_context(socket.socket(socket.AF_UNIX))
                listener.bind(os.path.join(folder, "line"))  # noqa: PTH118
                listener.listen(self.size)
                said = secrets.token_hex(_TOKEN // 2).encode() + os.fsencode(listener.getsockname())
        all_said = self._exchanged(said)
        connected = all(all_said)
        if connected:
            try:
                for place in range(self.place):
                    self._lines[place] = self._called(all_said[place])
            except OSError:  # another machine, or another root of its files
                connected = False
        # When all could call, the calls of all lie at the listeners already: nobody waits for one that never
        # comes.
        if not all(told == b"yes" for told in self._exchanged(b"yes" if connected else b"no")):
            return False
        answered = self._answered(listener, said[:_TOKEN])
        return all(told == b"yes" for told in self._exchanged(b"yes" if answered else b"no"))

    def _called(self, said):
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(os.fsdecode(said[_TOKEN:]))
            line.sendall(said[:_TOKEN] + bytes([self.place]))
        except OSError:
            line.close()
            raise
        return line

    def _answered(self, listener, token):
        """Takes the calls of the processes with higher places."""
        limit = time.monotonic() + _SECONDS
        while len(self._lines) < self.size - 1:
            if not select.select([listener], [], [], max(0.0, limit - time.monotonic()))[0]:
                return False
            line, _ = listener.accept()
            try:
                line.settimeout(_SECONDS)
                hello = receive_exactly(line, bytearray(_TOKEN + 1), ConnectionResetError)
                line.settimeout(None)
            except OSError:
                hello = b""
            if hmac.compare_digest(bytes(hello[:_TOKEN]), token) and self.place < hello[_TOKEN] < self.size:
                self._lines[hello[_TOKEN]] = line
            else:
                line.close()
        return True

    def exchange(self, packet):
        """The packets of all processes, [size, bytes].

        Args:
            packet: NumPy array of bytes; as long at all processes, and no longer than what a socket takes
                without being read.
        Raises:
            ConnectionError: a process has gone.
        """
        rows = np.empty((self.size, packet.size), np.uint8)
        rows[self.place] = packet
        for line in self._lines.values():
            line.sendall(packet)
        for place, line in self._lines.items():
            receive_exactly(line, rows[place], ConnectionResetError)
        return rows

    def close(self):
        """Lets all lines go."""
        for line in self._lines.values():
            line.close()
        self._lines = {}
