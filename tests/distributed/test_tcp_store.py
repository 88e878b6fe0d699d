"""`TCPStore` and the barriers of processes in no process group; the values are those of the real Paddle."""

import threading

import pytest

import paddle_jax as paddle
from paddle_jax.base.core import TCPStore
from tests.distributed import pairs


@pytest.fixture
def stores():
    """A master and another process's store; both wait two seconds at most."""
    port = pairs.free_port()
    made = []
    other = threading.Thread(target=lambda: made.append(TCPStore("127.0.0.1", port, False, 2, 2)))
    other.start()
    master = TCPStore(hostname="127.0.0.1", port=port, is_master=True, world_size=2, timeout=2)
    other.join()
    yield master, made[0]
    made[0].close()
    master.close()


def test_values(stores):
    master, other = stores
    master.set("bytes", b"\x01\xff")
    assert other.get("bytes") == b"\x01\xff"
    other.set("empty", "")
    assert master.get("empty") == b""
    assert [master.add("count", -2), other.add("count", 5), other.get("count")] == [-2, 3, b"3"]
    master.set("text", "5")
    assert other.add("text", 1) == 6


def test_waiting(stores):
    master, other = stores
    found = []
    waiting = threading.Thread(target=lambda: found.append(other.get("late")))
    waiting.start()
    master.set("late", "here")
    waiting.join()
    assert found == [b"here"]


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda store: store.set("key", 3), TypeError, "it must be a str or bytes"),
        (lambda store: store.set(3, "value"), TypeError, "key: got int"),
        (lambda store: store.add("key", 1.5), TypeError, "amount: got float"),
        (lambda store: (store.set("name", "text"), store.add("name", 1)), ValueError, "holds no number"),
        (lambda store: store.wait("absent"), SystemError, "'absent' has no value within 2 s"),
    ],
)
def test_refused(stores, call, kind, message):
    with pytest.raises(kind, match=message):
        call(stores[1])
    # The connection goes on.
    stores[1].set("after", "1")
    assert stores[0].get("after") == b"1"


def test_missing_processes():
    port = pairs.free_port()
    with pytest.raises(SystemError, match="1 of world_size 2 processes have come within 0.2 s"):
        TCPStore("127.0.0.1", port, True, 2, 0.2)
    with pytest.raises(SystemError, match="no master answers"):
        TCPStore("127.0.0.1", pairs.free_port(), False, 2, 0.2)


@pytest.mark.slow
def test_barriers():
    endpoint = f"127.0.0.1:{pairs.free_port()}"
    ended = pairs.started([{"RANK_OF_TEST": str(rank)} for rank in range(2)], "cpu_barriers.py", endpoint)
    assert [process.code for process in ended] == [0, 0], ended
    lines = [process.out.splitlines() for process in ended]
    for turn in range(2):
        times = [[float(text) for text in one[turn].split()] for one in lines]
        latest = max(came for came, _ in times)
        assert all(passed >= latest for _, passed in times)
    assert all("call gloo_init_parallel_env first" in one[2] for one in lines)


def test_refused_barriers(oracle):
    for module in (paddle, oracle):
        with pytest.raises(AssertionError):
            module.distributed.gloo_init_parallel_env(0, 1, "127.0.0.1:6170")
        with pytest.raises(AssertionError):
            module.distributed.gloo_barrier()
        module.distributed.gloo_release()
