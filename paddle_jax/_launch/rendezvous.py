"""How the launchers of several machines meet before any process starts, and stay in touch while they run.

The launcher that can open the address of --master keeps the store there (store.py). Each launcher posts what
it knows: rank, processes, number of machines, versions and the script. Ranks that are not given follow the
order of arrival; the launcher with the store comes first. When all have come, the store answers with the
ranks and the addresses of all. What does not agree is refused at once, with both sides' values, to all.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.metadata
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax._launch.etcd import Registry
from paddle_jax._launch.ports import free_ports, own_address
from paddle_jax._launch.store import (
    RETRY,
    Answer,
    Description,
    Place,
    StoreServer,
    key_of,
    open_store,
)
from paddle_jax.version import full_version

_OWN_NAME = secrets.token_hex(8)  # of this process among all
_NOTICE = 10.0  # seconds between two lines that say who is missing
_ANSWER = 5.0  # seconds that one question to the store may take at most
_TRIES = 3  # questions without an answer before the store counts as lost
_BEAT = 1.0  # seconds between two heartbeats


class RendezvousError(Exception):
    """The launchers did not come together; the text says why."""


class Meeting(NamedTuple):
    """What the launchers have agreed on for one generation of the job.

    Attributes:
        rank: number of this machine.
        nodes: how many machines there are.
        endpoints: "host:port" of all processes, in the order of their ranks.
        coordinator: "host:port" where the processes connect.
        generation: number of the generation, 0 at first.
        reason: why it began; empty for the first one.
    """

    rank: int
    nodes: int
    endpoints: list[str]
    coordinator: str
    generation: int = 0
    reason: str = ""


def description(given: Any) -> Description:
    """What this launcher tells the others."""
    host = given.host or own_address(given.master)
    # One port for each process, and one for the coordinator.
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
        "elastic": f"{given.elastic_level}, {given.max_restart}",
        "pid": os.getpid(),
        "launcher": _OWN_NAME,
        "token": os.environ.get("PADDLE_JOB_TOKEN", ""),
    }


def _version() -> str:
    """The version of the package that is installed; of a checkout the version of its API."""
    try:
        return importlib.metadata.version("paddle_jax")
    except importlib.metadata.PackageNotFoundError:
        return full_version


# A digest, so that machines with another version of the script are refused.
def _digest(script: str) -> str:
    path = Path(script)
    if not path.is_file():
        return str(script)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


class Event(NamedTuple):
    """What a launcher has to do.

    Attributes:
        kind: "none", "restart", "end" or "finished".
        reason: why, for the user.
    """

    kind: str
    reason: str = ""


class _Silence:
    """Questions that the store has not answered since its last answer.

    One alone says nothing: this machine itself may have stood still meanwhile.

    Attributes:
        seconds: for how long it must have been silent.
        count: how many questions have had no answer.
        since: time of the last answer.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end()

    def end(self) -> None:
        """Notes an answer."""
        self.count = 0
        self.since = time.monotonic()

    def is_final(self) -> bool:
        """Notes a question without an answer; says whether the store counts as lost."""
        self.count += 1
        return self.count >= _TRIES and time.monotonic() - self.since > self.seconds


