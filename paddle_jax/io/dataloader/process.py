"""Worker processes as the loop sees them, and what it says when one of them fails."""

from __future__ import annotations

import collections
import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.process import forkserver
from paddle_jax.io.dataloader.exchange import Packed, opened, receive, send
from paddle_jax.io.dataloader.worker import END

_AT_ONCE = 1 << 16  # bytes
_CAUSES = {
    "SIGKILL": "usually the system was out of memory: use fewer workers, smaller batches or a "
    "smaller prefetch_factor",
    "SIGSEGV": "a library that the data set uses has crashed: run it with num_workers=0 under `python "
    "-X faulthandler`",
    "SIGBUS": "usually memory for batches was used up: use fewer workers, smaller batches, "
    "or use_shared_memory=False",
    "SIGABRT": "a library that the data set uses has given up: its message is on standard error",
    "SIGTERM": "somebody has ended it",
}


class WorkerError(SystemError, RuntimeError):
    """A worker process ended, or did not answer. Paddle raises SystemError."""


class WorkerTraceback(Exception):
    """Shows, as the cause of an exception, where in the worker it was raised."""


class Unfit(Exception):
    """What the workers need cannot be sent to them."""


def _surroundings() -> dict[str, Any]:
    """What a worker takes over from the program besides its data: where modules are found, the environment,
    the default dtype."""
    alias = "paddle" in sys.modules and sys.modules["paddle"] is sys.modules["paddle_jax"]
    environment = {name: value for name, value in os.environ.items() if name not in forkserver.SETTINGS}
    return {
        "path": [str(Path.cwd()) if path == "" else path for path in sys.path],
        "argv": sys.argv,
        "folder": str(Path.cwd()),
        "alias": alias,
        "environment": environment,
        "dtype": get_default_dtype(),
    }


