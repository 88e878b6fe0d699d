"""Networks that delay, lose and cut: what workers, servers and callers do, and by when.

A relay stands between the two sides (`relay.py`), so that no rights and no kernel module are needed.

Unit tests of `_core.process_group` and `_launch`.
"""

import contextlib
import threading
import time

import numpy as np
import pytest

from paddle_jax._core.process_group import messages
from paddle_jax._core.process_group.failure_detector import LostError
from paddle_jax._launch.rendezvous import request_answer
from paddle_jax._launch.store import Place, key_of, open_store
from paddle_jax.distributed import rpc
from paddle_jax.distributed.ps.client import Client
from paddle_jax.distributed.ps.worker import worker_for
from paddle_jax.distributed.rpc import channel
from paddle_jax.distributed.rpc import rpc as remote
from tests.distributed import pairs
from tests.distributed.relay import Relay
from tests.distributed.test_rendezvous import described
from tests.distributed.test_servers import TOKEN, compare, expected_of, in_threads, job, running, train

STEPS = 12


@contextlib.contextmanager
def relayed(mode):
    """Two workers whose two servers are behind relays; gives the workers and the relays."""
    with running(job(mode)) as servers, contextlib.ExitStack() as stack:
        relays = [Relay(int(endpoint.rpartition(":")[2])) for endpoint in servers.endpoints]
        for relay in relays:
            stack.callback(relay.close)
        addresses = [f"127.0.0.1:{relay.port}" for relay in relays]
        workers = []
        for number in range(2):
            worker = worker_for(Client(addresses, number, servers.spec, TOKEN), 16, 1)
            stack.callback(worker.client.close)
            worker.start(lambda one: np.arange(one.width, dtype=np.float32))
            workers.append(worker)
        yield workers, relays


def delays(relays, ends):
    for relay in relays:
        relay.delay = 0.01


def cuts(relays, ends):
    for _ in range(4):
        ends.wait(0.15)
        for relay in relays:
            relay.cut()


def refuses(relays, ends):
    """A third of a second in which nobody can be reached, twice."""
    for _ in range(2):
        ends.wait(0.3)
        for relay in relays:
            relay.refusing = True
            relay.cut()
        time.sleep(0.3)
        for relay in relays:
            relay.refusing = False


def loses_answers(relays, ends):
    """Requests arrive, answers do not: each one is repeated, and must count once."""
    for _ in range(3):
        ends.wait(0.15)
        for relay in relays:
            relay.deaf = True
        ends.wait(0.1)
        for relay in relays:
            relay.cut()
            relay.deaf = False


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("fault", [delays, cuts, refuses, loses_answers])
def test_each_push_counts_once(fault, mode):
    share = 0.5 if mode == "sync" else 1.0
    ends = threading.Event()
    with relayed(mode) as (workers, relays):
        troubles = threading.Thread(target=fault, args=(relays, ends), daemon=True)
        begin = time.monotonic()
        troubles.start()

        def work(number):
            for step in range(STEPS):
                train(workers[number], step + 1, number, step)
                time.sleep(0.03)
            workers[number].flush()

        in_threads([lambda number=number: work(number) for number in range(2)])
        ends.set()
        troubles.join(10)
        assert not troubles.is_alive() and time.monotonic() - begin > STEPS * 0.03
        compare(workers[0], *expected_of(STEPS, 2, share))
        in_threads([worker.stop for worker in workers])
        assert all(relay.passed for relay in relays)


@pytest.mark.slow
def test_a_server_that_stays_away_is_named(monkeypatch):
    """The worker ends after PADDLE_PS_TIMEOUT, and names the server."""
    monkeypatch.setenv("PADDLE_PS_TIMEOUT", "2")
    with relayed("async") as (workers, relays):
        train(workers[0], 2, 0)
        workers[0].flush()
        relays[1].refusing = True
        relays[1].cut()
        begin = time.monotonic()
        words = rf"127.0.0.1:{relays[1].port}: no answer to .*PADDLE_PS_TIMEOUT"
        with pytest.raises(RuntimeError, match=words):
            workers[0].pull(0, np.arange(50), None)
        assert time.monotonic() - begin < 30  # a hang would last for ever


