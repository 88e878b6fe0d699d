"""Launchers of several machines meet, or end with both sides' values; variables of other jobs.

Unit tests of `_core.process_group` and `_launch`.
"""

import threading
import time

import jax
import pytest

import paddle_jax
from paddle_jax._core.process_group import failure_detector, startup_barrier
from paddle_jax._launch import arguments, variables
from paddle_jax._launch.rendezvous import RendezvousError, request_answer
from paddle_jax._launch.store import Place, key_of, open_store
from paddle_jax.distributed import fleet
from tests.distributed import pairs


def described(number, **changes):
    """What a launcher on a machine tells the others."""
    return {
        "rank": -1,
        "nnodes": "2",
        "nproc": 2,
        "host": "127.0.0.1",
        "ports": [7000 + 10 * number, 7001 + 10 * number],
        "coordinator": 7009 + 10 * number,
        "version": "1",
        "python": "3.11",
        "script": "abc",
        "job": "default",
        "pid": number,
        "launcher": f"launcher {number}",
        "elastic": "-1, 3",
        "token": "",
    } | changes


def answers_for(*launchers, least=None, most=None, seconds=5.0, patience=float("inf")):
    """What launchers that come at once hear, each: the answer of the store, or the text of an error."""
    count = len(launchers)
    place = Place("127.0.0.1", pairs.free_port(), least or count, most or count, seconds, patience)
    results = [None] * count
    server = open_store(place)

    def launcher(number):
        try:
            words = launchers[number]
            if number == 0 and words["rank"] < 0:
                words = words | {"rank": 0}  # as the launcher that keeps the store says
            answer = request_answer(place, words, lambda line: None, seconds)
            results[number] = answer.get("error", answer)
        except RendezvousError as error:
            results[number] = str(error)

    threads = [threading.Thread(target=launcher, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)  # they come in this order
    for thread in threads:
        thread.join(20)
    server.close()
    return results


def ranks(answers, launchers):
    return [answer["ranks"][key_of(one)] for answer, one in zip(answers, launchers, strict=True)]


def test_ranks_follow_the_order_of_arrival():
    launchers = [described(number) for number in range(3)]
    answers = answers_for(*launchers)
    assert ranks(answers, launchers) == [0, 1, 2]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["coordinator"] == "127.0.0.1:7009" and answers[0]["nodes"] == 3
    assert answers[0]["endpoints"] == [f"127.0.0.1:{7000 + 10 * i + j}" for i in range(3) for j in range(2)]


def test_given_ranks_are_kept():
    launchers = [described(0, rank=2), described(1), described(2, rank=0)]
    answers = answers_for(*launchers)
    assert ranks(answers, launchers) == [2, 1, 0]
    assert answers[0]["coordinator"] == "127.0.0.1:7029"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nproc": 1}, ["--nproc_per_node", "has 2", "has 1"]),
        ({"nnodes": "3"}, ["--nnodes", "has 2", "has 3"]),
        ({"version": "2"}, ["the version of paddle_jax", "has 1", "has 2"]),
        ({"script": "xyz"}, ["training script", "abc", "xyz"]),
        ({"rank": 0}, ["--rank 0 was given on", "process 0", "process 1"]),
        ({"elastic": "1, 3"}, ["--elastic_level and --max_restart", "has -1, 3", "has 1, 3"]),
        ({"rank": 5}, ["--rank", "has 5", "below 2"]),
        ({"token": "secret"}, ["PADDLE_JOB_TOKEN"]),
    ],
)
def test_what_does_not_agree_is_refused_on_both_sides(changes, words):
    started = time.monotonic()
    found = answers_for(described(0), described(1, **changes))
    assert time.monotonic() - started < 10
    assert found[0] == found[1]
    assert all(word in found[0] for word in words), found[0]


def test_machines_that_do_not_come():
    (found,) = answers_for(described(0), least=2, most=2, seconds=0.5)
    assert "1 of 2 machines have come within" in found and "process 0" in found


def test_nobody_at_the_address():
    place = Place("192.0.2.1", 9, 2, 2, 0.5, 1.0)  # an address for documentation: nobody has it
    with pytest.raises(RendezvousError, match="no launcher answers at 192.0.2.1:9"):
        request_answer(place, described(0), lambda line: None, 0.5)


def test_fewer_machines_than_may_come():
    launchers = [described(0), described(1)]
    answers = answers_for(*launchers, least=1, most=3, patience=0.5)
    assert ranks(answers, launchers) == [0, 1] and answers[0]["nodes"] == 2


def test_one_machine_too_many():
    launchers = [described(0), described(1), described(2)]
    answers = answers_for(*launchers, least=2, most=2)
    assert ranks(answers[:2], launchers[:2]) == [0, 1]
    assert answers[2] == "2 machines have come already; this one is too many"


