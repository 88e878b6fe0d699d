"""A relay between two sides of a TCP connection, for tests: it delays, loses and cuts."""

from __future__ import annotations

import contextlib
import socket
import threading
import time


class Relay:
    """Listens on a port of its own, and passes bytes on to another one.

    Attributes:
        port: int, where it listens.
        delay: float, seconds that each piece waits before it goes on.
        deaf: bool, whether answers are lost, but requests arrive.
        refusing: bool, whether new connections are closed at once.
        passed: int, bytes that have gone through.
    """

    def __init__(self, target: int) -> None:
        self.delay = 0.0
        self.deaf = False
        self.refusing = False
        self.passed = 0
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return  # closed
            if self.refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target), 5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._open |= {near, far}
            for source, target, answers in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pass_on, args=(source, target, answers), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self.delay:
                    time.sleep(self.delay)
                if answers and self.deaf:
                    continue
                target.sendall(data)
                self.passed += len(data)
        self._drop({source, target})

    def _drop(self, sockets: set[socket.socket]) -> None:
        with self._lock:
            self._open -= sockets
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut(self) -> None:
        """Ends all connections; new ones can be made."""
        with self._lock:
            every = set(self._open)
        self._drop(every)

    def close(self) -> None:
        """Ends everything."""
        self._listener.close()
        self.cut()
