"""The store of a job: which machines take part, what they have agreed on, and when all begin again.

One launcher keeps it, and serves it over HTTP. A job has generations. In each one all launchers join, get the
same answer, and run their processes. A generation ends when a machine is lost, when one comes to a job with
room for it (`--nnodes N:M`), or when a process fails and may be started again. Then all join the next one.

A generation is forming while `answer` is None: launchers join, and `arrived` lists them. It runs once
`answer` has ranks: `members` lists the launchers. It ends when `_restart` begins the next one, or when
`ending` says why the job ends.

The data are JSON; nothing that is received is run. With PADDLE_JOB_TOKEN in the environment of all launchers
the store takes only those that know it.
"""

from __future__ import annotations

import hmac
import http.server
import ipaddress
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

RETRY = 0.2  # seconds between two questions to the store
QUICK = 10.0  # seconds: a restart that is asked for within them counts as a failure
FIRST_START = 300.0  # seconds in which all machines must have come
_WATCH = 0.5  # seconds between two looks at the heartbeats
_REJOIN = 20.0  # seconds in which a machine has to join the next generation; it ends its processes meanwhile
_MAX_BODY = 1 << 16  # bytes of a question
_AGREE = {  # what must be equal on all machines, and how messages call it
    "nnodes": "--nnodes",
    "nproc": "--nproc_per_node",
    "version": "the version of paddle_jax",
    "python": "the version of Python",
    "script": "the training script (digest)",
    "job": "--job_id",
    "elastic": "--elastic_level and --max_restart",
}

# what a launcher must say
_DESCRIBED = {"rank", "host", "ports", "coordinator", "pid", "launcher", "token", *_AGREE}

Description = dict[str, Any]  # what a launcher tells the store: see rendezvous.description
Answer = dict[str, Any]


class Place(NamedTuple):
    """Where and for how long launchers meet.

    Attributes:
        host, port: the address of the store.
        least, most: how many machines must come, and how many may.
        seconds: for how long to wait for `least` of them at the start.
        patience: for how long to wait for more than `least`.
        restarts: how often failed processes may be started again; 0 where the first failure ends the job.
        timeout: for how long a job that has lost machines waits until `least` are there again.
        lost: seconds without a heartbeat after which a machine counts as lost.
    """

    host: str
    port: int
    least: int
    most: int
    seconds: float
    patience: float
    restarts: int = 0
    timeout: float = 30.0
    lost: float = 10.0

    @property
    def is_elastic(self) -> bool:
        """Whether the job goes on when a machine or a process is lost."""
        return self.least < self.most or self.restarts > 0


def place_of(given: Any, host: str, port: int) -> Place:
    """The Place of a job, by the arguments of its launcher."""
    return Place(
        host=host,
        port=port,
        least=given.least,
        most=given.most,
        seconds=FIRST_START,
        patience=given.elastic_timeout if given.least < given.most else float("inf"),
        restarts=given.max_restart if given.elastic_level >= 1 else 0,
        timeout=given.elastic_timeout,
        lost=given.elastic_ttl,
    )


def key_of(described: Description) -> str:
    """The name of a launcher among all. In containers the address and the process id alone come again."""
    # The random name distinguishes launchers in containers, where the others come again.
    return f"{described['host']} {described['pid']} {described['launcher']}"


