"""Jobs that go on when machines come, go, or fail. Each launcher stands for a machine.

Unit tests of `_launch.rendezvous` and `_launch.store`.
"""

import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from paddle_jax._launch import rendezvous
from paddle_jax._launch import store as stores
from paddle_jax._launch.store import JobStore, Place
from tests.distributed import pairs
from tests.distributed.test_rendezvous import described

# A process that says its rank at each start, and waits until a file says that the job is over.
WAITING = """
import os, pathlib, sys, time
names = ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_RESTART_COUNT", "PADDLE_MASTER")
rank, size, restart, _ = (os.environ[name] for name in names)
print(f"rank {rank} of {size}, restart {restart}", flush=True)
failing = sys.argv[2:] and sys.argv[2] == rank and int(restart) < int(sys.argv[4])
if failing:
    sys.exit(int(sys.argv[3]))
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.02)
print("over", flush=True)
"""


class Launchers:
    """Launchers of one job on this machine, each with logs of its own."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.options = options
        self.over = folder / "over"
        self.script = folder / "waiting.py"
        self.script.write_text(WAITING)
        self.master = f"127.0.0.1:{pairs.free_port()}"  # or that of etcd
        self.started = []

    def start(self, *words):
        number = len(self.started)
        command = [sys.executable, "-m", "paddle_jax.distributed.launch", "--master", self.master]
        command += ["--nproc_per_node", "1", "--log_dir", str(self.folder / f"log{number}"), *self.options]
        with (self.folder / f"launcher{number}").open("wb") as out:
            process = subprocess.Popen(
                [*command, str(self.script), str(self.over), *words],
                env=pairs.environment(PADDLE_ELASTIC_TTL="2"),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.started.append(process)
        return process

    def text(self, number):
        return (self.folder / f"launcher{number}").read_text()

    def log(self, number):
        """What the process of a launcher has printed."""
        path = self.folder / f"log{number}" / "workerlog.0"
        return path.read_text() if path.exists() else ""

    def await_line(self, number, line, seconds=20):
        limit = time.monotonic() + seconds
        while line not in self.log(number):
            assert time.monotonic() < limit, f"no {line!r} in:\n{self.log(number)}\n{self.text(number)}"
            time.sleep(0.05)

    def finish(self):
        self.over.touch()
        return [process.wait(20) for process in self.started]

    def end(self):
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


@pytest.fixture
def launchers(tmp_path):
    made = []

    def make(*options):
        made.append(Launchers(tmp_path, *options))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_a_machine_is_lost_and_another_comes(launchers):
    job = launchers("--nnodes", "2:3", "--elastic_timeout", "8")
    for number in range(3):
        job.start()
        time.sleep(0.3 if number == 0 else 0)  # the first one keeps the store
    for number in range(3):
        job.await_line(number, "of 3, restart 0")
    rank = int(re.search(r"rank (\d)", job.log(1))[1])
    job.started[1].kill()
    for number in (0, 2):
        job.await_line(number, "of 2, restart 1")
    assert "is lost: it has not been heard for" in job.text(0)
    assert "rank 0 of 2, restart 1" in job.log(0) and "rank 1 of 2, restart 1" in job.log(2)
    job.start()  # there is room for it
    for number in (0, 2, 3):
        job.await_line(number, "of 3, restart 2")
    assert "rank 2 of 3, restart 2" in job.log(3) and rank in (1, 2)
    assert "has come" in job.text(0)
    codes = job.finish()
    assert codes == [0, -signal.SIGKILL, 0, 0]


@pytest.mark.parametrize(("status", "count"), [(7, "1"), (101, "2")])
def test_all_begin_again_after_a_failure(launchers, status, count):
    job = launchers("--nnodes", "2", "--elastic_level", "1", "--max_restart", count)
    for _ in range(2):
        job.start("1", str(status), count)
    for number in range(2):
        job.await_line(number, f"of 2, restart {count}")
    assert job.finish() == [0, 0]
    assert all("starts all processes again" in job.text(number) for number in range(2))


def test_too_many_failures_end_all(launchers):
    job = launchers("--nnodes", "2", "--elastic_level", "1", "--max_restart", "1")
    for _ in range(2):
        job.start("1", "7", "9")
    codes = [process.wait(20) for process in job.started]
    assert sorted(codes) == [1, 7]
    assert all("with exit status 7" in job.text(number) for number in range(2))
    assert not any("restart 2" in job.log(number) for number in range(2))


def test_a_failure_ends_all_machines(launchers):
    job = launchers("--nnodes", "2")
    for _ in range(2):
        job.start("1", "7", "1")
    started = time.monotonic()
    codes = [process.wait(20) for process in job.started]
    assert sorted(codes) == [1, 7] and time.monotonic() - started < 10
    assert all("rank 1" in job.text(number) and "exit status 7" in job.text(number) for number in range(2))


def test_too_few_machines_are_left(launchers):
    job = launchers("--nnodes", "2:3", "--elastic_timeout", "1")
    first = job.start()
    time.sleep(0.3)
    second = job.start()
    job.await_line(0, "of 2, restart 0")
    second.send_signal(signal.SIGTERM)  # it says so, and need not be missed first
    assert second.wait(10) == 128 + signal.SIGTERM and first.wait(15) == 1
    assert "has left; 1 of at least 2 machines are left" in job.text(0)


def test_the_launcher_with_the_store_ends(launchers):
    job = launchers("--nnodes", "1:2", "--elastic_timeout", "1")
    first = job.start()
    time.sleep(0.3)
    second = job.start()
    job.await_line(1, "of 2, restart 0")
    child = int(re.search(r"with the ids (\d+)", job.text(1))[1])
    first.send_signal(signal.SIGKILL)
    assert second.wait(15) == 1
    assert "no launcher answers at" in job.text(1)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


# the address of the store in etcd ---------------------------------------------------------------------------


@pytest.fixture
def etcd(tmp_path):
    """The address of an etcd that runs."""
    if shutil.which("etcd") is None:
        pytest.skip("there is no etcd here (Debian has it in etcd-server)")
    pytest.importorskip("etcd3gw")
    client, peer = (f"http://127.0.0.1:{pairs.free_port()}" for _ in range(2))
    command = ["etcd", "--data-dir", str(tmp_path / "etcd"), "--listen-client-urls", client]
    command += ["--advertise-client-urls", client, "--listen-peer-urls", peer]
    command += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    with (tmp_path / "etcd.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    yield client.replace("http", "etcd")
    process.kill()
    process.wait()


def test_any_machine_may_be_lost_with_etcd(launchers, etcd):
    job = launchers("--nnodes", "2:3", "--elastic_timeout", "8", "--job_id", "one")
    job.master = etcd
    for number in range(3):
        job.start()
        time.sleep(1.0 if number == 0 else 0)  # the first one keeps the store
    for number in range(3):
        job.await_line(number, "of 3, restart 0")
    job.started[0].kill()
    for number in (1, 2):
        job.await_line(number, "of 2, restart 1")
    assert "any more" in job.text(1) and "any more" in job.text(2)
    job.started[1].send_signal(signal.SIGTERM)
    job.start()
    for number in (2, 3):
        job.await_line(number, "of 2, restart", 30)
    assert [job.finish()[number] for number in (2, 3)] == [0, 0]


def test_no_etcd(launchers):
    pytest.importorskip("etcd3gw")
    job = launchers("--nnodes", "2", "--job_id", "one")
    job.master = f"etcd://{job.master}"
    assert job.start().wait(20) == 1
    assert "no etcd answers at 127.0.0.1" in job.text(0)


# the store alone --------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """The time that the store reads: clock[0]."""
    now = [100.0]
    monkeypatch.setattr(stores.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(stores, "RETRY", 0.0)
    monkeypatch.setattr(rendezvous, "RETRY", 0.0)
    return now


def running(least, most, **settings):
    """A store of `most` machines that run, and their descriptions."""
    place = Place("127.0.0.1", 1, least, most, 300.0, 30.0, **settings)
    store = JobStore(place)
    machines = [described(number) for number in range(most)]
    for one in machines:
        store.join(one)
    return store, machines


def word(one, generation=0, state="running", **more):
    return {"key": stores.key_of(one), "token": "", "generation": generation, "state": state} | more


def test_ranks_move_as_little_as_possible(clock):
    store, machines = running(1, 4)
    clock[0] += 9
    for one in (machines[0], machines[2], machines[3]):
        assert store.hear(word(one)) == {"event": "none"}
    clock[0] += 2
    store.drop_silent()
    assert store.hear(word(machines[0]))["event"] == "restart"
    answers = [store.join(machines[number] | {"previous": number}) for number in (3, 2, 0)]
    assert [answers[-1]["ranks"][stores.key_of(machines[number])] for number in (0, 2, 3)] == [0, 2, 1]
    assert answers[-1]["generation"] == 1 and "process 1 is lost" in answers[-1]["reason"]


def test_one_failure_seen_by_several_counts_once(clock):
    store, machines = running(2, 2, restarts=1)
    for number, one in enumerate(machines):
        answer = store.hear(word(one, state="failed", text=f"rank {number} failed", asks=False))
        assert (answer["event"], answer["reason"]) == ("restart", "rank 0 failed")
    assert store.failures == 1 and store.generation == 1


def test_a_word_of_an_older_generation_changes_nothing(clock):
    store, machines = running(1, 2)
    store.hear(word(machines[1], state="left"))
    store.join(machines[0] | {"previous": 0})
    assert store.answer["nodes"] == 1
    store.hear(word(machines[0], generation=0, state="failed", text="late", asks=False))
    assert store.generation == 1 and store.ending is None


def test_a_machine_too_many_takes_the_place_of_a_lost_one(clock):
    store, machines = running(1, 2)
    spare = described(5)
    assert "waiting" in store.join(spare) and store.generation == 0
    store.hear(word(machines[1], state="left"))
    assert "waiting" in store.join(spare)
    answer = store.join(machines[0] | {"previous": 0})
    assert [answer["ranks"][stores.key_of(one)] for one in (machines[0], spare)] == [0, 1]
    assert answer["generation"] == 1
    for one in (machines[0], spare):
        store.hear(word(one, generation=1, state="done"))
    assert store.join(described(6)) == {"error": "the job has ended"}


def test_a_wrong_token_is_refused(clock):
    store, machines = running(2, 2)
    failed = word(machines[0], state="failed", text="made up", asks=False)
    answer = store.hear(failed | {"token": "guess"})
    assert answer["event"] == "end" and "PADDLE_JOB_TOKEN" in answer["reason"]
    store.hear(word(machines[0], state="left") | {"token": "guess"})
    assert store.hear(word(machines[1])) == {"event": "none"}


def failed(one, text="rank 0 failed", asks=False, generation=0):
    return word(one, generation, state="failed", text=text, asks=asks)


def test_a_restart_that_is_asked_for_at_once_counts_as_a_failure(clock):
    store, machines = running(2, 2, restarts=1)
    clock[0] += stores.QUICK + 1
    assert store.hear(failed(machines[0], asks=True))["event"] == "restart" and store.failures == 0
    for generation, event in ((1, "restart"), (2, "end")):
        for number, one in enumerate(machines):
            store.join(one | {"previous": number})
        answer = store.hear(failed(machines[0], asks=True, generation=generation))
        assert answer["event"] == event


def test_a_failure_may_come_from_a_machine_that_is_lost(clock):
    store, machines = running(1, 2)
    assert store.hear(failed(machines[0])) == {"event": "wait"}
    clock[0] += 9
    assert store.hear(word(machines[0]))["event"] == "none"
    clock[0] += 1.2
    store.drop_silent()
    answer = store.hear(word(machines[0]))
    assert answer["event"] == "restart" and "process 1 is lost" in answer["reason"]


def test_a_failure_without_a_lost_machine_ends_the_job(clock):
    store, machines = running(1, 2)
    store.hear(failed(machines[0]))
    for _ in range(11):
        clock[0] += 1
        for one in machines:
            store.hear(word(one))
        store.drop_silent()
    assert store.hear(word(machines[1])) == {"event": "end", "reason": "rank 0 failed"}


@pytest.mark.parametrize(
    ("changes", "words"), [({"script": "other"}, "training script"), ({"token": "x"}, "TOKEN")]
)
def test_a_launcher_that_does_not_fit_leaves_a_running_job_alone(clock, changes, words):
    store, machines = running(1, 2)
    store.hear(word(machines[1], state="left"))
    store.join(machines[0] | {"previous": 0})
    assert words in store.join(described(5, **changes))["error"]
    assert "does not say" in store.join({"host": "127.0.0.1", "pid": 9, "rank": -1, "token": ""})["error"]
    assert store.generation == 1 and store.hear(word(machines[0], generation=1)) == {"event": "none"}


def test_a_container_that_comes_back_is_another_launcher(clock):
    store, machines = running(1, 2)
    again = machines[1] | {"launcher": "another"}
    assert "waiting" in store.join(again)
    clock[0] += 11
    store.hear(word(machines[0]))
    store.drop_silent()
    assert store.generation == 1


def test_a_launcher_that_was_taken_for_lost_ends_well_with_the_job(clock):
    store, machines = running(1, 2)
    clock[0] += 9
    store.hear(word(machines[0]))
    clock[0] += 2
    store.drop_silent()
    answer = store.join(machines[0] | {"previous": 0})
    assert answer["nodes"] == 1
    store.hear(word(machines[0], generation=1, state="done"))
    assert store.hear(word(machines[1], state="done"))["event"] == "restart"
    assert store.join(machines[1] | {"previous": 1}) == {"over": True}


def lingered(store, clock):
    """For how many seconds of the clock the store stays open."""
    began = clock[0]
    store.linger()
    return clock[0] - began


@pytest.mark.parametrize("least", [1, 2])  # 2: a job that is not elastic
def test_the_store_stays_until_the_end_has_been_sent_to_all(clock, monkeypatch, least):
    store, machines = running(least, 2)
    store.keeper = stores.key_of(machines[0])
    monkeypatch.setattr(stores.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    done = word(machines[1], state="done")
    first = store.hear(done)
    store.hear(word(machines[0], state="done"))
    assert lingered(store, clock) >= store.place.lost  # the answer is on its way
    last = store.hear(done)
    store.note_sent(done, first)
    waits = lingered(store, clock) >= store.place.lost
    assert waits == (least == 1)
    store.note_sent(done, last)
    assert last == {"event": "finished"} and lingered(store, clock) == 0


def test_a_store_that_did_not_run_takes_nobody_for_lost(clock):
    store, machines = running(1, 2)
    clock[0] += 11
    store.forgive(11)
    store.drop_silent()
    assert store.hear(word(machines[1])) == {"event": "none"}


def test_a_heartbeat_that_brings_the_end_is_not_lost(monkeypatch):
    """A heartbeat and the report of the end are on their way together: the store answers only the first."""
    place = Place("127.0.0.1", 1, 2, 2, 300.0, 30.0)
    member = rendezvous.Membership(place, None, print)
    machine = described(0)
    member._described = machine
    under_way = threading.Event()
    asked = []

    def answered(place, path, word):
        asked.append(word["state"])
        under_way.set()
        time.sleep(0.05)
        return {"event": "end", "reason": f"said to {word['state']}"}

    monkeypatch.setattr(rendezvous, "question", answered)
    monkeypatch.setattr(rendezvous, "_BEAT", 0.0)
    member._begin_heartbeats()
    under_way.wait()
    assert member.finish() == ("end", "said to running") and asked == ["running"]


def test_one_question_without_an_answer_is_no_loss(clock, monkeypatch):
    """This machine may have stood still while it waited."""
    member = rendezvous.Membership(Place("127.0.0.1", 1, 2, 2, 300.0, 30.0), None, print)
    member._described = described(0)
    answers = [None, None, {"event": "none"}, {"event": "end", "reason": "later"}, None, None, None]

    def answered(place, path, word):
        clock[0] += 20
        answer = answers.pop(0)
        if answer is None:
            raise TimeoutError
        return answer

    monkeypatch.setattr(rendezvous, "question", answered)
    assert member._insist("running").kind == "none"
    assert member._insist("running") == ("end", "later")
    assert "no launcher answers" in member._insist("running").reason


def test_who_leaves(clock):
    store, machines = running(1, 2)
    store.hear(word(machines[1], state="done"))
    store.hear(word(machines[1], state="left"))
    assert store.generation == 0
    place = Place("127.0.0.1", 1, 2, 2, 300.0, 30.0)
    forming = JobStore(place)
    forming.join(described(0, rank=1))
    forming.hear(word(described(0), state="left"))
    forming.join(described(1, rank=1))
    assert "ranks" in forming.join(described(2))
    forming.end("the launcher that keeps the job together was ended")
    assert "was ended" in forming.join(described(1))["error"]


@pytest.mark.parametrize(("error", "is_said"), [(BrokenPipeError, False), (KeyError, True)])
def test_a_launcher_that_does_not_wait_for_its_answer(capsys, error, is_said):
    server = stores.open_store(Place("127.0.0.1", 0, 1, 1, 1.0, 1.0))
    try:
        raise error
    except error:
        server.handle_error(None, ("127.0.0.1", 1))
    server.abandon()
    assert ("Exception occurred" in capsys.readouterr().err) == is_said


def test_a_long_request_is_refused():
    server = stores.open_store(Place("127.0.0.1", 0, 1, 1, 1.0, 1.0))
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)
    connection.putrequest("POST", "/join")
    connection.putheader("Content-Length", "-1")
    connection.endheaders()
    assert "Content-Length" in connection.getresponse().read().decode()
    connection.close()
    server.abandon()