class Membership:
    """The part of one launcher in the job: it meets the others, and stays in touch with them.

    Attributes:
        place: Place.
        given: arguments of the launcher.
        say: called with a line for the user.
        registry: Registry, where etcd knows the address of the store, else None.
        server: StoreServer, where this launcher keeps the store, else None.
        meeting: Meeting of the generation, once the launchers have met.
        event: Event that a heartbeat has brought.
    """

    def __init__(
        self, place: Place, given: Any, say: Callable[[str], None], registry: Registry | None = None
    ) -> None:
        self.place = place
        self.given = given
        self.say = say
        self.registry = registry
        self.server: StoreServer | None = None
        self.meeting: Meeting | None = None
        self.event = Event("none")
        self._described: Description = {}
        self._others: set[str] = set()
        self._stop = threading.Event()
        self._beating: threading.Thread | None = None

    # joining ------------------------------------------------------------------------------------------------

    def join(self) -> Meeting | None:
        """Waits for the other launchers, at the start and after each restart.

        Returns:
            What they have agreed on; None where the others have finished the job without this launcher.
        Raises:
            RendezvousError: they do not agree, or do not come in time.
        """
        self._end_heartbeats()  # one of the generation before must not bring an event of it
        described = self._described = description(self.given)
        if self.meeting is not None:
            described["previous"] = self.meeting.rank
            described["generation"] = self.meeting.generation
        answer = self._ask_to_join(described)
        if "error" in answer:
            raise RendezvousError(answer["error"])
        if "over" in answer:
            return None
        self.meeting = Meeting(
            answer["ranks"][key_of(described)],
            answer["nodes"],
            answer["endpoints"],
            answer["coordinator"],
            answer["generation"],
            answer["reason"],
        )
        self._others = set(answer["ranks"]) - {answer["keeper"]}
        self.event = Event("none")
        self._begin_heartbeats()
        return self.meeting

    def _ask_to_join(self, described: Description) -> Answer:
        """The answer of the store, wherever it is by then."""
        limit = time.monotonic() + self.place.seconds
        while True:
            first = self.meeting is None
            if self.registry is not None:
                self.place = self._find_store(self.registry, described)
            elif first:
                self.server = open_store(self.place, key_of(described), described["token"])
            if self.server is not None and first and described["rank"] < 0:
                described["rank"] = 0  # the launcher with the store comes first
            patient = first and self.registry is None
            seconds = self.place.seconds if patient else self.place.lost
            try:
                return request_answer(self.place, described, self.say, seconds)
            except RendezvousError:
                # The address in the registry may be that of a launcher that is gone.
                if self.registry is None or time.monotonic() > limit:
                    raise

    def _find_store(self, registry: Registry, described: Description) -> Place:
        """The place of the store, which this launcher opens where nobody keeps one."""
        while True:
            address = registry.find()
            if address is not None:
                host, _, port = address.rpartition(":")
                return self.place._replace(host=host, port=int(port))
            own_place = self.place._replace(host=described["host"], port=0)
            server = open_store(own_place, key_of(described), described["token"])
            if server is None:
                raise RendezvousError(
                    f"--host: got {described['host']}; no socket can be opened at this address"
                )
            if self.meeting is not None:
                server.store.expected = self._others
                server.store.reason = "the launcher that kept the job together is lost"
            port = server.server_address[1]
            if registry.claim(f"{described['host']}:{port}", server.abandon):
                self.server = server
            else:
                server.abandon()

    def _begin_heartbeats(self) -> None:
        self._stop = threading.Event()
        self._beating = threading.Thread(target=self._beat, args=(self._stop,), daemon=True)
        self._beating.start()

    def _beat(self, stop: threading.Event) -> None:
        """Sends heartbeats until one brings an event."""
        silence = _Silence(self.place.lost)
        while not stop.wait(_BEAT):
            event = self._report("running")
            if event is not None:
                silence.end()
            elif silence.is_final():
                event = self._without_store()
            if event is not None and event.kind in ("restart", "end"):
                self.event = event
                return

    def _without_store(self) -> Event:
        """What to do when the store has not answered for too long."""
        reason = f"no launcher answers at {self.place.host}:{self.place.port} any more"
        if self.registry is None:
            return Event("end", reason)
        return Event("restart", reason)

    def _report(self, state: str, **more: Any) -> Event | None:
        """Tells the store something; None where it does not answer."""
        word = {
            "key": key_of(self._described),
            "token": self._described["token"],
            "generation": self.meeting.generation if self.meeting is not None else 0,
            "state": state,
        } | more
        try:
            answer = question(self.place, "/word", word)
        except (OSError, ValueError, http.client.HTTPException):
            return None
        if "error" in answer:
            return Event("end", answer["error"])
        return Event(answer["event"], answer.get("reason", ""))

    # the end of processes -----------------------------------------------------------------------------------

    def report_failure(self, text: str, asks_for_restart: bool) -> Event:
        """Tells the others that a process of this machine has failed; returns what all have to do.

        Args:
            text: which process, and how it ended.
            asks_for_restart: whether it ended in order to be started again (exit status 101).
        """
        self._end_heartbeats()
        if self.event.kind != "none":  # the others know more than this failure
            return self.event
        event = self._insist("failed", text=text, asks=asks_for_restart)
        while event.kind in ("wait", "none"):  # it may come from a machine that is lost
            time.sleep(RETRY)
            event = self._insist("running")
        return event

    def _insist(self, state: str, **more: Any) -> Event:
        """As `_report`, until the store answers or counts as lost."""
        silence = _Silence(self.place.lost)
        while True:
            event = self._report(state, **more)
            if event is not None:
                return event
            if silence.is_final():
                return self._without_store()
            time.sleep(RETRY)

    def finish(self) -> Event:
        """Tells the others that all processes of this machine have ended well.

        In a job that may begin again, and where this launcher keeps the store, it waits for the others.

        Returns:
            "finished", or what has happened meanwhile.
        """
        self._end_heartbeats()
        if self.event.kind != "none":
            return self.event
        event = self._insist("done")
        if not self.place.is_elastic and self.server is None:
            return Event("finished")
        started = noticed = time.monotonic()
        while event.kind == "none":
            if time.monotonic() - noticed > _NOTICE:
                noticed = time.monotonic()
                self.say(f"has waited {noticed - started:.0f} s for the processes of other machines")
            time.sleep(RETRY)
            event = self._insist("done")
        return event

    def leave(self) -> None:
        """Tells the others that this launcher ends before its processes do."""
        if self.server is not None and self.registry is not None and self.place.is_elastic:
            self.registry.release()  # another launcher keeps the store from now on
            self.server.abandon()
            self.server = None
        elif self.server is not None:
            self.server.store.end("the launcher that keeps the job together was ended")
        elif self._described:
            self._report("left")

    def pause(self) -> None:
        """Sends no more heartbeats, until it joins again."""
        self._stop.set()

    def _end_heartbeats(self) -> None:
        """Waits for the last heartbeat: only one question at a time may bring how the job ends."""
        self._stop.set()
        if self._beating is not None:
            self._beating.join()

    def close(self) -> None:
        """Ends the part in the job."""
        self._stop.set()
        if self.registry is not None:
            self.registry.release()
        if self.server is not None:
            self.server.close()
            self.server = None


