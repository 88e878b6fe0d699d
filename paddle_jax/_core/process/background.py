"""Work in another thread that no exception in the submitting thread can upset.

`concurrent.futures` and `threading` take their locks in Python code. KeyboardInterrupt there leaves them
taken, or leaves a thread that the end of the process waits for. Here the submitting thread makes each change
in one call of a function written in C.
"""

from __future__ import annotations

import _thread
import atexit
import functools as ft
import os
import queue
import weakref
from collections.abc import Callable

from paddle_jax._core.base.interrupt_safe import chain_calls, ignoring_arguments, wait_for_lock


class CancelledTaskError(RuntimeError):
    """The process ends before a Worker gets to a Task."""


class Task:
    """A call that a Worker makes.

    Attributes:
        error: the exception that it raised, or None.
        done: bool, whether it has ended.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self.error: BaseException | None = None
        self.done = False
        self._function: Callable[[], object] | None = function
        self._end_lock = _thread.allocate_lock()
        self._end_lock.acquire()

    def run(self) -> None:
        """Makes the call, in the thread of the Worker."""
        try:
            self._function()  # pyright: ignore[reportOptionalCall]
        except BaseException as error:
            self.error = error
        self._finish()

    def cancel(self) -> None:
        """Ends it without the call. Whoever waits for it gets a CancelledTaskError."""
        self.error = CancelledTaskError("the process ends")
        self._finish()

    def _finish(self) -> None:
        self._function = None
        self.done = True
        self._end_lock.release()

    def wait(self) -> None:
        """Waits for the end; raises the exception of the call."""
        wait_for_lock(self._end_lock)
        if self.error is not None:
            raise self.error


class Worker:
    """A thread that makes calls one after the other; it starts with the first of them.

    A forked child has neither the thread nor the calls in the queue.

    Args:
        complete: whether the end of the process waits for the whole queue; else for the running call.
    Attributes:
        _complete, _abandon: as given.
        _has_exit_hooks: bool, whether the end of the process knows this thread.
        _queue: SimpleQueue of the Tasks to run.
        _running_lock: lock that is held while a Task runs.
        _started: bool, whether the thread runs.
        _ending: bool, whether the process ends: no further Task begins.
        _thread_ref: weak reference that dies with the thread's body, or None.
    """

    def __init__(self, complete: bool) -> None:
        self._complete = complete
        self._has_exit_hooks = False
        self._reset()

    def _reset(self) -> None:
        self._queue: queue.SimpleQueue[Task] = queue.SimpleQueue()
        self._running_lock = _thread.allocate_lock()
        self._started = False
        self._ending = False
        self._thread_ref: weakref.ref | None = None

    def submit(self, function: Callable[[], object]) -> Task:
        """Puts a function into the queue."""
        task = Task(function)
        self._queue.put(task)
        self.start()
        return task

    def start(self) -> None:
        """Starts the thread, unless it runs.

        CPython 3.11 may raise in it, at its very start, an exception that was meant for this thread. Then it
        does not run any more, and the next call starts it again.
        """
        if self._started:
            return
        if not self._has_exit_hooks:
            self._has_exit_hooks = True
            atexit.register(self._end)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self._reset)
        body = [ft.partial(self._work)]
        self._thread_ref = weakref.ref(
            body[0], ignoring_arguments(ft.partial(setattr, self, "_started", False))
        )
        chain_calls([(setattr, self, "_started", True), (_thread.start_new_thread, body.pop(), ())])()

    def _work(self) -> None:
        """The thread."""
        while True:
            task = self._queue.get()
            with self._running_lock:
                if self._ending:
                    # a Task of another Worker, which the end of the process waits for, may wait for it
                    task.cancel()
                else:
                    task.run()

    def _end(self) -> None:
        """Called at the end of the process, before JAX removes what the thread may use."""
        if self._complete and (self._started or not self._queue.empty()):
            self.submit(int).wait()
        self._ending = True
        wait_for_lock(self._running_lock)