def same_secret(one: Any, other: Any) -> bool:
    """Whether two tokens are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(str(one).encode(), str(other).encode())


def name_of(described: Description) -> str:
    """A launcher, as messages name it."""
    if described["rank"] >= 0:
        rank = f" (--rank {described['rank']})"
    else:
        rank = ""
    return f"{described['host']} process {described['pid']}{rank}"


class Member:
    """A launcher that takes part in the generation.

    Attributes:
        described: its Description.
        rank: number of its machine.
        heard: time of its last word, by `time.monotonic`.
        is_done: whether its processes have ended well.
    """

    def __init__(self, described: Description, rank: int) -> None:
        self.described = described
        self.rank = rank
        self.heard = time.monotonic()
        self.is_done = False


class JobStore:
    """The launchers of the job, and the answer to all of them.

    Attributes:
        place: Place.
        generation: number of the generation; 0 at the start of the job.
        arrived: descriptions of the launchers that have joined it, in the order of arrival.
        answer: the reply to all of them, once it is known.
        members: {key: Member} once the generation runs.
        expected: keys of the launchers that have to join after a restart.
        failures: how often processes have been started again after a failure.
        reason: why the generation began; empty for the first one.
        ending: why the job ends before its processes do, else None.
        changed: notified at each change.
        started: when the generation began to form.
        asking: {key: time of the last question} of launchers that have not been sent their last answer.
        keeper: key of the launcher that keeps the store.
        token: the secret that all launchers must know; empty for none.
        agreed: description that all others must match, once the first generation runs.
        began: when the generation began to run.
        suspected: (text, time) of a failure that may come from a lost machine, or None.
    """

    def __init__(self, place: Place, keeper: str = "", token: str = "") -> None:
        self.place = place
        self.keeper = keeper
        self.token = token
        self.generation = 0
        self.arrived: list[Description] = []
        self.answer: Answer | None = None
        self.members: dict[str, Member] = {}
        self.expected: set[str] = set()
        self.failures = 0
        self.reason = ""
        self.ending: str | None = None
        self.changed = threading.Condition()
        self.started = time.monotonic()
        self.asking: dict[str, float] = {}
        self.agreed: Description | None = None
        self.began = self.started
        self.suspected: tuple[str, float] | None = None

    # joining ------------------------------------------------------------------------------------------------

    def join(self, described: Description) -> Answer:
        """Takes a launcher in, or refuses it. Returns the answer, or which ones have come."""
        with self.changed:
            refused = self._refusal(described)
            if refused is not None:
                return {"error": refused}
            self.asking[key_of(described)] = time.monotonic()
            if self._is_finished() and not self._has_arrived(described):
                # It was taken for lost, and the others have finished without it.
                return {"over": True}
            if not self._has_arrived(described) and self._has_room(described):
                self._admit(described)
            # Each question waits a little, so that launchers need not ask without pause.
            if self.answer is None:
                self.changed.wait(RETRY)
            if self.answer is None:
                self._begin_or_give_up()
            if self.answer is None or not ("error" in self.answer or self._has_arrived(described)):
                return {"waiting": [name_of(one) for one in self.arrived]}
            return self.answer

    def _has_arrived(self, described: Description) -> bool:
        return any(key_of(one) == key_of(described) for one in self.arrived)

    def _refusal(self, described: Description) -> str | None:
        """The reason why a launcher may not join; the job goes on without it."""
        missing = _DESCRIBED - described.keys()
        if missing:
            return f"the launcher does not say {', '.join(sorted(missing))}; it is of another version"
        if self.token and not same_secret(described["token"], self.token):
            return f"PADDLE_JOB_TOKEN of {name_of(described)} is not that of the job"
        if self.ending is not None:
            return self.ending
        if self._has_arrived(described):
            return None
        if self._is_finished() and "previous" not in described:
            return "the job has ended"
        if self.agreed is not None:  # the job goes on without one that does not fit
            problem = _difference(self.agreed, described)
            if problem is not None:
                return problem
        # In an elastic job it waits: it takes the place of the next machine that is lost.
        if self.answer is not None and "error" not in self.answer and not self.place.is_elastic:
            return f"{self.place.most} machines have come already; this one is too many"
        return None

    def _is_finished(self) -> bool:
        return bool(self.members) and all(member.is_done for member in self.members.values())

    def _has_room(self, described: Description) -> bool:
        """Whether a launcher that has not arrived may join. Those that have to come back have a place."""
        if self.answer is not None and "error" in self.answer:
            return False
        if self.answer is not None:
            return len(self.members) < self.place.most
        missing = self.expected - {key_of(one) for one in self.arrived} - {key_of(described)}
        return len(self.arrived) + len(missing) < self.place.most

    def _admit(self, described: Description) -> None:
        """Adds a launcher to those that have arrived. A job that runs begins again with it."""
        if self.answer is not None:
            self._restart(f"{name_of(described)} has come")
        self.arrived.append(described)
        # A new store takes up a job that runs, after the launcher with the one before was lost.
        self.generation = max(self.generation, described.get("generation", -1) + 1)
        problem = self._problem(described)
        if problem is not None:
            self.answer = {"error": problem}
        elif len(self.arrived) == self.place.most:
            self._agree()
        self.changed.notify_all()

    def _problem(self, new: Description) -> str | None:
        """Why a launcher does not fit to those that have come."""
        difference = _difference(self.arrived[0], new)
        if difference is not None:
            # The last one is the new launcher.
            return difference
        for other in self.arrived[:-1]:
            # Only the first generation goes by --rank; later ones by the ranks before.
            if not self.generation and new["rank"] >= 0 and new["rank"] == other["rank"]:
                return f"--rank {new['rank']} was given on {name_of(other)} and on {name_of(new)}"
        if new["rank"] >= self.place.most:
            return f"--rank: {name_of(new)} has {new['rank']}; it must be below {self.place.most} (--nnodes)"
        return None

    def _begin_or_give_up(self) -> None:
        """Begins with fewer machines when enough have come, or ends when the time is over."""
        waited = time.monotonic() - self.started
        count = len(self.arrived)
        enough = self.place.least <= count
        if self.generation:
            here = {key_of(one) for one in self.arrived}
            all_back = self.expected <= here or waited > _REJOIN
            if enough and all_back:
                self._agree()
            # Fewer than the job needs are left, and the others had time to come.
            elif all_back and waited > self.place.timeout:
                self.answer = {
                    "error": f"{self.reason}; {count} of at least {self.place.least} machines "
                    f"are left after {waited:.0f} s"
                }
        elif enough and waited > self.place.patience and self._ranks_fit(count):
            self._agree()
        elif waited > self.place.seconds:
            came = ", ".join(name_of(one) for one in self.arrived)
            self.answer = {
                "error": f"{count} of {self.place.least} machines have come within {waited:.0f} s: {came}; "
                "start the launcher on all of them, with the same --master"
            }

    def _ranks_fit(self, count: int) -> bool:
        return all(one["rank"] < count for one in self.arrived)

    def _agree(self) -> None:
        """Gives everyone a rank, and makes the answer."""
        ranks = self._ranks()
        nodes: list[Description] = [{}] * len(ranks)
        for described, rank in zip(self.arrived, ranks, strict=True):
            nodes[rank] = described
        self.members = {key_of(node): Member(node, rank) for rank, node in enumerate(nodes)}
        self.agreed = nodes[0]
        self.began = time.monotonic()
        self.expected = set()
        self.answer = {
            "generation": self.generation,
            "reason": self.reason,
            "nodes": len(nodes),
            "ranks": {key_of(node): rank for rank, node in enumerate(nodes)},
            "endpoints": [f"{node['host']}:{port}" for node in nodes for port in node["ports"]],
            "coordinator": f"{nodes[0]['host']}:{nodes[0]['coordinator']}",
            "keeper": self.keeper,
        }

    def _ranks(self) -> list[int]:
        """The rank of each launcher that has arrived.

        A launcher keeps the rank that it was given or had in the generation before, where nobody else has
        it. The others get those that are free, first the ones whose rank is too high now.
        """
        count = len(self.arrived)
        ranks = [-1] * count
        for i, described in enumerate(self.arrived):
            wanted = self._wanted_rank(described)
            # Of two with the same wish the first one has it.
            if 0 <= wanted < count and wanted not in ranks:
                ranks[i] = wanted
        free = iter(sorted(set(range(count)) - set(ranks)))
        # Launchers with a wish that was taken come before those without one.
        for i in sorted(range(count), key=lambda i: (self._wanted_rank(self.arrived[i]) < 0, i)):
            if ranks[i] < 0:
                ranks[i] = next(free)
        return ranks

    def _wanted_rank(self, described: Description) -> int:
        """The rank that a launcher had before, or was given; -1 for none."""
        previous = described.get("previous", -1)
        if previous >= 0:
            return previous
        return described["rank"]

    # while the job runs -------------------------------------------------------------------------------------

    def _restart(self, reason: str) -> None:
        """Begins the next generation, which all members have to join."""
        self.expected = {key for key, member in self.members.items() if not member.is_done}
        self.generation += 1
        self.reason = reason
        self.arrived = []
        self.answer = None
        self.members = {}
        self.suspected = None
        self.started = time.monotonic()
        self.changed.notify_all()

    def end(self, reason: str) -> None:
        """Ends the job on all machines."""
        with self.changed:
            if self.ending is None:
                # The reason of the first end counts.
                self.ending = reason
                self.changed.notify_all()

    def hear(self, word: dict[str, Any]) -> Answer:
        """Takes a heartbeat or a report; returns what the launcher has to do.

        Args:
            word: `key`, `token`, `generation` of the launcher; `state`: "running", "done", "failed" or
                "left" (of any generation). A failure has its `text`, and `asks`: whether the process asks
                for a restart.
        """
        with self.changed:
            if word["key"] in self.asking:
                self.asking[word["key"]] = time.monotonic()
            if word["state"] == "left":
                self._take_leave(word)
                return {"event": "none"}
            member = self.members.get(word["key"])
            if member is not None and word["generation"] == self.generation:
                if not same_secret(word["token"], member.described["token"]):
                    return {"event": "end", "reason": "PADDLE_JOB_TOKEN is another one than at the start"}
                member.heard = time.monotonic()
                self._take_report(member, word)
            return self._event(word)

    def _take_report(self, member: Member, word: dict[str, Any]) -> None:
        state = word["state"]
        if state == "done":
            member.is_done = True
            self.changed.notify_all()
        elif state == "failed":
            self._take_failure(word)

    def _take_leave(self, word: dict[str, Any]) -> None:
        """A launcher ends. It may have joined a generation without knowing the answer yet."""
        member = self.members.get(word["key"])
        if member is not None:
            # One whose processes have ended well leaves nothing undone.
            if same_secret(word["token"], member.described["token"]) and not member.is_done:
                self._lose(member, f"{name_of(member.described)} has left")
            return
        waiting = [one for one in self.arrived if key_of(one) == word["key"]]
        # Nobody else may take a launcher out of the job.
        if all(same_secret(word["token"], one["token"]) for one in waiting):
            self.arrived = [one for one in self.arrived if key_of(one) != word["key"]]
            self.expected.discard(word["key"])

    def _take_failure(self, word: dict[str, Any]) -> None:
        """A process has failed: all begin again where that is allowed, else all end."""
        # A program that asks again and again right after its start would never end.
        is_quick = time.monotonic() - self.began < QUICK
        if not word["asks"] or is_quick:
            self.failures += 1
        within = self.failures <= self.place.restarts
        if self.place.is_elastic and (within or word["asks"] and not is_quick):
            self._restart(word["text"])
        elif self.place.least < self.place.most:
            # The processes of other machines fail when a machine is lost: that is noticed a little later.
            if self.suspected is None:
                self.suspected = word["text"], time.monotonic()
        else:
            self.end(word["text"])

    def _lose(self, member: Member, reason: str) -> None:
        """A machine is lost: the others go on without it where that is allowed, else all end."""
        if self.place.is_elastic:
            del self.members[key_of(member.described)]
            self._restart(reason)
        else:
            self.end(reason)

    def _event(self, word: dict[str, Any]) -> Answer:
        """What a launcher has to do now."""
        if self.ending is not None:
            return {"event": "end", "reason": self.ending}
        if self.suspected is not None and word["state"] == "failed":
            return {"event": "wait"}
        if word["generation"] != self.generation or self.answer is None:
            return {"event": "restart", "reason": self.reason, "generation": self.generation}
        if word["key"] not in self.members:
            return {"event": "restart", "reason": "it was taken for lost", "generation": self.generation}
        if self._is_finished():
            return {"event": "finished"}
        return {"event": "none"}

    def drop_silent(self) -> None:
        """Notices machines without a heartbeat."""
        with self.changed:
            now = time.monotonic()
            # Nobody was lost meanwhile: the failure is one of the program.
            if self.suspected is not None and now - self.suspected[1] > self.place.lost + _WATCH:
                self.end(self.suspected[0])
                return
            # A copy, since `_lose` changes the dict.
            for member in list(self.members.values()):
                silent = now - member.heard
                if silent > self.place.lost and not member.is_done:
                    self._lose(
                        member,
                        f"{name_of(member.described)} is lost: it has not been heard for {silent:.0f} s",
                    )
                    return

    def forgive(self, seconds: float) -> None:
        """Takes no silence of this length for a loss: the store itself has not run meanwhile."""
        with self.changed:
            for member in self.members.values():
                member.heard += seconds

    # the end ------------------------------------------------------------------------------------------------

    def note_sent(self, word: dict[str, Any], answer: Answer) -> None:
        """Notices that an answer has been sent. A launcher that knows how the job ends asks no more."""
        is_last = "error" in answer or "over" in answer or answer.get("event") in ("end", "finished")
        state = word.get("state")
        if state == "left" or (state == "done" and not self.place.is_elastic):
            is_last = True  # it does not wait for the others
        if is_last and ("key" in word or word.keys() >= _DESCRIBED):
            with self.changed:
                self.asking.pop(word.get("key") or key_of(word), None)

    def linger(self) -> None:
        """Waits until all launchers but the keeper know how the job ends, so that the store can close."""
        limit = time.monotonic() + self.place.lost
        while time.monotonic() < limit:
            # One that has said nothing for this long is lost.
            oldest = time.monotonic() - self.place.lost
            with self.changed:
                if not any(heard > oldest for key, heard in self.asking.items() if key != self.keeper):
                    return
            time.sleep(0.02)


def _difference(first: Description, new: Description) -> str | None:
    """What a launcher has otherwise than another one, though it must be equal; None for nothing."""
    for name, text in _AGREE.items():
        if new[name] != first[name]:
            return (
                f"{text}: {name_of(first)} has {first[name]}, {name_of(new)} has {new[name]}; "
                "it must be the same on all machines"
            )
    if not same_secret(new["token"], first["token"]):
        return f"PADDLE_JOB_TOKEN of {name_of(new)} differs from that of {name_of(first)}"
    return None


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers the questions of launchers."""

    timeout = 10.0  # seconds that a connection may say nothing

    def do_POST(self) -> None:
        store: JobStore = self.server.store  # pyright: ignore[reportAttributeAccessIssue]
        questions: dict[str, Callable[[Any], Answer]] = {"/join": store.join, "/word": store.hear}
        word: dict[str, Any] = {}
        try:
            # A question without a length, or too long a one, is refused before it is read.
            length = int(self.headers["Content-Length"])
            if not 0 <= length <= _MAX_BODY:
                raise ValueError(f"Content-Length: got {length}")
            word = json.loads(self.rfile.read(length))
            answer = questions[self.path](word)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            word = {}
            answer = {"error": f"the question was not understood: {error!r}"}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        # Not before: the store closes once all know the end.
        store.note_sent(word, answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


class StoreServer(http.server.ThreadingHTTPServer):
    """The store behind its address.

    Attributes:
        store: JobStore.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, store: JobStore) -> None:
        super().__init__((host, store.place.port), _Handler)
        self.store = store
        self._open = True
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        threading.Thread(target=self._drop_regularly, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing about a launcher that did not wait for its answer: it asks again."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def _drop_regularly(self) -> None:
        # Silent machines are looked for as long as the store is open.
        looked = time.monotonic()
        while self._open:
            time.sleep(_WATCH)
            now = time.monotonic()
            late = now - looked - _WATCH
            looked = now
            # A machine that was frozen or far too busy has heard nobody.
            if late > _WATCH:
                self.store.forgive(late)
            self.store.drop_silent()

    def close(self) -> None:
        """Closes the store, once all launchers know how the job ends."""
        self.store.linger()
        self.abandon()

    def abandon(self) -> None:
        """Closes the store at once."""
        self._open = False
        self.shutdown()
        self.server_close()


def open_store(place: Place, keeper: str = "", token: str = "") -> StoreServer | None:
    """The server of the store, if this machine has the address and nobody listens there; else None."""
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(place.host, None)}
        # Some systems give their own name a loopback address as well, which other machines cannot reach.
        chosen = min(addresses, key=lambda address: (ipaddress.ip_address(address).is_loopback, address))
        return StoreServer(chosen, JobStore(place, keeper, token))
    except OSError:
        return None