def test_a_connection_that_is_open_but_silent_is_given_up():
    """Within keepalive's two seconds and three more; without it a call would wait for its own deadline."""
    grpc = channel.grpc_module()
    with contextlib.ExitStack() as stack:
        server, port = channel.serve("Echo", TOKEN, "127.0.0.1:0", {"echo": lambda request, context: request})
        stack.callback(server.stop, 0)
        relay = Relay(port)
        stack.callback(relay.close)
        peer = stack.enter_context(grpc.insecure_channel(f"127.0.0.1:{relay.port}", options=channel.OPTIONS))
        echo = peer.unary_unary("/Echo/echo")
        token = (("token", TOKEN),)
        assert echo(b"first", timeout=20, metadata=token) == b"first"
        relay.deaf = True
        with pytest.raises(grpc.RpcError) as refused:
            echo(b"second", timeout=60, metadata=token)
        assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
        relay.cut()  # else the server may still give the old connection up
        relay.deaf = False
        # While gRPC closes the old connection a call may get it, and ends with it. Clients repeat such calls.
        answer = None
        end = time.monotonic() + 20
        while answer is None and time.monotonic() < end:
            try:
                answer = echo(b"third", timeout=20, metadata=token, wait_for_ready=True)
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.UNAVAILABLE
        assert answer == b"third"


CALLS = []  # seconds of each call of `work`


def work(seconds):
    """A remote function; gives how often it was called."""
    CALLS.append(seconds)
    time.sleep(seconds)
    return len(CALLS)


@contextlib.contextmanager
def called_through_a_relay():
    """An rpc agent that reaches itself through a relay, which it gives."""
    CALLS.clear()
    rpc.init_rpc("far", rank=0, world_size=1, master_endpoint=f"127.0.0.1:{pairs.free_port()}")
    with contextlib.ExitStack() as stack:
        stack.callback(rpc.shutdown)
        infos = remote._agent().infos
        relay = Relay(infos[0].port)
        stack.callback(relay.close)
        infos[0] = infos[0]._replace(port=relay.port)
        yield relay


def refused_within(seconds, function, *args):
    """The text of the RuntimeError of a call."""
    begin = time.monotonic()
    with pytest.raises(RuntimeError) as refused:
        rpc.rpc_sync("far", function, args=args)
    assert time.monotonic() - begin < seconds
    return str(refused.value)


def answered(function, *args):
    """What a call gives, None where the process cannot be reached."""
    with contextlib.suppress(RuntimeError):
        return rpc.rpc_sync("far", function, args=args)
    return None


@pytest.mark.slow
def test_remote_calls_over_a_bad_network():
    """What a call meets on its way: it is named within 5 s, runs once, and later calls are answered."""
    with called_through_a_relay() as relay:
        relay.delay = 0.05
        assert rpc.rpc_sync("far", work, args=(0,)) == 1
        relay.delay = 0.0
        relay.cut()
        time.sleep(0.3)  # a call that is on its way at that moment is refused, as below
        assert rpc.rpc_sync("far", work, args=(0,)) == 2
        threading.Timer(0.5, relay.cut).start()  # in the middle of a call
        assert "work on 'far' (rank 0" in refused_within(5, work, 2)
        relay.deaf = True  # the connection is open, and nothing comes back
        assert "the process has gone, or cannot be reached" in refused_within(5.5, work, 0)
        relay.deaf = False
        relay.refusing = True
        relay.cut()
        assert "the process has gone, or cannot be reached" in refused_within(5, work, 0)
        assert CALLS.count(2) == 1
        relay.refusing = False
        limit = time.monotonic() + 10  # gRPC waits a moment before it connects again
        while (found := answered(work, 0)) is None and time.monotonic() < limit:
            time.sleep(0.2)
        assert found == len(CALLS)


