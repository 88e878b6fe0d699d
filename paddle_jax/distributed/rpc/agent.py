"""The servers and connections of a process that takes part in remote calls, on gRPC.

The process of rank 0 has a second server at the master endpoint, where all introduce themselves and say
goodbye. A connection that each keeps open to it tells when a process has gone.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from paddle_jax._core.base import launch_variables
from paddle_jax._launch.ports import own_address
from paddle_jax.distributed.rpc import serialization
from paddle_jax.distributed.rpc.channel import LAST_WORDS, OPTIONS, grpc_module, serve

_SERVICE = "paddle.rpc"
_AGAIN = 0.1  # seconds between two tries to reach the master


class WorkerInfo(NamedTuple):
    """A process that takes part in remote calls.

    Attributes:
        name: str, by which others call it.
        rank: int, its number.
        ip: str, its address.
        port: int.
    """

    name: str
    rank: int
    ip: str
    port: int


class _Master:
    """What the process of rank 0 keeps: who has come, who has said goodbye, who has gone.

    Attributes:
        size: how many processes there are.
        infos: {rank: WorkerInfo as a list}.
        problem: why the processes do not fit each other, or None.
        left: ranks that have said goodbye.
        gone: ranks whose connection has broken.
        changed: notified at each change.
    """

    def __init__(self, size: Any) -> None:
        self.size = size
        self.infos = {}
        self.problem = None
        self.left = set()
        self.gone = set()
        self.changed = threading.Condition()

    def join(self, request: Any, context: Any) -> bytes:
        """Introduces a process; answers when all have come."""
        new = json.loads(request)
        with self.changed:
            # A problem stays: those that come later, or wait, get the same answer.
            self.problem = self.problem or self._problem(new)
            if self.problem is None:
                self.infos[new["info"][1]] = new["info"]
            self.changed.notify_all()
            # With a time limit, to see whether the caller has gone meanwhile.
            while self.problem is None and len(self.infos) < self.size and context.is_active():
                self.changed.wait(0.5)
            if self.problem is not None:
                return json.dumps({"error": self.problem}).encode()
            return json.dumps({"infos": [self.infos[rank] for rank in sorted(self.infos)]}).encode()

    def _problem(self, new: dict[str, Any]) -> str | None:
        name, rank, *_ = new["info"]
        if new["size"] != self.size:
            return f"world_size: rank 0 has {self.size}, rank {rank} has {new['size']}"
        if not 0 <= rank < self.size or rank in self.infos:
            return f"rank: got {rank} from {name!r}; each of 0 to {self.size - 1} must come once"
        for known in self.infos.values():
            if known[0] == name:
                return f"name: {name!r} is repeated, by rank {known[1]} and rank {rank}; names must be unique"
        return None

    def detect_exit(self, request: Any, context: Any) -> Iterator[Any]:
        """A stream without messages, which ends with the process at the other end."""
        rank = int(request)
        ended = threading.Event()
        context.add_callback(ended.set)
        while not ended.wait(0.5):
            # When all have left there is nobody to report to.
            if len(self.left | self.gone) == self.size:
                return
            yield b""
        with self.changed:
            # Who leaves says so before its stream ends.
            if rank not in self.left:
                self.gone.add(rank)
            self.changed.notify_all()

    def leave(self, request: Any, context: Any) -> bytes:
        """Says goodbye for a process; answers when all have, or have gone, with the ranks that have gone."""
        with self.changed:
            self.left.add(int(request))
            self.changed.notify_all()
            while len(self.left | self.gone) < self.size and context.is_active():
                self.changed.wait(0.5)
            return json.dumps(sorted(self.gone - self.left)).encode()


class Future:
    """A call that was begun.

    Args:
        call: gRPC's future.
        describe: gives the text of an error for a status.
    """

    def __init__(self, call: Any, describe: Callable[[Any], Exception]) -> None:
        self._call = call
        self._describe = describe

    def wait(self) -> Any:
        """What the function has given; raises what it has raised.

        Raises:
            TimeoutError: the time is over. RuntimeError: the other process has gone.
        """
        try:
            data = self._call.result()
        except grpc_module().RpcError as error:
            raise self._describe(error) from None
        return serialization.result(data)

    def done(self) -> bool:
        """Whether there is a result."""
        return self._call.done()


class Agent:
    """This process among those that call each other.

    Attributes:
        info: WorkerInfo of this process.
        infos: those of all processes, by rank.
        _accepting: set once functions may be called here.
    """

    def __init__(self, name: str, rank: int, size: int, master: str, own: str | None, token: str) -> None:
        self._metadata = (("token", token),)
        self._channels: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._accepting = threading.Event()
        self._master_server = None
        if rank == 0:
            state = _Master(size)
            methods = {"Join": state.join, "Leave": state.leave}
            self._master_server, _ = serve(_SERVICE, token, master, methods, {"Watch": state.detect_exit})
        # Port 0 lets the system choose a free one.
        host, _, port = (own or f"{own_address(master)}:0").rpartition(":")
        self._server, bound = serve(_SERVICE, token, f"{host}:{port}", {"Call": self._answer})
        self.info: WorkerInfo = WorkerInfo(name, rank, host, bound)
        self._master = self._channel(master)
        try:
            self.infos: list[WorkerInfo] = self._introduced(size, master)
        except BaseException:
            # Also after an interrupt: the servers run in threads of their own.
            self._stop()
            raise
        watch = self._master.unary_stream(f"/{_SERVICE}/Watch")
        self._watch = watch(str(rank).encode(), metadata=self._metadata)
        threading.Thread(target=self._keep_watching, name="paddle.rpc watch", daemon=True).start()

    def _keep_watching(self) -> None:
        # The stream ends with an error where the master has gone.
        with contextlib.suppress(Exception):
            for _ in self._watch:
                pass

    def accept_calls(self) -> None:
        """Answers calls from now on; those that have come before have waited."""
        self._accepting.set()

    def _answer(self, request: bytes, context: Any) -> bytes:
        # Others may call as soon as all have come, and what they call may call others from here.
        while not self._accepting.wait(0.5):
            if not context.is_active():
                return b""
        function, args, kwargs = serialization.loaded(request)
        return serialization.answer(function, args, kwargs)

    def _channel(self, address: str) -> Any:
        with self._lock:
            if address not in self._channels:
                self._channels[address] = grpc_module().insecure_channel(address, options=OPTIONS)
            return self._channels[address]

    def _introduced(self, size: int, master: str) -> list[WorkerInfo]:
        """All processes, once they have come."""
        request = json.dumps({"info": list(self.info), "size": size}).encode()
        answer = self._ask_master("Join", request, master, _patience())
        if "error" in answer:
            raise RuntimeError(f"init_rpc: {answer['error']}")
        return [WorkerInfo(*info) for info in answer["infos"]]

    def _ask_master(self, method: str, request: bytes, master: str, seconds: float) -> dict[str, Any]:
        grpc = grpc_module()
        limit = time.monotonic() + seconds
        call = self._master.unary_unary(f"/{_SERVICE}/{method}")
        while True:
            left = max(limit - time.monotonic(), 0.1)
            try:
                return json.loads(call(request, timeout=left, metadata=self._metadata))
            except grpc.RpcError as error:
                if error.code() == grpc.StatusCode.UNAUTHENTICATED:
                    raise PermissionError(
                        f"init_rpc: {master}: {error.details()}; all processes need the same PADDLE_JOB_TOKEN"
                    ) from None
                if time.monotonic() > limit:
                    raise TimeoutError(
                        f"init_rpc: not all processes have come to {master} within {seconds:.0f} s; "
                        "start all of them, with the same master_endpoint and world_size"
                    ) from None
            # The master may not have started yet.
            time.sleep(_AGAIN)

    def find(self, name: str) -> WorkerInfo:
        """A process by its name.

        Raises:
            ValueError: there is none of this name.
        """
        for info in self.infos:
            if info.name == name:
                return info
        known = ", ".join(repr(info.name) for info in self.infos)
        raise ValueError(f"rpc: to: got {name!r}; there are {known}")

    def call(
        self,
        to: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[Any, Any],
        timeout: float,
    ) -> Future:
        """Begins a call of a function in another process."""
        info = self.find(to)
        request = serialization.dumped((function, args, kwargs))
        stub = self._channel(f"{info.ip}:{info.port}").unary_unary(f"/{_SERVICE}/Call")
        # Paddle's default of -1 means no limit.
        limit = timeout if timeout > 0 else None
        future = stub.future(request, timeout=limit, metadata=self._metadata)
        called = getattr(function, "__qualname__", repr(function))
        return Future(future, lambda error: _as_exception(error, called, info, timeout))

    def shutdown(self) -> None:
        """Waits until all processes want to end, then closes."""
        call = self._master.unary_unary(f"/{_SERVICE}/Leave")
        grpc = grpc_module()
        try:
            gone = json.loads(call(str(self.info.rank).encode(), metadata=self._metadata))
        except grpc.RpcError:
            gone = [0]  # the process of rank 0 has ended without a goodbye
        if gone:
            names = ", ".join(repr(info.name) for info in self.infos if info.rank in gone)
            warnings.warn(f"rpc.shutdown: {names} had gone already", stacklevel=3)
        self._stop()

    def _stop(self) -> None:
        self._server.stop(LAST_WORDS).wait()
        if self._master_server is not None:
            self._master_server.stop(LAST_WORDS).wait()
        for channel in self._channels.values():
            channel.close()


def _as_exception(error: Any, called: Any, info: Any, timeout: Any) -> TimeoutError | RuntimeError:
    """What a failed call raises."""
    grpc = grpc_module()
    where = f"{called} on {info.name!r} (rank {info.rank}, {info.ip}:{info.port})"
    if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
        return TimeoutError(f"rpc: {where}: no answer within {timeout} s")
    if error.code() == grpc.StatusCode.UNAVAILABLE:
        return RuntimeError(f"rpc: {where}: the process has gone, or cannot be reached: {error.details()}")
    return RuntimeError(f"rpc: {where}: {error.details()}")


def _patience() -> float:
    """Seconds in which all processes must have come."""
    return float(launch_variables.integer("FLAGS_stop_check_timeout", 900))
