"""A helper for the sockets between processes of one machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any


def receive_exactly(sock: socket.socket, buffer: Any, error: Callable[[str], BaseException]) -> Any:
    """Fills a buffer with bytes from a socket and returns it.

    Raises:
        The result of `error(text)`: the other side has closed the socket.
    """
    view = memoryview(buffer)
    while view:
        count = sock.recv_into(view)
        if not count:
            raise error("the other process has ended")
        view = view[count:]
    return buffer
