"""What a worker knows about itself; and workers that are threads, for data that cannot be sent to
processes (`process.py`)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from paddle_jax._core.lazy.recording import run_pending
from paddle_jax.framework.mode import leave_static


class WorkerInfo:
    """What a worker knows about itself: `id`, `num_workers`, `dataset`, `seed`. Cannot be changed."""

    def __init__(self, **facts: Any) -> None:
        # Around `__setattr__`, which refuses everything.
        self.__dict__.update(facts)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise RuntimeError(f"WorkerInfo: {name} cannot be set; it describes a running worker.")


class _Current(threading.local):
    info = None


_current = _Current()


def get_worker_info() -> WorkerInfo | None:
    """Returns facts about the DataLoader worker that runs the calling code, or None outside of a worker.

    Returns:
        WorkerInfo with `id` (from 0), `num_workers`, `dataset` and `seed`; or None.
    Example:
        >>> paddle.io.get_worker_info() is None
        True
    """
    return _current.info


def become(info: WorkerInfo) -> None:
    """Makes the calling thread the worker that `info` describes."""
    _current.info = info


def _generate_states(base_seed: int = 0, worker_id: int = 0) -> list[int]:
    """Four words of 32 bits for the random generators of a worker: NumPy's SeedSequence over
    worker and seed."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4).tolist()


class _Raised:
    """An exception on its way from a worker to the loop."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


END = object()  # what a fetch returns when its data is used up, and the last task of a worker


class Worker:
    """One thread that does the tasks it is given, in order. `make_fetch()` runs inside the thread and gives
    the function `task -> batch`."""

    def __init__(
        self,
        info: WorkerInfo,
        make_fetch: Callable[[], Callable[[Any], Any]],
        init_fn: Callable[[int], Any] | None,
    ) -> None:
        self._tasks, self._results = queue.SimpleQueue(), queue.SimpleQueue()
        # The target is not a method: the thread must not keep the Worker, and with it the loop, alive.
        threading.Thread(
            target=_serve, args=(info, make_fetch, init_fn, self._tasks, self._results), daemon=True
        ).start()

    def ask(self, task: Any, number: int) -> None:
        """Puts a task, the batch of this number, in line."""
        self._tasks.put(task)

    def take(self, timeout: float) -> Any:
        """The next result, or END; raises what the user's code raised in the worker."""
        try:
            result = self._results.get(timeout=timeout or None)
        except queue.Empty:
            raise RuntimeError(
                f"DataLoader: no batch came within timeout={timeout} s; "
                "raise timeout or make the data set faster."
            ) from None
        if isinstance(result, _Raised):
            raise result.error
        return result

    def has_batch(self) -> bool:
        """False: a queue does not show a result before it is taken."""
        return False

    def stop(self) -> None:
        """Ends the thread; tasks still in line are dropped."""
        while not self._tasks.empty():
            self._tasks.get()
        self._tasks.put(END)


def _serve(
    info: WorkerInfo,
    make_fetch: Callable[[], Callable[[Any], Any]],
    init_fn: Callable[[int], Any] | None,
    tasks: queue.SimpleQueue,
    results: queue.SimpleQueue,
) -> None:
    become(info)
    leave_static()  # data is read in dynamic mode
    try:
        if init_fn is not None:
            init_fn(info.id)
        fetch = make_fetch()
    except BaseException as error:
        # Of any kind: the loop raises it where it waits.
        results.put(_Raised(error))
        return
    while (task := tasks.get()) is not END:
        try:
            batch = fetch(task)
            run_pending("a batch is ready in a worker")
            results.put(batch)
        except BaseException as error:
            results.put(_Raised(error))