# launchers -------------------------------------------------------------------------------------------------


def test_launchers_meet_when_the_network_is_there():
    """Two launchers behind a network that is slow, away at first, and cut; a third comes later. All hear the
    same, and each has a rank."""
    place = Place("127.0.0.1", pairs.free_port(), 3, 3, 20.0, float("inf"))
    server, relay = open_store(place), Relay(place.port)
    launchers = [described(number, nnodes="3") for number in range(3)]
    launchers[0]["rank"] = 0
    answers = [None] * 3

    def come(number, where):
        answers[number] = request_answer(where, launchers[number], lambda line: None, 20.0)

    try:
        relay.delay = 0.05
        relay.refusing = True
        threading.Timer(0.5, setattr, (relay, "refusing", False)).start()
        threading.Timer(0.9, relay.cut).start()
        behind = place._replace(port=relay.port)
        threads = [threading.Thread(target=come, args=(number, behind), daemon=True) for number in (1, 2)]
        [thread.start() for thread in threads]
        time.sleep(1.2)
        come(0, place)
        [thread.join(10) for thread in threads]
    finally:
        relay.close()
        server.close()
    assert answers[0] == answers[1] == answers[2]
    assert sorted(answers[0]["ranks"][key_of(one)] for one in launchers) == [0, 1, 2]


# stages of a pipeline --------------------------------------------------------------------------------------


class Store(dict):
    """What the processes of a program share, in one process."""

    def key_value_set(self, key, value, allow_overwrite=False):
        self[key] = value

    def blocking_key_value_get(self, key, milliseconds):
        return self[key]


@pytest.fixture
def stages(monkeypatch):
    """(channels of two processes, the relay before the second one)."""
    store = Store()
    monkeypatch.setattr(messages.startup_barrier, "store", lambda: store)
    monkeypatch.setattr(messages.failure_detector, "failure_among", lambda ranks: None)
    channels = [messages.Channel(rank, "127.0.0.1:1") for rank in range(2)]
    relay = Relay(int(store["paddle/address/1"].rpartition(":")[2]))
    store["paddle/address/1"] = f"127.0.0.1:{relay.port}"
    yield channels, relay
    relay.close()
    for one in channels:
        one.listener.close()


def test_a_slow_network_keeps_the_order_of_messages(stages):
    (first, second), relay = stages
    relay.delay = 0.02
    sent = [first.send("output", 1, np.full(size, size), 10.0) for size in (1, 100_000, 3)]
    for size, message in zip((1, 100_000, 3), sent, strict=True):
        number = second.take_number("output", 0)
        found = second.receive("output", 0, number, "output", "the group", 10.0)
        np.testing.assert_array_equal(found, np.full(size, size))
        first.wait_until_delivered(message, "output", "the group", 1, 10.0)


def test_a_connection_that_is_cut_ends_both_stages(stages):
    (first, second), relay = stages
    first.send("output", 1, np.zeros(3), 10.0)
    second.receive("output", 0, second.take_number("output", 0), "output", "the group", 10.0)
    begin = time.monotonic()
    relay.cut()
    with pytest.raises(
        LostError, match="stage 1: output of micro-batch 1 from rank 0 .* connection is closed"
    ):
        number = second.take_number("output", 0)
        second.receive("output", 0, number, "stage 1: output of micro-batch 1", "the group", 60.0)
    with pytest.raises(LostError, match="stage 0: output to rank 1 in the group: the connection broke"):
        for _ in range(100):  # the first ones may still go into the buffer of the socket
            message = first.send("output", 1, np.zeros(3), 60.0)
            first.wait_until_delivered(message, "stage 0: output", "the group", 1, 60.0)
            time.sleep(0.01)
    assert time.monotonic() - begin < 10
