"""How the launchers of several machines meet, before any process starts.

The launcher that can open the address of --master keeps a small store there. Each launcher posts what it
knows: rank, processes, number of machines, versions and the script. Ranks that are not given follow the order
of arrival; the launcher with the store comes first. When all have come, the store answers with the ranks and
the addresses of all. What does not agree is refused at once, with both sides' values, to all of them.

The data are JSON; nothing that is received is run. With PADDLE_JOB_TOKEN in the environment of all launchers
the store takes only those that know it.
"""

import contextlib
import hashlib
import hmac
import http.client
import http.server
import importlib.metadata
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax._launch.ports import free_ports, own_address
from paddle_jax.version import full_version

_RETRY = 0.2  # seconds between two tries to reach the store
_NOTICE = 10.0  # seconds between two lines that say who is missing
_ANSWER = 5.0  # seconds that one question to the store may take
_LINGER = 3.0  # seconds for which the store answers after the last word, so that all hear it
_AGREE = {  # what must be equal on all machines, and how messages call it
    "nnodes": "--nnodes",
    "nproc": "--nproc_per_node",
    "version": "the version of paddle_jax",
    "python": "the version of Python",
    "script": "the training script (digest)",
    "job": "--job_id",
}


class RendezvousError(Exception):
    """The launchers did not come together; the text says why."""


class Meeting(NamedTuple):
    """What the launchers have agreed on.

    Attributes:
        rank: number of this machine.
        nodes: how many machines there are.
        endpoints: "host:port" of all processes, in the order of their ranks.
        coordinator: "host:port" where the processes connect.
        server: the server of the store where this launcher keeps it, else None. It stays open while the job
            runs, so that a launcher that comes too late hears it at once.
    """

    rank: int
    nodes: int
    endpoints: list[str]
    coordinator: str
    server: Any = None

    def close(self) -> None:
        """Closes the store."""
        if self.server is not None:
            _close(self.server)


class Place(NamedTuple):
    """Where and for how long launchers meet.

    Attributes:
        host, port: the address of the store.
        least, most: how many machines must come, and how many may.
        seconds: for how long to wait for `least` of them.
        patience: for how long to wait for more than `least`.
    """

    host: str
    port: int
    least: int
    most: int
    seconds: float
    patience: float


def description(given: Any) -> dict[str, Any]:
    """What this launcher tells the others."""
    host = given.host or own_address(given.master)
    ports = free_ports(given.nproc + 1)
    return {
        "rank": given.rank,
        "nnodes": given.nodes_text,
        "nproc": given.nproc,
        "host": host,
        "ports": ports[1:],
        "coordinator": ports[0],
        "version": _version(),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "script": _digest(given.training_script),
        "job": given.job_id,
        "pid": os.getpid(),
        "token": os.environ.get("PADDLE_JOB_TOKEN", ""),
    }


def _version():
    """The version of the package that is installed; of a checkout the version of its API."""
    try:
        return importlib.metadata.version("paddle_jax")
    except importlib.metadata.PackageNotFoundError:
        return full_version


def _digest(script):
    path = Path(script)
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return str(script)