def test_variables_of_another_job(monkeypatch):
    others = ["MASTER_ADDR", "MASTER_PORT", "PADDLE_PSERVERS_IP_PORT_LIST", "RANK", "TRAINING_ROLE"]
    for name in [*others, "PADDLE_PG_TIMEOUT", "PADDLE_TRAINER_ID", "PADDLE_JOB_ID"]:
        monkeypatch.setenv(name, "5")
    environment, removed = variables.inherited({"PADDLE_TRAINER_ID": "0"})
    assert removed == others
    assert environment["PADDLE_TRAINER_ID"] == "0" and environment["PADDLE_PG_TIMEOUT"] == "5"
    assert not set(others) & set(environment) and "PADDLE_JOB_ID" not in environment


def test_defaults_from_the_environment(monkeypatch, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("")
    for name, value in {
        "PADDLE_NPROC_PER_NODE": "3",
        "PADDLE_JOB_ID": "mine",
        "PADDLE_LOG_DIR": "logs",
        "PADDLE_MAX_RESTART": "7",
        "PADDLE_MASTER": "10.255.255.1:1",
        "POD_IP": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    found = arguments.parsed(["--job_id", "given", str(script)])
    assert (found.nproc, found.job_id, found.log_dir, found.max_restart) == (3, "given", "logs", 7)
    assert found.host == "127.0.0.1" and found.master is None  # one machine: it is another job's
    several = arguments.parsed(["--nnodes", "2:4", str(script)])
    assert (several.master, several.least, several.most) == ("10.255.255.1:1", 2, 4)
    assert several.rank == -1


@pytest.mark.parametrize(
    ("environment", "words", "expected"),
    [
        (
            {
                "SLURM_STEP_NUM_TASKS": "3",
                "SLURM_STEP_NUM_NODES": "3",
                "SLURM_NODEID": "2",
                "SLURM_STEP_NODELIST": "localhost[,a",  # the name of a machine that is known here
            },
            [],
            ("localhost:6070", 3, 2),
        ),
        (
            {"SLURM_STEP_NUM_TASKS": "6", "SLURM_STEP_NUM_NODES": "3", "SLURM_NODEID": "2"},
            [],
            (None, 1, 0),  # Slurm starts the processes itself
        ),
        (
            {"SLURM_STEP_NUM_TASKS": "3", "SLURM_STEP_NUM_NODES": "3", "SLURM_NODEID": "2"},
            ["--servers", "127.0.0.1:1", "--trainers", "127.0.0.1:2,elsewhere:2"],
            (None, 1, 0),  # these name the machines
        ),
        (
            {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"},
            ["--master", "127.0.0.1:1"],
            ("127.0.0.1:1", 2, 1),
        ),
        (
            {"JOB_COMPLETION_INDEX": "3", "KUBERNETES_SERVICE_HOST": "10.0.0.1"},
            ["--nnodes", "4", "--master", "127.0.0.1:1"],
            ("127.0.0.1:1", 4, 3),
        ),
        ({"JOB_COMPLETION_INDEX": "3", "KUBERNETES_SERVICE_HOST": "10.0.0.1"}, [], (None, 1, 0)),
        (
            {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"},
            ["--nnodes", "2", "--rank", "0", "--master", "127.0.0.1:1"],
            ("127.0.0.1:1", 2, 0),
        ),
    ],
)
def test_what_schedulers_say(monkeypatch, tmp_path, environment, words, expected):
    (tmp_path / "train.py").write_text("")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    given = arguments.parsed([*words, str(tmp_path / "train.py")])
    assert (given.master, given.most, given.rank) == expected


@pytest.mark.parametrize("words", [["--workers", "127.0.0.1:1"], ["--nnodes", "3:2"]])
def test_refused_options(words, tmp_path, capsys):
    (tmp_path / "train.py").write_text("")
    with pytest.raises(SystemExit):
        arguments.parsed([*words, str(tmp_path / "train.py")])
    text = capsys.readouterr().err
    assert "give both" in text or "N:M" in text


_WORKER = {
    "PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1:6170,127.0.0.1:6171",
    "PADDLE_TRAINERS_NUM": "3",
    "PADDLE_TRAINER_ID": "2",
    "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:6180,127.0.0.1:6181,127.0.0.1:6182",
    "POD_IP": "127.0.0.1",
    "PADDLE_PORT": "6182",
    "TRAINING_ROLE": "TRAINER",
}
_SERVER = _WORKER | {"TRAINING_ROLE": "PSERVER", "PADDLE_PORT": "6171"}
_ASKED = (
    "_is_worker",
    "_is_server",
    "_is_first_worker",
    "_worker_num",
    "_server_num",
    "_worker_index",
    "_server_index",
    "_get_trainer_endpoints",
    "_get_pserver_endpoints",
)


@pytest.mark.parametrize("environment", [_WORKER, _SERVER, {}], ids=["worker", "server", "alone"])
def test_roles_equal_paddle(environment, monkeypatch, oracle):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    role = fleet.PaddleCloudRoleMaker(is_collective=False)
    theirs = oracle.distributed.fleet.PaddleCloudRoleMaker(is_collective=False)
    # a server of Paddle gives its own number as that of a worker, too
    for name in _ASKED if environment else _ASKED[:4]:
        assert getattr(role, name)() == getattr(theirs, name)(), name


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        (_WORKER, "PADDLE_TRAINERS_NUM"),
        (_WORKER, "PADDLE_TRAINER_ID"),
        (_WORKER, "TRAINING_ROLE"),
        (_SERVER, "PADDLE_PORT"),
        (_SERVER, "POD_IP"),
    ],
)
def test_a_role_that_lacks_a_variable(environment, missing, monkeypatch, oracle):
    for name, value in environment.items():
        if name != missing:
            monkeypatch.setenv(name, value)
    monkeypatch.delenv(missing, raising=False)
    for package in (oracle, paddle_jax):
        with pytest.raises(ValueError, match=f"Can not find {missing}"):
            package.distributed.fleet.PaddleCloudRoleMaker(is_collective=False)._is_server()


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"PADDLE_PORT": "1"}, ValueError, "127.0.0.1:1"),
        ({"TRAINING_ROLE": "COOK"}, ValueError, "TRAINING_ROLE: got 'COOK'"),
        ({"TRAINING_ROLE": "HETER_TRAINER"}, NotImplementedError, "role 3"),
        ({"TRAINING_ROLE": "COORDINATOR"}, NotImplementedError, "role 5"),
        ({"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": "3"}, ValueError, "PADDLE_TRAINERS_NUM says 3"),
    ],
)
def test_roles_that_there_are_none_of(changes, error, words, monkeypatch):
    for name, value in (_SERVER | changes).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(error, match=words):
        fleet.init(is_collective=False)


