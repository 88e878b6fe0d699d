"""Networks that delay, lose and cut: what workers, servers and callers do, and by when.

A relay stands between the two sides (`relay.py`), so that no rights and no kernel module are needed.
"""

import contextlib
import threading
import time

import numpy as np
import pytest

from paddle_jax.distributed.ps.client import Client
from paddle_jax.distributed.ps.worker import worker_for
from paddle_jax.distributed.rpc import channel
from tests.distributed.relay import Relay
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
    """A second in which nobody can be reached, twice."""
    for _ in range(2):
        ends.wait(0.3)
        for relay in relays:
            relay.refusing = True
            relay.cut()
        time.sleep(1)
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
        relay.deaf = False
        assert echo(b"third", timeout=20, metadata=token, wait_for_ready=True) == b"third"
