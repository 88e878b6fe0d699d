"""Messages between two processes: what `send` and `recv` use.

A compiled program for a pair of processes would do it too, but two that send to each other in another order
would wait for ever. Here a message goes out over a connection of its own and waits at the receiver until it
is asked for, so the order of calls does not matter. Messages of a pair and group are numbered, and come in
that order. A process accepts those only that know the program's token, which lies in the shared store.
"""

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

import numpy as np

from paddle_jax._core.base.dtype import convert
from paddle_jax._core.base.sockets import receive_exactly
from paddle_jax._core.process_group import failure_detector, startup_barrier

_HEAD = struct.Struct("!I")
_PIECE = 1 << 20  # bytes handed to the socket at once
_LOOK = 0.5  # seconds between two looks for why a message does not come


class _Sent:
    """A message on its way. done: an Event. error: why it could not be delivered."""

    def __init__(self, head, data):
        self.head, self.data, self.done, self.error = head, data, threading.Event(), None


class Channel:
    """The messages of this process. rank: its number."""

    def __init__(self, rank, coordinator):
        self.rank, self.outgoing, self.counts = rank, {}, collections.Counter()
        self.arrived, self.gone, self.news = {}, set(), threading.Condition()
        self.client = startup_barrier.client()
        self.listener = socket.create_server((_address(coordinator), 0))
        host, port = self.listener.getsockname()[:2]
        if rank == 0:
            self.client.key_value_set("paddle/token", secrets.token_hex(16), allow_overwrite=True)
        self.client.key_value_set(f"paddle/address/{rank}", f"{host}:{port}", allow_overwrite=True)
        threading.Thread(target=self._accept, name="paddle.distributed accept", daemon=True).start()

    # sending ------------------------------------------------------------------------------------------------

    def send(self, group, rank, array, limit):
        """Puts a NumPy array on its way to a process; returns what `delivered` waits for."""
        array = np.ascontiguousarray(array)
        self.counts[group, rank, "out"] += 1
        head = {
            "group": group,
            "from": self.rank,
            "number": self.counts[group, rank, "out"],
            "dtype": array.dtype.name,
            "shape": list(array.shape),
        }
        message = _Sent(head, memoryview(array.reshape(-1).view(np.uint8)))
        if rank not in self.outgoing:
            self.outgoing[rank] = queue.SimpleQueue()
            threading.Thread(
                target=self._deliver, args=(rank, limit), name="paddle.distributed send", daemon=True
            ).start()
        self.outgoing[rank].put(message)
        return message

    def delivered(self, message, what, where, rank, limit):
        """Waits until a message is out.

        Raises:
            RuntimeError: it could not be delivered.
        """
        start = time.monotonic()
        while not message.done.wait(_LOOK):
            why = failure_detector.trouble([rank])
            if why is None and time.monotonic() - start > limit:
                why = f"rank {rank} has not taken it within {limit:.0f} s"
            if why is not None:
                raise failure_detector.LostError(f"{what} to rank {rank} in {where}: {why}")
        if message.error is not None:
            why = failure_detector.patient_trouble([rank]) or f"the connection broke: {message.error}"
            raise failure_detector.LostError(f"{what} to rank {rank} in {where}: {why}")

    def _deliver(self, rank, limit):
        """The thread that sends to one process."""
        line, error = None, None
        while True:
            message = self.outgoing[rank].get()
            try:
                if error is None:
                    line = line or self._connected(rank, limit)
                    _put(line, message.head, message.data)
            except Exception as found:
                error = found
            message.error = error
            message.done.set()

    def _connected(self, rank, limit):
        host, _, port = self.client.blocking_key_value_get(
            f"paddle/address/{rank}", int(1000 * limit)
        ).rpartition(":")
        line = socket.create_connection((host, int(port)), timeout=limit)
        line.settimeout(None)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _put(line, {"token": self._token(), "from": self.rank}, b"")
        return line

    def _token(self):
        return self.client.blocking_key_value_get("paddle/token", 60_000)

    # receiving ----------------------------------------------------------------------------------------------

    def ticket(self, group, rank):
        """The number of the next message from a process: who asks first gets the first one."""
        self.counts[group, rank, "in"] += 1
        return self.counts[group, rank, "in"]

    def receive(self, group, rank, ticket, what, where, limit):
        """The message of a ticket, as a NumPy array; waits for it.

        Raises:
            RuntimeError: it will not come.
        """
        start, key = time.monotonic(), (group, rank, ticket)
        while True:
            with self.news:
                if key in self.arrived or self.news.wait_for(lambda: key in self.arrived, _LOOK):
                    return self.arrived.pop(key)
            why = failure_detector.trouble([rank])
            if why is None and rank in self.gone:
                why = (
                    failure_detector.patient_trouble([rank])
                    or "its connection is closed: the process has gone; look at the last lines of its log"
                )
            if why is None and time.monotonic() - start > limit:
                why = (
                    f"no message came within {limit:.0f} s; does rank {rank} call send for this rank, "
                    "in the same group?"
                )
            if why is not None:
                raise failure_detector.LostError(f"{what} from rank {rank} in {where}: {why}")

    def has(self, group, rank, ticket):
        """Whether the message of a ticket is there."""
        return (group, rank, ticket) in self.arrived

    def _accept(self):
        while True:
            with contextlib.suppress(OSError):
                line, _ = self.listener.accept()
                threading.Thread(
                    target=self._read, args=(line,), name="paddle.distributed receive", daemon=True
                ).start()

    def _read(self, line):
        """The thread that reads what one process sends."""
        rank = None
        with contextlib.suppress(EOFError, OSError, ValueError, KeyError), line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            hello = _head(line)
            if not hmac.compare_digest(str(hello["token"]), self._token()):
                return
            rank = int(hello["from"])
            while True:
                head = _head(line)
                array = np.empty(head["shape"], convert(head["dtype"]).np)
                receive_exactly(line, array.reshape(-1).view(np.uint8), EOFError)
                with self.news:
                    self.arrived[head["group"], rank, head["number"]] = array
                    self.news.notify_all()
        if rank is not None:
            with self.news:
                self.gone.add(rank)
                self.news.notify_all()


def _address(coordinator):
    """The address of this machine on the network over which it reaches the coordinator."""
    host, _, port = coordinator.rpartition(":")
    family = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family[0], socket.SOCK_DGRAM) as probe:  # nothing is sent
        probe.connect(family[4])
        return probe.getsockname()[0]


def _put(line, head, data):
    text = json.dumps(head).encode()
    line.sendall(_HEAD.pack(len(text)) + text)
    for start in range(0, len(data), _PIECE):
        line.sendall(data[start : start + _PIECE])


def _head(line):
    (size,) = _HEAD.unpack(receive_exactly(line, bytearray(_HEAD.size), EOFError))
    return json.loads(receive_exactly(line, bytearray(min(size, 1 << 16)), EOFError).decode())