class _Store:
    """The launchers that have come, and the answer to all of them.

    Attributes:
        place: Place.
        arrived: descriptions, in the order of arrival.
        answer: the reply to all of them, once it is known.
        changed: notified at each change.
        started: when the store was opened.
        answered: how many have got the answer.
    """

    def __init__(self, place: Place):
        self.place = place
        self.arrived: list[dict[str, Any]] = []
        self.answer: dict[str, Any] | None = None
        self.changed = threading.Condition()
        self.started = time.monotonic()
        self.answered = 0

    def join(self, described: dict[str, Any]) -> None:
        """Takes a launcher in, or refuses the whole job."""
        with self.changed:
            if self._has_arrived(described) or self.answer is not None:
                return  # it asks again, or comes too late
            self.arrived.append(described)
            problem = self._problem(described)
            if problem is not None:
                self.answer = {"error": problem}
            elif len(self.arrived) == self.place.most:
                self._agree()
            self.changed.notify_all()

    def _has_arrived(self, described):
        key = described["host"], described["pid"]
        return any((one["host"], one["pid"]) == key for one in self.arrived)

    def _problem(self, new):
        """Why a launcher does not fit to those that have come."""
        first = self.arrived[0]
        for name, text in _AGREE.items():
            if new[name] != first[name]:
                return (
                    f"{text}: {_who(first)} has {first[name]}, {_who(new)} has {new[name]}; "
                    "it must be the same on all machines"
                )
        if not hmac.compare_digest(new["token"], first["token"]):
            return f"PADDLE_JOB_TOKEN of {_who(new)} differs from that of {_who(first)}"
        for other in self.arrived[:-1]:
            if new["rank"] >= 0 and new["rank"] == other["rank"]:
                return f"--rank {new['rank']} was given on {_who(other)} and on {_who(new)}"
        if new["rank"] >= self.place.most:
            return f"--rank: {_who(new)} has {new['rank']}; it must be below {self.place.most} (--nnodes)"
        return None

    def _agree(self):
        """Gives everyone a rank, and makes the answer."""
        count = len(self.arrived)
        ranks = self._ranks(count)
        nodes = [None] * count
        for described, rank in zip(self.arrived, ranks, strict=True):
            nodes[rank] = described
        endpoints = [f"{node['host']}:{port}" for node in nodes for port in node["ports"]]
        self.answer = {
            "nodes": count,
            "ranks": {f"{node['host']} {node['pid']}": rank for rank, node in enumerate(nodes)},
            "endpoints": endpoints,
            "coordinator": f"{nodes[0]['host']}:{nodes[0]['coordinator']}",
        }

    def _ranks(self, count):
        """The rank of each launcher: the one that it was given, else the lowest that is free."""
        given = {one["rank"] for one in self.arrived if one["rank"] >= 0}
        free = iter(rank for rank in range(count) if rank not in given)
        return [one["rank"] if one["rank"] >= 0 else next(free) for one in self.arrived]

    def wait_for_answer(self, described: dict[str, Any]) -> dict[str, Any]:
        """The answer for a launcher, or which ones have come."""
        with self.changed:
            if self.answer is None:
                self.changed.wait(_RETRY)
            if self.answer is None:
                self._give_up_waiting()
            if self.answer is None:
                return {"waiting": [_who(one) for one in self.arrived]}
            if self._has_arrived(described):
                self.answered += 1
            elif "error" not in self.answer:
                return {"error": f"{self.place.most} machines have come already; this one is too many"}
            return self.answer

    def _give_up_waiting(self):
        """Begins with fewer machines when enough have come, or ends when the time is over."""
        waited = time.monotonic() - self.started
        count = len(self.arrived)
        if self.place.least <= count and waited > self.place.patience and self._ranks_fit(count):
            self._agree()
        elif waited > self.place.seconds:
            came = ", ".join(_who(one) for one in self.arrived)
            self.answer = {
                "error": f"{count} of {self.place.least} machines have come within {waited:.0f} s: {came}; "
                "start the launcher on all of them, with the same --master"
            }

    def _ranks_fit(self, count):
        return all(one["rank"] < count for one in self.arrived)


def _who(described):
    if described["rank"] >= 0:
        rank = f" (--rank {described['rank']})"
    else:
        rank = ""
    return f"{described['host']} process {described['pid']}{rank}"


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers the questions of launchers."""

    def do_POST(self):
        store: _Store = self.server.store
        try:
            described = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), 1 << 16)))
            store.join(described)
            answer = store.wait_for_answer(described)
        except (KeyError, TypeError, ValueError) as error:
            answer = {"error": f"the question was not understood: {error!r}"}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        """Says nothing."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def _opened(place):
    """The server of the store, if this machine has the address and nobody listens there; else None."""
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(place.host, None)}
        host = sorted(addresses)[0]
        server = _Server((host, place.port), _Handler)
    except OSError:
        return None
    server.store = _Store(place)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def meet(place: Place, described: dict[str, Any], say) -> Meeting:
    """Waits for the other launchers.

    Args:
        place: where they meet.
        described: what this launcher tells.
        say: called with a line for the user.
    Raises:
        RendezvousError: they do not agree, or do not come in time.
    """
    server = _opened(place)
    if server is not None and described["rank"] < 0:
        described = described | {"rank": 0}
    try:
        answer = _request_answer(place, described, say)
        if "error" in answer:
            if server is not None:
                _linger(server.store)
            raise RendezvousError(answer["error"])
    except BaseException:
        if server is not None:
            _close(server)
        raise
    rank = answer["ranks"][f"{described['host']} {described['pid']}"]
    return Meeting(rank, answer["nodes"], answer["endpoints"], answer["coordinator"], server)


def _close(server):
    server.shutdown()
    server.server_close()


def _request_answer(place, described, say):
    """Asks the store until it answers."""
    body = json.dumps(described)
    started = noticed = time.monotonic()
    while True:
        state = f"nobody answers at {place.host}:{place.port}"
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            answer = _question(place, body)
            if "waiting" not in answer:
                return answer
            came = answer["waiting"]
            state = f"{len(came)} of {place.most} machines have come: {', '.join(came)}"
            started = time.monotonic()  # the store counts the time from here on
        now = time.monotonic()
        if now - started > place.seconds:
            raise RendezvousError(
                f"no launcher answers at {place.host}:{place.port} within {place.seconds:.0f} s; "
                "start one on the machine that has this address"
            )
        if now - noticed > _NOTICE:
            noticed = now
            say(f"waits for other machines: {state}")
        time.sleep(_RETRY)


def _question(place, body):
    connection = http.client.HTTPConnection(place.host, place.port, timeout=_ANSWER)
    try:
        connection.request("POST", "/join", body, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def _linger(store):
    """Lets the others hear the answer before the store closes."""
    limit = time.monotonic() + _LINGER
    while time.monotonic() < limit and store.answered < len(store.arrived):
        time.sleep(0.02)