def test_workers_of_a_job_with_servers_have_no_collectives(monkeypatch):
    for name, value in _WORKER.items():
        monkeypatch.setenv(name, value)
    assert fleet.init(is_collective=False).worker_index() == 2
    assert fleet.util.get_file_shard(["a", "b", "c", "d"]) == ["d"]
    assert fleet.server_endpoints() == ["127.0.0.1:6170", "127.0.0.1:6171"]
    with pytest.raises(RuntimeError, match="parameter servers"):
        paddle_jax.distributed.init_parallel_env()
    with pytest.raises(RuntimeError, match="call fleet.init_worker"):
        fleet.barrier_worker()
    for name in _WORKER:
        monkeypatch.delenv(name)
    fleet.init(is_collective=True)


class LateStore:
    """A store whose keys come after some questions."""

    def __init__(self, questions):
        self.questions = questions
        self.keys = []

    def key_value_set(self, key, value, allow_overwrite):
        self.keys.append(key)

    def blocking_key_value_get(self, key, milliseconds):
        if key not in self.keys and self.questions:
            self.questions -= 1
            raise jax.errors.JaxRuntimeError("DEADLINE_EXCEEDED: GetKeyValue() timed out")


def test_a_process_may_come_late(monkeypatch):
    store = LateStore(questions=3)
    monkeypatch.setattr(startup_barrier, "store", lambda: store)
    startup_barrier.await_all("first program", 1, [4, 6])
    assert store.questions == 0
    assert store.keys == ["paddle/come/first program/6"]


def test_a_long_wait_says_for_whom(monkeypatch, capsys):
    states = {"group 3 (ranks 4, 5)": [7, "barrier()", False, 0.0, [4, 5]]}
    store = LateStore(questions=3)
    monkeypatch.setattr(startup_barrier, "store", lambda: store)
    monkeypatch.setattr(startup_barrier, "_NOTE_SECONDS", 0.0)
    monkeypatch.setattr(failure_detector, "_calls_of", lambda rank: states)
    startup_barrier.await_all("first program", 1, [4, 6])
    states.clear()
    store.questions = 3
    startup_barrier.await_all("first program", 1, [4, 6])
    first, second = capsys.readouterr().err.splitlines()
    assert "rank 6 waits for rank 4 before the first program; rank 4 is in call #7 of group 3" in first
    assert "rank 4 is in no collective" in second


def test_a_process_that_failed_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(startup_barrier, "store", lambda: LateStore(questions=3))
    monkeypatch.setattr(failure_detector, "failure_among", lambda ranks: f"rank {ranks[0]} has failed")
    with pytest.raises(failure_detector.LostError, match="first program: rank 4 has failed"):
        startup_barrier.await_all("first program", 1, [4, 6])