class ProcessWorker:
    """A worker process. Tasks are put in line with `ask`, results taken in the same order with `take`.

    Attributes:
        number: int, the number of the worker.
        pid: int, its process.
        state: what its data set says of itself behind the last result, or None.
        _shared: bool, whether batches travel in shared memory.
        _epoch: int, the epoch whose results count.
        _results: deque of the results that have come and were not taken.
        _sock: socket to the process, None once it is stopped.
    """

    pid: int

    def __init__(self, number: int, count: int, seed: int, shared: bool) -> None:
        self.number = number
        self._shared = shared
        self._epoch = 0
        self._tasks = 0
        self._results = collections.deque()
        self._sock = None
        self.state = None
        self.pid, self._sock = forkserver.fork("paddle_jax.io.dataloader.remote:work")
        send(self._sock, {"id": number, "count": count, "seed": seed, "shared": shared, **_surroundings()})

    def wait_until_set_up(self) -> None:
        """Waits until the worker has what it needs.

        Raises:
            Unfit: it cannot use it.
        """
        kind, text = self._received()
        if kind == "unfit":
            raise Unfit(text)

    def give(self, packed: Packed) -> None:
        """Sends what the worker needs."""
        with self._death():
            packed.send(self._sock)

    def begin(self, epoch: int, seed: int, state: Any = None) -> None:
        """Begins an epoch, with a data set that goes on from its `state`: results of earlier ones
        are thrown away."""
        self._epoch = epoch
        self.state = state
        self._results.clear()
        self._put(("epoch", epoch, seed, state))

    def ask(self, task: Any, number: int) -> None:
        """Puts a task, the batch of this number, in line."""
        self._put(("task", self._epoch, number, task))

    def _put(self, message: tuple[Any, ...]) -> None:
        rest = memoryview(Packed(message, shared=False).bytes())
        with self._death():
            while rest:
                readable, writable, _ = select.select([self._sock], [self._sock], [])
                # Read first: a worker that cannot send its result does not read tasks either.
                if readable:
                    self._keep(receive(self._sock))
                elif writable:
                    rest = rest[self._sock.send(rest[:_AT_ONCE], socket.MSG_DONTWAIT) :]

    def _keep(self, result: tuple[Any, ...]) -> None:
        if result[0] == "unfit":
            raise WorkerError(
                f"DataLoader: worker {self.number} (pid {self.pid}) cannot load what the first "
                f"worker could: {result[1]}"
            )
        # Results of earlier epochs are dropped.
        if result[1] == self._epoch:
            self._results.append(result)

    def _received(self) -> Any:
        with self._death():
            return receive(self._sock)

    @contextlib.contextmanager
    def _death(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError):
            raise WorkerError(self._last_words()) from None

    def _last_words(self) -> str:
        code = forkserver.status(self.pid)
        who = f"DataLoader: worker {self.number} (pid {self.pid})"
        if code is None:
            return f"{who} has ended for an unknown reason; look for its messages on standard error"
        if code >= 0:
            return (
                f"{who} has exited with code {code}: something in the data set calls sys.exit or "
                "os._exit, or failed as standard error says"
            )
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        return (
            f"{who} was killed by signal {-code} ({name}); "
            f"{_CAUSES.get(name, 'its messages are on standard error')}"
        )

    def has_batch(self) -> bool:
        """Whether the next result is a batch that is here: `take` neither waits nor raises."""
        if not self._results and select.select([self._sock], [], [], 0)[0]:
            try:
                self._keep(self._received())
            except WorkerError as error:  # for the loop, when it gets there
                self._results.append(("failed", self._epoch, error))
        return bool(self._results) and self._results[0][0] == "batch"

    def take(self, timeout: float) -> Any:
        """The next result, or END; raises what the user's code raised in the worker.

        Raises:
            WorkerError: the worker has ended, or does not answer in time.
        """
        # 0 stands for no limit.
        limit = time.monotonic() + timeout if timeout else None
        while not self._results:
            if limit is None:
                left = None
            else:
                left = max(0.0, limit - time.monotonic())
            if not select.select([self._sock], [], [], left)[0]:
                raise WorkerError(
                    f"DataLoader: worker {self.number} (pid {self.pid}) gave no batch within "
                    f"timeout={timeout} s; it hangs or is slow: raise timeout, make the data "
                    "set faster, or run it with num_workers=0 to see where it stands"
                )
            self._keep(self._received())
        kind, _, result = self._results.popleft()
        if kind == "failed":
            raise result
        if kind == "raised":
            self._raise(*result)
        if kind == "batch":
            result, self.state = result
        if kind == "end":
            return END
        return result

    def _raise(self, data: Any, summary: str, text: str, is_short: bool) -> NoReturn:
        where = f"DataLoader: worker {self.number} (pid {self.pid})"
        try:
            error = opened(data)
        except Exception:  # a class that cannot be made from its pickle, or that is not here
            error = None
        # It may also be an exit, which must not end the program.
        if not isinstance(error, Exception):
            error = RuntimeError(f"{where} raised {summary}")
        if is_short:
            # No frame of it is the user's where the package itself refuses a batch.
            error.add_note(f"{where} raised this, in:\n{text}" if text else f"{where} raised this")
            raise error
        error.add_note(f"{where} raised this; above is its own traceback")
        raise error from WorkerTraceback(f"\n{text}")

    def stop(self) -> None:
        """Ends the process; it may finish what it does for a moment."""
        sock = self._sock
        self._sock = None
        if sock is not None:
            sock.close()
            forkserver.end(self.pid)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.stop()


def crew(count: int, seed: int, shared: bool, needs: tuple[Any, ...]) -> list[ProcessWorker]:
    """Worker processes that have what they need: (dataset, collate_fn, worker_init_fn,
    settings of the fetch).

    Raises:
        Unfit: it cannot be sent to processes, or no processes can be made; the text says why.
    """
    if not forkserver.available or not sys.executable:
        raise Unfit("this system cannot make worker processes")
    try:
        packed = Packed(needs, shared)
    except Exception as error:
        raise Unfit(f"{type(error).__name__}: {error}") from error
    workers = []
    try:
        for number in range(count):
            workers.append(ProcessWorker(number, count, seed, shared))
            workers[-1].give(packed)
        workers[0].wait_until_set_up()  # the others say the same; the first batch need not wait for them
    except BaseException as error:
        for worker in workers:
            worker.stop()
        # No process could be made at all: threads can do the work.
        if isinstance(error, RuntimeError) and not workers:
            raise Unfit(str(error)) from error
        raise
    finally:
        packed.close()
    return workers