def request_answer(
    place: Place, described: Description, say: Callable[[str], None], seconds: float
) -> Answer:
    """Asks the store until it answers.

    Args:
        place: where the store is.
        described: what the launcher tells it.
        say: called with a line for the user.
        seconds: for how long to look for a store.
    Raises:
        RendezvousError: there is no store at the address.
    """
    silence = _Silence(seconds)
    noticed = time.monotonic()
    while True:
        state = f"nobody answers at {place.host}:{place.port}"
        try:
            # The store answers after a moment also where machines are missing.
            answer = question(place, "/join", described)
            if "waiting" not in answer:
                return answer
            came = answer["waiting"]
            state = f"{len(came)} of {place.most} machines have come: {', '.join(came)}"
            silence.end()  # the store counts the time from here on
        except (OSError, ValueError, http.client.HTTPException) as error:
            if silence.is_final():
                raise RendezvousError(
                    f"no launcher answers at {place.host}:{place.port} within {seconds:.0f} s; "
                    "start one on the machine that has this address"
                ) from error
        now = time.monotonic()
        if now - noticed > _NOTICE:
            noticed = now
            say(f"waits for other machines: {state}")
        time.sleep(RETRY)


def question(place: Place, path: str, word: dict[str, Any]) -> Answer:
    """The answer of the store to one question."""
    # Several questions fit into the time after which the store counts as lost.
    limit = min(_ANSWER, max(1.0, place.lost / _TRIES))
    connection = http.client.HTTPConnection(place.host, place.port, timeout=limit)
    try:
        connection.request("POST", path, json.dumps(word), {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()
