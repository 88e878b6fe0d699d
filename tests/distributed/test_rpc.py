"""Remote calls: results, exceptions, deadlines, and processes that go."""

import json
import os
import stat

import pytest

from paddle_jax.distributed import rpc
from paddle_jax.distributed.rpc import agent, serialization, token
from tests.distributed import pairs

pytest.importorskip("grpc")


def called(case, *, codes=(0, 0)):
    """What two processes have found."""
    port = pairs.free_port()
    ended = pairs.run(
        "calling.py", case, seconds=90, PADDLE_MASTER_ENDPOINT=f"127.0.0.1:{port}", PADDLE_MASTER=""
    )
    for rank, process in enumerate(ended):
        assert process.code == codes[rank], f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) if process.out else None for process in ended], ended


@pytest.fixture(scope="module")
def found():
    return called("calls")[0]


@pytest.mark.slow
def test_results(found):
    first, second = found
    assert first["counted"] == [[2, 1], [5, 1]] and first["keywords"] == [6, 1] and first["own"] == [1, 0]
    assert first["futures"] == [2**n for n in range(20)]
    assert first["array"] and first["tensor"] == ["Tensor", [2.0, 2.0]]
    assert first["nested"] == [1, 0, 1, 0, 1, 0, 1]
    assert first["infos"] == [["worker0", 0], ["worker1", 1]] and first["one"]
    assert [one["current"] for one in found] == [["worker0", 0], ["worker1", 1]]
    assert all(one["after"][0] == "RuntimeError" for one in found) and second is not None


@pytest.mark.slow
def test_exceptions(found):
    errors = found[0]["errors"]
    kind, text, cause, _ = errors["raised"]
    assert kind == "OwnError" and text == "('no', 7)" and "in fail" in cause
    kind, text, cause, _ = errors["unpicklable"]
    assert kind == "RuntimeError" and "Unpicklable: cannot travel" in text and "in fail_badly" in cause
    assert errors["unknown"][:2] == ["ValueError", "rpc: to: got 'worker9'; there are 'worker0', 'worker1'"]
    kind, text, _, seconds = errors["late"]
    assert kind == "TimeoutError" and "sleep on 'worker1'" in text and seconds < 5
    assert errors["lock"][0] == "TypeError" and errors["twice"][0] == "RuntimeError"


@pytest.mark.slow
def test_a_process_that_dies():
    (found, _), ended = called("dies", codes=(0, -9))
    for name in ("gone", "again"):
        kind, text, _, seconds = found[name]
        assert kind == "RuntimeError" and "'worker1'" in text and seconds < 5, found
    assert found["ended"] < 10 and "'worker1' had gone already" in ended[0].err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "words"), [("names", "'same' is repeated"), ("sizes", "world_size: rank 0 has 2")]
)
def test_processes_that_do_not_fit(case, words):
    found, _ = called(case)
    for one in found:
        kind, text, _, seconds = one["refused"]
        assert kind == "RuntimeError" and words in text and seconds < 10


def test_one_process_alone():
    rpc.init_rpc("alone", rank=0, world_size=1, master_endpoint=f"127.0.0.1:{pairs.free_port()}")
    try:
        assert rpc.rpc_sync("alone", divmod, args=(7, 2)) == (3, 1)
        with pytest.raises(ZeroDivisionError) as error:
            rpc.rpc_sync("alone", divmod, args=(7, 0))
        assert isinstance(error.value.__cause__, serialization.RemoteTraceback)
        grpc = agent.grpc_module()
        info = rpc.get_current_worker_info()
        stranger = grpc.insecure_channel(f"{info.ip}:{info.port}").unary_unary("/paddle.rpc/Call")
        with pytest.raises(grpc.RpcError) as refused:
            stranger(serialization.dumped((len, ([],), {})), metadata=(("token", "guessed"),))
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
    finally:
        rpc.shutdown()
    with pytest.raises(RuntimeError, match="call paddle.distributed.rpc.init_rpc first"):
        rpc.rpc_sync("alone", len, args=([],))


def test_a_call_before_init_rpc_has_returned(monkeypatch):
    """A call that arrives early finds this process ready to call others."""
    accept = agent.Agent.accept_calls
    futures = []

    def call_early(self):
        futures.append(self.call("alone", rpc.get_current_worker_info, (), {}, 60))
        # The server of this process has the call by then.
        futures.append(self.call("alone", len, ([],), {}, 60))
        with pytest.raises(grpc.FutureTimeoutError):
            futures[1]._call.result(timeout=0.2)
        accept(self)

    grpc = agent.grpc_module()
    monkeypatch.setattr(agent.Agent, "accept_calls", call_early)
    rpc.init_rpc("alone", rank=0, world_size=1, master_endpoint=f"127.0.0.1:{pairs.free_port()}")
    try:
        assert futures[0].wait().name == "alone" and futures[1].wait() == 0
    finally:
        rpc.shutdown()


def test_arguments(monkeypatch):
    monkeypatch.delenv("PADDLE_TRAINER_ID", raising=False)
    with pytest.raises(KeyError, match="rank: got None, and PADDLE_TRAINER_ID is not set"):
        rpc.init_rpc("one")
    with pytest.raises(ValueError, match="must be host:port"):
        rpc.init_rpc("one", 0, 1, "somewhere")


def test_the_token(monkeypatch):
    monkeypatch.delenv("PADDLE_JOB_TOKEN", raising=False)
    with pytest.raises(ValueError, match="set PADDLE_JOB_TOKEN"):
        token.job_token("192.0.2.1:9", 0, 1)
    port = pairs.free_port()
    secret = token.job_token(f"127.0.0.1:{port}", 0, 1)
    assert len(secret) == 32 and token.job_token(f"127.0.0.1:{port}", 1, 1) == secret
    files = [path for path in _folder().iterdir() if path.name == f"rpc-{port}"]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    files[0].unlink()
    with pytest.raises(TimeoutError, match="rank 0 has not started"):
        token.job_token(f"127.0.0.1:{port}", 1, 0.2)
    monkeypatch.setenv("PADDLE_JOB_TOKEN", "given")
    assert token.job_token("192.0.2.1:9", 0, 1) == "given"


def _folder():
    import pathlib
    import tempfile

    return pathlib.Path(tempfile.gettempdir()) / f"paddle_jax-{os.getuid()}"


@pytest.mark.slow
def test_devices_before_and_within_calls():
    zero, one = pairs.run("calling_devices.py", seconds=60)
    assert zero.code == 0 and one.code == 0, (zero, one)
    assert zero.out.splitlines()[-2:] == ["[2.0]", "[4.0, 6.0]"]
